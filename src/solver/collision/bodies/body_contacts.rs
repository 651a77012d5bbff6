//! Contacts of cloth with dynamic bodies, and the exchange of momentum between them.

use super::{Bodies, BodyMotion, ImpulseSum, WithheldMotion, adaptive_substeps::FREE_STRETCH};
use crate::solver::collision::mesh::MeshContacts;
use crate::solver::{
    collision::collider::{ContactSurface, collide_additional},
    parallel::workers::Workers,
    particles::ParticleArrays,
    simd::soa::SoaVec3,
};
use bevy::math::Vec3;

/// Cloth data and substep parameters for contacts with bodies.
pub(crate) struct BodyContactInput<'a> {
    /// Triangles, thickness and friction of the cloth.
    pub(crate) contact_surface: ContactSurface<'a>,
    /// State of contacts with triangle surfaces.
    pub(crate) meshes: &'a mut MeshContacts,
    /// Index of the substep, and number of substeps.
    pub(crate) during: [u32; 2],
    /// Length of the substep, s.
    pub(crate) dt: f32,
}

impl Bodies {
    /// Resolves contacts with all dynamic bodies, one body after the other. Call after contacts with everything
    /// that cloth cannot move, when displacements are up to date. Returns whether anything was in contact.
    pub(crate) fn collide(
        &mut self,
        workers: &mut Workers,
        p: &mut ParticleArrays,
        input: BodyContactInput,
    ) -> bool {
        let BodyContactInput {
            mut contact_surface,
            meshes,
            during,
            dt,
        } = input;
        let Some(cloth_bounds) = contact_bounds(p, contact_surface.surface.thickness) else {
            return false;
        };
        let recoil = RECOIL_DAMPING * self.adaptive_substeps.factor() as f32;
        // Mean velocity of the cloth before contacts with dynamic bodies.
        let mut cloth_velocity = None;
        let mut stretched = 0.0_f32;
        let mut any = false;
        for (body, parts) in self.list.iter_mut().zip(&self.dynamic) {
            if !parts.are_near(cloth_bounds) {
                continue;
            }
            let cloth_velocity = *cloth_velocity.get_or_insert_with(|| mean(&p.displacement) / dt);
            self.displacements_before.clone_from(&p.displacement);
            let touched = collide_additional(workers, p, &mut contact_surface, &parts.shapes);
            let touched = touched | {
                let all = parts.meshes.iter().map(|mesh| (mesh, FULL_STEP));
                let surface = &contact_surface.surface;
                meshes.collide(workers, p, all, surface, false, during[0] == 0);
                !parts.meshes.is_empty() && meshes.is_near()
            };
            if touched {
                any = true;
                let motion = &mut body.motion;
                let centre = motion.poses_at(during)[1].translation - p.origin;
                let before = &self.displacements_before;
                let relative = (cloth_velocity, recoil);
                let withheld = &mut self.withheld;
                let by_this_body =
                    exchange_momentum(p, before, centre, motion, relative, withheld, dt);
                stretched = stretched.max(by_this_body);
            }
        }
        self.adaptive_substeps.record(stretched, during[1]);
        any
    }
}

/// Substep index and count for colliders whose poses are given for a single substep.
pub(crate) const FULL_STEP: [u32; 2] = [0, 1];

/// Returns the world-space bounding box of all that a cloth may touch in a substep.
fn contact_bounds(p: &ParticleArrays, thickness: f32) -> Option<[Vec3; 2]> {
    let (low, high) = p.position.bounds()?;
    let (back, forth) = p.displacement.bounds()?;
    // A fast particle may have been on the other side of a body.
    let reach = back.abs().max(forth.abs()) + thickness;
    Some([p.origin + low - reach, p.origin + high + reach])
}

/// Damping of the impulse by which stretched cloth throws a body back, as a multiple of critical damping.
const RECOIL_DAMPING: f32 = 2.0;

/// Stretch by a body above which [`RECOIL_DAMPING`] applies in full, m; below, it is scaled down linearly.
const TAUT_STRETCH: f32 = FREE_STRETCH / 4.0;

/// Effect of a contact on the particles of a cloth.
struct ContactImpulse {
    /// Impulse that the body receives.
    sum: ImpulseSum,
    /// Mass of the changed particles, kg.
    mass: f64,
    /// Σ m·Δv²: twice the kinetic energy of the velocity changes, J.
    double_energy: f64,
}

impl ContactImpulse {
    /// Computes the impulse from the displacements before and after a contact, m in a substep of `dt`, s;
    /// `None` if nothing has changed.
    fn compute(p: &ParticleArrays, before: &SoaVec3, centre: Vec3, dt: f32) -> Option<Self> {
        let mut contact = Self {
            sum: ImpulseSum::default(),
            mass: 0.0,
            double_energy: 0.0,
        };
        for (i, &w) in p.inverse_mass.iter().enumerate() {
            let changed = p.displacement.get(i) - before.get(i);
            if w > 0.0 && changed != Vec3::ZERO {
                let velocity = changed / dt;
                let impulse = velocity / w;
                contact.mass += f64::from(w.recip());
                contact.double_energy += f64::from(impulse.dot(velocity));
                contact.sum.add(p.position.get(i) - centre, -impulse);
            }
        }
        (contact.double_energy > 0.0).then_some(contact)
    }
}

/// Applies to a body the impulse that a contact has taken from particles, and returns to the particles the part
/// that they lost only because the body was treated as immovable. `before` holds their displacements before the
/// contact, m in a substep of `dt`, s; `cloth_velocity` is their mean velocity, m/s. Returns by how much the
/// body stretched the cloth, m.
///
/// Stretched cloth springs back within a substep, as an undamped spring would. So a body that already moves in
/// the direction of the impulse, relative to the cloth, receives less: the impulse is reduced as by a damper on
/// a spring of stiffness m/Δt², where m is the mass of the particles in contact. The rest of it is `withheld`: the
/// particles get it in the next substep.
fn exchange_momentum(
    p: &mut ParticleArrays,
    before: &SoaVec3,
    centre: Vec3,
    motion: &mut BodyMotion,
    (cloth_velocity, recoil): (Vec3, f32),
    withheld: &mut WithheldMotion,
    dt: f32,
) -> f32 {
    let Some(ContactImpulse {
        sum,
        mass,
        double_energy,
    }) = ContactImpulse::compute(p, before, centre, dt)
    else {
        return 0.0;
    };
    let [impulse, angular_impulse] = sum.totals();
    let cloth_energy = double_energy as f32;
    let (mut fraction, mut received) = (1.0, 1.0);
    let mut stretched = impulse.length() / mass as f32 * dt;
    if !motion.asleep {
        let body_energy = impulse.dot(motion.inverse_mass * impulse)
            + angular_impulse.dot(motion.inverse_inertia * angular_impulse);
        fraction = cloth_energy / (cloth_energy + body_energy);
        // A light body yields instead of stretching the cloth.
        stretched *= fraction;
        received = fraction;
        let rebound = impulse.dot(motion.velocity - cloth_velocity)
            + angular_impulse.dot(motion.angular_velocity);
        if rebound > 0.0 {
            // Slack cloth does not spring back.
            let tautness = (stretched / TAUT_STRETCH).min(1.0);
            let damped = 2.0 * recoil * tautness * rebound / (cloth_energy * body_energy).sqrt();
            received *= (1.0 - damped).max(0.0);
        }
    }
    motion.apply_impulse(
        [impulse, angular_impulse].map(|impulse| impulse * received),
        dt,
    );
    if received < fraction {
        withheld.add(p, before, fraction - received);
    }
    if fraction < 1.0 {
        let planes = p.displacement.planes_mut().into_iter();
        for (now, then) in planes.zip(before.planes()) {
            for (now, then) in now.iter_mut().zip(then) {
                *now = then + (*now - then) * fraction;
            }
        }
    }
    stretched
}

/// Returns the mean of all vectors; zero if there are none.
fn mean(vectors: &SoaVec3) -> Vec3 {
    let component_mean = |plane: &[f32]| {
        let sum: f64 = plane.iter().map(|&v| f64::from(v)).sum();
        (sum / plane.len().max(1) as f64) as f32
    };
    vectors.planes().map(component_mean).into()
}
