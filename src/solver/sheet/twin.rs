//! The scalar twin of a pass: the same formulas in the same order, one constraint at a time. It is
//! what the loops over rows are tested against.

use super::{
    Sheet,
    family::{Family, Weave},
    pass::{EVERY_TIME, SheetSoftness},
    project::Planes,
};
use crate::solver::{
    constraints::ConstraintKind,
    crew::Leader,
    relax::Softness,
    thread::{ALMOST, LEAST, PUSH, bend_pull, share},
};

/// How a whole thread is solved, as in `lines`.
#[derive(Clone, Copy)]
struct By {
    softness: Softness,
    from: f32,
    longer: f32,
    push: f32,
    share: f32,
}

pub(super) fn pass(mut planes: Planes, sheet: &mut Sheet, soft: SheetSoftness) {
    let layout = sheet.layout;
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    if soft.coarse && (soft.is_turn || layout.rows.max(layout.columns) > EVERY_TIME) {
        sheet.hold_long_distances(&mut Leader::alone(), &mut planes, soft);
    }
    let stiff = sheet.is_stiff(&soft);
    let (diagonals, threads) = sheet.families.split_at_mut(2);
    let colours = if soft.damping { 0..0 } else { 0..2 };
    for colour in colours {
        for family in &mut *diagonals {
            every_second(&mut planes, &layout, family, colour, soft.shear);
        }
    }
    for family in threads {
        let weave = family.weave();
        if family.kind() == ConstraintKind::Bend {
            match soft.bend {
                Some(bend) if stiff => straighten(&mut planes, &layout, family, bend),
                Some(bend) => straighten_softly(&mut planes, &layout, family, bend),
                None => {}
            }
            continue;
        }
        if soft.damping {
            continue;
        }
        let softness = match weave {
            Weave::Warp => soft.warp,
            _ => soft.weft,
        };
        let is_thread = matches!(weave, Weave::Warp | Weave::Weft);
        let (threads, length) = match weave {
            Weave::Warp => (columns, rows),
            _ => (rows, columns),
        };
        let links = |family: &Family, thread: usize| -> Vec<usize> {
            (0..length - 1)
                .map(|i| match weave {
                    Weave::Warp => family.index(&layout, [i, thread]),
                    _ => family.index(&layout, [thread, i]),
                })
                .collect()
        };
        if soft.direct && is_thread {
            let by = By {
                softness,
                from: 0.0,
                longer: 1.0,
                push: PUSH,
                share: soft.share,
            };
            for thread in 0..threads {
                let links = links(family, thread);
                line(&mut planes, &layout, family, &links, by);
            }
        } else {
            for colour in 0..2 {
                every_second(&mut planes, &layout, family, colour, softness);
            }
        }
        if let Some(longest) = soft.longest.filter(|_| is_thread) {
            // Nobody asks for λ of the limit.
            let lambda = std::mem::take(&mut family.lambda);
            if soft.limit.is_none() {
                family.lambda.clone_from(&lambda);
            }
            let by = By {
                softness: Softness::TAUT,
                from: longest * ALMOST,
                longer: longest,
                push: 0.0,
                share: 1.0,
            };
            for thread in 0..threads {
                let links = links(family, thread);
                let mut lengths = links.iter().map(|&link| {
                    let [a, b] = ends(&layout, family, link);
                    let d = [&planes.x, &planes.y, &planes.z].map(|plane| plane[b] - plane[a]);
                    let most = family.rest[link] * longest;
                    (d[0] * d[0] + d[1] * d[1] + d[2] * d[2], most)
                });
                if lengths.any(|(square, most)| most >= 0.0 && square > most * most) {
                    line(&mut planes, &layout, family, &links, by);
                }
            }
            if soft.limit.is_some() {
                family.lambda = lambda;
            }
        }
    }
}

/// Each bend as a force, see `bends`: all are measured before any particle moves.
fn straighten_softly(
    planes: &mut Planes,
    layout: &super::SheetLayout,
    family: &Family,
    softness: Softness,
) {
    let step = match family.weave() {
        Weave::BendWarp => layout.columns as usize,
        _ => 1,
    };
    for plane in [&mut planes.x, &mut planes.y, &mut planes.z] {
        // λ of the bends, with the sign of the curve, by their first particles.
        let mut forces = vec![0.0_f32; plane.len()];
        for (index, &give) in family.rest.iter().enumerate() {
            // The last group of a line may begin with some of the one before.
            if family.index(layout, family.place(layout, index)) != index {
                continue;
            }
            let [a, b] = ends(layout, family, index);
            let m = a + step;
            let curve = (plane[b] - plane[m]) - (plane[m] - plane[a]);
            forces[a] = bend_pull(give, softness) * curve;
        }
        for i in 0..plane.len() {
            let place = match family.weave() {
                Weave::BendWarp => i / layout.columns as usize,
                _ => i % layout.columns as usize,
            };
            let of = |back: usize| {
                if place >= back {
                    forces[i - back * step]
                } else {
                    0.0
                }
            };
            plane[i] -= planes.w[i] * ((of(0) - of(1)) - (of(1) - of(2)));
        }
    }
}

/// All bends of each thread at once, see `bends`.
fn straighten(
    planes: &mut Planes,
    layout: &super::SheetLayout,
    family: &Family,
    Softness { alpha, weakness }: Softness,
) {
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    // Threads, particles of each, and the way from one thread and from one particle to the next.
    let (threads, length, [aside, along]) = match family.weave() {
        Weave::BendWarp => (columns, rows, [1, columns]),
        _ => (rows, columns, [columns, 1]),
    };
    for thread in 0..threads {
        let particle = |i: usize| thread * aside + i * along;
        let give = |i: usize| match family.weave() {
            Weave::BendWarp => family.rest[family.index(layout, [i, thread])],
            _ => family.rest[family.index(layout, [thread, i])],
        };
        // Of each bend: whether it is there, one over its pivot, both numbers of L, the first of them not
        // yet divided, and its right sides. Before the first one stand two that are not there.
        let mut done = vec![([0.0_f32; 5], [0.0_f32; 3]); 2];
        for i in 0..length.saturating_sub(2) {
            let own = [i, i + 1, i + 2].map(particle);
            let [w0, w1, w2] = own.map(|i| planes.w[i]);
            let ([there2, u2, ..], z2) = done[i];
            let ([there1, u1, _, _, g1], z1) = done[i + 1];
            let masses = w0 + 4.0 * w1 + w2;
            let there = if give(i) >= 0.0 && masses > 0.0 {
                1.0
            } else {
                0.0
            };
            let far = w0 * (there * there2);
            let second = far * u2;
            let g = -2.0 * (w0 + w1) * (there * there1) - second * g1;
            let first = g * u1;
            let pivot = masses * (weakness * LEAST) + give(i) * alpha - first * g - second * far;
            let u = if there > 0.0 { 1.0 / pivot } else { 0.0 };
            let mut z = [0.0; 3];
            for (axis, plane) in [&planes.x, &planes.y, &planes.z].into_iter().enumerate() {
                let [a, m, b] = own.map(|i| plane[i]);
                z[axis] = (a - m) + (b - m) - first * z1[axis] - second * z2[axis];
            }
            done.push(([there, u, first, second, g], z));
        }
        for (axis, plane) in [&mut *planes.x, &mut *planes.y, &mut *planes.z]
            .into_iter()
            .enumerate()
        {
            // λ of bends by number, two more at either end.
            let mut lambda = vec![0.0; length + 2];
            for i in (0..length.saturating_sub(2)).rev() {
                let ([_, u, ..], z) = done[i + 2];
                let row = |bend: usize| done.get(bend + 2).map_or([0.0; 5], |(row, _)| *row);
                let (near, far) = (row(i + 1)[2], row(i + 2)[3]);
                lambda[i + 2] = z[axis] * u - near * lambda[i + 3] - far * lambda[i + 4];
            }
            for i in 0..length {
                let [before, over, after] = [lambda[i], lambda[i + 1], lambda[i + 2]];
                plane[particle(i)] -= planes.w[particle(i)] * ((before - over) + (after - over));
            }
        }
    }
}

/// Every second constraint, or the others.
fn every_second(
    planes: &mut Planes,
    layout: &super::SheetLayout,
    family: &mut Family,
    colour: usize,
    softness: Softness,
) {
    let weave = family.weave();
    for index in 0..family.rest.len() {
        let [r, c] = family.place(layout, index);
        let own = match weave {
            Weave::ShearDown | Weave::ShearUp | Weave::Warp => r % 2,
            _ => c % 2,
        };
        if own == colour {
            constraint(planes, layout, family, index, softness);
        }
    }
}

fn ends(layout: &super::SheetLayout, family: &Family, index: usize) -> [usize; 2] {
    family
        .pair(layout, index)
        .map(|particle| (particle - layout.first) as usize)
}

fn constraint(
    planes: &mut Planes,
    layout: &super::SheetLayout,
    family: &mut Family,
    index: usize,
    softness: Softness,
) {
    let [a, b] = ends(layout, family, index);
    let d = [&planes.x, &planes.y, &planes.z].map(|plane| plane[b] - plane[a]);
    let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
    let pull = family.lambda.get(index).map_or(0.0, |l| softness.alpha * l);
    let masses = planes.w[a] + planes.w[b];
    let s = share::<false>(length, family.rest[index], pull, masses, softness);
    for (plane, d) in [&mut planes.x, &mut planes.y, &mut planes.z]
        .into_iter()
        .zip(d)
    {
        plane[a] -= planes.w[a] * s * d;
        plane[b] += planes.w[b] * s * d;
    }
    if let Some(lambda) = family.lambda.get_mut(index) {
        *lambda += s * length;
    }
}

/// A whole thread, see `lines`.
fn line(
    planes: &mut Planes,
    layout: &super::SheetLayout,
    family: &mut Family,
    links: &[usize],
    By {
        softness: Softness { alpha, weakness },
        from,
        longer,
        push: most_push,
        share,
    }: By,
) {
    let mut kept = Vec::with_capacity(links.len());
    let (mut before, mut inverse, mut right) = ([0.0_f32; 3], 0.0_f32, 0.0_f32);
    for &link in links {
        let [a, b] = ends(layout, family, link);
        let (wa, wb) = (planes.w[a], planes.w[b]);
        let d = [&planes.x, &planes.y, &planes.z].map(|plane| plane[b] - plane[a]);
        let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        let length = square.sqrt();
        let rest = family.rest[link];
        let is_there = length > rest * from && rest >= 0.0;
        let pull = family.lambda.get(link).copied().unwrap_or(0.0);
        let error = if is_there {
            (rest * longer - length - alpha * pull) * length
        } else {
            0.0
        };
        let coupling = wa * (d[0] * before[0] + d[1] * before[1] + d[2] * before[2]);
        let passed_on = coupling * inverse;
        let pivot = ((wa + wb) * weakness + alpha) * square - passed_on * coupling;
        inverse = if is_there && pivot > 0.0 {
            1.0 / pivot
        } else {
            0.0
        };
        right = error + passed_on * right;
        before = d;
        let push = error.max(0.0) * inverse * most_push;
        kept.push((d, passed_on, right * inverse, push));
    }
    let (mut lambda, mut behind) = (0.0, [0.0_f32; 3]);
    let mut passed_on = 0.0;
    for (&link, &(d, own, q, push)) in links.iter().zip(&kept).rev() {
        let [_, b] = ends(layout, family, link);
        lambda = (q + passed_on * lambda).min(push);
        passed_on = own;
        let applied = lambda * share;
        let here = d.map(|d| applied * d);
        let planes_of_b = [&mut planes.x, &mut planes.y, &mut planes.z];
        for ((plane, here), behind) in planes_of_b.into_iter().zip(here).zip(behind) {
            plane[b] += planes.w[b] * (here - behind);
        }
        behind = here;
        if let Some(sum) = family.lambda.get_mut(link) {
            *sum += applied * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
        }
    }
    if let Some(&link) = links.first() {
        let [a, _] = ends(layout, family, link);
        let planes_of_a = [&mut planes.x, &mut planes.y, &mut planes.z];
        for (plane, behind) in planes_of_a.into_iter().zip(behind) {
            plane[a] -= planes.w[a] * behind;
        }
    }
}
