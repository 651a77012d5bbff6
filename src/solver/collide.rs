//! Contacts with solid shapes: push-out and friction, in position form.

use super::{
    contact::{Boxes, Contacts, LANES, Obstacle},
    crew::{Leader, PART},
    facets::Facets,
    integrate::{update_displacements, update_part},
    particles::ParticleArrays,
    shape::Shape,
    simd::dispatch,
    soa::{Bounds, bounds},
    sweep::{longest, stop_fast},
    triangles::Triangles,
};
use bevy::math::{Mat3, Quat, Vec3};
use std::{
    cell::RefCell,
    sync::atomic::{AtomicBool, Ordering},
};

/// A collider that moves faster than this was put somewhere else rather than moved there; it takes
/// no cloth along, m/s.
pub(super) const TELEPORT_SPEED: f32 = 200.0;

/// Coulomb friction coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Friction {
    /// Holds what does not slide yet.
    pub fixed: f32,
    /// Slows what slides.
    pub kinetic: f32,
}

impl Friction {
    /// What two surfaces have together: the geometric mean, which is 0 if either is frictionless.
    pub fn between(a: Self, b: Self) -> Self {
        Self {
            fixed: (a.fixed * b.fixed).sqrt(),
            kinetic: (a.kinetic * b.kinetic).sqrt(),
        }
    }
}

/// Where a collider is, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Turns the collider's axes into world axes.
    pub rotation: Quat,
    /// World position of the collider's origin, m.
    pub translation: Vec3,
}

impl Pose {
    /// That of the world itself.
    pub const ORIGIN: Self = Self {
        rotation: Quat::IDENTITY,
        translation: Vec3::ZERO,
    };

    /// Whether every number is finite and the rotation is one.
    pub fn is_valid(&self) -> bool {
        self.rotation.is_finite() && self.rotation.is_normalized() && self.translation.is_finite()
    }

    /// Where something is in the world that has this place in its frame.
    pub(crate) fn carrying(&self, place: &Self) -> Self {
        Self {
            rotation: self.rotation * place.rotation,
            translation: self.translation + self.rotation * place.translation,
        }
    }

    /// Between two poses: straight for the place, the short way round for the turn.
    fn between(self, end: Self, t: f32) -> Self {
        Self {
            rotation: nlerp(self.rotation, end.rotation, t),
            translation: self.translation + (end.translation - self.translation) * t,
        }
    }
}

/// Normalised linear interpolation: unlike `slerp` it needs no sine, whose last bits differ from
/// one platform to the next, and over one step the difference is nothing.
fn nlerp(start: Quat, end: Quat, t: f32) -> Quat {
    if start == end {
        return start;
    }
    let end = if start.dot(end) < 0.0 { -end } else { end };
    let mixed = start * (1.0 - t) + end * t;
    let length = mixed.length();
    if length > 0.0 { mixed / length } else { end }
}

/// A solid that cloth bumps into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collider {
    /// Its shape.
    pub shape: Shape,
    /// Where it is when the fixed step begins.
    pub start: Pose,
    /// Where it is when the fixed step ends.
    pub end: Pose,
    /// Its own friction, combined with that of the cloth by [`Friction::between`].
    pub friction: Friction,
    /// Cloth is kept inside its shape instead of outside.
    pub hollow: bool,
}

impl Collider {
    /// One that does not move.
    pub fn fixed(shape: Shape, pose: Pose, friction: Friction) -> Self {
        Self {
            shape,
            start: pose,
            end: pose,
            friction,
            hollow: false,
        }
    }

    /// The same collider, standing still at its end if it came there too fast to have been moved.
    /// `dt` is the length of the fixed step, s.
    pub fn without_teleport(self, dt: f32) -> Self {
        let way = self.end.translation - self.start.translation;
        if way.length() > TELEPORT_SPEED * dt {
            Self {
                start: self.end,
                ..self
            }
        } else {
            self
        }
    }

    /// Corners of a box in the axes of the world around all that it may touch during the fixed step.
    /// What is hollow draws in what is outside of it from everywhere.
    pub(crate) fn around(&self) -> [Vec3; 2] {
        let [least, most] = self.shape.bounds();
        if self.hollow || !least.is_finite() {
            return [Vec3::NEG_INFINITY, Vec3::INFINITY];
        }
        // However it turns, it does not leave a ball.
        let radius = least.abs().max(most.abs()).length();
        let (from, to) = (self.start.translation, self.end.translation);
        [from.min(to) - radius, from.max(to) + radius]
    }

    /// Whether anything in a box, given by its corners, may touch it during the fixed step, where
    /// that is in the box [around](Self::around) it.
    pub(crate) fn is_near(&self, [low, high]: [Vec3; 2]) -> bool {
        if self.hollow || self.shape != Shape::HalfSpace {
            return true;
        }
        let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
        [self.start, self.end].iter().any(|pose| {
            let normal = pose.rotation * Vec3::Y;
            normal.dot(middle - pose.translation) <= normal.abs().dot(half)
        })
    }

    /// Its greatest radius if it is round all along its axis and cloth is kept outside, else infinite, m.
    pub(super) fn round_radius(&self) -> f32 {
        match self.hollow {
            true => f32::INFINITY,
            false => self.shape.round_radius(),
        }
    }

    /// Where it is when a substep begins and when it ends.
    pub(super) fn during(&self, substep: u32, substeps: u32) -> (Pose, Pose) {
        let n = substeps.max(1) as f32;
        (
            self.start.between(self.end, substep as f32 / n),
            self.start.between(self.end, (substep + 1) as f32 / n),
        )
    }
}

/// What the cloth brings to a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// Distance that particles keep from a collider, m, so that the flat triangles between them do
    /// not shine through a round one.
    pub thickness: f32,
    /// Friction of the fabric.
    pub friction: Friction,
}

/// Pushes particles out of colliders, and keeps them from going through, in substep number `substep` of `substeps`.
///
/// Displacements must be up to date ([`update_displacements`]): they say where particles came from. The
/// push-out d_n moves the position; of the displacement it only takes the part that still goes into
/// the collider, so it adds no energy. Friction works on the displacement Δt relative to the point
/// of the collider that is touched: up to μ_s·d_n it is cancelled, beyond that it loses μ_k·d_n.
pub fn collide(
    particles: &mut ParticleArrays,
    colliders: &[Collider],
    surface: &Surface,
    substep: u32,
    substeps: u32,
) {
    if colliders.is_empty() {
        return;
    }
    with_obstacles(
        particles,
        colliders,
        surface,
        [substep, substeps],
        |all, p| {
            let moving = p
                .position
                .chunks_mut(PART)
                .zip(p.displacement.chunks_mut(PART));
            let parts = moving.zip(p.inverse_mass.chunks(PART));
            parts.for_each(|((x, d), w)| {
                let ways = bounds(d.each_ref().map(|plane| &**plane));
                touch(all, longest(&ways), x, d, w);
            });
        },
    );
}

/// What a cloth brings to contacts besides its particles.
pub(crate) struct Skin<'a> {
    /// Its triangles.
    pub(crate) triangles: &'a Triangles,
    /// What contacts with them need, ready for this fixed step.
    pub(crate) facets: &'a mut Facets,
    /// Thickness and friction.
    pub(crate) surface: Surface,
}

impl Skin<'_> {
    /// The same, for a while.
    pub(crate) fn reborrow(&mut self) -> Skin<'_> {
        Skin {
            triangles: self.triangles,
            facets: self.facets,
            surface: self.surface,
        }
    }
}

/// Brings displacements up to date, pushes triangles out of colliders that are smaller than they are, and
/// particles out of all: [`update_displacements`] and [`collide`], shared with the leader's helpers. Returns
/// whether any was near enough to touch.
///
/// [`update_displacements`]: super::update_displacements
pub(crate) fn collide_shared<'a>(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    skin: Skin,
    colliders: impl IntoIterator<Item = &'a Collider>,
    during: [u32; 2],
) -> bool {
    let Skin {
        triangles,
        facets,
        surface,
    } = skin;
    let any_near = AtomicBool::new(false);
    with_obstacles(particles, colliders, &surface, during, |all, p| {
        if facets.are_ready() {
            facets.begin(p);
            update_displacements(p);
            let near = facets.collide(p, triangles, &all.all);
            any_near.store(near, Ordering::Relaxed);
            // Of what triangles have been pushed nothing is to be added to displacements.
            p.predicted.copy_from(&p.position);
        }
        let moving = p
            .position
            .chunks_mut(PART)
            .zip(p.displacement.chunks_mut(PART));
        let parts = moving.zip(p.predicted.chunks_mut(PART));
        let parts = parts.zip(p.inverse_mass.chunks(PART));
        leader.each(parts, |(((x, [dx, dy, dz]), predicted), w)| {
            let places = x.each_ref().map(|plane| &**plane);
            let greatest = update_part([&mut *dx, &mut *dy, &mut *dz], predicted, places);
            if touch(all, greatest * DIAGONAL, x, [dx, dy, dz], w) {
                any_near.store(true, Ordering::Relaxed);
            }
        });
    });
    any_near.into_inner()
}

/// Pushes triangles and particles out of more colliders, which are where they are in one substep. After
/// [`collide_shared`] in the same substep. Returns whether any was near enough to touch.
pub(crate) fn collide_again<'a>(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    skin: Skin,
    colliders: impl IntoIterator<Item = &'a Collider>,
) -> bool {
    let Skin {
        triangles,
        facets,
        surface,
    } = skin;
    let any_near = AtomicBool::new(false);
    with_obstacles(particles, colliders, &surface, [0, 1], |all, p| {
        if facets.are_ready() && facets.collide(p, triangles, &all.all) {
            any_near.store(true, Ordering::Relaxed);
        }
        let moving = p
            .position
            .chunks_mut(PART)
            .zip(p.displacement.chunks_mut(PART));
        let parts = moving.zip(p.inverse_mass.chunks(PART));
        leader.each(parts, |((x, d), w)| {
            let ways = bounds(d.each_ref().map(|plane| &**plane));
            if touch(all, longest(&ways), x, d, w) {
                any_near.store(true, Ordering::Relaxed);
            }
        });
    });
    any_near.into_inner()
}

thread_local! {
    /// Room for obstacles.
    static ALL: RefCell<Obstacles> = RefCell::default();
}

/// All obstacles of a substep, and boxes around them.
#[derive(Default)]
struct Obstacles {
    all: Vec<Obstacle>,
    boxes: Boxes,
}

impl Obstacles {
    /// Whether any of them may touch a particle in a box.
    fn may_touch(&self, bounds: &Bounds) -> bool {
        (0..self.boxes.groups()).any(|group| {
            let mut near = self.boxes.overlapping(group, bounds);
            while near != 0 {
                let number = group * LANES + near.trailing_zeros() as usize;
                if self.all[number].may_touch(bounds) {
                    return true;
                }
                near &= near - 1;
            }
            false
        })
    }
}

/// Lends the colliders as they are in substep number `substep` of `substeps`.
fn with_obstacles<'a>(
    particles: &mut ParticleArrays,
    colliders: impl IntoIterator<Item = &'a Collider>,
    surface: &Surface,
    [substep, substeps]: [u32; 2],
    work: impl FnOnce(&Obstacles, &mut ParticleArrays),
) {
    let origin = particles.origin;
    ALL.with_borrow_mut(|obstacles| {
        let Obstacles { all, boxes } = obstacles;
        let obstacle = |collider| Obstacle::new(collider, surface, origin, substep, substeps);
        all.clear();
        all.extend(colliders.into_iter().map(obstacle));
        boxes.fill(all.iter().map(|obstacle| obstacle.around));
        work(obstacles, particles);
    });
}

/// A vector is at most so many times as long as its greatest component: √3, and more than is lost by
/// rounding.
const DIAGONAL: f32 = 1.733;

/// Contacts of particles that are neighbours in memory, none of which has moved by more than `way`. Returns
/// whether anything was near.
fn touch(
    obstacles: &Obstacles,
    way: f32,
    mut x: [&mut [f32]; 3],
    mut d: [&mut [f32]; 3],
    w: &[f32],
) -> bool {
    let Obstacles { all, boxes } = obstacles;
    if all.is_empty() {
        return false;
    }
    stop_fast(all, way, &mut x, &mut d, w);
    // Most cloths, and most parts of a large one, are far from most colliders.
    let near = obstacles.may_touch(&bounds(x.each_ref().map(|plane| &**plane)));
    if near {
        dispatch(Contacts {
            x,
            d,
            w,
            obstacles: all,
            boxes,
        });
    }
    near
}

/// The deepest that any particle is inside a collider, or outside one that is hollow, at the end of the
/// fixed step, m; 0 if none is.
/// Pinned particles do not count: whoever put them there wanted them there.
pub fn deepest_penetration<'a>(
    particles: &ParticleArrays,
    colliders: impl IntoIterator<Item = &'a Collider>,
) -> f32 {
    let mut deepest = 0.0_f32;
    for collider in colliders {
        let to_local = Mat3::from_quat(collider.end.rotation).transpose();
        let centre = collider.end.translation - particles.origin;
        for (position, &w) in particles.position.iter().zip(&particles.inverse_mass) {
            if w > 0.0 {
                let (distance, _) = collider.shape.distance(to_local * (position - centre));
                let inside = if collider.hollow { distance } else { -distance };
                deepest = deepest.max(inside);
            }
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Integration, SoaVec3, integrate};

    const STILL: Pose = Pose {
        rotation: Quat::IDENTITY,
        translation: Vec3::ZERO,
    };

    fn particle(position: Vec3, displacement: Vec3) -> ParticleArrays {
        let mut p = ParticleArrays::new(Vec3::ZERO, SoaVec3::from_iter([position]), vec![1.0]);
        p.displacement.set(0, displacement);
        p
    }

    fn rough(mu: f32) -> Friction {
        Friction {
            fixed: mu,
            kinetic: mu,
        }
    }

    fn floor(mu: f32) -> Collider {
        Collider::fixed(Shape::HalfSpace, STILL, rough(mu))
    }

    fn surface(mu: f32) -> Surface {
        Surface {
            thickness: 0.0,
            friction: rough(mu),
        }
    }

    #[test]
    fn a_push_out_adds_no_speed() {
        let mut p = particle(Vec3::NEG_Y * 0.5, Vec3::NEG_Y * 0.1);
        collide(&mut p, &[floor(0.0)], &surface(0.0), 0, 1);
        assert_eq!(p.position.get(0), Vec3::ZERO);
        assert_eq!(p.displacement.get(0), Vec3::ZERO);
    }

    #[test]
    fn what_already_leaves_is_not_slowed() {
        let mut p = particle(Vec3::NEG_Y * 0.01, Vec3::Y * 0.1);
        collide(&mut p, &[floor(0.0)], &surface(0.0), 0, 1);
        assert_eq!(p.displacement.get(0), Vec3::Y * 0.1);
    }

    #[test]
    fn friction_holds_or_slows() {
        // A push-out of 0.1 with μ = 0.5 can take 0.05.
        let mut held = particle(Vec3::NEG_Y * 0.1, Vec3::new(0.04, -0.1, 0.0));
        collide(&mut held, &[floor(0.5)], &surface(0.5), 0, 1);
        assert_eq!(held.displacement.get(0), Vec3::ZERO);
        let mut slides = particle(Vec3::NEG_Y * 0.1, Vec3::new(0.2, -0.1, 0.0));
        collide(&mut slides, &[floor(0.5)], &surface(0.5), 0, 1);
        assert!((slides.displacement.get(0).x - 0.15).abs() < 1e-6);
    }

    #[test]
    fn a_moving_collider_takes_the_cloth_along() {
        let end = Pose {
            translation: Vec3::new(0.3, 0.1, 0.0),
            ..STILL
        };
        let belt = Collider {
            end,
            ..floor(100.0)
        };
        let mut p = particle(Vec3::ZERO, Vec3::ZERO);
        let free = Integration {
            gravity: Vec3::ZERO,
            damping: 0.0,
            dt: 1.0 / 480.0,
        };
        for substep in 0..4 {
            integrate(&mut p, &free);
            collide(&mut p, &[belt], &surface(100.0), substep, 4);
        }
        assert!((p.position.get(0) - end.translation).length() < 1e-6);
        assert!((p.displacement.get(0) - end.translation / 4.0).length() < 1e-6);
    }

    #[test]
    fn a_teleported_collider_does_not() {
        let far = Pose {
            translation: Vec3::X * 100.0,
            ..STILL
        };
        let belt = Collider {
            start: far,
            ..floor(1.0)
        };
        assert_eq!(belt.without_teleport(1.0 / 60.0).start, STILL);
    }

    #[test]
    fn penetration_is_measured_from_the_surface() {
        let p = particle(Vec3::NEG_Y * 0.25, Vec3::ZERO);
        assert_eq!(deepest_penetration(&p, &[floor(0.0)]), 0.25);
        let above = particle(Vec3::Y, Vec3::ZERO);
        assert_eq!(deepest_penetration(&above, &[floor(0.0)]), 0.0);
    }
}
