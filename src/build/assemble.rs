//! Builds a cloth from owned inputs, without access to the world, so that it can be done in the background.

use crate::solver::{SoaVec3, break_symmetry};
use crate::{
    build::{
        components::BuiltComponents,
        select_part::{ClothSelection, read_cloth_mesh},
    },
    character::{
        max_distance::ClothMaxDistance,
        multipliers::{MeshPaint, PaintedShape, bind_masses, bind_stiffness},
        paint::{ClothPaint, ClothPart},
        reference_frame::bind_motion_constraints,
        skeleton::Skeleton,
        skin_weights::SkinWeights,
    },
    cloth::{
        Cloth,
        particles::{ClothConstraints, ClothParticles},
        shape::ClothShape,
        source::ClothSource,
        tethers,
    },
    mesh::{
        MeshBinding, Topology, TriangleMesh,
        paint::{Paint, PerVertex, VertexChannel},
    },
    params,
    pins::{PinSelector, Pins},
    render::own_mesh::{Binding, ClothMesh},
    tearing::ClothTearing,
};
use bevy::{asset::RenderAssetUsages, prelude::*};

/// Number of particles above which a step takes a large part of a frame even on a fast machine.
const MANY_PARTICLES: usize = 200_000;

/// Inputs of building a cloth, as they were when it began.
pub(super) struct BuildInputs {
    /// Name and id of the entity, for messages.
    pub(super) label: String,
    pub(super) cloth: Cloth,
    pub(super) pins: Pins,
    pub(super) part: Option<ClothPart>,
    pub(super) paint: Option<ClothPaint>,
    pub(super) max_distance: Option<ClothMaxDistance>,
    pub(super) tearing: Option<ClothTearing>,
    pub(super) is_planar: bool,
    pub(super) transform: GlobalTransform,
    pub(super) skeleton: Option<Skeleton>,
    /// Copy of the original mesh.
    pub(super) mesh: Mesh,
    /// Original mesh, and the one that is to follow the cloth.
    pub(super) source: ClothSource,
}

/// Cloth that was built from a mesh.
pub(super) struct BuiltCloth {
    pub(super) components: BuiltComponents,
    pub(super) skin: Option<SkinWeights>,
    /// Mesh that follows the cloth.
    pub(super) mesh: Mesh,
}

impl BuildInputs {
    /// Builds the cloth, or returns why that is impossible.
    pub(super) fn build(&self) -> Result<BuiltCloth, String> {
        let ClothSelection {
            triangles: source,
            topology,
            seam,
        } = read_cloth_mesh(&self.mesh, &self.transform, self.part.as_ref())?;
        let (to_particle, count) = (&topology.vertex_to_particle, topology.positions.len());
        self.warn_of_size(&source, count);
        let weights = |skeleton: &Skeleton| skeleton.weights(&self.mesh, to_particle.iter(), count);
        let pose = self.initial_pose(self.skeleton.as_ref().and_then(weights), &topology)?;
        let (mut mesh, binding) = self.bind_mesh(&source, &topology);
        let of_cloth = pose.skin.as_ref().and(self.skeleton.as_ref());
        let joint =
            of_cloth.and_then(|skeleton| skeleton.bind_to_own_joint(&mut mesh, to_particle.iter()));
        let part = self.part.as_ref();
        let static_bounds = part.and_then(|_| topology.bounds_outside_cloth(&source.positions));
        let paint = Paint::read(&self.mesh, to_particle, count);
        let mesh_of_cloth = ClothMesh {
            static_bounds,
            joint,
            ..ClothMesh::new(Binding::Mesh(binding))
        };

        let mut cloth = self.cloth.clone();
        params::sanitize(params::CLOTH, &mut cloth);
        params::sanitize(params::FABRIC, &mut cloth.fabric);
        let mut components =
            self.assemble(topology, &pose, cloth.fabric.areal_density, mesh_of_cloth);
        if !components.particles.is_finite() {
            return Err(format!(
                "it would extend beyond 16 777 km; reduce the scale of its transform ({}), or of its mesh",
                self.transform.scale()
            ));
        }
        components.paint = MeshPaint(paint);
        components.pins.seam = seam;
        self.finish(&cloth, pose.skin.as_ref(), &mut components);
        Ok(BuiltCloth {
            components,
            skin: pose.skin,
            mesh,
        })
    }

    /// Creates the components of the cloth in its initial pose, without pins.
    fn assemble(
        &self,
        mut topology: Topology,
        pose: &InitialPose,
        areal_density: f32,
        mesh: ClothMesh,
    ) -> BuiltComponents {
        let mut assembly = topology.assemble(pose.origin, pose.frame, areal_density);
        if let Some(positions) = &pose.positions {
            assembly.particles.reset(pose.origin, positions);
        }
        // Large, and can be derived from the triangles.
        (topology.constraints, topology.bends) = Default::default();
        let mut shape = ClothShape {
            topology,
            triangles: assembly.triangles,
            ..default()
        };
        shape.set_frame(pose.frame);
        BuiltComponents::new(
            ClothParticles(assembly.particles),
            ClothConstraints(assembly.constraints),
            shape,
            mesh,
            self.source.clone(),
        )
    }

    /// Binds paint, pins and masses, and prepares what the first step would otherwise have to: tethers and
    /// self-collision.
    fn finish(&self, cloth: &Cloth, skin: Option<&SkinWeights>, components: &mut BuiltComponents) {
        self.bind_paint(skin, components);
        let areal_density = cloth.fabric.areal_density;
        if !components.finish(&self.label, &self.pins, skin, areal_density) {
            warn!(
                "cloth {}: all {} particles are pinned, so nothing can move",
                self.label,
                components.particles.len()
            );
        }
        if !self.is_planar {
            let triangles = &components.shape.triangles.indices;
            break_symmetry(&mut components.particles, triangles);
        }
        let (_, scale) = tethers::limits(cloth, self.tearing.as_ref());
        tethers::update(
            &mut components.body,
            scale,
            &components.shape,
            &components.constraints,
            components.pins.particles(),
            self.tearing.is_some(),
        );
        let BuiltComponents {
            contacts,
            particles,
            shape,
            ..
        } = components;
        contacts.prepare_self_collision(cloth, particles, shape);
    }

    fn warn_of_size(&self, source: &TriangleMesh, count: usize) {
        let label = &self.label;
        if source.out_of_range > 0 {
            warn!(
                "cloth {label}: ignored {} triangles with vertex indices out of range; repair the mesh",
                source.out_of_range
            );
        }
        if count > MANY_PARTICLES {
            warn!(
                "cloth {label}: {count} particles; each step will take long; use a coarser mesh, and \
                 a ClothProxy for a fine one"
            );
        }
    }

    /// Returns the initial pose of the cloth: that of its skeleton, else its transform.
    fn initial_pose(
        &self,
        skin: Option<SkinWeights>,
        topology: &Topology,
    ) -> Result<InitialPose, String> {
        let (Some(mut skin), Some(skeleton)) = (skin, &self.skeleton) else {
            return Ok(InitialPose {
                origin: self.transform.translation(),
                frame: self.transform.affine().matrix3.into(),
                skin: None,
                positions: None,
            });
        };
        let (origin, frame) = skin
            .first_pose(&topology.positions, |joint| skeleton.joint(joint))
            .ok_or("its skeleton has a scale of 0, is beyond 16 777 km, or has joints that do not exist")?;
        let positions = skin.skinned_positions(&topology.positions);
        Ok(InitialPose {
            origin,
            frame,
            skin: Some(skin),
            positions: Some(positions),
        })
    }

    /// Returns a copy of the mesh for the cloth to write, and its binding to the particles.
    fn bind_mesh(&self, source: &TriangleMesh, topology: &Topology) -> (Mesh, MeshBinding) {
        let mut mesh = self.mesh.clone();
        if self.removes_colours() {
            mesh.remove_attribute(Mesh::ATTRIBUTE_COLOR);
        }
        // The mesh is written in every frame and uploaded again.
        mesh.asset_usage = RenderAssetUsages::default();
        let binding = MeshBinding::new(source, topology, &mut mesh);
        (mesh, binding)
    }

    /// Resolves the painted masses, stiffnesses and max distances to particles.
    fn bind_paint(&self, skin: Option<&SkinWeights>, components: &mut BuiltComponents) {
        let (label, count) = (&self.label, components.particles.len());
        let painted = PaintedShape::new(&components.shape, &components.paint, skin);
        let multipliers = &mut components.multipliers;
        bind_masses(label, self.paint.as_ref(), painted, multipliers);
        bind_stiffness(label, self.paint.as_ref(), painted, multipliers);
        multipliers.apply_stiffness(&mut components.constraints);
        let frame = &mut components.frame;
        bind_motion_constraints(label, self.max_distance.as_ref(), painted, frame, count);
    }

    /// Returns whether the cloth reads from a colour channel: vertex colours are then paint and are not rendered.
    fn removes_colours(&self) -> bool {
        let part = self.part.as_ref().and_then(|part| match part {
            ClothPart::Painted { channel, .. } => Some(channel),
            _ => None,
        });
        let pinned = self.pins.pins.iter().filter_map(|pin| match &pin.select {
            PinSelector::Painted { channel, .. } => Some(channel),
            _ => None,
        });
        let paint = self.paint.iter();
        let multiples = paint.flat_map(|paint| [&paint.mass, &paint.bending_stiffness]);
        let distances =
            self.max_distance
                .iter()
                .flat_map(|ClothMaxDistance { distance, backstop }| {
                    let back = backstop.iter().map(|back| &back.distance);
                    std::iter::once(distance).chain(back)
                });
        let numbers = multiples.chain(distances);
        let mut used = (part.into_iter())
            .chain(pinned)
            .chain(numbers.filter_map(PerVertex::channel));
        used.any(VertexChannel::is_colour)
    }
}

/// Initial pose of a cloth.
struct InitialPose {
    origin: Vec3,
    /// Rotation and scale from mesh space to world axes.
    frame: Mat3,
    skin: Option<SkinWeights>,
    /// Skinned positions of the particles, relative to the origin; `None` for the rest shape.
    positions: Option<SoaVec3>,
}
