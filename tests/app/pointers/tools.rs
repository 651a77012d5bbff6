//! Blades, brushes and the tool that tears single edges.

use super::*;

#[test]
fn a_stroke_of_the_blade_cuts_from_edge_to_edge() {
    let mut studio = Studio::new();
    studio.tools(ClothTool::Blade);
    run(&mut studio.app, 30);
    // From one side of the cloth to the other, in the long strides of a fast stroke.
    let height = studio.on_screen(Vec3::new(0.0, 0.11, 0.0)).y;
    let at = |x: f32| Vec2::new(x, height);
    studio.press(at(20.0));
    assert!(studio.is_busy());
    for step in 1..=20 {
        studio.move_to(at(20.0 + 38.0 * step as f32));
    }
    studio.release(at(780.0));
    assert!(studio.torn() > 5);
    run(&mut studio.app, 90);
    let particles = particles(&studio.app, studio.cloth);
    let fallen = particles.position.iter().filter(|p| p.y < -2.0).count();
    let hanging = particles.position.iter().filter(|p| p.y > -0.5).count();
    assert!(
        fallen > 200 && hanging > 150,
        "{fallen} fell, {hanging} hang"
    );
    assert_eq!(
        fallen + hanging,
        particles.len(),
        "nothing connects the halves"
    );
}

#[test]
fn the_edge_under_the_cursor_is_highlighted_and_breaks() {
    let mut studio = Studio::new();
    studio.tools(ClothTool::Edge);
    run(&mut studio.app, 30);
    // The midpoint of the edge between particles 220 and 221, in the middle row.
    let [a, b] = [220, 221].map(|i| particles(&studio.app, studio.cloth).world_position(i));
    let cursor = studio.on_screen((a + b) * 0.5) + Vec2::Y * 2.0;
    studio.move_to(cursor);
    studio.move_to(cursor);
    let hovered = studio
        .app
        .world()
        .resource::<HoveredEdges>()
        .get(PointerId::Mouse);
    let mut edge = hovered.expect("an edge is near").particles;
    edge.sort_unstable();
    assert_eq!(edge, [220, 221]);
    studio.press(cursor);
    assert_eq!(studio.torn(), 1);
    assert_eq!(particles(&studio.app, studio.cloth).len(), 442);
    assert!(!studio.is_busy(), "a click, not a drag");
    studio.release(cursor);
    // No edge is hovered away from the cloth.
    studio.move_to(Vec2::new(2.0, 2.0));
    studio.move_to(Vec2::new(2.0, 2.0));
    assert!(
        studio
            .app
            .world()
            .resource::<HoveredEdges>()
            .iter()
            .next()
            .is_none()
    );
}

#[test]
fn brushes_grab_and_shred_the_particles_within_their_radius() {
    let mut studio = Studio::new();
    studio.tools(ClothTool::Brush);
    let centre = SIZE.as_vec2() / 2.0;
    studio.press(centre);
    let grabs = studio.app.world().get::<ClothGrabs>(studio.cloth).unwrap();
    // 21 particles, 0.1 m apart, lie within 0.25 m of the centre.
    assert_eq!(grabs[0].points().len(), 21);
    studio.release(centre);
    studio.tools(ClothTool::Shred);
    studio.press(centre);
    run(&mut studio.app, 2);
    studio.release(centre);
    assert!(studio.torn() >= 1);
    let count = particles(&studio.app, studio.cloth).len();
    assert!(count > 441 + 20, "{count} particles");
}

#[test]
fn a_brush_beside_the_cloth_grabs_it_only_within_its_radius() {
    let mut studio = Studio::new();
    studio.tools(ClothTool::Brush);
    // Another cloth, far behind and to the side, at a different depth.
    let mesh = crate::add_mesh(&mut studio.app, ClothGrid::vertical(1.0, 1.0, 5, 5));
    let far = Transform::from_xyz(30.0, 0.0, -20.0);
    let far = (Cloth::default(), Mesh3d(mesh), Pins::corners(), far);
    studio.app.world_mut().spawn(far);
    run(&mut studio.app, 2);
    studio.press(Vec2::new(20.0, 300.0));
    assert!(!studio.is_busy(), "nothing is near");
    studio.release(Vec2::new(20.0, 300.0));
    // 0.1 m beside the left edge, with a radius of 0.25 m.
    let beside = studio.on_screen(Vec3::new(-1.1, 0.0, 0.0));
    studio.press(beside);
    assert_eq!(studio.grabs(), 1);
    let before = particles(&studio.app, studio.cloth).0.clone();
    run(&mut studio.app, 5);
    let now = particles(&studio.app, studio.cloth);
    let pairs = now.position.iter().zip(before.position.iter());
    let most = pairs.map(|(a, b)| a.distance(b)).fold(0.0, f32::max);
    assert!(
        most < 0.02,
        "pulled by {most} m although the pointer does not move"
    );
}
