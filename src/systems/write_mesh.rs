//! Draws each cloth between its last two steps: writes its mesh and its bounding box.

use super::{skins::set_bounds, standstill::Standstill};
use crate::{
    cloth::Cloth,
    components::{ClothBody, ClothMesh, ClothSource, Particles},
    lod::{ClothCulled, ClothPaused},
    mesh::Frame,
    sleep::ClothSleeping,
    time::{ClothClock, ClothTime},
};
use bevy::{camera::primitives::Aabb, ecs::system::SystemParam, prelude::*};

/// Steps are taken in a fixed schedule, so that frames lie between them.
#[derive(Resource)]
pub(crate) struct DrawBetweenSteps(pub(crate) bool);

/// Where the frame that is drawn lies between the last two steps.
#[derive(SystemParam)]
pub(crate) struct DrawTime<'w> {
    time: Res<'w, ClothTime>,
    clock: Res<'w, ClothClock>,
    between: Res<'w, DrawBetweenSteps>,
    standstill: Res<'w, Standstill>,
    fixed: Option<Res<'w, Time<Fixed>>>,
}

impl DrawTime<'_> {
    /// From 0 (the step before) to 1 (the last one).
    pub(crate) fn alpha(&self) -> f32 {
        if self.between.0 && !self.standstill.lasts() {
            let overstep = self.fixed.as_ref().map_or(0.0, |t| t.overstep_fraction());
            self.clock.interpolation(&self.time, overstep)
        } else {
            1.0
        }
    }
}

pub(crate) fn write_mesh(
    mut cloths: Query<
        (
            Ref<Particles>,
            &GlobalTransform,
            &ClothBody,
            &ClothSource,
            &mut ClothMesh,
            &mut Aabb,
            (Has<ClothSleeping>, Has<ClothPaused>),
        ),
        (With<Cloth>, Without<ClothCulled>),
    >,
    time: DrawTime,
    mut meshes: ResMut<Assets<Mesh>>,
) {
    let between = time.alpha();
    for (particles, transform, body, source, mut mesh, mut aabb, still) in &mut cloths {
        // What stands still looks the same all the time.
        let alpha = match still {
            (false, false) => body.pace.between(between),
            _ => 1.0,
        };
        let affine = transform.affine();
        if !particles.is_changed() && mesh.written == Some((affine, alpha)) {
            continue;
        }
        let to_mesh = affine.inverse();
        // At scale 0 there is nothing to see, and NaN cannot be drawn: the last picture stays.
        if !(to_mesh.is_finite() && affine.is_finite()) {
            continue;
        }
        let Some(mut own) = meshes.get_mut(&source.own) else {
            continue;
        };
        mesh.written = Some((affine, alpha));
        let mesh = &mut *mesh;
        let ClothMesh { binding, local, .. } = mesh;
        let frame = Frame {
            alpha,
            offset: particles.origin - transform.translation(),
            to_frame: to_mesh.matrix3.into(),
        };
        let to_world = affine.matrix3.into();
        if let Some(drawn) =
            binding.write(&frame, &particles, local, body.radius(), to_world, &mut own)
        {
            let around = match mesh.rest {
                Some([low, high]) => {
                    let [from, to] = [drawn.min(), drawn.max()].map(Vec3::from);
                    Aabb::from_min_max(from.min(low), to.max(high))
                }
                None => drawn,
            };
            match mesh.joint {
                Some(joint) => set_bounds(&mut own, joint, &drawn),
                None => *aabb = around,
            }
        }
    }
}
