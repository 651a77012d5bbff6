//! Relaxation: every constraint in turn moves its two particles to where it holds.
//!
//! With compliance 0 this is Jakobsen's "Advanced Character Physics" (2001); with compliance it is
//! XPBD (Macklin, Müller, Chentanez 2016), and with one iteration a substep it is "Small Steps in
//! Physics Simulation" (Macklin et al. 2019). It is the same code.

use super::{
    batches::{Batch, LANES},
    constraints::{Compliance, ConstraintGraph, ConstraintKind},
    crew::Leader,
    glide::Strength,
    particles::ParticleArrays,
    sheet::{SheetSoftness, relax_sheet},
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
    /// Each thread of a grid as a whole, and a hierarchy of long distances above it: woven cloth
    /// does not stretch. What is no grid is relaxed.
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
    /// How often all constraints are solved.
    pub iterations: u32,
    /// Length of the substep, s.
    pub dt: f32,
    /// How strongly, normally full. Where there is compliance it only counts as far as it is the
    /// softer of the two.
    pub strength: Strength,
    /// Keep what each structural constraint carries, for
    /// [`ConstraintGraph::add_loads`](ConstraintGraph::add_loads).
    pub loads: bool,
}

/// Solves all constraints.
///
/// For a constraint of rest length L between x₀ and x₁ with inverse masses w₀ and w₁ and
/// compliance α, with d = x₁ − x₀, C = |d| − L and α̃ = α/Δt²:
/// Δλ = −(C + α̃λ) / (w₀ + w₁ + α̃), x₀ −= w₀Δλ·d/|d|, x₁ += w₁Δλ·d/|d|,
/// where λ is the sum of the Δλ of this substep.
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
    let Relaxation {
        compliance,
        iterations,
        dt,
        strength,
        ..
    } = *by;
    let inverse_dt2 = 1.0 / (dt * dt);
    let softness = |kind| Softness {
        alpha: compliance.of(kind) * inverse_dt2,
        weakness: 1.0 / strength.get(),
    };
    let direct = by.threads == ThreadSolver::Direct;
    let stretch = softness(ConstraintKind::Structural);
    let of_sheet = SheetSoftness {
        stretch: Softness {
            weakness: if direct {
                1.0 + strength.give()
            } else {
                stretch.weakness
            },
            ..stretch
        },
        shear: softness(ConstraintKind::Shear),
        bend: softness(ConstraintKind::Bend),
        direct,
        // What long distances carry, no thread feels.
        coarse: direct && strength.is_taut() && !by.loads,
        share: strength.get(),
    };
    let ConstraintGraph { batches, sheets } = constraints;

    // With one iteration λ is 0 when it is read, and nobody reads it again.
    let needs_lambda = |kind| {
        let soft = compliance.of(kind) > 0.0;
        let loads = by.loads && kind == ConstraintKind::Structural;
        loads || (soft && iterations > 1)
    };
    let clear = |lambda: &mut Vec<f32>, needed: bool, len: usize| {
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

    let mut points = Points::of(particles);
    // Always in the same order: turning it around in every other pass looks fairer, but pumps energy
    // into the cloth. Threads come last: they are to be satisfied best.
    let threads = batches.partition_point(|batch| batch.kind != ConstraintKind::Structural);
    let (others, threads) = batches.split_at_mut(threads);
    for _ in 0..iterations {
        for batch in &mut *others {
            solve_batch(&mut points, batch, softness(batch.kind));
        }
        for sheet in &mut *sheets {
            relax_sheet(leader, &mut points, sheet, of_sheet);
        }
        for batch in &mut *threads {
            solve_batch(&mut points, batch, softness(batch.kind));
        }
    }
}

fn solve_batch(points: &mut Points, batch: &mut Batch, softness: Softness) {
    let (pairs, rest) = (&batch.pairs, &batch.rest);
    let lambda = (!batch.lambda.is_empty()).then_some(&mut batch.lambda[..]);
    if batch.independent {
        solve::<LANES>(points, pairs, &batch.rows, rest, softness, lambda);
    } else {
        solve::<1>(points, pairs, &[], rest, softness, lambda);
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
    fn of(particles: &'a mut ParticleArrays) -> Self {
        let n = particles.len();
        Self {
            x: &mut particles.position.x[..n],
            y: &mut particles.position.y[..n],
            z: &mut particles.position.z[..n],
            w: &particles.inverse_mass[..n],
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

/// Solves one batch, `N` constraints at a time. `rows` says which groups of `N` are rows.
fn solve<const N: usize>(
    points: &mut Points,
    pairs: &[[u32; 2]],
    rows: &[bool],
    rest: &[f32],
    softness: Softness,
    mut lambda: Option<&mut [f32]>,
) {
    let (groups, tail) = pairs.as_chunks::<N>();
    let (rest_groups, rest_tail) = rest.as_chunks::<N>();
    for (group, (pairs, rest)) in groups.iter().zip(rest_groups).enumerate() {
        let lambda = lambda.as_mut().map(|all| {
            let (groups, _) = all.as_chunks_mut::<N>();
            &mut groups[group]
        });
        if rows.get(group) == Some(&true) {
            solve_row(points, pairs[0], rest, softness, lambda);
        } else {
            solve_group(points, pairs, rest, softness, lambda);
        }
    }
    if N > 1 && !tail.is_empty() {
        let done = groups.len() * N;
        let lambda = lambda.map(|all| &mut all[done..]);
        solve::<1>(points, tail, &[], rest_tail, softness, lambda);
    }
}

/// Solves constraints between particles anywhere.
#[inline(always)]
fn solve_group<const N: usize>(
    points: &mut Points,
    pairs: &[[u32; 2]; N],
    rest: &[f32; N],
    softness: Softness,
    lambda: Option<&mut [f32; N]>,
) {
    let mut d = [[0.0; N]; 3];
    let mut w = [[0.0; N]; 2];
    for k in 0..N {
        let [a, b] = pairs[k].map(|i| i as usize);
        d[0][k] = points.x[b] - points.x[a];
        d[1][k] = points.y[b] - points.y[a];
        d[2][k] = points.z[b] - points.z[a];
        w[0][k] = points.w[a];
        w[1][k] = points.w[b];
    }
    let scale = corrections(&d, &w, rest, softness, lambda);
    for k in 0..N {
        let [a, b] = pairs[k].map(|i| i as usize);
        let (sa, sb) = (w[0][k] * scale[k], w[1][k] * scale[k]);
        points.x[a] -= sa * d[0][k];
        points.y[a] -= sa * d[1][k];
        points.z[a] -= sa * d[2][k];
        points.x[b] += sb * d[0][k];
        points.y[b] += sb * d[1][k];
        points.z[b] += sb * d[2][k];
    }
}

/// Solves constraints whose particles are `N` neighbours in memory on both sides, starting with the
/// given pair: they are loaded and stored as they lie. The arithmetic is that of [`solve_group`].
#[inline(always)]
fn solve_row<const N: usize>(
    points: &mut Points,
    first: [u32; 2],
    rest: &[f32; N],
    softness: Softness,
    lambda: Option<&mut [f32; N]>,
) {
    let [a, b] = first.map(|i| i as usize);
    let w = [row(points.w, a), row(points.w, b)];
    let mut d = [[0.0; N]; 3];
    for (d, plane) in d.iter_mut().zip([&*points.x, &*points.y, &*points.z]) {
        let (from, to) = (row::<N>(plane, a), row::<N>(plane, b));
        for k in 0..N {
            d[k] = to[k] - from[k];
        }
    }
    let scale = corrections(&d, &w, rest, softness, lambda);
    for (d, plane) in d
        .iter()
        .zip([&mut *points.x, &mut *points.y, &mut *points.z])
    {
        for (k, place) in plane[a..a + N].iter_mut().enumerate() {
            *place -= w[0][k] * scale[k] * d[k];
        }
        for (k, place) in plane[b..b + N].iter_mut().enumerate() {
            *place += w[1][k] * scale[k] * d[k];
        }
    }
}

fn row<const N: usize>(plane: &[f32], start: usize) -> [f32; N] {
    let row = &plane[start..start + N];
    std::array::from_fn(|k| row[k])
}

/// Δλ/|d| of `N` constraints, from d = x₁ − x₀ and both inverse masses; sums Δλ up in `lambda`.
#[inline(always)]
fn corrections<const N: usize>(
    d: &[[f32; N]; 3],
    w: &[[f32; N]; 2],
    rest: &[f32; N],
    Softness { alpha, weakness }: Softness,
    lambda: Option<&mut [f32; N]>,
) -> [f32; N] {
    let before = lambda.as_ref().map_or([0.0; N], |lambda| **lambda);
    let mut delta = [0.0; N];
    let mut scale = [0.0; N];
    for k in 0..N {
        let length: f32 = (d[0][k] * d[0][k] + d[1][k] * d[1][k] + d[2][k] * d[2][k]).sqrt();
        let mass = (w[0][k] + w[1][k]) * weakness + alpha;
        // Two particles at one place have no direction to be pushed in, and two pinned ones cannot
        // be pushed: a factor of 0 instead of a division by 0, chosen without a branch.
        let possible = length > 0.0 && mass > 0.0;
        delta[k] = -(length - rest[k] + alpha * before[k]) / if possible { mass } else { 1.0 };
        scale[k] = if possible { delta[k] / length } else { 0.0 };
    }
    if let Some(lambda) = lambda {
        for k in 0..N {
            lambda[k] += delta[k];
        }
    }
    scale
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
            iterations,
            dt: 0.01,
            strength: Strength::default(),
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
        let compliance = Compliance {
            stretch: 0.001,
            ..Default::default()
        };
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
                    iterations,
                    dt: 0.1,
                    strength: Strength::default(),
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

    #[test]
    fn rows_give_the_bits_of_single_constraints() {
        // A sheet of 20 × 20: most groups are rows, and there are tails and ends of rows.
        let grid: SoaVec3 = (0..400)
            .map(|i| Vec3::new((i % 20) as f32, (i / 20) as f32, 0.0))
            .collect();
        let mut pairs = Vec::new();
        for i in 0..380_u32 {
            pairs.push((ConstraintKind::Structural, i, i + 20));
            if i % 20 < 19 {
                pairs.push((ConstraintKind::Structural, i, i + 1));
                pairs.push((ConstraintKind::Shear, i, i + 21));
            }
        }
        let mut graph = ConstraintGraph::new(&grid, &pairs);
        let groups = graph.batches.iter().flat_map(|b| &b.rows);
        assert!(groups.filter(|row| **row).count() > 30);
        let moved = grid
            .iter()
            .enumerate()
            .map(|(i, v)| v + Vec3::splat((i * i % 13) as f32 * 0.01))
            .collect();
        let w = (0..400).map(|i| (i % 5) as f32).collect();
        let mut by_rows = ParticleArrays::new(Vec3::ZERO, moved, w);
        let mut singly = by_rows.clone();
        let by = Relaxation {
            compliance: Compliance {
                shear: 1e-6,
                ..Default::default()
            },
            ..rigid(4)
        };
        relax(&mut by_rows, &mut graph, &by);
        graph.batches.iter_mut().for_each(|b| b.independent = false);
        relax(&mut singly, &mut graph, &by);
        assert_eq!(by_rows, singly);
    }

    #[test]
    fn groups_of_eight_give_the_bits_of_one_by_one() {
        // 100 separate pairs, stretched differently: one batch, with a tail of four.
        let rest: SoaVec3 = (0..200)
            .map(|i| Vec3::new(i as f32, (i % 7) as f32, 0.3))
            .collect();
        let pairs: Vec<_> = (0..100)
            .map(|i| (ConstraintKind::Structural, 2 * i, 2 * i + 1))
            .collect();
        let mut graph = ConstraintGraph::new(&rest, &pairs);
        let moved = rest
            .iter()
            .enumerate()
            .map(|(i, v)| v + Vec3::splat((i * i % 13) as f32 * 0.01))
            .collect();
        let w = (0..200).map(|i| (i % 5) as f32).collect();
        let mut by_eight = ParticleArrays::new(Vec3::ZERO, moved, w);
        let mut by_one = by_eight.clone();
        let compliance = Compliance {
            stretch: 1e-6,
            ..Default::default()
        };
        let by = Relaxation {
            compliance,
            ..rigid(4)
        };
        relax(&mut by_eight, &mut graph, &by);
        graph.batches.iter_mut().for_each(|b| b.independent = false);
        relax(&mut by_one, &mut graph, &by);
        assert_eq!(by_eight, by_one);
    }
}
