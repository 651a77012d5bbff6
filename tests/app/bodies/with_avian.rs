use super::{Form, Kind, TestEngine, tests_of, tetrahedron};
use crate::headless::headless_app;
use avian3d::prelude::*;
use bevy::prelude::*;
use bevy_drape::prelude::*;

pub(crate) struct Avian;

tests_of!(Avian);

fn collider(form: Form) -> Collider {
    match form {
        Form::Ball(radius) => Collider::sphere(radius),
        Form::Box(half) => Collider::cuboid(half.x * 2.0, half.y * 2.0, half.z * 2.0),
        Form::Mesh(size) => {
            let (points, triangles) = tetrahedron(size);
            Collider::trimesh(points, triangles)
        }
        Form::Hull(size) => Collider::convex_hull(tetrahedron(size).0).unwrap(),
        Form::Capsule => Collider::capsule(0.3, 0.4),
        Form::Cylinder => Collider::cylinder(0.5, 1.0),
        Form::Cone => Collider::cone(0.5, 1.0),
        Form::HalfSpace => Collider::half_space(Vec3::Y),
        Form::Compound => {
            let one = || Collider::cuboid(0.5, 1.0, 0.5);
            let at = |x| Vec3::X * x;
            Collider::compound(vec![
                (at(-0.3), Quat::IDENTITY, one()),
                (at(0.3), Quat::IDENTITY, one()),
            ])
        }
        Form::RoundBox => Collider::round_cuboid(0.6, 0.6, 0.6, 0.2),
        Form::Heights => Collider::heightfield(vec![vec![0.0; 4]; 4], Vec3::new(4.0, 1.0, 4.0)),
    }
}

impl TestEngine for Avian {
    fn app(gravity: Vec3) -> App {
        let mut app = headless_app((
            ClothPlugin::default(),
            PhysicsPlugins::default(),
            AvianClothPlugin,
        ));
        app.insert_resource(Gravity(gravity));
        app
    }

    fn body(app: &mut App, form: Form, kind: Kind, at: Vec3, velocity: Vec3) -> Entity {
        let body = match kind {
            Kind::Static => RigidBody::Static,
            Kind::Kinematic => RigidBody::Kinematic,
            Kind::Dynamic(_) => RigidBody::Dynamic,
        };
        let mut entity = app.world_mut().spawn((
            body,
            collider(form),
            Transform::from_translation(at),
            LinearVelocity(velocity),
        ));
        if let Kind::Dynamic(mass) = kind {
            entity.insert(Mass(mass));
        }
        entity.id()
    }

    fn velocity(app: &App, body: Entity) -> Vec3 {
        app.world().get::<LinearVelocity>(body).unwrap().0
    }

    fn is_asleep(app: &App, body: Entity) -> bool {
        app.world().get::<Sleeping>(body).is_some()
    }

    fn make_sensor(app: &mut App, body: Entity) {
        app.world_mut().entity_mut(body).insert(Sensor);
    }

    fn set_layers(app: &mut App, entity: Entity, memberships: u32, filters: u32) {
        let layers = CollisionLayers::from_bits(memberships, filters);
        app.world_mut().entity_mut(entity).insert(layers);
    }
}
