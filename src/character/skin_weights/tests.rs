use super::*;
use bevy::{asset::RenderAssetUsages, mesh::PrimitiveTopology};

/// Two joints, one above the other, and three vertices: on the lower one, on both, on the upper one.
fn skin() -> (SkinWeights, [Entity; 2]) {
    skin_of([0, 1, 2], 3)
}

/// Returns that skin with these particles of the vertices.
fn skin_of(vertex_to_particle: [u32; 3], particles: usize) -> (SkinWeights, [Entity; 2]) {
    let joints: [Entity; 2] = [1, 2].map(|i| Entity::from_raw_u32(i).unwrap());
    let mesh = Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(
        Mesh::ATTRIBUTE_JOINT_INDEX,
        VertexAttributeValues::Uint16x4(vec![[0, 0, 0, 0], [0, 1, 9, 0], [1, 0, 0, 0]]),
    )
    .with_inserted_attribute(
        Mesh::ATTRIBUTE_JOINT_WEIGHT,
        vec![
            [1.0, 0.0, 0.0, 0.0],
            [0.2, 0.2, 5.0, 0.0],
            [0.5, 0.0, 0.0, 0.0],
        ],
    );
    let skinned = SkinnedMesh {
        joints: joints.to_vec(),
        ..default()
    };
    let inverse = [Mat4::IDENTITY, Mat4::from_translation(Vec3::NEG_Y)];
    let name = |joint| (joint == joints[1]).then(|| "Upper".to_owned());
    let vertex_to_particle = vertex_to_particle.into_iter();
    let skin = SkinWeights::read(
        &mesh,
        &skinned,
        &inverse,
        name,
        vertex_to_particle,
        particles,
    );
    (skin.unwrap(), joints)
}

#[test]
fn particles_follow_the_weighted_mean_of_their_joints() {
    let (mut skin, [lower, upper]) = skin();
    let at = |entity| {
        Some(if entity == lower {
            GlobalTransform::from_xyz(10.0, 0.0, 0.0)
        } else {
            GlobalTransform::from_xyz(10.0, 3.0, 0.0)
        })
    };
    assert_eq!(skin.update_pose(Vec3::X * 10.0, Vec3::ZERO, at), 0);
    let position = |skin: &SkinWeights, i| skin.matrix(i).transform_point3(Vec3::Z);
    assert_eq!(position(&skin, 0), Vec3::Z);
    assert_eq!(position(&skin, 1), Vec3::new(0.0, 1.0, 1.0));
    assert_eq!(position(&skin, 2), Vec3::new(0.0, 2.0, 1.0));
    // One joint goes missing and keeps its position, also when the origin moves.
    let without_upper = |entity| at(entity).filter(|_| entity != upper);
    assert_eq!(skin.update_pose(Vec3::X * 9.0, Vec3::X, without_upper), 1);
    assert_eq!(position(&skin, 0), Vec3::new(1.0, 0.0, 1.0));
    assert_eq!(position(&skin, 2), Vec3::new(1.0, 2.0, 1.0));
    assert_eq!(
        skin.update_pose(Vec3::X * 9.0, Vec3::ZERO, without_upper),
        0,
        "reported once"
    );
}

#[test]
fn welded_vertices_have_the_weights_of_the_first() {
    let (skin, _) = skin_of([0, 1, 0], 2);
    assert_eq!(skin.weights_of("Upper"), Some(vec![0.0, 0.5]));
    let (skin, _) = skin_of([NO_PARTICLE, 0, 0], 1);
    assert_eq!(skin.weights_of("Upper"), Some(vec![0.5]));
}

#[test]
fn weights_of_a_joint_are_found_by_its_name() {
    let (skin, _) = skin();
    assert_eq!(skin.weights_of("Upper"), Some(vec![0.0, 0.5, 1.0]));
    assert_eq!(skin.weights_of("Tail"), None);
    assert_eq!(skin.joint_names(), ["Upper"]);
}
