mod elastic;
mod odd_meshes;
mod open;

use super::{
    CoarseLevel, CoarseLevels, CoarseLink, number_edges, stiffness::StiffnessMatrix,
    strain::CommonStrain,
};
use crate::solver::{
    ConstraintGraph, ConstraintKind, ParticleArrays, RelaxSettings, SoaVec3, Workers,
    constraints::{compliance::Compliance, geodesic::RestShape, points::Points},
    parallel::workers::threads,
    relax,
};
use bevy::math::{Vec2, Vec3};
use std::f32::consts::TAU;

/// Distance of neighbouring particles before they are moved at random, m.
const EDGE: f32 = 0.1;

/// Irregular mesh and its constraints.
struct Sheet {
    rest: SoaVec3,
    triangles: Vec<[u32; 3]>,
    graph: ConstraintGraph,
}

/// Returns where a point of a sheet lies in a tube of this circumference.
fn roll(at: Vec2, circumference: f32) -> Vec3 {
    let radius = circumference / TAU;
    let angle = at.x / radius;
    Vec3::new(angle.sin() * radius, at.y, (1.0 - angle.cos()) * radius)
}

/// Positions of the particles in the plane: those inside are moved at random.
fn plane(columns: u32, rows: u32) -> impl Fn(u32) -> Vec2 {
    let random = |i: u32| (f64::from(i) * 0.618_034).fract() as f32 - 0.5;
    move |i| {
        let [column, row] = [i % columns, i / columns];
        let is_inside = column > 0 && row > 0 && column + 1 < columns && row + 1 < rows;
        let by =
            Vec2::new(random(i * 7 + 3), random(i * 13 + 5)) * if is_inside { 0.6 } else { 0.0 };
        (Vec2::new(column as f32, row as f32) + by) * EDGE
    }
}

/// Returns the edges of triangles as constraints, without levels.
fn graph_of(rest: &SoaVec3, triangles: &[[u32; 3]]) -> ConstraintGraph {
    let sides = triangles
        .iter()
        .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
    let pairs: Vec<_> = sides
        .map(|(a, b)| (ConstraintKind::Structural, a, b))
        .collect();
    ConstraintGraph::new(rest, &pairs)
}

fn sheet(columns: u32, rows: u32, place: impl Fn(Vec2) -> Vec3) -> Sheet {
    let at = plane(columns, rows);
    let rest: SoaVec3 = (0..columns * rows).map(|i| place(at(i))).collect();
    let mut triangles = Vec::new();
    for i in (0..columns * (rows - 1)).filter(|i| i % columns + 1 < columns) {
        let [a, b, c, d] = [i, i + 1, i + columns, i + columns + 1];
        triangles.extend(match i * i % 7 < 3 {
            true => [[a, b, d], [a, d, c]],
            false => [[a, b, c], [b, d, c]],
        });
    }
    let mut graph = graph_of(&rest, &triangles);
    let (coarse, numbers) = CoarseLevels::new(&RestShape {
        positions: &rest,
        triangles: &triangles,
        constraints: &graph,
    });
    graph.coarse = coarse;
    number_edges(&mut graph.general, numbers);
    Sheet {
        rest,
        triangles,
        graph,
    }
}

fn flat(columns: u32, rows: u32) -> Sheet {
    sheet(columns, rows, |at| at.extend(0.0))
}

/// Returns the length of a link divided by the distance of its nodes.
fn detour(sheet: &Sheet, level: &CoarseLevel, link: &CoarseLink) -> f32 {
    let at = |node: u16| sheet.rest.get(level.nodes[usize::from(node)] as usize);
    let [a, b] = link.nodes;
    link.rest / at(a).distance(at(b))
}

fn levels(sheet: &Sheet) -> &[CoarseLevel] {
    &sheet.graph.coarse.levels
}

impl Sheet {
    /// Particles stretched to `scale` times the rest shape along y.
    fn stretched(&self, scale: f32) -> ParticleArrays {
        let stretched = self
            .rest
            .iter()
            .map(|at| at * Vec3::new(1.0, scale, 1.0))
            .collect();
        let mut areas = vec![0.0; self.rest.len()];
        for &corners in &self.triangles {
            let [a, b, c] = corners.map(|i| self.rest.get(i as usize));
            corners
                .iter()
                .for_each(|&i| areas[i as usize] += (b - a).cross(c - a).length());
        }
        ParticleArrays::new(
            Vec3::ZERO,
            stretched,
            areas.iter().map(|area| 1.0 / area).collect(),
        )
    }

    fn solve(&self, particles: &mut ParticleArrays) {
        let mut points = Points::with_contacts(particles);
        self.graph.coarse.solve(&mut Workers::serial(), &mut points);
    }

    /// Solves the levels of elastic fabric, and returns the multiplier of each edge times α̃ divided by its rest length.
    fn solve_elastic(&self, particles: &mut ParticleArrays, alpha: f32) -> Vec<f32> {
        let mut points = Points::with_contacts(particles);
        let mut graph = self.graph.clone();
        let ConstraintGraph {
            general, coarse, ..
        } = &mut graph;
        general
            .lists_mut()
            .for_each(|(_, list)| list.clear_lambda(true));
        coarse.solve_elastic(&mut Workers::serial(), &mut points, general, alpha);
        let edges = general
            .lists()
            .filter(|(_, list)| list.kind == ConstraintKind::Structural);
        let slots = edges.flat_map(|(_, list)| list.lambda.iter().zip(&*list.rest));
        let occupied = slots.filter(|(_, rest)| **rest > 0.0);
        occupied
            .map(|(lambda, rest)| lambda * alpha / rest)
            .collect()
    }
}

#[test]
fn levels_become_coarser_and_cover_the_cloth() {
    let sheet = flat(40, 40);
    let sizes: Vec<usize> = levels(&sheet)
        .iter()
        .map(|level| level.nodes.len())
        .collect();
    assert!(matches!(sizes[..], [140..300, 16..60]), "{sizes:?}");
    // Of a flat sheet no way is longer than the straight one, and almost every particle lies in its triangle of nodes.
    for level in levels(&sheet) {
        let straight = level
            .links
            .iter()
            .filter(|link| detour(&sheet, level, link) < 1.001);
        assert!(straight.count() * 20 > level.links.len() * 19);
        assert!(level.links.len() > 2 * level.nodes.len());
    }
    let finest = &levels(&sheet)[0];
    let at = |node: u16| sheet.rest.get(finest.nodes[usize::from(node)] as usize);
    let mut exact = 0;
    for ((&corners, &[u, v]), place) in finest
        .corners
        .iter()
        .zip(&finest.weights)
        .zip(sheet.rest.iter())
    {
        let [a, b, c] = corners.map(at);
        let between = a * u + b * v + c * (1.0 - u - v);
        assert!(between.distance(place) < 2.0 * EDGE);
        exact += u32::from(between.distance(place) < 0.01 * EDGE);
    }
    assert!(exact > 40 * 40 * 8 / 10, "{exact}");
}

#[test]
fn links_are_as_long_as_the_way_over_the_cloth() {
    // Three quarters of a tube; `at` is the same sheet flat.
    let circumference = 4.0;
    let tube = sheet(31, 40, |at| roll(at, circumference));
    let at = plane(31, 40);
    let mut longest = 0.0_f32;
    for level in levels(&tube) {
        let mut good = 0;
        for link in &level.links {
            let [a, b] = link.nodes.map(|node| at(level.nodes[usize::from(node)]));
            // Edges are chords, so the way is a little shorter than the arc.
            assert!(link.rest > 0.98 * a.distance(b));
            good += usize::from(link.rest < 1.01 * a.distance(b));
            longest = longest.max(detour(&tube, level, link));
        }
        assert!(
            good * 10 > level.links.len() * 9,
            "{good} of {}",
            level.links.len()
        );
    }
    assert!(longest > 1.05, "{longest}");
}

#[test]
fn stretched_cloth_contracts_and_keeps_its_momentum() {
    let sheet = flat(40, 40);
    let mut particles = sheet.stretched(1.05);
    let (mut before, mut after, mut mass) = (Vec3::ZERO, Vec3::ZERO, 0.0);
    let start = particles.clone();
    sheet.solve(&mut particles);
    for i in 0..particles.len() {
        let own = 1.0 / particles.inverse_mass[i];
        mass += own;
        before += start.position.get(i) * own;
        after += particles.position.get(i) * own;
    }
    assert!(
        before.distance(after) < 1e-5 * mass,
        "{}",
        before.distance(after) / mass
    );
    let height = |particles: &ParticleArrays| {
        let y = (0..particles.len()).map(|i| particles.position.get(i).y);
        let (low, high) = y.fold((f32::MAX, f32::MIN), |(low, high), y| {
            (low.min(y), high.max(y))
        });
        high - low
    };
    let [all, left] = [&start, &particles].map(|particles| height(particles) / (39.0 * EDGE) - 1.0);
    assert!(left < 0.6 * all, "{left} of {all}");
}

#[test]
fn folds_and_pinned_particles_do_not_move() {
    let sheet = flat(30, 30);
    // Folded: shorter along y, by steps up and down.
    let mut particles = sheet.stretched(0.6);
    let before = particles.clone();
    sheet.solve(&mut particles);
    assert_eq!(particles.position, before.position);
    let mut particles = sheet.stretched(1.2);
    let pinned = 400..450;
    particles.inverse_mass[pinned.clone()].fill(0.0);
    let before = particles.clone();
    sheet.solve(&mut particles);
    assert_ne!(particles.position, before.position);
    for i in pinned {
        assert_eq!(particles.position.get(i), before.position.get(i));
    }
    particles.inverse_mass.fill(0.0);
    let before = particles.clone();
    sheet.solve(&mut particles);
    assert_eq!(particles.position, before.position);
}

#[test]
fn nodes_are_not_moved_into_colliders() {
    let sheet = flat(30, 30);
    let mut particles = sheet.stretched(1.2);
    for i in 0..particles.len() {
        // All links lead into the surface at one end.
        particles.contact_normal.set(i, Vec3::Y);
    }
    particles.in_contact = true;
    let mut free = sheet.stretched(1.2);
    sheet.solve(&mut free);
    let start = free.position.get(899).y;
    sheet.solve(&mut particles);
    // The upper end stays where it is supported.
    assert!(particles.position.get(899).y > start);
}

#[test]
fn changes_of_constraints_remove_the_levels() {
    let whole = flat(30, 30);
    let mut longer = whole.graph.clone();
    longer.rest_lengths_mut().for_each(|rest| *rest *= 2.0);
    let mut fewer = whole.graph.clone();
    fewer.retain(|_| true);
    let mut scaled = whole.graph.clone();
    scaled.set_rest_lengths(&whole.rest);
    for changed in [longer, fewer, scaled] {
        assert!(changed.coarse.is_empty());
    }
}

#[test]
fn only_irregular_meshes_have_levels() {
    let mut irregular = flat(30, 30);
    irregular.graph.coarse = CoarseLevels::default();
    irregular
        .graph
        .add_coarse_levels(&irregular.rest, &irregular.triangles.clone().into());
    assert!(!irregular.graph.coarse.is_empty());
    // A rope, and a mesh too small.
    irregular
        .graph
        .add_coarse_levels(&irregular.rest, &Vec::new().into());
    assert!(irregular.graph.coarse.is_empty());
    assert!(flat(6, 6).graph.coarse.is_empty());
    // A grid with diagonals, without its layout.
    let rest: SoaVec3 = (0..900)
        .map(|i| Vec3::new((i % 30) as f32, (i / 30) as f32, 0.0))
        .collect();
    let mut pairs = Vec::new();
    for i in 0..900 {
        pairs.extend((i % 30 < 29).then_some((ConstraintKind::Structural, i, i + 1)));
        pairs.push((ConstraintKind::Structural, i, i + 30));
    }
    let mut regular = ConstraintGraph::new(&rest, &pairs);
    regular.add_coarse_levels(&rest, &irregular.triangles.clone().into());
    assert!(regular.coarse.is_empty());
}

#[test]
fn damaged_levels_are_found() {
    let sheet = flat(30, 30);
    let is_sound = |damage: &dyn Fn(&mut CoarseLevel)| {
        let mut levels = sheet.graph.coarse.clone();
        damage(&mut levels.levels[0]);
        levels.is_sound(900)
    };
    let other = flat(20, 20).graph.coarse.common;
    let other_common = other.clone();
    let mixed = CoarseLevels {
        common: other,
        ..sheet.graph.coarse.clone()
    };
    assert!(!mixed.is_sound(900));
    assert!(is_sound(&|_| ()));
    assert!(!is_sound(&|level| level.nodes[3] = 900));
    assert!(!is_sound(&|level| level.links[3].nodes[0] = 900));
    assert!(!is_sound(&|level| level.links[3].rest = f32::NAN));
    assert!(!is_sound(&|level| level.corners[3][2] = 900));
    assert!(!is_sound(&|level| level.weights[3][1] = f32::INFINITY));
    assert!(!is_sound(&|level| level.mass_ratios.truncate(3)));
    assert!(!is_sound(&|level| level.corners.push([0; 3])));
    assert!(!is_sound(&|level| {
        level.corners.truncate(3);
        level.weights.truncate(3);
    }));
    assert!(!is_sound(
        &|level| level.stiffness = StiffnessMatrix::default()
    ));
    let is_sound_with = |damage: &dyn Fn(&mut CommonStrain)| {
        let mut levels = sheet.graph.coarse.clone();
        damage(&mut levels.common);
        levels.is_sound(900)
    };
    assert!(is_sound_with(&|_| ()));
    assert!(!is_sound_with(&|common| *common = CommonStrain::default()));
    assert!(!is_sound_with(&|common| common.triangles[3].nodes[1] = 900));
    assert!(!is_sound_with(&|common| common.triangles.truncate(3)));
    assert!(!is_sound_with(
        &|common| common.edges = other_common.edges.clone()
    ));
    assert!(!is_sound(&|level| level.mass_ratios[3] = 2.0));
    assert!(!is_sound(&|level| level.weights[3] = [0.8; 2]));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let sheet = flat(100, 100);
    for (compliance, loads) in [(0.0, false), (0.0, true), (1e-3, false), (1e-3, true)] {
        let results = threads::COUNTS.map(|count| {
            let (mut particles, mut graph) = (sheet.stretched(1.1), sheet.graph.clone());
            for pin in [33, 5000, 9999] {
                particles.inverse_mass[pin] = 0.0;
            }
            let settings = RelaxSettings {
                compliance: Compliance::of_stretch(compliance),
                loads,
                ..RelaxSettings::default()
            };
            graph.clear_loads();
            threads::with(count, |workers| {
                relax(workers, &mut particles, &mut graph, &settings);
            });
            graph.add_loads(settings.dt, 1.0);
            let loads = graph.loads().map(|(_, load)| load.to_bits());
            particles.position.bits().chain(loads).collect::<Vec<u32>>()
        });
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
