//! Builds cloths from meshes as soon as those are loaded.

use crate::solver::SoaVec3;
use crate::{
    build::{PresetResolved, components::BuiltComponents},
    character::{
        inertia::ClothInertia,
        max_distance::ClothMaxDistance,
        multipliers::{MeshPaint, PaintedShape, bind_masses, bind_stiffness},
        paint::{ClothPaint, ClothPart},
        reference_frame::bind_motion_constraints,
        skeleton::{AssetState, ClothSkin, Skeletons},
        skin_weights::SkinWeights,
    },
    cloth::{
        Cloth, ClothReady,
        fabric::Fabric,
        particles::{ClothConstraints, ClothParticles},
        shape::ClothShape,
        source::{ClothBuildFailed, ClothSource},
        transforms::is_usable,
    },
    lod::ClothsPerFrame,
    mesh::{
        MeshBinding, MeshError, Topology, TriangleMesh, as_triangle_list,
        paint::{Paint, PerVertex, VertexChannel, per_vertex},
    },
    params,
    pins::{PinSelector, Pins},
    render::own_mesh::{Binding, ClothMesh},
    rope::Rope,
};
use bevy::{
    asset::RenderAssetUsages, camera::visibility::DynamicSkinnedMeshBounds,
    mesh::skinning::SkinnedMesh, prelude::*,
};

/// Number of particles above which a step takes a large part of a frame even on a fast machine.
const MANY_PARTICLES: usize = 200_000;

type Unbuilt = (
    With<Cloth>,
    Without<Rope>,
    Without<ClothParticles>,
    Without<ClothBuildFailed>,
    PresetResolved,
);

pub(crate) fn build(
    mut commands: Commands,
    unbuilt: Query<
        (
            Entity,
            &Cloth,
            &Pins,
            &Mesh3d,
            &GlobalTransform,
            Option<&ClothSource>,
            (Option<&SkinnedMesh>, Option<&ClothSkin>),
            (
                Option<&ClothPart>,
                Option<&ClothPaint>,
                Option<&ClothMaxDistance>,
                Option<&ClothInertia>,
            ),
        ),
        Unbuilt,
    >,
    without_mesh: Query<Entity, (Added<Cloth>, Without<Mesh3d>, Without<Rope>)>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut skeletons: Skeletons,
    particles_per_frame: Res<ClothsPerFrame>,
) {
    let mut built = 0;
    for entity in &without_mesh {
        info!("cloth {entity}: has no Mesh3d yet; it will be built when it gets one");
    }
    for (entity, cloth, pins, mesh, transform, source, skeleton, painted) in &unbuilt {
        // The others are built in the following frames.
        if built >= particles_per_frame.0.max(1) {
            break;
        }
        let (part, paint, max_distance, motion) = painted;
        let source = ClothSource::original(source, mesh).clone();
        let mut fabric = cloth.fabric;
        params::sanitize(params::FABRIC, &mut fabric);
        // Still loading: it is tried again in the next frame.
        let Some(original) = meshes.get(&source) else {
            continue;
        };
        let input = BuildInput {
            mesh: original,
            // Likewise for the skeleton.
            skinned: match skeleton {
                (now, Some(known)) if known.is_in_use(now) => known.original(now),
                (now, _) => now.cloned(),
            },
            part,
            transform,
            removes_vertex_colours: removes_colours(channels(pins, paint, max_distance), part),
        };
        let skinned = input.skinned.clone();
        let built_cloth = match build_cloth(&input, &fabric, &skeletons) {
            Ok(AssetState::Loaded(built_cloth)) => built_cloth,
            Ok(AssetState::Loading) => continue,
            Err(reason) => {
                error!("cloth {entity} is not built: {reason}");
                commands
                    .entity(entity)
                    .try_insert(ClothBuildFailed { reason });
                continue;
            }
        };
        if built_cloth.out_of_range > 0 {
            warn!(
                "cloth {entity}: ignored {} triangles with vertex indices out of range; repair the mesh",
                built_cloth.out_of_range
            );
        }
        let count = built_cloth.particles.len();
        built += count;
        if count > MANY_PARTICLES {
            warn!(
                "cloth {entity}: {count} particles; each step will take long; use a coarser mesh, and \
                 a ClothProxy for a fine one"
            );
        }

        let BuiltCloth {
            particles,
            constraints,
            shape,
            paint: mesh_paint,
            skin,
            seam,
            mut mesh,
            binding,
            static_bounds,
            ..
        } = built_cloth;
        let to_particle = shape.topology.vertex_to_particle.iter();
        let joint = skinned.filter(|_| skin.is_some());
        let joint =
            joint.and_then(|skinned| skeletons.add_joint(entity, &skinned, &mut mesh, to_particle));
        let own = meshes.add(mesh);
        let mut entity_commands = commands.entity(entity);
        let joint = joint.map(|(skin, own, joint)| {
            // Bevy culls a skinned mesh by its own bounds only with this component.
            entity_commands.try_insert((own, skin, DynamicSkinnedMeshBounds));
            joint
        });
        let mesh = ClothMesh {
            static_bounds,
            joint,
            ..ClothMesh::new(Binding::Mesh(binding))
        };
        let source = ClothSource {
            source,
            own: own.clone(),
        };
        let mut built_cloth = BuiltComponents::new(particles, constraints, shape, mesh, source);
        built_cloth.paint = mesh_paint;
        built_cloth.pins.seam = seam;
        let painted = PaintedShape::new(&built_cloth.shape, &built_cloth.paint, skin.as_ref());
        let multipliers = &mut built_cloth.multipliers;
        bind_masses(entity, paint, painted, multipliers);
        bind_stiffness(entity, paint, painted, multipliers);
        multipliers.apply_stiffness(&mut built_cloth.constraints);
        bind_motion_constraints(entity, max_distance, painted, &mut built_cloth.frame, count);
        let density = fabric.areal_density;
        let can_move = built_cloth.finish(entity, pins, motion, skin.as_ref(), density, |other| {
            skeletons.joint(other)
        });
        if !can_move {
            warn!("cloth {entity}: all {count} particles are pinned, so nothing can move");
        }
        if let Some(skin) = skin {
            entity_commands.try_insert(skin);
        }
        entity_commands
            .try_insert((built_cloth, Mesh3d(own)))
            .trigger(|entity| ClothReady { entity });
    }
}

/// Returns the vertex channels from which components of a cloth read.
fn channels<'a>(
    pins: &'a Pins,
    paint: Option<&'a ClothPaint>,
    max_distance: Option<&'a ClothMaxDistance>,
) -> impl Iterator<Item = &'a VertexChannel> {
    let pinned = pins.pins.iter().filter_map(|pin| match &pin.select {
        PinSelector::Painted { channel, .. } => Some(channel),
        _ => None,
    });
    let multiples = paint.map(|paint| [&paint.mass, &paint.bending_stiffness]);
    let distances = max_distance
        .into_iter()
        .flat_map(|ClothMaxDistance { distance, backstop }| {
            let back = backstop.iter().map(|back| &back.distance);
            std::iter::once(distance).chain(back)
        });
    let numbers = multiples.into_iter().flatten().chain(distances);
    pinned.chain(numbers.filter_map(PerVertex::channel))
}

/// Returns whether any of these channels is a colour: vertex colours are then paint and are not rendered.
fn removes_colours<'a>(
    mut used: impl Iterator<Item = &'a VertexChannel>,
    part: Option<&ClothPart>,
) -> bool {
    let part_uses_colour = match part {
        Some(ClothPart::Painted { channel, .. }) => channel.is_colour(),
        _ => false,
    };
    part_uses_colour || used.any(VertexChannel::is_colour)
}

/// Inputs from which a cloth is built.
struct BuildInput<'a> {
    mesh: &'a Mesh,
    skinned: Option<SkinnedMesh>,
    part: Option<&'a ClothPart>,
    transform: &'a GlobalTransform,
    /// Whether its vertex colours are paint, and not rendered.
    removes_vertex_colours: bool,
}

struct BuiltCloth {
    particles: ClothParticles,
    constraints: ClothConstraints,
    shape: ClothShape,
    paint: MeshPaint,
    skin: Option<SkinWeights>,
    /// Particles on the seam with the rest of the mesh.
    seam: Vec<u32>,
    mesh: Mesh,
    binding: MeshBinding,
    /// Corners of the box around the part of the mesh that is not cloth.
    static_bounds: Option<[Vec3; 2]>,
    out_of_range: usize,
}

/// Part of a mesh that becomes cloth.
pub(crate) struct ClothSelection {
    triangles: TriangleMesh,
    topology: Topology,
    /// Particles on the seam with the rest of the mesh.
    seam: Vec<u32>,
}

/// Reads a mesh and checks its transform, or returns why they cannot become cloth.
pub(crate) fn read_cloth_mesh(
    original: &Mesh,
    transform: &GlobalTransform,
    part: Option<&ClothPart>,
) -> Result<ClothSelection, String> {
    if !is_usable(transform) {
        return Err(format!(
            "its transform has a scale of 0 or is not finite ({:?}); it will be built once \
             that is corrected",
            transform.affine()
        ));
    }
    select_cloth(original, part)
}

/// Reads a mesh, or returns why it cannot become cloth.
pub(crate) fn select_cloth(
    original: &Mesh,
    part: Option<&ClothPart>,
) -> Result<ClothSelection, String> {
    let mut triangles = TriangleMesh::read(original).map_err(|error| error.to_string())?;
    let on_seam = match part {
        Some(part) => Some(keep_part(original, &mut triangles, part)?),
        None => None,
    };
    let topology = Topology::new(&triangles).ok_or_else(|| MeshError::NoTriangles.to_string())?;
    let seam = on_seam.map_or(Vec::new(), |on_seam| topology.on_seam(&on_seam));
    Ok(ClothSelection {
        triangles,
        topology,
        seam,
    })
}

/// Removes the triangles outside a part. Returns which vertices are on the seam.
fn keep_part(
    original: &Mesh,
    triangles: &mut TriangleMesh,
    part: &ClothPart,
) -> Result<Vec<bool>, String> {
    let on_seam = match part {
        ClothPart::Painted { channel, above } => {
            let values = match channel {
                VertexChannel::Joint(_) => {
                    return Err(format!(
                        "its ClothPart is painted in {channel:?}; joint weights serve for pins and \
                         distances only, parts need vertex colours or an attribute"
                    ));
                }
                _ => per_vertex(original, channel),
            };
            let values = values.ok_or_else(|| {
                format!("its ClothPart is painted in {channel:?}, which its mesh does not have")
            })?;
            triangles.keep_part(|v| values.get(v).is_some_and(|value| value > above))
        }
        ClothPart::Predicate(is_cloth) => {
            let positions = triangles.positions.clone();
            triangles.keep_part(|v| is_cloth.accepts(positions[v]))
        }
    };
    if triangles.triangles.is_empty() {
        return Err("no triangle has a vertex in its ClothPart; a predicate that comes from a file must be \
                    set again, for code is not saved"
            .to_owned());
    }
    Ok(on_seam)
}

fn build_cloth(
    input: &BuildInput,
    fabric: &Fabric,
    skeletons: &Skeletons,
) -> Result<AssetState<BuiltCloth>, String> {
    let original = input.mesh;
    let ClothSelection {
        triangles: source,
        mut topology,
        seam,
    } = read_cloth_mesh(original, input.transform, input.part)?;
    let skin = match &input.skinned {
        Some(skinned) => {
            let (to_particle, count) = (&topology.vertex_to_particle, topology.positions.len());
            match skeletons.read(original, skinned, to_particle.iter(), count) {
                AssetState::Loaded(skin) => skin,
                AssetState::Loading => return Ok(AssetState::Loading),
            }
        }
        None => None,
    };
    let InitialPose {
        origin,
        frame,
        skin,
        positions,
    } = initial_pose(input.transform, skin, &topology, skeletons)?;

    let mut mesh = original.clone();
    if input.removes_vertex_colours {
        mesh.remove_attribute(Mesh::ATTRIBUTE_COLOR);
    }
    // The mesh is written in every frame and uploaded again.
    mesh.asset_usage = RenderAssetUsages::default();
    let static_bounds = input
        .part
        .and_then(|_| topology.bounds_outside_cloth(&source.positions));
    if source.out_of_range > 0 && input.part.is_none() {
        // A renderer would read past the vertices.
        mesh.insert_indices(bevy::mesh::Indices::U32(source.triangles.concat()));
        mesh = as_triangle_list(&mesh);
    }
    let binding = MeshBinding::new(&source, &topology, &mut mesh);

    let mut assembly = topology.assemble(origin, frame, fabric.areal_density);
    if let Some(positions) = positions {
        assembly.particles.reset(origin, &positions);
    }
    let (to_particle, count) = (&topology.vertex_to_particle, topology.positions.len());
    let paint = Paint::read(original, to_particle, count);
    // Large, and can be derived from the triangles.
    (topology.constraints, topology.bends) = Default::default();
    let shape = ClothShape {
        topology,
        triangles: assembly.triangles,
        to_world: frame,
        ..default()
    };
    Ok(AssetState::Loaded(BuiltCloth {
        particles: ClothParticles(assembly.particles),
        constraints: ClothConstraints(assembly.constraints),
        shape,
        paint: MeshPaint(paint),
        skin,
        seam,
        mesh,
        binding,
        static_bounds,
        out_of_range: source.out_of_range,
    }))
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

/// Returns the initial pose of a cloth: that of its skeleton, else its transform.
fn initial_pose(
    transform: &GlobalTransform,
    skin: Option<SkinWeights>,
    topology: &Topology,
    skeletons: &Skeletons,
) -> Result<InitialPose, String> {
    let Some(mut skin) = skin else {
        return Ok(InitialPose {
            origin: transform.translation(),
            frame: transform.affine().matrix3.into(),
            skin,
            positions: None,
        });
    };
    let (origin, frame) = skin
        .first_pose(&topology.positions, |joint| skeletons.joint(joint))
        .ok_or("its skeleton has a scale of 0, or joints that do not exist")?;
    let positions = skin.skinned_positions(&topology.positions);
    Ok(InitialPose {
        origin,
        frame,
        skin: Some(skin),
        positions: Some(positions),
    })
}
