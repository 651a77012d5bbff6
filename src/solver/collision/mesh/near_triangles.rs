//! Lists of the triangles near each particle of a group.

use super::{
    GROUP,
    group_sweep::ParticleBoxes,
    surface::TriangleSurface,
    tree::{TriangleBox, overlap},
};
use std::ops::Range;

/// Number of triangles from which on no list of them is kept: near something small, fine cloth would have more entries
/// in lists than there is memory, and going through them would take longer than a query of the tree.
const MAX_LISTED: u32 = 256;

/// Triangle near a particle.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearTriangle {
    /// Box around the triangle during the step.
    pub(super) bounds: TriangleBox,
    pub(super) triangle: u32,
}

/// Triangles near a particle.
#[derive(Clone, Copy, Debug)]
pub(super) enum Near<'a> {
    Listed(&'a [NearTriangle]),
    /// More than are listed: the tree of the surface has them.
    Many,
}

impl Near<'_> {
    /// Calls `visit` with the triangles that overlap the box of a path.
    pub(super) fn visit_on_path(
        self,
        surface: &TriangleSurface,
        path: &TriangleBox,
        mut visit: impl FnMut(u32),
    ) {
        match self {
            Self::Listed(list) => {
                let on_path = list.iter().filter(|near| overlap(&near.bounds, path));
                on_path.for_each(|near| visit(near.triangle));
            }
            Self::Many => surface.tree.visit_leaves(path, |leaf| {
                let on_path = leaf.triangles.iter().copied();
                on_path
                    .filter(|&triangle| overlap(&surface.step_box(triangle), path))
                    .for_each(&mut visit);
            }),
        }
    }
}

/// Lists of the triangles near each particle, one after the other, and scratch buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct NearTriangles {
    all: Vec<NearTriangle>,
    /// Number of triangles in lists that are in use.
    used: usize,
    /// Scratch buffer for compaction.
    spare: Vec<NearTriangle>,
    /// Triangles near a group, and as a bit mask the particles that they are near.
    of_group: Vec<(NearTriangle, u32)>,
}

/// Lists of a group: indices of the first triangle of each particle, and the index behind the last one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupLists {
    first: [u32; GROUP + 1],
    /// Particles near more triangles than are listed, as a bit mask.
    many: u32,
}

impl GroupLists {
    fn range(&self, lane: usize) -> Range<usize> {
        self.first[lane] as usize..self.first[lane + 1] as usize
    }

    fn all(&self) -> Range<usize> {
        self.first[0] as usize..self.first[GROUP] as usize
    }
}

impl NearTriangles {
    /// Finds the triangles that overlap the boxes of particles.
    pub(super) fn find(
        &mut self,
        surface: &TriangleSurface,
        boxes: &ParticleBoxes,
        lists: &mut GroupLists,
    ) {
        self.discard(lists);
        self.of_group.clear();
        let (mut counts, mut many) = ([0; GROUP], 0);
        surface.tree.visit_leaves(&boxes.around(), |leaf| {
            if boxes.overlapping(leaf.bounds) & !many == 0 {
                return;
            }
            for &triangle in leaf.triangles {
                let bounds = surface.step_box(triangle);
                let near = boxes.overlapping(&bounds) & !many;
                if near != 0 {
                    self.of_group
                        .push((NearTriangle { bounds, triangle }, near));
                    for_each_bit(near, |lane| {
                        counts[lane] += 1;
                        many |= u32::from(counts[lane] > MAX_LISTED) << lane;
                    });
                }
            }
        });
        for_each_bit(many, |lane| counts[lane] = 0);
        *lists = self.distribute(&counts, many);
        self.used += lists.all().len();
    }

    /// Empties the lists of a group.
    pub(super) fn discard(&mut self, lists: &mut GroupLists) {
        self.used -= lists.all().len();
        *lists = GroupLists::default();
    }

    /// Appends a list for each particle with these numbers of triangles, except for those near too many.
    fn distribute(&mut self, counts: &[u32; GROUP], many: u32) -> GroupLists {
        let mut lists = GroupLists {
            many,
            ..GroupLists::default()
        };
        let Some(&(any, _)) = self.of_group.first() else {
            return lists;
        };
        let mut end = self.all.len() as u32;
        for (first, count) in lists.first.iter_mut().zip(counts) {
            *first = end;
            end += count;
        }
        lists.first[GROUP] = end;
        self.all.resize(end as usize, any);
        let mut next = lists.first;
        for (near, particles) in &self.of_group {
            for_each_bit(*particles & !many, |lane| {
                self.all[next[lane] as usize] = *near;
                next[lane] += 1;
            });
        }
        lists
    }

    /// Returns the triangles near a particle.
    pub(super) fn of_particle(&self, lists: &GroupLists, lane: usize) -> Near<'_> {
        if lists.many & (1 << lane) != 0 {
            return Near::Many;
        }
        Near::Listed(&self.all[lists.range(lane)])
    }

    /// Moves a triangle to the front of the list of a particle, so that it is tested first.
    pub(super) fn move_to_front(&mut self, lists: &GroupLists, lane: usize, index: usize) {
        self.all[lists.range(lane)].swap(0, index);
    }

    /// Discards all lists.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.used = 0;
    }

    /// Discards lists no longer in use, if they make up more than about half of all.
    pub(super) fn compact<'a>(&mut self, groups: impl Iterator<Item = &'a mut GroupLists>) {
        if self.all.len() <= 2 * self.used + 256 {
            return;
        }
        self.spare.clear();
        for lists in groups {
            let (own, moved_to) = (lists.all(), self.spare.len() as u32);
            self.spare.extend_from_slice(&self.all[own.clone()]);
            for index in &mut lists.first {
                *index = *index - own.start as u32 + moved_to;
            }
        }
        std::mem::swap(&mut self.all, &mut self.spare);
    }
}

/// Calls `visit` with the index of each bit that is set.
#[inline(always)]
fn for_each_bit(mut bits: u32, mut visit: impl FnMut(usize)) {
    while bits != 0 {
        visit(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::math::noise::noise_point as point;
    use bevy::math::{Vec3, Vec3A};

    /// Returns boxes of up to 0.6 m at random places, fewer than a group has.
    fn random_boxes(seed: usize) -> ParticleBoxes {
        let mut boxes = ParticleBoxes::EMPTY;
        for lane in 0..GROUP - 1 {
            let at = point(lane, seed) * 2.0;
            let half = point(lane, seed + 3).abs() * 0.3;
            boxes.set(lane, at - half, at + half);
        }
        boxes
    }

    #[test]
    fn lists_hold_the_triangles_near_each_particle_after_compaction_too() {
        let corner = |i: usize| point(i / 3, 1) * 2.0 + point(i, 4) * 0.1;
        let triangles = (0..300).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]);
        let points: Vec<Vec3> = (0..900).map(corner).collect();
        let surface = TriangleSurface::new(points, triangles.collect()).unwrap();
        let mut near = NearTriangles::default();
        let mut groups = [GroupLists::default(); 3];
        let mut largest = 0;
        for round in 0..60 {
            near.compact(groups.iter_mut());
            for (group, lists) in groups.iter_mut().enumerate() {
                let boxes = random_boxes(10 * round + 1000 * group);
                near.find(&surface, &boxes, lists);
            }
            largest = largest.max(near.all.len());
            for (group, lists) in groups.iter().enumerate() {
                let boxes = random_boxes(10 * round + 1000 * group);
                for lane in 0..GROUP {
                    let Near::Listed(listed) = near.of_particle(lists, lane) else {
                        panic!("there are few triangles near");
                    };
                    let mut found: Vec<u32> = listed.iter().map(|near| near.triangle).collect();
                    found.sort_unstable();
                    let is_near = |&i: &u32| overlap(&surface.step_box(i), &boxes.get(lane));
                    assert_eq!(found, (0..300).filter(is_near).collect::<Vec<_>>());
                }
            }
        }
        // Without compaction, thousands.
        assert!(largest < 600, "{largest}");
    }

    #[test]
    fn many_triangles_are_not_listed_but_found_on_a_path() {
        let corner = |i: usize| point(i / 3, 1) * 0.1 + point(i, 4) * 0.1;
        let triangles = (0..1000).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]);
        let points: Vec<Vec3> = (0..3000).map(corner).collect();
        let surface = TriangleSurface::new(points, triangles.collect()).unwrap();
        let mut boxes = ParticleBoxes::EMPTY;
        boxes.set(3, Vec3::splat(-1.0), Vec3::splat(1.0));
        let mut near = NearTriangles::default();
        let mut lists = GroupLists::default();
        near.find(&surface, &boxes, &mut lists);
        assert!(matches!(near.of_particle(&lists, 3), Near::Many));
        assert!(matches!(near.of_particle(&lists, 4), Near::Listed([])));
        assert_eq!(near.all.len(), 0);
        let path = [Vec3::splat(-0.01), Vec3::splat(0.02)].map(Vec3A::from);
        let mut found = Vec::new();
        Near::Many.visit_on_path(&surface, &path, |triangle| found.push(triangle));
        found.sort_unstable();
        let expected: Vec<u32> = (0..1000)
            .filter(|&i| overlap(&surface.step_box(i), &path))
            .collect();
        assert!(!expected.is_empty() && found == expected);
    }
}
