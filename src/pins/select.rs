//! Resolves pin selectors to particles.

use super::{ClothCorner, ClothEdge, PinAnchor, PinSelector, Pins};
use crate::mesh::{CompactIndices, Topology, paint::VertexChannel, topology::NO_PARTICLE};
use bevy::prelude::*;
use std::borrow::Cow;

/// Vertices and channels that pins refer to but the mesh does not have.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct UnresolvedPins {
    pub(crate) vertices: Vec<u32>,
    pub(crate) channels: Vec<VertexChannel>,
    /// Positions in the list of the other pins that select no particle.
    pub(crate) empty: Vec<usize>,
}

impl Pins {
    /// Returns the particles of a topology that these pins select, each once. Painted pins select none, as a
    /// topology has no paint.
    pub fn select(&self, topology: &Topology) -> Vec<u32> {
        let to_particle = &topology.vertex_to_particle;
        let (resolved, _) = self.resolve(&topology.positions, to_particle, |_| None);
        resolved.into_iter().map(|(particle, _)| particle).collect()
    }

    /// Returns the selected particles, each once, with their anchors, and the references that could not be
    /// resolved. `rest` are the particles in mesh space, `paint` returns the painted values of a channel per
    /// particle.
    pub(crate) fn resolve<'a>(
        &self,
        rest: &[Vec3],
        vertex_to_particle: &CompactIndices,
        paint: impl Fn(&VertexChannel) -> Option<Cow<'a, [f32]>>,
    ) -> (Vec<(u32, PinAnchor)>, UnresolvedPins) {
        let (mut pinned, mut resolved) = (vec![false; rest.len()], Vec::new());
        let mut unknown = UnresolvedPins::default();
        let bounds = BoundingRect::around(rest);
        for (number, pin) in self.pins.iter().enumerate() {
            // Whether it neither selects a particle nor is listed as unknown.
            let mut is_empty = true;
            let mut pin_particle = |particle: u32| {
                is_empty = false;
                if !std::mem::replace(&mut pinned[particle as usize], true) {
                    resolved.push((particle, pin.anchor));
                }
            };
            let all = || rest.iter().copied().zip(0_u32..);
            match &pin.select {
                PinSelector::Index(vertex) => match vertex_to_particle.get(*vertex as usize) {
                    Some(particle) if particle != NO_PARTICLE => pin_particle(particle),
                    _ => {
                        is_empty = false;
                        unknown.vertices.push(*vertex);
                    }
                },
                PinSelector::Ends => {
                    let mut vertices = vertex_to_particle.iter().filter(|&p| p != NO_PARTICLE);
                    let ends = [vertices.next(), vertices.next_back()];
                    ends.into_iter().flatten().for_each(&mut pin_particle);
                }
                PinSelector::Painted { channel, above } => match paint(channel) {
                    Some(values) => (0..).zip(&*values).for_each(|(i, value)| {
                        if value > above {
                            pin_particle(i);
                        }
                    }),
                    None => {
                        is_empty = false;
                        unknown.channels.push(channel.clone());
                    }
                },
                PinSelector::Predicate(predicate) => all()
                    .filter(|&(at, _)| predicate.accepts(at))
                    .for_each(|(_, i)| pin_particle(i)),
                PinSelector::Corner(corner) => {
                    let nearest = bounds.nearest(rest, corner.position());
                    nearest.into_iter().for_each(&mut pin_particle);
                }
                PinSelector::Edge(edge) => all()
                    .filter(|&(at, _)| edge.distance(bounds.normalized(at)) < 0.001)
                    .for_each(|(_, i)| pin_particle(i)),
            }
            if is_empty {
                unknown.empty.push(number);
            }
        }
        (resolved, unknown)
    }
}

/// Bounding rectangle in the two longest axes of a mesh, from (0, 0) at its top left to (1, 1).
struct BoundingRect {
    low: Vec3,
    size: Vec3,
    thin_axis: usize,
}

impl BoundingRect {
    fn around(points: &[Vec3]) -> Self {
        let low = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        let size = high - low;
        // For equal sizes, an upright cloth.
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

    /// Returns the first of the points that are nearest a position in the rectangle.
    fn nearest(&self, points: &[Vec3], to: Vec2) -> Option<u32> {
        let distances = points
            .iter()
            .map(|&point| self.normalized(point).distance_squared(to));
        let nearest = distances.zip(0..).min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.map(|(_, i)| i)
    }

    fn normalized(&self, point: Vec3) -> Vec2 {
        // An axis without extent maps to 0.
        let size = Vec3::select(self.size.cmpgt(Vec3::ZERO), self.size, Vec3::ONE);
        let fraction = (point - self.low) / size;
        match self.thin_axis {
            0 => Vec2::new(1.0 - fraction.z, 1.0 - fraction.y),
            1 => Vec2::new(fraction.x, fraction.z),
            _ => Vec2::new(fraction.x, 1.0 - fraction.y),
        }
    }
}

impl ClothCorner {
    fn position(self) -> Vec2 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{ClothGrid, TriangleMesh};

    fn resolve(grid: ClothGrid, pins: &Pins) -> Vec<u32> {
        let topology = Topology::new(&TriangleMesh::read(&grid.into()).unwrap()).unwrap();
        pins.select(&topology)
    }

    #[test]
    fn sides_and_corners_of_horizontal_and_upright_cloth() {
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
    fn each_particle_is_pinned_once_and_unknown_indices_are_reported() {
        let pins = Pins::index(3).and(Pins::top_corners()).and(Pins::index(99));
        let rest: Vec<_> = (0..4).map(|i| Vec3::X * i as f32).collect();
        let (resolved, unknown) = pins.resolve(&rest, &CompactIndices::identity(4), |_| None);
        assert_eq!(resolved.len(), 2);
        assert_eq!(unknown.vertices, [99]);
        // A pin whose particles are pinned already is not empty.
        assert_eq!(unknown.empty, [0_usize; 0]);
        let nowhere = Pins::top_corners().and(Pins::predicate(|at| at.x > 9.0));
        let (_, unknown) = nowhere.resolve(&rest, &CompactIndices::identity(4), |_| None);
        assert_eq!(unknown.empty, [2]);
    }

    #[test]
    fn painted_particles_are_pinned_above_a_threshold() {
        let pins = Pins::painted(VertexChannel::Red).and(Pins::painted(VertexChannel::Alpha));
        let paint = |channel: &VertexChannel| {
            let values: &[f32] = &[0.0, 0.5, 0.51, 1.0];
            (*channel == VertexChannel::Red).then(|| values.into())
        };
        let (pinned, unknown) = pins.resolve(&[Vec3::ZERO; 4], &CompactIndices::identity(4), paint);
        assert_eq!(pinned, [(2, PinAnchor::Cloth), (3, PinAnchor::Cloth)]);
        assert_eq!(unknown.channels, [VertexChannel::Alpha]);
    }

    #[test]
    fn ends_are_the_first_and_the_last_particle() {
        let resolve = |vertices: &[u32]| {
            Pins::ends()
                .resolve(&[Vec3::ZERO; 4], &vertices.to_vec().into(), |_| None)
                .0
        };
        let pinned = |vertices| {
            resolve(vertices)
                .iter()
                .map(|pin| pin.0)
                .collect::<Vec<_>>()
        };
        assert_eq!(pinned(&[0, 1, 2, 3]), [0, 3]);
        assert_eq!(pinned(&[NO_PARTICLE, 1, 2, NO_PARTICLE]), [1, 2]);
        assert_eq!(pinned(&[NO_PARTICLE, 2]), [2]);
        assert!(pinned(&[]).is_empty());
    }

    #[test]
    fn predicates_see_mesh_space() {
        let pins = Pins::predicate(|at| at.x < -0.9);
        assert_eq!(resolve(ClothGrid::new(2.0, 2.0, 3, 3), &pins), [0, 3, 6]);
    }
}
