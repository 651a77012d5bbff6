//! Record of a topology edit, from which data kept per particle and per triangle can be updated.

/// Particle created by an edit, on the line between two parents; a copy has the same parent twice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewParticle {
    /// Particles with lower numbers.
    pub parents: [u32; 2],
    /// Position between the first and the second parent, 0 to 1.
    pub fraction: f32,
}

/// Point on the boundary of a triangle: on the side from one corner (0, 1, 2) to another, or, if both are equal,
/// at that corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundaryPoint {
    /// First corner of the side.
    pub from: u8,
    /// Second corner of the side.
    pub to: u8,
    /// Position along the side, 0 to 1.
    pub fraction: f32,
}

impl BoundaryPoint {
    /// Returns the point at a corner.
    pub(super) fn at(corner: u8) -> Self {
        Self {
            from: corner,
            to: corner,
            fraction: 0.0,
        }
    }

    /// Returns the barycentric coordinates.
    pub fn weights(&self) -> [f32; 3] {
        let mut weights = [0.0; 3];
        weights[self.from as usize] += 1.0 - self.fraction;
        weights[self.to as usize] += self.fraction;
        weights
    }

    /// Returns the position along the side between two corners, 0 to 1; `None` if the point is not on that side.
    pub(super) fn along(&self, side: [u8; 2]) -> Option<f32> {
        let [a, b] = side;
        match (self.from, self.to) {
            (f, t) if f == t && f == a => Some(0.0),
            (f, t) if f == t && f == b => Some(1.0),
            (f, t) if [f, t] == [a, b] => Some(self.fraction),
            (f, t) if [f, t] == [b, a] => Some(1.0 - self.fraction),
            _ => None,
        }
    }
}

/// A triangle that replaces another one or a part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrianglePiece {
    /// Number of the triangle.
    pub triangle: u32,
    /// Positions of its corners on the replaced triangle.
    pub corners: [BoundaryPoint; 3],
    /// The particles at its corners.
    pub particles: [u32; 3],
}

/// Triangle changed by an edit.
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleReplacement {
    /// Number of the triangle.
    pub triangle: u32,
    /// The particles at its corners before the edit.
    pub corners_before: [u32; 3],
    /// The triangles that replace it; the first one has the same number.
    pub pieces: Vec<TrianglePiece>,
}

/// Everything changed by an edit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopologyChanges {
    /// The new particles, in the order of their numbers.
    pub new_particles: Vec<NewParticle>,
    /// The changed triangles, in ascending order.
    pub replaced: Vec<TriangleReplacement>,
    /// Broken and opened edges, as pairs of particles.
    pub opened_edges: Vec<[u32; 2]>,
    /// Particles with a changed area, and the new area, in units of the rest areas.
    pub areas: Vec<(u32, f32)>,
}
