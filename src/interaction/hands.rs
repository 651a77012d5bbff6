//! What the pointers are doing, from press to release.

use super::{ClothTool, ClothTools, thread::HoveredThreads, view::Views, work::reached};
use crate::{
    grab::{ClothGrabs, GrabCloth, ReleaseCloth},
    tearing::TearThread,
};
use bevy::{
    input::mouse::MouseScrollUnit,
    picking::{
        backend::HitData,
        hover::HoverMap,
        pointer::{Location, PointerAction, PointerButton, PointerId, PointerInput},
    },
    platform::collections::HashMap,
    prelude::*,
    window::Window,
};

/// What the pointers are doing with cloth.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::ClothHands;
/// fn hold_the_camera_still(hands: Res<ClothHands>) {
///     if hands.are_busy() {
///         // Its buttons mean something else now.
///     }
/// }
/// ```
#[derive(Resource, Debug, Default)]
pub struct ClothHands {
    pub(super) hands: HashMap<PointerId, Hand>,
}

/// What one pointer is doing.
#[derive(Clone, Debug)]
pub(super) struct Hand {
    /// Ends when this is released.
    pub(super) button: PointerButton,
    /// Through which it looks.
    pub(super) camera: Entity,
    /// Who holds and cuts: the entity of the pointer.
    pub(super) by: Entity,
    pub(super) work: Work,
}

#[derive(Clone, Debug)]
pub(super) enum Work {
    /// Holds these cloths, each at this depth in front of the camera, m.
    Holding { cloths: Vec<(Entity, f32)> },
    /// Cuts; it was here last, on the screen.
    Cutting { last: Vec2 },
    /// Shreds.
    Shredding,
}

impl ClothHands {
    /// Whether any pointer holds or cuts.
    pub fn are_busy(&self) -> bool {
        !self.hands.is_empty()
    }

    /// Whether a pointer holds or cuts.
    pub fn is_busy(&self, pointer: PointerId) -> bool {
        self.hands.contains_key(&pointer)
    }

    /// Whether a pointer holds a cloth.
    pub fn holds(&self, pointer: PointerId, cloth: Entity) -> bool {
        matches!(
            self.hands.get(&pointer),
            Some(Hand { work: Work::Holding { cloths, .. }, .. }) if cloths.iter().any(|(held, _)| *held == cloth)
        )
    }
}

/// How much one line of the wheel moves what is held, as a share of its distance.
const WHEEL_STEP: f32 = 0.06;

/// Nothing is pulled nearer to the camera than this, m.
const NEAREST: f32 = 0.05;

pub(super) fn listen(
    mut inputs: MessageReader<PointerInput>,
    mut hands: ResMut<ClothHands>,
    hovered: Res<HoverMap>,
    threads: Res<HoveredThreads>,
    tools: Res<ClothTools>,
    views: Views,
    cloths: super::backend::Cloths,
    is_cloth: Query<(), With<ClothGrabs>>,
    is_open: Query<(), Or<(With<Window>, With<Mesh3d>)>>,
    #[cfg(feature = "panel")] mut egui: super::egui::OverEgui,
    mut commands: Commands,
) {
    let lost = |pointer: &PointerId| views.entity_of(*pointer).is_none();
    let gone: Vec<PointerId> = hands.hands.keys().copied().filter(lost).collect();
    for pointer in gone {
        let_go(&mut hands, pointer, &mut commands);
    }
    for input in inputs.read() {
        let pointer = input.pointer_id;
        match input.action {
            PointerAction::Press(button) if !hands.is_busy(pointer) => {
                let under = hovered.get(&pointer);
                let mut over = under.into_iter().flat_map(|hits| hits.keys());
                #[cfg(feature = "panel")]
                if egui.covers(pointer) {
                    continue;
                }
                // Anything else is in the way: a button, a panel.
                if !over.all(|entity| is_open.contains(*entity)) {
                    continue;
                }
                let nearest = under.into_iter().flatten();
                let nearest = nearest.filter(|(entity, _)| is_cloth.contains(**entity));
                let nearest = nearest.min_by(|a, b| a.1.depth.total_cmp(&b.1.depth));
                let tool = tools.of(button);
                let begun = Press {
                    tool,
                    tools: &tools,
                    location: &input.location,
                    hit: nearest.map(|(entity, hit)| (*entity, hit)),
                    pointer,
                };
                if tool == ClothTool::Thread {
                    if let Some(thread) = threads.get(pointer) {
                        commands.trigger(TearThread {
                            entity: thread.cloth,
                            thread: thread.particles,
                        });
                    }
                } else if let Some(hand) = begun.begin(button, &views, &cloths, &mut commands) {
                    hands.hands.insert(pointer, hand);
                }
            }
            PointerAction::Release(button)
                if hands
                    .hands
                    .get(&pointer)
                    .is_some_and(|h| h.button == button) =>
            {
                let_go(&mut hands, pointer, &mut commands);
            }
            PointerAction::Cancel => let_go(&mut hands, pointer, &mut commands),
            PointerAction::Scroll { y, unit, .. } => {
                if let Some(Hand {
                    work: Work::Holding { cloths },
                    ..
                }) = hands.hands.get_mut(&pointer)
                {
                    let lines = match unit {
                        MouseScrollUnit::Line => y,
                        MouseScrollUnit::Pixel => {
                            y / MouseScrollUnit::SCROLL_UNIT_CONVERSION_FACTOR
                        }
                    };
                    // Forward moves it away, as it moves a camera towards things.
                    for (_, depth) in cloths {
                        *depth = (*depth * (1.0 + WHEEL_STEP).powf(lines)).max(NEAREST);
                    }
                }
            }
            _ => {}
        }
    }
}

/// A button that goes down.
struct Press<'a> {
    tool: ClothTool,
    tools: &'a ClothTools,
    location: &'a Location,
    /// The nearest cloth under the pointer, and where.
    hit: Option<(Entity, &'a HitData)>,
    pointer: PointerId,
}

impl Press<'_> {
    /// What the hand does until the button goes up.
    fn begin(
        &self,
        button: PointerButton,
        views: &Views,
        cloths: &super::backend::Cloths,
        commands: &mut Commands,
    ) -> Option<Hand> {
        let by = views.entity_of(self.pointer)?;
        let camera = match self.hit {
            Some((_, hit)) => hit.camera,
            None => views.camera_at(self.location)?,
        };
        let grab = |cloth: Entity, at: Vec3, radius: f32| GrabCloth {
            radius,
            // What is drawn may be a frame behind, or a rope far away: it was under the pointer.
            reach: f32::INFINITY,
            force: self.tools.force,
            speed: self.tools.speed,
            ..GrabCloth::new(cloth, by, at)
        };
        let work = match self.tool {
            ClothTool::None | ClothTool::Thread => return None,
            ClothTool::Blade => Work::Cutting {
                last: self.location.position,
            },
            ClothTool::Shred => Work::Shredding,
            ClothTool::Grab => {
                let (cloth, hit) = self.hit?;
                let at = hit.position?;
                commands.trigger(grab(cloth, at, 0.0));
                Work::Holding {
                    cloths: vec![(cloth, views.depth(camera, at)?)],
                }
            }
            ClothTool::Brush => {
                let (place, radius) = (self.location.position, self.tools.radius);
                let reached = reached(camera, place, radius, views, cloths);
                if reached.is_empty() {
                    return None;
                }
                for &(cloth, at, _) in &reached {
                    commands.trigger(grab(cloth, at, radius));
                }
                let depths = reached.iter().map(|&(cloth, _, depth)| (cloth, depth));
                Work::Holding {
                    cloths: depths.collect(),
                }
            }
        };
        Some(Hand {
            button,
            camera,
            by,
            work,
        })
    }
}

fn let_go(hands: &mut ClothHands, pointer: PointerId, commands: &mut Commands) {
    let Some(hand) = hands.hands.remove(&pointer) else {
        return;
    };
    if let Work::Holding { cloths, .. } = hand.work {
        for (entity, _) in cloths {
            // It may be gone; then there is nobody to tell.
            if commands.get_entity(entity).is_ok() {
                commands.trigger(ReleaseCloth {
                    entity,
                    by: hand.by,
                });
            }
        }
    }
}
