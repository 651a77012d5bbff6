#!/usr/bin/env python3
"""Generates shirt.glb: the character of hero.py in a long shirt with sleeves, for the scene `shirt`.

    python3 assets/models/shirt.py       writes assets/models/shirt.glb (a minute; no dependencies)

The shirt is a surface around the trunk and the upper arms, cut open at neck, cuffs and hem. Its triangles are
irregular (Delaunay), as those of programs for pattern makers.
"""

import math
import random

from hero import PLACE, capsule, gradient_of, normal_of, normals_of, smooth, surface, union, unit, weights_near, write

# Size of triangles, m.
STEP = 0.02

SLEEVE_RADII = 0.08, 0.078
# Tapered capsules: both ends and the radius at each, m.
TRUNK, SLEEVES = [], []
for side, s in (("L", 1.0), ("R", -1.0)):
    TRUNK.append(((s * 0.08, 1.33, -0.02), (s * 0.09, 0.6, 0.0), 0.135, 0.185))
    TRUNK.append(((s * 0.03, 1.42, -0.025), (s * 0.165, 1.41, -0.02), 0.1, 0.098))
    SLEEVES.append((PLACE["UpperArm." + side], PLACE["LowerArm." + side], *SLEEVE_RADII))
BLEND = 0.03
# Ends of the shirt: height of the hem, radius of the collar, m, and length of a sleeve as a fraction of the upper arm.
HEM, COLLAR, SLEEVE = 0.78, 0.1, 0.9


def distance(p):
    """Returns the signed distance to the shirt without openings, m."""
    return union(TRUNK + SLEEVES, BLEND, p)


def beyond(p):
    """Returns how far a point lies beyond the hem, a cuff or the collar, m; negative for points of the shirt."""
    x, y, z = p
    out = HEM - y
    if y > 1.4:
        out = max(out, COLLAR - math.hypot(x, z + 0.015))
    side = "L" if x > 0.0 else "R"
    a, b = PLACE["UpperArm." + side], PLACE["LowerArm." + side]
    if capsule(p, a, b, *SLEEVE_RADII) < union(TRUNK, BLEND, p):
        along = unit([b[k] - a[k] for k in range(3)])
        way = dot([p[k] - a[k] for k in range(3)], along)
        out = max(out, way - SLEEVE * math.dist(a, b))
    return out


def project(p, value, times=3):
    """Moves a point near to where a function is zero to such a place."""
    for _ in range(times):
        d, g = max(-STEP, min(STEP, value(p))), gradient_of(value, p)
        p = [p[k] - d * g[k] for k in range(3)]
    return p


def onto_border(p):
    """Moves a point near an opening onto its edge."""
    for _ in range(3):
        p = project(project(p, beyond, 1), distance, 1)
    return p


def neighbours_of(count, triangles):
    """Returns the particles that share a triangle with each."""
    near = [set() for _ in range(count)]
    for t in triangles:
        for a in t:
            near[a].update(b for b in t if b != a)
    return near


def edges_of(triangles):
    """Returns the triangles at each edge, by third corner and index."""
    edges = {}
    for k, (a, b, c) in enumerate(triangles):
        for i, j, other in ((a, b, c), (b, c, a), (c, a, b)):
            edges.setdefault((min(i, j), max(i, j)), []).append((other, k))
    return edges


def dot(u, v):
    """Returns the scalar product."""
    return sum(u[k] * v[k] for k in range(3))


def angle(p, a, b):
    """Returns the angle at p between a and b."""
    u, v = unit([a[k] - p[k] for k in range(3)]), unit([b[k] - p[k] for k in range(3)])
    return math.acos(max(-1.0, min(1.0, dot(u, v))))


def least_angle(at):
    """Returns the smallest angle of a triangle with these corners."""
    return min(angle(at[k], at[k - 1], at[k - 2]) for k in range(3))


def used(positions, triangles):
    """Returns the positions that belong to triangles, and the triangles of these."""
    kept = sorted({i for t in triangles for i in t})
    index = {old: new for new, old in enumerate(kept)}
    return [positions[i] for i in kept], [tuple(index[i] for i in t) for t in triangles]


def flip(positions, triangles):
    """Turns edges until the triangles are those of Delaunay, as far as a curved surface has such."""
    for _ in range(40):
        edges, done, created, flips = edges_of(triangles), set(), set(), 0
        for (i, j), sides in edges.items():
            if len(sides) != 2:
                continue
            (c, s), (d, t) = sides
            if s in done or t in done or (min(c, d), max(c, d)) in edges or (min(c, d), max(c, d)) in created:
                continue
            at = [positions[k] for k in (i, j, c, d)]
            if angle(at[2], at[0], at[1]) + angle(at[3], at[0], at[1]) < math.pi + 1e-6:
                continue
            # In the order of the first triangle.
            k = triangles[s].index(c)
            a, b = triangles[s][(k + 1) % 3], triangles[s][(k + 2) % 3]
            turned = (c, a, d), (c, d, b)
            normals = [unit(normal_of(positions, t)) for t in (triangles[s], triangles[t], *turned)]
            if min(dot(n, m) for n in normals for m in normals) < 0.5:
                continue
            triangles[s], triangles[t] = turned
            created.add((min(c, d), max(c, d)))
            done.update((s, t))
            flips += 1
        if flips == 0:
            return


def shirt():
    """Returns positions and triangles of the shirt, and how far each particle is from the collar, m."""
    random.seed(1)
    low, high = (-0.5, HEM - 0.1, -0.3), (0.5, 1.6, 0.3)
    positions, triangles = surface(distance, low, high, STEP)
    border = [abs(beyond(p)) < 0.5 * STEP for p in positions]
    positions = [onto_border(p) if b else p for p, b in zip(positions, border)]
    triangles = [t for t in triangles if all(beyond(positions[i]) < 0.1 * STEP for i in t)]
    positions, triangles = used(positions, triangles)

    # Particles in irregular places.
    for turn in range(6):
        near = neighbours_of(len(positions), triangles)
        rim = {i for edge, sides in edges_of(triangles).items() if len(sides) == 1 for i in edge}
        moved = []
        for i, p in enumerate(positions):
            around = [j for j in near[i] if i not in rim or j in rim]
            mean = [sum(positions[j][k] for j in around) / len(around) for k in range(3)]
            noise = 0.3 * STEP if turn == 0 else 0.0
            share = 0.0 if turn == 0 else 0.5
            q = [p[k] + share * (mean[k] - p[k]) + random.uniform(-noise, noise) for k in range(3)]
            moved.append(onto_border(q) if i in rim else project(q, distance))
        positions = moved
        flip(positions, triangles)
    # Without the flat triangles along cut edges.
    edges = edges_of(triangles)
    at_edge = {k for sides in edges.values() if len(sides) == 1 for _, k in sides}
    flat = {k for k in at_edge if least_angle([positions[i] for i in triangles[k]]) < math.radians(12.0)}
    positions, triangles = used(positions, [t for k, t in enumerate(triangles) if k not in flat])
    collar = [math.hypot(x, z + 0.015) < COLLAR + 0.002 and y > 1.4 for x, y, z in positions]
    rim = [p for p, c in zip(positions, collar) if c]
    return positions, triangles, [min(math.dist(p, q) for q in rim) for p in positions]


def mesh():
    """Returns the vertex attributes and triangles of the shirt, for `write`."""
    positions, triangles, ways = shirt()
    # Red is the painted max distance; the collar is pinned.
    red = [0.0 if way < 0.1 * STEP else smooth(0.1 + 0.9 * way / 0.4) for way in ways]
    return {
        "positions": positions,
        "normals": normals_of(positions, triangles),
        "skin": [weights_near(p, ("Hips", "Spine", "Chest", "UpperArm.L", "UpperArm.R")) for p in positions],
        "triangles": triangles,
        "colours": [(r, 0.0, 0.0, 1.0) for r in red],
    }


if __name__ == "__main__":
    write("shirt.glb", 1.0, "Shirt", mesh(), {
        "cloth": "cotton",
        "cloth_max_distance": 0.35,
        "cloth_max_distance_paint": "red",
        "cloth_self_collision": "on",
    }, [0.55, 0.35, 0.06, 1.0])
