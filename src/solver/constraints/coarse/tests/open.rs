use super::{
    elastic::{Hung, UPPER_EDGE, hang},
    *,
};
use crate::solver::{
    Triangles,
    constraints::edit::GraphEdit,
    topology::{EditTarget, TopologyEdit},
};

/// Cuts all edges of a sheet of 30 × 30 particles between those for which `is_first` is true and others, in these rows.
fn cut(sheet: &mut Sheet, rows: std::ops::Range<u32>, is_first: impl Fn(u32) -> bool) {
    let edges = sheet.graph.find_constraints(|[a, b]| {
        is_first(a) != is_first(b) && rows.contains(&(a / 30)) && rows.contains(&(b / 30))
    });
    let opened = edges.iter().flat_map(|(_, edge)| edge.ends());
    let edit = GraphEdit {
        opened: opened.collect(),
        removed: edges.iter().map(|(slot, _)| *slot).collect(),
        ..GraphEdit::default()
    };
    sheet.graph.apply(edit, 900);
}

fn relax_once(sheet: &Sheet, particles: &mut ParticleArrays, compliance: f32) {
    let settings = RelaxSettings {
        compliance: Compliance::of_stretch(compliance),
        ..RelaxSettings::default()
    };
    let mut graph = sheet.graph.clone();
    relax(&mut Workers::serial(), particles, &mut graph, &settings);
}

#[test]
fn pieces_that_are_cut_apart_do_not_move_each_other() {
    let mut sheet = flat(30, 30);
    let is_lower = |particle: u32| particle < 450;
    cut(&mut sheet, 0..30, is_lower);
    assert!(!sheet.graph.coarse.is_empty());
    let start = sheet.stretched(1.0);
    for compliance in [0.0, 1e-3] {
        let mut particles = start.clone();
        for i in 0..450 {
            let at = particles.position.get(i);
            particles.position.set(i, at * 1.1 - Vec3::Y);
        }
        let lower = particles.position.get(0);
        relax_once(&sheet, &mut particles, compliance);
        assert!(particles.position.get(0).distance(lower) > 0.01 * EDGE);
        for i in 450..900 {
            let moved = particles.position.get(i).distance(start.position.get(i));
            assert!(moved < 1e-5 * EDGE, "{i}: {moved}");
        }
    }
}

#[test]
fn torn_off_cloth_does_not_move_the_rest() {
    let mut sheet = flat(30, 30);
    let mut start = sheet.stretched(1.0);
    let mut triangles = Triangles::new(sheet.triangles.clone(), &sheet.rest);
    let mut rest = sheet.rest.iter().collect();
    let mut edit = TopologyEdit::new(EditTarget {
        particles: &mut start,
        constraints: &mut sheet.graph,
        triangles: &mut triangles,
        rest: &mut rest,
        edge_length: EDGE,
    });
    assert_eq!(edit.open_edges((450..479).map(|i| [i, i + 1])), 29);
    edit.finish();
    assert!(start.len() > 900);
    assert!(sheet.graph.coarse.is_sound(start.len()));
    let mut is_lower = vec![false; start.len()];
    is_lower[0] = true;
    for _ in 0..60 {
        for triangle in triangles.indices.iter() {
            if triangle.iter().any(|&i| is_lower[i as usize]) {
                triangle.iter().for_each(|&i| is_lower[i as usize] = true);
            }
        }
    }
    assert!(!is_lower[899]);
    for compliance in [0.0, 1e-3] {
        let mut particles = start.clone();
        for i in (0..particles.len()).filter(|&i| is_lower[i]) {
            let at = particles.position.get(i);
            particles.position.set(i, at * 1.1 - Vec3::Y);
        }
        relax_once(&sheet, &mut particles, compliance);
        for i in (0..particles.len()).filter(|&i| !is_lower[i]) {
            let moved = particles.position.get(i).distance(start.position.get(i));
            assert!(moved < 1e-4 * EDGE, "{i}: {moved}");
        }
    }
}

#[test]
fn fabric_beside_a_slit_is_as_stiff_as_before() {
    for stiffness in [100.0, 3000.0] {
        let mut sheet = flat(30, 30);
        cut(&mut sheet, 0..20, |particle| particle % 30 < 15);
        let Hung { sag, speed, .. } = hang(&mut sheet, stiffness, UPPER_EDGE, false);
        assert!((0.9..1.2).contains(&sag), "{stiffness}: {sag}");
        assert!(speed < 0.01, "{stiffness}: {speed}");
    }
}

#[test]
fn particles_added_at_a_cut_belong_to_open_nodes() {
    for (opened, expected) in [(vec![430, 431], 2..8), (vec![], 1..2)] {
        let mut graph = flat(30, 30).graph;
        let edit = GraphEdit {
            opened,
            ..GraphEdit::default()
        };
        graph.apply(edit, 905);
        assert!(graph.coarse.is_sound(905));
        let finest = &graph.coarse.levels[0];
        for corner in finest.corners[900..].as_flattened() {
            assert_eq!(finest.mass_ratios[usize::from(*corner)], 0.0);
        }
        let open = finest.mass_ratios.iter().filter(|ratio| **ratio == 0.0);
        assert!(expected.contains(&open.count()));
    }
}
