//! Scenes for `measure` and the benches, without an app.

#[path = "mesh_layout.rs"]
pub(crate) mod mesh_layout;

use bevy::{
    math::{Mat3, Quat, Vec3},
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use bevy_drape::{
    cloth::{Cloth, ClothGravity, ClothSubsteps, SelfCollision},
    mesh::{Assembly, ClothGrid, TriangleMesh},
    pins::{ClothCorner, ClothEdge, Pins},
    solver::{
        self, Bodies, ClothState, Collider, Compliance, ConstraintDamping, ConstraintGraph,
        Contacts, Friction, MotionConstraints, ParticleArrays, PinTarget, Pose, RestShape, Shape,
        StepInput, StepSettings, StretchSolver, Tethers, Triangles, Workers,
    },
    wind::Wind,
};
use clap::ValueEnum;
pub(crate) use mesh_layout::MeshLayout;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Scene {
    Hang,
    Drape,
    Hanging,
    Crumple,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum SheetPins {
    /// The whole upper edge
    Top,
    /// The two upper corners
    Corners,
    None,
}

/// Description of a scene and its settings.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) name: &'static str,
    pub(crate) side: u32,
    /// Distance of neighbouring particles, m; `None` for a sheet 2 m wide.
    pub(crate) spacing: Option<f32>,
    pub(crate) mesh: MeshLayout,
    pub(crate) pins: SheetPins,
    /// Falls on a sphere on a floor.
    pub(crate) falls: bool,
    /// Falls on a floor.
    pub(crate) floor: bool,
    pub(crate) substeps: u32,
    pub(crate) iterations: u32,
    pub(crate) dt: f32,
    pub(crate) gravity: Vec3,
    pub(crate) tether_scale: f32,
    /// Compliance of stretch constraints, m/N.
    pub(crate) compliance: f32,
    pub(crate) strain_limit: f32,
    pub(crate) stretch_solver: StretchSolver,
    pub(crate) self_collision: SelfCollision,
    /// Internal friction, m/s².
    pub(crate) internal_friction: f32,
    /// Bending stiffness, N·m.
    pub(crate) bending: f32,
    /// Bending damping, s.
    pub(crate) bending_damping: f32,
    /// Whether loads are recorded.
    pub(crate) loads: bool,
}

impl Scene {
    /// Returns the default settings: those of the plugin, except for `Hanging`, the cloth of the tutorials.
    pub(crate) fn plan(self) -> Plan {
        let plugin = Plan {
            name: "hang",
            side: 64,
            spacing: None,
            mesh: MeshLayout::Grid,
            pins: SheetPins::Corners,
            falls: false,
            floor: false,
            substeps: ClothSubsteps::default().count(1.0 / 60.0),
            iterations: Cloth::default().iterations,
            dt: 1.0 / 60.0,
            gravity: ClothGravity::default().0,
            tether_scale: Cloth::default().tether_scale.unwrap_or(f32::INFINITY),
            compliance: 0.0,
            strain_limit: (Cloth::default().fabric.strain_limit).unwrap_or(f32::INFINITY),
            stretch_solver: Cloth::default().stretch_solver,
            self_collision: SelfCollision::Off,
            internal_friction: Cloth::default().fabric.internal_friction,
            bending: Cloth::default().fabric.bending_stiffness,
            bending_damping: Cloth::default().fabric.bending_damping,
            loads: false,
        };
        match self {
            Self::Hang => plugin,
            Self::Drape => Plan {
                name: "drape",
                pins: SheetPins::None,
                falls: true,
                ..plugin
            },
            Self::Crumple => Plan {
                name: "crumple",
                pins: SheetPins::None,
                floor: true,
                ..plugin
            },
            Self::Hanging => Plan {
                name: "hanging",
                side: 20,
                spacing: Some(0.15),
                pins: SheetPins::Top,
                substeps: 1,
                iterations: 5,
                dt: 0.016,
                gravity: Vec3::NEG_Y * 9.8,
                tether_scale: f32::INFINITY,
                stretch_solver: StretchSolver::GaussSeidel,
                internal_friction: 0.0,
                bending_damping: 0.0,
                ..plugin
            },
        }
    }
}

/// Cloth with its colliders and settings.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) particles: ParticleArrays,
    pub(crate) constraints: ConstraintGraph,
    pub(crate) triangles: Triangles,
    pub(crate) tethers: Tethers,
    pub(crate) pins: Vec<PinTarget>,
    pub(crate) colliders: Vec<Collider>,
    pub(crate) settings: StepSettings<'static>,
    pub(crate) contacts: Contacts,
    /// Self-collision, if it is on.
    pub(crate) self_collision: Option<SelfCollisionState>,
}

/// Settings of self-collision.
#[derive(Clone)]
pub(crate) struct SelfCollisionState {
    rest: Vec<Vec3>,
    distance: f32,
    to_world: Mat3,
}

impl Plan {
    /// Returns the sheet.
    pub(crate) fn grid(&self) -> ClothGrid {
        let spacing = self.spacing;
        let width = spacing.map_or(2.0, |spacing| spacing * (self.side - 1) as f32);
        ClothGrid {
            vertical: !self.falls,
            ..ClothGrid::new(width, width, self.side, self.side)
        }
    }

    /// Returns the initial rotation of the sheet. Above a floor it is inclined, so that it buckles instead of
    /// being compressed in its plane.
    fn rotation(&self) -> Mat3 {
        if self.floor {
            Mat3::from_rotation_x(0.2) * Mat3::from_rotation_z(0.3)
        } else {
            Mat3::IDENTITY
        }
    }

    pub(crate) fn build(&self) -> Stage {
        let cloth = Cloth::default();
        let wind = Wind::default();
        let mesh = TriangleMesh::read(&self.grid().into()).expect("a grid has triangles");
        let topology = self.mesh.topology(mesh);
        let Assembly {
            mut particles,
            constraints,
            triangles,
            ..
        } = topology.assemble(Vec3::Y * 1.5, self.rotation(), cloth.fabric.areal_density);

        let pins = match self.pins {
            SheetPins::Top => Pins::edge(ClothEdge::Top),
            SheetPins::Corners => {
                Pins::corner(ClothCorner::TopLeft).and(Pins::corner(ClothCorner::TopRight))
            }
            SheetPins::None => Pins::none(),
        };
        let pinned = pins.select(&topology);
        let mut pins = Vec::new();
        for &particle in &pinned {
            particles.inverse_mass[particle as usize] = 0.0;
            let position = particles.position.get(particle as usize);
            pins.push(PinTarget { particle, position });
        }
        let shape = RestShape {
            positions: &particles.position,
            triangles: &triangles.indices.to_vec(),
            constraints: &constraints,
        };
        let surface = cloth.fabric.surface();
        let collides = self.self_collision != SelfCollision::Off;
        let self_collision = collides.then(|| {
            let spacing =
                solver::rest_spacing(&topology.positions, &triangles.indices, Mat3::IDENTITY);
            SelfCollisionState {
                rest: topology.positions.to_vec(),
                distance: solver::self_distance(surface.thickness, spacing),
                to_world: self.rotation(),
            }
        });
        Stage {
            self_collision,
            tethers: Tethers::new(&shape, &pinned),
            particles,
            constraints,
            triangles,
            pins,
            colliders: if self.falls {
                sphere_on_floor()
            } else if self.floor {
                sphere_on_floor().split_off(1)
            } else {
                vec![]
            },
            contacts: Contacts::default(),
            settings: StepSettings {
                iterations: self.iterations,
                stretch_solver: self.stretch_solver,
                strain_limit: self.strain_limit,
                compliance: Compliance {
                    shear: cloth.fabric.compliance().shear,
                    bending: self.bending,
                    ..Compliance::of_stretch(self.compliance)
                },
                // As in the plugin for elastic fabric.
                tether_scale: match self.compliance {
                    0.0 => self.tether_scale,
                    _ => self.tether_scale * (1.0 + self.strain_limit),
                },
                internal_friction: self.internal_friction,
                records_loads: self.loads,
                constraint_damping: ConstraintDamping {
                    bending: self.bending_damping,
                    ..cloth.fabric.constraint_damping()
                },
                ..cloth.step_settings(
                    self.dt,
                    self.substeps,
                    self.gravity,
                    wind.velocity,
                    wind.air_density,
                )
            },
        }
    }
}

impl Stage {
    /// Calls `run` with the cloth, its settings and its world, as one step needs them.
    pub(crate) fn with_state<R>(
        &mut self,
        run: impl FnOnce(&mut ClothState, &StepSettings, &StepInput) -> R,
    ) -> R {
        let settings = StepSettings {
            self_collision: self.self_collision.as_ref().map(|self_collision| {
                solver::SelfCollisionSettings {
                    distance: self_collision.distance,
                    friction: self.settings.surface.friction,
                    rest: &self_collision.rest,
                    to_world: self_collision.to_world,
                    triangles: &self.triangles.indices,
                }
            }),
            ..self.settings
        };
        let input = StepInput {
            pins: &self.pins,
            colliders: &self.colliders,
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
        run(&mut state, &settings, &input)
    }
}

/// Steps a cloth on a number of threads.
pub(crate) struct Stepper {
    workers: Workers,
    worker_count: usize,
}

impl Stepper {
    /// Uses `threads` threads: the calling thread and others of Bevy's compute pool, which is created with the
    /// first stepper that needs it.
    pub(crate) fn with_threads(threads: u32) -> Self {
        Self {
            workers: if threads == 1 {
                Workers::serial()
            } else {
                Workers::new()
            },
            worker_count: threads as usize - 1,
        }
    }

    /// Takes one step. Returns whether all numbers are finite.
    pub(crate) fn step(&mut self, stage: &mut Stage) -> bool {
        let Self {
            workers,
            worker_count,
        } = self;
        if *worker_count > 0 {
            let pool = || TaskPoolBuilder::new().num_threads(*worker_count).build();
            let pool = ComputeTaskPool::get_or_init(pool);
            workers.start(*worker_count, |worker| {
                pool.spawn(async move { worker.run() }).detach();
            });
        }
        let finite =
            stage.with_state(|cloth, settings, input| cloth.planned_step(workers, settings, input));
        workers.stop();
        finite
    }
}

/// Returns a sphere of radius 0.5 m on a floor 1.5 m below the sheet.
fn sphere_on_floor() -> Vec<Collider> {
    let at = |translation| Pose {
        rotation: Quat::IDENTITY,
        translation,
    };
    let friction = Friction {
        static_coefficient: 0.5,
        kinetic_coefficient: 0.4,
    };
    vec![
        Collider::fixed(Shape::Sphere { radius: 0.5 }, at(Vec3::Y * 0.5), friction),
        Collider::fixed(Shape::HalfSpace, at(Vec3::ZERO), friction),
    ]
}
