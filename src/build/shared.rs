//! Shapes that cloths of equal meshes share: the first cloth computes them, others wait for it.
//!
//! They are found by the contents of the mesh: one that was changed or reloaded has another shape. They live as long as any
//! cloth that was built from them.

use crate::{
    build::select_part::{ClothSelection, select_cloth},
    character::paint::ClothPart,
    cloth::{
        body::ClothBody, fingerprint::BuildFingerprint, shape::ClothShape, tethers::StaleDistances,
    },
    mesh::{MeshBinding, Topology, normals_of},
    solver::{ConstraintGraph, Tethers},
};
use bevy::{
    platform::{collections::HashMap, hash::FixedHasher},
    prelude::*,
};
use std::{
    hash::{BuildHasher, Hash, Hasher},
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
};

/// Everything of a cloth that follows from its mesh alone.
pub(super) struct MeshShape {
    /// Without constraints and bends: these are large, and can be derived from the triangles.
    pub(super) topology: Topology,
    /// Particles on the seam with the rest of the mesh.
    pub(super) seam: Vec<u32>,
    pub(super) binding: MeshBinding,
    /// Normals for a mesh without any.
    pub(super) added_normals: Option<Vec<[f32; 3]>>,
    /// Corners of the box around the part of the mesh that is not cloth, if any.
    pub(super) static_bounds: Option<[Vec3; 2]>,
    /// Number of triangles with vertices that do not exist.
    pub(super) triangles_out_of_range: usize,
    /// Topology with constraints and bends, for the first rest shape.
    with_constraints: Mutex<Option<Topology>>,
}

impl MeshShape {
    /// Finds the shape of a mesh, and the constraints along it; or returns why it cannot become cloth.
    fn new(mesh: &Mesh, part: Option<&ClothPart>) -> Result<Self, String> {
        let ClothSelection {
            triangles,
            mut topology,
            seam,
        } = select_cloth(mesh, part)?;
        let mut bound = mesh.clone();
        let binding = MeshBinding::new(&triangles, &topology, &mut bound);
        let count = triangles.positions.len();
        let added_normals = match normals_of(mesh, count) {
            Some(_) => None,
            None => normals_of(&bound, count).cloned(),
        };
        topology.positions.share();
        let with_constraints = topology.clone();
        (topology.constraints, topology.bends) = default();
        Ok(Self {
            binding,
            added_normals,
            static_bounds: part.and_then(|_| topology.bounds_outside_cloth(&triangles.positions)),
            triangles_out_of_range: triangles.out_of_range,
            topology,
            seam,
            with_constraints: Mutex::new(Some(with_constraints)),
        })
    }
}

/// Everything of a cloth that follows from its mesh and from the rotation and scale in which it was built.
pub(super) struct OrientedShape {
    pub(super) shape: ClothShape,
    pub(super) constraints: ConstraintGraph,
    /// Tethers of the cloth that was built first, and the particles that hold it.
    tethers: OnceLock<(Vec<u32>, Arc<Tethers>)>,
}

impl OrientedShape {
    fn new(of_mesh: &MeshShape, frame: Mat3) -> Self {
        let rest = of_mesh.topology.rest_in_world(frame);
        let with_constraints = lock(&of_mesh.with_constraints).take();
        let topology = with_constraints.as_ref().unwrap_or(&of_mesh.topology);
        let mut triangles = topology.triangles_at(&rest);
        let mut constraints = topology.constraints_at(&rest);
        triangles.share();
        constraints.share();
        let mut shape = ClothShape {
            topology: of_mesh.topology.clone(),
            triangles,
            ..default()
        };
        shape.set_frame(frame);
        shape.build_fingerprint =
            BuildFingerprint::new(&shape, Some(&of_mesh.binding), &constraints);
        Self {
            shape,
            constraints,
            tethers: OnceLock::new(),
        }
    }

    /// Gives a cloth in its rest shape, which cannot tear, the tethers of another one that is held by the same particles.
    /// Returns whether there is one.
    pub(super) fn share_tethers(
        &self,
        supports: impl Iterator<Item = u32>,
        body: &mut ClothBody,
    ) -> bool {
        let known = self.tethers.get();
        let Some((_, tethers)) = known.filter(|(known, _)| supports.eq(known.iter().copied()))
        else {
            return false;
        };
        body.tethers = tethers.clone();
        body.tether_distances = default();
        body.stale_distances = StaleDistances::UpToDate;
        true
    }

    /// Keeps the tethers of a cloth that is held by these particles, if it is the first one.
    pub(super) fn keep_tethers(&self, supports: impl Iterator<Item = u32>, tethers: &Arc<Tethers>) {
        (self.tethers).get_or_init(|| (supports.collect(), tethers.clone()));
    }
}

/// Shapes of the mesh from which a cloth was built, for the next one and for resets; none of a rope.
#[derive(Component, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct BuiltFrom(Option<(Kept<Result<MeshShape, String>>, Kept<OrientedShape>)>);

impl BuiltFrom {
    pub(super) fn mesh(mesh: Kept<Result<MeshShape, String>>, rest: Kept<OrientedShape>) -> Self {
        Self(Some((mesh, rest)))
    }

    /// Returns the rest shape, if it is that of this rotation and scale.
    pub(super) fn rest_at(&self, frame: Mat3) -> Option<&OrientedShape> {
        let (_, rest) = self.0.as_ref()?;
        (rest.shape.to_world == frame).then_some(&**rest)
    }
}

/// All shapes in use.
#[derive(Resource, Clone, Default)]
pub(crate) struct SharedShapes(Arc<Registries>);

#[derive(Default)]
struct Registries {
    meshes: Registry<Result<MeshShape, String>>,
    rest: Registry<OrientedShape>,
}

impl SharedShapes {
    /// Returns the shape of a mesh, or of a part of it, or why it cannot become cloth; and the hash of both.
    pub(super) fn of_mesh(
        &self,
        mesh: &Mesh,
        part: Option<&ClothPart>,
    ) -> (Kept<Result<MeshShape, String>>, Option<u64>) {
        let hash = hash_of(mesh, part);
        (self.0.meshes.get(hash, || MeshShape::new(mesh, part)), hash)
    }

    /// Returns the rest shape of a cloth of that mesh shape, in this rotation and scale.
    pub(super) fn at_rest(
        &self,
        hash_of_mesh: Option<u64>,
        shape: &MeshShape,
        frame: Mat3,
    ) -> Kept<OrientedShape> {
        let bits = frame.to_cols_array().map(f32::to_bits);
        let hash = hash_of_mesh.map(|mesh| FixedHasher.hash_one((mesh, bits)));
        self.0.rest.get(hash, || OrientedShape::new(shape, frame))
    }
}

/// Returns a hash of the contents of a mesh, and of the part of it that is cloth; `None` if code decides on that.
fn hash_of(mesh: &Mesh, part: Option<&ClothPart>) -> Option<u64> {
    let mut hasher = FixedHasher.build_hasher();
    match part {
        None => {}
        Some(ClothPart::Painted { channel, above }) => (channel, above.to_bits()).hash(&mut hasher),
        Some(ClothPart::Predicate(_)) => return None,
    }
    mesh.primitive_topology().hash(&mut hasher);
    for (attribute, values) in mesh.try_attributes().ok()? {
        attribute.id.hash(&mut hasher);
        values.get_bytes().hash(&mut hasher);
    }
    mesh.get_index_buffer_bytes().hash(&mut hasher);
    Some(hasher.finish())
}

/// Value that a registry keeps as long as it is used.
pub(super) struct Kept<T> {
    value: Arc<T>,
    _cell: Cell<T>,
}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Value that is computed by whoever needs it first.
type Cell<T> = Arc<OnceLock<Arc<T>>>;

/// Values in use, by the hash of that from which they follow.
struct Registry<T>(Mutex<HashMap<u64, Weak<OnceLock<Arc<T>>>>>);

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Registry<T> {
    /// Returns the value with that hash, which is computed if nobody has it; without a hash, it is always computed.
    fn get(&self, hash: Option<u64>, compute: impl FnOnce() -> T) -> Kept<T> {
        let cell = hash.map(|hash| self.cell(hash)).unwrap_or_default();
        let value = cell.get_or_init(|| Arc::new(compute())).clone();
        Kept { value, _cell: cell }
    }

    fn cell(&self, hash: u64) -> Cell<T> {
        let mut cells = lock(&self.0);
        if let Some(cell) = cells.get(&hash).and_then(Weak::upgrade) {
            return cell;
        }
        cells.retain(|_, cell| cell.strong_count() > 0);
        let cell = Cell::default();
        cells.insert(hash, Arc::downgrade(&cell));
        cell
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::ClothGrid;

    #[test]
    fn equal_meshes_share_a_shape_as_long_as_it_is_used() {
        let shapes = SharedShapes::default();
        let mesh = |size: f32| Mesh::from(ClothGrid::new(size, 1.0, 4, 4));
        let (first, hash) = shapes.of_mesh(&mesh(1.0), None);
        let (second, _) = shapes.of_mesh(&mesh(1.0), None);
        let (other, other_hash) = shapes.of_mesh(&mesh(1.1), None);
        assert!(Arc::ptr_eq(&first.value, &second.value));
        assert!(!Arc::ptr_eq(&first.value, &other.value));
        assert_ne!(hash, other_hash);
        let Ok(shape) = &*first else {
            panic!("a grid is cloth");
        };
        let [rest, same, turned] = [0.0, 0.0, 0.1].map(|angle| {
            let frame = Mat3::from_rotation_y(angle);
            shapes.at_rest(hash, shape, frame)
        });
        assert!(Arc::ptr_eq(&rest.value, &same.value));
        assert!(!Arc::ptr_eq(&rest.value, &turned.value));
        let number_of_links = |rest: &OrientedShape| rest.constraints.len();
        assert_eq!(number_of_links(&rest), number_of_links(&turned));
        let weak = Arc::downgrade(&rest.value);
        drop((rest, same));
        assert!(weak.upgrade().is_none());
    }

    #[test]
    fn a_part_that_code_selects_is_not_shared() {
        let shapes = SharedShapes::default();
        let mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 4, 4));
        let part = ClothPart::predicate(|at| at.x > 0.0);
        let [a, b] = [(); 2].map(|()| shapes.of_mesh(&mesh, Some(&part)).0);
        assert!(!Arc::ptr_eq(&a.value, &b.value));
    }
}
