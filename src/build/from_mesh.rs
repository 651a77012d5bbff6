//! Builds cloths from meshes as soon as those are loaded: in the background, or at once.

use crate::{
    build::{
        PresetResolved,
        assemble::{BuildInputs, BuiltCloth},
        rebuild::{NeedsBuild, NeedsRebuild, unbuild},
        reset::PlaceCloth,
        shared::SharedShapes,
    },
    character::{
        frame_history::BindPose,
        inertia::ClothInertia,
        max_distance::ClothMaxDistance,
        paint::{ClothPaint, ClothPart},
        skeleton::{AssetState, ClothSkin, Skeleton, Skeletons},
    },
    cloth::{
        Cloth, ClothReady,
        planar::PlanarCloth,
        settings::ClothBuildMode,
        source::{ClothBuildFailed, ClothSource},
        transforms::is_usable,
    },
    label::EntityLabel,
    pins::Pins,
    rope::Rope,
    tearing::ClothTearing,
};
use bevy::{
    ecs::query::QueryData,
    mesh::skinning::SkinnedMesh,
    prelude::*,
    tasks::{AsyncComputeTaskPool, Task, futures::check_ready},
};

/// Largest number of cloths whose building begins in one frame, and of those that are inserted: each takes some twenty
/// microseconds.
const MOST_PER_FRAME: usize = 8;

type Unbuilt = (
    NeedsBuild,
    Without<Rope>,
    Without<ClothBuildFailed>,
    PresetResolved,
);

/// Components from which a cloth is built.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct UnbuiltCloth {
    label: EntityLabel,
    cloth: &'static Cloth,
    pins: &'static Pins,
    mesh: &'static Mesh3d,
    transform: &'static GlobalTransform,
    source: Option<&'static ClothSource>,
    skinned: Option<&'static SkinnedMesh>,
    skin: Option<&'static ClothSkin>,
    part: Option<&'static ClothPart>,
    paint: Option<&'static ClothPaint>,
    max_distance: Option<&'static ClothMaxDistance>,
    tearing: Option<&'static ClothTearing>,
    inertia: Option<&'static ClothInertia>,
    is_planar: Has<PlanarCloth>,
    needs_rebuild: Has<NeedsRebuild>,
    task: Option<&'static mut BuildTask>,
}

/// Cloth that is being built in the background. It is cancelled when this component is removed.
#[derive(Component)]
#[component(clone_behavior = Ignore)]
pub(crate) struct BuildTask {
    task: Task<Finished>,
    /// Original mesh.
    pub(super) source: AssetId<Mesh>,
    /// Whether the mesh was modified since building began.
    pub(super) is_outdated: bool,
}

/// Result of building, with its inputs.
struct Finished {
    inputs: BuildInputs,
    built: Result<BuiltCloth, String>,
}

impl Finished {
    fn new(inputs: BuildInputs, mesh: Mesh) -> Self {
        let built = inputs.build(mesh);
        Self { inputs, built }
    }
}

pub(crate) fn build(
    mut commands: Commands,
    mut unbuilt: Query<UnbuiltCloth, Unbuilt>,
    without_mesh: Query<EntityLabel, (Added<Cloth>, Without<Mesh3d>, Without<Rope>)>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut skeletons: Skeletons,
    (mode, shapes): (Res<ClothBuildMode>, Res<SharedShapes>),
) {
    for label in &without_mesh {
        info!("cloth {label}: has no Mesh3d yet; it will be built when it gets one");
    }
    let (mut begun, mut inserted) = (0, 0);
    for mut cloth in &mut unbuilt {
        let finished = match &mut cloth.task {
            Some(_) if inserted == MOST_PER_FRAME => continue,
            Some(task) => match check_ready(&mut task.task) {
                Some(finished) => finished,
                None => continue,
            },
            None if begun == MOST_PER_FRAME && *mode == ClothBuildMode::Background => continue,
            None => {
                // Still loading: it is tried again in the next frame.
                let Some((inputs, mesh)) = cloth.inputs(&meshes, &skeletons, &shapes) else {
                    continue;
                };
                begun += 1;
                if *mode == ClothBuildMode::Background {
                    let pool = AsyncComputeTaskPool::get_or_init(Default::default);
                    let task = BuildTask {
                        source: inputs.source.source.id(),
                        is_outdated: false,
                        task: pool.spawn(async move { Finished::new(inputs, mesh) }),
                    };
                    commands.entity(cloth.label.entity).try_insert(task);
                    continue;
                }
                Finished::new(inputs, mesh)
            }
        };
        inserted += 1;
        cloth.insert(finished, &mut meshes, &mut skeletons, &mut commands);
    }
}

impl UnbuiltClothItem<'_, '_> {
    /// Returns the skeleton that the mesh had before the plugin added a joint.
    fn original_skeleton(&self, skeletons: &Skeletons) -> AssetState<Option<Skeleton>> {
        skeletons.read(ClothSkin::original_of(self.skinned, self.skin))
    }

    /// Copies the inputs and the mesh, if all assets are loaded.
    fn inputs(
        &self,
        meshes: &Assets<Mesh>,
        skeletons: &Skeletons,
        shapes: &SharedShapes,
    ) -> Option<(BuildInputs, Mesh)> {
        let source = ClothSource::original(self.source, self.mesh).clone();
        let mesh = meshes.get(&source)?.clone();
        let AssetState::Loaded(skeleton) = self.original_skeleton(skeletons) else {
            return None;
        };
        let inputs = BuildInputs {
            label: self.label.to_string(),
            cloth: self.cloth.clone(),
            pins: self.pins.clone(),
            part: self.part.cloned(),
            paint: self.paint.cloned(),
            max_distance: self.max_distance.cloned(),
            tearing: self.tearing.cloned(),
            is_planar: self.is_planar,
            transform: *self.transform,
            skeleton,
            shapes: shapes.clone(),
            source: ClothSource {
                source,
                own: meshes.reserve_handle(),
            },
        };
        Some((inputs, mesh))
    }

    /// Returns whether the mesh, or what of it is cloth, is no longer that of these inputs. Everything else may change
    /// later, too.
    fn differs_from(&self, inputs: &BuildInputs, skeleton: Option<&Skeleton>) -> bool {
        let same_joints = match (skeleton, &inputs.skeleton) {
            (Some(now), Some(then)) => now.has_joints_of(then),
            (now, then) => now.is_none() && then.is_none(),
        };
        *ClothSource::original(self.source, self.mesh) != inputs.source.source
            || self.part != inputs.part.as_ref()
            || self.paint != inputs.paint.as_ref()
            || self.is_planar != inputs.is_planar
            || !same_joints
    }

    /// Inserts the components of the built cloth, with its own copy of the mesh, where its entity is now. If it was built
    /// from what has changed meanwhile, it is built again.
    fn insert(
        &self,
        Finished { inputs, built }: Finished,
        meshes: &mut Assets<Mesh>,
        skeletons: &mut Skeletons,
        commands: &mut Commands,
    ) {
        let entity = self.label.entity;
        commands.entity(entity).try_remove::<BuildTask>();
        let AssetState::Loaded(skeleton) = self.original_skeleton(skeletons) else {
            return;
        };
        if self.differs_from(&inputs, skeleton.as_ref()) {
            return;
        }
        let Some(built) = self.accept(built, &mut commands.entity(entity)) else {
            return;
        };
        let BuiltCloth {
            mut components,
            skin,
            mesh,
        } = built;
        let is_in_place = match (&skin, &skeleton, &inputs.skeleton) {
            (Some(_), Some(now), Some(then)) => now.has_pose_of(then),
            // The event below tells of a transform that a cloth cannot have.
            _ if !is_usable(self.transform) => false,
            _ => {
                components.move_to(self.transform.translation());
                self.transform.affine().matrix3 == inputs.transform.affine().matrix3
            }
        };
        components.record_poses(entity, self.inertia, skin.as_ref(), |other| {
            skeletons.joint(other)
        });
        if skin.is_some() {
            components.frame.history.bind_pose = BindPose::Unread;
        }
        // Reserved for it, so that this cannot fail.
        let own = inputs.source.own;
        let _ = meshes.insert(&own, mesh);
        if let (Some(_), Some(original)) = (&skin, &skeleton) {
            skeletons.insert_own(commands.entity(entity), original);
        }
        let mut entity_commands = commands.entity(entity);
        if let Some(skin) = skin {
            entity_commands.try_insert(skin);
        }
        entity_commands.try_insert((components, Mesh3d(own)));
        if let Some(task) = &self.task {
            count_changes_since(task, &mut entity_commands);
        }
        if !is_in_place {
            entity_commands.trigger(|entity| PlaceCloth { entity });
        }
        entity_commands.trigger(|entity| ClothReady { entity });
    }

    /// Returns the cloth, or reports why it could not be built; with the mesh of before, that does not matter.
    fn accept(
        &self,
        built: Result<BuiltCloth, String>,
        entity_commands: &mut EntityCommands,
    ) -> Option<BuiltCloth> {
        let label = self.label;
        let is_outdated = self.task.as_ref().is_some_and(|task| task.is_outdated);
        match built {
            Err(_) if is_outdated => return None,
            Err(reason) if self.needs_rebuild => error!(
                "cloth {label}: its mesh has changed and cannot become cloth, so it goes on with the previous one: \
                 {reason}"
            ),
            Err(reason) => {
                error!("cloth {label} is not built: {reason}");
                entity_commands.try_insert(ClothBuildFailed { reason });
            }
            Ok(built) => {
                if self.needs_rebuild {
                    unbuild(entity_commands, self.skin, self.skinned);
                }
                return Some(built);
            }
        }
        entity_commands.try_remove::<NeedsRebuild>();
        None
    }
}

/// Makes changes of the mesh of a cloth that has just been inserted count from when its task read the mesh.
fn count_changes_since(task: &Mut<BuildTask>, entity_commands: &mut EntityCommands) {
    if task.is_outdated {
        entity_commands.try_insert(NeedsRebuild);
    }
    let start = task.added();
    entity_commands.queue_silenced(move |mut entity: EntityWorldMut| {
        if let Some(mut source) = entity.get_mut::<ClothSource>() {
            source.set_last_changed(start);
        }
    });
}
