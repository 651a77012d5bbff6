//! Friction within the fabric: what yarns lose by rubbing on each other, so that cloth comes to rest
//! instead of swinging on and on.
//!
//! As between dry bodies it does not depend on how fast they move: each particle loses so much speed a
//! second, up to all that it has. Seen from where? From the motion of the whole: cloth that only moves
//! and turns as a rigid body does not rub. For cloth without pins that motion is the one with the same
//! momentum and angular momentum, and what friction takes of the two is given back, so that both are
//! kept, while energy is only lost: what is taken is opposite to the motion within the cloth, what is
//! given back has none of it. Pinned cloth is seen from its pins.
//!
//! It is a model and no measured law: the bending of fabrics shows such a friction as hysteresis, the
//! moment 2HB of Kawabata (1980), but here it acts on motion, not on bending.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "what is NaN is not more")]
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
const SUMS: usize = 16;

/// Some sums, side by side, so that the order of adding is the same with all instructions.
type Lanes<const N: usize> = [[f32; LANES]; N];

/// How a rigid body moves in a substep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Motion {
    /// Its centre of mass, m.
    centre: Vec3,
    /// The way of that, m.
    way: Vec3,
    /// By how much it turns, and around which axis.
    turn: Vec3,
}

impl Motion {
    #[inline(always)]
    fn at(&self, x: [f32; 3]) -> [f32; 3] {
        let r = [
            x[0] - self.centre.x,
            x[1] - self.centre.y,
            x[2] - self.centre.z,
        ];
        let (w, turned) = (self.way, cross(self.turn.into(), r));
        [w.x + turned[0], w.y + turned[1], w.z + turned[2]]
    }
}

/// Slows all that moves within the cloth by this deceleration, m/s², during a fixed step of `dt`
/// seconds. To be called before the step.
pub fn apply_internal_friction(p: &mut ParticleArrays, deceleration: f32, dt: f32) {
    // As a displacement during a substep.
    let most = deceleration * dt * p.last_dt;
    if !(most > 0.0) || p.is_empty() {
        return;
    }
    if let Some(motion) = motion_of_pins(p) {
        slow(p, &motion, most);
        return;
    }
    let body = Body::of(p);
    let motion = body.motion(body.momentum, body.angular_momentum);
    let [momentum, angular_momentum] = slow(p, &motion, most);
    let lost = body.motion(momentum, angular_momentum + body.centre.cross(momentum));
    give_back(p, &lost);
}

/// How the pins move on the mean; `None` if there are none.
fn motion_of_pins(p: &ParticleArrays) -> Option<Motion> {
    let (mut way, mut count) = (DVec3::ZERO, 0_u32);
    // Few are pinned. A stretch of memory where none is is passed by at once.
    for (group, masses) in p.inverse_mass.chunks(64).enumerate() {
        let pinned: u32 = masses.iter().map(|&w| u32::from(w == 0.0)).sum();
        if pinned == 0 {
            continue;
        }
        for (i, &w) in (64 * group..).zip(masses) {
            if w == 0.0 {
                way += p.displacement.get(i).as_dvec3();
                count += 1;
            }
        }
    }
    (count > 0).then(|| Motion {
        way: (way / f64::from(count)).as_vec3(),
        ..Motion::default()
    })
}

/// A cloth as a rigid body. Places are relative to its first particle.
struct Body {
    origin: Vec3,
    mass: f64,
    centre: DVec3,
    momentum: DVec3,
    /// Around the origin.
    angular_momentum: DVec3,
    /// Inverse of the tensor of inertia around the centre.
    inverse_inertia: DMat3,
}

impl Body {
    fn of(p: &ParticleArrays) -> Self {
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
        // A straight rope has no inertia around itself; it has no motion around itself either.
        let least = 1e-6 * (xx + yy + zz);
        let inertia = DMat3::from_cols(
            DVec3::new(yy + zz + least, -xy, -zx),
            DVec3::new(-xy, zz + xx + least, -yz),
            DVec3::new(-zx, -yz, xx + yy + least),
        );
        let inverse = inertia.inverse();
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
    fn motion(&self, momentum: DVec3, angular: DVec3) -> Motion {
        let turn = self.inverse_inertia * (angular - self.centre.cross(momentum));
        Motion {
            centre: self.origin + self.centre.as_vec3(),
            way: (momentum / self.mass).as_vec3(),
            turn: turn.as_vec3(),
        }
    }
}

/// Adds up lanes in their order.
fn add_up<const N: usize>(lanes: &Lanes<N>, sums: &mut [f64; N]) {
    for (sum, lanes) in sums.iter_mut().zip(lanes) {
        *sum += lanes.iter().copied().map(f64::from).sum::<f64>();
    }
}

/// Slows all particles by at most `most`, as seen from this motion. Returns what momentum and angular
/// momentum around its centre they have lost.
fn slow(p: &mut ParticleArrays, motion: &Motion, most: f32) -> [DVec3; 2] {
    let mut sums = [0.0; 6];
    let parts = p.position.chunks(PART).zip(p.displacement.chunks_mut(PART));
    for ((x, d), w) in parts.zip(p.inverse_mass.chunks(PART)) {
        let mut lanes = [[0.0; LANES]; 6];
        dispatch(Slow {
            x,
            d,
            w,
            motion: *motion,
            most,
            lanes: &mut lanes,
        });
        add_up(&lanes, &mut sums);
    }
    let [px, py, pz, lx, ly, lz] = sums;
    [DVec3::new(px, py, pz), DVec3::new(lx, ly, lz)]
}

/// Adds a rigid motion.
fn give_back(p: &mut ParticleArrays, motion: &Motion) {
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
fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// What a particle has to add to the sums of the body.
#[inline(always)]
fn share_of(x: [f32; 3], d: [f32; 3], w: f32, origin: [f32; 3]) -> [f32; SUMS] {
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

/// What friction takes of the displacement of a particle.
#[inline(always)]
fn lost(x: [f32; 3], d: [f32; 3], w: f32, motion: &Motion, most: f32) -> [f32; 3] {
    let seen_from = motion.at(x);
    let r = [
        d[0] - seen_from[0],
        d[1] - seen_from[1],
        d[2] - seen_from[2],
    ];
    let length = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
    let share = select(length > most, most / length, 1.0);
    let share = select(w > 0.0, share, 0.0);
    [r[0] * share, r[1] * share, r[2] * share]
}

struct Slow<'a> {
    x: [&'a [f32]; 3],
    d: [&'a mut [f32]; 3],
    w: &'a [f32],
    motion: Motion,
    most: f32,
    lanes: &'a mut Lanes<6>,
}

impl Slow<'_> {
    #[inline(always)]
    fn one(&mut self, i: usize, lane: usize) {
        let x = self.x.map(|x| x[i]);
        let w = self.w[i];
        let d = [self.d[0][i], self.d[1][i], self.d[2][i]];
        let lost = lost(x, d, w, &self.motion, self.most);
        for (d, lost) in self.d.iter_mut().zip(lost) {
            d[i] -= lost;
        }
        let share = share_of(x, lost, w, self.motion.centre.into());
        for (lanes, share) in self.lanes.iter_mut().zip(&share[4..10]) {
            lanes[lane] += share;
        }
    }
}

impl Kernel for Slow<'_> {
    #[inline(always)]
    fn run(mut self) {
        let n = self.w.len();
        let whole = n - n % LANES;
        let (motion, most) = (self.motion, self.most);
        let mut sums = *self.lanes;
        let [dx, dy, dz] = &mut self.d;
        let [x, y, z] = self.x.map(|x| &x[..n]);
        let (dx, dy, dz) = (&mut dx[..n], &mut dy[..n], &mut dz[..n]);
        for start in (0..whole).step_by(LANES) {
            let at = start..start + LANES;
            let (x, y, z) = (&x[at.clone()], &y[at.clone()], &z[at.clone()]);
            let (dx, dy, dz) = (
                &mut dx[at.clone()],
                &mut dy[at.clone()],
                &mut dz[at.clone()],
            );
            let w = &self.w[at];
            for lane in 0..LANES {
                let place = [x[lane], y[lane], z[lane]];
                let d = [dx[lane], dy[lane], dz[lane]];
                let lost = lost(place, d, w[lane], &motion, most);
                dx[lane] -= lost[0];
                dy[lane] -= lost[1];
                dz[lane] -= lost[2];
                let share = share_of(place, lost, w[lane], motion.centre.into());
                for (sum, share) in sums.iter_mut().zip(&share[4..10]) {
                    sum[lane] += share;
                }
            }
        }
        *self.lanes = sums;
        (whole..n).for_each(|i| self.one(i, i - whole));
    }

    fn run_scalar(mut self) {
        (0..self.w.len()).for_each(|i| self.one(i, i % LANES));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{SoaVec3, simd::levels::same_bits};

    const DT: f32 = 1.0 / 60.0;

    fn part(k: u32) -> f32 {
        (k * 29 % 101) as f32 * 0.037 - 1.8
    }

    /// Particles here and there, of various masses, that fly about.
    fn swarm(count: u32, pinned: bool) -> ParticleArrays {
        let some = |from: u32| -> SoaVec3 {
            let vector = |i| Vec3::new(part(i), part(3 * i + 7), part(7 * i + 31));
            (from..from + count).map(vector).collect()
        };
        let mass = |i: u32| {
            if pinned && i % 50 == 3 {
                0.0
            } else {
                1.0 + (i % 4) as f32
            }
        };
        let w = (0..count).map(mass).collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, some(5), w);
        p.displacement = some(17);
        p
    }

    /// Momentum, angular momentum, and energy, with displacements for velocities.
    fn kept(p: &ParticleArrays) -> (DVec3, DVec3, f64) {
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

    #[test]
    fn it_takes_energy_but_no_momentum() {
        let mut p = swarm(203, false);
        let (momentum, angular, mut energy) = kept(&p);
        // Not so often that nothing is left to take.
        for _ in 0..20 {
            apply_internal_friction(&mut p, 1e3, DT);
            let now = kept(&p);
            assert!((now.0 - momentum).length() < 1e-5 * momentum.length());
            assert!((now.1 - angular).length() < 1e-5 * angular.length());
            assert!(now.2 < energy);
            energy = now.2;
        }
    }

    #[test]
    fn a_rigid_motion_goes_on_and_all_else_ends() {
        let mut p = swarm(100, false);
        // More than there is to take.
        apply_internal_friction(&mut p, 1e9, DT);
        let body = Body::of(&p);
        let motion = body.motion(body.momentum, body.angular_momentum);
        let before = p.displacement.clone();
        for i in 0..100 {
            let rigid = Vec3::from(motion.at(p.position.get(i).into()));
            assert!((before.get(i) - rigid).length() < 1e-5, "{i}");
        }
        apply_internal_friction(&mut p, 1e9, DT);
        for i in 0..100 {
            assert!((before.get(i) - p.displacement.get(i)).length() < 1e-5);
        }
    }

    #[test]
    fn ropes_and_single_particles_may_move_as_they_like() {
        for count in [1, 2, 7] {
            let places: SoaVec3 = (0..count).map(|i| Vec3::X * i as f32).collect();
            let mut p = ParticleArrays::new(Vec3::ZERO, places, vec![1.0; count]);
            // It falls and turns around z.
            p.displacement = (0..count)
                .map(|i| Vec3::new(0.1, i as f32 - 2.0, 0.0))
                .collect();
            let before = p.displacement.clone();
            apply_internal_friction(&mut p, 1e9, DT);
            for i in 0..count {
                let change = before.get(i) - p.displacement.get(i);
                assert!(change.length() < 1e-5, "{i} of {count}: {change}");
            }
        }
    }

    #[test]
    fn it_takes_what_it_may_and_pinned_cloth_is_seen_from_its_pins() {
        let places = [Vec3::ZERO, Vec3::X, Vec3::Y].into_iter().collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, places, vec![0.0, 1.0, 1.0]);
        for (i, speed) in [1.0, 3.0, 1.001].into_iter().enumerate() {
            p.set_velocity(i, Vec3::Z * speed);
        }
        apply_internal_friction(&mut p, 0.6, DT);
        for (i, speed) in [1.0, 2.99, 1.0].into_iter().enumerate() {
            assert!((p.velocity(i) - Vec3::Z * speed).length() < 1e-6, "{i}");
        }
    }

    #[test]
    fn all_levels_give_the_same_bits() {
        for (count, pinned) in [(203, false), (203, true), (7, false), (9000, false)] {
            same_bits(|| {
                let mut p = swarm(count, pinned);
                for _ in 0..3 {
                    apply_internal_friction(&mut p, 2e2, DT);
                }
                p.displacement.bits().collect()
            });
        }
    }
}
