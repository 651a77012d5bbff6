use super::*;

#[test]
fn meshes_without_extent_have_no_links_that_are_no_numbers() {
    // All particles in one point, and all in a line.
    for place in [|_: Vec2| Vec3::ONE, |at: Vec2| Vec3::X * at.x] {
        let sheet = sheet(30, 30, place);
        assert!(sheet.graph.coarse.is_sound(900));
        for alpha in [0.0, 1e-19, 1e-3, 1e30] {
            let mut particles = sheet.stretched(1.0);
            particles.inverse_mass.fill(1.0);
            particles.position.set(450, Vec3::splat(9.0));
            match alpha > 0.0 {
                true => _ = sheet.solve_elastic(&mut particles, alpha),
                false => sheet.solve(&mut particles),
            }
            assert!(particles.all_finite(&mut Workers::serial()));
        }
    }
}

#[test]
fn hubs_with_many_arms_have_no_levels() {
    // Strips of triangles that all begin at one particle.
    let arms = 2000;
    let mut rest = Vec::new();
    let mut triangles = Vec::new();
    let hub = arms * 4;
    for arm in 0..arms {
        let (sin, cos) = (arm as f32 / arms as f32 * TAU).sin_cos();
        let along =
            |out: f32, side: f32| Vec3::new(cos * out - sin * side, sin * out + cos * side, 0.0);
        rest.extend([
            along(1.0, 0.0),
            along(1.0, 0.001),
            along(2.0, 0.0),
            along(2.0, 0.001),
        ]);
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| arm * 4 + i);
        triangles.extend([[hub, a, b], [a, b, c], [b, d, c]]);
    }
    rest.push(Vec3::ZERO);
    let rest: SoaVec3 = rest.into_iter().collect();
    let mut graph = graph_of(&rest, &triangles);
    graph.add_coarse_levels(&rest, &triangles.into());
    assert!(graph.coarse.is_empty());
}
