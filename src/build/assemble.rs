//! Builds a cloth from owned inputs, without access to the world, so that it can be done in the background.

use crate::solver::{ParticleArrays, SoaVec3, break_symmetry};
use crate::{
    build::{
        components::BuiltComponents,
        shared::{BuiltFrom, MeshShape, OrientedShape, SharedShapes},
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
        fingerprint::ShapeFingerprint,
        particles::{ClothConstraints, ClothParticles},
        source::ClothSource,
        tethers,
        transforms::check_usable,
    },
    mesh::{
        Topology,
        paint::{Paint, PerVertex, VertexChannel},
        sanitize_mesh,
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
    /// Shapes of the cloths that are built.
    pub(super) shapes: SharedShapes,
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
    /// Builds the cloth from a copy of its original mesh, or returns why that is impossible.
    pub(super) fn build(&self, mut mesh: Mesh) -> Result<BuiltCloth, String> {
        check_usable(&self.transform)?;
        let (of_mesh, hash) = self.shapes.of_mesh(&mesh, self.part.as_ref());
        let shape = of_mesh.as_ref().map_err(String::clone)?;
        let topology = &shape.topology;
        let (to_particle, count) = (&topology.vertex_to_particle, topology.positions.len());
        self.warn_of_size(shape);
        let weights = |skeleton: &Skeleton| skeleton.weights(&mesh, to_particle.iter(), count);
        let pose = self.initial_pose(self.skeleton.as_ref().and_then(weights), topology)?;
        let rest = self.shapes.at_rest(hash, shape, pose.frame);
        let paint = Paint::read(&mesh, to_particle, count);
        self.prepare_mesh(&mut mesh, shape);
        let of_cloth = pose.skin.as_ref().and(self.skeleton.as_ref());
        let joint =
            of_cloth.and_then(|skeleton| skeleton.bind_to_own_joint(&mut mesh, to_particle.iter()));
        let mesh_of_cloth = ClothMesh {
            static_bounds: shape.static_bounds,
            joint,
            ..ClothMesh::new(Binding::Mesh(shape.binding.clone()))
        };

        let mut cloth = self.cloth.clone();
        params::sanitize(params::CLOTH, &mut cloth);
        params::sanitize(params::FABRIC, &mut cloth.fabric);
        let mut components = self.assemble(&rest, &pose, mesh_of_cloth);
        if !components.particles.is_finite() {
            return Err(format!(
                "it would extend beyond 16 777 km; reduce the scale of its transform ({}), or of its mesh",
                self.transform.scale()
            ));
        }
        components.paint = MeshPaint(paint);
        components.pins.seam.clone_from(&shape.seam);
        self.finish(&cloth, pose.skin.as_ref(), &rest, &mut components);
        components.built_from = BuiltFrom::mesh(of_mesh, rest);
        Ok(BuiltCloth {
            components,
            skin: pose.skin,
            mesh,
        })
    }

    /// Creates the components of the cloth in its initial pose, without pins.
    fn assemble(
        &self,
        rest: &OrientedShape,
        pose: &InitialPose,
        mesh: ClothMesh,
    ) -> BuiltComponents {
        let positions = match &pose.positions {
            Some(positions) => positions.clone(),
            None => rest.shape.topology.rest_in_world(pose.frame),
        };
        let particles = ParticleArrays::new(pose.origin, positions, Vec::new());
        BuiltComponents::new(
            ClothParticles(particles),
            ClothConstraints(rest.constraints.clone()),
            rest.shape.clone(),
            mesh,
            self.source.clone(),
        )
    }

    /// Binds paint, pins and masses, and prepares what the first step would otherwise have to: tethers and
    /// self-collision.
    fn finish(
        &self,
        cloth: &Cloth,
        skin: Option<&SkinWeights>,
        rest: &OrientedShape,
        components: &mut BuiltComponents,
    ) {
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
        self.build_tethers(cloth, rest, components);
        let BuiltComponents {
            contacts,
            particles,
            shape,
            ..
        } = components;
        contacts.prepare_self_collision(cloth, particles, shape);
    }

    /// Builds the tethers, or takes those of another cloth of this shape. For tears it needs distances of its own.
    fn build_tethers(&self, cloth: &Cloth, rest: &OrientedShape, components: &mut BuiltComponents) {
        let BuiltComponents {
            body,
            shape,
            constraints,
            pins,
            ..
        } = components;
        let tears = self.tearing.is_some();
        let (_, scale) = tethers::limits(cloth, self.tearing.as_ref());
        if tears || scale == f32::INFINITY {
            return tethers::update(body, scale, shape, constraints, pins.particles(), tears);
        }
        if !rest.share_tethers(pins.particles(), body) {
            tethers::update(body, scale, shape, constraints, pins.particles(), tears);
            rest.keep_tethers(pins.particles(), &body.tethers);
        }
    }

    fn warn_of_size(&self, shape: &MeshShape) {
        let (label, count) = (&self.label, shape.topology.positions.len());
        if shape.triangles_out_of_range > 0 {
            warn!(
                "cloth {label}: ignored {} triangles with vertex indices out of range; repair the mesh",
                shape.triangles_out_of_range
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

    /// Prepares the copy of the mesh for the cloth to write.
    fn prepare_mesh(&self, mesh: &mut Mesh, shape: &MeshShape) {
        sanitize_mesh(mesh);
        if let Some(normals) = &shape.added_normals {
            mesh.insert_attribute(Mesh::ATTRIBUTE_NORMAL, normals.clone());
        }
        if self.removes_colours() {
            mesh.remove_attribute(Mesh::ATTRIBUTE_COLOR);
        }
        // The mesh is written in every frame and uploaded again.
        mesh.asset_usage = RenderAssetUsages::default();
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
        if !multipliers.stiffness.is_empty() {
            let shape = &mut components.shape;
            shape.build_fingerprint.shape = ShapeFingerprint::of(&components.constraints, shape);
        }
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
