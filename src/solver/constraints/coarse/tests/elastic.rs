use super::*;
use crate::solver::simd::levels;

#[test]
fn each_level_is_as_stiff_as_the_mesh() {
    let sheet = flat(40, 40);
    let at = |particle: u32| sheet.rest.get(particle as usize).y;
    // Stretched alike everywhere, springs between nodes store as much energy as the edges.
    let edges = sheet.graph.of_kind(ConstraintKind::Structural);
    let energy: f32 = edges.map(|([a, b], _)| (at(a) - at(b)).powi(2)).sum();
    for level in levels(&sheet) {
        let springs = level.stiffness.springs();
        let stored = springs.map(|(ends, stiffness)| {
            let [a, b] = ends.map(|node| at(level.nodes[node as usize]));
            stiffness * (a - b).powi(2)
        });
        let ratio = stored.sum::<f32>() / energy;
        assert!((0.9..1.02).contains(&ratio), "{ratio}");
    }
}

/// Sheet of 30 × 30 particles that has hung for 6 s.
pub(super) struct Hung {
    /// How far the lower edge has sunk, as a fraction of what its stiffness says.
    pub(super) sag: f32,
    /// Speed of the fastest particle, m/s.
    pub(super) speed: f32,
    /// Load of the edges halfway down as a fraction of the weight below, if it is recorded.
    pub(super) load: f32,
}

/// Particles of the upper edge of the sheet.
pub(super) const UPPER_EDGE: &[usize] = &{
    let mut edge = [0; 30];
    let mut i = 0;
    while i < 30 {
        edge[i] = 870 + i;
        i += 1;
    }
    edge
};

/// Lets a sheet hang from these particles. `stiffness` is that of its fabric, N/m.
pub(super) fn hang(sheet: &mut Sheet, stiffness: f32, pins: &[usize], loads: bool) -> Hung {
    const RATE: f32 = 480.0;
    let triangles = sheet.triangles.clone().into();
    sheet.graph.measure_aspects(&sheet.rest, &triangles);
    let mut particles = sheet.stretched(1.0);
    let area: f32 = particles.inverse_mass.iter().map(|w| 1.0 / w).sum();
    let size = 29.0 * EDGE;
    let density = area / (size * size);
    for &pin in pins {
        particles.inverse_mass[pin] = 0.0;
    }
    let settings = RelaxSettings {
        compliance: Compliance::of_stretch(1.0 / stiffness),
        dt: 1.0 / RATE,
        loads,
        ..RelaxSettings::default()
    };
    let mut before = particles.position.clone();
    for _ in 0..3000 {
        for i in (0..900).filter(|&i| particles.inverse_mass[i] > 0.0) {
            let at = particles.position.get(i);
            let moved = (at - before.get(i)) * 0.98;
            before.set(i, at);
            let fall = Vec3::NEG_Y / (RATE * RATE);
            particles.position.set(i, at + moved + fall);
        }
        relax(
            &mut Workers::serial(),
            &mut particles,
            &mut sheet.graph,
            &settings,
        );
    }
    let moved = before.iter().zip(particles.position.iter());
    let moved = moved.map(|(before, now)| now.distance(before));
    let lower: f32 = (0..30).map(|i| -particles.position.get(i).y).sum();
    let expected = density * size * size / (2.0 * stiffness);
    sheet.graph.clear_loads();
    sheet.graph.add_loads(settings.dt, 1.0);
    let down = sheet.graph.loads().map(|(edge, load)| {
        let [a, b] = edge.particles;
        let crosses = (a < 450) != (b < 450);
        let [a, b] = [a, b].map(|i| particles.position.get(i as usize));
        let down = load * (a.y - b.y).abs() / a.distance(b);
        if crosses { down } else { 0.0 }
    });
    let weight: f32 = particles.inverse_mass[..450].iter().map(|w| 1.0 / w).sum();
    Hung {
        sag: lower / 30.0 / expected,
        speed: moved.fold(0.0, f32::max) * RATE,
        load: down.sum::<f32>() / weight,
    }
}

#[test]
fn recorded_loads_balance_the_weight() {
    for stiffness in [1e2, 3e3, 1e5, 1e7, f32::INFINITY] {
        let Hung { load, .. } = hang(&mut flat(30, 30), stiffness, UPPER_EDGE, true);
        assert!((0.85..1.05).contains(&load), "{stiffness}: {load}");
    }
}

#[test]
fn fabric_of_any_stiffness_comes_to_rest() {
    for stiffness in [1e5, 1e7, 1e9, 1e12] {
        let Hung { sag, speed, .. } = hang(&mut flat(30, 30), stiffness, UPPER_EDGE, false);
        assert!(speed < 1e-3, "{stiffness}: {speed}");
        // No more than rounding moves the lower edge.
        let strain = sag / stiffness;
        assert!((0.0..2e-5).contains(&strain), "{stiffness}: {strain}");
    }
}

#[test]
fn fabric_comes_to_rest_from_pins_that_are_no_nodes() {
    let mut sheet = flat(30, 30);
    for pins in [[870, 899], [871, 898], [873, 897], [874, 895]] {
        let is_node = |pin: &usize| levels(&sheet)[0].nodes.contains(&(*pin as u32));
        assert!(!pins.iter().all(is_node));
        for stiffness in [1e4, 1e6] {
            let Hung { speed, .. } = hang(&mut sheet, stiffness, &pins, false);
            assert!(speed < 1e-3, "{pins:?} {stiffness}: {speed}");
        }
    }
}

#[test]
fn elastic_fabric_hangs_as_long_as_its_stiffness_says() {
    for stiffness in [100.0, 3000.0] {
        let Hung { sag, speed, .. } = hang(&mut flat(30, 30), stiffness, UPPER_EDGE, false);
        assert!((0.9..1.1).contains(&sag), "{stiffness}: {sag}");
        assert!(speed < 0.01, "{stiffness}: {speed}");
    }
}

#[test]
fn cloth_at_rest_does_not_move() {
    let sheet = flat(30, 30);
    let mut particles = sheet.stretched(1.0);
    let lambda = sheet.solve_elastic(&mut particles, 1e-3);
    let moved = (0..900).map(|i| particles.position.get(i).distance(sheet.rest.get(i)));
    assert!(moved.fold(0.0, f32::max) < 1e-6 * EDGE);
    assert!(lambda.iter().all(|lambda| lambda.abs() < 1e-5));
}

#[test]
fn edges_of_stretched_cloth_begin_with_their_common_strain() {
    // So soft and heavy that it does not move.
    let sheet = flat(30, 30);
    let mut particles = sheet.stretched(1.04);
    let lambda = sheet.solve_elastic(&mut particles, 1e9);
    let strains: Vec<f32> = lambda.iter().map(|lambda| -lambda).collect();
    let most = strains.iter().copied().fold(0.0, f32::max);
    let least = strains.iter().copied().fold(0.0, f32::min);
    assert!((0.038..0.042).contains(&most), "{most}");
    assert!((-0.002..0.002).contains(&least), "{least}");
}

#[test]
fn a_flattened_tube_is_not_stretched() {
    // Circumference and diameter in edges; the way around is the same in a flat one.
    let around = 20.0 * EDGE;
    let sheet = sheet(21, 40, |at| roll(at, around));
    let flat = plane(21, 40);
    let mut particles = sheet.stretched(1.0);
    for i in 0..particles.len() {
        let at = flat(i as u32);
        let across = (at.x - 0.5 * around).abs();
        let side = if at.x < 0.5 * around { 0.1 } else { -0.1 } * EDGE;
        particles.position.set(i, Vec3::new(across, at.y, side));
    }
    let lambda = sheet.solve_elastic(&mut particles, 1e9);
    let strains = lambda.iter().map(|lambda| lambda.abs());
    // Between the means around the nodes it is more than 10 %; edges at the folds are shorter.
    let mean = strains.sum::<f32>() / lambda.len() as f32;
    assert!(mean < 0.01, "{mean}");
}

#[test]
fn elastic_nodes_are_not_moved_into_colliders() {
    let sheet = flat(30, 30);
    let mut free = sheet.stretched(1.2);
    let start = free.position.get(899).y;
    sheet.solve_elastic(&mut free, 1e-3);
    let mut particles = sheet.stretched(1.2);
    for i in 0..particles.len() {
        // The upper end would be pulled into the surface.
        particles.contact_normal.set(i, Vec3::Y);
    }
    particles.in_contact = true;
    sheet.solve_elastic(&mut particles, 1e-3);
    let [free, supported] = [free, particles].map(|p| start - p.position.get(899).y);
    assert!(free > 0.1 * EDGE, "{free}");
    assert!(supported < 0.2 * free, "{supported}, {free}");
}

#[test]
fn one_particle_without_a_position_spoils_no_other() {
    let sheet = flat(30, 30);
    for place in [f32::NAN, f32::INFINITY, 1e30] {
        let mut particles = sheet.stretched(1.1);
        particles.position.set(450, Vec3::splat(place));
        let lambda = sheet.solve_elastic(&mut particles, 1e-3);
        let others = (0..900).filter(|&i| i != 450);
        let mut others = others.map(|i| particles.position.get(i));
        assert!(others.all(|at| at.is_finite()), "{place}");
        assert!(lambda.iter().all(|lambda| lambda.is_finite()), "{place}");
    }
}

#[test]
fn what_was_solved_before_has_no_effect() {
    let [small, large] = [flat(30, 30), flat(60, 60)];
    let solve = |sheet: &Sheet| {
        let mut particles = sheet.stretched(1.1);
        sheet.solve_elastic(&mut particles, 1e-3);
        particles.position
    };
    let first = solve(&small);
    solve(&large);
    assert_eq!(solve(&small), first);
}

#[test]
fn all_simd_levels_give_the_same_bits() {
    let sheet = flat(40, 40);
    levels::same_bits(|| {
        let mut particles = sheet.stretched(1.1);
        particles.inverse_mass[123] = 0.0;
        let lambda = sheet.solve_elastic(&mut particles, 1e-3);
        let lambda = lambda.iter().map(|lambda| lambda.to_bits());
        particles.position.bits().chain(lambda).collect()
    });
}
