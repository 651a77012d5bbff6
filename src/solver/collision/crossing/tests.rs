use super::*;
use crate::solver::{SoaVec3, collision::crossing::triangle_pairs::edge_crosses};
use patches::EDGE_BIT;
use std::collections::BTreeMap;

/// Particles along each side of a sheet, 0.1 m apart.
const SIDE: u32 = 9;
const DISTANCE: f32 = 0.1;
const SUBSTEPS: u32 = 8;

/// Triangles of a sheet with alternating diagonals.
fn triangles() -> Vec<[u32; 3]> {
    let cells = (0..SIDE - 1).flat_map(|row| (0..SIDE - 1).map(move |column| [row, column]));
    cells
        .flat_map(|[row, column]| {
            let a = row * SIDE + column;
            let [b, c, d] = [a + 1, a + SIDE, a + SIDE + 1];
            match (row + column) % 2 {
                0 => [[a, b, d], [a, d, c]],
                _ => [[a, b, c], [b, d, c]],
            }
        })
        .collect()
}

/// Moving sheet.
struct Sheet {
    particles: ParticleArrays,
    start: MotionStart,
    triangles: Corners,
}

impl Sheet {
    /// Creates a sheet whose particles are at `place` of their position in a horizontal square when a step begins, and
    /// move by `path`, a function of the same.
    fn new(place: impl Fn(Vec3) -> Vec3, path: impl Fn(Vec3) -> Vec3) -> Self {
        let flat = (0..SIDE * SIDE).map(|i| {
            let [column, row] = [i % SIDE, i / SIDE].map(|k| k as f32 - 4.0);
            Vec3::new(column, 0.0, row) * DISTANCE
        });
        let start: Vec<Vec3> = flat.clone().map(&place).collect();
        let paths: Vec<Vec3> = flat.map(path).collect();
        let end: SoaVec3 = start.iter().zip(&paths).map(|(at, by)| at + by).collect();
        let count = start.len();
        let mut particles = ParticleArrays::new(Vec3::ZERO, end, vec![1.0; count]);
        for (i, path) in paths.into_iter().enumerate() {
            particles.displacement.set(i, path / SUBSTEPS as f32);
        }
        Self {
            particles,
            start: MotionStart {
                positions: start.into_iter().map(Vec3A::from).collect(),
                distance: DISTANCE,
                substeps: SUBSTEPS,
                ..MotionStart::default()
            },
            triangles: triangles().into(),
        }
    }

    fn cloth(&self) -> FilteredCloth<'_> {
        FilteredCloth::alone(&self.particles, &self.start, &self.triangles)
    }

    /// Begins the next step, in which the particles move by their velocity.
    fn advance(&mut self) {
        let p = &mut self.particles;
        self.start.positions = p.position.iter().map(Vec3A::from).collect();
        self.start.substeps = SUBSTEPS;
        for i in 0..p.len() {
            let moved = p.displacement.get(i) * SUBSTEPS as f32;
            p.position.add(i, moved);
        }
    }
}

/// Filters the motion of some sheets. Returns whether any of them were changed.
fn limit(filter: &mut CrossingFilter, sheets: &mut [Sheet]) -> bool {
    let hashes = |sheets: &[Sheet]| -> Vec<_> {
        let particles = sheets.iter().map(|sheet| &sheet.particles);
        particles.map(ParticleArrays::state_hash).collect()
    };
    let before = hashes(sheets);
    filter.begin();
    for sheet in &*sheets {
        filter.add(sheet.cloth(), true);
    }
    filter.find_limits(DISTANCE);
    for (part, sheet) in sheets.iter_mut().enumerate() {
        filter.apply(part, &mut sheet.particles, &mut sheet.start);
    }
    hashes(sheets) != before
}

/// Returns the number of edges of one sheet that pass through triangles of another, or of itself without a common corner.
fn crossings(sheets: &[Sheet]) -> usize {
    let all = sheets.iter().enumerate().flat_map(|(k, sheet)| {
        let at = |i: u32| sheet.particles.world_position(i as usize).as_dvec3();
        let triangles = sheet.triangles.iter();
        triangles.map(move |corners| (k, corners, corners.map(at)))
    });
    let all: Vec<_> = all.collect();
    let mut count = 0;
    for (k, one, at) in &all {
        for (l, other, through) in &all {
            if k != l || one.iter().all(|corner| !other.contains(corner)) {
                let crosses = |e: &usize| edge_crosses([at[*e], at[(e + 1) % 3]], *through);
                count += (0..3).filter(crosses).count();
            }
        }
    }
    count
}

/// A gentle wave, so that nothing lies in one plane.
fn wave(at: Vec3) -> Vec3 {
    at + Vec3::Y * (0.01 * (9.0 * at.x).sin() + 0.013 * (7.0 * at.z).cos())
}

#[test]
fn pairs_of_larger_cloth_are_forgotten() {
    let mut sheets = [0.0, 0.2].map(|up| {
        let fall = move |_| Vec3::NEG_Y * up;
        Sheet::new(move |at| wave(at) + Vec3::Y * up, fall)
    });
    let mut filter = CrossingFilter::default();
    assert!(limit(&mut filter, &mut sheets));
    // The upper sheet alone: its patches are those of the lower one.
    assert!(!limit(&mut filter, &mut sheets[1..]));
}

#[test]
fn sheets_that_fly_through_each_other_stop() {
    // At 20 m/s.
    let fall = |_| Vec3::NEG_Y * 0.33;
    let turned = |at: Vec3| {
        wave(Vec3::new(
            0.8 * at.x - 0.6 * at.z,
            0.0,
            0.6 * at.x + 0.8 * at.z,
        ))
    };
    let mut sheets = [
        Sheet::new(wave, |_| Vec3::ZERO),
        Sheet::new(move |at| turned(at) + Vec3::Y * 0.1, fall),
    ];
    let mut through = [
        Sheet::new(wave, |_| Vec3::ZERO),
        Sheet::new(
            move |at| turned(at) + Vec3::Y * 0.02,
            |_| Vec3::NEG_Y * 0.02,
        ),
    ];
    assert!(crossings(&through) > 10);
    let mut filter = CrossingFilter::default();
    assert!(limit(&mut filter, &mut sheets));
    assert_eq!(crossings(&sheets), 0);
    // In the middle.
    let gap = |sheets: &[Sheet; 2]| {
        let height = |sheet: &Sheet| sheet.particles.position.y[(SIDE * SIDE / 2) as usize];
        height(&sheets[1]) - height(&sheets[0])
    };
    assert!(gap(&sheets) > 0.0, "{} m", gap(&sheets));
    for step in 0..200 {
        sheets.iter_mut().for_each(Sheet::advance);
        limit(&mut filter, &mut sheets);
        assert_eq!(crossings(&sheets), 0, "step {step}");
    }
    assert!(gap(&sheets) > 0.0, "{} m", gap(&sheets));
    // Another pair of sheets, of the same size.
    assert!(limit(&mut filter, &mut through));
    assert_eq!(crossings(&through), 0);
}

#[test]
fn sheets_that_slide_over_each_other_keep_their_bits() {
    let slide = |_| Vec3::new(0.2, 0.0, -0.1);
    let mut sheets = [
        Sheet::new(wave, |_| Vec3::ZERO),
        Sheet::new(|at| wave(at) + Vec3::Y * 0.05, slide),
    ];
    let before = [0, 1].map(|k: usize| sheets[k].particles.state_hash());
    assert!(!limit(&mut CrossingFilter::default(), &mut sheets));
    let after = [0, 1].map(|k: usize| sheets[k].particles.state_hash());
    assert_eq!(before, after);
}

#[test]
fn sheets_that_nearly_touch_are_not_taken_as_tangled() {
    for gap in [1e-3, 1e-5, 5e-6] {
        // Parallel, so rounding does not make them cross.
        let above = move |at| wave(at) + Vec3::Y * gap * DISTANCE;
        let fall = |at: Vec3| Vec3::NEG_Y * (0.05 + at.x * at.x);
        let mut sheets = [Sheet::new(wave, |_| Vec3::ZERO), Sheet::new(above, fall)];
        let mut filter = CrossingFilter::default();
        for step in 0..20 {
            limit(&mut filter, &mut sheets);
            assert_eq!(crossings(&sheets), 0, "gap {gap}, step {step}");
            assert!(sheets.iter().all(|sheet| !sheet.particles.is_tangled));
            sheets.iter_mut().for_each(Sheet::advance);
        }
    }
}

#[test]
fn a_sheet_that_rolls_up_does_not_pass_through_itself() {
    // Its halves swing together and through each other, around the middle.
    let hinge = |angle: f32| {
        move |at: Vec3| {
            let (sin, cos) = angle.sin_cos();
            let radius = at.x.abs();
            wave(Vec3::new(radius * cos * at.x.signum(), radius * sin, at.z))
        }
    };
    let mut filter = CrossingFilter::default();
    let mut sheet = Sheet::new(hinge(1.4), |at| hinge(1.7)(at) - hinge(1.4)(at));
    for step in 0..20 {
        let is_limited = limit(&mut filter, std::slice::from_mut(&mut sheet));
        assert!(is_limited || step > 0);
        assert_eq!(crossings(std::slice::from_ref(&sheet)), 0);
        sheet.advance();
    }
}

#[test]
fn tangled_sheets_may_come_apart() {
    let apart = |_| Vec3::Y * 0.3;
    let upright = |at: Vec3| Vec3::new(0.017, at.x, at.z) + Vec3::Y * 0.3;
    let mut sheets = [Sheet::new(wave, |_| Vec3::ZERO), Sheet::new(upright, apart)];
    let before = Sheet::new(upright, |_| Vec3::ZERO);
    assert!(crossings(&[Sheet::new(wave, |_| Vec3::ZERO), before]) > 5);
    let mut filter = CrossingFilter::default();
    for _ in 0..20 {
        limit(&mut filter, &mut sheets);
        sheets.iter_mut().for_each(Sheet::advance);
    }
    assert_eq!(crossings(&sheets), 0);
}

#[test]
fn pinned_particles_and_cloth_that_does_not_move_are_not_stopped() {
    let mut pinned = Sheet::new(|at| wave(at) + Vec3::Y * 0.05, |_| Vec3::NEG_Y * 0.2);
    pinned.particles.inverse_mass.fill(0.0);
    let mut filter = CrossingFilter::default();
    let rest = Sheet::new(wave, |_| Vec3::ZERO);
    let before = [&rest, &pinned].map(|sheet| sheet.particles.state_hash());
    filter.begin();
    filter.add(rest.cloth(), false);
    filter.add(pinned.cloth(), true);
    filter.find_limits(DISTANCE);
    let mut after = [rest, pinned];
    for (part, sheet) in after.iter_mut().enumerate() {
        filter.apply(part, &mut sheet.particles, &mut sheet.start);
    }
    assert_eq!(after.map(|sheet| sheet.particles.state_hash()), before);
}

/// Particles that all move far apart, so that every triangle may cross every other one.
fn scattered(at: Vec3) -> Vec3 {
    let phase = 40.0 * at.x + 90.0 * at.z;
    Vec3::new(phase.sin(), (2.3 * phase).cos(), (3.1 * phase).sin()) * 5.0
}

#[test]
fn cloth_of_which_everything_may_cross_everything_does_not() {
    let mut sheets = [Sheet::new(wave, scattered)];
    let mut filter = CrossingFilter::default();
    assert!(limit(&mut filter, &mut sheets));
    assert_eq!(crossings(&sheets), 0);
    // Nor in the next step.
    sheets[0].advance();
    limit(&mut filter, &mut sheets);
    assert_eq!(crossings(&sheets), 0);
}

#[test]
fn tangled_cloth_that_is_pressed_into_a_heap_moves_freely() {
    let heap = |at: Vec3| scattered(at) * 0.005;
    assert!(crossings(&[Sheet::new(heap, |_| Vec3::ZERO)]) > 0);
    let mut sheets = [Sheet::new(heap, |at| at)];
    // Not known to be.
    sheets[0].particles.is_tangled = false;
    let mut filter = CrossingFilter::default();
    assert!(!limit(&mut filter, &mut sheets));
    let ParticleArrays {
        is_tangled,
        is_tangled_everywhere,
        ..
    } = sheets[0].particles;
    assert!(is_tangled && is_tangled_everywhere);
}

#[test]
fn bad_input_changes_nothing() {
    let mut sheets = [Sheet::new(wave, |at| {
        if at.x > 0.3 { Vec3::NAN } else { Vec3::NEG_Y }
    })];
    assert!(!limit(&mut CrossingFilter::default(), &mut sheets));
    let mut sheets = [Sheet::new(wave, |_| Vec3::NEG_Y)];
    sheets[0].triangles = vec![[0, 1, 500], [0, 0, 0], [1, 2, 1]].into();
    assert!(!limit(&mut CrossingFilter::default(), &mut sheets));
    assert!(!limit(&mut CrossingFilter::default(), &mut []));
    // All particles in one point, each on its own way.
    let mut sheets = [Sheet::new(|_| Vec3::ONE, |at| at)];
    limit(&mut CrossingFilter::default(), &mut sheets);
    assert!(sheets[0].particles.is_finite());
}

#[test]
fn patches_hold_every_triangle_once_and_own_every_feature_once() {
    let all = triangles();
    let patches = Patches::new((SIDE * SIDE) as usize, all.clone());
    let mut found: Vec<[u32; 3]> = patches.triangles.as_flattened().to_vec();
    found.dedup();
    found.sort_unstable();
    let mut expected = all;
    expected.sort_unstable();
    assert_eq!(found, expected);
    let mut owned: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    let lanes = patches.triangles.as_flattened().iter();
    for (corners, bits) in lanes.zip(patches.owned.as_flattened()) {
        for k in 0..3 {
            let mut edge = vec![corners[k], corners[(k + 1) % 3]];
            edge.sort_unstable();
            *owned.entry(vec![corners[k]]).or_default() += usize::from(bits >> k & 1);
            *owned.entry(edge).or_default() += usize::from(bits >> (k + EDGE_BIT) & 1);
        }
    }
    assert!(owned.values().all(|&count| count == 1));
    let cells = (SIDE - 1) * (SIDE - 1);
    let edges = 2 * SIDE * (SIDE - 1) + cells;
    assert_eq!(owned.len(), (SIDE * SIDE + edges) as usize);
    for patch in 0..patches.len() as u32 {
        assert!(patches.neighbours(patch).iter().all(|&other| other > patch));
    }
}

/// Two triangles that are folded onto each other, with outer edges that pass through each other.
#[test]
fn triangles_that_share_an_edge_do_not_pass_through_each_other() {
    let at = |height: f32| {
        let [a, b] = [Vec3::ZERO, Vec3::X * 0.1];
        [
            a,
            b,
            Vec3::new(0.2, height, 0.1),
            Vec3::new(-0.1, -height, 0.1),
        ]
    };
    let order = |[a, b, c, d]: [Vec3; 4]| (c - a).cross(b - a).dot(d - a).signum();
    let (start, end) = (at(0.03), at(-0.03));
    assert_ne!(order(start), order(end));
    let mut sheet = Sheet::new(wave, |_| Vec3::ZERO);
    sheet.particles = ParticleArrays::new(Vec3::ZERO, end.into_iter().collect(), vec![1.0; 4]);
    sheet.start.positions = start.map(Vec3A::from).to_vec();
    sheet.triangles = vec![[0, 1, 2], [1, 0, 3]].into();
    let mut sheets = [sheet];
    assert!(limit(&mut CrossingFilter::default(), &mut sheets));
    let after = std::array::from_fn(|i| sheets[0].particles.position.get(i));
    assert_eq!(order(after), order(start));
}

/// A fan around the first particle, of which another one folds onto the opposite side and through it.
#[test]
fn triangles_of_a_fan_do_not_pass_through_each_other() {
    let at = |height: f32| {
        let folded = Vec3::new(-0.05, height, 0.005);
        let [z, x] = [Vec3::Z * 0.1, Vec3::NEG_X * 0.1];
        [Vec3::ZERO, folded, z, x, -z]
    };
    let (start, end) = (at(0.01), at(-0.01));
    let mut sheet = Sheet::new(wave, |_| Vec3::ZERO);
    sheet.particles = ParticleArrays::new(Vec3::ZERO, end.into_iter().collect(), vec![1.0; 5]);
    sheet.start.positions = start.map(Vec3A::from).to_vec();
    sheet.triangles = vec![[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]].into();
    let mut sheets = [sheet];
    assert!(limit(&mut CrossingFilter::default(), &mut sheets));
    let at = |i: usize| sheets[0].particles.position.get(i);
    let above = (at(2) - at(0)).cross(at(3) - at(0));
    assert!(above.y < 0.0);
    assert!(above.dot(at(1) - at(0)) < 0.0);
}

#[test]
fn closed_fans_are_found() {
    let sizes = |triangles: Vec<[u32; 3]>| Patches::new(6, triangles).fan_sizes;
    let closed = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [4, 1, 0]];
    assert_eq!(sizes(closed.to_vec()), [4, 0, 0, 0, 0, 0]);
    assert_eq!(sizes(closed[1..].to_vec()), [0; 6]);
    // One wound the other way, and one too many.
    let mut others = closed.to_vec();
    others[0] = [1, 0, 2];
    assert_eq!(sizes(others), [0; 6]);
    assert_eq!(sizes([&closed[..], &[[5, 0, 2]]].concat()), [0; 6]);
    // Two fans that touch in their middle.
    let tetrahedron = [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]];
    assert_eq!(sizes(tetrahedron.to_vec()), [3, 3, 3, 3, 0, 0]);
    let twice = [tetrahedron, tetrahedron].concat();
    assert_eq!(sizes(twice), [0; 6]);
    let all = Patches::new((SIDE * SIDE) as usize, triangles()).fan_sizes;
    let inside = (SIDE - 2) * (SIDE - 2);
    assert_eq!(
        all.iter().filter(|&&size| size > 0).count(),
        inside as usize
    );
}

#[test]
fn short_edges_that_fold_over_within_the_margin_do_not_cross() {
    // Two triangles that share an edge of 150 mm, one of them very thin: it folds over by less than the distance after which
    // pairs are searched again, and back below the other one.
    let [p, q, r] = [[0.0, 0.0, 0.0], [0.15, 0.0, 0.0], [0.1, 0.0, 0.05]].map(Vec3::from);
    let way = [
        Vec3::new(0.002, 0.0005, -0.0008),
        Vec3::new(0.002, 0.001, 0.0018),
        Vec3::new(0.002, -0.001, 0.0018),
    ];
    let at = |s: Vec3| [p, q, r, s];
    let mut sheet = Sheet {
        particles: ParticleArrays::new(
            Vec3::ZERO,
            at(way[0]).into_iter().collect(),
            vec![0.0, 0.0, 0.0, 1.0],
        ),
        start: MotionStart {
            positions: at(way[0]).map(Vec3A::from).into(),
            substeps: SUBSTEPS,
            ..MotionStart::default()
        },
        triangles: vec![[0, 1, 2], [1, 0, 3]].into(),
    };
    let mut filter = CrossingFilter::default();
    for to in way {
        let now = sheet.particles.position.get(3);
        let motion = (to - now) / SUBSTEPS as f32;
        sheet.particles.displacement.set(3, motion);
        sheet.advance();
        limit(&mut filter, std::slice::from_mut(&mut sheet));
    }
    let above = sheet.particles.position.get(3).y;
    assert!(above > 0.0, "{above}");
}
