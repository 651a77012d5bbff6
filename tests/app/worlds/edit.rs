//! Edits: everything that a game, its user or a bug may do to a world.

use super::meshes::MeshKind;
use bevy::prelude::*;
use proptest::{collection::vec, prelude::*, sample::select};

/// Index of an entity among those that the world has spawned, modulo their number. Also stands for entities that are
/// despawned by now.
pub(super) type Slot = u8;

/// Edit of a world, or updates of it.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    Spawn(Kind, [f32; 3]),
    Despawn(Slot),
    /// Inserts a component with its default value, by its index among all that users write.
    Insert(Slot, u8),
    Remove(Slot, u8),
    /// Writes a field of a component that an entity has, both by index.
    Set(Slot, u8, u8, Value),
    /// Writes a field of a resource, both by index.
    SetResource(u8, u8, Value),
    /// Makes the first a child of the second.
    Parent(Slot, Slot),
    Orphan(Slot),
    /// Replaces the source mesh of an entity under its handle, as a file watcher does.
    Reload(Slot, MeshKind),
    /// Gives an entity another mesh.
    Mesh(Slot, MeshKind),
    /// Triggers an event of the first entity, with the second one as hand, at a point and with a size.
    Event(Slot, Slot, Event, [f32; 3], f32),
    /// Takes a snapshot of a cloth.
    Take(Slot),
    /// Restores the last snapshot taken, of whichever cloth.
    Restore(Slot),
    /// Sets the speed of the virtual clock and the longest frame it lets pass, s.
    Clock(f32, f32),
    /// Updates the app that many times, with frames of that length, s.
    Update(u8, f32),
}

/// Kind of a spawned entity.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Cloth(MeshKind),
    /// A cloth with pins that move with another entity.
    Held(Slot),
    Rope(u8),
    Sphere,
    HalfSpace,
    Body,
    /// A fine mesh that follows an entity.
    Proxy(Slot),
    WindZone,
    Character,
    Empty,
}

/// Event of a cloth.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Cut,
    Tear,
    Shred,
    Grab,
    Drag,
    Release,
    Reset,
    Teleport,
}

/// Value for a field: the part that fits its type is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) number: f32,
    /// Choice of a variant, an entity or a flag, and length of a list.
    pub(super) choice: u8,
}

/// Returns numbers as in a game, and every fifth one as nobody would write it.
fn number() -> impl Strategy<Value = f32> {
    let fine = (-3.0f32..1.5, any::<bool>())
        .prop_map(|(exponent, negative)| 10f32.powf(exponent) * if negative { -1.0 } else { 1.0 });
    let hostile = select(vec![
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        1e-40,
        1e-10,
        1e6,
        -1e6,
        1e12,
        1e30,
        -1.0,
        0.0,
        -0.0,
    ]);
    prop_oneof![4 => fine, 1 => hostile]
}

fn value() -> impl Strategy<Value = Value> {
    (number(), any::<u8>()).prop_map(|(number, choice)| Value { number, choice })
}

fn point() -> impl Strategy<Value = [f32; 3]> {
    let near = -1.0f32..1.0;
    prop_oneof![
        9 => [near.clone(), near.clone(), near],
        1 => [number(), number(), number()],
    ]
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        4 => MeshKind::any().prop_map(Kind::Cloth),
        2 => any::<Slot>().prop_map(Kind::Held),
        2 => any::<u8>().prop_map(Kind::Rope),
        2 => Just(Kind::Sphere),
        1 => Just(Kind::HalfSpace),
        1 => Just(Kind::Body),
        1 => any::<Slot>().prop_map(Kind::Proxy),
        1 => Just(Kind::WindZone),
        1 => Just(Kind::Character),
        1 => Just(Kind::Empty),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    select(vec![
        Event::Cut,
        Event::Tear,
        Event::Shred,
        Event::Grab,
        Event::Drag,
        Event::Release,
        Event::Reset,
        Event::Teleport,
    ])
}

fn frame_time() -> impl Strategy<Value = f32> {
    prop_oneof![
        12 => Just(1.0 / 60.0),
        4 => 0.001f32..0.1,
        1 => select(vec![0.0, 0.25, 1.0, 10.0]),
    ]
}

/// Returns clocks that let at most a second pass per update, so that a world ends in a second too.
fn clock() -> impl Strategy<Value = Edit> {
    select(vec![
        Edit::Clock(0.0, 0.25),
        Edit::Clock(0.01, 0.25),
        Edit::Clock(0.1, 10.0),
        Edit::Clock(1.0, 0.25),
        Edit::Clock(1.0, 1.0),
        Edit::Clock(4.0, 0.25),
        Edit::Clock(100.0, 0.01),
    ])
}

fn edit() -> impl Strategy<Value = Edit> {
    let slot = any::<Slot>;
    prop_oneof![
        5 => (kind(), point()).prop_map(|(kind, at)| Edit::Spawn(kind, at)),
        2 => slot().prop_map(Edit::Despawn),
        5 => (slot(), any::<u8>()).prop_map(|(on, component)| Edit::Insert(on, component)),
        2 => (slot(), any::<u8>()).prop_map(|(on, component)| Edit::Remove(on, component)),
        30 => (slot(), any::<u8>(), any::<u8>(), value())
            .prop_map(|(on, component, field, value)| Edit::Set(on, component, field, value)),
        8 => (any::<u8>(), any::<u8>(), value())
            .prop_map(|(resource, field, value)| Edit::SetResource(resource, field, value)),
        2 => (slot(), slot()).prop_map(|(child, parent)| Edit::Parent(child, parent)),
        1 => slot().prop_map(Edit::Orphan),
        2 => (slot(), MeshKind::any()).prop_map(|(on, mesh)| Edit::Reload(on, mesh)),
        1 => (slot(), MeshKind::any()).prop_map(|(on, mesh)| Edit::Mesh(on, mesh)),
        8 => (slot(), slot(), event(), point(), number())
            .prop_map(|(on, by, event, at, size)| Edit::Event(on, by, event, at, size)),
        2 => slot().prop_map(Edit::Take),
        2 => slot().prop_map(Edit::Restore),
        1 => clock(),
        40 => (1u8..6, frame_time()).prop_map(|(count, dt)| Edit::Update(count, dt)),
    ]
}

/// Returns the edits of a world.
pub(super) fn edits(count: usize) -> impl Strategy<Value = Vec<Edit>> {
    let begin = (kind(), point()).prop_map(|(kind, at)| Edit::Spawn(kind, at));
    (vec(begin, 1..6), vec(edit(), count / 2..count)).prop_map(|(mut all, edits)| {
        all.extend(edits);
        all.push(Edit::Update(3, 1.0 / 60.0));
        all
    })
}
