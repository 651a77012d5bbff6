//! Impulses that bodies do not receive at once, because stretched cloth does not throw them back.
//!
//! In the next substep the particles get the momentum back: they move into the body, constraints that were
//! stretched are not, and the contact offers the rest of the impulse again. Until then it is kept apart from the
//! displacements. It is no motion: the particles lie on the body, and that momentum of a few of them would be hundreds
//! of metres per second for air, for the number of substeps and for whoever reads their velocity.

use crate::solver::{particles::ParticleArrays, simd::soa::SoaVec3};
use bevy::math::Vec3;

/// Displacements that particles get in the next substep, m.
#[derive(Clone, Debug, Default)]
pub(super) struct WithheldMotion {
    displacements: SoaVec3,
    /// Whether any of them may differ from zero.
    is_any: bool,
}

impl WithheldMotion {
    /// Adds to the displacement of each particle a fraction of its change by a contact, from `before` to now.
    pub(super) fn add(&mut self, p: &ParticleArrays, before: &SoaVec3, fraction: f32) {
        if !self.is_any {
            self.displacements.resize(p.len());
            self.displacements.fill(Vec3::ZERO);
            self.is_any = true;
        }
        let planes = self.displacements.planes_mut().into_iter();
        let changes = p.displacement.planes().into_iter().zip(before.planes());
        for (withheld, (now, then)) in planes.zip(changes) {
            for (withheld, (now, then)) in withheld.iter_mut().zip(now.iter().zip(then)) {
                *withheld += (then - now) * fraction;
            }
        }
    }

    /// Adds all to the displacements, of the last substep; drops all if particles were reset, added or removed since.
    pub(super) fn give_back(&mut self, p: &mut ParticleArrays) {
        let is_valid = !p.in_phase && self.displacements.len() == p.len();
        if std::mem::take(&mut self.is_any) && is_valid {
            p.displacement.add_scaled(&self.displacements, 1.0);
        }
    }
}
