//! Grabbing, cutting and tearing with pointers, through Bevy's picking: from mouse and touch events to the cloth.
//! The screen is a virtual one of 800 × 600 pixels.

use crate::{particles, run};
use bevy::{
    camera::{
        CameraProjection, ComputedCameraValues, ManualTextureViewHandle, NormalizedRenderTarget,
        RenderTarget, RenderTargetInfo, Viewport,
    },
    input::{InputPlugin, mouse::MouseScrollUnit, touch::TouchPhase},
    picking::{
        DefaultPickingPlugins,
        backend::{HitData, PointerHits},
        hover::HoverMap,
        input::PointerInputPlugin,
        pointer::{Location, PointerAction, PointerButton, PointerId, PointerInput},
    },
    prelude::*,
};
#[cfg(feature = "picking")]
use bevy_drape::picking::{ClothPointers, ClothTool, ClothTools, HoveredEdges};
use bevy_drape::{
    character::ClothInertia, cloth::PlanarCloth, grab::ClothGrabs, prelude::*, tearing::ClothTorn,
};

const SCREEN: ManualTextureViewHandle = ManualTextureViewHandle(7);
const SIZE: UVec2 = UVec2::new(800, 600);

mod tools;

/// App with a hanging sheet of 2 m × 2 m, and a camera 3 m in front of it.
struct Studio {
    app: App,
    cloth: Entity,
    camera: Entity,
}

#[derive(Resource, Default)]
struct Torn(usize);

impl Studio {
    fn new() -> Self {
        let mut app = crate::headless::headless_app((
            InputPlugin,
            DefaultPickingPlugins
                .build()
                .disable::<PointerInputPlugin>(),
            ClothPlugin::default(),
            ClothInteractionPlugin,
        ));
        app.init_resource::<Torn>()
            .add_observer(|_: On<ClothTorn>, mut torn: ResMut<Torn>| torn.0 += 1);
        let mesh = crate::add_mesh(&mut app, ClothGrid::vertical(2.0, 2.0, 21, 21));
        let cloth = (Cloth::default(), Mesh3d(mesh), Pins::edge(ClothEdge::Top));
        let cloth = app.world_mut().spawn(cloth).id();
        let camera = camera(&mut app, Transform::from_xyz(0.0, 0.0, 3.0), None);
        run(&mut app, 3);
        Self { app, cloth, camera }
    }

    fn tools(&mut self, primary: ClothTool) {
        self.app.insert_resource(ClothTools {
            primary,
            radius: 0.25,
            ..default()
        });
    }

    /// Sends a pointer action at a position on the screen, and runs a frame.
    fn act(&mut self, pointer: PointerId, position: Vec2, action: PointerAction) {
        let location = Location {
            target: NormalizedRenderTarget::TextureView(SCREEN),
            position,
        };
        let input = PointerInput::new(pointer, location, action);
        self.app.world_mut().write_message(input);
        run(&mut self.app, 1);
    }

    fn move_to(&mut self, position: Vec2) {
        self.act(
            PointerId::Mouse,
            position,
            PointerAction::Move { delta: Vec2::ONE },
        );
    }

    fn press(&mut self, position: Vec2) {
        self.move_to(position);
        self.act(
            PointerId::Mouse,
            position,
            PointerAction::Press(PointerButton::Primary),
        );
    }

    fn release(&mut self, position: Vec2) {
        self.act(
            PointerId::Mouse,
            position,
            PointerAction::Release(PointerButton::Primary),
        );
    }

    /// Returns the screen position of a point of the world.
    fn on_screen(&self, point: Vec3) -> Vec2 {
        let world = self.app.world();
        let camera = world.get::<Camera>(self.camera).unwrap();
        let transform = world.get::<GlobalTransform>(self.camera).unwrap();
        camera.world_to_viewport(transform, point).unwrap()
    }

    /// Returns the number of grabs.
    fn grabs(&self) -> usize {
        self.app
            .world()
            .get::<ClothGrabs>(self.cloth)
            .unwrap()
            .len()
    }

    fn is_busy(&self) -> bool {
        self.app.world().resource::<ClothPointers>().are_busy()
    }

    fn torn(&self) -> usize {
        self.app.world().resource::<Torn>().0
    }
}

/// Spawns a camera that looks along −z and renders to the virtual screen, or to a viewport of it.
fn camera(app: &mut App, transform: Transform, viewport: Option<URect>) -> Entity {
    let part = viewport.unwrap_or(URect::from_corners(UVec2::ZERO, SIZE));
    let mut projection = PerspectiveProjection::default();
    projection.update(part.width() as f32, part.height() as f32);
    let camera = Camera {
        viewport: viewport.map(|part| Viewport {
            physical_position: part.min,
            physical_size: part.size(),
            ..default()
        }),
        computed: ComputedCameraValues {
            clip_from_view: projection.get_clip_from_view(),
            target_info: Some(RenderTargetInfo {
                physical_size: SIZE,
                scale_factor: 1.0,
            }),
            ..default()
        },
        order: isize::from(viewport.is_some()),
        ..default()
    };
    // Bevy's picking does nothing without a primary window.
    let mut windows = app.world_mut().query::<&Window>();
    if windows.iter(app.world()).next().is_none() {
        app.world_mut()
            .spawn((Window::default(), bevy::window::PrimaryWindow));
        app.world_mut().spawn(PointerId::Mouse);
    }
    app.world_mut()
        .spawn((camera, RenderTarget::TextureView(SCREEN), transform))
        .id()
}

#[test]
fn the_point_under_the_cursor_follows_it() {
    let mut studio = Studio::new();
    // Light wind, since a perfectly flat sheet cannot fold when it is pushed up.
    studio.app.insert_resource(Wind {
        velocity: Vec3::new(0.3, 0.0, 1.0),
        ..default()
    });
    run(&mut studio.app, 60);
    let point = Vec3::new(0.313, -0.22, 0.0);
    let from = studio.on_screen(point);
    studio.press(from);
    assert_eq!(studio.grabs(), 1);
    assert!(studio.is_busy());
    let grab_point = {
        let grabs = studio.app.world().get::<ClothGrabs>(studio.cloth).unwrap();
        grabs[0].points()[0]
    };
    let grabbed_position = |studio: &Studio| {
        let particles = particles(&studio.app, studio.cloth);
        particles.origin + grab_point.position(&particles.0)
    };
    let position = studio.on_screen(grabbed_position(&studio));
    assert!(
        (position - from).length() < 1.0,
        "grabbed at {position}, clicked at {from}"
    );
    // Mostly up, since the pinned row prevents sideways motion.
    let to = from + Vec2::new(-4.0, -45.0);
    for step in 1..=20 {
        studio.move_to(from.lerp(to, step as f32 / 20.0));
    }
    run(&mut studio.app, 60);
    let position = studio.on_screen(grabbed_position(&studio));
    assert!(
        (position - to).length() < 3.0,
        "grab point at {position}, cursor at {to}"
    );
    // The wheel moves the grab away from the camera, along the line of sight.
    let depth = grabbed_position(&studio).z;
    for _ in 0..3 {
        let scroll = PointerAction::Scroll {
            unit: MouseScrollUnit::Line,
            x: 0.0,
            y: 1.0,
            phase: TouchPhase::Moved,
        };
        studio.act(PointerId::Mouse, to, scroll);
    }
    run(&mut studio.app, 60);
    assert!(
        grabbed_position(&studio).z < depth - 0.2,
        "{} from {depth}",
        grabbed_position(&studio).z
    );
    studio.release(to);
    assert_eq!(studio.grabs(), 0);
    assert!(!studio.is_busy());
}

#[test]
fn cloth_with_inertia_is_picked_at_its_rendered_position() {
    let mut studio = Studio::new();
    let cloth = studio.cloth;
    studio
        .app
        .world_mut()
        .entity_mut(cloth)
        .insert((ClothInertia::default(), PlanarCloth::default()));
    let swing = move |time: Res<Time>, mut transforms: Query<&mut Transform>| {
        let mut transform = transforms.get_mut(cloth).unwrap();
        transform.translation.x = 0.4 * (12.0 * time.elapsed_secs()).sin();
    };
    studio.app.add_systems(Update, swing);
    run(&mut studio.app, 20);
    for frame in 0..60 {
        // Near the pinned corner: alternately 1 cm inside and 1 cm outside of the cloth.
        let corner = {
            let world = studio.app.world();
            let transform = world.get::<GlobalTransform>(cloth).unwrap();
            let positions =
                crate::float3(crate::drawn(&studio.app, cloth), Mesh::ATTRIBUTE_POSITION);
            transform.transform_point(positions[0])
        };
        let inside = frame % 2 == 0;
        let offset = Vec3::new(if inside { 0.01 } else { -0.01 }, -0.01, 0.0);
        let point = studio.on_screen(corner + offset);
        studio.move_to(point);
        let hovered = studio.app.world().resource::<HoverMap>();
        let hit = hovered
            .get(&PointerId::Mouse)
            .and_then(|hits| hits.get(&cloth));
        assert_eq!(hit.is_some(), inside, "frame {frame}");
        if let Some(hit) = hit {
            let position = hit.position.unwrap();
            assert!(position.distance(corner + offset) < 0.005, "{position}");
        }
    }
}

#[test]
fn an_entity_in_front_of_the_cloth_blocks_all_tools() {
    let mut studio = Studio::new();
    let centre = SIZE.as_vec2() / 2.0;
    // Stands for a button of a user interface.
    let button = studio.app.world_mut().spawn_empty().id();
    let camera = studio.camera;
    let cover = move |mut hits: MessageWriter<PointerHits>| {
        let pick = (button, HitData::new(camera, 0.0, None, None));
        hits.write(PointerHits::new(PointerId::Mouse, vec![pick], 9.0));
    };
    let set = bevy::picking::PickingSystems::Backend;
    studio.app.add_systems(PreUpdate, cover.in_set(set));
    for tool in [
        ClothTool::Grab,
        ClothTool::Blade,
        ClothTool::Shred,
        ClothTool::Brush,
    ] {
        studio.tools(tool);
        studio.press(centre);
        studio.move_to(centre + 50.0);
        assert!(!studio.is_busy(), "{tool:?}");
        studio.release(centre);
    }
    assert_eq!((studio.grabs(), studio.torn()), (0, 0));
}

#[test]
fn ignored_cloth_is_not_picked_and_the_empty_tool_does_nothing() {
    let mut studio = Studio::new();
    let centre = SIZE.as_vec2() / 2.0;
    studio.tools(ClothTool::None);
    studio.press(centre);
    assert!(!studio.is_busy());
    studio.release(centre);
    studio.tools(ClothTool::Grab);
    let cloth = studio.cloth;
    studio
        .app
        .world_mut()
        .entity_mut(cloth)
        .insert(Pickable::IGNORE);
    studio.press(centre);
    assert!(!studio.is_busy());
    studio.release(centre);
    for tool in [ClothTool::Brush, ClothTool::Shred, ClothTool::Blade] {
        studio.tools(tool);
        studio.press(centre);
        studio.move_to(centre + 40.0);
        studio.release(centre);
        assert_eq!((studio.grabs(), studio.torn()), (0, 0), "{tool:?}");
    }
    studio.tools(ClothTool::Grab);
    studio
        .app
        .world_mut()
        .entity_mut(cloth)
        .remove::<Pickable>();
    studio.press(centre);
    assert!(studio.is_busy());
}

#[test]
fn two_fingers_grab_one_cloth_and_release_it_when_they_lift() {
    let mut studio = Studio::new();
    let fingers = [PointerId::Touch(1), PointerId::Touch(2)];
    let positions = [Vec2::new(300.0, 300.0), Vec2::new(500.0, 300.0)];
    for (finger, position) in fingers.into_iter().zip(positions) {
        studio.app.world_mut().spawn(finger);
        studio.act(finger, position, PointerAction::Move { delta: Vec2::ONE });
        studio.act(
            finger,
            position,
            PointerAction::Press(PointerButton::Primary),
        );
    }
    assert_eq!(studio.grabs(), 2);
    studio.act(fingers[0], positions[0], PointerAction::Cancel);
    assert_eq!(studio.grabs(), 1);
    // The other pointer is despawned without an event.
    let mut pointers = studio.app.world_mut().query::<(Entity, &PointerId)>();
    let other = pointers
        .iter(studio.app.world())
        .find(|(_, id)| **id == fingers[1]);
    let other = other.unwrap().0;
    studio.app.world_mut().despawn(other);
    run(&mut studio.app, 2);
    assert_eq!(studio.grabs(), 0);
    assert!(!studio.is_busy());
}

#[test]
fn the_camera_whose_viewport_is_under_the_pointer_is_used() {
    let mut studio = Studio::new();
    // A second camera in the right half of the screen looks at the cloth from behind, so left and right are
    // swapped there.
    let half = URect::from_corners(UVec2::new(400, 0), SIZE);
    let behind = Transform::from_xyz(0.0, 0.0, -3.0).looking_at(Vec3::ZERO, Vec3::Y);
    camera(&mut studio.app, behind, Some(half));
    run(&mut studio.app, 2);
    // Slightly right of the centre of its viewport.
    let from = Vec2::new(620.0, 300.0);
    studio.press(from);
    assert_eq!(studio.grabs(), 1);
    let target = |studio: &Studio| {
        let grabs = studio.app.world().get::<ClothGrabs>(studio.cloth).unwrap();
        grabs[0].target
    };
    let began = target(&studio);
    assert!(
        began.x < 0.0 && began.x > -0.3,
        "right of the centre is −x: {began}"
    );
    studio.move_to(from + Vec2::X * 60.0);
    run(&mut studio.app, 2);
    assert!(target(&studio).x < began.x - 0.05);
    // The drag continues beyond the border of the viewport.
    studio.move_to(Vec2::new(200.0, 300.0));
    run(&mut studio.app, 2);
    assert!(target(&studio).x > 0.3, "{}", target(&studio));
}

#[test]
fn a_drag_survives_a_minimized_window_and_ends_with_its_cloth() {
    let mut studio = Studio::new();
    let centre = SIZE.as_vec2() / 2.0;
    studio.press(centre);
    // Minimized: the pointer has no location and the camera no size.
    let camera = studio.camera;
    let world = studio.app.world_mut();
    let mut pointers = world.query::<(&PointerId, &mut bevy::picking::pointer::PointerLocation)>();
    pointers
        .iter_mut(world)
        .for_each(|(_, mut location)| location.location = None);
    let info = world
        .get_mut::<Camera>(camera)
        .unwrap()
        .computed
        .target_info
        .take();
    run(&mut studio.app, 20);
    assert_eq!(studio.grabs(), 1);
    let world = studio.app.world_mut();
    // Restored at another size.
    world
        .get_mut::<Camera>(camera)
        .unwrap()
        .computed
        .target_info = info.map(|info| RenderTargetInfo {
        physical_size: SIZE / 2,
        ..info
    });
    studio.move_to(centre / 2.0);
    run(&mut studio.app, 10);
    let particles = studio
        .app
        .world()
        .get::<ClothParticles>(studio.cloth)
        .unwrap();
    assert!(particles.is_finite());
    let cloth = studio.cloth;
    studio.app.world_mut().despawn(cloth);
    studio.move_to(centre);
    run(&mut studio.app, 3);
    assert!(!studio.is_busy());
    studio.release(centre);
}
