//! Table of all measurements, and what of it is wrong.

use crate::vitals::{Vitals, larger};

/// Largest growth of the memory from the third part on, bytes.
const MAX_GROWTH: usize = 64 * 1024;

/// Largest mean energy in the second half, as a multiple of that in the first. The greatest speed is no measure: it comes from
/// a rare event, in either half.
const MAX_GAIN: f64 = 1.5;

/// Largest difference of a clock from the number of steps, s: half a step.
const MAX_CLOCK_ERROR: f64 = 0.5 / crate::RATE;

/// Measurements of all scenes.
#[derive(Default)]
pub(crate) struct Report {
    scenes: Vec<(&'static str, Vec<Vitals>)>,
    /// Bytes that live at the end of each part.
    memory: Vec<usize>,
}

impl Report {
    pub(crate) fn add(&mut self, scene: &'static str, vitals: Vitals) {
        match self.scenes.iter_mut().find(|(name, _)| *name == scene) {
            Some((_, parts)) => parts.push(vitals),
            None => self.scenes.push((scene, vec![vitals])),
        }
    }

    pub(crate) fn add_memory(&mut self, bytes: usize) {
        self.memory.push(bytes);
    }

    /// Prints the table. Returns whether everything is right.
    pub(crate) fn print(&self) -> bool {
        println!(
            "| scene | step, first and last part | kinetic energy and fastest particle, first and second half | asleep | torn | farthest from its \
             origin | clocks | rest lengths |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        let mut wrong = Vec::new();
        for (name, parts) in &self.scenes {
            wrong.extend(
                print_scene(name, parts)
                    .into_iter()
                    .map(|text| format!("{name}: {text}")),
            );
        }
        let memory = [2.min(self.memory.len() - 1), self.memory.len() - 1].map(|i| self.memory[i]);
        println!(
            "memory: {} bytes after the third part, {} at the end",
            memory[0], memory[1]
        );
        if memory[1] > memory[0] + MAX_GROWTH {
            wrong.push(format!("memory grew by {} bytes", memory[1] - memory[0]));
        }
        wrong.iter().for_each(|text| println!("WRONG: {text}"));
        wrong.is_empty()
    }
}

/// Prints the row of a scene. Returns what is wrong with it.
fn print_scene(name: &str, parts: &[Vitals]) -> Vec<String> {
    let (first, last) = (&parts[0], &parts[parts.len() - 1]);
    let halves = parts.split_at(parts.len() / 2);
    let halves = [halves.0, halves.1];
    let mean = |of: &[Vitals], value: fn(&Vitals) -> f64| {
        of.iter().map(value).sum::<f64>() / of.len() as f64
    };
    let most = |of: &[Vitals], value: fn(&Vitals) -> f64| of.iter().map(value).fold(0.0, larger);
    let energy = halves.map(|half| mean(half, |v| v.energy));
    let fastest = halves.map(|half| most(half, |v| v.fastest));
    let clock = most(parts, |v| v.clock_error);
    let farthest = most(parts, |v| v.from_origin);
    let is_same = parts.iter().all(|v| v.rest_lengths == first.rest_lengths);
    println!(
        "| {name} | {:.0}, {:.0} µs | {:.4}, {:.4} J/kg, {:.1}, {:.1} m/s | {} times | {} | {farthest:.2} m | {:.0e} s | {} |",
        first.step_time * 1e6,
        last.step_time * 1e6,
        energy[0],
        energy[1],
        fastest[0],
        fastest[1],
        parts.iter().map(|v| v.sleeps).sum::<u32>(),
        parts.iter().map(|v| v.torn).max().unwrap_or(0),
        clock,
        if is_same { "same bits" } else { "changed" },
    );
    let mut wrong = Vec::new();
    let [before, after] = energy;
    if after.is_nan() || after > MAX_GAIN * before {
        wrong.push(format!("mean energy grew from {before} to {after}"));
    }
    if clock > MAX_CLOCK_ERROR {
        wrong.push(format!("a clock is {clock} s off"));
    }
    if farthest.is_nan() || farthest > 10.0 {
        wrong.push(format!(
            "a particle is {farthest} m from the origin of its cloth"
        ));
    }
    if !is_same {
        wrong.push("rest lengths have changed".into());
    }
    wrong
}
