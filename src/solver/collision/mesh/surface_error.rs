//! Reasons why points, triangles or heights form no surface.

use crate::solver::particles::is_within_reach;
use bevy::math::Vec3;
use std::fmt;

/// Reason why points, triangles or heights form no surface. The error text includes the remedy.
#[derive(Clone, Debug, PartialEq)]
pub enum SurfaceError {
    /// No triangle has an area.
    NoTriangles,
    /// A triangle refers to a point that does not exist.
    OutOfRange {
        /// Index of the missing point.
        index: u32,
    },
    /// A point is NaN, infinite, or beyond 16 777 km.
    NonFinite {
        /// Index of the point.
        index: usize,
    },
    /// The points of a convex hull lie in a plane.
    Flat,
    /// parry could not find the convex hull.
    NoHull(String),
    /// The heights form no rectangle of at least 2 × 2, or its size is not finite and above 0.
    BadGrid {
        /// Number of heights.
        heights: usize,
        /// Number of heights per row.
        columns: u32,
    },
}

impl SurfaceError {
    /// Checks that the corners of triangles exist and are within reach.
    pub(crate) fn check(points: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), Self> {
        let corners = triangles.as_flattened();
        if let Some(&index) = corners.iter().find(|&&i| i as usize >= points.len()) {
            return Err(Self::OutOfRange { index });
        }
        let is_lost = |&&i: &&u32| !is_within_reach(points[i as usize]);
        match corners.iter().find(is_lost) {
            Some(&index) => Err(Self::NonFinite {
                index: index as usize,
            }),
            None => Ok(()),
        }
    }
}

impl fmt::Display for SurfaceError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NoTriangles => write!(
                f,
                "no triangle has an area; add triangles, or check the scale"
            ),
            Self::OutOfRange { index } => write!(
                f,
                "a triangle refers to vertex {index}, which does not exist; repair the indices"
            ),
            Self::NonFinite { index } => write!(
                f,
                "the position of vertex {index} is not finite or beyond 16 777 km; repair it"
            ),
            Self::Flat => write!(
                f,
                "all points lie in a plane, so their convex hull has no volume; use the triangles \
                 or a box instead"
            ),
            Self::NoHull(reason) => {
                write!(
                    f,
                    "the convex hull cannot be computed ({reason}); remove points that \
                           nearly coincide, or use the triangles instead"
                )
            }
            Self::BadGrid { heights, columns } => write!(
                f,
                "{heights} heights in rows of {columns} form no heightfield; provide at least two \
                 full rows and two columns, and a size that is finite and above 0"
            ),
        }
    }
}

impl std::error::Error for SurfaceError {}
