use super::regions::{BLOCK, REGION};
use crate::solver::{
    BendStencil, Compliance, ConstraintGraph, ConstraintKind, ParticleArrays, RelaxSettings,
    SoaVec3, StretchSolver, Workers,
    constraints::points::{StretchLimit, Supported},
    parallel::workers::threads,
    relax,
    relax::limit_strain,
    simd::levels::same_bits,
};
use bevy::math::Vec3;

fn relax_settings(iterations: u32, stretch: f32, loads: bool) -> RelaxSettings {
    RelaxSettings {
        compliance: Compliance {
            warp: stretch,
            weft: 2.0 * stretch,
            shear: 1e-6,
            bending: 1e-3,
        },
        iterations,
        dt: 0.01,
        relaxation_factor: 0.7,
        loads,
        ..RelaxSettings::default()
    }
}

/// Particles in rows of `columns`, with structural, shear and bend constraints, and one particle that is
/// tied to many others. Some are pinned, some heavy, some coincident.
fn cloth(columns: u32, count: u32) -> (ParticleArrays, ConstraintGraph) {
    let rest: SoaVec3 = (0..count)
        .map(|i| Vec3::new((i % columns) as f32, (i / columns) as f32, (i % 3) as f32) * 0.1)
        .collect();
    let (mut pairs, mut bends) = (Vec::new(), Vec::new());
    for i in 0..count {
        pairs.push((ConstraintKind::Structural, i, i + columns));
        bends.push(BendStencil::three_point([i, i + columns, i + 2 * columns]));
        if i % columns + 1 < columns {
            bends.push(BendStencil::dihedral(
                [i, i + 1],
                [i + columns, i + columns + 1],
            ));
            pairs.push((ConstraintKind::Structural, i, i + 1));
            pairs.push((ConstraintKind::Shear, i, i + columns + 1));
        }
    }
    pairs.extend((2..columns).map(|i| (ConstraintKind::Shear, 0, i * columns + 5)));
    let mut graph = ConstraintGraph::new(&rest, &pairs);
    graph.add_bends(&rest, &bends);
    let mut moved = rest;
    for i in 0..count as usize {
        moved.add(i, Vec3::splat((i * i % 13) as f32 * 0.01));
    }
    moved.set(1, moved.get(2));
    let w = (0..count).map(|i| [1.0, 5.0, 0.0, 0.1, 2.0][i as usize % 5]);
    let mut particles = ParticleArrays::new(Vec3::ZERO, moved, w.collect());
    // Some touch colliders.
    for i in (0..count as usize).step_by(3) {
        let normal = Vec3::new(0.6, 0.0, if i % 2 == 0 { 0.8 } else { -0.8 });
        particles.contact_normal.set(i, normal);
    }
    particles.in_contact = true;
    (particles, graph)
}

fn assert_same_at_all_levels(columns: u32, count: u32, settings: &RelaxSettings) {
    let (particles, graph) = cloth(columns, count);
    assert_eq!(graph.grids().count(), 0);
    let bits = same_bits(|| {
        let (mut particles, mut graph) = (particles.clone(), graph.clone());
        relax(&mut Workers::serial(), &mut particles, &mut graph, settings);
        for supported in [Supported::Slide, Supported::Hold] {
            let ratio = 1.1;
            let limit = StretchLimit { ratio, supported };
            limit_strain(&mut Workers::serial(), &mut particles, &mut graph, limit);
        }
        let lambda = graph.lists().flat_map(|(_, list)| &list.lambda);
        let lambda = lambda.map(|lambda| lambda.to_bits());
        particles.position.bits().chain(lambda).collect()
    });
    let before: Vec<u32> = particles.position.bits().collect();
    assert_ne!(bits[..before.len()], before);
}

#[test]
fn all_levels_give_the_bits_of_the_reference() {
    // With and without λ; batches of many chunks, with tails of all lengths, and batches that share
    // particles; chain batches that are full and others with lanes of all lengths.
    for stretch_solver in [StretchSolver::Direct, StretchSolver::GaussSeidel] {
        for settings in [
            relax_settings(1, 0.0, false),
            relax_settings(1, 1e-5, true),
            relax_settings(3, 1e-5, false),
        ] {
            for count in [9, 13, 100, 401, 2000] {
                for strain_limit in [f32::INFINITY, 0.05] {
                    let settings = RelaxSettings {
                        stretch_solver,
                        strain_limit,
                        ..settings
                    };
                    assert_same_at_all_levels(90.min(count / 3), count, &settings);
                }
            }
        }
    }
    let (_, graph) = cloth(90, 8100);
    assert!(graph.general.batches().any(|batch| !batch.independent));
    assert!(graph.general.chain_batches().count() > 4);
    assert_same_at_all_levels(90, 8100, &relax_settings(2, 0.0, false));
}

#[test]
fn a_chain_is_solved_as_a_whole() {
    // Sixteen chains of forty links, each pinned at one end and stretched by half, 2 m too long: one direct
    // pass brings the far end back up to the stiffness of the chain, one Gauss–Seidel pass hardly moves it.
    let rest: SoaVec3 = (0..16 * 41)
        .map(|i| Vec3::new((i / 41) as f32, (i % 41) as f32 * 0.1, 0.0))
        .collect();
    let pairs: Vec<_> = (0..16 * 41_u32)
        .filter(|i| i % 41 < 40)
        .map(|i| (ConstraintKind::Structural, i, i + 1))
        .collect();
    let mut graph = ConstraintGraph::new(&rest, &pairs);
    let count = graph.general.chain_batches().count();
    assert_eq!((count, graph.batch_count()), (1, 0));
    let moved = rest
        .iter()
        .map(|at| at * Vec3::new(1.0, 1.5, 1.0))
        .collect();
    let w = (0..16 * 41).map(|i| f32::from(u8::from(i % 41 > 0)));
    let stretched = ParticleArrays::new(Vec3::ZERO, moved, w.collect());
    for (stretch_solver, left) in [
        (StretchSolver::Direct, 0.0..0.2),
        (StretchSolver::GaussSeidel, 1.9..2.0),
    ] {
        let mut particles = stretched.clone();
        let settings = RelaxSettings {
            relaxation_factor: 1.0,
            chain_regularization: 1e-4,
            stretch_solver,
            ..relax_settings(1, 0.0, false)
        };
        relax(
            &mut Workers::serial(),
            &mut particles,
            &mut graph,
            &settings,
        );
        for end in (40..rest.len()).step_by(41) {
            let error = particles.position.get(end).y - rest.get(end).y;
            assert!(left.contains(&error), "{stretch_solver:?}: {error}");
        }
    }
}

#[test]
fn all_levels_give_the_bits_of_the_reference_in_all_regions() {
    let count = 3 * REGION + BLOCK + 1001;
    for settings in [relax_settings(1, 0.0, false), relax_settings(2, 1e-5, true)] {
        assert_same_at_all_levels(90, count as u32, &settings);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (particles, graph) = cloth(90, 3 * REGION as u32 + 1001);
    let occupied = graph.general.regions().iter();
    let occupied = occupied.filter(|region| region.lists().any(|(_, list)| list.len() > 0));
    assert_eq!(occupied.count(), 4 + 3 + 1);
    let bits = threads::COUNTS.map(|count| {
        let (mut particles, mut graph) = (particles.clone(), graph.clone());
        threads::with(count, |workers| {
            let settings = relax_settings(2, 1e-5, true);
            relax(workers, &mut particles, &mut graph, &settings);
        });
        particles.position.bits().collect::<Vec<u32>>()
    });
    assert!(bits.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn few_constraints_among_many_particles() {
    // Few enough constraints that they are solved without the packed copy.
    let (mut particles, graph) = cloth(50, 2500);
    let near = graph.iter().filter(|constraint| constraint.ends()[1] < 103);
    let pairs: Vec<_> = near.map(|c| (c.kind(), c.ends()[0], c.ends()[1])).collect();
    let graph = ConstraintGraph::new(&particles.position, &pairs);
    assert!(graph.len() > 200 && graph.len() < 500 && graph.general.chain_batches().count() == 0);
    for i in 0..2500 {
        particles.position.add(i, Vec3::Y * (i % 7) as f32 * 0.01);
    }
    let settings = relax_settings(1, 0.0, false);
    let bits = same_bits(|| {
        let mut particles = particles.clone();
        relax(
            &mut Workers::serial(),
            &mut particles,
            &mut graph.clone(),
            &settings,
        );
        particles.position.bits().collect()
    });
    let before: Vec<u32> = particles.position.bits().collect();
    let moved = |i: usize| bits[i] != before[i];
    assert!((0..103).filter(|&i| moved(i)).count() > 50);
    assert!(!(103..2500).any(moved));
}
