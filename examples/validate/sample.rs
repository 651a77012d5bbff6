//! Cloths, chains and single particles for experiments with the solver alone.

use bevy::math::{Mat3, Vec3};
use bevy_drape::Cloth;
use bevy_drape::mesh::{ClothGrid, Topology, TriangleMesh};
use bevy_drape::solver::{
    self, Air, Body, Collider, Compliance, ConstraintGraph, ConstraintKind, ParticleArrays,
    PinTarget, Retardation, SelfCollision, SelfContacts, SoaVec3, StepSettings, Surface, Tethers,
    ThreadSolver, Triangles,
};

/// A step of a cloth as the plugin takes it by default, in still air and without tethers.
pub(crate) fn as_the_plugin(cloth: &Cloth) -> StepSettings {
    StepSettings {
        substeps: 8,
        iterations: cloth.iterations,
        threads: cloth.threads,
        damping: cloth.damping,
        compliance: cloth.fabric.compliance(),
        tether_scale: f32::INFINITY,
        air: cloth.fabric.air(Vec3::ZERO, 1.2),
        surface: cloth.fabric.surface(),
        internal_friction: cloth.fabric.internal_friction,
        retardation: cloth.fabric.retardation(),
        ..vacuum()
    }
}

/// A cloth, chain or single particle with all that a step needs.
pub(crate) struct Sample {
    pub(crate) particles: ParticleArrays,
    pub(crate) constraints: ConstraintGraph,
    pub(crate) triangles: Triangles,
    pub(crate) tethers: Tethers,
    pub(crate) pins: Vec<PinTarget>,
    pub(crate) colliders: Vec<Collider>,
    pub(crate) settings: StepSettings,
}

impl Sample {
    /// Free particles of 1 kg at rest.
    pub(crate) fn particles(places: impl IntoIterator<Item = Vec3>) -> Self {
        let places: SoaVec3 = places.into_iter().collect();
        let w = vec![1.0; places.len()];
        Self {
            constraints: ConstraintGraph::default(),
            particles: ParticleArrays::new(Vec3::ZERO, places, w),
            triangles: Triangles::default(),
            tethers: Tethers::default(),
            pins: Vec::new(),
            colliders: Vec::new(),
            settings: vacuum(),
        }
    }

    /// A chain through these places, which are its rest state.
    pub(crate) fn chain(places: &[Vec3]) -> Self {
        let mut sample = Self::particles(places.iter().copied());
        let pairs: Vec<_> = (1..places.len() as u32)
            .map(|i| (ConstraintKind::Structural, i - 1, i))
            .collect();
        sample.constraints = ConstraintGraph::new(&sample.particles.position, &pairs);
        sample
    }

    /// A sheet of `side`² particles of 0.2 kg/m², 1 m wide, at the world's origin.
    pub(crate) fn sheet(side: u32) -> Self {
        let grid = ClothGrid::new(1.0, 1.0, side, side);
        Self::of_mesh(&TriangleMesh::read(&grid.into()).unwrap(), 0.2)
    }

    /// A mesh as cloth of this areal density, kg/m².
    pub(crate) fn of_mesh(mesh: &TriangleMesh, areal_density: f32) -> Self {
        let topology = Topology::new(mesh).unwrap();
        let parts = topology.assemble(Vec3::ZERO, Mat3::IDENTITY, areal_density);
        Self {
            particles: parts.particles,
            constraints: parts.constraints,
            triangles: parts.triangles,
            tethers: Tethers::default(),
            pins: Vec::new(),
            colliders: Vec::new(),
            settings: vacuum(),
        }
    }

    /// Masses of all particles, kg; infinite where they are pinned.
    pub(crate) fn masses(&self) -> Vec<f64> {
        let w = &self.particles.inverse_mass;
        w.iter().map(|&w| 1.0 / f64::from(w)).collect()
    }

    /// Pins a particle where it is.
    pub(crate) fn pin(&mut self, particle: u32) {
        let i = particle as usize;
        self.particles.inverse_mass[i] = 0.0;
        let position = self.particles.position.get(i);
        self.pins.push(PinTarget { particle, position });
    }

    pub(crate) fn step(&mut self) {
        self.step_touching(None);
    }

    /// A step in which it may collide with itself.
    pub(crate) fn step_touching(&mut self, itself: Option<(&mut SelfContacts, SelfCollision)>) {
        let body = Body {
            particles: &mut self.particles,
            constraints: &mut self.constraints,
            triangles: &self.triangles,
            tethers: &self.tethers,
            pins: &self.pins,
            self_contacts: itself,
        };
        assert!(
            solver::step(body, &self.colliders, &self.settings),
            "a number was not finite"
        );
    }

    pub(crate) fn run(&mut self, seconds: f32) {
        let steps = (seconds / self.settings.dt).round() as u32;
        (0..steps).for_each(|_| self.step());
    }

    pub(crate) fn at(&self, i: usize) -> Vec3 {
        self.particles.world_position(i)
    }
}

/// 60 Hz, one substep of one iteration, gravity 9.81, and nothing else.
pub(crate) fn vacuum() -> StepSettings {
    StepSettings {
        dt: 1.0 / 60.0,
        substeps: 1,
        iterations: 1,
        threads: ThreadSolver::default(),
        strain_limit: f32::INFINITY,
        gravity: Vec3::NEG_Y * 9.81,
        damping: 0.0,
        compliance: Compliance::default(),
        tether_scale: 1.01,
        air: Air {
            wind: Vec3::ZERO,
            density: 0.0,
            drag: 0.0,
            lift: 0.0,
            areal_density: 0.2,
        },
        surface: Surface::default(),
        internal_friction: 0.0,
        retardation: Retardation::default(),
    }
}

/// Period of a signal that swings around 0, from its upward and downward crossings.
pub(crate) fn period(signal: &[f64], dt: f64) -> f64 {
    let crossings: Vec<f64> = signal
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[0] * pair[1] < 0.0)
        .map(|(i, pair)| (i as f64 + pair[0] / (pair[0] - pair[1])) * dt)
        .collect();
    let halves = crossings.len() - 1;
    assert!(
        halves >= 2,
        "the signal crosses 0 only {} times",
        crossings.len()
    );
    2.0 * (crossings[halves] - crossings[0]) / halves as f64
}
