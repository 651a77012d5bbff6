//! Keeps particles near places that move by themselves: where an animation would carry them.
//!
//! Each particle stays within a distance of its place, and in front of a backstop: a ball behind that place,
//! whose surface is the back that a cape must not sink into. Both are what clothing tools of engines call
//! max distance and backstop; particles are projected as by a contact without friction, which in position
//! form is the constraint of Müller, Heidelberger, Hennix, Ratcliff, "Position Based Dynamics" (2007),
//! for one particle and a place of infinite mass.

use super::{
    crew::{Leader, PART},
    particles::ParticleArrays,
    simd::{Kernel, dispatch, select},
    soa::SoaVec3,
};
use bevy::math::Vec3;

/// Where particles are to stay during a step. All lists have one element per particle; a particle without
/// one is free.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct MotionLimits {
    /// Their places when the step began, m, from the origin of the particles.
    pub from: SoaVec3,
    /// Their places when it ends, m.
    pub to: SoaVec3,
    /// How far from its place each may be, m; infinite for one that may be anywhere.
    #[cfg_attr(feature = "serialize", serde(with = "super::bits"))]
    pub reach: Vec<f32>,
    /// What is behind them, if anything is.
    pub backstop: Option<Backstop>,
}

/// A ball behind the place of each particle, which keeps it in front.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Backstop {
    /// Where front is, at the end of the step: unit vectors.
    pub normal: SoaVec3,
    /// How far behind its place the surface of the ball is, m; infinite where there is none.
    #[cfg_attr(feature = "serialize", serde(with = "super::bits"))]
    pub distance: Vec<f32>,
    /// Radius of the balls, m: large ones keep cloth from going around them.
    pub radius: f32,
}

impl MotionLimits {
    /// Whether they hold nothing.
    pub fn is_empty(&self) -> bool {
        self.reach.is_empty()
    }

    /// A step begins where the last one ended.
    pub fn begin_step(&mut self) {
        std::mem::swap(&mut self.from, &mut self.to);
    }

    /// Moves all places, because the origin has moved the other way.
    pub fn shift(&mut self, by: Vec3) {
        self.from.add_all(by);
        self.to.add_all(by);
    }

    /// Brings all particles back to where they may be, in substep `substep` of so many. Pinned ones stay
    /// where they are.
    pub fn hold(&self, particles: &mut ParticleArrays, [substep, substeps]: [u32; 2]) {
        self.hold_shared(&mut Leader::alone(), particles, [substep, substeps]);
    }

    /// [`hold`](Self::hold), shared with the leader's helpers.
    pub(crate) fn hold_shared(
        &self,
        leader: &mut Leader,
        particles: &mut ParticleArrays,
        [substep, substeps]: [u32; 2],
    ) {
        let count = self.reach.len().min(particles.len());
        if count == 0 || self.from.len() < count || self.to.len() < count {
            return;
        }
        let share = (substep + 1) as f32 / substeps.max(1) as f32;
        let w = &particles.inverse_mass;
        let parts = particles.position.chunks_mut(PART).zip(w.chunks(PART));
        leader.each(parts.enumerate(), |(number, (x, w))| {
            let first = number * PART;
            let last = (first + w.len()).min(count);
            if first >= last {
                return;
            }
            let n = last - first;
            let within = Within {
                from: planes(&self.from, first, last),
                to: planes(&self.to, first, last),
                reach: &self.reach[first..last],
                share,
                x: x.map(|plane| &mut plane[..n]),
                w: &w[..n],
            };
            match &self.backstop {
                Some(back) if back.distance.len() >= last && back.normal.len() >= last => {
                    dispatch(Before {
                        within,
                        normal: planes(&back.normal, first, last),
                        distance: &back.distance[first..last],
                        radius: back.radius,
                    });
                }
                _ => dispatch(within),
            }
        });
    }
}

fn planes(of: &SoaVec3, first: usize, last: usize) -> [&[f32]; 3] {
    [&of.x[first..last], &of.y[first..last], &of.z[first..last]]
}

/// Particles that are neighbours in memory, and how far they may go.
struct Within<'a> {
    from: [&'a [f32]; 3],
    to: [&'a [f32]; 3],
    reach: &'a [f32],
    share: f32,
    x: [&'a mut [f32]; 3],
    w: &'a [f32],
}

/// The same, with what is behind them.
struct Before<'a> {
    within: Within<'a>,
    normal: [&'a [f32]; 3],
    distance: &'a [f32],
    radius: f32,
}

/// What takes a particle, away by `d` from its place, back within reach of it.
#[inline(always)]
fn back_within([x, y, z]: [f32; 3], reach: f32) -> [f32; 3] {
    let away = (x * x + y * y + z * z).sqrt();
    let pull = select(away > reach, reach / away - 1.0, 0.0);
    // An infinite reach over no distance is not chosen, nor is 0 over 0.
    [x * pull, y * pull, z * pull]
}

/// What takes a particle, away by `d` from its place, in front of the ball behind that.
#[inline(always)]
fn out_of_ball([x, y, z]: [f32; 3], normal: [f32; 3], distance: f32, radius: f32) -> [f32; 3] {
    let there = distance < f32::INFINITY;
    let behind = select(there, distance + radius, 0.0);
    let (x, y, z) = (
        x + normal[0] * behind,
        y + normal[1] * behind,
        z + normal[2] * behind,
    );
    let away = (x * x + y * y + z * z).sqrt();
    let inside = there & (away < radius) & (away > 0.0);
    let push = select(inside, radius / away - 1.0, 0.0);
    [x * push, y * push, z * push]
}

impl Within<'_> {
    #[inline(always)]
    fn place(&self, k: usize) -> [f32; 3] {
        let [fx, fy, fz] = self.from;
        let [tx, ty, tz] = self.to;
        let between = |from: f32, to: f32| from + (to - from) * self.share;
        [
            between(fx[k], tx[k]),
            between(fy[k], ty[k]),
            between(fz[k], tz[k]),
        ]
    }
}

impl Kernel for Within<'_> {
    #[inline(always)]
    fn run(self) {
        let n = self.w.len();
        let Self {
            from,
            to,
            reach,
            share,
            x: [x, y, z],
            w,
        } = self;
        let [fx, fy, fz] = from.map(|plane| &plane[..n]);
        let [tx, ty, tz] = to.map(|plane| &plane[..n]);
        let (x, y, z) = (&mut x[..n], &mut y[..n], &mut z[..n]);
        let (reach, w) = (&reach[..n], &w[..n]);
        for k in 0..n {
            let px = fx[k] + (tx[k] - fx[k]) * share;
            let py = fy[k] + (ty[k] - fy[k]) * share;
            let pz = fz[k] + (tz[k] - fz[k]) * share;
            let free = select(w[k] > 0.0, 1.0, 0.0);
            let by = back_within([x[k] - px, y[k] - py, z[k] - pz], reach[k]);
            x[k] += by[0] * free;
            y[k] += by[1] * free;
            z[k] += by[2] * free;
        }
    }

    fn run_scalar(mut self) {
        for k in 0..self.w.len() {
            let place = Vec3::from(self.place(k));
            let at = Vec3::from(self.x.each_ref().map(|plane| plane[k]));
            let by = back_within((at - place).to_array(), self.reach[k]);
            if self.w[k] > 0.0 {
                for (plane, by) in self.x.iter_mut().zip(by) {
                    plane[k] += by;
                }
            }
        }
    }
}

impl Kernel for Before<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            within:
                Within {
                    from,
                    to,
                    reach,
                    share,
                    x: [x, y, z],
                    w,
                },
            normal,
            distance,
            radius,
        } = self;
        let n = w.len();
        let [fx, fy, fz] = from.map(|plane| &plane[..n]);
        let [tx, ty, tz] = to.map(|plane| &plane[..n]);
        let [nx, ny, nz] = normal.map(|plane| &plane[..n]);
        let (x, y, z) = (&mut x[..n], &mut y[..n], &mut z[..n]);
        let (reach, distance, w) = (&reach[..n], &distance[..n], &w[..n]);
        for k in 0..n {
            let px = fx[k] + (tx[k] - fx[k]) * share;
            let py = fy[k] + (ty[k] - fy[k]) * share;
            let pz = fz[k] + (tz[k] - fz[k]) * share;
            let free = select(w[k] > 0.0, 1.0, 0.0);
            let way = [x[k] - px, y[k] - py, z[k] - pz];
            let out = out_of_ball(way, [nx[k], ny[k], nz[k]], distance[k], radius);
            let way = [way[0] + out[0], way[1] + out[1], way[2] + out[2]];
            let by = back_within(way, reach[k]);
            x[k] += (out[0] + by[0]) * free;
            y[k] += (out[1] + by[1]) * free;
            z[k] += (out[2] + by[2]) * free;
        }
    }

    fn run_scalar(self) {
        let Self {
            mut within,
            normal,
            distance,
            radius,
        } = self;
        for (k, &distance) in distance.iter().enumerate() {
            let place = Vec3::from(within.place(k));
            let way = Vec3::from(within.x.each_ref().map(|plane| plane[k])) - place;
            let front = normal.map(|plane| plane[k]);
            let out = Vec3::from(out_of_ball(way.to_array(), front, distance, radius));
            let by = Vec3::from(back_within((way + out).to_array(), within.reach[k]));
            if within.w[k] > 0.0 {
                for (plane, by) in within.x.iter_mut().zip((out + by).to_array()) {
                    plane[k] += by;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::simd::levels;

    /// One particle that is at `x`, and whose place moves from the origin to x = 1.
    fn held(x: Vec3, limits: MotionLimits, during: [u32; 2]) -> Vec3 {
        let mut p = ParticleArrays::new(Vec3::ZERO, [x].into_iter().collect(), vec![1.0]);
        limits.hold(&mut p, during);
        p.position.get(0)
    }

    fn limits(reach: f32) -> MotionLimits {
        MotionLimits {
            from: SoaVec3::zeros(1),
            to: [Vec3::X].into_iter().collect(),
            reach: vec![reach],
            backstop: None,
        }
    }

    #[test]
    fn particles_stay_within_reach_of_their_moving_place() {
        // At the end of the second of four substeps it is half of the way.
        let place = Vec3::X * 0.5;
        let far = place + Vec3::Y * 3.0;
        assert_eq!(held(far, limits(0.25), [1, 4]), place + Vec3::Y * 0.25);
        let near = place + Vec3::Z * 0.2;
        assert_eq!(held(near, limits(0.25), [1, 4]), near);
        assert_eq!(held(far, limits(f32::INFINITY), [1, 4]), far);
        assert_eq!(held(far, limits(0.0), [3, 4]), Vec3::X);
        assert_eq!(held(place, limits(0.0), [1, 4]), place);
    }

    #[test]
    fn pinned_and_additional_particles_are_let_alone() {
        let far = Vec3::Y * 9.0;
        let places = [far, far].into_iter().collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, places, vec![0.0, 1.0]);
        limits(0.1).hold(&mut p, [0, 1]);
        assert_eq!([p.position.get(0), p.position.get(1)], [far, far]);
    }

    #[test]
    fn a_backstop_keeps_particles_in_front() {
        let back = |distance| MotionLimits {
            backstop: Some(Backstop {
                normal: [Vec3::Z].into_iter().collect(),
                distance: vec![distance],
                radius: 2.0,
            }),
            ..limits(1.0)
        };
        let place = Vec3::X;
        let behind = place - Vec3::Z * 0.5;
        // Straight behind, it comes to the surface of the ball.
        let out = held(behind, back(0.1), [0, 1]);
        assert!((out - (place - Vec3::Z * 0.1)).length() < 1e-6, "{out}");
        // Farther behind than that is allowed.
        assert_eq!(held(behind, back(0.6), [0, 1]), behind);
        assert_eq!(held(behind, back(f32::INFINITY), [0, 1]), behind);
        // Its reach goes before: what would be pushed out of it stays in it.
        let strict = MotionLimits {
            reach: vec![0.3],
            ..back(-0.8)
        };
        let out = held(behind, strict, [0, 1]);
        assert!((out - (place + Vec3::Z * 0.3)).length() < 1e-6, "{out}");
    }

    #[test]
    fn all_levels_give_the_same_bits() {
        let n = 103;
        let wave = |k: usize, by: f32| (k as f32 * by).sin();
        let places = |by: f32| -> SoaVec3 {
            (0..n)
                .map(|k| Vec3::new(wave(k, by), wave(k, by + 0.3), wave(k, by + 0.7)))
                .collect()
        };
        for backstop in [false, true] {
            let limits = MotionLimits {
                from: places(0.1),
                to: places(0.11),
                reach: (0..n)
                    .map(|k| {
                        if k % 7 == 0 {
                            f32::INFINITY
                        } else {
                            0.2 * wave(k, 1.0).abs()
                        }
                    })
                    .collect(),
                backstop: backstop.then(|| Backstop {
                    normal: places(0.9)
                        .iter()
                        .map(|n| n.normalize_or(Vec3::Y))
                        .collect(),
                    distance: (0..n)
                        .map(|k| {
                            if k % 5 == 0 {
                                f32::INFINITY
                            } else {
                                0.1 * wave(k, 2.0)
                            }
                        })
                        .collect(),
                    radius: 0.7,
                }),
            };
            let bits = levels::same_bits(|| {
                let masses = (0..n).map(|k| f32::from(u8::from(k % 11 > 0))).collect();
                let mut p = ParticleArrays::new(Vec3::ZERO, places(0.4), masses);
                limits.hold(&mut p, [1, 3]);
                p.position.bits().collect()
            });
            assert_eq!(bits.len(), 3 * n);
        }
    }
}
