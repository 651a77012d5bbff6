//! Which particles of a cloth are held, and by what.

use crate::{mesh::Topology, solver::PinTarget};
use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// Holds particles of a cloth.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # let hand = Entity::PLACEHOLDER;
/// let curtain = Pins::edge(ClothEdge::Top);
/// let flag = Pins::edge(ClothEdge::Left);
/// let cape = Pins::edge(ClothEdge::Top).to_entity(hand);
/// let sheet = Pins::corner(ClothCorner::TopLeft).and(Pins::index(17));
/// let ring = Pins::predicate(|at| at.length() < 0.2);
/// ```
///
/// May be changed at any time: a particle that is newly pinned is held where it is, one that is no
/// longer pinned falls.
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[component(map_entities)]
pub struct Pins {
    /// All pins. Where two hold the same particle, the first one does.
    pub pins: Vec<Pin>,
}

/// Particles and what holds them.
#[derive(Reflect, Clone, Debug, PartialEq)]
#[reflect(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Pin {
    /// Which particles.
    pub select: PinSelector,
    /// What holds them.
    pub anchor: PinAnchor,
}

/// What holds pinned particles.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum PinAnchor {
    /// The transform of the cloth's own entity.
    #[default]
    Cloth,
    /// Nothing that moves: they stay where they are in the world.
    World,
    /// The transform of another entity, such as a hand or a joint. If it is despawned, they stay.
    Entity(Entity),
}

/// Which particles are pinned. Sides and corners are those of the mesh's bounding box, seen from
/// the side the sheet is flat on: for an upright sheet top is +y and left −x, for a lying one top is
/// −z and left −x.
#[derive(Reflect, Clone, Debug, PartialEq)]
#[reflect(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum PinSelector {
    /// The particle nearest to a corner.
    Corner(ClothCorner),
    /// All particles on a side (within 1 % of the size of the mesh).
    Edge(ClothEdge),
    /// The particle of this vertex of the mesh.
    Index(u32),
    /// All particles for which this is true.
    #[cfg_attr(feature = "serialize", serde(skip))]
    Predicate(PinPredicate),
}

/// A corner of a sheet.
#[derive(Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum ClothCorner {
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
}

/// A side of a sheet.
#[derive(Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum ClothEdge {
    Top,
    Bottom,
    Left,
    Right,
}

/// Decides by the place of a particle in the mesh (mesh space, m) whether to pin it. Being code, it
/// is not saved with a scene.
#[derive(Reflect, Clone)]
#[reflect(opaque, Clone, Debug, PartialEq)]
pub struct PinPredicate(Arc<dyn Fn(Vec3) -> bool + Send + Sync>);

impl PinPredicate {
    /// Wraps a function.
    pub fn new(pins: impl Fn(Vec3) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(pins))
    }
}

impl fmt::Debug for PinPredicate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("PinPredicate")
    }
}

impl PartialEq for PinPredicate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Pins {
    /// Nothing is held.
    pub fn none() -> Self {
        Self::default()
    }

    /// One corner.
    pub fn corner(corner: ClothCorner) -> Self {
        Self::one(PinSelector::Corner(corner))
    }

    /// All four corners.
    pub fn corners() -> Self {
        Self::top_corners()
            .and(Self::corner(ClothCorner::BottomLeft))
            .and(Self::corner(ClothCorner::BottomRight))
    }

    /// The two upper corners.
    pub fn top_corners() -> Self {
        Self::corner(ClothCorner::TopLeft).and(Self::corner(ClothCorner::TopRight))
    }

    /// A whole side.
    pub fn edge(edge: ClothEdge) -> Self {
        Self::one(PinSelector::Edge(edge))
    }

    /// The particle of a vertex of the mesh.
    pub fn index(vertex: u32) -> Self {
        Self::one(PinSelector::Index(vertex))
    }

    /// Every particle whose place in the mesh (mesh space, m) the function accepts.
    pub fn predicate(pins: impl Fn(Vec3) -> bool + Send + Sync + 'static) -> Self {
        Self::one(PinSelector::Predicate(PinPredicate::new(pins)))
    }

    /// These and other pins.
    pub fn and(mut self, other: Self) -> Self {
        self.pins.extend(other.pins);
        self
    }

    /// All of these held by another entity.
    pub fn to_entity(self, entity: Entity) -> Self {
        self.held_by(PinAnchor::Entity(entity))
    }

    /// All of these held in place in the world.
    pub fn to_world(self) -> Self {
        self.held_by(PinAnchor::World)
    }

    fn held_by(mut self, anchor: PinAnchor) -> Self {
        self.pins.iter_mut().for_each(|pin| pin.anchor = anchor);
        self
    }

    fn one(select: PinSelector) -> Self {
        Self {
            pins: vec![Pin {
                select,
                anchor: PinAnchor::default(),
            }],
        }
    }

    /// The particles of a topology that these pins hold, each once.
    pub fn select(&self, topology: &Topology) -> Vec<u32> {
        let (resolved, _) = self.resolve(&topology.positions, &topology.vertex_to_particle);
        resolved.into_iter().map(|(particle, _)| particle).collect()
    }

    /// The particles that are to be held, each once, and by what. Also the indices that no vertex
    /// has. `rest` are the particles in mesh space.
    pub(crate) fn resolve(
        &self,
        rest: &[Vec3],
        vertex_to_particle: &[u32],
    ) -> (Vec<(u32, PinAnchor)>, Vec<u32>) {
        let mut pinned = vec![false; rest.len()];
        let mut resolved = Vec::new();
        let mut unknown = Vec::new();
        let sheet = Sheet::around(rest);
        for pin in &self.pins {
            let mut hold = |particle: u32| {
                if !std::mem::replace(&mut pinned[particle as usize], true) {
                    resolved.push((particle, pin.anchor));
                }
            };
            let all = || rest.iter().copied().zip(0_u32..);
            match &pin.select {
                PinSelector::Index(vertex) => match vertex_to_particle.get(*vertex as usize) {
                    Some(&particle) => hold(particle),
                    None => unknown.push(*vertex),
                },
                PinSelector::Predicate(PinPredicate(pins)) => {
                    all().filter(|&(at, _)| pins(at)).for_each(|(_, i)| hold(i));
                }
                PinSelector::Corner(corner) => {
                    let distance = |at: Vec3| sheet.at(at).distance_squared(corner.place());
                    let nearest = all().min_by(|a, b| distance(a.0).total_cmp(&distance(b.0)));
                    if let Some((_, i)) = nearest {
                        hold(i);
                    }
                }
                PinSelector::Edge(edge) => all()
                    .filter(|&(at, _)| edge.distance(sheet.at(at)) < 0.01)
                    .for_each(|(_, i)| hold(i)),
            }
        }
        (resolved, unknown)
    }
}

impl MapEntities for Pins {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        for pin in &mut self.pins {
            if let PinAnchor::Entity(entity) = &mut pin.anchor {
                *entity = mapper.get_mapped(*entity);
            }
        }
    }
}

/// The two directions in which a mesh is widest, as a sheet from (0, 0) at its top left to (1, 1).
struct Sheet {
    low: Vec3,
    size: Vec3,
    thin_axis: usize,
}

impl Sheet {
    fn around(points: &[Vec3]) -> Self {
        let low = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        let size = high - low;
        // For equal sizes, an upright sheet.
        let thin_axis = if size.z <= size.y && size.z <= size.x {
            2
        } else if size.y <= size.x {
            1
        } else {
            0
        };
        Self {
            low,
            size,
            thin_axis,
        }
    }

    fn at(&self, point: Vec3) -> Vec2 {
        // A side without length has all its points at 0.
        let size = Vec3::select(self.size.cmpgt(Vec3::ZERO), self.size, Vec3::ONE);
        let share = (point - self.low) / size;
        match self.thin_axis {
            0 => Vec2::new(1.0 - share.z, 1.0 - share.y),
            1 => Vec2::new(share.x, share.z),
            _ => Vec2::new(share.x, 1.0 - share.y),
        }
    }
}

impl ClothCorner {
    fn place(self) -> Vec2 {
        match self {
            Self::TopLeft => Vec2::ZERO,
            Self::TopRight => Vec2::X,
            Self::BottomLeft => Vec2::Y,
            Self::BottomRight => Vec2::ONE,
        }
    }
}

impl ClothEdge {
    fn distance(self, at: Vec2) -> f32 {
        match self {
            Self::Top => at.y,
            Self::Bottom => 1.0 - at.y,
            Self::Left => at.x,
            Self::Right => 1.0 - at.x,
        }
    }
}

/// A pinned particle with its place in the frame of its anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BoundPin {
    pub(crate) particle: u32,
    pub(crate) anchor: PinAnchor,
    /// Its place in the frame of the anchor (in the world for [`PinAnchor::World`]), m.
    pub(crate) offset: Vec3,
    /// Where it was last held in the world, m: it stays there if the anchor is gone.
    pub(crate) held_at: Vec3,
}

impl BoundPin {
    /// Pins a particle that is at `place` in the world, to an anchor with this transform.
    pub(crate) fn new(
        particle: u32,
        anchor: PinAnchor,
        place: Vec3,
        transform: &GlobalTransform,
    ) -> Self {
        let offset = transform.affine().inverse().transform_point3(place);
        Self {
            particle,
            anchor,
            // An anchor without a size has no inverse; its origin is as good as any place.
            offset: if offset.is_finite() {
                offset
            } else {
                Vec3::ZERO
            },
            held_at: place,
        }
    }

    /// Where the solver must put the particle, relative to `origin`.
    pub(crate) fn target(&mut self, transform: &GlobalTransform, origin: Vec3) -> PinTarget {
        let held_at = transform.transform_point(self.offset);
        if held_at.is_finite() {
            self.held_at = held_at;
        }
        self.hold(origin)
    }

    /// The same for a pin whose anchor is gone: it stays.
    pub(crate) fn hold(&self, origin: Vec3) -> PinTarget {
        PinTarget {
            particle: self.particle,
            position: self.held_at - origin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{ClothGrid, TriangleMesh};

    fn resolve(grid: ClothGrid, pins: &Pins) -> Vec<u32> {
        let topology = Topology::new(&TriangleMesh::read(&grid.into()).unwrap()).unwrap();
        pins.select(&topology)
    }

    #[test]
    fn sides_and_corners_of_lying_and_standing_sheets() {
        for grid in [
            ClothGrid::new(2.0, 1.0, 4, 3),
            ClothGrid::vertical(2.0, 1.0, 4, 3),
        ] {
            assert_eq!(resolve(grid, &Pins::corners()), [0, 3, 8, 11]);
            assert_eq!(resolve(grid, &Pins::edge(ClothEdge::Top)), [0, 1, 2, 3]);
            assert_eq!(
                resolve(grid, &Pins::edge(ClothEdge::Bottom)),
                [8, 9, 10, 11]
            );
            assert_eq!(resolve(grid, &Pins::edge(ClothEdge::Left)), [0, 4, 8]);
            assert_eq!(resolve(grid, &Pins::edge(ClothEdge::Right)), [3, 7, 11]);
        }
    }

    #[test]
    fn each_particle_is_pinned_once_and_unknown_indices_are_told() {
        let pins = Pins::index(3).and(Pins::top_corners()).and(Pins::index(99));
        let rest: Vec<_> = (0..4).map(|i| Vec3::X * i as f32).collect();
        let (resolved, unknown) = pins.resolve(&rest, &[0, 1, 2, 3]);
        assert_eq!(resolved.len(), 2);
        assert_eq!(unknown, [99]);
    }

    #[test]
    fn predicates_see_mesh_space() {
        let pins = Pins::predicate(|at| at.x < -0.9);
        assert_eq!(resolve(ClothGrid::new(2.0, 2.0, 3, 3), &pins), [0, 3, 6]);
    }

    #[test]
    fn an_anchor_that_breaks_leaves_the_pin_where_it_was() {
        let anchor = GlobalTransform::from_xyz(1.0, 0.0, 0.0);
        let mut pin = BoundPin::new(0, PinAnchor::Cloth, Vec3::new(1.0, 2.0, 0.0), &anchor);
        assert_eq!(pin.offset, Vec3::Y * 2.0);
        let broken = GlobalTransform::from_xyz(f32::NAN, 0.0, 0.0);
        let held = pin.target(&broken, Vec3::ZERO).position;
        assert_eq!(held, Vec3::new(1.0, 2.0, 0.0));
    }
}
