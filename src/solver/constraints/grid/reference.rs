//! Scalar reference of a pass: the same formulas in the same order, one constraint at a time. The loops over
//! rows are tested against it.

use super::{
    GridConstraints,
    constraint_set::{GridConstraintSet, GridDirection},
    diagonals::shear_lengths,
    project::ParticlePlanes,
};
use crate::solver::constraints::{
    chain::{
        bending::{BEND_DIAGONAL_SCALE, bend_force_factor},
        projection_factor,
        stretch::{
            HELD_CORRECTION, HELD_REGULARIZATION, NEAR_LIMIT, PULL_FRACTION, PUSH_FRACTION,
            support_factor,
        },
    },
    constraint::ConstraintKind,
    points::{PassParams, Regularization, StretchLimit, Supported},
    stretch_solver::StretchSolver,
};

/// Settings for the direct solution of a chain.
#[derive(Clone, Copy)]
struct ReferenceChainParams {
    /// Mobility of particles that contacts support.
    supported: Supported,
    regularization: Regularization,
    /// Factor on the square of the strain of each link in its regularization, if particles lie between immovable ones.
    held_regularization: f32,
    /// Smallest ratio of length to rest length at which a link is solved.
    min_ratio: f32,
    /// Length to be reached, as a multiple of the rest length.
    target_ratio: f32,
    /// Bounds of the correction of a link, as fractions of its own correction alone.
    push_fraction: f32,
    pull_fraction: f32,
    relaxation_factor: f32,
}

/// Solves all constraints of a grid once.
pub(super) fn pass(mut planes: ParticlePlanes, grid: &mut GridConstraints, params: PassParams) {
    let layout = grid.layout;
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    let stiff = grid.bends_are_stiff(&params);
    let (diagonals, others) = grid.sets.split_first_chunk_mut::<2>().unwrap();
    if let Some(shear) = params.shear {
        for color in 0..2 {
            let rest = diagonals.each_ref().map(|set| set.list.rest.clone());
            if params.is_pure_shear {
                write_shear_lengths(&planes, &layout, diagonals);
            }
            for set in &mut *diagonals {
                solve_color(&mut planes, &layout, set, color, shear);
            }
            for (set, rest) in diagonals.iter_mut().zip(rest) {
                set.list.rest = rest;
            }
        }
    }
    if params.is_reversed {
        // Weft comes first.
        others.rotate_left(2);
    }
    for set in &mut *others {
        let direction = set.direction;
        if set.list.kind == ConstraintKind::Bend {
            match params.bend {
                Some(bend) if stiff => bends_direct(&mut planes, &layout, set, bend),
                Some(bend) => bends_as_forces(&mut planes, &layout, set, bend),
                None => {}
            }
            continue;
        }
        let Some(chain_params) = params.chains else {
            continue;
        };
        let regularization = match direction {
            GridDirection::Warp => chain_params.warp,
            _ => chain_params.weft,
        };
        let (chains, length) = match direction {
            GridDirection::Warp => (columns, rows),
            _ => (rows, columns),
        };
        let links = |set: &GridConstraintSet, chain: usize| -> Vec<usize> {
            (0..length - 1)
                .map(|i| match direction {
                    GridDirection::Warp => set.direction.slot(&layout, [i, chain]),
                    _ => set.direction.slot(&layout, [chain, i]),
                })
                .collect()
        };
        if chain_params.solver == Some(StretchSolver::Direct) {
            let params = ReferenceChainParams {
                supported: Supported::Slide,
                regularization,
                held_regularization: 0.0,
                min_ratio: 0.0,
                target_ratio: 1.0,
                push_fraction: PUSH_FRACTION,
                pull_fraction: PULL_FRACTION,
                relaxation_factor: chain_params.relaxation_factor,
            };
            for chain in 0..chains {
                let links = links(set, chain);
                solve_chain(&mut planes, &layout, set, &links, params);
            }
        } else if chain_params.solver.is_some() {
            for color in 0..2 {
                solve_color(&mut planes, &layout, set, color, regularization);
            }
        }
        if let Some(StretchLimit { ratio, supported }) = chain_params.stretch_limit {
            // λ of the strain limit is not recorded.
            let lambda = std::mem::take(&mut set.list.lambda);
            let params = ReferenceChainParams {
                supported,
                regularization: Regularization::STRAIN_LIMIT,
                held_regularization: HELD_REGULARIZATION,
                min_ratio: ratio * NEAR_LIMIT,
                target_ratio: ratio,
                push_fraction: 0.0,
                pull_fraction: PULL_FRACTION,
                relaxation_factor: 1.0,
            };
            for chain in 0..chains {
                let links = links(set, chain);
                let mut lengths = links.iter().map(|&link| {
                    let [a, b] = endpoints(&layout, set, link);
                    let d = [&planes.x, &planes.y, &planes.z].map(|plane| plane[b] - plane[a]);
                    let max_length = set.list.rest[link] * ratio;
                    (d[0] * d[0] + d[1] * d[1] + d[2] * d[2], max_length)
                });
                if lengths.any(|(square, max_length)| {
                    max_length >= 0.0 && square > max_length * max_length
                }) {
                    solve_chain(&mut planes, &layout, set, &links, params);
                }
            }
            set.list.lambda = lambda;
        }
    }
    if params.is_reversed {
        others.rotate_left(2);
    }
}

/// Solves each bend as a force: all are measured before any particle moves.
fn bends_as_forces(
    planes: &mut ParticlePlanes,
    layout: &super::GridLayout,
    set: &GridConstraintSet,
    regularization: Regularization,
) {
    let step = match set.direction {
        GridDirection::BendWarp => layout.columns as usize,
        _ => 1,
    };
    for plane in [&mut planes.x, &mut planes.y, &mut planes.z] {
        // λ of the bends, with the sign of the curvature, by their first particles.
        let mut forces = vec![0.0_f32; plane.len()];
        for (index, &rho) in set.list.rest.iter().enumerate() {
            // The last group may begin with bends of the group before.
            if set
                .direction
                .slot(layout, set.direction.row_column(layout, index))
                != index
            {
                continue;
            }
            let [a, b] = endpoints(layout, set, index);
            let m = a + step;
            let curvature = (plane[b] - plane[m]) - (plane[m] - plane[a]);
            forces[a] = bend_force_factor(rho, regularization) * curvature;
        }
        for i in 0..plane.len() {
            let offset = match set.direction {
                GridDirection::BendWarp => i / layout.columns as usize,
                _ => i % layout.columns as usize,
            };
            let force = |back: usize| {
                if offset >= back {
                    forces[i - back * step]
                } else {
                    0.0
                }
            };
            plane[i] -= planes.w[i] * ((force(0) - force(1)) - (force(1) - force(2)));
        }
    }
}

/// Solves all bends of each chain at once.
fn bends_direct(
    planes: &mut ParticlePlanes,
    layout: &super::GridLayout,
    set: &GridConstraintSet,
    Regularization {
        alpha,
        diagonal_scale,
    }: Regularization,
) {
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    // Number of chains, particles of each, and index strides between chains and between particles.
    let (chains, length, [stride_across, stride_along]) = match set.direction {
        GridDirection::BendWarp => (columns, rows, [1, columns]),
        _ => (rows, columns, [columns, 1]),
    };
    for chain in 0..chains {
        let particle = |i: usize| chain * stride_across + i * stride_along;
        let rho = |i: usize| match set.direction {
            GridDirection::BendWarp => set.list.rest[set.direction.slot(layout, [i, chain])],
            _ => set.list.rest[set.direction.slot(layout, [chain, i])],
        };
        // For each bend: whether it is present (0 or 1), reciprocal of its pivot, its two entries of L and the
        // first of them before division, and its right-hand sides. Two absent bends come first.
        let mut rows_done = vec![([0.0_f32; 5], [0.0_f32; 3]); 2];
        for i in 0..length.saturating_sub(2) {
            let own = [i, i + 1, i + 2].map(particle);
            let [w0, w1, w2] = own.map(|i| planes.w[i]);
            let ([present2, u2, ..], z2) = rows_done[i];
            let ([present1, u1, _, _, g1], z1) = rows_done[i + 1];
            let masses = w0 + 4.0 * w1 + w2;
            let present = if rho(i) >= 0.0 && masses > 0.0 {
                1.0
            } else {
                0.0
            };
            let far = w0 * (present * present2);
            let second = far * u2;
            let g = -2.0 * (w0 + w1) * (present * present1) - second * g1;
            let first = g * u1;
            let pivot = masses * (diagonal_scale * BEND_DIAGONAL_SCALE) + rho(i) * alpha
                - first * g
                - second * far;
            let u = if present > 0.0 { 1.0 / pivot } else { 0.0 };
            let mut z = [0.0; 3];
            for (axis, plane) in [&planes.x, &planes.y, &planes.z].into_iter().enumerate() {
                let [a, m, b] = own.map(|i| plane[i]);
                z[axis] = (a - m) + (b - m) - first * z1[axis] - second * z2[axis];
            }
            rows_done.push(([present, u, first, second, g], z));
        }
        for (axis, plane) in [&mut *planes.x, &mut *planes.y, &mut *planes.z]
            .into_iter()
            .enumerate()
        {
            // λ by number of the bend, with two zeros at either end.
            let mut lambda = vec![0.0; length + 2];
            for i in (0..length.saturating_sub(2)).rev() {
                let ([_, u, ..], z) = rows_done[i + 2];
                let row = |bend: usize| rows_done.get(bend + 2).map_or([0.0; 5], |(row, _)| *row);
                let (near, far) = (row(i + 1)[2], row(i + 2)[3]);
                lambda[i + 2] = z[axis] * u - near * lambda[i + 3] - far * lambda[i + 4];
            }
            for i in 0..length {
                let [before, middle, after] = [lambda[i], lambda[i + 1], lambda[i + 2]];
                plane[particle(i)] -=
                    planes.w[particle(i)] * ((before - middle) + (after - middle));
            }
        }
    }
}

/// Projects every second constraint, or the others.
fn solve_color(
    planes: &mut ParticlePlanes,
    layout: &super::GridLayout,
    set: &mut GridConstraintSet,
    color: usize,
    regularization: Regularization,
) {
    let direction = set.direction;
    for index in 0..set.list.rest.len() {
        let [r, c] = set.direction.row_column(layout, index);
        let own = match direction {
            GridDirection::ShearDown | GridDirection::ShearUp | GridDirection::Warp => r % 2,
            _ => c % 2,
        };
        if own == color {
            project_constraint(planes, layout, set, index, regularization);
        }
    }
}

/// Replaces the rest lengths of all diagonals by those of pure shear.
fn write_shear_lengths(
    planes: &ParticlePlanes,
    layout: &super::GridLayout,
    [down, up]: &mut [GridConstraintSet; 2],
) {
    let square = |set: &GridConstraintSet, index: usize| {
        let [a, b] = endpoints(layout, set, index);
        let d = [&planes.x, &planes.y, &planes.z].map(|plane| plane[b] - plane[a]);
        dot(d, d)
    };
    for index in 0..down.list.rest.len().min(up.list.rest.len()) {
        let squares = [square(down, index), square(up, index)];
        let rest = [down.list.rest[index], up.list.rest[index]];
        [down.list.rest[index], up.list.rest[index]] = shear_lengths(rest, squares);
    }
}

fn endpoints(layout: &super::GridLayout, set: &GridConstraintSet, index: usize) -> [usize; 2] {
    set.direction
        .ends(layout, index)
        .map(|particle| (particle - layout.first) as usize)
}

fn project_constraint(
    planes: &mut ParticlePlanes,
    layout: &super::GridLayout,
    set: &mut GridConstraintSet,
    index: usize,
    regularization: Regularization,
) {
    let [a, b] = endpoints(layout, set, index);
    let d = [&planes.x, &planes.y, &planes.z].map(|plane| plane[b] - plane[a]);
    let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
    let pull = set
        .list
        .lambda
        .get(index)
        .map_or(0.0, |l| regularization.alpha * l);
    let masses = planes.w[a] + planes.w[b];
    let s = projection_factor(length, set.list.rest[index], pull, masses, regularization);
    for (plane, d) in [&mut planes.x, &mut planes.y, &mut planes.z]
        .into_iter()
        .zip(d)
    {
        plane[a] -= planes.w[a] * s * d;
        plane[b] += planes.w[b] * s * d;
    }
    if let Some(lambda) = set.list.lambda.get_mut(index) {
        *lambda += s * length;
    }
}

/// Solves all links of a chain at once.
fn solve_chain(
    planes: &mut ParticlePlanes,
    layout: &super::GridLayout,
    set: &mut GridConstraintSet,
    links: &[usize],
    ReferenceChainParams {
        supported,
        regularization: Regularization {
            alpha,
            diagonal_scale,
        },
        held_regularization,
        min_ratio,
        target_ratio,
        push_fraction,
        pull_fraction,
        relaxation_factor,
    }: ReferenceChainParams,
) {
    let mut kept = Vec::with_capacity(links.len());
    let normals = (supported != Supported::Free)
        .then(|| support(planes, layout, set, links))
        .flatten()
        .unwrap_or_else(|| vec![[0.0; 3]; links.len() + 1]);
    let is_held = |number: usize| supported == Supported::Hold && normals[number] != [0.0; 3];
    let share = match (0..=links.len()).any(is_held) {
        true => HELD_CORRECTION,
        false => 1.0,
    };
    let mobility = |w: f32, number: usize| if is_held(number) { 0.0 } else { w };
    let (mut state, mut strain_regularization) = (0, 0.0);
    for number in 0..=links.len() {
        let link = links[number.min(links.len() - 1)];
        let [a, b] = endpoints(layout, set, link);
        let i = if number < links.len() { a } else { b };
        if number > 0 && set.list.rest[links[number - 1]] < 0.0 {
            state = 0;
        }
        match mobility(planes.w[i], number) == 0.0 {
            true if state == 2 => (state, strain_regularization) = (1, held_regularization),
            true => state = 1,
            false if state > 0 => state = 2,
            false => {}
        }
    }
    let (mut before, mut inverse, mut right) = ([0.0_f32; 3], 0.0_f32, 0.0_f32);
    let mut along_before = 0.0;
    for (number, &link) in links.iter().enumerate() {
        let [a, b] = endpoints(layout, set, link);
        let wa = mobility(planes.w[a], number);
        let wb = mobility(planes.w[b], number + 1);
        let d = [&planes.x, &planes.y, &planes.z].map(|plane| plane[b] - plane[a]);
        let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        let length = square.sqrt();
        let rest = set.list.rest[link];
        let is_active = length > rest * min_ratio && rest >= 0.0;
        let pull = set.list.lambda.get(link).copied().unwrap_or(0.0);
        let excess = rest * target_ratio - length;
        let error = if is_active {
            (excess - alpha * pull) * length
        } else {
            0.0
        };
        let [at_a, at_b] = [normals[number], normals[number + 1]].map(|normal| dot(d, normal));
        let coupling = wa * (dot(d, before) - at_a * along_before);
        along_before = at_b;
        let factor = coupling * inverse;
        let blocked = wa * at_a * at_a + wb * at_b * at_b;
        let diagonal = ((wa + wb) * diagonal_scale).max(wa + wb + alpha);
        let by_strain = (wa + wb) * (strain_regularization * (excess * excess));
        let pivot = (diagonal * square + by_strain) - blocked - factor * coupling;
        inverse = if is_active && pivot > 0.0 {
            1.0 / pivot
        } else {
            0.0
        };
        right = error + factor * right;
        before = d;
        let bound = (error.max(0.0) * push_fraction + error.min(0.0) * pull_fraction) * inverse;
        kept.push((d, factor, right * inverse, bound));
    }
    let (mut lambda, mut behind) = (0.0, [0.0_f32; 3]);
    let mut factor = 0.0;
    let move_particle = |planes: &mut ParticlePlanes, i: usize, number: usize, by: [f32; 3]| {
        let normal = normals[number];
        let w = mobility(planes.w[i], number);
        let along = dot(by, normal);
        let planes_of_i = [&mut planes.x, &mut planes.y, &mut planes.z];
        for ((plane, by), n) in planes_of_i.into_iter().zip(by).zip(normal) {
            plane[i] += w * (by - along * n);
        }
    };
    for (number, (&link, &(d, own, q, bound))) in links.iter().zip(&kept).enumerate().rev() {
        let [_, b] = endpoints(layout, set, link);
        lambda = (q + factor * lambda).min(bound);
        factor = own;
        let applied = lambda * (relaxation_factor * share);
        let here = d.map(|d| applied * d);
        let by = [0, 1, 2].map(|axis| here[axis] - behind[axis]);
        move_particle(planes, b, number + 1, by);
        behind = here;
        if let Some(sum) = set.list.lambda.get_mut(link) {
            *sum += applied * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
        }
    }
    if let Some(&link) = links.first() {
        let [a, _] = endpoints(layout, set, link);
        move_particle(planes, a, 0, behind.map(|behind| 0.0 - behind));
    }
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Returns √φ·n of each particle of a chain, if there are any contacts.
fn support(
    planes: &ParticlePlanes,
    layout: &super::GridLayout,
    set: &GridConstraintSet,
    links: &[usize],
) -> Option<Vec<[f32; 3]>> {
    let normals = planes.normals?;
    let first = links.iter().map(|&link| endpoints(layout, set, link)[0]);
    let last = links.last().map(|&link| endpoints(layout, set, link)[1]);
    let particles: Vec<usize> = first.chain(last).collect();
    let link = |i: usize| -> ([f32; 3], f32) {
        let Some(&[a, b]) = particles[i..].first_chunk() else {
            return ([0.0; 3], 0.0);
        };
        let d = [&planes.x, &planes.y, &planes.z].map(|plane| plane[b] - plane[a]);
        let square = dot(d, d);
        (d, if square > 0.0 { 1.0 / square } else { 0.0 })
    };
    let signed_square = |into: f32, reciprocal: f32| into * into.abs() * reciprocal;
    let supported = (0..particles.len()).map(|i| {
        let normal = normals.map(|plane| plane[particles[i]]);
        let (before, reciprocal) = if i > 0 { link(i - 1) } else { ([0.0; 3], 0.0) };
        let one = signed_square(dot(before, normal), reciprocal);
        let (behind, reciprocal) = link(i);
        let other = signed_square(-dot(behind, normal), reciprocal);
        let steepest = if one.abs() > other.abs() { one } else { other };
        let factor = support_factor(steepest);
        normal.map(|n| n * factor)
    });
    Some(supported.collect())
}
