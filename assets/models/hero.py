#!/usr/bin/env python3
"""Generates hero.glb: a walking character with a cape, for the scene `cape`.

    python3 assets/models/hero.py        writes assets/models/hero.glb (half a minute; no dependencies)

The body is a smooth union of tapered capsules around its bones, triangulated by surface nets (Gibson,
"Constrained Elastic Surface Nets", 1998). The cape is a grid around the shoulders. As an artist would do in
Blender, custom properties of the object and vertex colours make it cloth.
"""

import json
import math
import os
import struct

# --- the skeleton -------------------------------------------------------------------------------------------
# Joint name: parent, position in m. The character stands on y = 0 and faces +z, as glTF requires.
JOINTS = {
    "Hips": (None, (0.0, 0.95, 0.0)),
    "Spine": ("Hips", (0.0, 1.08, -0.01)),
    "Chest": ("Spine", (0.0, 1.27, -0.02)),
    "Neck": ("Chest", (0.0, 1.48, -0.02)),
    "Head": ("Neck", (0.0, 1.58, 0.0)),
}
for side, s in (("L", 1.0), ("R", -1.0)):
    JOINTS["UpperArm." + side] = ("Chest", (s * 0.18, 1.42, -0.02))
    JOINTS["LowerArm." + side] = ("UpperArm." + side, (s * 0.36, 1.19, -0.03))
    JOINTS["Hand." + side] = ("LowerArm." + side, (s * 0.49, 0.98, 0.03))
    JOINTS["UpperLeg." + side] = ("Hips", (s * 0.095, 0.91, 0.0))
    JOINTS["LowerLeg." + side] = ("UpperLeg." + side, (s * 0.115, 0.50, 0.015))
    JOINTS["Foot." + side] = ("LowerLeg." + side, (s * 0.125, 0.09, -0.03))
NAMES = list(JOINTS)
PLACE = {name: place for name, (_, place) in JOINTS.items()}
# Ends of bones without a child joint, m.
TIPS = {
    "Head": (0.0, 1.74, 0.02),
    "Hand.L": (0.53, 0.90, 0.06),
    "Hand.R": (-0.53, 0.90, 0.06),
    "Foot.L": (0.14, 0.035, 0.13),
    "Foot.R": (-0.14, 0.035, 0.13),
}


# --- the shape ----------------------------------------------------------------------------------------------
def limbs():
    """Yields the tapered capsules of the body: joint, both ends and the radius at each, m."""
    yield "Hips", (-0.075, 0.93, 0.0), (0.075, 0.93, 0.0), 0.118, 0.118
    yield "Spine", (0.0, 0.98, 0.0), (0.0, 1.10, -0.01), 0.125, 0.112
    for s in (1.0, -1.0):
        yield "Chest", (s * 0.055, 1.12, -0.01), (s * 0.085, 1.33, -0.02), 0.085, 0.105
        yield "Chest", (s * 0.03, 1.42, -0.025), (s * 0.165, 1.41, -0.02), 0.075, 0.072
        side = ".L" if s > 0.0 else ".R"
        for name, child, ra, rb in (
            ("UpperArm", "LowerArm", 0.062, 0.046),
            ("LowerArm", "Hand", 0.046, 0.033),
            ("Hand", None, 0.036, 0.034),
            ("UpperLeg", "LowerLeg", 0.098, 0.062),
            ("LowerLeg", "Foot", 0.062, 0.043),
            ("Foot", None, 0.05, 0.038),
        ):
            end = PLACE[child + side] if child else TIPS[name + side]
            yield name + side, PLACE[name + side], end, ra, rb
    yield "Neck", (0.0, 1.42, -0.02), (0.0, 1.56, -0.005), 0.062, 0.052
    yield "Head", (0.0, 1.62, 0.012), (0.0, 1.69, 0.012), 0.088, 0.1


LIMBS = list(limbs())
BLEND = 0.035


def capsule(p, a, b, ra, rb):
    """Returns the approximate signed distance to a tapered capsule, m."""
    ab = [b[k] - a[k] for k in range(3)]
    ap = [p[k] - a[k] for k in range(3)]
    t = sum(ap[k] * ab[k] for k in range(3)) / sum(c * c for c in ab)
    t = min(1.0, max(0.0, t))
    d = math.sqrt(sum((ap[k] - ab[k] * t) ** 2 for k in range(3)))
    return d - (ra + (rb - ra) * t)


def union(limbs, blend, p):
    """Returns the signed distance to capsules, m: a smooth minimum (polynomial, Quilez), blended over a width in m."""
    least = 1e9
    for *_, a, b, ra, rb in limbs:
        d = capsule(p, a, b, ra, rb)
        h = max(blend - abs(least - d), 0.0) / blend
        least = min(least, d) - h * h * blend * 0.25
    return least


def distance(p):
    """Returns the signed distance to the body, m."""
    return union(LIMBS, BLEND, p)


def gradient_of(value, p, e=1e-3):
    """Returns the direction in which a function grows."""
    g = []
    for k in range(3):
        q, r = list(p), list(p)
        q[k] += e
        r[k] -= e
        g.append(value(q) - value(r))
    return unit(g)


def gradient(p):
    return gradient_of(distance, p)


def unit(v):
    length = math.sqrt(sum(c * c for c in v)) or 1.0
    return [c / length for c in v]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def surface(distance, low, high, step):
    """Returns positions and triangles of the surface where a distance is 0, in a box. `step` is the cell size, m."""
    n = [int((high[k] - low[k]) / step) + 1 for k in range(3)]
    value = {}
    for i in range(n[0]):
        for j in range(n[1]):
            for k in range(n[2]):
                p = (low[0] + i * step, low[1] + j * step, low[2] + k * step)
                value[i, j, k] = distance(p)
    corners = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    edges = [(a, b) for a in corners for b in corners if a < b and sum(abs(a[m] - b[m]) for m in range(3)) == 1]
    vertex, positions = {}, []
    for i in range(n[0] - 1):
        for j in range(n[1] - 1):
            for k in range(n[2] - 1):
                at = {c: value[i + c[0], j + c[1], k + c[2]] for c in corners}
                crossed = [(a, b) for a, b in edges if (at[a] < 0.0) != (at[b] < 0.0)]
                if not crossed:
                    continue
                mean = [0.0, 0.0, 0.0]
                for a, b in crossed:
                    t = at[a] / (at[a] - at[b])
                    for m in range(3):
                        mean[m] += (a[m] + (b[m] - a[m]) * t) / len(crossed)
                p = [low[m] + step * ((i, j, k)[m] + mean[m]) for m in range(3)]
                # Project onto the surface.
                for _ in range(2):
                    d, g = distance(p), gradient_of(distance, p)
                    p = [p[m] - d * g[m] for m in range(3)]
                vertex[i, j, k] = len(positions)
                positions.append(p)
    triangles = []
    for (i, j, k), inside in ((c, v < 0.0) for c, v in value.items()):
        for axis in range(3):
            other = [i, j, k]
            other[axis] += 1
            other = tuple(other)
            if other not in value or (value[other] < 0.0) == inside:
                continue
            u, w = (axis + 1) % 3, (axis + 2) % 3
            quad = []
            for du, dw in ((-1, -1), (0, -1), (0, 0), (-1, 0)):
                cell = [i, j, k]
                cell[u] += du
                cell[w] += dw
                quad.append(vertex.get(tuple(cell)))
            if None in quad:
                continue
            if not inside:
                quad.reverse()
            a, b, c, d = quad
            triangles += [(a, b, c), (a, c, d)]
    return positions, triangles


def body():
    """Returns positions, normals and triangles of the body."""
    positions, triangles = surface(distance, (-0.66, -0.06, -0.24), (0.66, 1.87, 0.28), 0.024)
    return positions, [gradient(p) for p in positions], triangles


def weights_near(p, names=NAMES):
    """Returns the joints and weights of the limbs nearest to p, of those with these names."""
    near = {}
    for name, *shape in LIMBS:
        if name in names:
            d = max(capsule(p, *shape), 0.0) + 0.02
            near[name] = max(near.get(name, 0.0), d ** -3.0)
    return normal_weights([(w, NAMES.index(name)) for name, w in near.items()])


def normal_weights(near):
    near = sorted(near, reverse=True)[:4]
    near = [(w, j) for w, j in near if w > 0.02 * near[0][0]]
    total = sum(w for w, _ in near)
    near = [(w / total, j) for w, j in near] + [(0.0, 0)] * (4 - len(near))
    return [j for _, j in near], [w for w, _ in near]


# --- the cape -----------------------------------------------------------------------------------------------
CAPE = (25, 30)


def mix(a, b, share):
    return a + (b - a) * share


def smooth(t):
    t = min(1.0, max(0.0, t))
    return t * t * (3.0 - 2.0 * t)


def drape(u, v):
    """Returns a position on the undeformed cape: u from edge to edge, -1 to 1, v from collar to hem, 0 to 1."""
    # At the collar the cape lies on the shoulders, below them it hangs behind the arms.
    down = smooth(v / 0.2)
    wide = mix(mix(0.175, 0.265, down), 0.46, v)
    middle = mix(mix(0.13, 0.17, down), 0.26, v)
    edge = mix(mix(-0.01, 0.17, down), 0.2, v)
    p = [
        wide * u * (1.0 - 0.12 * u * u),
        1.525 - 0.03 * (1.0 - u * u) * (1.0 - down) - 1.2 * v,
        -mix(middle, edge, u * u),
    ]
    # Push out of the body and of its capsule colliders, which are a little wider.
    for _ in range(8):
        d = distance(p)
        if d >= 0.05:
            break
        g = gradient(p)
        p = [p[k] + (0.051 - d) * g[k] for k in range(3)]
    return p


def column_of(u, rows, samples=150):
    """Returns equidistant positions from the collar to the hem."""
    path = [drape(u, k / samples) for k in range(samples + 1)]
    along = [0.0]
    for p, q in zip(path, path[1:]):
        along.append(along[-1] + math.dist(p, q))
    places, k = [], 0
    for row in range(rows):
        wanted = along[-1] * row / (rows - 1)
        while k + 2 < len(along) and along[k + 1] < wanted:
            k += 1
        share = (wanted - along[k]) / (along[k + 1] - along[k])
        places.append([mix(path[k][m], path[k + 1][m], share) for m in range(3)])
    return places


def cape():
    """Returns the vertex attributes and triangles of the cape, row by row from the collar to the hem, for `write`."""
    columns, rows = CAPE
    positions, uvs, colours, skin = [], [], [], []
    across = [2.0 * column / (columns - 1) - 1.0 for column in range(columns)]
    lines = [column_of(u, rows) for u in across]
    for row in range(rows):
        v = row / (rows - 1)
        for u, line in zip(across, lines):
            p = line[row]
            positions.append(p)
            uvs.append((0.5 + 0.5 * u, v))
            # Red is the painted max distance; the first row is pinned.
            red = 0.0 if row == 0 else (row / (rows - 1)) ** 0.9
            colours.append((red, 0.0, 0.0, 1.0))
            # Skinned to the chest, the lower part to the hips.
            hips = min(1.0, max(0.0, (1.3 - p[1]) / 0.5))
            skin.append(normal_weights([(1.0 - hips, NAMES.index("Chest")), (hips, NAMES.index("Hips"))]))
    triangles = []
    for row in range(rows - 1):
        for column in range(columns - 1):
            a = row * columns + column
            b, c, d = a + 1, a + columns, a + columns + 1
            # Faces away from the body; diagonals alternate from cell to cell.
            if (row + column) % 2 == 0:
                triangles += [(a, b, d), (a, d, c)]
            else:
                triangles += [(a, b, c), (b, d, c)]
    return {
        "positions": positions,
        "normals": normals_of(positions, triangles),
        "skin": skin,
        "triangles": triangles,
        "uvs": uvs,
        "colours": colours,
    }


def normal_of(positions, triangle):
    """Returns the normal of a triangle, with twice its area as length."""
    a, b, c = (positions[i] for i in triangle)
    return cross([b[k] - a[k] for k in range(3)], [c[k] - a[k] for k in range(3)])


def normals_of(positions, triangles):
    """Returns the unit normals of all vertices."""
    normals = [[0.0, 0.0, 0.0] for _ in positions]
    for t in triangles:
        n = normal_of(positions, t)
        for i in t:
            normals[i] = [normals[i][k] + n[k] for k in range(3)]
    return [unit(n) for n in normals]


# --- the animations -----------------------------------------------------------------------------------------
def turn(x=0.0, y=0.0, z=0.0):
    """Returns a rotation by Euler angles in degrees, z first, as a quaternion."""
    def about(axis, angle):
        half = math.radians(angle) / 2.0
        q = [0.0, 0.0, 0.0, math.cos(half)]
        q[axis] = math.sin(half)
        return q

    def times(a, b):
        ax, ay, az, aw = a
        bx, by, bz, bw = b
        return [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]

    return times(about(1, y), times(about(0, x), about(2, z)))


def gait(t, stride, lean, bob, arms):
    """Returns the joint rotations at the phase t of a step cycle, 0 to 1, and the offset of the hips, m."""
    pose = {}
    wave = lambda shift=0.0: math.sin(2.0 * math.pi * (t + shift))
    for side, phase in (("L", 0.0), ("R", 0.5)):
        swing = wave(phase)
        # The knee bends while the leg swings forward.
        lift = max(0.0, math.sin(2.0 * math.pi * (t + phase + 0.28)))
        pose["UpperLeg." + side] = turn(x=-stride * swing - 0.25 * stride)
        pose["LowerLeg." + side] = turn(x=8.0 + 1.9 * stride * lift)
        pose["Foot." + side] = turn(x=6.0 * swing - 0.35 * stride * lift)
        s = 1.0 if side == "L" else -1.0
        pose["UpperArm." + side] = turn(x=arms * swing, z=-s * 22.0)
        pose["LowerArm." + side] = turn(x=-0.6 * arms - 0.3 * arms * (1.0 - swing), z=-s * 10.0)
    pose["Spine"] = turn(x=lean, y=0.25 * stride * wave())
    pose["Chest"] = turn(x=0.3 * lean, y=-0.5 * stride * wave(), z=2.0 * wave())
    pose["Neck"] = turn(x=-0.8 * lean, y=0.25 * stride * wave())
    pose["Hips"] = turn(y=-0.15 * stride * wave())
    height = bob * math.cos(4.0 * math.pi * t) - 0.6 * bob
    return pose, height


# Animation name: length in s, and pose at a phase from 0 to 1.
ANIMATIONS = {
    "Idle": (3.0, lambda t: gait(t, 0.6, 1.0, 0.004, 3.0)),
    "Walk": (1.0, lambda t: gait(t, 24.0, 3.0, 0.018, 24.0)),
    "Run": (0.66, lambda t: gait(t, 40.0, 12.0, 0.035, 45.0)),
}
KEYS = 24


# --- the file -----------------------------------------------------------------------------------------------
class File:
    """Collects the arrays of a binary glTF file."""

    SIZES = {5121: "B", 5123: "H", 5125: "I", 5126: "f"}
    SHAPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}

    def __init__(self):
        self.bytes = bytearray()
        self.views, self.accessors = [], []

    def add(self, rows, kind, target=None, bounds=False, normalized=False):
        rows = [r if isinstance(r, (list, tuple)) else (r,) for r in rows]
        width = len(rows[0])
        flat = [c for r in rows for c in r]
        data = struct.pack("<%d%s" % (len(flat), self.SIZES[kind]), *flat)
        while len(self.bytes) % 4:
            self.bytes.append(0)
        view = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)}
        if target:
            view["target"] = target
        self.views.append(view)
        self.bytes += data
        accessor = {
            "bufferView": len(self.views) - 1,
            "componentType": kind,
            "count": len(rows),
            "type": self.SHAPES[width],
        }
        if normalized:
            accessor["normalized"] = True
        if bounds:
            # Rounded to 32 bits, as in the file.
            rounded = [struct.unpack("<%df" % width, struct.pack("<%df" % width, *r)) for r in rows]
            accessor["min"] = [min(r[k] for r in rounded) for k in range(width)]
            accessor["max"] = [max(r[k] for r in rounded) for k in range(width)]
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def write(self, path, document):
        while len(self.bytes) % 4:
            self.bytes.append(0)
        document["buffers"] = [{"byteLength": len(self.bytes)}]
        document["bufferViews"] = self.views
        document["accessors"] = self.accessors
        text = json.dumps(document, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        total = 12 + 8 + len(text) + 8 + len(self.bytes)
        with open(path, "wb") as out:
            out.write(struct.pack("<III", 0x46546C67, 2, total))
            out.write(struct.pack("<II", len(text), 0x4E4F534A) + text)
            out.write(struct.pack("<II", len(self.bytes), 0x004E4942) + bytes(self.bytes))


FLOAT, BYTE, SHORT, VERTICES, INDICES = 5126, 5121, 5123, 34962, 34963


def add_mesh(file, name, material, positions, normals, skin, triangles, uvs=None, colours=None):
    """Adds a mesh to a file and returns its entry in the document."""
    attributes = {
        "POSITION": file.add(positions, FLOAT, VERTICES, bounds=True),
        "NORMAL": file.add(normals, FLOAT, VERTICES),
    }
    if uvs:
        attributes["TEXCOORD_0"] = file.add(uvs, FLOAT, VERTICES)
    if colours:
        attributes["COLOR_0"] = file.add(colours, FLOAT, VERTICES)
    attributes["JOINTS_0"] = file.add([j for j, _ in skin], BYTE, VERTICES)
    attributes["WEIGHTS_0"] = file.add([w for _, w in skin], FLOAT, VERTICES)
    indices = file.add([i for t in triangles for i in t], SHORT, INDICES)
    print("%s: %d vertices, %d triangles" % (name, len(positions), len(triangles)))
    return {"name": name, "primitives": [{"attributes": attributes, "indices": indices, "material": material}]}


def write(path, collider, cloth_name, cloth_mesh, properties, colour):
    """Writes the character with a piece of cloth.

    `collider` is the thickness of its capsules, relative to its limbs; `cloth_mesh` the arguments of `add_mesh`, and `properties`
    the custom properties of the cloth.
    """
    file = File()
    positions, normals, triangles = body()
    skin = [weights_near(p) for p in positions]
    meshes = [
        add_mesh(file, "Body", 0, positions, normals, skin, triangles),
        add_mesh(file, cloth_name, 1, **cloth_mesh),
    ]

    nodes = []
    for name in NAMES:
        parent, place = JOINTS[name]
        base = PLACE[parent] if parent else (0.0, 0.0, 0.0)
        node = {"name": name, "translation": [place[k] - base[k] for k in range(3)]}
        children = [NAMES.index(c) for c, (p, _) in JOINTS.items() if p == name]
        if children:
            node["children"] = children
        nodes.append(node)
    nodes.append({"name": "Body", "mesh": 0, "skin": 0, "extras": {"cloth_collider": collider}})
    nodes.append({
        "name": cloth_name,
        "mesh": 1,
        "skin": 0,
        "extras": properties,
    })
    nodes.append({"name": "Hero", "children": [0, len(NAMES), len(NAMES) + 1]})

    inverse = []
    for name in NAMES:
        x, y, z = PLACE[name]
        inverse.append((1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, -y, -z, 1))
    skins = [{
        "name": "Hero",
        "joints": list(range(len(NAMES))),
        "skeleton": 0,
        "inverseBindMatrices": file.add(inverse, FLOAT),
    }]

    animations = []
    for name, (length, pose_at) in ANIMATIONS.items():
        times = [length * k / KEYS for k in range(KEYS + 1)]
        poses = [pose_at(k / KEYS) for k in range(KEYS + 1)]
        clock = file.add(times, FLOAT, bounds=True)
        samplers, channels = [], []

        def channel(node, path, rows):
            samplers.append({"input": clock, "output": file.add(rows, FLOAT), "interpolation": "LINEAR"})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})

        for joint in poses[0][0]:
            channel(NAMES.index(joint), "rotation", [pose[joint] for pose, _ in poses])
        x, y, z = PLACE["Hips"]
        channel(0, "translation", [(x, y + height, z) for _, height in poses])
        animations.append({"name": name, "samplers": samplers, "channels": channels})

    file.write(os.path.join(os.path.dirname(os.path.abspath(__file__)), path), {
        "asset": {"version": "2.0", "generator": "hero.py of bevy_drape"},
        "scene": 0,
        "scenes": [{"name": "Scene", "nodes": [len(nodes) - 1]}],
        "nodes": nodes,
        "meshes": meshes,
        "skins": skins,
        "animations": animations,
        "materials": [
            {
                "name": "Suit",
                "pbrMetallicRoughness": {
                    "baseColorFactor": [0.055, 0.075, 0.12, 1.0],
                    "metallicFactor": 0.0,
                    "roughnessFactor": 0.55,
                },
            },
            {
                "name": cloth_name,
                "doubleSided": True,
                "pbrMetallicRoughness": {
                    "baseColorFactor": colour,
                    "metallicFactor": 0.0,
                    "roughnessFactor": 0.8,
                },
            },
        ],
    })


if __name__ == "__main__":
    write("hero.glb", 1.15, "Cape", cape(), {
        "cloth": "wool",
        "cloth_max_distance": 1.4,
        "cloth_max_distance_paint": "red",
        "cloth_self_collision": "on",
        "cloth_inertia": 0.8,
    }, [0.28, 0.008, 0.012, 1.0])
