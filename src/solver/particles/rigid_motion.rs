//! Best-fit rigid motion of a cloth: mass, momentum, angular momentum, and the rigid motion that has them.

#![allow(
    clippy::needless_range_loop,
    reason = "lanes of many arrays side by side"
)]

use crate::solver::{
    parallel::workers::PARTICLES_PER_PART,
    particles::ParticleArrays,
    simd::{Kernel, LANES, dispatch, select},
};
use bevy::math::{DMat3, DVec3, Vec3};

/// Number of sums over all particles: mass, first moments, momentum, angular momentum, second moments.
pub(in crate::solver) const SUMS: usize = 16;

/// Partial sums, one per SIMD lane, so that the order of addition is the same with all instruction sets.
pub(in crate::solver) type LaneSums<const N: usize> = [[f32; LANES]; N];

/// Motion of a rigid body in a substep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::solver) struct RigidMotion {
    /// Centre of mass, m.
    pub(in crate::solver) centre: Vec3,
    /// Displacement of the centre of mass, m.
    pub(in crate::solver) translation: Vec3,
    /// Rotation vector, rad.
    pub(in crate::solver) rotation: Vec3,
}

impl RigidMotion {
    #[inline(always)]
    pub(in crate::solver) fn displacement_at(&self, x: [f32; 3]) -> [f32; 3] {
        let r = [
            x[0] - self.centre.x,
            x[1] - self.centre.y,
            x[2] - self.centre.z,
        ];
        let (t, rotated) = (self.translation, cross(self.rotation.into(), r));
        [t.x + rotated[0], t.y + rotated[1], t.z + rotated[2]]
    }
}

/// Cloth treated as a rigid body. Positions are relative to its first particle. Displacements per substep stand
/// for velocities, so momentum is in kg·m.
pub(in crate::solver) struct BestFitBody {
    pub(in crate::solver) origin: Vec3,
    mass: f64,
    pub(in crate::solver) centre: DVec3,
    pub(in crate::solver) momentum: DVec3,
    /// About the origin.
    pub(in crate::solver) angular_momentum: DVec3,
    /// Inverse of the inertia tensor about the centre of mass.
    inverse_inertia: DMat3,
}

impl BestFitBody {
    pub(in crate::solver) fn fit(p: &ParticleArrays) -> Self {
        let origin = p.position.get(0);
        let [mass, x, y, z, px, py, pz, lx, ly, lz, moments @ ..] = body_sums(p, origin);
        let centre = DVec3::new(x, y, z) / mass;
        Self {
            origin,
            mass,
            centre,
            momentum: DVec3::new(px, py, pz),
            angular_momentum: DVec3::new(lx, ly, lz),
            inverse_inertia: inverse_inertia(mass, centre, moments),
        }
    }

    /// Returns the rigid motion with this momentum, and this angular momentum about the origin.
    pub(in crate::solver) fn motion(&self, momentum: DVec3, angular: DVec3) -> RigidMotion {
        let rotation = self.inverse_inertia * (angular - self.centre.cross(momentum));
        RigidMotion {
            centre: self.origin + self.centre.as_vec3(),
            translation: (momentum / self.mass).as_vec3(),
            rotation: rotation.as_vec3(),
        }
    }
}

/// Returns the sums over all particles.
fn body_sums(p: &ParticleArrays, origin: Vec3) -> [f64; SUMS] {
    let mut sums = [0.0; SUMS];
    let parts = p
        .position
        .chunks(PARTICLES_PER_PART)
        .zip(p.displacement.chunks(PARTICLES_PER_PART));
    for ((x, d), w) in parts.zip(p.inverse_mass.chunks(PARTICLES_PER_PART)) {
        let mut lanes = [[0.0; LANES]; SUMS];
        dispatch(BodySums {
            x,
            d,
            w,
            origin: origin.into(),
            lanes: &mut lanes,
        });
        add_lane_sums(&lanes, &mut sums);
    }
    sums
}

/// Returns the inverse of the inertia tensor about the centre of mass, from the second moments about the origin.
fn inverse_inertia(mass: f64, centre: DVec3, moments: [f64; 6]) -> DMat3 {
    let [xx, yy, zz, xy, yz, zx] = moments;
    let (c, mc) = (centre, mass * centre);
    let (xx, yy, zz) = (xx - mc.x * c.x, yy - mc.y * c.y, zz - mc.z * c.z);
    let (xy, yz, zx) = (xy - mc.x * c.y, yz - mc.y * c.z, zx - mc.z * c.x);
    let inertia = |regularization: f64| {
        DMat3::from_cols(
            DVec3::new(yy + zz + regularization, -xy, -zx),
            DVec3::new(-xy, zz + xx + regularization, -yz),
            DVec3::new(-zx, -yz, xx + yy + regularization),
        )
    };
    // A straight rope has no inertia about its axis; it has no angular momentum about it either.
    let trace = xx + yy + zz;
    let is_line = inertia(0.0).determinant() < 1e-5 * trace * trace * trace;
    let inverse = inertia(if is_line { 1e-6 * trace } else { 0.0 }).inverse();
    // A single particle does not rotate.
    if inverse.is_finite() {
        inverse
    } else {
        DMat3::ZERO
    }
}

/// Adds the lanes to the sums, in lane order.
pub(in crate::solver) fn add_lane_sums<const N: usize>(lanes: &LaneSums<N>, sums: &mut [f64; N]) {
    for (sum, lanes) in sums.iter_mut().zip(lanes) {
        *sum += lanes.iter().copied().map(f64::from).sum::<f64>();
    }
}

/// Adds a rigid motion to the displacements of all free particles.
pub(in crate::solver) fn add_rigid_motion(p: &mut ParticleArrays, motion: &RigidMotion) {
    let parts = p
        .position
        .chunks(PARTICLES_PER_PART)
        .zip(p.displacement.chunks_mut(PARTICLES_PER_PART));
    for ((x, d), w) in parts.zip(p.inverse_mass.chunks(PARTICLES_PER_PART)) {
        dispatch(AddRigidMotion {
            x,
            d,
            w,
            motion: *motion,
        });
    }
}

#[inline(always)]
pub(in crate::solver) fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Returns the contribution of a particle to the sums.
#[inline(always)]
pub(in crate::solver) fn particle_sums(
    x: [f32; 3],
    d: [f32; 3],
    w: f32,
    origin: [f32; 3],
) -> [f32; SUMS] {
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

struct BodySums<'a> {
    x: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
    w: &'a [f32],
    origin: [f32; 3],
    lanes: &'a mut LaneSums<SUMS>,
}

impl BodySums<'_> {
    #[inline(always)]
    fn add(&mut self, i: usize, lane: usize) {
        let (x, d) = (self.x.map(|x| x[i]), self.d.map(|d| d[i]));
        let terms = particle_sums(x, d, self.w[i], self.origin);
        for (lanes, term) in self.lanes.iter_mut().zip(terms) {
            lanes[lane] += term;
        }
    }
}

impl Kernel for BodySums<'_> {
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
                let terms = particle_sums(x, d, w[lane], self.origin);
                for (sum, term) in sums.iter_mut().zip(terms) {
                    sum[lane] += term;
                }
            }
        }
        *self.lanes = sums;
        (whole..n).for_each(|i| self.add(i, i - whole));
    }

    #[cfg(test)]
    fn run_reference(mut self) {
        (0..self.w.len()).for_each(|i| self.add(i, i % LANES));
    }
}

struct AddRigidMotion<'a> {
    x: [&'a [f32]; 3],
    d: [&'a mut [f32]; 3],
    w: &'a [f32],
    motion: RigidMotion,
}

impl Kernel for AddRigidMotion<'_> {
    #[inline(always)]
    fn run(self) {
        let ([x, y, z], [dx, dy, dz]) = (self.x, self.d);
        let particles = x.iter().zip(y).zip(z).zip(self.w);
        let displacements = dx.iter_mut().zip(dy).zip(dz);
        for (((dx, dy), dz), (((x, y), z), w)) in displacements.zip(particles) {
            let added = self.motion.displacement_at([*x, *y, *z]);
            let free = *w > 0.0;
            *dx += select(free, added[0], -0.0);
            *dy += select(free, added[1], -0.0);
            *dz += select(free, added[2], -0.0);
        }
    }

    #[cfg(test)]
    fn run_reference(self) {
        for i in 0..self.w.len() {
            let added = self.motion.displacement_at(self.x.map(|x| x[i]));
            if self.w[i] > 0.0 {
                for axis in 0..3 {
                    self.d[axis][i] += added[axis];
                }
            }
        }
    }
}

/// Returns momentum, angular momentum, and energy, with displacements in place of velocities.
#[cfg(test)]
pub(in crate::solver) fn momentum_and_energy(p: &ParticleArrays) -> (DVec3, DVec3, f64) {
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
