//! What holds a cloth together: pairs of particles that want to keep their rest length, and places that
//! resist being bent (`bend.rs`).
//!
//! They are stored as arrays, in the order in which they are solved, cut into batches
//! (`batches.rs`).

use super::{
    aspect::Aspects,
    batches::{self, Batch},
    bend::{self, Bend, Hinge, Neighbours},
    crew::Leader,
    general::{Bundle, InStrands, braid},
    particles::ParticleArrays,
    sheet::{Sheet, SheetLayout},
    soa::SoaVec3,
    sort::sort_near,
    spin::Spin,
};

/// What a constraint resists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum ConstraintKind {
    /// A thread: an edge of the mesh. Resists stretching.
    Structural,
    /// A diagonal of a quad. Resists shearing.
    Shear,
    /// Reaches over a particle along a thread, or over an edge. Resists bending.
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

/// How much a fabric gives where it is stretched and sheared, in m/N (one over its stiffness, which is the
/// force for each metre of width and unit of strain; 0 is rigid), and how stiff it is where it bends. What a
/// distance constraint gives is this times length over width of the strip that it stands for, which is 1
/// where cells are square ([`ConstraintGraph::measure_aspects`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Compliance {
    /// Of threads from row to row of a sheet, m/N.
    pub warp: f32,
    /// Of threads along its rows, m/N. What is in no sheet has the mean stiffness of both.
    pub weft: f32,
    /// Of diagonals, m/N.
    pub shear: f32,
    /// Bending stiffness, N·m (bending moment per width and curvature); 0 bends freely.
    pub bending: f32,
}

impl Compliance {
    /// The same for threads in both directions.
    pub fn of_threads(compliance: f32) -> Self {
        Self {
            warp: compliance,
            weft: compliance,
            ..Self::default()
        }
    }

    /// The compliance of distance constraints of one kind, m/N; of threads that of their mean stiffness.
    pub fn of(&self, kind: ConstraintKind) -> f32 {
        match kind {
            // Equal ones are their mean to the last bit.
            ConstraintKind::Structural if self.warp == self.weft => self.warp,
            ConstraintKind::Structural if self.warp.min(self.weft) <= 0.0 => 0.0,
            ConstraintKind::Structural => 2.0 / (self.warp.recip() + self.weft.recip()),
            ConstraintKind::Shear => self.shear,
            // Its compliance is another one at each place of the mesh.
            ConstraintKind::Bend => 0.0,
        }
    }

    /// Whether any threads give.
    pub fn is_elastic(&self) -> bool {
        self.warp > 0.0 || self.weft > 0.0
    }
}

/// One constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct DistanceConstraint {
    /// What it resists.
    pub kind: ConstraintKind,
    /// The two particles; of a bend, its ends.
    pub particles: [u32; 2],
    /// Length that it wants to keep, m. Of a bend it is no length, but what its compliance is times the
    /// bending stiffness, in m².
    pub rest_length: f32,
    /// The particle (twice) or the two particles of the edge over which a bend reaches.
    pub over: Option<[u32; 2]>,
}

impl DistanceConstraint {
    /// Whether a particle is one of those that it holds together.
    pub fn touches(&self, particle: u32) -> bool {
        self.particles.contains(&particle) || self.over.is_some_and(|over| over.contains(&particle))
    }

    /// A bend.
    pub(super) fn of_hinge(hinge: &Hinge) -> Self {
        Self {
            kind: ConstraintKind::Bend,
            particles: hinge.at.ends,
            rest_length: hinge.give,
            over: Some(hinge.at.over),
        }
    }
}

/// All constraints of a cloth.
///
/// Those of its [sheets](SheetLayout) are stored row by row, those along threads that run straight on
/// in bundles, all others with indices: distances in batches, bends in a list.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct ConstraintGraph {
    pub(super) batches: Vec<Batch>,
    pub(super) strands: Vec<Bundle>,
    pub(super) sheets: Vec<Sheet>,
    /// Bends that are not in sheets or bundles.
    pub(super) hinges: Vec<Hinge>,
    /// Of distances that are in no sheet.
    pub(super) aspects: Aspects,
    /// What relaxation takes of the angular momentum, in the running step.
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub(super) spin: Spin,
}

impl ConstraintGraph {
    /// Distance constraints between pairs of particles that are now at their rest lengths.
    ///
    /// A pair that is named twice becomes one constraint, of the first kind in the order
    /// structural, shear. Pairs of a particle with itself or with one that does not exist are left out,
    /// and so are bends, which are more than a pair: see [`add_bends`](Self::add_bends).
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
            .filter(|&(a, b, kind)| a != b && b < count && kind != ConstraintKind::Bend)
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
            hinges: Vec::new(),
            aspects: Aspects::default(),
            spin: Spin::default(),
        }
    }

    /// Adds what resists bending at these places. Particles are now at their rest positions, and the
    /// threads must be there already: they tell how wide the cloth is at each place. Places with particles
    /// that do not exist or that are too near each other to tell a curve are left out.
    pub fn add_bends(&mut self, positions: &SoaVec3, bends: &[Bend]) {
        let mut bends: Vec<Bend> = bends
            .iter()
            .copied()
            .filter(|bend| bend.is_sound(positions.len()))
            .collect();
        sort_near(&mut bends, positions.len(), |bend| bend.ends[0]);
        bends.dedup();
        let neighbours = self.neighbours(positions.len());
        let found = bends
            .into_iter()
            .filter_map(|at| Hinge::at_rest(at, positions, &neighbours));
        let mut in_strands = InStrands::new(&self.strands);
        for hinge in found {
            let taken = hinge.is_plain()
                && (self.weave_in_bend(&hinge) || in_strands.take(&mut self.strands, &hinge));
            if !taken {
                self.hinges.push(hinge);
            }
        }
        bend::spread(&mut self.hinges, positions.len());
    }

    fn neighbours(&self, particles: usize) -> Neighbours {
        let threads = self.of_kind(ConstraintKind::Structural);
        Neighbours::new(threads.map(|(pair, _)| pair), particles)
    }

    fn weave_in_bend(&mut self, hinge: &Hinge) -> bool {
        let [a, b] = hinge.at.ends;
        let after = self
            .sheets
            .partition_point(|sheet| sheet.layout.first <= a.min(b));
        let sheet = after.checked_sub(1).map(|number| &mut self.sheets[number]);
        sheet.is_some_and(|sheet| sheet.weave_in_bend(hinge))
    }

    /// Measures all bends anew, for particles at these rest positions. What is no even and straight
    /// thread any more leaves its sheet or bundle.
    fn measure_bends(&mut self, positions: &SoaVec3) {
        let neighbours = self.neighbours(positions.len());
        let mut uneven = Vec::new();
        let mut measure =
            |at: Bend, give: &mut f32| match Hinge::at_rest(at, positions, &neighbours) {
                Some(hinge) if hinge.is_plain() => *give = hinge.give,
                other => {
                    uneven.extend(other);
                    *give = GONE;
                }
            };
        for sheet in &mut self.sheets {
            for family in &mut sheet.families {
                family.measure_bends(&sheet.layout, &mut measure);
            }
            sheet.changed();
        }
        for bundle in &mut self.strands {
            bundle.measure_bends(&mut measure);
        }
        self.hinges = std::mem::take(&mut self.hinges)
            .into_iter()
            .filter_map(|hinge| Hinge::at_rest(hinge.at, positions, &neighbours))
            .collect();
        if !uneven.is_empty() {
            self.hinges.extend(uneven);
            bend::spread(&mut self.hinges, positions.len());
        }
    }

    /// How much each bend gives (ρ in m², compliance times bending stiffness), in the order of
    /// [`iter`](Self::iter).
    pub(crate) fn bend_gives_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        let bends = |kind| kind == ConstraintKind::Bend;
        let families = self.sheets.iter_mut().flat_map(|sheet| &mut sheet.families);
        let woven = families.filter(move |family| bends(family.kind()));
        let lines = self.strands.iter_mut().flat_map(|bundle| &mut bundle.lines);
        let lines = lines.filter(move |line| bends(line.kind));
        woven
            .flat_map(|family| &mut family.rest)
            .chain(lines.flat_map(|line| &mut line.rest))
            .filter(|give| **give >= 0.0)
            .chain(self.hinges.iter_mut().map(|hinge| &mut hinge.give))
    }

    /// Makes each bend stiffer by the geometric mean of what `multiple` gives for what it is over.
    pub(crate) fn stiffen_bends(&mut self, multiple: impl Fn(u32) -> f32) {
        let bends = self.iter().filter(|c| c.kind == ConstraintKind::Bend);
        let multiples: Vec<f32> = bends
            .map(|bend| {
                let [a, b] = bend.over.unwrap_or(bend.particles);
                (multiple(a) * multiple(b)).sqrt()
            })
            .collect();
        for (give, multiple) in self.bend_gives_mut().zip(multiples) {
            *give /= multiple;
        }
    }

    /// Once a step, before the first [`relax`](super::relax()): brings up to date what follows from
    /// rest lengths and masses.
    pub fn prepare(&mut self, particles: &ParticleArrays) {
        self.spin.begin(particles);
        for sheet in &mut self.sheets {
            sheet.prepare(particles);
        }
    }

    /// Once a step, after the last substep: a cloth without pins gets back what of its momentum and angular
    /// momentum [`relax`](super::relax()), called once in each substep, has lost since the step was
    /// [prepared](Self::prepare); not if anything `touched` the cloth or held it.
    pub fn finish(&mut self, particles: &mut ParticleArrays, touched: bool) {
        if touched {
            self.spin.forget();
        } else {
            self.spin.give_back(particles);
        }
    }

    /// Before [`relax`](super::relax()): what others have moved since integration is not its doing.
    pub(crate) fn disregard_moves(&mut self, leader: &mut Leader, particles: &ParticleArrays) {
        self.spin.disregard(leader, particles);
    }

    /// Something touches the cloth, or it was put somewhere else: in this step it gets nothing back.
    pub(crate) fn forget_spin(&mut self) {
        self.spin.forget();
    }

    /// Whether its sheets and strands are what they have to be: one read from a file may be anything.
    pub(crate) fn has_sound_threads(&self, particles: usize) -> bool {
        let mut sheets = self.sheets.iter();
        let mut strands = self.strands.iter();
        sheets.all(|sheet| sheet.is_sound(particles))
            && strands.all(|bundle| bundle.is_sound(particles))
            && self.hinges.iter().all(|hinge| hinge.at.is_sound(particles))
            && self.aspects.is_sound()
    }

    /// The sheets that were found in the cloth.
    pub fn sheets(&self) -> impl Iterator<Item = SheetLayout> + '_ {
        self.sheets.iter().map(|sheet| sheet.layout)
    }

    /// How many constraints there are.
    pub fn len(&self) -> usize {
        let batches: usize = self.batches.iter().map(|b| b.pairs.len()).sum();
        let strands: usize = self.strands.iter().map(Bundle::len).sum();
        batches + strands + self.hinges.len() + self.sheets.iter().map(Sheet::len).sum::<usize>()
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
        let hinges = match kind {
            ConstraintKind::Bend => self.hinges.len(),
            _ => 0,
        };
        hinges
            + of_kind.map(|b| b.pairs.len()).sum::<usize>()
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
                over: None,
            })
        });
        let strands = self.strands.iter().flat_map(Bundle::iter);
        self.sheets
            .iter()
            .flat_map(Sheet::iter)
            .chain(strands)
            .chain(single)
            .chain(self.hinges.iter().map(DistanceConstraint::of_hinge))
    }

    /// Particles and rest lengths of the distance constraints of one kind.
    pub fn of_kind(&self, kind: ConstraintKind) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
        let is_length = kind != ConstraintKind::Bend;
        let woven = self.sheets.iter().flat_map(move |sheet| {
            let families = sheet.families.iter();
            let families = families.filter(move |f| is_length && f.kind() == kind);
            families.flat_map(|family| family.iter(&sheet.layout))
        });
        woven
            .map(|(_, c)| (c.particles, c.rest_length))
            .chain(self.outside_sheets(kind))
    }

    /// Those that are in no sheet.
    pub(super) fn outside_sheets(
        &self,
        kind: ConstraintKind,
    ) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
        let batches = self.batches.iter().filter(move |b| b.kind == kind);
        let single = batches.flat_map(|b| b.pairs.iter().copied().zip(b.rest.iter().copied()));
        let strands = self.strands.iter().flat_map(move |bundle| {
            let lines = bundle.lines.iter();
            let is_length = kind != ConstraintKind::Bend;
            let lines = lines.filter(move |line| is_length && line.kind == kind);
            lines.flat_map(|line| bundle.along(line))
        });
        strands
            .map(|(_, c)| (c.particles, c.rest_length))
            .chain(single)
    }

    /// Takes the distances between particles at these positions as the new rest lengths, and their curves as
    /// the new ones at rest.
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
        self.measure_bends(positions);
    }

    /// The rest lengths of distance constraints, m, in the order of [`iter`](Self::iter). What is written here holds from the
    /// next step on; at least 0.
    pub fn rest_lengths_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        let woven = self.sheets.iter_mut().flat_map(|sheet| {
            sheet.outdate();
            let families = sheet.families.iter_mut();
            let lengths = families.filter(|family| family.kind() != ConstraintKind::Bend);
            let rest = lengths.flat_map(|family| &mut family.rest);
            rest.filter(|rest| **rest >= 0.0)
        });
        let lines = self.strands.iter_mut().flat_map(|bundle| &mut bundle.lines);
        let lengths = lines.filter(|line| line.kind != ConstraintKind::Bend);
        let strands = lengths.flat_map(|line| &mut line.rest);
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
                    over: None,
                })
            });
        }
        self.batches.retain(|batch| !batch.pairs.is_empty());
        self.hinges
            .retain(|hinge| keep(&DistanceConstraint::of_hinge(hinge)));
    }
}

/// Stands for a constraint that is not there.
const GONE: f32 = -1.0;

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
        let mut graph = ConstraintGraph::new(
            &positions,
            &[
                (ConstraintKind::Shear, 0, 1),
                (ConstraintKind::Structural, 1, 0),
                (ConstraintKind::Shear, 2, 2),
                (ConstraintKind::Shear, 2, 3),
                (ConstraintKind::Bend, 2, 0),
            ],
        );
        let bends = [[0, 1, 2], [0, 1, 2], [0, 0, 1], [0, 1, 3]].map(Bend::along);
        graph.add_bends(&positions, &bends);
        let all: Vec<_> = graph.iter().collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].kind, ConstraintKind::Structural);
        assert_eq!(
            all[1],
            DistanceConstraint {
                kind: ConstraintKind::Bend,
                particles: [0, 2],
                rest_length: 1.0,
                over: Some([1, 1]),
            }
        );
        assert_eq!(graph.count(ConstraintKind::Shear), 0);
    }
}
