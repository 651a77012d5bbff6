//! What an operation has changed, in terms that whoever keeps books of a cloth can follow.

/// A particle that an operation has made. It lies on the line between two others; a copy has twice
/// the same parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fresh {
    /// Particles with lower numbers.
    pub parents: [u32; 2],
    /// How far it is from the first to the second, 0 to 1.
    pub share: f32,
}

/// A place on the rim of a triangle: on the way from one of its corners (0, 1, 2) to another, or, if
/// both are the same, that corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Where the way begins.
    pub from: u8,
    /// Where it ends.
    pub to: u8,
    /// How much of it is gone, 0 to 1.
    pub share: f32,
}

impl Corner {
    /// A corner itself.
    pub(super) fn at(corner: u8) -> Self {
        Self {
            from: corner,
            to: corner,
            share: 0.0,
        }
    }

    /// Barycentric coordinates.
    pub fn weights(&self) -> [f32; 3] {
        let mut weights = [0.0; 3];
        weights[self.from as usize] += 1.0 - self.share;
        weights[self.to as usize] += self.share;
        weights
    }

    /// How far along the side from one corner to another it lies; `None` if it is not on that side.
    pub(super) fn along(&self, side: [u8; 2]) -> Option<f32> {
        let [a, b] = side;
        match (self.from, self.to) {
            (f, t) if f == t && f == a => Some(0.0),
            (f, t) if f == t && f == b => Some(1.0),
            (f, t) if [f, t] == [a, b] => Some(self.share),
            (f, t) if [f, t] == [b, a] => Some(1.0 - self.share),
            _ => None,
        }
    }
}

/// What is in the place of a triangle, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Its number.
    pub triangle: u32,
    /// Where its corners are on the triangle that was there before.
    pub corners: [Corner; 3],
    /// The particles at its corners.
    pub particles: [u32; 3],
}

/// A triangle that has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Replaced {
    /// Its number.
    pub triangle: u32,
    /// The particles that were at its corners.
    pub before: [u32; 3],
    /// What is there now; the first one has the same number.
    pub pieces: Vec<Piece>,
}

/// What an operation has changed, for those who keep books of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The particles that came, in the order of their numbers.
    pub fresh: Vec<Fresh>,
    /// The triangles that changed, in ascending order.
    pub replaced: Vec<Replaced>,
    /// Threads that broke and edges that opened, as pairs of particles.
    pub opened: Vec<[u32; 2]>,
    /// Particles whose share of the area changed, and what it is now, in units of the rest areas.
    pub areas: Vec<(u32, f32)>,
}

impl Changes {
    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.replaced.is_empty()
    }
}
