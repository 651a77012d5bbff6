use super::*;
use bevy::math::Vec4;

const RADIUS: f32 = 0.05;
const SIDES: u32 = 8;

/// Returns a tube along positions at rest, and its mesh.
fn drawn(places: &[Vec3]) -> (Tube, Mesh) {
    let mut length = 0.0;
    let mut along = vec![0.0];
    for pair in places.windows(2) {
        length += pair[0].distance(pair[1]);
        along.push(length);
    }
    let mut tube = Tube::new(along, RADIUS, SIDES);
    let mut mesh = tube.mesh();
    tube.write(places, &mut mesh).unwrap();
    (tube, mesh)
}

fn float3(mesh: &Mesh, attribute: bevy::mesh::MeshVertexAttribute) -> Vec<Vec3> {
    let values = mesh.attribute(attribute).unwrap().as_float3().unwrap();
    values.iter().map(|&v| Vec3::from(v)).collect()
}

fn tangents(mesh: &Mesh) -> Vec<Vec4> {
    match mesh.attribute(Mesh::ATTRIBUTE_TANGENT) {
        Some(VertexAttributeValues::Float32x4(values)) => {
            values.iter().map(|&v| Vec4::from(v)).collect()
        }
        _ => panic!("no tangents"),
    }
}

fn uvs(mesh: &Mesh) -> Vec<Vec2> {
    match mesh.attribute(Mesh::ATTRIBUTE_UV_0) {
        Some(VertexAttributeValues::Float32x2(values)) => {
            values.iter().map(|&v| Vec2::from(v)).collect()
        }
        _ => panic!("no UVs"),
    }
}

fn triangles(mesh: &Mesh) -> Vec<[usize; 3]> {
    let indices: Vec<usize> = mesh.indices().unwrap().iter().collect();
    indices.chunks(3).map(|t| [t[0], t[1], t[2]]).collect()
}

/// Returns points on a quarter of a circle of radius 1 m, from (1, 0, 0) to (0, 1, 0).
fn arc(count: usize) -> Vec<Vec3> {
    (0..count)
        .map(|i| {
            let angle = FRAC_PI_2 * i as f32 / (count - 1) as f32;
            Vec3::new(angle.cos(), angle.sin(), 0.0)
        })
        .collect()
}

/// Asserts the invariants of a mesh, for any particle positions.
fn assert_sound(mesh: &Mesh) {
    let positions = float3(mesh, Mesh::ATTRIBUTE_POSITION);
    assert!(positions.iter().all(|p| p.is_finite()));
    for normal in float3(mesh, Mesh::ATTRIBUTE_NORMAL) {
        assert!(normal.is_normalized(), "{normal}");
    }
    for tangent in tangents(mesh) {
        assert!(tangent.truncate().is_normalized(), "{tangent}");
    }
    let indices = triangles(mesh);
    assert!(indices.iter().flatten().all(|&i| i < positions.len()));
}

#[test]
fn every_vertex_is_on_the_surface_and_faces_outwards() {
    let (tube, mesh) = drawn(&arc(9));
    assert_sound(&mesh);
    let positions = float3(&mesh, Mesh::ATTRIBUTE_POSITION);
    let normals = float3(&mesh, Mesh::ATTRIBUTE_NORMAL);
    // A torus with hemispheres at its ends.
    let to_curve = |p: Vec3| {
        let nearest = Vec3::new(p.x.max(0.0), p.y.max(0.0), 0.0).normalize();
        let nearest = if p.y < 0.0 { Vec3::X } else { nearest };
        p - if p.x < 0.0 { Vec3::Y } else { nearest }
    };
    for (position, normal) in positions.iter().zip(&normals) {
        let out = to_curve(*position);
        assert!((out.length() - RADIUS).abs() < 1e-3, "{position}");
        assert!(
            normal.dot(out / out.length()) > 0.99,
            "{position}: {normal}"
        );
    }
    for [a, b, c] in triangles(&mesh) {
        let face = (positions[b] - positions[a]).cross(positions[c] - positions[a]);
        assert!(face.length() > 0.0, "a triangle without area");
        for corner in [a, b, c] {
            assert!(
                face.dot(normals[corner]) > 0.0,
                "the triangle faces inwards"
            );
        }
    }
    let (low, high) = tube.bounds().unwrap();
    assert!(
        (low - Vec3::new(-RADIUS, -RADIUS, -RADIUS)).length() < 2e-3,
        "{low}"
    );
    assert!(
        (high - Vec3::new(1.0 + RADIUS, 1.0 + RADIUS, RADIUS)).length() < 2e-3,
        "{high}"
    );
}

#[test]
fn the_surface_is_closed() {
    let (_, mesh) = drawn(&arc(4));
    let positions = float3(&mesh, Mesh::ATTRIBUTE_POSITION);
    // Coincident vertices, such as those of the seam and the tips, count as one.
    let id = |i: usize| {
        positions
            .iter()
            .position(|p| p.distance(positions[i]) < 1e-5)
    };
    let mut sides: Vec<_> = triangles(&mesh)
        .into_iter()
        .flat_map(|[a, b, c]| [(a, b), (b, c), (c, a)])
        .map(|(a, b)| (id(a).unwrap(), id(b).unwrap()))
        .collect();
    sides.sort_unstable();
    for &(a, b) in &sides {
        assert!(sides.binary_search(&(b, a)).is_ok(), "a hole at {a}–{b}");
    }
}

#[test]
fn a_texture_is_neither_stretched_nor_mirrored() {
    // Straight, with uneven spacing.
    let (_, mesh) = drawn(&[0.0, 0.3, 0.4, 0.5, 0.8].map(|x| Vec3::X * x));
    let positions = float3(&mesh, Mesh::ATTRIBUTE_POSITION);
    let (uvs, tangents) = (uvs(&mesh), tangents(&mesh));
    let normals = float3(&mesh, Mesh::ATTRIBUTE_NORMAL);
    for (i, uv) in uvs.iter().enumerate() {
        if normals[i].x.abs() > 1e-6 {
            continue;
        }
        let metres = uv.y * TAU * RADIUS;
        // Between uneven particles the parameter of the curve need not be proportional to its length.
        assert!((metres - positions[i].x).abs() < 0.02, "{metres}");
        let tangent = tangents[i].truncate();
        assert!(tangent.dot(normals[i]).abs() < 1e-5);
        // Bevy's bitangent points in the direction of decreasing v.
        let bitangent = normals[i].cross(tangent) * tangents[i].w;
        assert!(bitangent.distance(Vec3::NEG_X) < 1e-4, "{bitangent}");
    }
    // The tangent points in the direction of increasing u.
    let columns = SIDES as usize + 1;
    let row = 5 * columns;
    let onward = (positions[row + 1] - positions[row]).normalize();
    assert!(onward.dot(tangents[row].truncate()) > 0.9);
    assert!(uvs[row + 1].x > uvs[row].x);
    assert_eq!(uvs[row].x, 0.0);
    assert_eq!(uvs[row + columns - 1].x, 1.0);
}

#[test]
fn coincident_particles_and_folds_give_no_nan() {
    let (a, b, c) = (Vec3::ZERO, Vec3::X * 0.1, Vec3::Y * 0.1);
    for places in [
        vec![a, a],
        vec![a, a, a, a],
        vec![a, a, b, b, c],
        vec![a, b, a, b, a],
        vec![a, b, c, b, a],
        vec![a, b, b * 1.000_001, b, c],
    ] {
        let mut tube = Tube::new(vec![0.0; places.len()], RADIUS, SIDES);
        let mut mesh = tube.mesh();
        // Write twice: the second time starts from the stored normals.
        for _ in 0..2 {
            tube.write(&places, &mut mesh).unwrap();
            assert_sound(&mesh);
        }
    }
}

#[test]
fn the_tube_does_not_spin_when_its_start_turns() {
    let mut places: Vec<Vec3> = (0..5).map(|i| Vec3::X * (0.2 * i as f32)).collect();
    let (mut tube, mut mesh) = drawn(&places);
    let first = |mesh: &Mesh| float3(mesh, Mesh::ATTRIBUTE_NORMAL)[3 * (SIDES as usize + 1)];
    let mut last = first(&mesh);
    for step in 0..200 {
        let angle = step as f32 * 0.05;
        places[0] = places[1] + Vec3::new(-angle.cos(), angle.sin(), 0.3 * angle.sin()) * 0.2;
        tube.write(&places, &mut mesh).unwrap();
        assert_sound(&mesh);
        let now = first(&mesh);
        if step > 0 {
            assert!(now.distance(last) < 0.15, "{last} became {now}");
        }
        last = now;
    }
}

#[test]
fn a_cut_tube_is_two_tubes() {
    let mut places = arc(9);
    let (mut tube, whole) = drawn(&places);
    let normal_before = tube.rings[CAP_RINGS + 4 * RINGS_PER_SEGMENT].frame.normal;
    assert!(tube.split(4, 9));
    places.push(places[4]);
    assert_eq!(
        tube.pieces().chains,
        [vec![0, 1, 2, 3, 4], vec![9, 5, 6, 7, 8]]
    );
    let mut mesh = tube.mesh();
    tube.write(&places, &mut mesh).unwrap();
    assert_sound(&mesh);
    // One additional ring at the cut, and two caps.
    let columns = SIDES as usize + 1;
    assert_eq!(
        mesh.count_vertices(),
        whole.count_vertices() + columns * (1 + 2 * CAP_RINGS)
    );
    let second = ring_count(&[0; 5]) + CAP_RINGS;
    assert!(tube.rings[second].frame.normal.distance(normal_before) < 1e-4);
    // The texture continues across the cut: u and v of the copy are those of the source particle.
    let uvs = uvs(&mesh);
    let end = (ring_count(&[0; 5]) - 1 - CAP_RINGS) * columns;
    assert_eq!(uvs[end], uvs[second * columns]);
    // Move the halves apart.
    for i in [9, 5, 6, 7, 8] {
        places[i] += Vec3::Z * 3.0;
    }
    tube.write(&places, &mut mesh).unwrap();
    assert_sound(&mesh);
    let positions = float3(&mesh, Mesh::ATTRIBUTE_POSITION);
    let near = positions.iter().filter(|p| p.z.abs() < 0.1).count();
    assert_eq!(near, ring_count(&[0; 5]) * columns);
    assert!(positions.iter().all(|p| p.z.abs() < 0.1 || p.z > 2.9));
}

#[test]
fn a_tube_can_be_cut_into_single_segments() {
    let mut places = arc(4);
    let (mut tube, _) = drawn(&places);
    // No cut is possible at the ends of a piece, or at a particle outside the tube.
    for at in [0, 3, 77] {
        assert!(!tube.split(at, 4));
    }
    assert!(tube.split(1, 4));
    assert!(!tube.split(1, 5) && !tube.split(4, 5));
    assert!(tube.split(2, 5));
    places.extend([places[1], places[2]]);
    assert_eq!(tube.pieces().chains, [vec![0, 1], vec![4, 2], vec![5, 3]]);
    let mut mesh = tube.mesh();
    tube.write(&places, &mut mesh).unwrap();
    assert_sound(&mesh);
    // Single particles are not drawn.
    let mut alone = Tube::new(vec![0.0], RADIUS, SIDES);
    let mut mesh = alone.mesh();
    alone.write(&[Vec3::ONE], &mut mesh).unwrap();
    assert_eq!(mesh.count_vertices(), 0);
    assert_eq!(alone.bounds(), None);
    assert!(!alone.split(0, 1));
    let mut none = Tube::new(Vec::new(), RADIUS, 0);
    let mut mesh = none.mesh();
    none.write::<Vec3>(&[], &mut mesh).unwrap();
}

#[test]
fn buffers_are_reused() {
    let places = arc(9);
    let (mut tube, mut mesh) = drawn(&places);
    let capacity = (tube.rings.as_ptr(), tube.rings.capacity());
    tube.write(&places, &mut mesh).unwrap();
    assert_eq!((tube.rings.as_ptr(), tube.rings.capacity()), capacity);
}
