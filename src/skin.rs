//! Where a skeleton carries the particles of a cloth.

use crate::{mesh::topology::NO_PARTICLE, solver::SoaVec3};
use bevy::{
    math::{Affine3A, Mat3A, Vec3A},
    mesh::{
        Mesh, VertexAttributeValues,
        skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    },
    prelude::*,
};

/// How many joints may move a vertex.
const MOST: usize = 4;

/// What of a skeleton moves the particles of a cloth.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Skin {
    /// The joints, in the order of the mesh.
    pub(crate) joints: Vec<Entity>,
    names: Vec<String>,
    /// From mesh space into that of each joint, in the pose that the mesh was modelled in.
    inverse: Vec<Affine3A>,
    influences: Vec<Influence>,
    /// From mesh space into the world, by each joint, as last seen.
    matrices: Vec<Affine3A>,
    /// Joints that were missing and reported.
    missing: bool,
}

/// Which joints move a particle, and by how much: together 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Influence {
    joints: [u16; MOST],
    weights: [f32; MOST],
}

impl Skin {
    /// Reads how a mesh follows its skeleton; `None` if it does not. `vertex_to_particle` are the
    /// particles of its vertices.
    pub(crate) fn read(
        mesh: &Mesh,
        skinned: &SkinnedMesh,
        inverse: &SkinnedMeshInverseBindposes,
        names: impl Fn(Entity) -> Option<String>,
        vertex_to_particle: impl Iterator<Item = u32>,
        particles: usize,
    ) -> Option<Self> {
        let Ok(VertexAttributeValues::Uint16x4(joints)) =
            mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_INDEX)
        else {
            return None;
        };
        let Ok(VertexAttributeValues::Float32x4(weights)) =
            mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)
        else {
            return None;
        };
        let count = skinned.joints.len().min(inverse.len());
        if count == 0 {
            return None;
        }
        let first = Influence {
            joints: [0; MOST],
            weights: [1.0, 0.0, 0.0, 0.0],
        };
        let mut influences = vec![first; particles];
        for ((joints, weights), particle) in joints.iter().zip(weights).zip(vertex_to_particle) {
            // Vertices at one place move alike, or the mesh would open.
            if particle != NO_PARTICLE
                && let Some(influence) = influences.get_mut(particle as usize)
            {
                *influence = Influence::new(*joints, *weights, count).unwrap_or(first);
            }
        }
        Some(Self {
            joints: skinned.joints[..count].to_vec(),
            names: skinned.joints[..count]
                .iter()
                .map(|&joint| names(joint).unwrap_or_default())
                .collect(),
            inverse: inverse[..count]
                .iter()
                .map(|&m| Affine3A::from_mat4(m))
                .collect(),
            influences,
            matrices: vec![Affine3A::IDENTITY; count],
            missing: false,
        })
    }

    /// The joint that moves most of these particles, or of all if there are none of these.
    pub(crate) fn main_joint(&self, of: impl Iterator<Item = usize>) -> Option<Entity> {
        let mut shares = vec![0.0; self.joints.len()];
        let mut add = |influence: &Influence| {
            for (&joint, &weight) in influence.joints.iter().zip(&influence.weights) {
                shares[usize::from(joint)] += weight;
            }
        };
        let mut any = false;
        for influence in of.filter_map(|particle| self.influences.get(particle)) {
            any = true;
            add(influence);
        }
        if !any {
            self.influences.iter().for_each(add);
        }
        let most = shares.iter().copied().fold(0.0, f32::max);
        // The first of several.
        let joint = shares.iter().position(|&share| share == most)?;
        Some(self.joints[joint])
    }

    /// Notes where the joints are, relative to `origin`. Returns how many of them are newly missing; they
    /// stay where they were.
    pub(crate) fn pose(
        &mut self,
        origin: Vec3,
        moved: Vec3,
        at: impl Fn(Entity) -> Option<GlobalTransform>,
    ) -> usize {
        let mut missing = 0;
        let joints = self.joints.iter().zip(&self.inverse);
        for (matrix, (&joint, inverse)) in self.matrices.iter_mut().zip(joints) {
            if let Some(transform) = at(joint) {
                let mut affine = transform.affine();
                affine.translation -= Vec3A::from(origin);
                let seen = affine * *inverse;
                if seen.is_finite() {
                    *matrix = seen;
                    continue;
                }
            } else {
                missing += 1;
            }
            // Relative to where the origin is now.
            matrix.translation += Vec3A::from(moved);
        }
        let known = std::mem::replace(&mut self.missing, missing > 0);
        if known { 0 } else { missing }
    }

    /// What takes mesh space to where a particle is carried, relative to the origin of the last
    /// [`pose`](Self::pose).
    pub(crate) fn matrix(&self, particle: usize) -> Affine3A {
        let Some(Influence { joints, weights }) = self.influences.get(particle) else {
            return self.matrices[0];
        };
        let mut sum = Affine3A {
            matrix3: Mat3A::ZERO,
            translation: Vec3A::ZERO,
        };
        for (&joint, &weight) in joints.iter().zip(weights) {
            if weight > 0.0 {
                let matrix = &self.matrices[usize::from(joint)];
                sum.matrix3 += matrix.matrix3 * weight;
                sum.translation += matrix.translation * weight;
            }
        }
        sum
    }

    /// Poses it for the first time. Returns an origin near the particles, which are in these places at rest
    /// in mesh space, and what turns and scales mesh space into world axes; `None` if it cannot carry them.
    pub(crate) fn settle(
        &mut self,
        rest: &[Vec3],
        at: impl Fn(Entity) -> Option<GlobalTransform>,
    ) -> Option<(Vec3, Mat3)> {
        self.pose(Vec3::ZERO, Vec3::ZERO, &at);
        if self.missing {
            return None;
        }
        let frame = self.main_matrix();
        let middle = rest.iter().sum::<Vec3>() / rest.len().max(1) as f32;
        let origin = frame.transform_point3(middle);
        if !(origin.is_finite() && frame.inverse().is_finite()) {
            return None;
        }
        // Once more, relative to it: far away that is more exact.
        self.pose(origin, Vec3::ZERO, at);
        Some((origin, frame.matrix3.into()))
    }

    /// Where particles are carried that are in these places at rest, in mesh space.
    pub(crate) fn places(&self, rest: &[Vec3]) -> SoaVec3 {
        let carry = |(i, &rest)| self.matrix(i).transform_point3(rest);
        rest.iter().enumerate().map(carry).collect()
    }

    /// The matrix of the joint that moves more of the cloth than any other.
    pub(crate) fn main_matrix(&self) -> Affine3A {
        let mut sums = vec![0.0; self.matrices.len()];
        for Influence { joints, weights } in &self.influences {
            for (&joint, weight) in joints.iter().zip(weights) {
                sums[usize::from(joint)] += weight;
            }
        }
        let most = sums
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
        self.matrices[most.map_or(0, |(joint, _)| joint)]
    }

    /// How much a joint moves each particle, if there is one of this name.
    pub(crate) fn weights_of(&self, name: &str) -> Option<Vec<f32>> {
        let wanted = self.names.iter().position(|known| known == name)?;
        let weight = |of: &Influence| {
            let pairs = of.joints.iter().zip(&of.weights);
            let of_it = pairs.filter(|(joint, _)| usize::from(**joint) == wanted);
            of_it.map(|(_, weight)| weight).sum()
        };
        Some(self.influences.iter().map(weight).collect())
    }

    /// The names of the joints that have one.
    pub(crate) fn joint_names(&self) -> impl Iterator<Item = &str> {
        let names = self.names.iter().map(String::as_str);
        names.filter(|name| !name.is_empty())
    }
}

impl Influence {
    /// Weights that are together 1; `None` if nothing moves it. Joints that do not exist move nothing.
    fn new(joints: [u16; MOST], mut weights: [f32; MOST], count: usize) -> Option<Self> {
        for (weight, &joint) in weights.iter_mut().zip(&joints) {
            if usize::from(joint) >= count || !weight.is_finite() {
                *weight = 0.0;
            }
            *weight = weight.max(0.0);
        }
        let sum: f32 = weights.iter().sum();
        if sum <= 0.0 {
            return None;
        }
        let joints = std::array::from_fn(|k| if weights[k] > 0.0 { joints[k] } else { 0 });
        Some(Self {
            joints,
            weights: weights.map(|weight| weight / sum),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::{asset::RenderAssetUsages, mesh::PrimitiveTopology};

    /// Two joints, above each other, and three vertices: of the one, of both, of the other.
    fn skin() -> (Skin, [Entity; 2]) {
        let joints: [Entity; 2] = [1, 2].map(|i| Entity::from_raw_u32(i).unwrap());
        let mesh = Mesh::new(
            PrimitiveTopology::TriangleList,
            RenderAssetUsages::default(),
        )
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_JOINT_INDEX,
            VertexAttributeValues::Uint16x4(vec![[0, 0, 0, 0], [0, 1, 9, 0], [1, 0, 0, 0]]),
        )
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_JOINT_WEIGHT,
            vec![
                [1.0, 0.0, 0.0, 0.0],
                [0.2, 0.2, 5.0, 0.0],
                [0.5, 0.0, 0.0, 0.0],
            ],
        );
        let skinned = SkinnedMesh {
            joints: joints.to_vec(),
            ..default()
        };
        let inverse = vec![Mat4::IDENTITY, Mat4::from_translation(Vec3::NEG_Y)].into();
        let name = |joint| (joint == joints[1]).then(|| "Upper".to_owned());
        let skin = Skin::read(&mesh, &skinned, &inverse, name, 0..3, 3).unwrap();
        (skin, joints)
    }

    #[test]
    fn particles_follow_the_mean_of_their_joints() {
        let (mut skin, [lower, upper]) = skin();
        let at = |entity| {
            Some(if entity == lower {
                GlobalTransform::from_xyz(10.0, 0.0, 0.0)
            } else {
                GlobalTransform::from_xyz(10.0, 3.0, 0.0)
            })
        };
        assert_eq!(skin.pose(Vec3::X * 10.0, Vec3::ZERO, at), 0);
        let place = |skin: &Skin, i| skin.matrix(i).transform_point3(Vec3::Z);
        assert_eq!(place(&skin, 0), Vec3::Z);
        assert_eq!(place(&skin, 1), Vec3::new(0.0, 1.0, 1.0));
        assert_eq!(place(&skin, 2), Vec3::new(0.0, 2.0, 1.0));
        // One joint goes missing and stays where it was, also when the origin moves.
        let gone = |entity| at(entity).filter(|_| entity != upper);
        assert_eq!(skin.pose(Vec3::X * 9.0, Vec3::X, gone), 1);
        assert_eq!(place(&skin, 0), Vec3::new(1.0, 0.0, 1.0));
        assert_eq!(place(&skin, 2), Vec3::new(1.0, 2.0, 1.0));
        assert_eq!(skin.pose(Vec3::X * 9.0, Vec3::ZERO, gone), 0, "told once");
    }

    #[test]
    fn weights_are_those_of_a_named_joint() {
        let (skin, _) = skin();
        assert_eq!(skin.weights_of("Upper"), Some(vec![0.0, 0.5, 1.0]));
        assert_eq!(skin.weights_of("Tail"), None);
        assert_eq!(skin.joint_names().collect::<Vec<_>>(), ["Upper"]);
    }
}
