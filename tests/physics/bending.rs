//! Bending: fabric of a stiffness bends as beams of that stiffness do, on any mesh.

use crate::{Sample, assert_near};
use bevy::math::Vec3;
use bevy_drape::{
    mesh::TriangleMesh,
    solver::{Bend, ConstraintKind},
};

const GRAVITY: f64 = 9.81;
const DENSITY: f64 = 0.2;

/// Drop over horizontal reach of the tip of a cantilever, by Γ = σgL³/B: the elastica, solved by a
/// Runge–Kutta shooting method.
const CANTILEVER: [(f64, f64); 8] = [
    (0.1, 0.01250),
    (1.0, 0.12456),
    (2.0, 0.24667),
    (5.0, 0.58572),
    (10.0, 1.0668),
    (20.0, 1.8639),
    (50.0, 3.7056),
    (100.0, 5.888),
];

/// A strip along x that begins at the origin, of rows of particles one length apart.
struct Strip {
    sample: Sample,
    /// Particles of each row.
    rows: Vec<Vec<usize>>,
    /// How far rows are from each other, m.
    step: f64,
}

impl Strip {
    /// Of a mesh whose particles lie in rows across x.
    fn of(mesh: &TriangleMesh, step: f64) -> Self {
        let mut sample = Sample::of_mesh(mesh, DENSITY as f32);
        sample.settings.tether_scale = f32::INFINITY;
        sample.settings.substeps = 10;
        Self::sort(sample, step)
    }

    fn sort(sample: Sample, step: f64) -> Self {
        let mut rows: Vec<Vec<usize>> = Vec::new();
        for i in 0..sample.particles.len() {
            let row = (f64::from(sample.at(i).x) / step + 0.25).floor() as usize;
            rows.resize(rows.len().max(row + 1), Vec::new());
            rows[row].push(i);
        }
        Self { sample, rows, step }
    }

    /// A grid, four particles wide.
    fn grid(links: usize, length: f64) -> Self {
        let step = length / (links as f64 - 0.5);
        let place = |i: usize| Vec3::new((i / 4) as f32, 0.0, (i % 4) as f32) * step as f32;
        let at = |r: usize, c: usize| (4 * r + c) as u32;
        let cells = (0..links).flat_map(|r| (0..3).map(move |c| (r, c)));
        let triangles = cells.flat_map(|(r, c)| {
            let [a, b, d, e] = [at(r, c), at(r, c + 1), at(r + 1, c), at(r + 1, c + 1)];
            [[a, b, d], [b, e, d]]
        });
        let mesh = TriangleMesh {
            positions: (0..4 * (links + 1)).map(place).collect(),
            triangles: triangles.collect(),
            out_of_range: 0,
        };
        let strip = Self::of(&mesh, step);
        assert_eq!(strip.sample.constraints.sheets().count(), 1);
        strip
    }

    /// Equilateral triangles, whose edges run straight across the strip. They are numbered all over the
    /// place.
    fn triangles(links: usize, length: f64) -> Self {
        let step = length / (links as f64 - 0.5);
        let side = step / 0.75_f64.sqrt();
        // Where they end at the sides they are a zigzag, which bends more easily: the narrower, the more so.
        let wide = 16;
        let count = wide * (links + 1);
        // Every number comes once: the factor has no divisor in common with any count below it.
        let name = |i: usize| (i * 7919 + 3) % count;
        let mut positions = vec![Vec3::ZERO; count];
        for i in 0..count {
            let (row, column) = (i / wide, i % wide);
            let across = side * (column as f64 + if row % 2 == 1 { 0.5 } else { 0.0 });
            positions[name(i)] = Vec3::new((row as f64 * step) as f32, 0.0, across as f32);
        }
        let at = |r: usize, c: usize| name(wide * r + c) as u32;
        let mut triangles = Vec::new();
        for r in 0..links {
            for c in 0..wide - 1 {
                let [near, far] = if r % 2 == 0 { [r, r + 1] } else { [r + 1, r] };
                triangles.push([at(near, c), at(near, c + 1), at(far, c)]);
                triangles.push([at(far, c), at(near, c + 1), at(far, c + 1)]);
            }
        }
        let mesh = TriangleMesh {
            positions,
            triangles,
            out_of_range: 0,
        };
        let strip = Self::of(&mesh, step);
        assert_eq!(strip.sample.constraints.sheets().count(), 0);
        strip
    }

    /// A chain of masses that are as a strip of 1 m.
    fn chain(links: usize, length: f64) -> Self {
        let step = length / (links as f64 - 0.5);
        let places: Vec<Vec3> = (0..=links)
            .map(|i| Vec3::X * (i as f64 * step) as f32)
            .collect();
        let mut sample = Sample::chain(&places);
        let last = links as u32;
        let bends: Vec<Bend> = (1..last).map(|i| Bend::along([i - 1, i, i + 1])).collect();
        let rest = sample.particles.position.clone();
        sample.constraints.add_bends(&rest, &bends);
        let mass = DENSITY * step;
        for (i, w) in sample.particles.inverse_mass.iter_mut().enumerate() {
            *w = (if i == links { 2.0 } else { 1.0 } / mass) as f32;
        }
        sample.settings.tether_scale = f32::INFINITY;
        sample.settings.substeps = 10;
        Self::sort(sample, step)
    }

    /// Clamps its first two rows. The clamp is in the middle between them: a bend at the second row is
    /// that of the half length before it and the half length behind it.
    fn clamp(mut self) -> Self {
        for i in self.rows[..2].concat() {
            self.sample.pin(i as u32);
        }
        self
    }

    fn stiffness(mut self, stiffness: f64) -> Self {
        self.sample.settings.compliance.bending = stiffness as f32;
        self
    }

    /// How long it is from the clamp on, m.
    fn length(&self) -> f64 {
        (self.rows.len() as f64 - 1.5) * self.step
    }

    /// Runs until it is at rest, well damped.
    fn settle(mut self) -> Self {
        // The first mode of a beam of its length takes about this long, s.
        let sample = &mut self.sample;
        sample.settings.damping = 6.0;
        sample.run(8.0);
        self
    }

    /// Drop and reach of the middle of the last row from the clamp, m.
    fn tip(&self) -> [f64; 2] {
        let last = &self.rows[self.rows.len() - 1];
        let sum: Vec3 = last.iter().map(|&i| self.sample.at(i)).sum();
        let tip = sum.as_dvec3() / last.len() as f64;
        [-tip.y, tip.x - 0.5 * self.step]
    }

    /// Bends that are solved one by one resist as their fabric does while they give more in a substep than
    /// the particles do: so short must these be.
    fn substeps(mut self, substeps: u32) -> Self {
        self.sample.settings.substeps = substeps;
        self
    }

    /// Drop over reach once it is at rest under its weight, with B from Γ.
    fn droop(self, gamma: f64) -> f64 {
        let stiffness = DENSITY * GRAVITY * self.length().powi(3) / gamma;
        let strip = self.clamp().stiffness(stiffness).settle();
        let [drop, reach] = strip.tip();
        drop / reach
    }
}

#[test]
fn a_strip_of_a_grid_is_a_cantilever() {
    for (gamma, expected) in CANTILEVER {
        let droop = Strip::grid(32, 1.0).droop(gamma);
        println!("grid, gamma {gamma}: {droop:.5} of {expected}");
        assert_near(&format!("grid, Γ = {gamma}"), droop, expected, 0.05);
    }
}

/// Links and substeps for meshes whose bends are solved one by one: stiff ones need long links, sharp ones
/// short links.
fn one_by_one(gamma: f64) -> (usize, u32) {
    match gamma {
        ..1.0 => (8, 200),
        ..10.0 => (8, 50),
        _ => (16, 50),
    }
}

#[test]
fn a_strip_of_triangles_is_a_cantilever() {
    for (gamma, expected) in CANTILEVER {
        let (links, substeps) = one_by_one(gamma);
        let droop = Strip::triangles(links, 1.0).substeps(substeps).droop(gamma);
        println!("triangles, gamma {gamma}: {droop:.5} of {expected}");
        assert_near(&format!("triangles, Γ = {gamma}"), droop, expected, 0.05);
    }
}

#[test]
fn a_chain_is_a_cantilever() {
    for (gamma, expected) in CANTILEVER {
        let (links, substeps) = one_by_one(gamma);
        let droop = Strip::chain(links, 1.0).substeps(substeps).droop(gamma);
        println!("chain, gamma {gamma}: {droop:.5} of {expected}");
        assert_near(&format!("chain, Γ = {gamma}"), droop, expected, 0.05);
    }
}

#[test]
fn neither_mesh_nor_substeps_change_how_far_it_droops() {
    let reference = Strip::grid(32, 1.0).droop(5.0);
    for links in [16, 64] {
        let droop = Strip::grid(links, 1.0).droop(5.0);
        println!("{links} links: {droop:.5}, with 32 {reference:.5}");
        assert_near(&format!("{links} links"), droop, reference, 0.03);
    }
    for substeps in [5, 20, 40] {
        let mut strip = Strip::grid(32, 1.0);
        strip.sample.settings.substeps = substeps;
        let droop = strip.droop(5.0);
        println!("{substeps} substeps: {droop:.5}, with 10 {reference:.5}");
        assert_near(&format!("{substeps} substeps"), droop, reference, 0.03);
    }
}

#[test]
fn an_upright_strip_stands_until_it_buckles() {
    // Greenhill: a clamped column stands until σgL³/B = 7.8373.
    let critical = 7.8373;
    for (share, stands) in [(0.9, true), (1.1, false)] {
        let mut strip = Strip::grid(32, 1.0);
        let stiffness = DENSITY * GRAVITY * strip.length().powi(3) / (critical * share);
        let p = &mut strip.sample.particles;
        for i in 0..p.len() {
            let Vec3 { x, z, .. } = p.world_position(i);
            // A little aside, or it could not know where to fall.
            p.set_world_position(i, Vec3::new(0.002 * x * x, x, z));
        }
        let mut strip = strip.clamp().stiffness(stiffness);
        strip.sample.settings.damping = 2.0;
        strip.sample.run(40.0);
        let last = &strip.rows[strip.rows.len() - 1];
        let aside = strip.sample.at(last[0]).x.abs();
        println!("{share} of the critical load: {aside:.4} m aside");
        assert_eq!(
            aside < 0.1,
            stands,
            "{share} of the critical load: {aside} m aside"
        );
    }
}

/// A tube of triangles around the y axis, or half of one.
fn sleeve(around: u32, rows: u32, arc: f32) -> Sample {
    let closed = arc == 1.0;
    let columns = if closed { around } else { around + 1 };
    let place = |i: u32| {
        let angle = std::f32::consts::TAU * arc * (i % columns) as f32 / around as f32;
        Vec3::new(
            0.1 * angle.cos(),
            0.02 * (i / columns) as f32,
            0.1 * angle.sin(),
        )
    };
    let mut triangles = Vec::new();
    for r in 0..rows - 1 {
        for c in 0..around {
            let next = (c + 1) % columns;
            let [a, b] = [r * columns + c, r * columns + next];
            triangles.extend([[a, a + columns, b], [b, a + columns, b + columns]]);
        }
    }
    let mesh = TriangleMesh {
        positions: (0..columns * rows).map(place).collect(),
        triangles,
        out_of_range: 0,
    };
    Sample::of_mesh(&mesh, DENSITY as f32)
}

#[test]
fn a_curved_sleeve_keeps_its_curve() {
    // In space: whole and half, it stays as it is to the micrometre; flattened a little it comes back.
    for arc in [1.0, 0.5] {
        let mut sleeve = sleeve(24, 8, arc);
        sleeve.settings.gravity = Vec3::ZERO;
        sleeve.settings.substeps = 10;
        sleeve.settings.compliance.bending = 1e-3;
        let rest = sleeve.particles.position.clone();
        let far = |sample: &Sample| {
            let count = rest.len();
            // Its size, whatever way it has gone: the mean distance from its middle along each axis.
            let middle: Vec3 = (0..count).map(|i| sample.at(i)).sum::<Vec3>() / count as f32;
            let sum: Vec3 = (0..count).map(|i| (sample.at(i) - middle).abs()).sum();
            sum / count as f32
        };
        let before = far(&sleeve);
        sleeve.run(3.0);
        let after = far(&sleeve);
        assert!(
            (after - before).abs().max_element() < 1e-6,
            "{before} became {after}"
        );

        for i in 0..rest.len() {
            let at = rest.get(i);
            sleeve
                .particles
                .set_world_position(i, at * Vec3::new(0.85, 1.0, 1.0));
        }
        sleeve.settings.damping = 2.0;
        sleeve.run(10.0);
        let after = far(&sleeve);
        println!("{arc} of a tube: {before} became {after}");
        assert!(
            (after / before - 1.0).abs().max_element() < 0.03,
            "{arc} of a tube: {before} became {after}"
        );
    }
}

#[test]
fn what_bends_freely_has_no_bends() {
    // Without stiffness nothing is held, with it all of them: a strip that hangs from one end over an edge
    // is straight down but for the last links.
    let strip = Strip::grid(16, 1.0);
    let all = strip.sample.constraints.iter();
    let bends = all.filter(|c| c.kind == ConstraintKind::Bend).count();
    assert_eq!(bends, 4 * 15 + 17 * 2);
    let strip = strip.clamp().stiffness(0.0).settle();
    let [drop, reach] = strip.tip();
    assert!(drop > 0.9 && reach < 0.1, "{drop} m down, {reach} m aside");
}
