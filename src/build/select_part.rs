//! Reads the part of a mesh that becomes cloth.

use crate::{
    character::paint::ClothPart,
    mesh::{
        MeshError, Topology, TriangleMesh,
        paint::{VertexChannel, per_vertex},
    },
};
use bevy::prelude::*;

/// Part of a mesh that becomes cloth.
pub(super) struct ClothSelection {
    pub(super) triangles: TriangleMesh,
    pub(super) topology: Topology,
    /// Particles on the seam with the rest of the mesh.
    pub(super) seam: Vec<u32>,
}

/// Reads a mesh, or returns why it cannot become cloth.
pub(super) fn select_cloth(
    original: &Mesh,
    part: Option<&ClothPart>,
) -> Result<ClothSelection, String> {
    let mut triangles = TriangleMesh::read(original).map_err(|error| error.to_string())?;
    let on_seam = match part {
        Some(part) => Some(keep_part(original, &mut triangles, part)?),
        None => None,
    };
    let topology = Topology::new(&triangles).ok_or_else(|| MeshError::NoTriangles.to_string())?;
    let seam = on_seam.map_or(Vec::new(), |on_seam| topology.on_seam(&on_seam));
    Ok(ClothSelection {
        triangles,
        topology,
        seam,
    })
}

/// Removes the triangles outside a part. Returns which vertices are on the seam.
fn keep_part(
    original: &Mesh,
    triangles: &mut TriangleMesh,
    part: &ClothPart,
) -> Result<Vec<bool>, String> {
    let on_seam = match part {
        ClothPart::Painted { channel, above } => {
            let values = match channel {
                VertexChannel::Joint(_) => {
                    return Err(format!(
                        "its ClothPart is painted in {channel:?}; joint weights serve for pins and \
                         distances only, parts need vertex colours or an attribute"
                    ));
                }
                _ => per_vertex(original, channel),
            };
            let values = values.ok_or_else(|| {
                format!("its ClothPart is painted in {channel:?}, which its mesh does not have")
            })?;
            triangles.keep_part(|v| values.get(v).is_some_and(|value| value > above))
        }
        ClothPart::Predicate(is_cloth) => {
            let positions = triangles.positions.clone();
            triangles.keep_part(|v| is_cloth.accepts(positions[v]))
        }
    };
    if triangles.triangles.is_empty() {
        return Err("no triangle has a vertex in its ClothPart; a predicate that comes from a file must be \
                    set again, for code is not saved"
            .to_owned());
    }
    Ok(on_seam)
}
