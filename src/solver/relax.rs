//! Relaxation: every constraint in turn moves its two particles to where it holds.
//!
//! With compliance 0 this is Jakobsen's "Advanced Character Physics" (2001); with compliance it is
//! XPBD (Macklin, Müller, Chentanez 2016), and with one iteration a substep it is "Small Steps in
//! Physics Simulation" (Macklin et al. 2019). It is the same code.

use super::{
    aligned::AlignedVec,
    batches::Batch,
    constraints::{Compliance, ConstraintGraph, ConstraintKind},
    crew::Leader,
    general::{General, GeneralSoftness, relax_general},
    glide::{Strength, TAUT},
    particles::ParticleArrays,
    sheet::{SheetSoftness, relax_sheet},
    soa::SoaVec3,
    thread::LONGEST,
};
use bevy::reflect::{Reflect, prelude::ReflectDefault};
#[cfg(feature = "serialize")]
use {
    bevy::reflect::{ReflectDeserialize, ReflectSerialize},
    serde::{Deserialize, Serialize},
};

/// How threads are solved.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default, Clone, Debug, PartialEq, Hash)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum ThreadSolver {
    /// Each thread as a whole, in a grid also with a hierarchy of long distances above it: woven cloth
    /// does not stretch, but for single links beside folds (3 % at 64 × 64 particles, up to 17 % at 256 × 256).
    /// In other meshes threads are the edges that run straight on, if there are enough of them side by side;
    /// what is left over is relaxed.
    #[default]
    Direct,
    /// Constraint by constraint, as in Jakobsen's "Advanced Character Physics" (2001): how far cloth
    /// stretches depends on substeps and iterations.
    Relaxation,
}

/// How all constraints are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxation {
    /// How much each kind of constraint gives.
    pub compliance: Compliance,
    /// How threads are solved.
    pub threads: ThreadSolver,
    /// How far threads may be stretched that have compliance, as a share of their rest length; infinity
    /// sets no limit. Where loads are kept there is none: what it carries, no thread feels.
    pub strain_limit: f32,
    /// How often all constraints are solved.
    pub iterations: u32,
    /// Length of the substep, s.
    pub dt: f32,
    /// How strongly, normally full. Where there is compliance it only counts as far as it is the
    /// softer of the two.
    pub strength: Strength,
    /// How many substeps of this step are still to come. Long distances of sheets of up to about 128
    /// particles along each side are held in every second substep, the last one among them: their
    /// threads are short enough to be solved as a whole without help in between.
    pub to_come: u32,
    /// Keep what each structural constraint carries, for
    /// [`ConstraintGraph::add_loads`](ConstraintGraph::add_loads).
    pub loads: bool,
}

/// Solves all constraints: distances in each iteration, bends in the first one. What these give is much
/// more than one iteration leaves, so that more would not make them any stiffer.
///
/// For a constraint of rest length L between x₀ and x₁ with inverse masses w₀ and w₁ and
/// compliance α, with d = x₁ − x₀, C = |d| − L and α̃ = α/Δt²:
/// Δλ = −(C + α̃λ) / (w₀ + w₁ + α̃), x₀ −= w₀Δλ·d/|d|, x₁ += w₁Δλ·d/|d|,
/// where λ is the sum of the Δλ of this substep.
///
/// Threads with compliance are then held to their limit as a whole: a chain whose links may be shorter than
/// the limit, but not longer (a strain limit, as in Provot, "Deformation Constraints in a Mass-Spring
/// Model to Describe Rigid Cloth Behavior", 1995).
///
/// What a cloth without pins loses by that of its angular momentum it gets back when the step ends
/// ([`ConstraintGraph::finish`]).
pub fn relax(particles: &mut ParticleArrays, constraints: &mut ConstraintGraph, by: &Relaxation) {
    relax_shared(&mut Leader::alone(), particles, constraints, by);
}

/// [`relax`], shared with the leader's helpers.
pub(crate) fn relax_shared(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    by: &Relaxation,
) {
    relax_all(leader, particles, constraints, by);
    constraints.spin.note(leader, particles);
}

fn relax_all(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    by: &Relaxation,
) {
    let Relaxation {
        compliance,
        iterations,
        dt,
        strength,
        strain_limit,
        ..
    } = *by;
    let inverse_dt2 = 1.0 / (dt * dt);
    let gives_so_much = |compliance: f32| Softness {
        alpha: compliance * inverse_dt2,
        weakness: 1.0 / strength.get(),
    };
    let direct = by.threads == ThreadSolver::Direct;
    let of_thread = |compliance: f32| Softness {
        weakness: if direct {
            1.0 + strength.give()
        } else {
            1.0 / strength.get()
        },
        ..gives_so_much(compliance)
    };
    let gives = compliance.is_elastic();
    let limited = gives && strain_limit.is_finite() && !by.loads;
    let limit = limited.then_some(1.0 + strain_limit);
    let again = direct && !gives && strength.is_taut();
    let longest = limit.or(again.then_some(LONGEST));
    let of_sheet = SheetSoftness {
        // Different ones in each sheet.
        warp: Softness::TAUT,
        weft: Softness::TAUT,
        shear: Softness::TAUT,
        bend: (compliance.bending > 0.0).then(|| Softness {
            alpha: inverse_dt2 / compliance.bending,
            weakness: 1.0 / strength.get(),
        }),
        direct,
        limit,
        longest,
        // What long distances carry, no thread feels, and what may give without limit has none.
        coarse: (limited || direct && !gives) && strength.is_taut() && !by.loads,
        is_turn: by.to_come.is_multiple_of(2),
        share: strength.get(),
        damping: false,
    };
    let single = constraints.gives(&compliance);
    let ConstraintGraph {
        batches,
        strands,
        sheets,
        hinges,
        ..
    } = constraints;

    // With one iteration λ is 0 when it is read, and nobody reads it again.
    let needs_lambda = |kind| {
        let soft = match kind {
            ConstraintKind::Structural => gives,
            _ => compliance.of(kind) > 0.0,
        };
        let loads = by.loads && kind == ConstraintKind::Structural;
        loads || (soft && iterations > 1)
    };
    let clear = |lambda: &mut AlignedVec, needed: bool, len: usize| {
        lambda.clear();
        lambda.resize(if needed { len } else { 0 }, 0.0);
    };
    for batch in batches.iter_mut() {
        let needed = needs_lambda(batch.kind);
        clear(&mut batch.lambda, needed, batch.pairs.len());
    }
    for family in sheets.iter_mut().flat_map(|sheet| &mut sheet.families) {
        let (needed, len) = (needs_lambda(family.kind()), family.rest.len());
        clear(&mut family.lambda, needed, len);
    }
    for line in strands.iter_mut().flat_map(|bundle| &mut bundle.lines) {
        let (needed, len) = (needs_lambda(line.kind), line.rest.len());
        clear(&mut line.lambda, needed, len);
    }

    let mut points = Points::of(&mut particles.position, &particles.inverse_mass);
    // A thread that is in no sheet is neither warp nor weft.
    let thread = single.of(ConstraintKind::Structural);
    let of_strand = of_thread(thread);
    let [thread, diagonal] = [thread, single.shear].map(gives_so_much);
    let softness = |of_sheets: SheetSoftness| GeneralSoftness {
        of_batch: |batch: &Batch| match batch.kind {
            ConstraintKind::Structural => thread,
            _ => diagonal,
        },
        of_strands: SheetSoftness {
            warp: of_strand,
            ..of_sheets
        },
    };
    let bent = SheetSoftness {
        bend: None,
        ..of_sheet
    };
    // Always in the same order: turning it around in every other pass looks fairer, but pumps energy
    // into the cloth. Threads come last: they are to be satisfied best.
    let first_thread = batches.partition_point(|batch| batch.kind != ConstraintKind::Structural);
    let (before, after) = batches.split_at_mut(first_thread);
    if sheets.is_empty() {
        let first = iterations.min(1);
        for (passes, soft) in [(first, of_sheet), (iterations - first, bent)] {
            let all = General {
                hinges,
                before: &mut *before,
                strands: &mut *strands,
                after: &mut *after,
            };
            relax_general(&mut points, all, passes, softness(soft));
        }
        return limit_all(&mut points, after, limit);
    }
    for iteration in 0..iterations {
        let soft = if iteration == 0 { of_sheet } else { bent };
        let others = General {
            hinges,
            before: &mut *before,
            ..General::default()
        };
        relax_general(&mut points, others, 1, softness(soft));
        for sheet in &mut *sheets {
            let gives = sheet.gives(&compliance);
            let soft = SheetSoftness {
                warp: of_thread(gives.warp),
                weft: of_thread(gives.weft),
                shear: gives_so_much(gives.shear),
                ..soft
            };
            relax_sheet(leader, &mut points, sheet, soft);
        }
        let threads = General {
            strands: &mut *strands,
            after: &mut *after,
            ..General::default()
        };
        relax_general(&mut points, threads, 1, softness(soft));
    }
    limit_all(&mut points, after, limit);
}

/// Puts the ends of threads that are in no strand back into reach, one thread after the other: few are
/// at their limit.
fn limit_all(points: &mut Points, batches: &[Batch], limit: Option<f32>) {
    let Some(limit) = limit else {
        return;
    };
    for batch in batches {
        for (&[a, b], &rest) in batch.pairs.iter().zip(&batch.rest) {
            let (a, b, most) = (a as usize, b as usize, rest * limit);
            let [dx, dy, dz] = [&points.x, &points.y, &points.z].map(|plane| plane[b] - plane[a]);
            let square = dx * dx + dy * dy + dz * dz;
            let (wa, wb) = (points.w[a], points.w[b]);
            if square > most * most && wa + wb > 0.0 {
                let length = square.sqrt();
                let share = (most - length) / ((wa + wb) * length);
                for (plane, d) in [&mut points.x, &mut points.y, &mut points.z]
                    .into_iter()
                    .zip([dx, dy, dz])
                {
                    plane[a] -= wa * share * d;
                    plane[b] += wb * share * d;
                }
            }
        }
    }
}

/// The planes of the particles, all cut to the same length, which spares bounds checks.
pub(super) struct Points<'a> {
    pub(super) x: &'a mut [f32],
    pub(super) y: &'a mut [f32],
    pub(super) z: &'a mut [f32],
    pub(super) w: &'a [f32],
}

impl<'a> Points<'a> {
    /// Of positions or other vectors, and the inverse masses that go with them.
    pub(super) fn of(vectors: &'a mut SoaVec3, inverse_mass: &'a [f32]) -> Self {
        let n = inverse_mass.len();
        Self {
            x: &mut vectors.x[..n],
            y: &mut vectors.y[..n],
            z: &mut vectors.z[..n],
            w: inverse_mass,
        }
    }
}

/// How soft the constraints of a batch are.
#[derive(Clone, Copy)]
pub(super) struct Softness {
    /// α̃ = α/Δt²
    pub(super) alpha: f32,
    /// 1/strength
    pub(super) weakness: f32,
}

impl Softness {
    /// As stiff as threads get that are solved as a whole.
    pub(super) const TAUT: Self = Self {
        alpha: 0.0,
        weakness: 1.0 + TAUT,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{ConstraintKind, SoaVec3};
    use bevy::math::Vec3;

    fn pair(w: [f32; 2], length: f32) -> (ParticleArrays, ConstraintGraph) {
        let rest: SoaVec3 = [Vec3::ZERO, Vec3::X].into_iter().collect();
        let graph = ConstraintGraph::new(&rest, &[(ConstraintKind::Structural, 0, 1)]);
        let stretched = [Vec3::ZERO, Vec3::X * length].into_iter().collect();
        (
            ParticleArrays::new(Vec3::ZERO, stretched, w.to_vec()),
            graph,
        )
    }

    fn rigid(iterations: u32) -> Relaxation {
        Relaxation {
            compliance: Compliance::default(),
            threads: ThreadSolver::Relaxation,
            strain_limit: f32::INFINITY,
            iterations,
            dt: 0.01,
            strength: Strength::default(),
            to_come: 0,
            loads: false,
        }
    }

    #[test]
    fn the_lighter_particle_moves_more() {
        let (mut p, mut graph) = pair([1.0, 3.0], 3.0);
        relax(&mut p, &mut graph, &rigid(1));
        assert_eq!(p.position.get(0), Vec3::X * 0.5);
        assert_eq!(p.position.get(1), Vec3::X * 1.5);
    }

    #[test]
    fn a_pinned_particle_leaves_the_whole_correction_to_its_partner() {
        let (mut p, mut graph) = pair([0.0, 7.0], 3.0);
        relax(&mut p, &mut graph, &rigid(1));
        assert_eq!(p.position.get(0), Vec3::ZERO);
        assert_eq!(p.position.get(1), Vec3::X);
    }

    #[test]
    fn nothing_to_push_or_nowhere_to_push_to_is_left_alone() {
        for (w, length) in [([0.0, 0.0], 2.0), ([1.0, 1.0], 0.0)] {
            let (mut p, mut graph) = pair(w, length);
            let before = p.clone();
            relax(&mut p, &mut graph, &rigid(3));
            assert_eq!(p.position, before.position);
        }
    }

    #[test]
    fn compliance_does_not_depend_on_the_iterations() {
        // One constraint: XPBD gives the implicit answer C/(1 + (w₀+w₁)/α̃) at once, and further
        // iterations must not stiffen it.
        let compliance = Compliance::of_threads(0.001);
        let alpha = 0.001_f32 / (0.1 * 0.1);
        let left = 0.5 / (1.0 + 2.0 / alpha);
        for iterations in [1, 2, 20] {
            let (mut p, mut graph) = pair([1.0, 1.0], 1.5);
            relax(
                &mut p,
                &mut graph,
                &Relaxation {
                    compliance,
                    threads: ThreadSolver::Relaxation,
                    strain_limit: f32::INFINITY,
                    iterations,
                    dt: 0.1,
                    strength: Strength::default(),
                    to_come: 0,
                    loads: false,
                },
            );
            let error = p.position.get(1).x - p.position.get(0).x - 1.0;
            assert!(
                (error - left).abs() < 1e-6,
                "{iterations} iterations: {error} instead of {left}"
            );
        }
    }

    #[test]
    fn strength_takes_a_share_of_the_correction() {
        let (mut p, mut graph) = pair([0.0, 1.0], 2.0);
        let by = Relaxation {
            strength: Strength::part(0.25),
            ..rigid(1)
        };
        relax(&mut p, &mut graph, &by);
        assert_eq!(p.position.get(1), Vec3::X * 1.75);
    }
}
