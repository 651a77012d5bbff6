//! Bending strips of fabric: as a grid, as triangles, or as a chain.

use crate::sample::Sample;
use bevy::math::Vec3;
use bevy_drape::{mesh::TriangleMesh, solver::BendStencil};

pub(crate) const GRAVITY: f64 = 9.81;
pub(crate) const DENSITY: f64 = 0.2;

/// Strip along x from the origin, with equidistant rows of particles.
pub(crate) struct Strip {
    pub(crate) sample: Sample,
    /// Particles of each row.
    pub(crate) rows: Vec<Vec<usize>>,
    /// Distance between rows, m.
    pub(crate) step: f64,
}

impl Strip {
    /// Creates a strip from a mesh with rows of particles across x.
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

    /// Creates a grid, four particles wide.
    pub(crate) fn grid(links: usize, length: f64) -> Self {
        let step = length / (links as f64 - 0.5);
        let position = |i: usize| Vec3::new((i / 4) as f32, 0.0, (i % 4) as f32) * step as f32;
        let at = |r: usize, c: usize| (4 * r + c) as u32;
        let cells = (0..links).flat_map(|r| (0..3).map(move |c| (r, c)));
        let triangles = cells.flat_map(|(r, c)| {
            let [a, b, d, e] = [at(r, c), at(r, c + 1), at(r + 1, c), at(r + 1, c + 1)];
            [[a, b, d], [b, e, d]]
        });
        let mesh = TriangleMesh {
            positions: (0..4 * (links + 1)).map(position).collect(),
            triangles: triangles.collect(),
            out_of_range: 0,
        };
        let strip = Self::of(&mesh, step);
        assert_eq!(strip.sample.constraints.grids().count(), 1);
        strip
    }

    /// Creates equilateral triangles with straight edges across the strip, and vertices in shuffled order.
    pub(crate) fn triangles(links: usize, length: f64) -> Self {
        let step = length / (links as f64 - 0.5);
        let side = step / 0.75_f64.sqrt();
        // The sides are zigzags, which bend more easily; the effect grows as the strip gets narrower.
        let wide = 16;
        let count = wide * (links + 1);
        // A permutation: the factor is coprime to any smaller count.
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
        assert_eq!(strip.sample.constraints.grids().count(), 0);
        strip
    }

    /// Creates a chain with the masses of a strip 1 m wide.
    pub(crate) fn chain(links: usize, length: f64) -> Self {
        let step = length / (links as f64 - 0.5);
        let positions: Vec<Vec3> = (0..=links)
            .map(|i| Vec3::X * (i as f64 * step) as f32)
            .collect();
        let mut sample = Sample::chain(&positions);
        let last = links as u32;
        let bends: Vec<BendStencil> = (1..last)
            .map(|i| BendStencil::three_point([i - 1, i, i + 1]))
            .collect();
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

    /// Clamps the first two rows. The clamp is in the middle between them: a bend constraint at the second row
    /// stands for half a length before it and half a length behind it.
    pub(crate) fn clamp(mut self) -> Self {
        for i in self.rows[..2].concat() {
            self.sample.pin(i as u32);
        }
        self
    }

    pub(crate) fn stiffness(mut self, stiffness: f64) -> Self {
        self.sample.settings.compliance.bending = stiffness as f32;
        self
    }

    /// Returns its length from the clamp on, m.
    pub(crate) fn length(&self) -> f64 {
        (self.rows.len() as f64 - 1.5) * self.step
    }

    /// Runs with strong damping until it is at rest.
    pub(crate) fn settle(mut self) -> Self {
        // Approximate period of the first mode of a beam of this length, s.
        let sample = &mut self.sample;
        sample.settings.damping = 6.0;
        sample.run(8.0);
        self
    }

    /// Returns drop and reach of the centre of the last row from the clamp, m.
    pub(crate) fn tip(&self) -> [f64; 2] {
        let last = &self.rows[self.rows.len() - 1];
        let sum: Vec3 = last.iter().map(|&i| self.sample.at(i)).sum();
        let tip = sum.as_dvec3() / last.len() as f64;
        [-tip.y, tip.x - 0.5 * self.step]
    }

    /// Sets the number of substeps. Bend constraints that are solved one after the other have the stiffness of
    /// their fabric only in substeps so short that their compliance dominates that of the particles.
    pub(crate) fn substeps(mut self, substeps: u32) -> Self {
        self.sample.settings.substeps = substeps;
        self
    }

    /// Returns drop over reach at rest under its own weight, with B from Γ.
    pub(crate) fn droop(self, gamma: f64) -> f64 {
        let stiffness = DENSITY * GRAVITY * self.length().powi(3) / gamma;
        let strip = self.clamp().stiffness(stiffness).settle();
        let [drop, reach] = strip.tip();
        drop / reach
    }
}
