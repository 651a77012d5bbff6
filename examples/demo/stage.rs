//! Light, camera, floor and materials of all scenes.

use crate::textures;
use bevy::{
    camera::{Hdr, RenderTarget},
    core_pipeline::tonemapping::Tonemapping,
    light::CascadeShadowConfigBuilder,
    math::Affine2,
    prelude::*,
};
use bevy_panorbit_camera::PanOrbitCamera;

/// Shared materials.
#[derive(Resource, Clone)]
pub(crate) struct Props {
    /// Tartan fabric: two-sided, matt.
    pub(crate) fabric: Handle<StandardMaterial>,
    /// The same with the texture of a flag.
    pub(crate) flag: Handle<StandardMaterial>,
    /// Material of colliders.
    pub(crate) stone: Handle<StandardMaterial>,
    floor: Handle<StandardMaterial>,
    floor_mesh: Handle<Mesh>,
}

/// Creates the materials and spawns lights and camera. The camera renders to `target`, or to the window if there
/// is none.
pub(crate) fn set_up(
    mut commands: Commands,
    mut images: ResMut<Assets<Image>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut meshes: ResMut<Assets<Mesh>>,
    target: Option<Res<DrawInto>>,
) {
    let props = Props {
        fabric: materials.add(StandardMaterial {
            base_color_texture: Some(images.add(textures::tartan())),
            normal_map_texture: Some(images.add(textures::tartan_normal())),
            // Five repeats across the sheet.
            uv_transform: Affine2::from_scale(Vec2::splat(5.0)),
            perceptual_roughness: 0.95,
            reflectance: 0.15,
            // Slightly translucent.
            diffuse_transmission: 0.12,
            double_sided: true,
            cull_mode: None,
            ..default()
        }),
        flag: materials.add(StandardMaterial {
            base_color_texture: Some(images.add(textures::flag())),
            perceptual_roughness: 0.9,
            reflectance: 0.2,
            diffuse_transmission: 0.2,
            double_sided: true,
            cull_mode: None,
            ..default()
        }),
        stone: materials.add(StandardMaterial {
            base_color: Color::srgb(0.78, 0.74, 0.69),
            perceptual_roughness: 0.7,
            reflectance: 0.3,
            ..default()
        }),
        floor: materials.add(StandardMaterial {
            base_color: Color::srgb(0.36, 0.33, 0.30),
            perceptual_roughness: 0.9,
            reflectance: 0.2,
            ..default()
        }),
        floor_mesh: meshes.add(Plane3d::default().mesh().size(200.0, 200.0)),
    };
    commands.spawn((
        Mesh3d(props.floor_mesh.clone()),
        MeshMaterial3d(props.floor.clone()),
    ));
    commands.insert_resource(props);

    commands.spawn((
        DirectionalLight {
            illuminance: 11_000.0,
            color: Color::srgb(1.0, 0.95, 0.87),
            shadow_maps_enabled: true,
            ..default()
        },
        CascadeShadowConfigBuilder {
            num_cascades: 2,
            first_cascade_far_bound: 5.0,
            maximum_distance: 14.0,
            ..default()
        }
        .build(),
        Transform::from_xyz(3.6, 4.0, 1.6).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    let sky = EnvironmentMapLight::hemispherical_gradient(
        &mut images,
        Color::srgb(0.72, 0.80, 0.92),
        Color::srgb(0.62, 0.62, 0.62),
        Color::srgb(0.30, 0.27, 0.24),
    );
    let mut camera = commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(1.25, 1.35, 2.35).looking_at(Vec3::Y * 0.4, Vec3::Y),
        // So that the background is tone-mapped like the floor that fades into it.
        Hdr,
        Tonemapping::AgX,
        EnvironmentMapLight {
            intensity: 520.0,
            ..sky
        },
        DistanceFog {
            color: BACKGROUND,
            falloff: FogFalloff::ExponentialSquared { density: 0.1 },
            ..default()
        },
        PanOrbitCamera {
            focus: Vec3::Y * 0.4,
            zoom_lower_limit: 0.6,
            zoom_upper_limit: Some(18.0),
            // Just above the floor.
            pitch_lower_limit: Some(0.02),
            // The right button cuts cloth.
            button_pan: MouseButton::Middle,
            ..default()
        },
    ));
    if let Some(target) = target {
        camera.insert((
            RenderTarget::Image(target.0.clone().into()),
            // Offscreen, only the last frames are rendered.
            Camera {
                is_active: false,
                ..default()
            },
        ));
    }
}

/// Background colour, into which the floor fades.
pub(crate) const BACKGROUND: Color = Color::srgb(0.50, 0.51, 0.52);

/// Image that the camera renders to without a window.
#[derive(Resource)]
pub(crate) struct DrawInto(pub Handle<Image>);
