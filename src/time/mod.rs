//! Pause, single steps and slow motion of all cloths, independent of the time of the game.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | [`ClothTime`], [`ClothClock`], and the run condition [`cloth_step_due`] |
//! | `pause_detection` | detects pauses by run conditions of users |
//! | `plugin` | registration |

pub(crate) mod pause_detection;
pub(crate) mod plugin;

use bevy::prelude::*;

/// Pause and speed of all cloths.
///
/// ```
/// # use bevy_drape::time::ClothTime;
/// let mut time = ClothTime::default();
/// time.paused = true;
/// time.request_step(); // one step although it is paused
/// time.speed = 0.25; // slow motion, once it goes on
/// ```
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothTime {
    /// Whether all cloths are paused. Default `false`.
    pub paused: bool,
    /// Speed relative to real time: 1 is real time, 0.1 slow motion. 0 to 1, default 1; for more, raise the speed
    /// of `Time<Virtual>`. Slow motion takes the same steps less often, so the motion is exactly the same; but
    /// colliders and anchors that keep moving in real time are faster relative to the cloth. Move them under
    /// the run condition [`cloth_step_due`].
    pub speed: f32,
    /// Number of single steps still to take while paused, one per fixed update. Default 0.
    pub requested_steps: u32,
}

impl Default for ClothTime {
    fn default() -> Self {
        Self {
            paused: false,
            speed: 1.0,
            requested_steps: 0,
        }
    }
}

impl ClothTime {
    /// Requests one step at the next fixed update, while paused.
    pub fn request_step(&mut self) {
        self.requested_steps = self.requested_steps.saturating_add(1);
    }

    fn allowed_speed(&self) -> f32 {
        if self.speed.is_nan() {
            1.0
        } else {
            self.speed.clamp(0.0, 1.0)
        }
    }
}

/// Progress of the clock between two steps, for slow motion, where not every fixed update takes a step. Save it
/// together with [`ClothTime`]; its contents are private.
#[derive(Resource, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothClock {
    /// Elapsed fraction of a step.
    progress: f32,
    /// Whether cloths take a step in this fixed update.
    due: bool,
}

impl ClothClock {
    /// Returns the fraction, from 0 to 1, at which the rendered frame lies between the last two steps. `overstep`
    /// is that between the last two fixed updates.
    pub(crate) fn interpolation(&self, time: &ClothTime, overstep: f32) -> f32 {
        if time.paused {
            1.0
        } else {
            (self.valid_progress() + overstep * time.allowed_speed()).clamp(0.0, 1.0)
        }
    }

    /// Returns the progress, also of a clock from a damaged file.
    fn valid_progress(&self) -> f32 {
        if self.progress.is_nan() {
            0.0
        } else {
            self.progress.clamp(0.0, 1.0)
        }
    }

    /// Decides whether this fixed update takes a step.
    fn advance(&mut self, time: &mut ClothTime) {
        if time.paused {
            self.due = time.requested_steps > 0;
            // The first update after the pause takes a step.
            self.progress = 1.0 - time.allowed_speed();
            time.requested_steps = time.requested_steps.saturating_sub(1);
        } else {
            self.progress = self.valid_progress() + time.allowed_speed();
            self.due = self.progress >= 1.0;
            if self.due {
                // At full speed each update takes a step; any remainder from slow motion is dropped.
                let real_time = time.allowed_speed() == 1.0;
                self.progress = if real_time { 0.0 } else { self.progress - 1.0 };
            }
            time.requested_steps = 0;
        }
    }
}

/// Decides whether this fixed update takes a step.
pub(crate) fn advance_cloth_time(mut clock: ResMut<ClothClock>, mut time: ResMut<ClothTime>) {
    // Not a change to which other systems should react.
    clock.advance(time.bypass_change_detection());
}

/// Run condition: cloths took a step in this update. For systems in the schedule of the cloth steps, after
/// [`ClothSystems::Finish`](crate::cloth::ClothSystems::Finish), that move colliders and should pause and slow down
/// with the cloths.
pub fn cloth_step_due(clock: Res<ClothClock>) -> bool {
    clock.due
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(time: &mut ClothTime, updates: u32) -> u32 {
        let mut clock = ClothClock::default();
        (0..updates)
            .map(|_| {
                clock.advance(time);
                u32::from(clock.due)
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
        assert_eq!(steps(&mut time, 10), 10);
        time.speed = -1.0;
        assert_eq!(steps(&mut time, 10), 0);
        time.speed = 1e9;
        assert_eq!(steps(&mut time, 10), 10, "never more than one step at once");
    }

    #[test]
    fn interpolation_runs_from_one_step_to_the_next() {
        let mut time = ClothTime {
            speed: 0.5,
            ..Default::default()
        };
        let mut clock = ClothClock::default();
        let mut recorded = Vec::new();
        for _ in 0..4 {
            clock.advance(&mut time);
            recorded.push((
                clock.due,
                clock.interpolation(&time, 0.0),
                clock.interpolation(&time, 0.5),
            ));
        }
        assert_eq!(
            recorded,
            [
                (false, 0.5, 0.75),
                (true, 0.0, 0.25),
                (false, 0.5, 0.75),
                (true, 0.0, 0.25)
            ]
        );
    }
}
