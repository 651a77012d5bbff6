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
    /// Writes a number of an attribute of the source mesh of an entity, all by index, or removes the attribute.
    Attribute(Slot, u8, u8, Value),
    /// Triggers an event of the first entity, with the second one as hand, at a point and with a size.
    Event(Slot, Slot, Event, [f32; 3], f32),
    /// Takes a snapshot of a cloth.
    Take(Slot),
    /// Restores the last snapshot taken, of whichever cloth.
    Restore(Slot),
    /// Starts or stops the steps of all cloths by a run condition.
    Run(bool),
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
    /// A body of the physics engine of the world, if any.
    EngineBody(u8),
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
    /// Whether the number is left out: only the choice is made.
    pub(super) has_no_number: bool,
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
    (number(), any::<u8>()).prop_map(|(number, choice)| Value {
        number,
        choice,
        has_no_number: false,
    })
}

pub(super) fn point() -> impl Strategy<Value = [f32; 3]> {
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
        2 => any::<u8>().prop_map(Kind::EngineBody),
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
        2 => (slot(), any::<u8>(), any::<u8>(), value())
            .prop_map(|(on, attribute, number, value)| Edit::Attribute(on, attribute, number, value)),
        1 => prop_oneof![3 => Just(Edit::Run(true)), 1 => Just(Edit::Run(false))],
        8 => (slot(), slot(), event(), point(), number())
            .prop_map(|(on, by, event, at, size)| Edit::Event(on, by, event, at, size)),
        2 => slot().prop_map(Edit::Take),
        2 => slot().prop_map(Edit::Restore),
        1 => clock(),
        40 => (1u8..6, frame_time()).prop_map(|(count, dt)| Edit::Update(count, dt)),
    ]
}

/// Physics engine of a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Engine {
    None,
    Avian,
    Rapier,
}

/// World from its beginning to its end.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) engine: Engine,
    /// Whether a system of the user stands in the schedule of the substeps, which then runs one stage after the other.
    pub(super) has_own_stage: bool,
    /// Whether cloths are built in the background from the second update on.
    pub(super) builds_in_background: bool,
    /// Whether edits write the level of detail and the budget. Both may depend on all cloths, and the budget on the time that
    /// a step takes, so they rule out comparisons.
    pub(super) has_lod: bool,
    pub(super) edits: Vec<Edit>,
}

/// Returns plans with at most that many edits.
pub(super) fn plans(count: usize) -> impl Strategy<Value = Plan> {
    let begin = (kind(), point()).prop_map(|(kind, at)| Edit::Spawn(kind, at));
    let engine = prop_oneof![
        2 => Just(Engine::None),
        1 => Just(Engine::Avian),
        1 => Just(Engine::Rapier),
    ];
    let edits = (vec(begin, 1..6), vec(edit(), count / 2..count));
    let [often, seldom] = [0.3, 0.2].map(prop::bool::weighted);
    let flags = (seldom, often, often);
    (engine, flags, edits).prop_map(
        |(engine, (has_own_stage, builds_in_background, has_lod), (mut begin, edits))| {
            begin.extend(edits);
            begin.push(Edit::Update(3, 1.0 / 60.0));
            Plan {
                engine,
                has_own_stage,
                builds_in_background,
                has_lod,
                edits: begin,
            }
        },
    )
}

impl Value {
    /// Returns the value as on a body in a game: engines panic where a scale makes one flat.
    pub(super) fn tamed(self) -> Self {
        let number = tamed(self.number).abs().max(0.1);
        Self { number, ..self }
    }

    fn without_hostile_number(self) -> Self {
        let has_no_number = !is_usual(self.number);
        Self {
            has_no_number,
            ..self
        }
    }
}

/// Returns 1 for numbers that nobody would write.
fn tamed(number: f32) -> f32 {
    if is_usual(number) { number } else { 1.0 }
}

fn is_usual(number: f32) -> bool {
    (1e-3..=32.0).contains(&number.abs()) || number == 0.0
}

impl Edit {
    /// Returns the edit without hostile numbers and meshes; `None` if nothing is left of it.
    pub(super) fn tamed(&self) -> Option<Self> {
        let mesh = |mesh: MeshKind| mesh.tamed();
        Some(match *self {
            Self::Spawn(Kind::Cloth(kind), at) => {
                Self::Spawn(Kind::Cloth(mesh(kind)), at.map(tamed))
            }
            Self::Spawn(kind, at) => Self::Spawn(kind, at.map(tamed)),
            Self::Set(on, component, field, value) => {
                Self::Set(on, component, field, value.without_hostile_number())
            }
            Self::SetResource(resource, field, value) => {
                Self::SetResource(resource, field, value.without_hostile_number())
            }
            Self::Attribute(.., value) if !is_usual(value.number) => return None,
            Self::Reload(on, kind) => Self::Reload(on, mesh(kind)),
            Self::Mesh(on, kind) => Self::Mesh(on, mesh(kind)),
            Self::Event(on, by, event, at, size) => {
                Self::Event(on, by, event, at.map(tamed), tamed(size))
            }
            ref other => other.clone(),
        })
    }
}
