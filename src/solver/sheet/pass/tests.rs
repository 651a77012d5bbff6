use super::SheetLayout;
use crate::solver::{
    Bend, Compliance, ConstraintGraph, ConstraintKind, ParticleArrays, Relaxation, SimdLevel,
    SoaVec3, Strength, ThreadSolver, relax,
};
use bevy::math::Vec3;

/// A sheet with all six families, disturbed, with pins and holes.
fn sheet(columns: u32, rows: u32) -> (ParticleArrays, ConstraintGraph) {
    let place = |i: u32| Vec3::new((i % columns) as f32, (i / columns) as f32, 0.0);
    let rest: SoaVec3 = (0..columns * rows).map(place).collect();
    let (mut pairs, mut bends) = (Vec::new(), Vec::new());
    for i in 0..columns * rows {
        let (r, c) = (i / columns, i % columns);
        let mut pair = |there: bool, kind, from: u32, to: u32| {
            if there {
                pairs.push((kind, from, to));
            }
        };
        pair(c + 1 < columns, ConstraintKind::Structural, i, i + 1);
        pair(r + 1 < rows, ConstraintKind::Structural, i, i + columns);
        let inside = c + 1 < columns && r + 1 < rows;
        pair(inside, ConstraintKind::Shear, i, i + columns + 1);
        pair(inside, ConstraintKind::Shear, i + 1, i + columns);
        let mut bend = |there: bool, step: u32| {
            if there {
                bends.push(Bend::along([i, i + step, i + 2 * step]));
            }
        };
        bend(c + 2 < columns, 1);
        bend(r + 2 < rows, columns);
    }
    let layout = SheetLayout {
        first: 0,
        columns,
        rows,
    };
    let mut graph = ConstraintGraph::woven(&rest, &pairs, &[layout]);
    graph.add_bends(&rest, &bends);
    assert_eq!(graph.sheets().count(), 1);
    assert!(graph.batches.is_empty() && graph.hinges.is_empty());
    assert_eq!(graph.len(), pairs.len() + bends.len());
    let hole = columns * rows / 2;
    graph.retain(|c| c.particles[0] != hole);
    let moved = rest
        .iter()
        .enumerate()
        .map(|(i, v)| v * 1.02 + Vec3::splat((i * i % 13) as f32 * 0.01))
        .collect();
    let w = (0..columns * rows).map(|i| (i % 5) as f32).collect();
    (ParticleArrays::new(Vec3::ZERO, moved, w), graph)
}

fn settings(threads: ThreadSolver, iterations: u32) -> Relaxation {
    Relaxation {
        compliance: Compliance {
            warp: 1e-5,
            weft: 3e-5,
            shear: 1e-4,
            bending: 1.0,
        },
        threads,
        strain_limit: f32::INFINITY,
        iterations,
        dt: 0.01,
        strength: Strength::part(0.8),
        to_come: 0,
        loads: false,
    }
}

/// What the loops over rows give, at every level that this processor has, is what the formulas
/// give one constraint at a time.
#[test]
fn rows_give_the_bits_of_single_constraints_at_every_level() {
    for (columns, rows) in [(2, 2), (20, 20), (33, 70), (70, 5), (100, 40)] {
        for threads in [ThreadSolver::Direct, ThreadSolver::Relaxation] {
            for (iterations, strain_limit, bending) in [
                (1, f32::INFINITY, 1.0),
                // Stiff ones are solved at once, soft ones one by one.
                (3, f32::INFINITY, 1e-6),
                (1, 0.01, 1e6),
            ] {
                let compliance = Compliance {
                    bending,
                    ..settings(threads, iterations).compliance
                };
                let by = Relaxation {
                    compliance,
                    strain_limit,
                    strength: match iterations {
                        1 => Strength::default(),
                        _ => Strength::part(0.8),
                    },
                    ..settings(threads, iterations)
                };
                let mut expected = None;
                for level in SimdLevel::ALL {
                    if !level.force() {
                        continue;
                    }
                    let (mut p, mut graph) = sheet(columns, rows);
                    graph.prepare(&p);
                    relax(&mut p, &mut graph, &by);
                    assert!(p.position.is_finite());
                    let expected = expected.get_or_insert(p.clone());
                    assert!(*expected == p, "{columns}×{rows}, {level:?}, {by:?}");
                }
                SimdLevel::best().force();
            }
        }
    }
}

/// Relaxed, a sheet is what its constraints are without a sheet, but for their order; both must
/// come to the same end.
#[test]
fn a_sheet_comes_to_rest_where_single_constraints_do() {
    let (p, mut woven) = sheet(12, 9);
    woven.retain(|c| c.kind != ConstraintKind::Bend);
    let pairs: Vec<_> = woven
        .iter()
        .map(|c| (c.kind, c.particles[0], c.particles[1]))
        .collect();
    let rest: SoaVec3 = (0..108)
        .map(|i| Vec3::new((i % 12) as f32, (i / 12) as f32, 0.0))
        .collect();
    let mut single = ConstraintGraph::new(&rest, &pairs);
    let end = |graph: &mut ConstraintGraph, threads| {
        let mut p = p.clone();
        p.inverse_mass.fill(1.0);
        graph.prepare(&p);
        let by = Relaxation {
            compliance: Compliance::default(),
            strength: Strength::default(),
            ..settings(threads, 3000)
        };
        relax(&mut p, graph, &by);
        crate::solver::measure_stretch(&p, graph).max
    };
    for threads in [ThreadSolver::Direct, ThreadSolver::Relaxation] {
        assert!(end(&mut woven, threads).abs() < 1e-4);
        assert!(end(&mut single, threads).abs() < 1e-4);
    }
}

/// Momentum is kept, long distances included.
#[test]
fn nobody_is_pushed_who_does_not_push() {
    let (mut p, mut graph) = sheet(40, 30);
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
    let by = Relaxation {
        strength: Strength::default(),
        ..settings(ThreadSolver::Direct, 1)
    };
    let mass: f64 = p.inverse_mass.iter().map(|w| f64::from(1.0 / w)).sum();
    let rigid = Relaxation {
        compliance: Compliance::default(),
        ..by
    };
    let limited = Relaxation {
        strain_limit: 0.03,
        ..by
    };
    for by in [by, rigid, limited] {
        let (mut p, mut graph) = (p.clone(), graph.clone());
        relax(&mut p, &mut graph, &by);
        assert_ne!(p.position, before.1);
        let drift = (centre(&p) - before.0).length() / mass;
        assert!(drift < 2e-6, "{drift} m: {by:?}");
    }
}

/// A sheet that is much too long, of soft threads: one pass brings it to its limit as far as threads
/// are solved as a whole, whatever solved them before.
#[test]
fn soft_threads_are_held_at_their_limit() {
    for threads in [ThreadSolver::Direct, ThreadSolver::Relaxation] {
        let (_, mut graph) = sheet(40, 30);
        // What is left of it where it has no hole.
        graph.retain(|c| c.particles[1] < 10 * 40);
        let place = |i: u32| Vec3::new((i % 40) as f32, (i / 40) as f32, 0.0) * 1.2;
        let p = ParticleArrays::new(Vec3::ZERO, (0..1200).map(place).collect(), vec![1.0; 1200]);
        graph.prepare(&p);
        let strain = |p: &ParticleArrays, graph: &ConstraintGraph| {
            crate::solver::measure_stretch(p, graph).max
        };
        assert!(strain(&p, &graph) > 0.18);
        let free = Relaxation {
            compliance: Compliance {
                shear: 1.0,
                ..Compliance::of_threads(1.0)
            },
            strength: Strength::default(),
            ..settings(threads, 4)
        };
        let limited = Relaxation {
            strain_limit: 0.1,
            ..free
        };
        let [with, without] = [limited, free].map(|by| {
            let (mut p, mut graph) = (p.clone(), graph.clone());
            relax(&mut p, &mut graph, &by);
            strain(&p, &graph)
        });
        if threads == ThreadSolver::Direct {
            assert!(without > 0.18, "{without}");
        }
        assert!((0.09..0.104).contains(&with), "{threads:?}: {with}");
    }
}

/// A stretched link behind a fold: the sweep there counts on the fold to straighten and close it, which
/// cloth does not do. It is pulled all the same, and that is part of what the thread carries.
#[test]
fn a_fold_does_not_keep_its_neighbour_from_being_pulled() {
    let (columns, rows) = (12, 3);
    let grid = |length: [f32; 2]| -> SoaVec3 {
        let [folded, stretched] = length;
        let place = |i: u32| {
            let (c, r) = ((i % columns) as f32, (i / columns) as f32);
            let x = c.min(5.0) * folded + (c - 5.0).clamp(0.0, 1.0) * stretched;
            Vec3::new(x + (c - 6.0).max(0.0), r, 0.0)
        };
        (0..columns * rows).map(place).collect()
    };
    let rest = grid([1.0; 2]);
    let pairs: Vec<_> = (0..columns * rows)
        .filter(|i| i % columns + 1 < columns)
        .map(|i| (ConstraintKind::Structural, i, i + 1))
        .collect();
    let layout = SheetLayout {
        first: 0,
        columns,
        rows,
    };
    let graph = ConstraintGraph::woven(&rest, &pairs, &[layout]);
    let [(left, carried), (kept, load)] =
        [Strength::part(0.999), Strength::default()].map(|strength| {
            let mut graph = graph.clone();
            // The thread begins at a pin.
            let w = (0..columns * rows).map(|i| f32::from(u8::from(i % columns > 0)));
            let mut p = ParticleArrays::new(Vec3::ZERO, grid([0.8, 1.4]), w.collect());
            let by = Relaxation {
                compliance: Compliance::default(),
                strength,
                loads: true,
                ..settings(ThreadSolver::Direct, 1)
            };
            relax(&mut p, &mut graph, &by);
            let pull = graph.sheets[0].families[5].lambda.iter();
            let load = -pull.copied().fold(0.0, f32::min);
            relax(&mut p, &mut graph, &by);
            (crate::solver::measure_stretch(&p, &graph).max, load)
        });
    assert!(left > 0.2, "{left}: nothing is wrong without it");
    assert!(kept < 0.021, "{kept}");
    assert!(load > carried + 0.1, "{load} after {carried}");
}
