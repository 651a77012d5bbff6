//! How each cloth is drawn in a frame: between its last two steps, and with its wearer.
//!
//! Steps have seen what is moved by frames where it was one frame ago, and frames lie between the last two of them: cloth is
//! up to a step and a frame behind. At a run that is a hand's breadth, and a cape would hover behind its hero. So
//! what is worn is drawn taken along, rigidly, by all that its wearer has moved since.

use super::draw::DrawTime;
use crate::{
    components::{ClothBody, Particles},
    guide::{Frame, Wearer},
    lod::{ClothCulled, ClothPaused},
    mesh,
    sleep::ClothSleeping,
    solver::Carry,
};
use bevy::{ecs::query::QueryData, prelude::*};

/// How a cloth is drawn in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Picture {
    /// From 0 (when its last step began) to 1 (its end).
    alpha: f32,
    /// What it is taken along by to where its wearer is drawn.
    lead: Option<Carry>,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            lead: None,
        }
    }
}

impl Picture {
    /// The same for a mesh that is at `place`, of particles around `origin`. `to_mesh` turns and scales world axes into
    /// those of the mesh.
    pub(super) fn frame(&self, origin: Vec3, place: Vec3, to_mesh: Mat3) -> mesh::Frame {
        let (place, to_frame) = match self.lead {
            None => (place, to_mesh),
            // Where the mesh would be around the cloth as its steps have it.
            Some(lead) => (lead.inverse().point(place), to_mesh * lead.turn()),
        };
        mesh::Frame {
            alpha: self.alpha,
            offset: origin - place,
            to_frame,
        }
    }
}

#[cfg(any(feature = "debug", feature = "picking"))]
impl Picture {
    /// Where a particle is drawn, in the world.
    pub(crate) fn place(&self, particles: &Particles, i: usize) -> Vec3 {
        self.led(particles.origin + self.between(particles, i))
    }

    /// Where a place of its steps is drawn.
    pub(crate) fn led(&self, place: Vec3) -> Vec3 {
        self.lead.map_or(place, |lead| lead.point(place))
    }

    /// How a direction of its steps is drawn.
    #[cfg(feature = "debug")]
    pub(crate) fn turned(&self, along: Vec3) -> Vec3 {
        self.lead.map_or(along, |lead| lead.direction(along))
    }

    /// Where a particle is between the last two steps, from the origin of all.
    pub(crate) fn between(&self, particles: &Particles, i: usize) -> Vec3 {
        let (from, to) = (particles.previous.get(i), particles.position.get(i));
        from.lerp(to, self.alpha)
    }

    /// What it is taken along by.
    #[cfg(feature = "picking")]
    pub(crate) fn lead(&self) -> Option<Carry> {
        self.lead
    }
}

/// What tells how a cloth is drawn.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Pictured {
    body: &'static mut ClothBody,
    particles: Ref<'static, Particles>,
    sleeps: Has<ClothSleeping>,
    paused: Has<ClothPaused>,
}

/// Before anything is drawn.
pub(crate) fn find_pictures(
    mut cloths: Query<Pictured, Without<ClothCulled>>,
    frames: Query<&GlobalTransform>,
    time: DrawTime,
) {
    let between = time.alpha();
    for mut cloth in &mut cloths {
        let body = cloth.body.bypass_change_detection();
        // What stands still looks the same all the time.
        let alpha = match cloth.sleeps || cloth.paused {
            true => 1.0,
            false => body.pace.between(between),
        };
        // If only its wearer goes on, it is left behind.
        let left = (cloth.paused || time.stands_still()) && !cloth.particles.is_changed();
        if left && body.picture.alpha == alpha {
            continue;
        }
        let lead = body.guide.seen.wearer.and_then(|Wearer { entity, way }| {
            let now = Frame::of(frames.get(entity).ok()?)?;
            lead(way, alpha, now)
        });
        body.picture = Picture { alpha, lead };
    }
}

/// What takes a cloth from where its wearer was within a step to where that is now.
fn lead([from, to]: [Frame; 2], alpha: f32, now: Frame) -> Option<Carry> {
    if from == to && to == now {
        return None;
    }
    let there = from.lerp(&to, alpha);
    Some(Carry::whole(&there.pose(), &now.pose()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worn_is_drawn_around_its_frame() {
        let frame = |turn, x| Frame {
            rotation: Quat::from_rotation_y(turn),
            translation: Vec3::new(x, 2.0, -1.0),
        };
        let (way, now) = ([frame(0.2, 5.0), frame(0.4, 5.1)], frame(0.7, 5.3));
        assert_eq!(lead([now, now], 0.3, now), None);
        let alpha = 0.25;
        let picture = Picture {
            alpha,
            lead: lead(way, alpha, now),
        };
        let there = way[0].lerp(&way[1], alpha);
        let local = Vec3::new(0.3, -0.4, 0.5);
        let origin = Vec3::new(4.0, 1.0, 0.0);
        let stepped = there.rotation * local + there.translation;
        // In the mesh that its frame holds, it is where it was from it.
        let to_mesh = Mat3::from_quat(now.rotation.inverse());
        let view = picture.frame(origin, now.translation, to_mesh);
        let drawn = view.to_frame * (stepped - origin + view.offset);
        assert!((drawn - local).length() < 1e-5, "{drawn}");
    }
}
