use super::{Form, Kind, TestEngine, tests_of, tetrahedron};
use crate::headless::headless_app;
use bevy::prelude::*;
use bevy_drape::prelude::*;
use bevy_rapier3d::prelude::*;

pub(crate) struct Rapier;

tests_of!(Rapier);

fn collider(form: Form) -> Collider {
    match form {
        Form::Ball(radius) => Collider::ball(radius),
        Form::Box(half) => Collider::cuboid(half.x, half.y, half.z),
        Form::Mesh(size) => {
            let (points, triangles) = tetrahedron(size);
            Collider::trimesh(points, triangles).unwrap()
        }
        Form::Hull(size) => Collider::convex_hull(&tetrahedron(size).0).unwrap(),
        Form::Capsule => Collider::capsule_y(0.2, 0.3),
        Form::Cylinder => Collider::cylinder(0.5, 0.5),
        Form::Cone => Collider::cone(0.5, 0.5),
        Form::HalfSpace => Collider::halfspace(Vec3::Y).unwrap(),
        Form::Compound => {
            let one = || Collider::cuboid(0.25, 0.5, 0.25);
            let at = |x| Vec3::X * x;
            Collider::compound(vec![
                (at(-0.3), Quat::IDENTITY, one()),
                (at(0.3), Quat::IDENTITY, one()),
            ])
        }
        Form::RoundBox => Collider::round_cuboid(0.3, 0.3, 0.3, 0.2),
        Form::Heights => Collider::heightfield(vec![0.0; 16], 4, 4, Vec3::new(4.0, 1.0, 4.0)),
    }
}

impl TestEngine for Rapier {
    fn app(gravity: Vec3) -> App {
        let mut app = headless_app((
            ClothPlugin::default(),
            RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
            RapierClothPlugin,
        ));
        app.insert_resource(TimestepMode::Fixed {
            dt: 1.0 / 60.0,
            substeps: 1,
        });
        app.add_systems(
            PreUpdate,
            move |mut all: Query<&mut RapierConfiguration>| {
                for mut configuration in &mut all {
                    configuration.gravity = gravity;
                }
            },
        );
        app
    }

    fn body(app: &mut App, form: Form, kind: Kind, at: Vec3, velocity: Vec3) -> Entity {
        let body = match kind {
            Kind::Static => RigidBody::Fixed,
            Kind::Kinematic => RigidBody::KinematicVelocityBased,
            Kind::Dynamic(_) => RigidBody::Dynamic,
        };
        let mut entity = app.world_mut().spawn((
            body,
            collider(form),
            Transform::from_translation(at),
            Velocity::linear(velocity),
            Sleeping::default(),
        ));
        if let Kind::Dynamic(mass) = kind {
            entity.insert(ColliderMassProperties::Mass(mass));
        }
        entity.id()
    }

    fn velocity(app: &App, body: Entity) -> Vec3 {
        app.world().get::<Velocity>(body).unwrap().linear
    }

    fn is_asleep(app: &App, body: Entity) -> bool {
        app.world().get::<Sleeping>(body).unwrap().sleeping
    }

    fn make_sensor(app: &mut App, body: Entity) {
        app.world_mut().entity_mut(body).insert(Sensor);
    }

    fn set_layers(app: &mut App, entity: Entity, memberships: u32, filters: u32) {
        let bits = Group::from_bits_truncate;
        app.world_mut()
            .entity_mut(entity)
            .insert(CollisionGroups::new(bits(memberships), bits(filters)));
    }
}
