//! Pause, single step and slow motion of all cloths, apart from the time of the game.

use bevy::prelude::*;

/// The clock of all cloths.
///
/// ```
/// # use bevy_drape::ClothTime;
/// let mut time = ClothTime::default();
/// time.paused = true;
/// time.request_step(); // one step although it is paused
/// time.speed = 0.25; // slow motion, once it goes on
/// ```
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
pub struct ClothTime {
    /// Cloths stand still.
    pub paused: bool,
    /// 1 is real time, 0.1 slow motion. 0 to 1; to go faster, raise the speed of `Time<Virtual>`.
    /// Slow motion takes the same steps less often, so it shows the very same motion.
    pub speed: f32,
    requested: u32,
    /// Share of a step that has been waited for.
    progress: f32,
    due: bool,
}

impl Default for ClothTime {
    fn default() -> Self {
        Self {
            paused: false,
            speed: 1.0,
            requested: 0,
            progress: 0.0,
            due: false,
        }
    }
}

impl ClothTime {
    /// Takes one step, at the next fixed update, although it is paused.
    pub fn request_step(&mut self) {
        self.requested = self.requested.saturating_add(1);
    }

    /// Whether cloths move in this fixed update.
    pub fn is_step_due(&self) -> bool {
        self.due
    }

    /// How far the drawn frame is between the last two steps, from 0 to 1. `overstep` is the same
    /// for fixed updates ([`Time<Fixed>::overstep_fraction`](bevy::time::Time::overstep_fraction)).
    pub fn interpolation(&self, overstep: f32) -> f32 {
        if self.paused {
            1.0
        } else {
            (self.progress + overstep * self.allowed_speed()).clamp(0.0, 1.0)
        }
    }

    fn allowed_speed(&self) -> f32 {
        // `max` and `min` turn NaN into a number.
        self.speed.max(0.0).min(1.0)
    }

    /// Decides whether this fixed update takes a step.
    fn advance(&mut self) {
        if self.paused {
            self.due = self.requested > 0;
            self.requested = self.requested.saturating_sub(1);
            self.progress = 0.0;
        } else {
            self.requested = 0;
            self.progress += self.allowed_speed();
            self.due = self.progress >= 1.0;
            if self.due {
                self.progress -= 1.0;
            }
        }
    }
}

/// Decides whether this fixed update takes a step.
pub(crate) fn advance_cloth_time(mut time: ResMut<ClothTime>) {
    // Not a change that anybody should react to.
    time.bypass_change_detection().advance();
}

/// Run condition: cloths move in this fixed update.
pub(crate) fn cloth_step_due(time: Res<ClothTime>) -> bool {
    time.is_step_due()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(time: &mut ClothTime, updates: u32) -> u32 {
        (0..updates)
            .map(|_| {
                time.advance();
                u32::from(time.is_step_due())
            })
            .sum()
    }

    #[test]
    fn pause_step_and_slow_motion() {
        let mut time = ClothTime::default();
        assert_eq!(steps(&mut time, 10), 10);
        time.paused = true;
        assert_eq!(steps(&mut time, 10), 0);
        time.request_step();
        time.request_step();
        assert_eq!(steps(&mut time, 10), 2);
        time.paused = false;
        time.speed = 0.25;
        assert_eq!(steps(&mut time, 40), 10);
        time.speed = f32::NAN;
        assert!(steps(&mut time, 10) <= 10);
        time.speed = 1e9;
        assert_eq!(steps(&mut time, 10), 10, "never more than one step at once");
    }

    #[test]
    fn interpolation_runs_from_one_step_to_the_next() {
        let mut time = ClothTime {
            speed: 0.5,
            ..Default::default()
        };
        let mut seen = Vec::new();
        for _ in 0..4 {
            time.advance();
            seen.push((
                time.is_step_due(),
                time.interpolation(0.0),
                time.interpolation(0.5),
            ));
        }
        assert_eq!(
            seen,
            [
                (false, 0.5, 0.75),
                (true, 0.0, 0.25),
                (false, 0.5, 0.75),
                (true, 0.0, 0.25)
            ]
        );
    }
}
