//! Renders a rope as a smooth tube with round ends, in one or more pieces.

use super::{
    direction::direction,
    spline::{CurveFrame, CurveSegment, beyond},
};
use bevy::{
    asset::RenderAssetUsages,
    math::{Mat3, Vec2, Vec3},
    mesh::{Indices, Mesh, MeshAccessError, PrimitiveTopology, VertexAttributeValues},
};
use std::f32::consts::{FRAC_PI_2, TAU};

/// Rings per segment between two particles: with three, a bend of 30° between segments looks round.
const RINGS_PER_SEGMENT: usize = 3;

/// Rings of a cap besides the ring where the tube begins; the last of them is its tip.
const CAP_RINGS: usize = 3;

/// Tube along particles, and the data to write its mesh.
///
/// u runs around the tube from 0 to 1, v along it in the same unit, so a square texture stays square; tangents
/// point in the direction of increasing u. The texture stays with its particles when the rope is stretched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tube {
    pieces: TubePieces,
    radius: f32,
    /// Cosine and sine of the angle of each vertex of a ring; the last coincides with the first.
    around: Vec<Vec2>,
    rings: Vec<Ring>,
    bounds: Option<(Vec3, Vec3)>,
}

/// State of a tube that changes when it is cut.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct TubePieces {
    /// The particles along each piece. Pieces of a single particle are not drawn.
    pub(crate) chains: Vec<Vec<u32>>,
    /// First normal of each piece in the last write. The next write starts from it, so the tube does not spin as
    /// its end turns.
    normals: Vec<Option<Vec3>>,
    /// Distance of each particle from the start of the rope at rest, in circumferences.
    along: Vec<f32>,
}

impl TubePieces {
    /// Returns whether pieces read from a file are valid for this number of particles.
    pub(crate) fn are_valid(&self, particles: usize) -> bool {
        self.along.len() == particles
            && self.normals.len() == self.chains.len()
            && self
                .chains
                .iter()
                .all(|chain| !chain.is_empty() && chain.iter().all(|&i| (i as usize) < particles))
    }
}

/// Ring of vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ring {
    frame: CurveFrame,
    /// Radius of the ring, as a fraction of the tube's radius.
    scale: f32,
    /// Component of the normals along the tube, −1 to 1.
    lean: f32,
}

impl Tube {
    /// Creates a tube in one piece along the particles 0, 1, 2 and so on. `along` is the distance of each from the
    /// first one at rest, m; `radius` that of the tube, m; `sides` the number of vertices around it, at least 3.
    pub fn new(along: Vec<f32>, radius: f32, sides: u32) -> Self {
        let sides = sides.max(3);
        let circumference = TAU * radius;
        let around = (0..=sides).map(|side| {
            // The modulus makes the seam close to the last bit.
            let angle = TAU * (side % sides) as f32 / sides as f32;
            Vec2::new(angle.cos(), angle.sin())
        });
        Self {
            pieces: TubePieces {
                chains: vec![(0..along.len() as u32).collect()],
                normals: vec![None],
                along: along.iter().map(|metres| metres / circumference).collect(),
            },
            radius,
            around: around.collect(),
            rings: Vec::new(),
            bounds: None,
        }
    }

    /// Sets the radius for the next write, m. The texture coordinates do not change.
    pub fn set_radius(&mut self, radius: f32) {
        self.radius = radius;
    }

    /// Returns the low and high corner of the bounding box at the last write, m.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        self.bounds
    }

    /// Returns the pieces.
    pub(crate) fn pieces(&self) -> &TubePieces {
        &self.pieces
    }

    /// Replaces the pieces. If their particles differ, the mesh must then be replaced by a new
    /// [`mesh`](Self::mesh).
    pub(crate) fn set_pieces(&mut self, pieces: TubePieces) {
        self.pieces = pieces;
        // The rings are those of the previous pieces.
        self.rings.clear();
    }

    /// Restores a single piece along the first `particles`.
    pub(crate) fn restore(&mut self, particles: usize) {
        self.pieces.chains = vec![(0..particles as u32).collect()];
        self.pieces.normals.truncate(1);
        self.pieces.along.truncate(particles);
    }

    /// Returns the chain with a particle, and the particle's index in it.
    pub(crate) fn chain_with(&self, particle: u32) -> Option<(&[u32], usize)> {
        let [piece, index] = self.find(particle)?;
        Some((&self.pieces.chains[piece], index))
    }

    /// Returns the index of the piece with a particle, and the particle's index in its chain.
    fn find(&self, particle: u32) -> Option<[usize; 2]> {
        let mut chains = self.pieces.chains.iter().enumerate();
        chains.find_map(|(piece, chain)| {
            let index = chain.iter().position(|&i| i == particle)?;
            Some([piece, index])
        })
    }

    /// Cuts a piece in two: one part ends at particle `at`, the other starts with `copy`, a new particle at the
    /// same position. The mesh must then be replaced by a new [`mesh`](Self::mesh). Returns false, and changes
    /// nothing, if no cut is possible: `at` is not a particle of the tube, or is an end of a piece.
    pub fn split(&mut self, at: u32, copy: u32) -> bool {
        let Some([piece, index]) = self.find(at) else {
            return false;
        };
        if index == 0 || index + 1 == self.pieces.chains[piece].len() {
            return false;
        }
        // The new piece starts with its current normal there.
        let before: usize = self.pieces.chains[..piece]
            .iter()
            .map(|s| ring_count(s))
            .sum();
        let ring = self
            .rings
            .get(before + CAP_RINGS + index * RINGS_PER_SEGMENT);
        self.pieces.normals.push(ring.map(|ring| ring.frame.normal));
        let mut rest = vec![copy];
        rest.extend(self.pieces.chains[piece].drain(index + 1..));
        self.pieces.chains.push(rest);
        let copy = copy as usize;
        if self.pieces.along.len() <= copy {
            self.pieces.along.resize(copy + 1, 0.0);
        }
        self.pieces.along[copy] = self.pieces.along[at as usize];
        // The rings are those of the tube before the cut.
        self.rings.clear();
        true
    }

    /// Creates a mesh for all current pieces. Its positions are undefined until the first [`write`](Self::write).
    pub fn mesh(&self) -> Mesh {
        let columns = self.around.len() as u32;
        let mut uvs: Vec<[f32; 2]> = Vec::new();
        let mut indices: Vec<u32> = Vec::new();
        for chain in &self.pieces.chains {
            let base = uvs.len() as u32;
            for v in self.v_coordinates(chain) {
                uvs.extend((0..columns).map(|side| [side as f32 / (columns - 1) as f32, v]));
            }
            let rows = ring_count(chain) as u32;
            for row in 1..rows {
                for column in 1..columns {
                    let d = base + row * columns + column;
                    let (a, b, c) = (d - columns - 1, d - columns, d - 1);
                    // At a tip all vertices of a ring coincide.
                    if row > 1 {
                        indices.extend([a, c, b]);
                    }
                    if row + 1 < rows {
                        indices.extend([b, c, d]);
                    }
                }
            }
        }
        let count = uvs.len();
        Mesh::new(
            PrimitiveTopology::TriangleList,
            // Written in every frame and uploaded again.
            RenderAssetUsages::default(),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0; 3]; count])
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0, 1.0, 0.0]; count])
        .with_inserted_attribute(Mesh::ATTRIBUTE_TANGENT, vec![[1.0, 0.0, 0.0, 1.0]; count])
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
        .with_inserted_indices(Indices::U32(indices))
    }

    /// Writes positions, normals and tangents, given the particle positions in mesh space, m.
    pub fn write<P: Copy + Into<Vec3>>(
        &mut self,
        particles: &[P],
        mesh: &mut Mesh,
    ) -> Result<(), MeshAccessError> {
        self.update_rings(particles);
        let columns = self.around.len();
        let mut bounds: Option<(Vec3, Vec3)> = None;
        if let Some(VertexAttributeValues::Float32x3(positions)) =
            mesh.try_attribute_mut_option(Mesh::ATTRIBUTE_POSITION)?
        {
            for (row, ring) in positions.chunks_mut(columns).zip(&self.rings) {
                let reach = self.radius * ring.scale;
                for (position, side) in row.iter_mut().zip(&self.around) {
                    let vertex = ring.frame.position + outward(ring, *side) * reach;
                    *position = vertex.to_array();
                    let (low, high) = bounds.unwrap_or((vertex, vertex));
                    bounds = Some((low.min(vertex), high.max(vertex)));
                }
            }
        }
        self.bounds = bounds;
        if let Some(VertexAttributeValues::Float32x3(normals)) =
            mesh.try_attribute_mut_option(Mesh::ATTRIBUTE_NORMAL)?
        {
            for (row, ring) in normals.chunks_mut(columns).zip(&self.rings) {
                let lean = ring.frame.along * ring.lean;
                for (normal, side) in row.iter_mut().zip(&self.around) {
                    *normal = (outward(ring, *side) * ring.scale + lean).to_array();
                }
            }
        }
        if let Some(VertexAttributeValues::Float32x4(tangents)) =
            mesh.try_attribute_mut_option(Mesh::ATTRIBUTE_TANGENT)?
        {
            for (row, ring) in tangents.chunks_mut(columns).zip(&self.rings) {
                for (tangent, side) in row.iter_mut().zip(&self.around) {
                    // A quarter turn further.
                    let onward = outward(ring, Vec2::new(-side.y, side.x));
                    *tangent = onward.extend(1.0).to_array();
                }
            }
        }
        Ok(())
    }

    /// Returns v of each ring of a piece, in the order of the rings.
    fn v_coordinates(&self, chain: &[u32]) -> Vec<f32> {
        let at = |i: usize| self.pieces.along[chain[i] as usize];
        let mut v_coordinates = Vec::with_capacity(ring_count(chain));
        if chain.len() < 2 {
            return v_coordinates;
        }
        // v advances along a cap by the length of its quarter circle: the tip is a quarter of a circumference from
        // where the cap begins.
        let cap_ring = |ring: usize| 0.25 * ring as f32 / CAP_RINGS as f32;
        v_coordinates.extend((1..=CAP_RINGS).rev().map(|ring| at(0) - cap_ring(ring)));
        for i in 1..chain.len() {
            let (from, to) = (at(i - 1), at(i));
            v_coordinates
                .extend((0..RINGS_PER_SEGMENT).map(|s| from + (to - from) * fraction_of(s)));
        }
        let end = at(chain.len() - 1);
        v_coordinates.push(end);
        v_coordinates.extend((1..=CAP_RINGS).map(|ring| end + cap_ring(ring)));
        v_coordinates
    }

    fn update_rings<P: Copy + Into<Vec3>>(&mut self, particles: &[P]) {
        self.rings.clear();
        for (chain, first) in self.pieces.chains.iter().zip(&mut self.pieces.normals) {
            let count = chain.len();
            if count < 2 {
                continue;
            }
            let at = |i: usize| {
                let particle = particles.get(chain[i] as usize);
                particle.map_or(Vec3::ZERO, |&position| position.into())
            };
            let segment = |i: usize| {
                let (start, end) = (at(i), at(i + 1));
                let inner = |j: usize| (j < count).then(|| at(j));
                let (before, after) = (i.checked_sub(1).map(at), inner(i + 2));
                CurveSegment::new([
                    before.unwrap_or_else(|| beyond(start, end, after)),
                    start,
                    end,
                    after.unwrap_or_else(|| beyond(end, start, before)),
                ])
            };
            // Where the curve has no direction, keep the last one; at the start, use the first defined one.
            let begins = (1..count).find_map(|i| direction((at(i) - at(0)).into()));
            let begins = begins.map(Vec3::from);
            let along = segment(0).direction(0.0).or(begins).unwrap_or(Vec3::X);
            let wish = first.unwrap_or_else(|| along.any_orthonormal_vector());
            let mut frame = CurveFrame::new(at(0), along, wish);
            *first = Some(frame.normal);
            self.rings.extend(
                (1..=CAP_RINGS)
                    .rev()
                    .map(|i| cap_ring(frame, i, -self.radius)),
            );
            self.rings.push(side_ring(frame));
            for i in 0..count - 1 {
                let segment = segment(i);
                for section in 1..=RINGS_PER_SEGMENT {
                    let t = fraction_of(section);
                    let along = segment.direction(t).unwrap_or(frame.along);
                    frame = frame.next(segment.position(t), along);
                    self.rings.push(side_ring(frame));
                }
            }
            self.rings
                .extend((1..=CAP_RINGS).map(|i| cap_ring(frame, i, self.radius)));
        }
    }
}

/// Returns the number of rings of a piece.
fn ring_count(chain: &[u32]) -> usize {
    match chain.len() {
        0 | 1 => 0,
        count => (count - 1) * RINGS_PER_SEGMENT + 1 + 2 * CAP_RINGS,
    }
}

/// Returns the position of a ring on its curve segment, from 0 to 1.
fn fraction_of(section: usize) -> f32 {
    section as f32 / RINGS_PER_SEGMENT as f32
}

fn side_ring(frame: CurveFrame) -> Ring {
    Ring {
        frame,
        scale: 1.0,
        lean: 0.0,
    }
}

/// Returns ring `i` of the hemisphere at an end. `radius` is negative at the start of the tube.
fn cap_ring(mut frame: CurveFrame, i: usize, radius: f32) -> Ring {
    let (sin, cos) = if i == CAP_RINGS {
        (1.0, 0.0)
    } else {
        (FRAC_PI_2 * i as f32 / CAP_RINGS as f32).sin_cos()
    };
    frame.position += frame.along * (sin * radius);
    Ring {
        frame,
        scale: cos,
        lean: sin * radius.signum(),
    }
}

/// Returns the unit vector from the centre of a ring to one of its vertices. The orientation is chosen so that a
/// texture is not mirrored: u to the right where v points down.
fn outward(ring: &Ring, side: Vec2) -> Vec3 {
    let CurveFrame { along, normal, .. } = ring.frame;
    normal * side.x - along.cross(normal) * side.y
}

/// Returns the mean length of the axes of a matrix: its scale, if it is uniform. Avoids a cube root, whose last
/// bits differ between platforms.
pub(crate) fn mean_scale(to_world: Mat3) -> f32 {
    let axes = [to_world.x_axis, to_world.y_axis, to_world.z_axis];
    axes.iter().map(|axis| axis.length()).sum::<f32>() / 3.0
}

#[cfg(test)]
mod tests;
