//! Fans: the triangles around a particle. If all triangles of a closed fan face one direction during the whole motion, no two
//! of them begin to cross: seen along that direction, they lie side by side, once around the particle.

#![allow(
    clippy::needless_range_loop,
    reason = "plain loops over lanes are vectorized"
)]

use super::near_patch::{Lanes, NearPatch};
use crate::solver::simd::{LANES, join_bits, lane_bit};
use bevy::math::Vec3A;

/// Finds fans of which no two triangles cross.
#[derive(Clone, Debug, Default)]
pub(super) struct Fans {
    /// Sum of the normals of the triangles around each particle.
    axis: Vec<Vec3A>,
    /// Number of triangles around each particle that face along its axis.
    facing: Vec<u8>,
}

impl Fans {
    /// Reserves memory for this number of particles.
    pub(super) fn reserve(&mut self, particles: usize) {
        self.axis.reserve(particles);
        self.facing.reserve(particles);
    }

    /// Marks the corners of these patches around which no two triangles cross, wherever their particles are within `margin` of
    /// their ways, m along each axis. `sizes` holds the number of triangles of each closed fan; one of which not all triangles
    /// are in these patches is not marked.
    #[inline(always)]
    pub(super) fn find_unfolded(&mut self, patches: &mut [NearPatch], sizes: &[u8], margin: f32) {
        let Self { axis, facing } = self;
        axis.clear();
        axis.resize(sizes.len(), Vec3A::ZERO);
        facing.clear();
        facing.resize(sizes.len(), 0);
        for patch in &*patches {
            let [first, _, last] = patch.normals();
            for lane in 0..patch.len {
                let component = |along: usize| first[along][lane] + last[along][lane];
                let normal = Vec3A::new(component(0), component(1), component(2));
                for corner in &patch.corners {
                    axis[corner[lane] as usize] += normal;
                }
            }
        }
        for patch in &*patches {
            let (normals, slack) = (patch.normals(), patch.change_of_normals(margin));
            for corner in &patch.corners {
                let mut along = [[0.0; LANES]; 3];
                for lane in 0..LANES {
                    let axis = axis[corner[lane] as usize].to_array();
                    (0..3).for_each(|k| along[k][lane] = axis[k]);
                }
                let faces = lanes_facing(&normals, &slack, &along);
                for lane in 0..patch.len {
                    let count = &mut facing[corner[lane] as usize];
                    *count = count.saturating_add((faces >> lane) as u8 & 1);
                }
            }
        }
        for patch in patches {
            for (corner, unfolded) in patch.corners.iter().zip(&mut patch.unfolded) {
                *unfolded = (0..patch.len).fold(0, |bits, lane| {
                    let i = corner[lane] as usize;
                    bits | u32::from(sizes[i] > 0 && facing[i] == sizes[i]) << lane
                });
            }
        }
    }
}

/// Returns a bit for each lane in which all normals face along the axis, and do so after any change by less than `slack`, m².
#[inline(always)]
fn lanes_facing(normals: &[Lanes; 3], slack: &[f32; LANES], [ax, ay, az]: &Lanes) -> u32 {
    let mut bits = [0; LANES];
    for l in 0..LANES {
        let least = slack[l] * (ax[l] * ax[l] + ay[l] * ay[l] + az[l] * az[l]).sqrt();
        let mut faces = true;
        for [x, y, z] in normals {
            faces &= ax[l] * x[l] + ay[l] * y[l] + az[l] * z[l] > least;
        }
        bits[l] = lane_bit(l, faces);
    }
    join_bits(bits)
}
