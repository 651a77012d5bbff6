//! Builds cloths from meshes as soon as those are loaded.

use crate::solver::{SoaVec3, break_symmetry};
use crate::{
    build::{
        PresetResolved,
        components::BuiltComponents,
        select_part::{ClothSelection, read_cloth_mesh},
    },
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
        particles::{ClothConstraints, ClothParticles},
        planar::PlanarCloth,
        shape::ClothShape,
        source::{ClothBuildFailed, ClothSource},
    },
    lod::ClothsPerFrame,
    mesh::{
        MeshBinding, Topology, TriangleMesh, as_triangle_list,
        paint::{Paint, PerVertex, VertexChannel},
    },
    params,
    pins::{PinSelector, Pins},
    render::own_mesh::{Binding, ClothMesh},
    rope::Rope,
};
use bevy::{
    asset::RenderAssetUsages, ecs::query::QueryData, mesh::skinning::SkinnedMesh, prelude::*,
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

/// Components from which a cloth is built.
#[derive(QueryData)]
pub(crate) struct UnbuiltCloth {
    entity: Entity,
    cloth: &'static Cloth,
    pins: &'static Pins,
    mesh: &'static Mesh3d,
    transform: &'static GlobalTransform,
    source: Option<&'static ClothSource>,
    skinned: Option<&'static SkinnedMesh>,
    skin: Option<&'static ClothSkin>,
    part: Option<&'static ClothPart>,
    is_planar: Has<PlanarCloth>,
    paint: Option<&'static ClothPaint>,
    max_distance: Option<&'static ClothMaxDistance>,
    inertia: Option<&'static ClothInertia>,
}

pub(crate) fn build(
    mut commands: Commands,
    unbuilt: Query<UnbuiltCloth, Unbuilt>,
    without_mesh: Query<Entity, (Added<Cloth>, Without<Mesh3d>, Without<Rope>)>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut skeletons: Skeletons,
    particles_per_frame: Res<ClothsPerFrame>,
) {
    for entity in &without_mesh {
        info!("cloth {entity}: has no Mesh3d yet; it will be built when it gets one");
    }
    let mut particles = 0;
    for cloth in &unbuilt {
        // The others are built in the following frames.
        if particles >= particles_per_frame.0.max(1) {
            break;
        }
        let entity = cloth.entity;
        let source = ClothSource::original(cloth.source, cloth.mesh).clone();
        // Still loading: it is tried again in the next frame.
        let Some(original) = meshes.get(&source) else {
            continue;
        };
        let built = match build_cloth(&cloth, original, &skeletons) {
            Ok(AssetState::Loaded(built)) => built,
            // Likewise for the skeleton.
            Ok(AssetState::Loading) => continue,
            Err(reason) => {
                error!("cloth {entity} is not built: {reason}");
                commands
                    .entity(entity)
                    .try_insert(ClothBuildFailed { reason });
                continue;
            }
        };
        let count = built.particles.len();
        particles += count;
        if built.out_of_range > 0 {
            warn!(
                "cloth {entity}: ignored {} triangles with vertex indices out of range; repair the mesh",
                built.out_of_range
            );
        }
        if count > MANY_PARTICLES {
            warn!(
                "cloth {entity}: {count} particles; each step will take long; use a coarser mesh, and \
                 a ClothProxy for a fine one"
            );
        }
        insert_components(
            &cloth,
            built,
            source,
            &mut meshes,
            &mut skeletons,
            &mut commands,
        );
    }
}

/// Inserts the components of a built cloth, with its own copy of the mesh. `source` is its original mesh.
fn insert_components(
    cloth: &UnbuiltClothItem,
    built: BuiltCloth,
    source: Handle<Mesh>,
    meshes: &mut Assets<Mesh>,
    skeletons: &mut Skeletons,
    commands: &mut Commands,
) {
    let BuiltCloth {
        particles,
        constraints,
        shape,
        skin,
        mut mesh,
        ..
    } = built;
    let (entity, count) = (cloth.entity, particles.len());
    let skinned = built.skinned.filter(|_| skin.is_some());
    let joint = skinned.and_then(|skinned| {
        let to_particle = shape.topology.vertex_to_particle.iter();
        skeletons.add_joint(commands.entity(entity), &skinned, &mut mesh, to_particle)
    });
    let own = meshes.add(mesh);
    let mesh = ClothMesh {
        static_bounds: built.static_bounds,
        joint,
        ..ClothMesh::new(Binding::Mesh(built.binding))
    };
    let source = ClothSource {
        source,
        own: own.clone(),
    };
    let mut components = BuiltComponents::new(particles, constraints, shape, mesh, source);
    components.paint = built.paint;
    components.pins.seam = built.seam;
    bind_paint(cloth, skin.as_ref(), &mut components);
    let (pins, inertia, density) = (cloth.pins, cloth.inertia, built.areal_density);
    let can_move = components.finish(entity, pins, inertia, skin.as_ref(), density, |other| {
        skeletons.joint(other)
    });
    if !cloth.is_planar {
        let triangles = &components.shape.triangles.indices;
        break_symmetry(&mut components.particles, triangles);
    }
    if !can_move {
        warn!("cloth {entity}: all {count} particles are pinned, so nothing can move");
    }
    let mut entity_commands = commands.entity(entity);
    if let Some(skin) = skin {
        entity_commands.try_insert(skin);
    }
    entity_commands
        .try_insert((components, Mesh3d(own)))
        .trigger(|entity| ClothReady { entity });
}

/// Resolves the painted masses, stiffnesses and max distances of a cloth to its particles.
fn bind_paint(
    cloth: &UnbuiltClothItem,
    skin: Option<&SkinWeights>,
    components: &mut BuiltComponents,
) {
    let (entity, count) = (cloth.entity, components.particles.len());
    let painted = PaintedShape::new(&components.shape, &components.paint, skin);
    let multipliers = &mut components.multipliers;
    bind_masses(entity, cloth.paint, painted, multipliers);
    bind_stiffness(entity, cloth.paint, painted, multipliers);
    multipliers.apply_stiffness(&mut components.constraints);
    let frame = &mut components.frame;
    bind_motion_constraints(entity, cloth.max_distance, painted, frame, count);
}

/// Returns whether a cloth reads from a colour channel: vertex colours are then paint and are not rendered.
fn removes_colours(cloth: &UnbuiltClothItem) -> bool {
    let part = cloth.part.and_then(|part| match part {
        ClothPart::Painted { channel, .. } => Some(channel),
        _ => None,
    });
    let pinned = cloth.pins.pins.iter().filter_map(|pin| match &pin.select {
        PinSelector::Painted { channel, .. } => Some(channel),
        _ => None,
    });
    let paint = cloth.paint.into_iter();
    let multiples = paint.flat_map(|paint| [&paint.mass, &paint.bending_stiffness]);
    let distances =
        cloth
            .max_distance
            .into_iter()
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

/// Cloth that was built from a mesh.
struct BuiltCloth {
    particles: ClothParticles,
    constraints: ClothConstraints,
    shape: ClothShape,
    paint: MeshPaint,
    /// Skeleton of the original mesh.
    skinned: Option<SkinnedMesh>,
    skin: Option<SkinWeights>,
    /// Particles on the seam with the rest of the mesh.
    seam: Vec<u32>,
    mesh: Mesh,
    binding: MeshBinding,
    /// Corners of the box around the part of the mesh that is not cloth.
    static_bounds: Option<[Vec3; 2]>,
    /// Areal density of the fabric, in range, kg/m².
    areal_density: f32,
    /// Number of triangles with vertex indices out of range.
    out_of_range: usize,
}

fn build_cloth(
    cloth: &UnbuiltClothItem,
    original: &Mesh,
    skeletons: &Skeletons,
) -> Result<AssetState<BuiltCloth>, String> {
    let ClothSelection {
        triangles: source,
        mut topology,
        seam,
    } = read_cloth_mesh(original, cloth.transform, cloth.part)?;
    let skinned = ClothSkin::original_of(cloth.skinned, cloth.skin);
    let (to_particle, count) = (&topology.vertex_to_particle, topology.positions.len());
    let read = skeletons.read(original, skinned.as_ref(), to_particle.iter(), count);
    let AssetState::Loaded(skin) = read else {
        return Ok(AssetState::Loading);
    };
    let InitialPose {
        origin,
        frame,
        skin,
        positions,
    } = initial_pose(cloth.transform, skin, &topology, skeletons)?;
    let (mesh, binding) = bind_mesh(cloth, original, &source, &topology);
    let part = cloth.part;
    let static_bounds = part.and_then(|_| topology.bounds_outside_cloth(&source.positions));

    let mut fabric = cloth.cloth.fabric;
    params::sanitize(params::FABRIC, &mut fabric);
    let areal_density = fabric.areal_density;
    let mut assembly = topology.assemble(origin, frame, areal_density);
    if let Some(positions) = positions {
        assembly.particles.reset(origin, &positions);
    }
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
        skinned,
        skin,
        seam,
        mesh,
        binding,
        static_bounds,
        areal_density,
        out_of_range: source.out_of_range,
    }))
}

/// Returns a copy of the mesh for the cloth to write, and its binding to the particles.
fn bind_mesh(
    cloth: &UnbuiltClothItem,
    original: &Mesh,
    source: &TriangleMesh,
    topology: &Topology,
) -> (Mesh, MeshBinding) {
    let mut mesh = original.clone();
    if removes_colours(cloth) {
        mesh.remove_attribute(Mesh::ATTRIBUTE_COLOR);
    }
    // The mesh is written in every frame and uploaded again.
    mesh.asset_usage = RenderAssetUsages::default();
    if source.out_of_range > 0 && cloth.part.is_none() {
        // A renderer would read past the vertices.
        mesh.insert_indices(bevy::mesh::Indices::U32(source.triangles.concat()));
        mesh = as_triangle_list(&mesh);
    }
    let binding = MeshBinding::new(source, topology, &mut mesh);
    (mesh, binding)
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
