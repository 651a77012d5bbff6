//! Distance constraints: pairs of particles that want to keep their rest length.
//!
//! They are stored as arrays, in the order in which they are solved, cut into batches
//! (`batches.rs`).

use super::{
    batches::{self, Batch},
    general::{Bundle, braid},
    sheet::{Sheet, SheetLayout},
    soa::SoaVec3,
    sort::sort_near,
};

/// What a constraint resists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum ConstraintKind {
    /// A thread: an edge of the mesh. Resists stretching.
    Structural,
    /// A diagonal of a quad. Resists shearing.
    Shear,
    /// Reaches over an edge or along two threads. Resists bending.
    Bend,
}

impl ConstraintKind {
    /// The kinds in the order in which they are solved: the last one to be solved is the one that
    /// is satisfied best, and that must be the threads.
    pub const SOLVE_ORDER: [Self; 3] = [Self::Bend, Self::Shear, Self::Structural];

    pub(super) fn solve_rank(self) -> usize {
        match self {
            Self::Bend => 0,
            Self::Shear => 1,
            Self::Structural => 2,
        }
    }
}

/// How much each kind of constraint gives, in m/N (inverse stiffness; 0 is Jakobsen's rigid stick).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Compliance {
    /// Of structural constraints, m/N.
    pub stretch: f32,
    /// Of shear constraints, m/N.
    pub shear: f32,
    /// Of bend constraints, m/N.
    pub bend: f32,
}

impl Compliance {
    /// The compliance of one kind, m/N.
    pub fn of(&self, kind: ConstraintKind) -> f32 {
        match kind {
            ConstraintKind::Structural => self.stretch,
            ConstraintKind::Shear => self.shear,
            ConstraintKind::Bend => self.bend,
        }
    }
}

/// One distance constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct DistanceConstraint {
    /// What it resists.
    pub kind: ConstraintKind,
    /// The two particles.
    pub particles: [u32; 2],
    /// Length that it wants to keep, m.
    pub rest_length: f32,
}

/// All distance constraints of a cloth.
///
/// Those of its [sheets](SheetLayout) are stored row by row, those along threads that run straight on
/// in bundles, all others in batches, with indices.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct ConstraintGraph {
    pub(super) batches: Vec<Batch>,
    pub(super) strands: Vec<Bundle>,
    pub(super) sheets: Vec<Sheet>,
}

impl ConstraintGraph {
    /// Constraints between pairs of particles that are now at their rest lengths.
    ///
    /// A pair that is named twice becomes one constraint, of the first kind in the order
    /// structural, shear, bend. Pairs of a particle with itself or with one that does not exist
    /// are left out.
    pub fn new(positions: &SoaVec3, pairs: &[(ConstraintKind, u32, u32)]) -> Self {
        Self::woven(positions, pairs, &[])
    }

    /// The same, where some of the particles lie in sheets. Sheets that reach beyond the particles,
    /// or over others, are ignored.
    pub fn woven(
        positions: &SoaVec3,
        pairs: &[(ConstraintKind, u32, u32)],
        sheets: &[SheetLayout],
    ) -> Self {
        let count = positions.len() as u32;
        let mut sorted: Vec<(u32, u32, ConstraintKind)> = pairs
            .iter()
            .map(|&(kind, a, b)| (a.min(b), a.max(b), kind))
            .filter(|&(a, b, _)| a != b && b < count)
            .collect();
        sort_near(&mut sorted, positions.len(), |&(a, ..)| a);
        sorted.dedup_by_key(|&mut (a, b, _)| (a, b));

        let mut end = 0;
        let mut woven: Vec<Sheet> = Vec::new();
        for layout in sheets {
            let particles = layout.particles();
            let fits = layout.rows >= 2 && layout.columns >= 2 && particles.end <= positions.len();
            if fits && particles.start >= end {
                end = particles.end;
                woven.push(Sheet::new(*layout));
            }
        }
        sorted.retain(|&(a, b, kind)| {
            // Sheets are in the order of their particles.
            let after = woven.partition_point(|sheet| sheet.layout.first <= a);
            let sheet = after.checked_sub(1).map(|number| &mut woven[number]);
            !sheet.is_some_and(|sheet| sheet.weave_in(kind, [a, b], positions))
        });
        let strands = braid(positions, &mut sorted);
        Self {
            batches: batches::arrange(positions, sorted),
            strands,
            sheets: woven,
        }
    }

    /// Once a step, before the first [`relax`](super::relax()): brings up to date what follows from
    /// rest lengths and masses.
    pub fn prepare(&mut self, particles: &super::ParticleArrays) {
        for sheet in &mut self.sheets {
            sheet.prepare(particles);
        }
    }

    /// Whether its sheets and strands are what they have to be: one read from a file may be anything.
    pub(crate) fn has_sound_threads(&self, particles: usize) -> bool {
        let mut sheets = self.sheets.iter();
        let mut strands = self.strands.iter();
        sheets.all(|sheet| sheet.is_sound(particles))
            && strands.all(|bundle| bundle.is_sound(particles))
    }

    /// The sheets that were found in the cloth.
    pub fn sheets(&self) -> impl Iterator<Item = SheetLayout> + '_ {
        self.sheets.iter().map(|sheet| sheet.layout)
    }

    /// How many constraints there are.
    pub fn len(&self) -> usize {
        let batches: usize = self.batches.iter().map(|b| b.pairs.len()).sum();
        let strands: usize = self.strands.iter().map(Bundle::len).sum();
        batches + strands + self.sheets.iter().map(Sheet::len).sum::<usize>()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many constraints of one kind there are.
    pub fn count(&self, kind: ConstraintKind) -> usize {
        let of_kind = self.batches.iter().filter(|b| b.kind == kind);
        let families = self.sheets.iter().flat_map(|sheet| &sheet.families);
        let woven = families.filter(|family| family.kind() == kind);
        let lines = self.strands.iter().flat_map(|bundle| &bundle.lines);
        let lines = lines.filter(|line| line.kind == kind);
        of_kind.map(|b| b.pairs.len()).sum::<usize>()
            + lines.map(|line| line.len()).sum::<usize>()
            + woven.map(|f| f.len()).sum::<usize>()
    }

    /// How many batches the constraints are in; constraints of one batch share no particle, except
    /// in the last one of a kind, if that takes what did not fit elsewhere.
    pub fn batch_count(&self) -> usize {
        self.batches.len()
    }

    /// All constraints.
    pub fn iter(&self) -> impl Iterator<Item = DistanceConstraint> + '_ {
        let single = self.batches.iter().flat_map(|batch| {
            let both = batch.pairs.iter().zip(&batch.rest);
            both.map(|(&particles, &rest_length)| DistanceConstraint {
                kind: batch.kind,
                particles,
                rest_length,
            })
        });
        let strands = self.strands.iter().flat_map(Bundle::iter);
        self.sheets
            .iter()
            .flat_map(Sheet::iter)
            .chain(strands)
            .chain(single)
    }

    /// Particles and rest lengths of one kind.
    pub fn of_kind(&self, kind: ConstraintKind) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
        let woven = self.sheets.iter().flat_map(move |sheet| {
            let families = sheet.families.iter().filter(move |f| f.kind() == kind);
            families.flat_map(|family| family.iter(&sheet.layout))
        });
        let batches = self.batches.iter().filter(move |b| b.kind == kind);
        let single = batches.flat_map(|b| b.pairs.iter().copied().zip(b.rest.iter().copied()));
        let strands = self.strands.iter().flat_map(move |bundle| {
            let lines = bundle.lines.iter().filter(move |line| line.kind == kind);
            lines.flat_map(|line| bundle.along(line))
        });
        woven
            .chain(strands)
            .map(|(_, c)| (c.particles, c.rest_length))
            .chain(single)
    }

    /// Takes the distances between particles at these positions as the new rest lengths.
    pub fn set_rest_lengths(&mut self, positions: &SoaVec3) {
        for sheet in &mut self.sheets {
            for family in &mut sheet.families {
                family.set_rest_lengths(&sheet.layout, positions);
            }
            sheet.changed();
        }
        for bundle in &mut self.strands {
            bundle.set_rest_lengths(positions);
        }
        for batch in &mut self.batches {
            for (rest, &[a, b]) in batch.rest.iter_mut().zip(&batch.pairs) {
                *rest = distance(positions, a, b);
            }
        }
    }

    /// The rest lengths, m, in the order of [`iter`](Self::iter). What is written here holds from the
    /// next step on; at least 0.
    pub fn rest_lengths_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        let woven = self.sheets.iter_mut().flat_map(|sheet| {
            sheet.outdate();
            let rest = sheet
                .families
                .iter_mut()
                .flat_map(|family| &mut family.rest);
            rest.filter(|rest| **rest >= 0.0)
        });
        let lines = self.strands.iter_mut().flat_map(|bundle| &mut bundle.lines);
        let strands = lines.flat_map(|line| &mut line.rest);
        let batches = self.batches.iter_mut();
        woven
            .chain(strands.filter(|rest| **rest >= 0.0))
            .chain(batches.flat_map(|batch| &mut batch.rest))
    }

    /// Removes all constraints for which `keep` is false: those of a kind, say, or of a region.
    ///
    /// ```
    /// # use bevy_drape::solver::{ConstraintGraph, ConstraintKind};
    /// fn only_threads(constraints: &mut ConstraintGraph) {
    ///     constraints.retain(|constraint| constraint.kind == ConstraintKind::Structural);
    /// }
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(&DistanceConstraint) -> bool) {
        for sheet in &mut self.sheets {
            for family in &mut sheet.families {
                family.retain(&sheet.layout, &mut keep);
            }
            sheet.changed();
        }
        for bundle in &mut self.strands {
            bundle.retain(&mut keep);
        }
        self.strands.retain(|bundle| bundle.len() > 0);
        for batch in &mut self.batches {
            let kind = batch.kind;
            batch.retain(|&particles, &rest_length| {
                keep(&DistanceConstraint {
                    kind,
                    particles,
                    rest_length,
                })
            });
        }
        self.batches.retain(|batch| !batch.pairs.is_empty());
    }
}

/// The distance between two particles, by exactly the arithmetic that relaxation uses: a cloth at
/// its rest lengths then has no error at all, and stays where it is to the last bit.
pub(super) fn distance(positions: &SoaVec3, a: u32, b: u32) -> f32 {
    let (a, b) = (a as usize, b as usize);
    let dx = positions.x[b] - positions.x[a];
    let dy = positions.y[b] - positions.y[a];
    let dz = positions.z[b] - positions.z[a];
    (dx * dx + dy * dy + dz * dz).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::math::Vec3;

    #[test]
    fn doubtful_pairs_are_sorted_out() {
        let positions: SoaVec3 = (0..3).map(|i| Vec3::X * i as f32).collect();
        let graph = ConstraintGraph::new(
            &positions,
            &[
                (ConstraintKind::Bend, 0, 1),
                (ConstraintKind::Structural, 1, 0),
                (ConstraintKind::Shear, 2, 2),
                (ConstraintKind::Shear, 2, 3),
                (ConstraintKind::Bend, 2, 0),
            ],
        );
        let all: Vec<_> = graph.iter().collect();
        assert_eq!(all.len(), 2);
        assert_eq!(
            all[0],
            DistanceConstraint {
                kind: ConstraintKind::Bend,
                particles: [0, 2],
                rest_length: 2.0
            }
        );
        assert_eq!(all[1].kind, ConstraintKind::Structural);
        assert_eq!(graph.count(ConstraintKind::Shear), 0);
    }
}
