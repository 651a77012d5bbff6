//! Particles that lie in memory as a grid.

/// Range of particles that forms a grid: `rows` rows of `columns` particles, row by row, from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct GridLayout {
    /// Index of the particle at row 0, column 0.
    pub first: u32,
    /// Particles in a row, at least 2.
    pub columns: u32,
    /// Rows, at least 2.
    pub rows: u32,
}

impl GridLayout {
    /// Returns the number of particles.
    pub fn len(&self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// Returns whether the grid has no particles.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the indices of the particles.
    pub fn particles(&self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.len()
    }

    /// Returns row and column of a particle, if it belongs to this grid.
    pub(in crate::solver) fn row_column(&self, particle: u32) -> Option<[usize; 2]> {
        let i = particle.checked_sub(self.first)? as usize;
        let columns = self.columns as usize;
        (i < self.len()).then(|| [i / columns, i % columns])
    }
}
