//! A cloth as a rigid body: its mass, momentum and angular momentum, and how such a body moves.

#![allow(
    clippy::needless_range_loop,
    reason = "lanes of many arrays side by side"
)]

use super::{
    crew::PART,
    particles::ParticleArrays,
    simd::{Kernel, LANES, dispatch, select},
};
use bevy::math::{DMat3, DVec3, Vec3};

/// What all particles have together: mass, first moments, momentum, angular momentum, second moments.
pub(super) const SUMS: usize = 16;

/// Some sums, side by side, so that the order of adding is the same with all instructions.
pub(super) type Lanes<const N: usize> = [[f32; LANES]; N];

/// How a rigid body moves in a substep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Motion {
    /// Its centre of mass, m.
    pub(super) centre: Vec3,
    /// The way of that, m.
    pub(super) way: Vec3,
    /// By how much it turns, and around which axis.
    pub(super) turn: Vec3,
}

impl Motion {
    #[inline(always)]
    pub(super) fn at(&self, x: [f32; 3]) -> [f32; 3] {
        let r = [
            x[0] - self.centre.x,
            x[1] - self.centre.y,
            x[2] - self.centre.z,
        ];
        let (w, turned) = (self.way, cross(self.turn.into(), r));
        [w.x + turned[0], w.y + turned[1], w.z + turned[2]]
    }
}

/// A cloth as a rigid body. Places are relative to its first particle.
pub(super) struct Body {
    pub(super) origin: Vec3,
    mass: f64,
    pub(super) centre: DVec3,
    pub(super) momentum: DVec3,
    /// Around the origin.
    pub(super) angular_momentum: DVec3,
    /// Inverse of the tensor of inertia around the centre.
    inverse_inertia: DMat3,
}

impl Body {
    pub(super) fn of(p: &ParticleArrays) -> Self {
        let origin = p.position.get(0);
        let mut sums = [0.0; SUMS];
        let parts = p.position.chunks(PART).zip(p.displacement.chunks(PART));
        for ((x, d), w) in parts.zip(p.inverse_mass.chunks(PART)) {
            let mut lanes = [[0.0; LANES]; SUMS];
            dispatch(Measure {
                x,
                d,
                w,
                origin: origin.into(),
                lanes: &mut lanes,
            });
            add_up(&lanes, &mut sums);
        }
        let [
            mass,
            x,
            y,
            z,
            px,
            py,
            pz,
            lx,
            ly,
            lz,
            xx,
            yy,
            zz,
            xy,
            yz,
            zx,
        ] = sums;
        let centre = DVec3::new(x, y, z) / mass;
        let (cx, cy, cz) = (centre.x, centre.y, centre.z);
        let (xx, yy, zz) = (
            xx - mass * cx * cx,
            yy - mass * cy * cy,
            zz - mass * cz * cz,
        );
        let (xy, yz, zx) = (
            xy - mass * cx * cy,
            yz - mass * cy * cz,
            zx - mass * cz * cx,
        );
        let inertia = |more: f64| {
            DMat3::from_cols(
                DVec3::new(yy + zz + more, -xy, -zx),
                DVec3::new(-xy, zz + xx + more, -yz),
                DVec3::new(-zx, -yz, xx + yy + more),
            )
        };
        // A straight rope has no inertia around itself; it has no motion around itself either.
        let trace = xx + yy + zz;
        let is_line = inertia(0.0).determinant() < 1e-5 * trace * trace * trace;
        let inverse = inertia(if is_line { 1e-6 * trace } else { 0.0 }).inverse();
        Self {
            origin,
            mass,
            centre,
            momentum: DVec3::new(px, py, pz),
            angular_momentum: DVec3::new(lx, ly, lz),
            // A single particle does not turn.
            inverse_inertia: if inverse.is_finite() {
                inverse
            } else {
                DMat3::ZERO
            },
        }
    }

    /// The motion with this momentum, and this angular momentum around the origin.
    pub(super) fn motion(&self, momentum: DVec3, angular: DVec3) -> Motion {
        let turn = self.inverse_inertia * (angular - self.centre.cross(momentum));
        Motion {
            centre: self.origin + self.centre.as_vec3(),
            way: (momentum / self.mass).as_vec3(),
            turn: turn.as_vec3(),
        }
    }
}

/// Adds up lanes in their order.
pub(super) fn add_up<const N: usize>(lanes: &Lanes<N>, sums: &mut [f64; N]) {
    for (sum, lanes) in sums.iter_mut().zip(lanes) {
        *sum += lanes.iter().copied().map(f64::from).sum::<f64>();
    }
}

/// Adds a rigid motion.
pub(super) fn give_back(p: &mut ParticleArrays, motion: &Motion) {
    let parts = p.position.chunks(PART).zip(p.displacement.chunks_mut(PART));
    for ((x, d), w) in parts.zip(p.inverse_mass.chunks(PART)) {
        dispatch(GiveBack {
            x,
            d,
            w,
            motion: *motion,
        });
    }
}

#[inline(always)]
pub(super) fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// What a particle has to add to the sums of the body.
#[inline(always)]
pub(super) fn share_of(x: [f32; 3], d: [f32; 3], w: f32, origin: [f32; 3]) -> [f32; SUMS] {
    let m = select(w > 0.0, 1.0 / w, 0.0);
    let r = [x[0] - origin[0], x[1] - origin[1], x[2] - origin[2]];
    let p = [m * d[0], m * d[1], m * d[2]];
    let [lx, ly, lz] = cross(r, p);
    let mr = [m * r[0], m * r[1], m * r[2]];
    [
        m,
        mr[0],
        mr[1],
        mr[2],
        p[0],
        p[1],
        p[2],
        lx,
        ly,
        lz,
        mr[0] * r[0],
        mr[1] * r[1],
        mr[2] * r[2],
        mr[0] * r[1],
        mr[1] * r[2],
        mr[2] * r[0],
    ]
}

struct Measure<'a> {
    x: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
    w: &'a [f32],
    origin: [f32; 3],
    lanes: &'a mut Lanes<SUMS>,
}

impl Measure<'_> {
    #[inline(always)]
    fn add(&mut self, i: usize, lane: usize) {
        let (x, d) = (self.x.map(|x| x[i]), self.d.map(|d| d[i]));
        let share = share_of(x, d, self.w[i], self.origin);
        for (lanes, share) in self.lanes.iter_mut().zip(share) {
            lanes[lane] += share;
        }
    }
}

impl Kernel for Measure<'_> {
    #[inline(always)]
    fn run(mut self) {
        let n = self.w.len();
        let (d, x) = (self.d.map(|d| &d[..n]), self.x.map(|x| &x[..n]));
        let whole = n - n % LANES;
        let mut sums = *self.lanes;
        for start in (0..whole).step_by(LANES) {
            let at = start..start + LANES;
            let (x, d) = (
                x.each_ref().map(|x| &x[at.clone()]),
                d.each_ref().map(|d| &d[at.clone()]),
            );
            let w = &self.w[at];
            for lane in 0..LANES {
                let (x, d) = (x.map(|x| x[lane]), d.map(|d| d[lane]));
                let share = share_of(x, d, w[lane], self.origin);
                for (sum, share) in sums.iter_mut().zip(share) {
                    sum[lane] += share;
                }
            }
        }
        *self.lanes = sums;
        (whole..n).for_each(|i| self.add(i, i - whole));
    }

    fn run_scalar(mut self) {
        (0..self.w.len()).for_each(|i| self.add(i, i % LANES));
    }
}

struct GiveBack<'a> {
    x: [&'a [f32]; 3],
    d: [&'a mut [f32]; 3],
    w: &'a [f32],
    motion: Motion,
}

impl Kernel for GiveBack<'_> {
    #[inline(always)]
    fn run(self) {
        let ([x, y, z], [dx, dy, dz]) = (self.x, self.d);
        let given = x.iter().zip(y).zip(z).zip(self.w);
        let moved = dx.iter_mut().zip(dy).zip(dz);
        for (((dx, dy), dz), (((x, y), z), w)) in moved.zip(given) {
            let way = self.motion.at([*x, *y, *z]);
            let free = *w > 0.0;
            *dx += select(free, way[0], -0.0);
            *dy += select(free, way[1], -0.0);
            *dz += select(free, way[2], -0.0);
        }
    }

    fn run_scalar(self) {
        for i in 0..self.w.len() {
            let way = self.motion.at(self.x.map(|x| x[i]));
            if self.w[i] > 0.0 {
                for axis in 0..3 {
                    self.d[axis][i] += way[axis];
                }
            }
        }
    }
}

/// Momentum, angular momentum, and energy, with displacements for velocities.
#[cfg(test)]
pub(super) fn kept(p: &ParticleArrays) -> (DVec3, DVec3, f64) {
    let mut sums = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for i in 0..p.len() {
        let m = 1.0 / f64::from(p.inverse_mass[i]);
        let (x, d) = (
            p.position.get(i).as_dvec3(),
            p.displacement.get(i).as_dvec3(),
        );
        sums.0 += d * m;
        sums.1 += x.cross(d) * m;
        sums.2 += 0.5 * m * d.length_squared();
    }
    sums
}
