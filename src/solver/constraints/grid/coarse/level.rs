//! One coarse level of the hierarchy.

use super::{
    super::{
        GridConstraintSet, GridLayout,
        project::{ParticlePlanes, project},
        transpose::transpose,
    },
    axis::NodeAxis,
    distances::{Hole, NodeDistances},
};
use crate::solver::{constraints::points::Regularization, simd::aligned::AlignedVec};

/// Grid of nodes, each of which is a particle of the cloth.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CoarseLevel {
    pub(super) rows: NodeAxis,
    pub(super) columns: NodeAxis,
    /// Largest distances between nodes, m.
    pub(super) all: NodeDistances,
    /// Largest distances with the strain limit, without the distances of inactive nodes.
    pub(super) active: NodeDistances,
    /// Whether each node has been pulled away from the particles around it.
    pub(super) inactive: Vec<bool>,
    /// Inverse masses of the nodes, 1/kg, row by row.
    pub(super) w: AlignedVec,
    /// Inverse masses of the nodes, 1/kg, column by column.
    pub(super) w_transposed: AlignedVec,
    /// Positions of the nodes during a solve, then their displacements, m.
    pub(super) x: AlignedVec,
    pub(super) y: AlignedVec,
    pub(super) z: AlignedVec,
}

impl CoarseLevel {
    /// Computes the largest distances from the rest lengths and activates all nodes.
    pub(super) fn set_distances(
        &mut self,
        layout: &GridLayout,
        sets: &[GridConstraintSet; 6],
        holes: &[Hole],
    ) {
        let count = self.rows.len() * self.columns.len();
        self.all = NodeDistances::measure(layout, sets, [&self.rows, &self.columns], holes);
        self.active = self.all.clone();
        self.inactive.clear();
        self.inactive.resize(count, false);
        for plane in [&mut self.x, &mut self.y, &mut self.z] {
            plane.resize(count, 0.0);
        }
    }

    /// Calls `work` with each coordinate of each node and that of its particle.
    #[inline(always)]
    pub(super) fn for_each_node(
        &mut self,
        planes: &ParticlePlanes,
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

    /// Displaces the nodes by the bilinear interpolation of the coarser level's displacements.
    #[inline(always)]
    pub(super) fn prolongate_from(&mut self, coarser: &Self) {
        let (width, nodes) = (self.columns.len(), coarser.columns.len());
        for (own, displacements) in [
            (&mut self.x, &coarser.x),
            (&mut self.y, &coarser.y),
            (&mut self.z, &coarser.z),
        ] {
            let own = own.chunks_exact_mut(width);
            let weights = self.w.chunks_exact(width);
            for ((own, w), &(i, down)) in own.zip(weights).zip(&coarser.rows.between) {
                let above = &displacements[i as usize * nodes..][..nodes];
                let below = &displacements[(i as usize + 1) * nodes..][..nodes];
                let columns = own.iter_mut().zip(w).zip(&coarser.columns.between);
                for ((own, &w), &(j, right)) in columns {
                    let j = j as usize;
                    let top = above[j] + (above[j + 1] - above[j]) * right;
                    let bottom = below[j] + (below[j + 1] - below[j]) * right;
                    let displacement = top + (bottom - top) * down;
                    *own += if w > 0.0 { displacement } else { 0.0 };
                }
            }
        }
    }

    /// Projects all distances once, direction by direction: both diagonals, warp, weft.
    #[inline(always)]
    pub(super) fn solve(
        &mut self,
        stretch: Regularization,
        shear: Regularization,
        transposed: &mut [AlignedVec; 3],
    ) {
        let (height, width) = (self.rows.len(), self.columns.len());
        let active = &self.active;
        let mut planes = ParticlePlanes {
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
        let [x, y, z] = transposed.each_mut().map(|plane| {
            plane.resize(plane.len().max(height * width), 0.0);
            &mut plane[..height * width]
        });
        for (plane, transposed) in [(&self.x, &mut *x), (&self.y, &mut *y), (&self.z, &mut *z)] {
            transpose(plane, width, transposed, height, height, width);
        }
        let mut planes = ParticlePlanes {
            x,
            y,
            z,
            w: &self.w_transposed,
        };
        for first in 0..2 {
            for j in (first..width - 1).step_by(2) {
                let [a, b] = planes.rows(j * height, (j + 1) * height, height);
                project::<true>(a, b, &active.weft[j * height..][..height], &mut [], stretch);
            }
        }
        for (plane, transposed) in [(&mut self.x, x), (&mut self.y, y), (&mut self.z, z)] {
            transpose(transposed, height, plane, width, width, height);
        }
    }

    /// Returns whether any node has been displaced.
    #[inline(always)]
    pub(super) fn any_moved(&self) -> bool {
        let moved = |plane: &[f32]| plane.iter().fold(false, |moved, &d| moved | (d != 0.0));
        moved(&self.x) || moved(&self.y) || moved(&self.z)
    }
}
