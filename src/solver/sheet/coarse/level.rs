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
use crate::solver::{aligned::AlignedVec, relax::Softness};

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
    pub(super) w: AlignedVec,
    pub(super) w_turned: AlignedVec,
    /// Where the nodes are, then how far they move.
    pub(super) x: AlignedVec,
    pub(super) y: AlignedVec,
    pub(super) z: AlignedVec,
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

    /// Does something to each coordinate of each node, given that of its particle.
    #[inline(always)]
    pub(super) fn with_particles(
        &mut self,
        planes: &Planes,
        columns: usize,
        work: impl Fn(&mut f32, f32),
    ) {
        let width = self.columns.len();
        for (own, plane) in [
            (&mut self.x, &*planes.x),
            (&mut self.y, &*planes.y),
            (&mut self.z, &*planes.z),
        ] {
            for (own, &r) in own.chunks_exact_mut(width).zip(&self.rows.nodes) {
                let row = &plane[r as usize * columns..][..columns];
                for (own, &c) in own.iter_mut().zip(&self.columns.nodes) {
                    work(own, row[c as usize]);
                }
            }
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
    pub(super) fn solve(
        &mut self,
        stretch: Softness,
        shear: Softness,
        turned: &mut [AlignedVec; 3],
    ) {
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

    /// Whether any node has been moved.
    #[inline(always)]
    pub(super) fn moves(&self) -> bool {
        let moved = |plane: &[f32]| plane.iter().fold(false, |moved, &d| moved | (d != 0.0));
        moved(&self.x) || moved(&self.y) || moved(&self.z)
    }
}
