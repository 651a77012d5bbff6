//! One coarse grid of the hierarchy.

use super::{
    super::{
        Family, SheetLayout,
        project::{Planes, project},
        transpose::transpose,
    },
    axis::Axis,
    distances::{Distances, Hole},
};
use crate::solver::{crew::Parts, relax::Softness};

/// A coarse grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Level {
    pub(super) rows: Axis,
    pub(super) columns: Axis,
    /// Greatest distances, m, or none.
    pub(super) all: Distances,
    /// The same without those of idle nodes.
    pub(super) active: Distances,
    /// Nodes that have been torn away.
    pub(super) idle: Vec<bool>,
    /// Inverse masses of the nodes, 1/kg, row by row and column by column.
    pub(super) w: Vec<f32>,
    pub(super) w_turned: Vec<f32>,
    /// Where the nodes are, then how far they move.
    pub(super) x: Vec<f32>,
    pub(super) y: Vec<f32>,
    pub(super) z: Vec<f32>,
}

/// Some rows of nodes.
pub(super) struct NodeRows<'a> {
    /// Where they are.
    pub(super) rows: &'a [u32],
    pub(super) columns: &'a [u32],
    pub(super) idle: &'a mut [bool],
    places: [&'a mut [f32]; 3],
}

impl NodeRows<'_> {
    /// See [`Level::with_particles`]. `planes` are those of the particles.
    #[inline(always)]
    pub(super) fn with_particles(
        &mut self,
        planes: [&[f32]; 3],
        columns: usize,
        work: impl Fn(&mut f32, f32),
    ) {
        let width = self.columns.len();
        for (own, plane) in self.places.iter_mut().zip(planes) {
            for (own, &r) in own.chunks_exact_mut(width).zip(self.rows) {
                let row = &plane[r as usize * columns..][..columns];
                for (own, &c) in own.iter_mut().zip(self.columns) {
                    work(own, row[c as usize]);
                }
            }
        }
    }

    /// Whether any has been moved, once its places are how far it moves.
    #[inline(always)]
    pub(super) fn moves(&self) -> bool {
        let moved = |plane: &&mut [f32]| plane.iter().fold(false, |moved, &d| moved | (d != 0.0));
        self.places.iter().any(moved)
    }
}

impl Level {
    /// Takes the greatest distances from the rest lengths. No node is idle then.
    pub(super) fn set_distances(
        &mut self,
        layout: &SheetLayout,
        families: &[Family; 6],
        holes: &[Hole],
    ) {
        let count = self.rows.len() * self.columns.len();
        self.all = Distances::measure(layout, families, [&self.rows, &self.columns], holes);
        self.active = self.all.clone();
        self.idle.clear();
        self.idle.resize(count, false);
        for plane in [&mut self.x, &mut self.y, &mut self.z] {
            plane.resize(count, 0.0);
        }
    }

    /// Its nodes, some rows of them at a time.
    pub(super) fn parts(&mut self, rows: usize) -> impl Parts<Item = NodeRows<'_>> {
        let Self {
            rows: axis,
            columns,
            idle,
            x,
            y,
            z,
            ..
        } = self;
        let size = rows * columns.len();
        let places = x
            .chunks_mut(size)
            .zip(y.chunks_mut(size))
            .zip(z.chunks_mut(size));
        let parts = places
            .zip(idle.chunks_mut(size))
            .zip(axis.nodes.chunks(rows));
        let columns = &columns.nodes;
        parts.map(move |((((x, y), z), idle), rows)| NodeRows {
            rows,
            columns,
            idle,
            places: [x, y, z],
        })
    }

    /// Does something to each coordinate of each node, given that of its particle.
    #[inline(always)]
    pub(super) fn with_particles(
        &mut self,
        planes: &Planes,
        columns: usize,
        work: impl Fn(&mut f32, f32),
    ) {
        let all = self.rows.len();
        for mut nodes in self.parts(all) {
            nodes.with_particles([planes.x, planes.y, planes.z], columns, &work);
        }
    }

    /// Moves the nodes with those of the coarser level.
    #[inline(always)]
    pub(super) fn follow(&mut self, coarser: &Self) {
        let (width, nodes) = (self.columns.len(), coarser.columns.len());
        for (own, moved) in [
            (&mut self.x, &coarser.x),
            (&mut self.y, &coarser.y),
            (&mut self.z, &coarser.z),
        ] {
            let own = own.chunks_exact_mut(width);
            let weights = self.w.chunks_exact(width);
            for ((own, w), &(i, down)) in own.zip(weights).zip(&coarser.rows.between) {
                let above = &moved[i as usize * nodes..][..nodes];
                let below = &moved[(i as usize + 1) * nodes..][..nodes];
                let columns = own.iter_mut().zip(w).zip(&coarser.columns.between);
                for ((own, &w), &(j, right)) in columns {
                    let j = j as usize;
                    let top = above[j] + (above[j + 1] - above[j]) * right;
                    let bottom = below[j] + (below[j + 1] - below[j]) * right;
                    let moved = top + (bottom - top) * down;
                    *own += if w > 0.0 { moved } else { 0.0 };
                }
            }
        }
    }

    /// Projects all distances once, those in one direction after those in another.
    #[inline(always)]
    pub(super) fn solve(&mut self, stretch: Softness, shear: Softness, turned: &mut [Vec<f32>; 3]) {
        let (height, width) = (self.rows.len(), self.columns.len());
        let active = &self.active;
        let mut planes = Planes {
            x: &mut self.x,
            y: &mut self.y,
            z: &mut self.z,
            w: &self.w,
        };
        for (rest, shift) in [(&active.down, [0, 1]), (&active.up, [1, 0])] {
            for first in 0..2 {
                for i in (first..height - 1).step_by(2) {
                    let (a, b) = (i * width + shift[0], (i + 1) * width + shift[1]);
                    let [a, b] = planes.rows(a, b, width - 1);
                    let rest = &rest[i * (width - 1)..][..width - 1];
                    project::<true>(a, b, rest, &mut [], shear);
                }
            }
        }
        for first in 0..2 {
            for i in (first..height - 1).step_by(2) {
                let [a, b] = planes.rows(i * width, (i + 1) * width, width);
                project::<true>(a, b, &active.warp[i * width..][..width], &mut [], stretch);
            }
        }
        let [x, y, z] = turned.each_mut().map(|plane| {
            plane.resize(plane.len().max(height * width), 0.0);
            &mut plane[..height * width]
        });
        for (plane, turned) in [(&self.x, &mut *x), (&self.y, &mut *y), (&self.z, &mut *z)] {
            transpose(plane, width, turned, height, height, width);
        }
        let mut planes = Planes {
            x,
            y,
            z,
            w: &self.w_turned,
        };
        for first in 0..2 {
            for j in (first..width - 1).step_by(2) {
                let [a, b] = planes.rows(j * height, (j + 1) * height, height);
                project::<true>(a, b, &active.weft[j * height..][..height], &mut [], stretch);
            }
        }
        for (plane, turned) in [(&mut self.x, x), (&mut self.y, y), (&mut self.z, z)] {
            transpose(turned, height, plane, width, width, height);
        }
    }
}
