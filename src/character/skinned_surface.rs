//! Triangles of a skinned mesh as a collider: skinned on the CPU once per step.

use crate::{
    character::{
        skeleton_colliders::SkeletonColliders,
        skin_weights::{SkinWeights, joint_attributes},
    },
    cloth::transforms::Anchors,
    collision::{
        active_colliders::{ActiveColliders, sort_entities},
        collider::{ClothCollider, LastPose},
    },
    label::EntityLabel,
    mesh::{TriangleMesh, WeldedVertices, weld},
    solver::{MeshCollider, Pose, SurfaceError, TriangleSurface},
};
use bevy::{
    mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    prelude::*,
};
use std::{fmt::Display, sync::Arc};

/// Triangles of a skinned mesh as a collider. Written when the collider is generated, and in each step.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
#[require(LastPose)]
pub(crate) struct SkinnedSurface {
    weights: SkinWeights,
    /// Positions of the points in the bind pose, in mesh space.
    rest: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Joint with the largest total weight, at which the origin is.
    main_joint: Option<Entity>,
    /// Origin of the positions, m. It moves with the body, so that most of the motion is that of a frame.
    origin: Vec3,
    surface: SurfaceState,
}

/// Surface at its last pose.
#[derive(Debug)]
enum SurfaceState {
    /// Not posed yet.
    New,
    Posed(Arc<TriangleSurface>),
    /// Left out, for a reason that was logged, until it can be posed again.
    Invalid,
}

impl SkinnedSurface {
    /// Reads the triangles of a body and their joints, or returns why that fails. Triangles that are cloth, moved by the
    /// body's own entity, are left out.
    pub(crate) fn read(
        body: Entity,
        mesh: &Mesh,
        skinned: &SkinnedMesh,
        inverse: &SkinnedMeshInverseBindposes,
    ) -> Result<Self, String> {
        let missing = |name| format!("its mesh has no {name}, or it is not readable");
        let read = TriangleMesh::read(mesh).map_err(|reason| reason.to_string())?;
        let (joints, _) = joint_attributes(mesh).map_err(missing)?;
        let mut triangles = read.triangles;
        if let Some(own) = skinned.joints.iter().position(|&joint| joint == body) {
            let is_cloth = |&vertex: &u32| {
                let joints = joints.get(vertex as usize);
                joints.is_none_or(|joints| usize::from(joints[0]) == own)
            };
            triangles.retain(|corners| !corners.iter().any(is_cloth));
        }
        if triangles.is_empty() {
            return Err("all of its mesh is cloth; give the body an entity of its own".into());
        }
        let WeldedVertices {
            vertex_to_particle: point_of,
            positions: rest,
        } = weld(&read.positions, &triangles);
        for corner in triangles.as_flattened_mut() {
            *corner = point_of[*corner as usize];
        }
        let no_name = |_| None;
        let points = point_of.iter().copied();
        let weights = SkinWeights::read(mesh, skinned, inverse, no_name, points, rest.len());
        let weights = weights.ok_or_else(|| missing("joints"))?;
        Ok(Self {
            main_joint: weights.dominant_joint(std::iter::empty()),
            weights,
            rest,
            triangles,
            origin: Vec3::ZERO,
            surface: SurfaceState::New,
        })
    }

    /// Returns the joints that move it.
    pub(crate) fn joints(&self) -> &[Entity] {
        &self.weights.joints
    }

    /// Moves the surface to the transforms of its joints at the end of a step of this length, s; without a length, it
    /// appears there. Returns the surface, and the poses of its frame at both ends of the step; logs why there is none.
    fn pose(
        &mut self,
        label: &dyn Display,
        step: Option<f32>,
        at: impl Fn(Entity) -> Option<GlobalTransform>,
    ) -> Option<(Arc<TriangleSurface>, [Pose; 2])> {
        let last_origin = self.origin;
        let joint = self.main_joint.and_then(&at);
        let joint = joint.map(|joint| joint.translation());
        self.origin = joint.filter(|at| at.is_finite()).unwrap_or(last_origin);
        let moved = self.origin - last_origin;
        let missing = self.weights.update_pose(self.origin, -moved, at);
        if missing > 0 {
            error!(
                "cloth colliders of {label}: {missing} joints of its skeleton no longer exist; the \
                 triangles on them stay where they are; insert a SkinnedMesh with joints that exist"
            );
        }
        let was_invalid = matches!(self.surface, SurfaceState::Invalid);
        match self.deform(step) {
            Ok(surface) => {
                self.surface = SurfaceState::Posed(surface.clone());
                let end = Pose::from_translation(self.origin);
                let start = step.map_or(end, |_| Pose::from_translation(last_origin));
                Some((surface, [start, end]))
            }
            Err(reason) => {
                self.surface = SurfaceState::Invalid;
                if !was_invalid {
                    error!("cloth colliders of {label} are ignored: {reason}");
                }
                None
            }
        }
    }

    /// Skins all points. Returns the surface, or the reason why there is none.
    fn deform(&mut self, step: Option<f32>) -> Result<Arc<TriangleSurface>, String> {
        let (weights, rest) = (&self.weights, &self.rest);
        let position = |i: usize| weights.matrix(i).transform_point3(rest[i]);
        match std::mem::replace(&mut self.surface, SurfaceState::Invalid) {
            SurfaceState::Posed(mut surface) => {
                // Not shared: the colliders of the last step are gone.
                let deformed = Arc::make_mut(&mut surface);
                match deformed.deform(position, step) {
                    true => Ok(surface),
                    false => {
                        Err("its positions are not finite; repair the scale of the joints".into())
                    }
                }
            }
            // Built in this pose: a mirrored skeleton turns triangles inside out.
            SurfaceState::New | SurfaceState::Invalid => {
                let points: Vec<Vec3> = (0..rest.len()).map(position).collect();
                // A scale of 0 hides a character; this is tried again in each step.
                if points.iter().all(|point| *point == points[0]) {
                    return Err(SurfaceError::NoTriangles.to_string());
                }
                let surface = TriangleSurface::deforming(points, self.triangles.clone());
                surface.map(Arc::new).map_err(|reason| reason.to_string())
            }
        }
    }
}

/// Moves the surfaces of skinned meshes to the current pose of their skeletons.
pub(crate) fn move_skinned_surfaces(
    mut active: ResMut<ActiveColliders>,
    mut bodies: Query<(
        EntityLabel,
        &SkeletonColliders,
        &mut SkinnedSurface,
        &mut LastPose,
        Has<ClothCollider>,
    )>,
    anchors: Anchors,
    time: Res<Time>,
    mut order: Local<Vec<Entity>>,
) {
    let list = &mut active.meshes.skinned;
    list.clear();
    sort_entities(&mut order, bodies.iter().map(|(label, ..)| label.entity));
    for &body in &*order {
        let Ok((label, settings, mut surface, mut last, is_primitive)) = bodies.get_mut(body)
        else {
            continue;
        };
        // None after a pause, too.
        let step = last.is_some().then(|| time.delta_secs());
        let posed = surface.pose(&label, step, |joint| anchors.at(joint));
        // For an entity with a primitive collider too, `find_colliders` writes it afterwards.
        if !is_primitive {
            let end = posed.as_ref().map(|(_, [_, end])| *end);
            last.set_if_neq(LastPose::of(end));
        }
        if let Some((surface, [start, end])) = posed {
            let collider = MeshCollider {
                surface,
                start,
                end,
                friction: settings.friction(),
            };
            list.push((
                collider.without_teleport(time.delta_secs()),
                settings.layers,
            ));
        }
    }
}
