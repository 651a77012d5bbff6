//! Numbers of substeps that bodies, strong wind, fast pins and self-collision require, in place of one substep, and the plan of
//! the substeps of a step.

use crate::solver::{
    collision::bodies::MAX_SUBSTEP_FACTOR,
    constraints::compliance::Compliance,
    forces::{
        aero::Air,
        step_air::{AirSurface, max_relative_speed},
        wind_field::WindField,
    },
    particles::{KeptSubsteps, ParticleArrays},
    state::{ClothState, StepInput, StepSettings},
};
use bevy::math::Vec3;
use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2};

/// Largest growth of the ripples of a cloth in a substep, as an exponent of e. With 0.3, a flag of silk is stretched by 4.4
/// % in a wind of 30 m/s instead of 3.7 %, and one of 0.2 kg/m² by 6.9 % instead of 4.5 %; with 1 by up to 125 % at 80 m/s.
const MAX_GROWTH: f32 = 0.1;

/// Largest way of a pin in a substep relative to the cloth, as a fraction of the distance between particles. A sheet of 64²
/// particles on a pin that jumps to 20 m/s is stretched by up to 100 % without a limit, and by 18 % with it.
const MAX_WAY_OF_PINS: f32 = 0.6;

/// Largest way of two particles towards each other in a substep, as a multiple of the distance that they keep, where cloth
/// touches itself. Faster cloth folds into itself before contacts can follow. Of sheets of 32² to 72² particles that are thrown
/// on their edge at 5 and 20 m/s, the median is stretched by 36 % on impact, and by 64 % if this is 1.
const MAX_WAY_IN_FOLDS: f32 = 0.5;

/// Largest way of any particle of cloth that collides with itself, likewise. If this and the one above are 0.3, the median of
/// those sheets is stretched by 32 %, but a sheet of 256² that falls on a ball takes 40 % longer.
const MAX_WAY_IN_SELF_COLLISION: f32 = 1.0;

/// Largest factor on the number of substeps because of self-collision. With 4, most sheets of 64² particles that are thrown
/// at 20 m/s end with links stretched by 13 to 62 %, with 8 by 2 to 9 %.
const MAX_FACTOR_IN_SELF_COLLISION: f32 = 8.0;

/// Time for which cloth that was fast keeps its additional substeps, s; longer than it takes to fall asleep. Without, a change
/// of their number may move cloth that hangs on the corners of a box so fast that it requires them again: a sheet of 256²
/// particles hopped in each second step.
const TIME_OF_SUBSTEPS: f32 = 0.6;

/// Largest number of substeps of a step, and of relaxation iterations in all of them: 20 times the default. More would stall
/// frames and improve nothing that is seen.
pub const MAX_ITERATIONS_PER_STEP: u32 = 160;

/// Returns how many iterations, or substeps in place of one, each of this many substeps may take; at least 1.
pub(crate) fn affordable_in_substep(substeps: u32) -> u32 {
    (MAX_ITERATIONS_PER_STEP / substeps.max(1)).max(1)
}

/// Largest number of contacts per particle for which a step takes additional substeps, in all of them together: two and a
/// half times that of a sheet thrown on its edge at 20 m/s. Cloth that is tangled everywhere takes none.
const MAX_CONTACTS_PER_STEP: f32 = 160.0;

/// Returns how many substeps may be taken in place of one of `substep` seconds, with as many contacts in each as in the last
/// step.
pub(crate) fn affordable_with_contacts(particles: &ParticleArrays, substep: f32) -> u32 {
    // In such substeps only.
    let contacts = particles.contacts * particles.last_dt / substep;
    match particles.is_tangled_everywhere {
        true => 1,
        false => (MAX_CONTACTS_PER_STEP / contacts).max(1.0) as u32,
    }
}

/// Plan of the substeps of a step: as many times those that its settings ask for as its motion requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubstepPlan {
    /// Factor on the number of substeps, at least 1.
    pub(crate) factor: u32,
    /// Part of that factor by which the cloth may become stiffer, at least 1.
    pub(crate) stiffening: u32,
}

impl SubstepPlan {
    /// Plan without additional substeps.
    pub(crate) const NONE: Self = Self {
        factor: 1,
        stiffening: 1,
    };

    /// Returns the settings of a step with this plan.
    pub fn apply<'a>(self, settings: &StepSettings<'a>) -> StepSettings<'a> {
        StepSettings {
            substeps: settings.substeps.max(1) * self.factor,
            relaxation_factor: settings.relaxation_factor
                * self.relaxation_factor(&settings.compliance),
            ..*settings
        }
    }

    /// Returns the relaxation factor with which cloth of this compliance keeps its stiffness.
    ///
    /// The stiffness of inextensible cloth is proportional to the square of the number of substeps. If it rose whenever cloth
    /// that collides with itself is fast, cloth without tethers would contract, and be fast because of that: a sheet of 256²
    /// particles on a ball, of which the weight stretches links by some percent, would hop for ever.
    pub(crate) fn relaxation_factor(self, compliance: &Compliance) -> f32 {
        if compliance.is_elastic() {
            return 1.0;
        }
        (self.stiffening as f32 / self.factor as f32).powi(2)
    }
}

impl ClothState<'_> {
    /// Returns the plan of the substeps of the coming step: their number multiplied by 1 to 8 for the sake of heavy or fast
    /// bodies, strong wind, fast pins and self-collision. The product is at most [`MAX_ITERATIONS_PER_STEP`], and less for cloth
    /// with many contacts; cloth that is tangled everywhere takes no additional substeps.
    pub fn plan_substeps(&mut self, settings: &StepSettings, input: &StepInput) -> SubstepPlan {
        let substep = settings.dt / settings.substeps.max(1) as f32;
        let (surface, particles) = (self.air_surface(), &*self.particles);
        let by_bodies = self.bodies.plan_substeps(particles, substep);
        let by_air = required_by_air(particles, surface, &input.wind, &settings.air, substep);
        let by_pins = required_by_pins(particles, input, surface, settings.dt, substep);
        let by_self_collision = settings.self_collision.map_or(1.0, |self_collision| {
            required_by_self_collision(particles, self_collision.distance, settings.dt, substep)
        });
        let by_others = by_air.max(by_pins).clamp(1.0, MAX_SUBSTEP_FACTOR as f32);
        let by_loads = by_bodies.max(by_others.ceil() as u32);
        // A number that is NaN becomes 0.
        let by_self_collision = by_self_collision.ceil() as u32;
        let by_self_collision = keep_factor(self.particles, by_self_collision, settings.dt);
        let wanted = by_loads.max(by_self_collision);
        let affordable = affordable_in_substep(settings.substeps)
            .min(affordable_with_contacts(self.particles, substep));
        let factor = wanted.min(affordable);
        if factor != by_bodies {
            self.bodies.set_substep_factor(factor);
        }
        // Tethers carry the weight of the cloth below them, however stiff it is.
        let may_stiffen = !self.tethers.is_empty();
        SubstepPlan {
            factor,
            stiffening: if may_stiffen {
                factor
            } else {
                by_loads.min(factor)
            },
        }
    }
}

/// Returns the distance of neighbouring particles of a grid, or nearly that of other meshes, m; 0 if it is unknown.
fn spacing(surface: AirSurface) -> f32 {
    surface.triangles.longest_edge * FRAC_1_SQRT_2
}

/// Returns the number of substeps that the air requires in place of one of `substep` seconds.
///
/// Lift makes flat cloth ripple. A force −½ρC_L·u²·∂y/∂x per area lets ripples of wavenumber k grow by a factor of e in
/// 1/√(kρC_L·u²/4σ) seconds, the shortest ones fastest: those with a wavelength of four particles.
fn required_by_air(
    particles: &ParticleArrays,
    surface: AirSurface,
    field: &WindField,
    air: &Air,
    substep: f32,
) -> f32 {
    let spacing = spacing(surface);
    let lift = air.density * air.lift;
    if lift == 0.0 || spacing == 0.0 || air.areal_density <= 0.0 {
        return 1.0;
    }
    let wavenumber = FRAC_PI_2 / spacing;
    let growth_per_distance = (wavenumber * lift / (4.0 * air.areal_density)).sqrt();
    let growth = growth_per_distance * max_relative_speed(particles, field, air) * substep;
    growth / MAX_GROWTH
}

/// Returns the number of substeps that the motion of pins to their targets requires in place of one of `substep` seconds,
/// in a step of `step` seconds. Links to a pin that moves by more than their length would be stretched as much.
fn required_by_pins(
    particles: &ParticleArrays,
    input: &StepInput,
    surface: AirSurface,
    step: f32,
    substep: f32,
) -> f32 {
    let allowed = MAX_WAY_OF_PINS * spacing(surface) / substep;
    let origin = particles.origin;
    let carried = |at: Vec3| match input.frame_motion {
        Some(motion) => motion.transform_point(origin + at) - origin,
        None => at,
    };
    let velocities = input.pins.iter().filter_map(|pin| {
        let i = pin.particle as usize;
        let is_valid = i < particles.len();
        is_valid.then(|| (pin.position - carried(particles.position.get(i))) / step)
    });
    let is_slow = velocities
        .clone()
        .all(|velocity| velocity.length() < allowed);
    if is_slow || allowed == 0.0 {
        return 1.0;
    }
    let velocity =
        particles.displacement.iter().sum::<Vec3>() / (particles.last_dt * particles.len() as f32);
    let fastest = velocities
        .map(|pin| pin.distance(velocity))
        .fold(0.0, f32::max);
    fastest / allowed
}

/// Returns the number of substeps that self-collision requires in place of one of `substep` seconds, in a step of `step`
/// seconds. `distance` is that which particles keep from each other, m.
fn required_by_self_collision(
    particles: &ParticleArrays,
    distance: f32,
    step: f32,
    substep: f32,
) -> f32 {
    let way_in_folds = particles.way_in_folds * substep / step;
    let by_folds = way_in_folds / (MAX_WAY_IN_FOLDS * distance);
    let by_way = particles.free_way(substep) / (MAX_WAY_IN_SELF_COLLISION * distance);
    by_folds.max(by_way).min(MAX_FACTOR_IN_SELF_COLLISION)
}

/// Returns the factor on the number of substeps that self-collision requires in this step of `step` seconds, from the one that
/// its motion requires and those before.
fn keep_factor(particles: &mut ParticleArrays, required: u32, step: f32) -> u32 {
    let kept = &mut particles.kept_substeps;
    if kept.time > 0.0 && required < kept.factor {
        // Data from a file may be out of range.
        kept.time = kept.time.min(TIME_OF_SUBSTEPS) - step;
        kept.required_since = kept.required_since.max(required);
    } else {
        let factor = match required < kept.factor {
            true => required.max(kept.required_since),
            false => required,
        };
        *kept = KeptSubsteps {
            factor,
            time: TIME_OF_SUBSTEPS,
            required_since: 0,
        };
    }
    kept.factor.min(MAX_FACTOR_IN_SELF_COLLISION as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{PinTarget, forces::step_air::triangle};

    const SUBSTEP: f32 = 1.0 / 480.0;

    #[test]
    fn strong_wind_and_fast_cloth_require_more_substeps() {
        let (mut p, triangles) = triangle();
        let air = |wind: f32| Air {
            wind: Vec3::new(0.3, 0.1, 0.0) * wind,
            density: 1.2,
            drag: 0.5,
            lift: 0.25,
            areal_density: 0.05,
        };
        let required = |p: &ParticleArrays, air: &Air| {
            required_by_air(p, (&triangles).into(), &WindField::default(), air, SUBSTEP)
        };
        assert!(required(&p, &air(30.0)) < 1.0);
        let strong = required(&p, &air(100.0));
        assert!((3.0..4.0).contains(&strong), "{strong}");
        p.set_velocity(1, Vec3::X * 30.0);
        assert!(required(&p, &air(0.0)) > 1.0);
        let vacuum = Air {
            density: 0.0,
            ..air(100.0)
        };
        assert_eq!(required(&p, &vacuum), 1.0);
    }

    #[test]
    fn fast_cloth_that_collides_with_itself_requires_more_substeps() {
        let (mut p, _) = triangle();
        let required =
            |p: &ParticleArrays| required_by_self_collision(p, 0.01, 8.0 * SUBSTEP, SUBSTEP);
        assert_eq!(required(&p), 0.0);
        // Free cloth may hit something.
        for i in 0..3 {
            p.set_velocity(i, Vec3::X * (0.015 / SUBSTEP));
        }
        assert!((required(&p) - 1.5).abs() < 1e-3, "{}", required(&p));
        // Still more where it touches itself.
        p.way_in_folds = 8.0 * 0.015;
        assert!((required(&p) - 3.0).abs() < 1e-3, "{}", required(&p));
        p.way_in_folds = 0.0;
        p.inverse_mass[0] = 0.0;
        assert!(required(&p) < 1e-3, "{}", required(&p));
        p.set_velocity(1, Vec3::X * 100.0);
        assert_eq!(required(&p), MAX_FACTOR_IN_SELF_COLLISION);
    }

    #[test]
    fn substeps_are_kept_for_a_time() {
        let (mut p, _) = triangle();
        let step = 1.0 / 60.0;
        let steps = (TIME_OF_SUBSTEPS / step).ceil() as usize;
        let mut keep = |required| keep_factor(&mut p, required, step);
        assert_eq!([keep(1), keep(3), keep(2), keep(8)], [1, 3, 3, 8]);
        assert!((0..steps).all(|k| keep(k as u32 % 6) == 8));
        // The largest factor required in the meantime.
        assert_eq!([keep(2), keep(1)], [5, 5]);
        p.kept_substeps = KeptSubsteps {
            factor: u32::MAX,
            time: f32::INFINITY,
            required_since: 0,
        };
        assert_eq!(keep_factor(&mut p, 1, step), 8);
        assert!(p.kept_substeps.time < TIME_OF_SUBSTEPS);
    }

    #[test]
    fn crammed_cloth_takes_few_additional_substeps() {
        let (mut p, _) = triangle();
        p.last_dt = SUBSTEP / 4.0;
        let affordable = |p: &ParticleArrays| affordable_with_contacts(p, SUBSTEP);
        assert_eq!(affordable(&p), u32::MAX);
        // 10 contacts in each of 32 substeps of the last step: 80 if it had taken 8.
        p.contacts = 320.0;
        assert_eq!(affordable(&p), 2);
        p.contacts = 10_000.0;
        assert_eq!(affordable(&p), 1);
        p.contacts = 4.0;
        assert_eq!(affordable(&p), 160);
        p.is_tangled_everywhere = true;
        assert_eq!(affordable(&p), 1);
    }

    #[test]
    fn pins_faster_than_the_cloth_require_more_substeps() {
        let (mut p, triangles) = triangle();
        let step = 8.0 * SUBSTEP;
        let required = |p: &ParticleArrays, speed: f32| {
            let position = p.position.get(0) + Vec3::X * (speed * step);
            let pins = [PinTarget {
                particle: 0,
                position,
            }];
            let input = StepInput {
                pins: &pins,
                ..StepInput::default()
            };
            required_by_pins(p, &input, (&triangles).into(), step, SUBSTEP)
        };
        assert_eq!(required(&p, 1.0), 1.0);
        let fast = required(&p, 100.0);
        assert!((3.0..4.0).contains(&fast), "{fast}");
        // The cloth moves along.
        for i in 0..3 {
            p.set_velocity(i, Vec3::X * 99.0);
        }
        assert!(required(&p, 100.0) < 0.1);
    }
}
