//! What is kept of the particles near a surface, and the loop over them.

use super::{By, GROUP, meet::Meeting};
use crate::solver::soa::{Bounds, bounds};
use bevy::math::Vec3;

/// Triangles that are picked for one particle; if there are more, it meets all of its group.
const PICKED: usize = 32;

/// Ways of a substep by which a group may move on before its triangles are looked up again.
const WAYS: f32 = 8.0;

/// What is kept of a part of the particles.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    groups: Vec<Group>,
    /// The triangles near each group, one group after the other.
    found: Vec<u32>,
    spare: Vec<u32>,
    clear: Clear,
}

/// Balls, in the frame of a surface, in which each particle is known to be on the right side of it. Made
/// when they are needed.
#[derive(Clone, Debug, Default)]
struct Clear(Vec<(Vec3, f32)>);

/// What is kept of a group.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// The box, in the frame of the surface, of which all triangles are known.
    known: [Vec3; 2],
    /// Where they are in the list.
    first: u32,
    count: u32,
    /// There are none, and all of the box is on the wrong side.
    wrong: bool,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            known: [Vec3::INFINITY, Vec3::NEG_INFINITY],
            first: 0,
            count: 0,
            wrong: false,
        }
    }
}

impl Group {
    fn holds(&self, [low, high]: [Vec3; 2]) -> bool {
        self.known[0].cmple(low).all() && self.known[1].cmpge(high).all()
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// Particles of a group in a substep, in the frame of the surface.
struct Lanes {
    from: [Vec3; GROUP],
    to: [Vec3; GROUP],
    /// The box around the way of each and all that it may be pushed by, corner by corner.
    low: [[f32; GROUP]; 3],
    high: [[f32; GROUP]; 3],
}

impl Part {
    /// Contacts of particles that are neighbours in memory with a surface. `first` is the first substep.
    pub(super) fn collide<'a>(
        &mut self,
        by: &By,
        first: bool,
        mut x: [&'a mut [f32]; 3],
        mut d: [&'a mut [f32]; 3],
        start: [&[f32]; 3],
        w: &[f32],
    ) {
        let count = w.len().div_ceil(GROUP);
        if self.groups.len() != count {
            *self = Self {
                groups: vec![Group::default(); count],
                ..Self::default()
            };
        }
        if first {
            self.tidy();
        }
        let places = bounds(x.each_ref().map(|plane| &**plane));
        if !by.reaches(&super::union(&places, &bounds(start))) {
            return;
        }
        for number in 0..count {
            let range = number * GROUP..((number + 1) * GROUP).min(w.len());
            let now = x.each_ref().map(|plane| &plane[range.clone()]);
            let then = start.map(|plane| &plane[range.clone()]);
            let swept = super::union(&range_of(now), &range_of(then));
            let [low, high] = by.local_box(&swept);
            let way = longest_way(now, then);
            let reach = Vec3::splat(reach(by.thickness, way));
            let needed = [low - reach, high + reach];
            // What is not finite goes nowhere.
            if !(needed[0].is_finite() && needed[1].is_finite()) {
                continue;
            }
            if !self.groups[number].holds(needed) {
                self.look_up(by, number, needed, way);
            }
            let group = self.groups[number];
            if group.count == 0 && !(group.wrong && first) {
                continue;
            }
            let lanes = Lanes::new(by, now, then);
            self.touch(
                by,
                first,
                group,
                number * GROUP,
                &lanes,
                [&mut x, &mut d],
                start,
                w,
            );
        }
    }

    /// Finds the triangles near a group.
    fn look_up(&mut self, by: &By, number: usize, [low, high]: [Vec3; 2], way: f32) {
        let size = (high - low).max_element();
        let slack = Vec3::splat(size.min(by.thickness + WAYS * way));
        let known = [low - slack, high + slack];
        let first = self.found.len();
        by.surface.find(known, &mut self.found);
        let count = self.found.len() - first;
        let wrong =
            count == 0 && by.surface.is_closed() && by.surface.distance((low + high) * 0.5) < 0.0;
        self.groups[number] = Group {
            known,
            first: first as u32,
            count: count as u32,
            wrong,
        };
    }

    /// Throws away lists that are not in use any more, if they are most of all.
    fn tidy(&mut self) {
        let used: usize = self.groups.iter().map(|group| group.count as usize).sum();
        if self.found.len() <= 2 * used + 256 {
            return;
        }
        self.spare.clear();
        for group in &mut self.groups {
            let first = self.spare.len() as u32;
            self.spare.extend_from_slice(&self.found[group.range()]);
            group.first = first;
        }
        std::mem::swap(&mut self.found, &mut self.spare);
    }

    /// Contacts of a group.
    fn touch(
        &mut self,
        by: &By,
        first: bool,
        group: Group,
        offset: usize,
        lanes: &Lanes,
        [x, d]: [&mut [&mut [f32]; 3]; 2],
        start: [&[f32]; 3],
        w: &[f32],
    ) {
        let all = &self.found[group.range()];
        let mut picked = [[0; PICKED]; GROUP];
        let mut counts = [0; GROUP];
        for &triangle in all {
            let [a, b, c] = by.surface.corners(triangle);
            let near = lanes.near([a.min(b).min(c), a.max(b).max(c)]);
            if near == 0 {
                continue;
            }
            for lane in 0..GROUP {
                if near >> lane & 1 != 0 {
                    if counts[lane] < PICKED {
                        picked[lane][counts[lane]] = triangle;
                    }
                    counts[lane] += 1;
                }
            }
        }
        let in_group = GROUP.min(w.len() - offset);
        for lane in 0..in_group {
            let i = offset + lane;
            if w[i] == 0.0 {
                continue;
            }
            let get = |planes: [&[f32]; 3]| Vec3::from(planes.map(|plane| plane[i]));
            let mut meeting = Meeting {
                by,
                from: lanes.from[lane],
                local: lanes.to[lane],
                start: get(start),
                position: get(x.each_ref().map(|plane| &**plane)),
                displacement: get(d.each_ref().map(|plane| &**plane)),
            };
            let near = match counts[lane] {
                count if count > PICKED => all,
                count => &picked[lane][..count],
            };
            let met = meeting.meet(near);
            let touched = match met {
                Some(touched) => touched,
                // Nothing is near, so it is a good way in or a good way out. Whoever came in without
                // going through was put there, between two steps.
                None => {
                    by.surface.is_closed()
                        && first
                        && !self.clear.has(i, meeting.local, w.len())
                        && self.clear.leave(i, &mut meeting)
                }
            };
            if touched {
                for axis in 0..3 {
                    x[axis][i] = meeting.position[axis];
                    d[axis][i] = meeting.displacement[axis];
                }
            }
        }
    }
}

impl Clear {
    /// Whether a particle, of so many, is known to be on the right side.
    fn has(&mut self, i: usize, local: Vec3, count: usize) -> bool {
        if self.0.len() != count {
            self.0.clear();
            self.0.resize(count, (Vec3::ZERO, 0.0));
        }
        let (centre, radius) = self.0[i];
        (local - centre).length_squared() < radius * radius
    }

    /// Finds out on which side a particle is, and brings it out if it is the wrong one.
    fn leave(&mut self, i: usize, meeting: &mut Meeting) -> bool {
        let distance = meeting.leave();
        if distance > 0.0 {
            self.0[i] = (meeting.local, distance);
        }
        distance < 0.0
    }
}

/// How near triangles may be that a particle meets which moves by `way`: it may be pushed by as much.
pub(super) fn reach(thickness: f32, way: f32) -> f32 {
    2.0 * thickness + way
}

/// The smallest box around some places, at least one.
fn range_of(planes: [&[f32]; 3]) -> Bounds {
    let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
    for (axis, plane) in planes.into_iter().enumerate() {
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for &value in plane {
            low = if value < low { value } else { low };
            high = if value > high { value } else { high };
        }
        (bounds[0][axis], bounds[1][axis]) = (low, high);
    }
    bounds
}

/// A bound of the longest way of some particles.
fn longest_way(now: [&[f32]; 3], then: [&[f32]; 3]) -> f32 {
    let mut squares = 0.0;
    for (now, then) in now.into_iter().zip(then) {
        let mut most = 0.0_f32;
        for (now, then) in now.iter().zip(then) {
            let way = (now - then).abs();
            most = if way > most { way } else { most };
        }
        squares += most * most;
    }
    squares.sqrt()
}

impl Lanes {
    fn new(by: &By, now: [&[f32]; 3], then: [&[f32]; 3]) -> Self {
        let mut lanes = Self {
            from: [Vec3::ZERO; GROUP],
            to: [Vec3::ZERO; GROUP],
            low: [[f32::INFINITY; GROUP]; 3],
            high: [[f32::NEG_INFINITY; GROUP]; 3],
        };
        for lane in 0..now[0].len() {
            let get = |planes: [&[f32]; 3]| Vec3::from(planes.map(|plane| plane[lane]));
            let from = by.obstacle.local_before(get(then));
            let to = by.obstacle.local(get(now));
            let reach = reach(by.thickness, (to - from).length());
            let (low, high) = (from.min(to) - reach, from.max(to) + reach);
            (lanes.from[lane], lanes.to[lane]) = (from, to);
            for axis in 0..3 {
                lanes.low[axis][lane] = low[axis];
                lanes.high[axis][lane] = high[axis];
            }
        }
        lanes
    }

    /// Which particles a box is near, a bit each.
    fn near(&self, [low, high]: [Vec3; 2]) -> u32 {
        let mut apart = [0_u32; GROUP];
        for axis in 0..3 {
            let (low, high) = (low[axis], high[axis]);
            for (lane, apart) in apart.iter_mut().enumerate() {
                let beside = (self.low[axis][lane] > high) | (self.high[axis][lane] < low);
                *apart |= u32::from(beside);
            }
        }
        let bits = apart.iter().enumerate();
        bits.fold(0, |bits, (lane, &apart)| bits | ((1 - apart) << lane))
    }
}
