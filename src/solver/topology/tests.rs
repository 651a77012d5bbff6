//! Topology edits of cloths, and the invariants of each.

use super::*;
use crate::{
    mesh::{ClothGrid, Diagonals, Topology, TriangleMesh},
    solver::{
        BendStencil, Constraint, ConstraintGraph, ConstraintKind, ParticleArrays, SoaVec3,
        Triangles,
    },
};
use bevy::math::{Mat3, Vec3};
use std::collections::{BTreeMap, BTreeSet};

mod random;

struct Cloth {
    particles: ParticleArrays,
    constraints: ConstraintGraph,
    triangles: Triangles,
    rest: Vec<Vec3>,
}

impl Cloth {
    fn new(grid: ClothGrid) -> Self {
        let topology = Topology::new(&TriangleMesh::read(&grid.into()).unwrap()).unwrap();
        let cloth = topology.assemble(Vec3::new(3.0, -1.0, 2.0), Mat3::IDENTITY, 0.2);
        Self {
            particles: cloth.particles,
            constraints: cloth.constraints,
            triangles: cloth.triangles,
            rest: topology.positions.to_vec(),
        }
    }

    /// Creates a grid of `n` × `n` particles, 1 m apart.
    fn square(n: u32) -> Self {
        let side = (n - 1) as f32;
        Self::new(ClothGrid::new(side, side, n, n))
    }

    fn edit(&mut self) -> TopologyEdit<'_> {
        TopologyEdit::new(EditTarget {
            particles: &mut self.particles,
            constraints: &mut self.constraints,
            triangles: &mut self.triangles,
            rest: &mut self.rest,
            edge_length: 1.0,
        })
    }

    /// Cuts straight down between two positions of the rest shape.
    fn cut(&mut self, from: Vec3, to: Vec3) -> TopologyChanges {
        let origin = self.particles.origin;
        let blade = Blade::stroke(from + origin, to + origin, Vec3::Y * 5.0);
        let most = 4 * self.particles.len();
        let mut edit = self.edit();
        edit.cut(&blade, None, most);
        let changes = edit.finish();
        self.check();
        changes
    }

    fn tear(&mut self, edge: [u32; 2], least: u32) -> Option<TopologyChanges> {
        let mut edit = self.edit();
        let tore = edit.tear_across(edge, least);
        let changes = edit.finish();
        self.check();
        assert_eq!(tore, !changes.replaced.is_empty());
        tore.then_some(changes)
    }

    /// Returns the connected piece of each particle, by common triangles.
    fn islands(&self) -> Vec<usize> {
        let mut island: Vec<usize> = (0..self.particles.len()).collect();
        loop {
            let mut changed = false;
            for t in self.triangles.indices.iter() {
                let least = t.map(|i| island[i as usize]).into_iter().min().unwrap();
                for i in t {
                    changed |= island[i as usize] != least;
                    island[i as usize] = least;
                }
            }
            if !changed {
                return island;
            }
        }
    }

    fn island_count(&self) -> usize {
        self.islands().into_iter().collect::<BTreeSet<_>>().len()
    }

    /// Asserts the invariants of any cloth.
    fn check(&self) {
        let n = self.particles.len();
        assert_eq!(self.rest.len(), n);
        assert_eq!(self.particles.inverse_mass.len(), n);
        assert_eq!(self.particles.previous.len(), n);
        assert!(self.particles.is_finite());
        assert_eq!(self.triangles.indices.len(), self.triangles.rest_area.len());
        let mut edges: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        let mut used = vec![false; n];
        for [a, b, c] in self.triangles.indices.iter() {
            assert!(
                a != b && b != c && c != a,
                "a triangle with fewer than three corners"
            );
            for (a, b, opposite) in [(a, b, c), (b, c, a), (c, a, b)] {
                assert!((a as usize) < n);
                used[a as usize] = true;
                edges
                    .entry([a.min(b), a.max(b)])
                    .or_default()
                    .push(opposite);
            }
        }
        assert!(
            used.iter().all(|&used| used),
            "a particle without a triangle"
        );
        let (mut seen, mut bent) = (BTreeSet::new(), BTreeSet::new());
        for constraint in self.constraints.iter() {
            let [a, b] = constraint.ends();
            assert!((a as usize) < n && (b as usize) < n && a != b);
            let ends = [a.min(b), a.max(b)];
            match constraint {
                // Both copies of an edge along a cut have bend constraints.
                Constraint::Bend(bend) => {
                    let middle = bend.stencil().middle;
                    assert!(bent.insert((ends, middle)), "the same bend twice");
                    assert!(bend.rho() > 0.0);
                }
                Constraint::Distance(distance) => {
                    assert!(seen.insert(ends), "the same constraint twice");
                    assert!(distance.rest_length > 0.0);
                }
            }
            let is_edge = |a: u32, b: u32| edges.contains_key(&[a.min(b), a.max(b)]);
            let bridges_edge = || {
                edges
                    .values()
                    .any(|opposites| opposites.contains(&a) && opposites.contains(&b))
            };
            let bends = |[m, n]: [u32; 2]| {
                let opposites = edges.get(&[m.min(n), m.max(n)]);
                let over_edge = || opposites.is_some_and(|t| t.contains(&a) && t.contains(&b));
                (m == n && is_edge(a, m) && is_edge(m, b)) || over_edge()
            };
            let held = match constraint {
                Constraint::Bend(bend) => bends(bend.stencil().middle),
                _ => is_edge(a, b) || constraint.kind() == ConstraintKind::Shear && bridges_edge(),
            };
            assert!(held, "{constraint:?} connects nothing in the mesh");
        }
        for edge in edges.keys() {
            assert!(seen.contains(edge), "edge {edge:?} has no constraint");
        }
    }
}

#[test]
fn a_cut_along_a_column_leaves_two_complete_sheets() {
    // 7 × 7 particles; the cut goes through the particles of the fourth column.
    let mut cloth = Cloth::square(7);
    let changes = cloth.cut(Vec3::new(0.01, 0.0, -9.0), Vec3::new(0.01, 0.0, 9.0));
    assert_eq!(cloth.island_count(), 2);
    assert_eq!(cloth.particles.len(), 49 + 7);
    assert_eq!(changes.new_particles.len(), 7);
    assert_eq!(changes.opened_edges.len(), 6);
    assert_eq!(cloth.triangles.indices.len(), 72);
    // Two grids of 4 × 7.
    let count = |kind| cloth.constraints.count(kind);
    assert_eq!(count(ConstraintKind::Structural), 2 * (3 * 7 + 4 * 6));
    assert_eq!(count(ConstraintKind::Shear), 2 * (2 * 3 * 6));
    assert_eq!(count(ConstraintKind::Bend), 2 * (2 * 7 + 4 * 5));
    let island = cloth.islands();
    for c in cloth.constraints.iter() {
        let [a, b] = c.ends().map(|i| island[i as usize]);
        assert_eq!(a, b, "{c:?} connects the two halves");
    }
}

#[test]
fn a_cut_between_two_columns_divides_the_triangles() {
    let mut cloth = Cloth::square(5);
    let area: f32 = cloth.triangles.rest_area.iter().sum();
    let x = 0.4;
    let changes = cloth.cut(Vec3::new(x, 0.0, -9.0), Vec3::new(x, 0.0, 9.0));
    assert_eq!(cloth.island_count(), 2);
    // The line crosses five rows and four diagonals, and every crossing becomes two particles.
    assert_eq!(cloth.particles.len(), 25 + 2 * 9);
    // Eight triangles became three each.
    assert_eq!(cloth.triangles.indices.len(), 32 + 2 * 8);
    assert_eq!(changes.opened_edges.len(), 8);
    let now: f32 = cloth.triangles.rest_area.iter().sum();
    assert!((now - area).abs() < 1e-4, "{now} m² of {area}");
    // All constraints are at their rest lengths: a cut alone moves nothing.
    for c in cloth.constraints.iter().filter_map(Constraint::distance) {
        let position = |i: u32| cloth.particles.position.get(i as usize);
        let [a, b] = c.particles.map(position);
        assert!(((b - a).length() - c.rest_length).abs() < 1e-5, "{c:?}");
    }
    // The new particles lie on the line of the blade.
    let on_line = (25..43).all(|i| (cloth.rest[i].x - x).abs() < 1e-5);
    assert!(on_line);
    let island = cloth.islands();
    assert!(
        (0..43).all(|i| (cloth.rest[i].x < x + 1e-4) == (island[i] == island[0])
            || (cloth.rest[i].x - x).abs() < 1e-4)
    );
}

#[test]
fn a_stroke_continues_where_it_ended() {
    let mut cloth = Cloth::square(6);
    let origin = cloth.particles.origin;
    let mut end = None;
    // From above the first row to below the last, in steps that end inside triangles.
    let places: Vec<f32> = (0..=20).map(|i| -3.3 + 0.33 * i as f32).collect();
    for z in places.windows(2) {
        let [from, to] = [z[0], z[1]].map(|z| Vec3::new(0.17, 0.0, z) + origin);
        let blade = Blade::stroke(from, to, Vec3::Y);
        let mut edit = cloth.edit();
        end = edit.cut(&blade, end, 1000).or(end);
        edit.finish();
        cloth.check();
    }
    assert_eq!(cloth.island_count(), 2);
}

#[test]
fn a_cut_that_ends_inside_leaves_the_sheet_in_one_piece() {
    let mut cloth = Cloth::square(8);
    cloth.cut(Vec3::new(-9.0, 0.0, 0.3), Vec3::new(0.6, 0.0, 0.3));
    assert_eq!(cloth.island_count(), 1);
    let changes = cloth.cut(Vec3::new(-1.0, 0.0, -2.0), Vec3::new(1.2, 0.0, -1.5));
    assert!(changes.opened_edges.len() >= 2, "an inner slit opens too");
    assert_eq!(cloth.island_count(), 1);
}

#[test]
fn a_cut_beside_the_cloth_or_without_area_changes_nothing() {
    let mut cloth = Cloth::square(4);
    let nothing = [
        (Vec3::X * 9.0, Vec3::new(9.0, 0.0, 9.0)),
        (Vec3::ZERO, Vec3::ZERO),
        (Vec3::NAN, Vec3::X),
        (Vec3::NEG_INFINITY, Vec3::INFINITY),
    ];
    for (from, to) in nothing {
        assert!(cloth.cut(from, to).replaced.is_empty());
    }
    assert_eq!(cloth.particles.len(), 16);
}

#[test]
fn a_broken_edge_opens_the_cloth_across_it() {
    let mut cloth = Cloth::square(7);
    // The edge from the middle particle to its right neighbour: a slit along the column.
    let changes = cloth.tear([24, 25], 1).unwrap();
    assert_eq!(cloth.particles.len(), 50);
    assert_eq!(
        changes.new_particles,
        [NewParticle {
            parents: [24, 24],
            fraction: 0.0
        }]
    );
    assert_eq!(changes.opened_edges, [[24, 25]]);
    assert_eq!(cloth.island_count(), 1);
    let held = |a: u32, b: u32| {
        let mut all = cloth.constraints.iter();
        all.any(|c| c.ends() == [a, b] || c.ends() == [b, a])
    };
    // One copy keeps the left neighbour, the other the right one; no constraint spans the slit.
    assert!(held(23, 24) != held(23, 49));
    assert!(held(24, 25) != held(25, 49));
    assert!(held(23, 24) != held(24, 25));
    assert!(!held(23, 25));
}

#[test]
fn small_pieces_stay_whole() {
    // A ribbon of six rows. A tear across its second row would detach the first two triangles.
    let mut ribbon = Cloth::new(ClothGrid::new(1.0, 5.0, 2, 6));
    assert!(ribbon.tear([2, 0], 3).is_none());
    assert_eq!(ribbon.particles.len(), 12);
    assert!(ribbon.tear([2, 0], 2).is_some());
    assert_eq!((ribbon.particles.len(), ribbon.island_count()), (14, 2));
}

#[test]
fn the_last_triangle_does_not_tear() {
    let mut cloth = Cloth::square(2);
    let mut torn = 0;
    for _ in 0..10 {
        for a in 0..cloth.particles.len() as u32 {
            for b in 0..cloth.particles.len() as u32 {
                let mut edit = cloth.edit();
                torn += u32::from(edit.break_edge([a, b]));
                edit.finish();
                cloth.check();
            }
        }
    }
    assert_eq!(cloth.triangles.indices.len(), 2);
    assert_eq!(cloth.island_count(), 2);
    assert!(torn >= 1);
    assert_eq!(cloth.particles.len(), 6);
}

#[test]
fn opening_every_edge_leaves_single_triangles() {
    let mut cloth = Cloth::square(4);
    let triangles = cloth.triangles.indices.to_vec().into_iter();
    let edges = triangles.flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut edit = cloth.edit();
    edit.open_edges(edges);
    edit.finish();
    cloth.check();
    assert_eq!(cloth.particles.len(), 3 * 18);
    assert_eq!(cloth.island_count(), 18);
    assert_eq!(cloth.constraints.len(), 3 * 18);
}

#[test]
fn areas_add_up_to_the_whole() {
    for diagonals in [Diagonals::Alternating, Diagonals::Parallel] {
        let grid = ClothGrid::new(4.0, 4.0, 9, 9).with_diagonals(diagonals);
        let mut cloth = Cloth::new(grid);
        let mut areas = cloth.triangles.particle_areas(cloth.particles.len());
        let changes = cloth.cut(Vec3::new(-1.7, 0.0, -9.0), Vec3::new(1.1, 0.0, 9.0));
        areas.resize(cloth.particles.len(), 0.0);
        for &(i, area) in &changes.areas {
            areas[i as usize] = area;
        }
        let expected = cloth.triangles.particle_areas(cloth.particles.len());
        for (i, (got, want)) in areas.iter().zip(&expected).enumerate() {
            assert!((got - want).abs() < 1e-6, "particle {i}: {got}, not {want}");
        }
    }
}

#[test]
fn an_edge_with_pinned_ends_never_breaks_and_others_break_at_the_weaker_end() {
    let mut cloth = Cloth::square(3);
    // All edges stretched by half.
    for plane in cloth.particles.position.planes_mut() {
        plane.iter_mut().for_each(|c| *c *= 1.5);
    }
    let find = |cloth: &Cloth, resistance: fn(u32) -> f32| {
        overloaded(
            &cloth.particles,
            &cloth.constraints,
            CrossSection::Sheet(&cloth.triangles),
            TearLimit::Strain(0.4),
            resistance,
        )
    };
    assert_eq!(find(&cloth, |_| 1.0).len(), 12);
    assert_eq!(find(&cloth, |_| 2.0).len(), 0);
    let weak = find(&cloth, |i| if i == 4 { 0.5 } else { 2.0 });
    assert_eq!(weak.len(), 4);
    assert!(weak.iter().all(|o| o.edge[0] == 4));
    cloth.particles.inverse_mass[4] = 0.0;
    assert!(find(&cloth, |_| 1.0).iter().all(|o| o.edge[0] != 4));
    cloth.particles.inverse_mass.fill(0.0);
    assert!(find(&cloth, |_| 1.0).is_empty());
}

#[test]
fn no_constraint_spans_the_split_of_a_rope() {
    let places: SoaVec3 = (0..6).map(|i| Vec3::X * i as f32).collect();
    let pairs: Vec<_> = (0..5)
        .map(|i| (ConstraintKind::Structural, i, i + 1))
        .collect();
    let bends: Vec<_> = (0..4)
        .map(|i| BendStencil::three_point([i, i + 1, i + 2]))
        .collect();
    let mut graph = ConstraintGraph::new(&places, &pairs);
    graph.add_bends(&places, &bends);
    let mut particles = ParticleArrays::new(Vec3::ZERO, places, vec![1.0; 6]);
    let chain: Vec<u32> = (0..6).collect();
    assert_eq!(split_rope(&mut particles, &mut graph, &chain, 0), None);
    assert_eq!(split_rope(&mut particles, &mut graph, &chain, 5), None);
    assert_eq!(split_rope(&mut particles, &mut graph, &chain, 2), Some(6));
    let mut pairs: Vec<_> = graph
        .iter()
        .map(|c| {
            let [a, b] = c.ends();
            [a.min(b), a.max(b)]
        })
        .collect();
    pairs.sort_unstable();
    let expected = [
        [0, 1],
        [0, 2],
        [1, 2],
        [3, 4],
        [3, 5],
        [3, 6],
        [4, 5],
        [4, 6],
    ];
    assert_eq!(pairs, expected);
}
