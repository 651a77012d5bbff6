//! Finds the edge under each pointer, for [`ClothTool::Edge`].

use super::{
    ClothTool, ClothTools,
    backend::{ClothHit, ClothRaycast},
    view::PointerViews,
};
use crate::{
    cloth::particles::{ClothConstraints, ClothParticles},
    render::pose::RenderPose,
    solver::ConstraintKind,
};
use bevy::{
    picking::{hover::HoverMap, pointer::PointerId},
    platform::collections::HashMap,
    prelude::*,
};

/// Edge that a press of the pointer tears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoveredEdge {
    /// Cloth entity.
    pub cloth: Entity,
    /// Particles at its ends.
    pub particles: [u32; 2],
}

/// Edges under the pointers, while a button has [`ClothTool::Edge`]. Updated in `PreUpdate`: a cloth that was
/// reset or rebuilt since then may not have them any more.
#[derive(Resource, Debug, Default)]
pub struct HoveredEdges(HashMap<PointerId, HoveredEdge>);

impl HoveredEdges {
    /// Returns the edge under a pointer.
    pub fn get(&self, pointer: PointerId) -> Option<HoveredEdge> {
        self.0.get(&pointer).copied()
    }

    /// Iterates over the edges under all pointers.
    pub fn iter(&self) -> impl Iterator<Item = &HoveredEdge> {
        self.0.values()
    }
}

pub(super) fn find_hovered_edges(
    mut edges: ResMut<HoveredEdges>,
    tools: Res<ClothTools>,
    hovered: Res<HoverMap>,
    cloths: Query<(&ClothParticles, &ClothConstraints, &RenderPose)>,
    rays: ClothRaycast,
    views: PointerViews,
) {
    if !tools.has(ClothTool::Edge) {
        if !edges.0.is_empty() {
            edges.0.clear();
        }
        return;
    }
    edges.0.clear();
    for (&pointer, hits) in hovered.iter() {
        let Some(location) = views.location(pointer) else {
            continue;
        };
        let mut hits: Vec<_> = hits.iter().collect();
        hits.sort_unstable_by(|a, b| a.1.depth.total_cmp(&b.1.depth));
        let found = hits.into_iter().find_map(|(&cloth, hit)| {
            let (particles, constraints, render_pose) = cloths.get(cloth).ok()?;
            let corners = match hit.extra_as::<ClothHit>() {
                Some(hit) => hit.particles,
                // Another picking backend reported the cloth first.
                None => {
                    let ray = views.ray(hit.camera, location.position)?;
                    let ray_hits = rays.cast_ray(hit.camera, ray).into_iter();
                    ray_hits
                        .filter(|ray_hit| ray_hit.cloth == cloth)
                        .map(|ray_hit| ray_hit.particles)
                        .next()?
                }
            };
            // The nearest edge is one of the hit triangle.
            let near = constraints
                .of_kind(ConstraintKind::Structural)
                .map(|(pair, _)| pair)
                .filter(|[a, b]| corners.contains(a) && corners.contains(b));
            let position = |i: u32| render_pose.particle_position(particles, i as usize);
            nearest_on_screen(near, position, hit.camera, location.position, &views)
                .filter(|(distance, _)| *distance <= tools.tolerance)
                .map(|(_, particles)| HoveredEdge { cloth, particles })
        });
        if let Some(found) = found {
            edges.0.insert(pointer, found);
        }
    }
}

/// Finds the edge nearest to a screen position, and its distance in logical pixels.
fn nearest_on_screen(
    edges: impl Iterator<Item = [u32; 2]>,
    at: impl Fn(u32) -> Vec3,
    camera: Entity,
    position: Vec2,
    views: &PointerViews,
) -> Option<(f32, [u32; 2])> {
    edges
        .filter_map(|edge| {
            let [a, b] = edge.map(&at);
            let (a, b) = (views.on_screen(camera, a)?, views.on_screen(camera, b)?);
            let along = b - a;
            let length = along.length_squared();
            let t = if length > 0.0 {
                ((position - a).dot(along) / length).clamp(0.0, 1.0)
            } else {
                0.0
            };
            Some(((a + along * t).distance(position), edge))
        })
        .min_by(|x, y| x.0.total_cmp(&y.0))
}
