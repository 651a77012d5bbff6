//! Numbers of a world after each update, to compare two runs of it.

use super::scene::Scene;
use bevy::{diagnostic::DiagnosticsStore, prelude::*};
use bevy_drape::{
    diagnostics::{ClothDiagnosticsPlugin, ClothStats},
    prelude::*,
};

/// Largest work of a step, as a multiple of the median of the same world without hostile numbers.
const MOST_WORK: f64 = 20.0;

/// Work per particle of 8 substeps of a grid in contact with itself. A world that does less does not forbid that.
const USUAL_WORK: f64 = 60.0;

/// Work per particle that is never too much.
pub(super) const ALLOWED_WORK: f64 = MOST_WORK * USUAL_WORK;

/// Numbers of a world, one per update.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// Hash of the particles of the witness.
    witness: Vec<u64>,
    /// Hash of all particles.
    bits: Vec<u64>,
    /// Work of the last step per particle: constraints times iterations, particles times substeps, and contacts in all substeps.
    work: Vec<f64>,
}

impl Trace {
    pub(super) fn record(&mut self, scene: &mut Scene) {
        let hash_of = |particles: Option<&ClothParticles>| particles.map_or(0, |p| p.state_hash());
        let world = scene.app.world_mut();
        self.witness.push(hash_of(world.get(scene.witness)));
        let mut cloths = world.query::<(Entity, &ClothParticles)>();
        let mut cloths: Vec<_> = cloths.iter(world).collect();
        cloths.sort_by_key(|(entity, _)| *entity);
        let bits = cloths.iter().fold(0_u64, |hash, (_, particles)| {
            hash.rotate_left(5) ^ hash_of(Some(particles))
        });
        self.bits.push(bits);
        self.work.push(work(world));
    }

    /// Compares the witness in a world of its own with that in another world.
    pub(super) fn same_witness(&self, other: &Self) -> Result<(), String> {
        match first_difference(&self.witness, &other.witness) {
            Some(update) => Err(format!(
                "update {update} changes a cloth that interacts with nothing"
            )),
            None => Ok(()),
        }
    }

    /// Compares all particles with those of a run on that many threads.
    pub(super) fn same_bits(&self, other: &Self, threads: usize) -> Result<(), String> {
        match first_difference(&self.bits, &other.bits) {
            Some(update) => Err(format!(
                "{threads} threads give other bits than one in update {update}"
            )),
            None => Ok(()),
        }
    }

    /// Returns the largest work of an update.
    pub(super) fn most_work(&self) -> f64 {
        self.work.iter().copied().fold(0.0, f64::max)
    }

    /// Compares the work with that of the same world without hostile numbers.
    pub(super) fn bounded_by(&self, tamed: &Self) -> Result<(), String> {
        let mut usual = tamed.work.clone();
        usual.retain(|&work| work > 0.0);
        usual.sort_by(f64::total_cmp);
        let median = usual.get(usual.len() / 2).copied();
        let median = median.unwrap_or(0.0).max(USUAL_WORK);
        let most = self.most_work();
        if most > MOST_WORK * median {
            return Err(format!(
                "an update works {:.1} times as much as the median of {median}",
                most / median
            ));
        }
        Ok(())
    }
}

fn first_difference(a: &[u64], b: &[u64]) -> Option<usize> {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    (same < a.len().max(b.len())).then_some(same)
}

fn work(world: &mut World) -> f64 {
    let mut stats = world.query::<&ClothStats>();
    let (mut work, mut particles) = (0.0, 0);
    for stats in stats.iter(world).filter(|stats| !stats.sleeping) {
        particles += stats.particles;
        work += stats.constraints as f64 * f64::from(stats.iterations);
        work += stats.particles as f64 * f64::from(stats.substeps);
    }
    let contacts = world
        .resource::<DiagnosticsStore>()
        .get(&ClothDiagnosticsPlugin::CONTACT_PAIRS)
        .and_then(|contacts| contacts.value());
    (work + contacts.unwrap_or(0.0)) / particles.max(1) as f64
}
