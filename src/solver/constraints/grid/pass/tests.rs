use super::GridLayout;
use crate::solver::{
    BendStencil, Compliance, ConstraintGraph, ConstraintKind, ParticleArrays, RelaxSettings,
    SoaVec3, StretchSolver, Workers,
    constraints::points::{StretchLimit, Supported},
    relax,
    relax::limit_strain,
    simd::levels,
};
use bevy::math::Vec3;

/// Creates a disturbed grid with constraints in all six directions, pins and holes.
fn disturbed_grid(columns: u32, rows: u32) -> (ParticleArrays, ConstraintGraph) {
    let position = |i: u32| Vec3::new((i % columns) as f32, (i / columns) as f32, 0.0);
    let rest: SoaVec3 = (0..columns * rows).map(position).collect();
    let (mut pairs, mut bends) = (Vec::new(), Vec::new());
    for i in 0..columns * rows {
        let (r, c) = (i / columns, i % columns);
        let mut pair = |exists: bool, kind, from: u32, to: u32| {
            if exists {
                pairs.push((kind, from, to));
            }
        };
        pair(c + 1 < columns, ConstraintKind::Structural, i, i + 1);
        pair(r + 1 < rows, ConstraintKind::Structural, i, i + columns);
        let inside = c + 1 < columns && r + 1 < rows;
        pair(inside, ConstraintKind::Shear, i, i + columns + 1);
        pair(inside, ConstraintKind::Shear, i + 1, i + columns);
        let mut bend = |exists: bool, step: u32| {
            if exists {
                bends.push(BendStencil::three_point([i, i + step, i + 2 * step]));
            }
        };
        bend(c + 2 < columns, 1);
        bend(r + 2 < rows, columns);
    }
    let layout = GridLayout {
        first: 0,
        columns,
        rows,
    };
    let mut graph = ConstraintGraph::with_grids(&rest, &pairs, &[layout]);
    graph.add_bends(&rest, &bends);
    assert_eq!(graph.grids().count(), 1);
    assert!(graph.general.has_no_distances() && graph.general.bends().count() == 0);
    assert_eq!(graph.len(), pairs.len() + bends.len());
    let hole = columns * rows / 2;
    graph.retain(|c| c.ends()[0] != hole);
    let moved = rest
        .iter()
        .enumerate()
        .map(|(i, v)| v * 1.02 + Vec3::splat((i * i % 13) as f32 * 0.01))
        .collect();
    let w = (0..columns * rows).map(|i| (i % 5) as f32).collect();
    (ParticleArrays::new(Vec3::ZERO, moved, w), graph)
}

/// Lets every third particle touch a slope.
fn touch_slopes(p: &mut ParticleArrays) {
    for i in (0..p.len()).step_by(3) {
        let normal = Vec3::new((i % 4) as f32 - 1.5, (i % 5) as f32 - 2.0, 0.3);
        p.contact_normal.set(i, normal.normalize());
    }
    p.in_contact = true;
}

fn settings(stretch_solver: StretchSolver, iterations: u32) -> RelaxSettings {
    RelaxSettings {
        compliance: Compliance {
            warp: 1e-5,
            weft: 3e-5,
            shear: 1e-4,
            bending: 1.0,
        },
        stretch_solver,
        iterations,
        dt: 0.01,
        relaxation_factor: 0.8,
        ..RelaxSettings::default()
    }
}

/// At every SIMD level of this processor the loops over rows equal the scalar reference to the bit.
#[test]
fn passes_equal_the_scalar_reference_bitwise_at_every_simd_level() {
    for (columns, rows) in [(2, 2), (20, 20), (33, 70), (70, 5), (100, 40)] {
        for stretch_solver in [StretchSolver::Direct, StretchSolver::GaussSeidel] {
            for (iterations, strain_limit, bending) in [
                (1, f32::INFINITY, 1.0),
                // Stiff bends are solved directly, soft ones as forces.
                (3, f32::INFINITY, 1e-6),
                (1, 0.01, 1e6),
            ] {
                let compliance = Compliance {
                    bending,
                    ..settings(stretch_solver, iterations).compliance
                };
                let relax_settings = RelaxSettings {
                    compliance,
                    strain_limit,
                    relaxation_factor: match iterations {
                        1 => 1.0,
                        _ => 0.8,
                    },
                    ..settings(stretch_solver, iterations)
                };
                let mut expected = None;
                let results = levels::each(|| {
                    let (mut p, mut graph) = disturbed_grid(columns, rows);
                    graph.prepare(&p);
                    if iterations == 3 {
                        touch_slopes(&mut p);
                    }
                    relax(&mut Workers::serial(), &mut p, &mut graph, &relax_settings);
                    for supported in [Supported::Slide, Supported::Hold] {
                        let ratio = 1.01;
                        let limit = StretchLimit { ratio, supported };
                        limit_strain(&mut Workers::serial(), &mut p, &mut graph, limit);
                    }
                    p
                });
                for (level, p) in results {
                    assert!(p.position.is_finite());
                    let expected = expected.get_or_insert(p.clone());
                    assert!(
                        *expected == p,
                        "{columns}×{rows}, {level:?}, {relax_settings:?}"
                    );
                }
            }
        }
    }
}

/// A grid differs from the same constraints without a grid only in their order; both must converge to the
/// same stretch.
#[test]
fn a_grid_converges_to_the_same_stretch_as_single_constraints() {
    let (p, mut on_grid) = disturbed_grid(12, 9);
    on_grid.retain(|c| c.kind() != ConstraintKind::Bend);
    let pairs: Vec<_> = on_grid
        .iter()
        .map(|c| (c.kind(), c.ends()[0], c.ends()[1]))
        .collect();
    let rest: SoaVec3 = (0..108)
        .map(|i| Vec3::new((i % 12) as f32, (i / 12) as f32, 0.0))
        .collect();
    let mut off_grid = ConstraintGraph::new(&rest, &pairs);
    let final_stretch = |graph: &mut ConstraintGraph, stretch_solver| {
        let mut p = p.clone();
        p.inverse_mass.fill(1.0);
        graph.prepare(&p);
        let relax_settings = RelaxSettings {
            compliance: Compliance::default(),
            relaxation_factor: 1.0,
            ..settings(stretch_solver, 3000)
        };
        relax(&mut Workers::serial(), &mut p, graph, &relax_settings);
        crate::solver::measure_stretch(&p, graph).max
    };
    for stretch_solver in [StretchSolver::Direct, StretchSolver::GaussSeidel] {
        assert!(final_stretch(&mut on_grid, stretch_solver).abs() < 1e-4);
        assert!(final_stretch(&mut off_grid, stretch_solver).abs() < 1e-4);
    }
}

/// A pass conserves momentum.
#[test]
fn momentum_is_conserved() {
    let (mut p, mut graph) = disturbed_grid(40, 30);
    for (i, w) in p.inverse_mass.iter_mut().enumerate() {
        *w = 1.0 + (i % 7) as f32;
    }
    for x in &mut p.position.x {
        *x *= 1.1;
    }
    let centre = |p: &ParticleArrays| {
        let sum = p.position.iter().zip(&p.inverse_mass);
        sum.fold(bevy::math::DVec3::ZERO, |sum, (x, w)| {
            sum + x.as_dvec3() / f64::from(*w)
        })
    };
    let before = (centre(&p), p.position.clone());
    graph.prepare(&p);
    let relax_settings = RelaxSettings {
        relaxation_factor: 1.0,
        ..settings(StretchSolver::Direct, 1)
    };
    let mass: f64 = p.inverse_mass.iter().map(|w| f64::from(1.0 / w)).sum();
    let rigid = RelaxSettings {
        compliance: Compliance::default(),
        ..relax_settings
    };
    let limited = RelaxSettings {
        strain_limit: 0.03,
        ..relax_settings
    };
    for relax_settings in [relax_settings, rigid, limited] {
        let (mut p, mut graph) = (p.clone(), graph.clone());
        relax(&mut Workers::serial(), &mut p, &mut graph, &relax_settings);
        assert_ne!(p.position, before.1);
        let drift = (centre(&p) - before.0).length() / mass;
        assert!(drift < 2e-6, "{drift} m: {relax_settings:?}");
    }
}

/// One pass brings a grid of elastic edges that is much too long to its strain limit, whichever solver
/// precedes the limit.
#[test]
fn elastic_chains_are_held_at_the_strain_limit() {
    for stretch_solver in [StretchSolver::Direct, StretchSolver::GaussSeidel] {
        let (_, mut graph) = disturbed_grid(40, 30);
        // Only the part without holes.
        graph.retain(|c| c.ends()[1] < 10 * 40);
        let position = |i: u32| Vec3::new((i % 40) as f32, (i / 40) as f32, 0.0) * 1.2;
        let p = ParticleArrays::new(
            Vec3::ZERO,
            (0..1200).map(position).collect(),
            vec![1.0; 1200],
        );
        graph.prepare(&p);
        let strain = |p: &ParticleArrays, graph: &ConstraintGraph| {
            crate::solver::measure_stretch(p, graph).max
        };
        assert!(strain(&p, &graph) > 0.18);
        let free = RelaxSettings {
            compliance: Compliance {
                shear: 1.0,
                ..Compliance::of_stretch(1.0)
            },
            relaxation_factor: 1.0,
            ..settings(stretch_solver, 4)
        };
        let limited = RelaxSettings {
            strain_limit: 0.1,
            ..free
        };
        let [with, without] = [limited, free].map(|relax_settings| {
            let (mut p, mut graph) = (p.clone(), graph.clone());
            relax(&mut Workers::serial(), &mut p, &mut graph, &relax_settings);
            strain(&p, &graph)
        });
        if stretch_solver == StretchSolver::Direct {
            assert!(without > 0.18, "{without}");
        }
        assert!((0.09..0.104).contains(&with), "{stretch_solver:?}: {with}");
    }
}

/// A stretched link behind a fold: the direct solver expects the fold to straighten and so shorten the link,
/// which cloth does not do. The link must be shortened all the same, and its tension counts as load.
#[test]
fn a_fold_does_not_keep_the_next_link_from_being_shortened() {
    let (columns, rows) = (12, 3);
    let grid = |length: [f32; 2]| -> SoaVec3 {
        let [folded, stretched] = length;
        let position = |i: u32| {
            let (c, r) = ((i % columns) as f32, (i / columns) as f32);
            let x = c.min(5.0) * folded + (c - 5.0).clamp(0.0, 1.0) * stretched;
            Vec3::new(x + (c - 6.0).max(0.0), r, 0.0)
        };
        (0..columns * rows).map(position).collect()
    };
    let rest = grid([1.0; 2]);
    let pairs: Vec<_> = (0..columns * rows)
        .filter(|i| i % columns + 1 < columns)
        .map(|i| (ConstraintKind::Structural, i, i + 1))
        .collect();
    let layout = GridLayout {
        first: 0,
        columns,
        rows,
    };
    let mut graph = ConstraintGraph::with_grids(&rest, &pairs, &[layout]);
    // The chain begins at a pin.
    let w = (0..columns * rows).map(|i| f32::from(u8::from(i % columns > 0)));
    let mut p = ParticleArrays::new(Vec3::ZERO, grid([0.8, 1.4]), w.collect());
    let relax_settings = RelaxSettings {
        compliance: Compliance::default(),
        relaxation_factor: 1.0,
        loads: true,
        ..settings(StretchSolver::Direct, 1)
    };
    let mut worst = 0.4;
    for _ in 0..8 {
        relax(&mut Workers::serial(), &mut p, &mut graph, &relax_settings);
        let lambda = graph.grids[0].sets[5].list.lambda.iter();
        let load = -lambda.copied().fold(0.0, f32::min);
        let stretch = crate::solver::measure_stretch(&p, &graph).max;
        assert!(stretch < 0.9 * worst, "{stretch} after {worst}");
        assert!(load > 0.1 * worst, "{load}");
        worst = stretch;
    }
    assert!(worst < 0.1, "{worst}");
}
