//! Draws a rope: a smooth tube with round ends, in one piece or several.

use super::spline::{Frame, Piece, beyond};
use bevy::{
    asset::RenderAssetUsages,
    math::{Vec2, Vec3},
    mesh::{Indices, Mesh, MeshAccessError, PrimitiveTopology, VertexAttributeValues},
};
use std::f32::consts::{FRAC_PI_2, TAU};

/// Rings between two particles: with three, a bend of 30° from one segment to the next looks round.
const SECTIONS: usize = 3;

/// Rings of a cap besides the one where the tube begins; the last of them is its tip.
const CAP_RINGS: usize = 3;

/// A tube along particles, and how its mesh follows them.
///
/// Around it runs u from 0 to 1, along it v in the same measure, so that a square texture stays
/// square; tangents point where u grows. What is painted on it stays with its particles when it is
/// stretched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tube {
    pieces: Pieces,
    radius: f32,
    /// Cosine and sine of each vertex of a ring; the last is in the place of the first.
    around: Vec<Vec2>,
    rings: Vec<Ring>,
    bounds: Option<(Vec3, Vec3)>,
}

/// What becomes of a tube when it is cut.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Pieces {
    /// The particles along each piece. Pieces of one particle draw nothing.
    pub(crate) strands: Vec<Vec<u32>>,
    /// The first normal of each piece in the last picture: the next one starts from it, so that the
    /// tube does not spin as its end turns.
    normals: Vec<Option<Vec3>>,
    /// How far each particle is from the start of the rope at rest, in circumferences.
    along: Vec<f32>,
}

impl Pieces {
    /// Whether they can be those of so many particles: those from a file may be anything.
    pub(crate) fn are_sound(&self, particles: usize) -> bool {
        self.along.len() == particles
            && self.normals.len() == self.strands.len()
            && self.strands.iter().all(|strand| {
                !strand.is_empty() && strand.iter().all(|&i| (i as usize) < particles)
            })
    }
}

/// A ring of vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ring {
    frame: Frame,
    /// Share of the tube's radius.
    scale: f32,
    /// How much its normals lean towards the direction of the tube.
    lean: f32,
}

impl Tube {
    /// A tube in one piece along the particles 0, 1, 2 and so on. `along` says how far each is from
    /// the first one at rest (m), `radius` how thick the tube is (m), `sides` how many vertices it
    /// has around (at least 3).
    pub fn new(along: Vec<f32>, radius: f32, sides: u32) -> Self {
        let sides = sides.max(3);
        let circumference = TAU * radius;
        let around = (0..=sides).map(|side| {
            // Not `side` itself for the last one: the seam must close to the last bit.
            let angle = TAU * (side % sides) as f32 / sides as f32;
            Vec2::new(angle.cos(), angle.sin())
        });
        Self {
            pieces: Pieces {
                strands: vec![(0..along.len() as u32).collect()],
                normals: vec![None],
                along: along.iter().map(|metres| metres / circumference).collect(),
            },
            radius,
            around: around.collect(),
            rings: Vec::new(),
            bounds: None,
        }
    }

    /// The particles along each piece.
    pub fn strands(&self) -> &[Vec<u32>] {
        &self.pieces.strands
    }

    /// Draws it thicker or thinner from the next picture on, m. Its texture is not stretched anew.
    pub fn set_radius(&mut self, radius: f32) {
        self.radius = radius;
    }

    /// The lowest and highest corner of the box around what was last drawn, m.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        self.bounds
    }

    /// The pieces that it is in.
    pub(crate) fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Puts it into other pieces. If their particles are others, the mesh must then be replaced by
    /// another [`mesh`](Self::mesh).
    pub(crate) fn set_pieces(&mut self, pieces: Pieces) {
        self.pieces = pieces;
        // They describe the tube before.
        self.rings.clear();
    }

    /// Makes one piece of it again, along the first `particles`.
    pub(crate) fn mend(&mut self, particles: usize) {
        self.pieces.strands = vec![(0..particles as u32).collect()];
        self.pieces.normals.truncate(1);
        self.pieces.along.truncate(particles);
    }

    /// The strand with a particle, and the place of the particle in it.
    pub(crate) fn strand_with(&self, particle: u32) -> Option<(&[u32], usize)> {
        self.pieces.strands.iter().find_map(|strand| {
            let place = strand.iter().position(|&i| i == particle)?;
            Some((&strand[..], place))
        })
    }

    /// Cuts a piece in two: one part ends at particle `at`, the rest starts with `copy`, a new
    /// particle in the same place. The mesh must then be replaced by another [`mesh`](Self::mesh).
    /// Returns false, and changes nothing, if there is nothing to cut: `at` is no particle of it, or
    /// one where a piece begins or ends.
    pub fn split(&mut self, at: u32, copy: u32) -> bool {
        let found = self
            .pieces
            .strands
            .iter()
            .enumerate()
            .find_map(|(piece, strand)| {
                let place = strand.iter().position(|&particle| particle == at)?;
                Some((piece, place))
            });
        let Some((piece, place)) = found else {
            return false;
        };
        if place == 0 || place + 1 == self.pieces.strands[piece].len() {
            return false;
        }
        // The new piece starts with the normal that it has there now.
        let before: usize = self.pieces.strands[..piece]
            .iter()
            .map(|s| ring_count(s))
            .sum();
        let ring = self.rings.get(before + CAP_RINGS + place * SECTIONS);
        self.pieces.normals.push(ring.map(|ring| ring.frame.normal));
        let mut rest = vec![copy];
        rest.extend(self.pieces.strands[piece].drain(place + 1..));
        self.pieces.strands.push(rest);
        let copy = copy as usize;
        if self.pieces.along.len() <= copy {
            self.pieces.along.resize(copy + 1, 0.0);
        }
        self.pieces.along[copy] = self.pieces.along[at as usize];
        // They describe the tube before the cut.
        self.rings.clear();
        true
    }

    /// A mesh for all pieces as they are now. Its vertices are in no place before the first
    /// [`write`](Self::write).
    pub fn mesh(&self) -> Mesh {
        let columns = self.around.len() as u32;
        let mut uvs: Vec<[f32; 2]> = Vec::new();
        let mut indices: Vec<u32> = Vec::new();
        for strand in &self.pieces.strands {
            let base = uvs.len() as u32;
            for v in self.lengths(strand) {
                uvs.extend((0..columns).map(|side| [side as f32 / (columns - 1) as f32, v]));
            }
            let rows = ring_count(strand) as u32;
            for row in 1..rows {
                for column in 1..columns {
                    let d = base + row * columns + column;
                    let (a, b, c) = (d - columns - 1, d - columns, d - 1);
                    // At a tip all vertices of a ring are in one place.
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
            // It is written to in every frame and uploaded again.
            RenderAssetUsages::default(),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0; 3]; count])
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0, 1.0, 0.0]; count])
        .with_inserted_attribute(Mesh::ATTRIBUTE_TANGENT, vec![[1.0, 0.0, 0.0, 1.0]; count])
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
        .with_inserted_indices(Indices::U32(indices))
    }

    /// Writes positions, normals and tangents. `particles` are their positions in mesh space, m.
    pub fn write<P: Copy + Into<Vec3>>(
        &mut self,
        particles: &[P],
        mesh: &mut Mesh,
    ) -> Result<(), MeshAccessError> {
        self.lay_rings(particles);
        let columns = self.around.len();
        let mut bounds: Option<(Vec3, Vec3)> = None;
        if let Some(VertexAttributeValues::Float32x3(positions)) =
            mesh.try_attribute_mut_option(Mesh::ATTRIBUTE_POSITION)?
        {
            for (row, ring) in positions.chunks_mut(columns).zip(&self.rings) {
                let reach = self.radius * ring.scale;
                for (position, side) in row.iter_mut().zip(&self.around) {
                    let place = ring.frame.place + outward(ring, *side) * reach;
                    *position = place.to_array();
                    let (low, high) = bounds.unwrap_or((place, place));
                    bounds = Some((low.min(place), high.max(place)));
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
                    // A quarter turn on.
                    let onward = outward(ring, Vec2::new(-side.y, side.x));
                    *tangent = onward.extend(1.0).to_array();
                }
            }
        }
        Ok(())
    }

    /// v of each ring of a piece, as they are laid.
    fn lengths(&self, strand: &[u32]) -> Vec<f32> {
        let at = |i: usize| self.pieces.along[strand[i] as usize];
        let mut lengths = Vec::with_capacity(ring_count(strand));
        if strand.len() < 2 {
            return lengths;
        }
        // Over a cap as far as over its quarter circle: the tip is a quarter of a circumference
        // from where it begins.
        let cap = |ring: usize| 0.25 * ring as f32 / CAP_RINGS as f32;
        lengths.extend((1..=CAP_RINGS).rev().map(|ring| at(0) - cap(ring)));
        for i in 1..strand.len() {
            let (from, to) = (at(i - 1), at(i));
            lengths.extend((0..SECTIONS).map(|s| from + (to - from) * share(s)));
        }
        let end = at(strand.len() - 1);
        lengths.push(end);
        lengths.extend((1..=CAP_RINGS).map(|ring| end + cap(ring)));
        lengths
    }

    fn lay_rings<P: Copy + Into<Vec3>>(&mut self, particles: &[P]) {
        self.rings.clear();
        for (strand, first) in self.pieces.strands.iter().zip(&mut self.pieces.normals) {
            let count = strand.len();
            if count < 2 {
                continue;
            }
            let at = |i: usize| {
                let particle = particles.get(strand[i] as usize);
                particle.map_or(Vec3::ZERO, |&place| place.into())
            };
            let piece = |i: usize| {
                let (start, end) = (at(i), at(i + 1));
                let inner = |j: usize| (j < count).then(|| at(j));
                let (before, after) = (i.checked_sub(1).map(at), inner(i + 2));
                Piece::new([
                    before.unwrap_or_else(|| beyond(start, end, after)),
                    start,
                    end,
                    after.unwrap_or_else(|| beyond(end, start, before)),
                ])
            };
            // Where the curve stands still it goes on as before; at the start, as it soon will.
            let begins = (1..count).find_map(|i| (at(i) - at(0)).try_normalize());
            let along = piece(0).direction(0.0).or(begins).unwrap_or(Vec3::X);
            let wish = first.unwrap_or_else(|| along.any_orthonormal_vector());
            let mut frame = Frame::new(at(0), along, wish);
            *first = Some(frame.normal);
            self.rings
                .extend((1..=CAP_RINGS).rev().map(|i| cap(frame, i, -self.radius)));
            self.rings.push(tube(frame));
            for i in 0..count - 1 {
                let piece = piece(i);
                for section in 1..=SECTIONS {
                    let t = share(section);
                    let along = piece.direction(t).unwrap_or(frame.along);
                    frame = frame.next(piece.place(t), along);
                    self.rings.push(tube(frame));
                }
            }
            self.rings
                .extend((1..=CAP_RINGS).map(|i| cap(frame, i, self.radius)));
        }
    }
}

/// How many rings a piece has.
fn ring_count(strand: &[u32]) -> usize {
    match strand.len() {
        0 | 1 => 0,
        count => (count - 1) * SECTIONS + 1 + 2 * CAP_RINGS,
    }
}

/// Where on its piece of the curve a ring lies, from 0 to 1.
fn share(section: usize) -> f32 {
    section as f32 / SECTIONS as f32
}

fn tube(frame: Frame) -> Ring {
    Ring {
        frame,
        scale: 1.0,
        lean: 0.0,
    }
}

/// Ring `i` of the half sphere beyond an end. `radius` is negative at the start of the tube.
fn cap(mut frame: Frame, i: usize, radius: f32) -> Ring {
    let (sin, cos) = if i == CAP_RINGS {
        (1.0, 0.0)
    } else {
        (FRAC_PI_2 * i as f32 / CAP_RINGS as f32).sin_cos()
    };
    frame.place += frame.along * (sin * radius);
    Ring {
        frame,
        scale: cos,
        lean: sin * radius.signum(),
    }
}

/// The unit vector from the middle of a ring to one of its sides. They go round so that a texture is
/// not mirrored: u to the right where v goes down.
fn outward(ring: &Ring, side: Vec2) -> Vec3 {
    let Frame { along, normal, .. } = ring.frame;
    normal * side.x - along.cross(normal) * side.y
}

#[cfg(test)]
mod tests;
