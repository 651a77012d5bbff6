//! Makes cloth of meshes, as soon as they are loaded.

use super::{
    bind::{bind_masses, bind_stiffness, rebind},
    guide::{bind_limits, see_carriers},
    skins::{Loaded, Skeletons},
};
use crate::{
    cloth::{Cloth, ClothReady},
    components::{
        Binding, BuildFailed, ClothBody, ClothMesh, ClothSkin, ClothSource, Constraints, Known,
        Particles, Reach,
    },
    fabric::Fabric,
    grab::ClothGrabs,
    lod::ClothsPerFrame,
    max_distance::MaxDistance,
    mesh::{MeshBinding, MeshError, Topology, TriangleMesh, as_triangle_list},
    paint::{ClothPaint, ClothPart, Paint, PerVertex, VertexChannel, per_vertex, removes_colours},
    params,
    pins::{PinSelector, Pins},
    rope::Rope,
    skin::Skin,
    snapshot::BuiltFrom,
    solver::SoaVec3,
    world_motion::WorldMotion,
};
use bevy::{
    asset::RenderAssetUsages,
    camera::{
        primitives::Aabb,
        visibility::{DynamicSkinnedMeshBounds, NoAutoAabb},
    },
    mesh::skinning::SkinnedMesh,
    prelude::*,
};

/// Above this a step takes a good part of a frame even on a fast machine.
const MANY_PARTICLES: usize = 200_000;

type Unbuilt = (
    With<Cloth>,
    Without<Rope>,
    Without<Particles>,
    Without<BuildFailed>,
    Known,
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
                Option<&MaxDistance>,
                Option<&WorldMotion>,
            ),
        ),
        Unbuilt,
    >,
    without_mesh: Query<Entity, (Added<Cloth>, Without<Mesh3d>, Without<Rope>)>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut skeletons: Skeletons,
    most: Res<ClothsPerFrame>,
) {
    let mut built = 0;
    for entity in &without_mesh {
        info!("cloth {entity}: has no Mesh3d yet; it will become cloth when it gets one");
    }
    for (entity, cloth, pins, mesh, transform, source, skeleton, painted) in &unbuilt {
        // The others come in the frames that follow.
        if built >= most.0.max(1) {
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
        let of = Source {
            mesh: original,
            // Likewise.
            skinned: match skeleton {
                (now, Some(known)) if known.is_in_use(now) => known.original(now),
                (now, _) => now.cloned(),
            },
            part,
            transform,
            hides_colours: removes_colours(channels(pins, paint, max_distance), part),
        };
        let skinned = of.skinned.clone();
        let parts = match make(&of, &fabric, &skeletons) {
            Ok(Loaded::Yes(parts)) => parts,
            Ok(Loaded::NotYet) => continue,
            Err(reason) => {
                error!("cloth {entity} is not built: {reason}");
                commands.entity(entity).try_insert(BuildFailed { reason });
                continue;
            }
        };
        if parts.out_of_range > 0 {
            warn!(
                "cloth {entity}: left out {} triangles that name vertices which do not exist; \
                 repair the mesh",
                parts.out_of_range
            );
        }
        let count = parts.particles.len();
        built += count;
        if count > MANY_PARTICLES {
            warn!(
                "cloth {entity}: {count} particles; each step will take long. A coarser mesh, \
                 subdivided for drawing, folds as well"
            );
        }

        let Parts {
            mut particles,
            mut constraints,
            mut body,
            mut mesh,
            binding,
            rest,
            ..
        } = parts;
        bind_masses(entity, paint, &mut body);
        bind_stiffness(entity, paint, &mut body);
        body.stiffen(&mut constraints);
        let frame = body.reach.to_world;
        body.built = BuiltFrom::new(frame, &body, Some(&binding), &constraints);
        bind_limits(entity, max_distance, &mut body, count);
        rebind(entity, pins, &particles, &mut body);
        see_carriers(entity, motion, &mut body, particles.origin, |other| {
            skeletons.joint(other)
        });
        body.set_masses(&mut particles, fabric.areal_density);
        if particles.inverse_mass.iter().all(|&w| w == 0.0) {
            warn!("cloth {entity}: all {count} particles are pinned, so nothing can move");
        }

        let to_particle = body.topology.vertex_to_particle.iter();
        let joint = skinned.and_then(|skinned| {
            body.skin.as_ref()?;
            skeletons.add_joint(entity, &skinned, &mut mesh, to_particle)
        });
        let own = meshes.add(mesh);
        let mut entity_commands = commands.entity(entity);
        let joint = joint.map(|(skin, own, joint)| {
            // Only those with bounds of their own may be culled by them.
            entity_commands.try_insert((own, skin, DynamicSkinnedMeshBounds));
            joint
        });
        entity_commands
            .try_insert((
                particles,
                constraints,
                body,
                ClothMesh {
                    binding: Binding::Sheet(binding),
                    local: Vec::new(),
                    own: None,
                    written: None,
                    rest,
                    joint,
                },
                ClothGrabs::default(),
                ClothSource {
                    source,
                    own: own.clone(),
                },
                Mesh3d(own),
                Aabb::default(),
                NoAutoAabb,
            ))
            .trigger(|entity| ClothReady { entity });
    }
}

/// The channels in which something is painted for a cloth.
fn channels<'a>(
    pins: &'a Pins,
    paint: Option<&'a ClothPaint>,
    max_distance: Option<&'a MaxDistance>,
) -> impl Iterator<Item = &'a VertexChannel> {
    let pinned = pins.pins.iter().filter_map(|pin| match &pin.select {
        PinSelector::Painted { channel, .. } => Some(channel),
        _ => None,
    });
    let multiples = paint.map(|paint| [&paint.mass, &paint.bending_stiffness]);
    let far = max_distance
        .into_iter()
        .flat_map(|MaxDistance { distance, backstop }| {
            let back = backstop.iter().map(|back| &back.distance);
            std::iter::once(distance).chain(back)
        });
    let numbers = multiples.into_iter().flatten().chain(far);
    pinned.chain(numbers.filter_map(PerVertex::channel))
}

/// What a cloth is made of.
struct Source<'a> {
    mesh: &'a Mesh,
    skinned: Option<SkinnedMesh>,
    part: Option<&'a ClothPart>,
    transform: &'a GlobalTransform,
    /// Its colours are paint.
    hides_colours: bool,
}

struct Parts {
    particles: Particles,
    constraints: Constraints,
    body: ClothBody,
    mesh: Mesh,
    binding: MeshBinding,
    /// The box around what of the mesh is no cloth.
    rest: Option<[Vec3; 2]>,
    out_of_range: usize,
}

/// What of a mesh becomes cloth.
pub(super) struct Found {
    triangles: TriangleMesh,
    topology: Topology,
    /// The particles where it is sewn to the rest.
    seam: Vec<u32>,
}

/// Reads a mesh and its place, or says why they cannot become cloth.
pub(super) fn check(
    original: &Mesh,
    transform: &GlobalTransform,
    part: Option<&ClothPart>,
) -> Result<Found, String> {
    if !is_usable(transform) {
        return Err(format!(
            "its transform has a scale of 0 or numbers that are not finite ({:?}); it will be \
             built once that is put right",
            transform.affine()
        ));
    }
    check_mesh(original, part)
}

/// Reads a mesh, or says why it cannot become cloth.
pub(super) fn check_mesh(original: &Mesh, part: Option<&ClothPart>) -> Result<Found, String> {
    let mut triangles = TriangleMesh::read(original).map_err(|error| error.to_string())?;
    let on_seam = match part {
        Some(part) => Some(take_part(original, &mut triangles, part)?),
        None => None,
    };
    let topology = Topology::new(&triangles).ok_or_else(|| MeshError::NoTriangles.to_string())?;
    let seam = on_seam.map_or(Vec::new(), |on_seam| topology.on_seam(&on_seam));
    Ok(Found {
        triangles,
        topology,
        seam,
    })
}

/// Leaves a part of a mesh. Returns which of its vertices are on the seam.
fn take_part(
    original: &Mesh,
    triangles: &mut TriangleMesh,
    part: &ClothPart,
) -> Result<Vec<bool>, String> {
    let on_seam = match part {
        ClothPart::Painted { channel, above } => {
            let values = match channel {
                VertexChannel::Joint(_) => {
                    return Err(format!(
                        "its part is painted in {channel:?}; weights of joints serve for pins and \
                         distances only, parts need vertex colours or an attribute"
                    ));
                }
                _ => per_vertex(original, channel),
            };
            let values = values.ok_or_else(|| {
                format!("its part is painted in {channel:?}, which its mesh does not have")
            })?;
            triangles.keep_part(|v| values.get(v).is_some_and(|value| value > above))
        }
        ClothPart::Predicate(is_cloth) => {
            let places = triangles.positions.clone();
            triangles.keep_part(|v| is_cloth.accepts(places[v]))
        }
    };
    if triangles.triangles.is_empty() {
        return Err("no triangle has a corner in the part that its ClothPart means; a predicate that comes \
                    from a file must be set again, for code is not saved"
            .to_owned());
    }
    Ok(on_seam)
}

fn make(of: &Source, fabric: &Fabric, skeletons: &Skeletons) -> Result<Loaded<Parts>, String> {
    let original = of.mesh;
    let Found {
        triangles: source,
        mut topology,
        seam,
    } = check(original, of.transform, of.part)?;
    let skin = match &of.skinned {
        Some(skinned) => {
            let (to_particle, count) = (&topology.vertex_to_particle, topology.positions.len());
            match skeletons.read(original, skinned, to_particle.iter(), count) {
                Loaded::Yes(skin) => skin,
                Loaded::NotYet => return Ok(Loaded::NotYet),
            }
        }
        None => None,
    };
    let Carried {
        origin,
        frame,
        skin,
        places,
    } = carry(of.transform, skin, &topology, skeletons)?;

    let mut mesh = original.clone();
    if of.hides_colours {
        mesh.remove_attribute(Mesh::ATTRIBUTE_COLOR);
    }
    // It is written to in every frame and uploaded again.
    mesh.asset_usage = RenderAssetUsages::default();
    let rest = of
        .part
        .and_then(|_| topology.box_around_rest(&source.positions));
    if source.out_of_range > 0 && of.part.is_none() {
        // What does not exist cannot be drawn either; a renderer would read past the vertices.
        mesh.insert_indices(bevy::mesh::Indices::U32(source.triangles.concat()));
        mesh = as_triangle_list(&mesh);
    }
    let binding = MeshBinding::new(&source, &topology, &mut mesh);

    let mut assembly = topology.assemble(origin, frame, fabric.areal_density);
    if let Some(places) = places {
        assembly.particles.reset(origin, &places);
    }
    let (to_particle, count) = (&topology.vertex_to_particle, topology.positions.len());
    let paint = Paint::read(original, to_particle, count);
    // They follow from the triangles and are many.
    (topology.constraints, topology.bends) = Default::default();
    let mut body = ClothBody {
        topology,
        triangles: assembly.triangles,
        reach: Reach {
            to_world: frame,
            ..default()
        },
        paint,
        skin,
        seam,
        ..default()
    };
    body.guide.seen.origin = origin;
    Ok(Loaded::Yes(Parts {
        particles: Particles(assembly.particles),
        constraints: Constraints(assembly.constraints),
        body,
        mesh,
        binding,
        rest,
        out_of_range: source.out_of_range,
    }))
}

/// Where a cloth begins.
struct Carried {
    origin: Vec3,
    /// What turns and scales mesh space into world axes.
    frame: Mat3,
    skin: Option<Skin>,
    /// Where its particles are, from the origin, if not where the rest shape has them.
    places: Option<SoaVec3>,
}

/// Finds where a cloth begins: where its skeleton carries it, or its transform.
fn carry(
    transform: &GlobalTransform,
    skin: Option<Skin>,
    topology: &Topology,
    skeletons: &Skeletons,
) -> Result<Carried, String> {
    let Some(mut skin) = skin else {
        return Ok(Carried {
            origin: transform.translation(),
            frame: transform.affine().matrix3.into(),
            skin,
            places: None,
        });
    };
    let (origin, frame) = skin
        .settle(&topology.positions, |joint| skeletons.joint(joint))
        .ok_or("its skeleton has a scale of 0, or joints that are not there")?;
    let places = skin.places(&topology.positions);
    Ok(Carried {
        origin,
        frame,
        skin: Some(skin),
        places: Some(places),
    })
}

/// Whether a cloth can be built at a transform.
pub(super) fn is_usable(transform: &GlobalTransform) -> bool {
    let affine = transform.affine();
    affine.is_finite() && affine.inverse().is_finite()
}
