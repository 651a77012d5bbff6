//! The scenes that are measured, without an app: what `measure` and the benches step.

use bevy::{
    math::{Mat3, Quat, Vec3},
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use bevy_drape::{
    Cloth, ClothCorner, ClothEdge, ClothGravity, Pins, SelfCollision, Substeps, Wind,
    mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
    solver::{
        self, Body, Collider, Compliance, ConstraintGraph, Friction, Leader, ParticleArrays,
        PinTarget, Pose, RestShape, Retardation, SelfContacts, Shape, StepSettings, Tethers,
        ThreadSolver, Triangles,
    },
};
use clap::ValueEnum;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Scene {
    Hang,
    Drape,
    Hanging,
    Crumple,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Form {
    /// Vertices row by row
    Grid,
    /// Vertices and triangles in random order
    Shuffled,
    /// Shuffled, and solved as any mesh that is no grid
    General,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Held {
    /// The whole upper side
    Top,
    /// The two upper corners
    Corners,
    None,
}

/// A scene, and how it is stepped.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) name: &'static str,
    pub(crate) side: u32,
    /// Distance of neighbouring particles, m; without it the sheet is 2 m wide.
    pub(crate) spacing: Option<f32>,
    pub(crate) mesh: Form,
    pub(crate) pins: Held,
    /// On a sphere over a floor.
    pub(crate) falls: bool,
    /// Over a floor alone.
    pub(crate) floor: bool,
    pub(crate) substeps: u32,
    pub(crate) iterations: u32,
    pub(crate) dt: f32,
    pub(crate) gravity: Vec3,
    pub(crate) tether_scale: f32,
    /// Of threads, m/N.
    pub(crate) compliance: f32,
    pub(crate) strain_limit: f32,
    pub(crate) threads: ThreadSolver,
    pub(crate) self_collision: SelfCollision,
    /// m/s²
    pub(crate) internal_friction: f32,
    /// N·m
    pub(crate) bending: f32,
    /// s
    pub(crate) bending_damping: f32,
}

impl Scene {
    /// As it is if nothing else is asked for: at the plugin's defaults, but for the cloth of the
    /// tutorials.
    pub(crate) fn plan(self) -> Plan {
        let plugin = Plan {
            name: "hang",
            side: 64,
            spacing: None,
            mesh: Form::Grid,
            pins: Held::Corners,
            falls: false,
            floor: false,
            substeps: Substeps::default().0,
            iterations: Cloth::default().iterations,
            dt: 1.0 / 60.0,
            gravity: ClothGravity::default().0,
            tether_scale: Cloth::default().tether_scale,
            compliance: 0.0,
            strain_limit: Cloth::default().fabric.strain_limit,
            threads: Cloth::default().threads,
            self_collision: SelfCollision::Off,
            internal_friction: Cloth::default().fabric.internal_friction,
            bending: Cloth::default().fabric.bending_stiffness,
            bending_damping: Cloth::default().fabric.bending_damping,
        };
        match self {
            Self::Hang => plugin,
            Self::Drape => Plan {
                name: "drape",
                pins: Held::None,
                falls: true,
                ..plugin
            },
            Self::Crumple => Plan {
                name: "crumple",
                pins: Held::None,
                floor: true,
                ..plugin
            },
            Self::Hanging => Plan {
                name: "hanging",
                side: 20,
                spacing: Some(0.15),
                pins: Held::Top,
                substeps: 1,
                iterations: 5,
                dt: 0.016,
                gravity: Vec3::NEG_Y * 9.8,
                tether_scale: f32::INFINITY,
                threads: ThreadSolver::Relaxation,
                internal_friction: 0.0,
                bending_damping: 0.0,
                ..plugin
            },
        }
    }
}

/// A cloth, and what it meets.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) particles: ParticleArrays,
    pub(crate) constraints: ConstraintGraph,
    pub(crate) triangles: Triangles,
    pub(crate) tethers: Tethers,
    pub(crate) pins: Vec<PinTarget>,
    pub(crate) colliders: Vec<Collider>,
    pub(crate) settings: StepSettings,
    /// How it collides with itself, if it does.
    pub(crate) apart: Option<Apart>,
}

/// How a cloth collides with itself.
#[derive(Clone)]
pub(crate) struct Apart {
    rest: Vec<Vec3>,
    distance: f32,
    contacts: SelfContacts,
    to_world: Mat3,
    /// Whether edges come back that have gone through triangles.
    edges: bool,
}

impl Plan {
    /// The sheet before anything has happened to its mesh.
    pub(crate) fn grid(&self) -> ClothGrid {
        let spacing = self.spacing;
        let width = spacing.map_or(2.0, |spacing| spacing * (self.side - 1) as f32);
        ClothGrid {
            vertical: !self.falls,
            ..ClothGrid::new(width, width, self.side, self.side)
        }
    }

    /// What turns the sheet. Over a floor alone it leans, so that it buckles instead of being crushed in
    /// its own plane.
    fn turned(&self) -> Mat3 {
        if self.floor {
            Mat3::from_rotation_x(0.2) * Mat3::from_rotation_z(0.3)
        } else {
            Mat3::IDENTITY
        }
    }

    pub(crate) fn build(&self) -> Stage {
        let cloth = Cloth::default();
        let wind = Wind::default();
        let mut mesh = TriangleMesh::read(&self.grid().into()).expect("a grid has triangles");
        if self.mesh != Form::Grid {
            shuffle(&mut mesh);
        }
        let mut topology = Topology::new(&mesh).expect("a grid has triangles");
        if self.mesh == Form::General {
            topology.sheets.clear();
        }
        let Assembly {
            mut particles,
            constraints,
            triangles,
            ..
        } = topology.assemble(Vec3::Y * 1.5, self.turned(), cloth.fabric.areal_density);

        let pins = match self.pins {
            Held::Top => Pins::edge(ClothEdge::Top),
            Held::Corners => {
                Pins::corner(ClothCorner::TopLeft).and(Pins::corner(ClothCorner::TopRight))
            }
            Held::None => Pins::none(),
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
        let apart = collides.then(|| {
            let spacing =
                solver::rest_spacing(&topology.positions, &triangles.indices, Mat3::IDENTITY);
            Apart {
                rest: topology.positions.clone(),
                distance: solver::self_distance(surface.thickness, spacing),
                contacts: SelfContacts::default(),
                to_world: self.turned(),
                edges: self.self_collision == SelfCollision::ParticlesAndEdges,
            }
        });
        Stage {
            apart,
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
            settings: StepSettings {
                dt: self.dt,
                substeps: self.substeps,
                iterations: self.iterations,
                threads: self.threads,
                gravity: self.gravity,
                damping: cloth.damping,
                strain_limit: self.strain_limit,
                compliance: Compliance {
                    shear: cloth.fabric.compliance().shear,
                    bending: self.bending,
                    ..Compliance::of_threads(self.compliance)
                },
                // As the plugin has them where threads give.
                tether_scale: match self.compliance {
                    0.0 => self.tether_scale,
                    _ => self.tether_scale * (1.0 + self.strain_limit),
                },
                air: cloth.fabric.air(wind.velocity, wind.air_density),
                surface,
                internal_friction: self.internal_friction,
                retardation: Retardation {
                    bending: self.bending_damping,
                    ..cloth.fabric.retardation()
                },
            },
        }
    }
}

/// The threads that step a cloth.
pub(crate) struct Crew {
    leader: Leader,
    helpers: usize,
}

impl Crew {
    /// So many threads: this one and others of Bevy's compute pool, which is made for the first crew
    /// that needs it.
    pub(crate) fn of(threads: u32) -> Self {
        Self {
            leader: if threads == 1 {
                Leader::alone()
            } else {
                Leader::new()
            },
            helpers: threads as usize - 1,
        }
    }

    /// Steps a cloth once. Says whether all its numbers are finite.
    pub(crate) fn step(&mut self, stage: &mut Stage) -> bool {
        let Self { leader, helpers } = self;
        if *helpers > 0 {
            let pool = || TaskPoolBuilder::new().num_threads(*helpers).build();
            let pool = ComputeTaskPool::get_or_init(pool);
            leader.gather(*helpers, |helper| {
                pool.spawn(async move { helper.help() }).detach();
            });
        }
        let body = Body {
            particles: &mut stage.particles,
            constraints: &mut stage.constraints,
            triangles: &stage.triangles,
            tethers: &stage.tethers,
            pins: &stage.pins,
            self_contacts: stage.apart.as_mut().map(|apart| {
                let by = solver::SelfCollision {
                    distance: apart.distance,
                    friction: stage.settings.surface.friction,
                    rest: &apart.rest,
                    to_world: apart.to_world,
                    triangles: apart.edges.then_some(&stage.triangles.indices),
                };
                (&mut apart.contacts, by)
            }),
        };
        let finite = solver::step_shared(leader, body, &stage.colliders, &stage.settings);
        leader.dismiss();
        finite
    }
}

/// A ball of radius 0.5 m on a floor 1.5 m below the sheet.
fn sphere_on_floor() -> Vec<Collider> {
    let at = |translation| Pose {
        rotation: Quat::IDENTITY,
        translation,
    };
    let friction = Friction {
        fixed: 0.5,
        kinetic: 0.4,
    };
    vec![
        Collider::fixed(Shape::Sphere { radius: 0.5 }, at(Vec3::Y * 0.5), friction),
        Collider::fixed(Shape::HalfSpace, at(Vec3::ZERO), friction),
    ]
}

/// Puts vertices and triangles into a random order, always the same.
pub(crate) fn shuffle(mesh: &mut TriangleMesh) {
    let mut state = 0x853c_49e6_748f_ea9b_u64;
    let mut order = |count: usize| {
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            // A linear congruential generator (Knuth, MMIX).
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            order.swap(i, (state >> 33) as usize % (i + 1));
        }
        order
    };
    let places = order(mesh.positions.len());
    let mut name = vec![0; places.len()];
    for (new, &old) in (0..).zip(&places) {
        name[old] = new;
    }
    mesh.positions = places.iter().map(|&old| mesh.positions[old]).collect();
    let triangles = order(mesh.triangles.len());
    mesh.triangles = triangles
        .into_iter()
        .map(|old| mesh.triangles[old].map(|corner| name[corner as usize]))
        .collect();
}
