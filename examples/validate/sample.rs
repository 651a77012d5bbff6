//! Cloths, chains and single particles for experiments without an app.

use bevy::math::{Mat3, Vec3, Vec3A};
use bevy_drape::cloth::{Cloth, ClothSubsteps};
use bevy_drape::mesh::{ClothGrid, Topology, TriangleMesh};
use bevy_drape::solver::{
    Air, Bodies, ClothState, Collider, ConstraintGraph, ConstraintKind, Contacts, MeshCollider,
    MotionConstraints, ParticleArrays, PinTarget, RestShape, SelfCollisionSettings, SoaVec3,
    StepInput, StepSettings, SubstepTime, Tethers, Triangles, Workers,
};

/// Returns the settings of the plugin for a cloth, in still air and without tethers.
pub(crate) fn as_the_plugin(cloth: &Cloth) -> StepSettings<'static> {
    StepSettings {
        tether_scale: f32::INFINITY,
        ..cloth.step_settings(1.0 / 60.0, 8, Vec3::NEG_Y * 9.81, Vec3::ZERO, 1.2)
    }
}

/// Cloth, chain or single particle with everything needed for a step.
pub(crate) struct Sample {
    pub(crate) particles: ParticleArrays,
    pub(crate) constraints: ConstraintGraph,
    pub(crate) triangles: Triangles,
    pub(crate) tethers: Tethers,
    pub(crate) pins: Vec<PinTarget>,
    pub(crate) colliders: Vec<Collider>,
    pub(crate) meshes: Vec<MeshCollider>,
    pub(crate) contacts: Contacts,
    pub(crate) settings: StepSettings<'static>,
    /// Positions in which crossings were limited before the end of the last step, in the world, m.
    pub(crate) waypoints: Vec<Vec<Vec3>>,
}

impl Sample {
    /// Creates free particles of 1 kg at rest.
    pub(crate) fn particles(positions: impl IntoIterator<Item = Vec3>) -> Self {
        let positions: SoaVec3 = positions.into_iter().collect();
        let w = vec![1.0; positions.len()];
        Self {
            constraints: ConstraintGraph::default(),
            particles: ParticleArrays::new(Vec3::ZERO, positions, w),
            triangles: Triangles::default(),
            tethers: Tethers::default(),
            pins: Vec::new(),
            colliders: Vec::new(),
            meshes: Vec::new(),
            contacts: Contacts::default(),
            settings: vacuum(),
            waypoints: Vec::new(),
        }
    }

    /// Creates a chain through these positions, which are its rest shape.
    pub(crate) fn chain(positions: &[Vec3]) -> Self {
        let mut sample = Self::particles(positions.iter().copied());
        let pairs: Vec<_> = (1..positions.len() as u32)
            .map(|i| (ConstraintKind::Structural, i - 1, i))
            .collect();
        sample.constraints = ConstraintGraph::new(&sample.particles.position, &pairs);
        sample
    }

    /// Creates a sheet of `side`² particles of 0.2 kg/m², 1 m wide, at the world's origin.
    pub(crate) fn sheet(side: u32) -> Self {
        Self::of_grid(ClothGrid::new(1.0, 1.0, side, side), 0.2)
    }

    /// Creates a sheet with this areal density, kg/m².
    pub(crate) fn of_grid(grid: ClothGrid, areal_density: f32) -> Self {
        Self::of_mesh(&TriangleMesh::read(&grid.into()).unwrap(), areal_density)
    }

    /// Creates cloth from a mesh with this areal density, kg/m².
    pub(crate) fn of_mesh(mesh: &TriangleMesh, areal_density: f32) -> Self {
        Self::of_topology(&Topology::new(mesh).unwrap(), areal_density)
    }

    /// Creates cloth from the topology of a mesh with this areal density, kg/m².
    pub(crate) fn of_topology(topology: &Topology, areal_density: f32) -> Self {
        let parts = topology.assemble(Vec3::ZERO, Mat3::IDENTITY, areal_density);
        Self {
            particles: parts.particles,
            constraints: parts.constraints,
            triangles: parts.triangles,
            tethers: Tethers::default(),
            pins: Vec::new(),
            colliders: Vec::new(),
            meshes: Vec::new(),
            contacts: Contacts::default(),
            settings: vacuum(),
            waypoints: Vec::new(),
        }
    }

    /// Returns the masses of all particles, kg, infinite where they are pinned.
    pub(crate) fn masses(&self) -> Vec<f64> {
        let w = &self.particles.inverse_mass;
        w.iter().map(|&w| 1.0 / f64::from(w)).collect()
    }

    /// Pins a particle at its position.
    pub(crate) fn pin(&mut self, particle: u32) {
        let i = particle as usize;
        self.particles.inverse_mass[i] = 0.0;
        let position = self.particles.position.get(i);
        self.pins.push(PinTarget { particle, position });
    }

    /// Adds tethers from the pins to all particles, with the current shape as rest shape.
    pub(crate) fn add_tethers(&mut self) {
        let pinned: Vec<u32> = self.pins.iter().map(|pin| pin.particle).collect();
        let shape = RestShape {
            positions: &self.particles.position,
            triangles: &self.triangles.indices.to_vec(),
            constraints: &self.constraints,
        };
        self.tethers = Tethers::new(&shape, &pinned);
    }

    pub(crate) fn step(&mut self) {
        self.step_with_self_collision(None);
    }

    /// Takes a step, optionally with self-collision, and like the plugin with more substeps where they are required.
    pub(crate) fn step_with_self_collision(
        &mut self,
        self_collision: Option<SelfCollisionSettings>,
    ) {
        let mut settings = StepSettings {
            self_collision,
            ..self.settings
        };
        let input = StepInput {
            pins: &self.pins,
            colliders: &self.colliders,
            meshes: &self.meshes,
            ..StepInput::default()
        };
        let mut state = ClothState {
            particles: &mut self.particles,
            constraints: &mut self.constraints,
            triangles: &self.triangles,
            segments: None,
            tethers: &self.tethers,
            motion_constraints: &MotionConstraints::default(),
            bodies: &mut Bodies::default(),
            contacts: &mut self.contacts,
        };
        settings = state.plan_substeps(&settings, &input).apply(&settings);
        let mut workers = Workers::serial();
        state.begin_step(&mut workers, &settings, &input);
        let mut starts: Vec<Vec<Vec3A>> = Vec::new();
        for time in SubstepTime::new(settings.dt, settings.substeps).substeps() {
            state.substep(&mut workers, &settings, &input, &time);
            let start = state.contacts.motion_start();
            if starts.last().is_none_or(|last| last != start) {
                starts.push(start.to_vec());
            }
        }
        let origin = state.particles.origin;
        let is_finite = state.end_step(&mut workers, input.pins, settings.plane.is_some());
        assert!(is_finite, "a number was not finite");
        let positions =
            |start: Vec<Vec3A>| start.iter().map(|&at| origin + Vec3::from(at)).collect();
        self.waypoints = starts.into_iter().skip(1).map(positions).collect();
    }

    pub(crate) fn run(&mut self, seconds: f32) {
        let steps = (seconds / self.settings.dt).round() as u32;
        (0..steps).for_each(|_| self.step());
    }

    /// Returns kinetic and potential energy, J: ½mv² and mgh, relative to the height 0.
    pub(crate) fn energy(&self) -> [f64; 2] {
        let gravity = self.settings.gravity.as_dvec3();
        let masses = self.masses().into_iter().enumerate();
        let free = masses.filter(|(_, mass)| mass.is_finite());
        free.fold([0.0, 0.0], |[kinetic, potential], (i, mass)| {
            let velocity = self.particles.velocity(i).as_dvec3();
            [
                kinetic + 0.5 * mass * velocity.length_squared(),
                potential - mass * gravity.dot(self.at(i).as_dvec3()),
            ]
        })
    }

    pub(crate) fn at(&self, i: usize) -> Vec3 {
        self.particles.world_position(i)
    }
}

/// Returns the settings of the plugin for a cloth at this number of steps per second.
pub(crate) fn at_rate(cloth: &Cloth, rate: u32) -> StepSettings<'static> {
    let dt = 1.0 / rate as f32;
    StepSettings {
        dt,
        substeps: ClothSubsteps::default().count(dt),
        tether_scale: 1.0,
        ..as_the_plugin(cloth)
    }
}

/// Returns settings with 60 Hz, one substep of one iteration, gravity 9.81, and nothing else.
pub(crate) fn vacuum() -> StepSettings<'static> {
    StepSettings {
        substeps: 1,
        tether_scale: 1.01,
        air: Air {
            areal_density: 0.2,
            ..Air::default()
        },
        ..StepSettings::default()
    }
}

/// Returns the period of a signal that oscillates around 0, from its crossings.
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
