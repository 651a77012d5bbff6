use super::*;
use crate::mesh::ClothGrid;
use bevy::mesh::{MeshVertexAttribute, VertexFormat};

const HEAVY: MeshVertexAttribute =
    MeshVertexAttribute::new("Heavy", 0x00d7_a9e5, VertexFormat::Float32);

fn painted() -> Mesh {
    let mut mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 2, 2));
    let colours = (0..4).map(|i| [i as f32 / 3.0, 0.25, f32::NAN, 1.0]);
    let colours: Vec<[f32; 4]> = colours.collect();
    mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, colours);
    mesh.insert_attribute(HEAVY, vec![1.0_f32, 2.0, 3.0, 4.0]);
    mesh
}

#[test]
fn colours_and_custom_attributes_are_paint() {
    let mesh = painted();
    // Two vertices share the second particle; the last vertex belongs to none.
    let paint = Paint::read(&mesh, &vec![0, 1, 1, NO_PARTICLE].into(), 2);
    let values = |channel| paint.values(&channel, None).map(|v| v.into_owned());
    assert_eq!(values(VertexChannel::Red), Some(vec![0.0, 0.5]));
    assert_eq!(values(VertexChannel::Blue), Some(vec![0.0, 0.0]));
    assert_eq!(
        values(VertexChannel::attribute("Heavy")),
        Some(vec![1.0, 2.5])
    );
    assert_eq!(values(VertexChannel::attribute("Light")), None);
    assert_eq!(values(VertexChannel::joint("Hip")), None);
    assert_eq!(
        paint.inventory(None),
        "vertex colours and the attribute \"Heavy\""
    );
    let unpainted = Paint::read(
        &ClothGrid::new(1.0, 1.0, 2, 2).into(),
        &CompactIndices::identity(4),
        4,
    );
    assert_eq!(unpainted.inventory(None), "nothing painted");
}

#[test]
fn values_are_interpolated_between_those_at_0_and_at_1() {
    let paint = Paint::read(&painted(), &CompactIndices::identity(4), 4);
    let setting = PerVertex::Painted {
        channel: VertexChannel::Green,
        zero: 1.0,
        one: 5.0,
    };
    assert_eq!(paint.resolve(&setting, None, 4), Ok(vec![2.0; 4]));
    assert_eq!(paint.resolve(&3.0.into(), None, 2), Ok(vec![3.0; 2]));
    let missing = VertexChannel::attribute("Light");
    let setting = PerVertex::painted(missing.clone(), 1.0);
    assert_eq!(paint.resolve(&setting, None, 4), Err(missing));
}
