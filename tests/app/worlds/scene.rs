//! World of a test, and the edits of it.

use super::{
    edit::{Edit, Engine, Event, Kind, Plan, Slot, Value},
    engines,
    meshes::{self, MeshKind},
    reflection::{components, resources, set},
};
use crate::characters;
use bevy::{
    ecs::reflect::AppTypeRegistry, platform::collections::HashSet, prelude::*,
    reflect::TypeRegistry, time::TimeUpdateStrategy,
};
use bevy_drape::{
    character::{Teleport, TeleportCloth},
    cloth::{ClothBuildMode, ClothMaxThreads, ClothSource, ClothSubstep},
    collision::ClothLayers,
    diagnostics::ClothDiagnosticsPlugin,
    prelude::*,
    proxy::ClothProxy,
    snapshot::ClothSnapshot,
};
use std::time::Duration;

/// Parts of a world that are run, and how.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mode {
    /// Whether the values that edits write are printed.
    pub(super) is_told: bool,
    /// Whether the witness is alone: edits of other entities are left out.
    pub(super) is_witness_alone: bool,
    /// Number of threads, with cloths built at once; otherwise edits choose both.
    pub(super) threads: Option<usize>,
}

/// Whether cloths take steps.
#[derive(Resource)]
struct IsRunning(bool);

/// App, and everything spawned in it.
pub(super) struct Scene {
    pub(super) app: App,
    mode: Mode,
    engine: Engine,
    has_lod: bool,
    /// Cloth that no edit chooses and that interacts with nothing else.
    pub(super) witness: Entity,
    /// In the order of their spawning, including those that are despawned by now.
    entities: Vec<Entity>,
    /// Entities that no edit despawned.
    pub(super) alive: HashSet<Entity>,
    /// Bodies of the engine, which does not survive hostile transforms.
    bodies: HashSet<Entity>,
    snapshot: Option<ClothSnapshot>,
}

impl Scene {
    pub(super) fn new(plan: &Plan, mode: Mode) -> Self {
        let mut app = engines::app(plan.engine);
        // `add_plugins` refuses apps that are finished.
        ClothDiagnosticsPlugin::default().build(&mut app);
        app.insert_resource(IsRunning(true));
        let steps = (
            ClothSystems::Prepare,
            ClothSystems::Simulate,
            ClothSystems::Finish,
        );
        app.configure_sets(
            FixedUpdate,
            steps.run_if(|running: Res<IsRunning>| running.0),
        );
        if plan.has_own_stage {
            app.add_systems(ClothSubstep, || {});
        }
        let witness = spawn_witness(&mut app);
        // Built at once: in the background, the update in which it is ready would depend on the load of the machine.
        app.update();
        if plan.builds_in_background {
            app.insert_resource(ClothBuildMode::Background);
        }
        Self {
            app,
            mode,
            engine: plan.engine,
            has_lod: plan.has_lod,
            witness,
            entities: Vec::new(),
            alive: HashSet::default(),
            bodies: HashSet::default(),
            snapshot: None,
        }
    }

    /// Applies an edit. Calls `after_update` after each update of the app.
    pub(super) fn apply(
        &mut self,
        edit: &Edit,
        mut after_update: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let is_common = matches!(
            edit,
            Edit::SetResource(..) | Edit::Run(_) | Edit::Clock(..) | Edit::Update(..)
        );
        if self.mode.is_witness_alone && !is_common {
            return Ok(());
        }
        match *edit {
            Edit::Spawn(kind, at) => self.spawn(kind, at.into()),
            Edit::Despawn(slot) => self.despawn(slot),
            Edit::Insert(slot, component) => self.insert_or_remove(slot, component, true),
            Edit::Remove(slot, component) => self.insert_or_remove(slot, component, false),
            Edit::Set(slot, component, field, value) => self.set(slot, component, field, value),
            Edit::SetResource(resource, field, value) => self.set_resource(resource, field, value),
            Edit::Parent(child, parent) => self.set_parent(child, parent),
            Edit::Orphan(slot) => {
                if let Some(entity) = self.entity(slot) {
                    self.app.world_mut().entity_mut(entity).remove::<ChildOf>();
                }
            }
            Edit::Reload(slot, mesh) => self.reload(slot, mesh),
            Edit::Mesh(slot, mesh) => {
                if let Some(entity) = self.entity(slot) {
                    let mesh = crate::add_mesh(&mut self.app, mesh.mesh());
                    self.app.world_mut().entity_mut(entity).insert(Mesh3d(mesh));
                }
            }
            Edit::Attribute(slot, attribute, number, value) => {
                let mesh = self.source_mesh(slot);
                let meshes = self.app.world_mut().resource_mut::<Assets<Mesh>>();
                if let Some(mut mesh) = mesh.and_then(|mesh| meshes.into_inner().get_mut(mesh)) {
                    meshes::damage(&mut mesh, attribute, number, value);
                }
            }
            Edit::Run(is_running) => {
                self.app.insert_resource(IsRunning(is_running));
            }
            Edit::Event(slot, by, event, at, size) => {
                self.trigger(slot, by, event, at.into(), size)
            }
            Edit::Take(slot) => {
                if let Some(entity) = self.entity(slot) {
                    let taken = ClothSnapshot::take(self.app.world(), entity);
                    self.snapshot = taken.or(self.snapshot.take());
                }
            }
            Edit::Restore(slot) => {
                if let (Some(entity), Some(snapshot)) = (self.entity(slot), self.snapshot.clone()) {
                    crate::command(&mut self.app, entity, |cloth| {
                        cloth.restore_cloth(snapshot);
                    });
                }
            }
            Edit::Clock(speed, longest) => {
                let mut clock = self.app.world_mut().resource_mut::<Time<Virtual>>();
                clock.set_relative_speed(speed);
                clock.set_max_delta(Duration::from_secs_f32(longest));
            }
            Edit::Update(count, dt) => {
                let frame = TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(dt));
                self.app.insert_resource(frame);
                for _ in 0..count {
                    if let Some(threads) = self.mode.threads {
                        self.app
                            .insert_resource(ClothMaxThreads(threads))
                            .insert_resource(ClothBuildMode::Immediate);
                    }
                    self.app.update();
                    after_update(self)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the entity of a slot, if it is alive.
    fn entity(&self, slot: Slot) -> Option<Entity> {
        let entity = self.entity_or_ghost(slot)?;
        self.app
            .world()
            .get_entity(entity)
            .is_ok()
            .then_some(entity)
    }

    fn entity_or_ghost(&self, slot: Slot) -> Option<Entity> {
        let count = self.entities.len();
        (count > 0).then(|| self.entities[usize::from(slot) % count])
    }

    fn spawn(&mut self, kind: Kind, at: Vec3) {
        let at = Transform::from_translation(at);
        let other = |scene: &Self, slot| scene.entity_or_ghost(slot).unwrap_or(Entity::PLACEHOLDER);
        let spawned = match kind {
            Kind::Cloth(mesh) => {
                let mesh = Mesh3d(crate::add_mesh(&mut self.app, mesh.mesh()));
                self.app
                    .world_mut()
                    .spawn((Cloth::default(), mesh, at))
                    .id()
            }
            Kind::Held(by) => {
                let pins = Pins::top_corners().to_entity(other(self, by));
                let mesh = Mesh3d(crate::add_mesh(
                    &mut self.app,
                    MeshKind::Grid(12, 12).mesh(),
                ));
                self.app
                    .world_mut()
                    .spawn((Cloth::default(), mesh, pins, at))
                    .id()
            }
            Kind::Rope(particles) => {
                let rope = Rope::between(Vec3::ZERO, Vec3::X, particles.into());
                self.app.world_mut().spawn((rope, Pins::index(0), at)).id()
            }
            Kind::Sphere => self
                .app
                .world_mut()
                .spawn((ClothCollider::sphere(0.3), at))
                .id(),
            Kind::HalfSpace => self
                .app
                .world_mut()
                .spawn((ClothCollider::half_space(), at))
                .id(),
            Kind::Body => {
                let mesh = Mesh3d(crate::add_mesh(&mut self.app, MeshKind::Torus.mesh()));
                let body = (mesh, at);
                #[cfg(feature = "parry")]
                let body = (body, ClothMeshCollider::default());
                self.app.world_mut().spawn(body).id()
            }
            Kind::EngineBody(choice) => {
                let body = engines::spawn(&mut self.app, self.engine, choice, at.translation);
                self.bodies.insert(body);
                body
            }
            Kind::Proxy(slot) => {
                let cloth = other(self, slot);
                let mesh = Mesh3d(crate::add_mesh(
                    &mut self.app,
                    MeshKind::Grid(20, 20).mesh(),
                ));
                self.app
                    .world_mut()
                    .spawn((ClothProxy { cloth }, mesh, at))
                    .id()
            }
            Kind::WindZone => self.app.world_mut().spawn((WindZone::default(), at)).id(),
            Kind::Character => {
                let character =
                    characters::spawn(&mut self.app, characters::skinned(), at.translation, ());
                self.remember(character.joints[0]);
                self.remember(character.joints[1]);
                character.cloth
            }
            Kind::Empty => self.app.world_mut().spawn((Name::new("Empty"), at)).id(),
        };
        self.remember(spawned);
    }

    fn remember(&mut self, entity: Entity) {
        self.entities.push(entity);
        self.alive.insert(entity);
    }

    fn despawn(&mut self, slot: Slot) {
        let Some(entity) = self.entity(slot) else {
            return;
        };
        let world = self.app.world_mut();
        let mut children = world.query::<&Children>();
        let family: Vec<_> = children.query(world).iter_descendants(entity).collect();
        world.despawn(entity);
        self.alive.remove(&entity);
        family.iter().for_each(|child| {
            self.alive.remove(child);
        });
    }

    /// Inserts the default of a component, by its index, or removes it.
    fn insert_or_remove(&mut self, slot: Slot, component: u8, is_inserted: bool) {
        let Some(entity) = self.entity(slot) else {
            return;
        };
        let types = self.app.world().resource::<AppTypeRegistry>().clone();
        let registry = types.read();
        let all = components(&registry);
        let known = all[usize::from(component) % all.len()];
        let component = known.data::<ReflectComponent>().unwrap();
        let mut entity = self.app.world_mut().entity_mut(entity);
        if is_inserted {
            let value = known.data::<ReflectDefault>().unwrap().default();
            component.insert(&mut entity, value.as_partial_reflect(), &registry);
        } else {
            component.remove(&mut entity);
        }
    }

    fn set(&mut self, slot: Slot, component: u8, field: u8, value: Value) {
        let Some(entity) = self.entity(slot) else {
            return;
        };
        let types = self.app.world().resource::<AppTypeRegistry>().clone();
        let registry = types.read();
        let target = self.app.world().entity(entity);
        let components = components(&registry).into_iter();
        let components = components.map(|known| known.data::<ReflectComponent>().unwrap());
        let present: Vec<_> = components.filter(|known| known.contains(target)).collect();
        if !present.is_empty() {
            let component = present[usize::from(component) % present.len()];
            let value = match self.bodies.contains(&entity) {
                true => value.tamed(),
                false => value,
            };
            self.write(entity, component, field, value, &registry);
        }
    }

    /// Writes a field of a resource; in Bevy it is a component of an entity of its own.
    fn set_resource(&mut self, resource: u8, field: u8, value: Value) {
        let types = self.app.world().resource::<AppTypeRegistry>().clone();
        let registry = types.read();
        let mut all = resources(&registry);
        if !self.has_lod {
            let of_lod = "bevy_drape::lod::";
            all.retain(|known| !known.type_info().type_path().starts_with(of_lod));
        }
        let known = all[usize::from(resource) % all.len()];
        let world = self.app.world();
        let id = world.components().get_id(known.type_id());
        let entity = id.and_then(|id| world.resource_entities().get(id));
        if let Some(entity) = entity {
            let component = known.data::<ReflectComponent>().unwrap();
            self.write(entity, component, field, value, &registry);
        }
    }

    fn write(
        &mut self,
        entity: Entity,
        component: &ReflectComponent,
        field: u8,
        value: Value,
        registry: &TypeRegistry,
    ) {
        let mut target = self.app.world_mut().entity_mut(entity);
        if let Some(mut target) = component.reflect_mut(&mut target) {
            let target = target.as_partial_reflect_mut();
            set(target, field, value, &self.entities, registry);
            if self.mode.is_told {
                println!("{entity}: {target:?}");
            }
        }
    }

    fn set_parent(&mut self, child: Slot, parent: Slot) {
        let (Some(child), Some(parent)) = (self.entity(child), self.entity(parent)) else {
            return;
        };
        // Bevy does not end on a hierarchy with a cycle.
        let world = self.app.world_mut();
        let mut parents = world.query::<&ChildOf>();
        let is_cycle = parents
            .query(world)
            .iter_ancestors(parent)
            .any(|above| above == child);
        if child != parent && !is_cycle && !self.bodies.contains(&child) {
            world.entity_mut(child).insert(ChildOf(parent));
        }
    }

    fn reload(&mut self, slot: Slot, mesh: MeshKind) {
        if let Some(id) = self.source_mesh(slot) {
            let mut meshes = self.app.world_mut().resource_mut::<Assets<Mesh>>();
            meshes.insert(id, mesh.mesh()).expect("the asset is alive");
        }
    }

    /// Returns the mesh of the user from which an entity has its own.
    fn source_mesh(&self, slot: Slot) -> Option<AssetId<Mesh>> {
        let entity = self.entity(slot)?;
        let world = self.app.world();
        let source = world.get::<ClothSource>(entity);
        // A mesh that the plugin writes is not that of the user.
        if source.is_some_and(|source| source.source == source.own) {
            return None;
        }
        let source = source.map(|source| source.source.id());
        source.or(world.get::<Mesh3d>(entity).map(|mesh| mesh.id()))
    }

    fn trigger(&mut self, slot: Slot, by: Slot, event: Event, at: Vec3, size: f32) {
        let (Some(entity), Some(by)) = (self.entity(slot), self.entity_or_ghost(by)) else {
            return;
        };
        crate::command(&mut self.app, entity, |cloth| {
            match event {
                Event::Cut => cloth.cut_segment(at, at + Vec3::splat(size), Vec3::Y),
                Event::Tear => cloth.tear_edge(size as u32, at.x as u32),
                Event::Shred => cloth.shred(at, size),
                Event::Grab => cloth.grab(by, at),
                Event::Drag => cloth.drag(by, at * size),
                Event::Release => cloth.release(by),
                Event::Reset => cloth.trigger(|entity| ResetCloth { entity }),
                Event::Teleport => cloth.trigger(|entity| TeleportCloth {
                    entity,
                    how: if size > 0.0 {
                        Teleport::Keep
                    } else {
                        Teleport::Reset
                    },
                }),
            };
        });
    }
}

/// Spawns a sheet that collides with itself only, and on which no air acts: wind zones are not on layers.
fn spawn_witness(app: &mut App) -> Entity {
    let cloth = Cloth {
        fabric: Fabric {
            drag: 0.0,
            lift: 0.0,
            ..default()
        },
        self_collision: SelfCollision::On,
        ..default()
    };
    let mesh = crate::add_mesh(app, MeshKind::Grid(9, 9).mesh());
    let alone = ClothLayers::on(0).with_filters(0);
    let parts = (cloth, Mesh3d(mesh), Pins::top_corners(), alone);
    app.world_mut().spawn(parts).id()
}
