//! Access to particles by index: in a packed copy, or in the SoA arrays.

use super::regions::{BLOCK, REGION};
use crate::solver::{
    constraints::points::{Points, pack, transpose},
    parallel::workers::{PARTICLES_PER_PART, PartIterator, Workers},
};
use bevy::math::Vec4;

/// Copy of all particles: x, y, z and inverse mass of each; and of the normals of their contacts.
pub(super) struct PackedParticles {
    particles: Vec<[f32; 4]>,
    /// As long as `particles`; the fourth component has no meaning.
    normals: Vec<[f32; 4]>,
    /// Whether any normal may differ from zero.
    in_contact: bool,
}

/// Factor that masks the fourth component, so that inverse masses are not changed.
pub(super) const WITHOUT_MASS: Vec4 = Vec4::new(1.0, 1.0, 1.0, 0.0);

/// Particles that can be loaded and stored one by one.
pub(super) trait ParticleAccess {
    /// Returns x, y, z and inverse mass of a particle.
    fn load(&self, particle: u32) -> Vec4;

    /// Sets the position of a particle. `point` must hold its unchanged inverse mass.
    fn store(&mut self, particle: u32, point: Vec4);

    /// Returns whether any particle may be in contact.
    fn in_contact(&self) -> bool;

    /// Returns x, y and z of the normal of the contact of a particle, zero if it has none; only where any particle may be in
    /// contact. The fourth component has no meaning.
    fn contact_normal(&self, particle: u32) -> Vec4;

    /// Loads four particles. Written out: `array::map` is not always inlined, and then not compiled for the SIMD level.
    #[inline(always)]
    fn load_four(&self, [a, b, c, d]: [u32; 4]) -> [Vec4; 4] {
        [self.load(a), self.load(b), self.load(c), self.load(d)]
    }

    /// Returns the normals of the contacts of four particles.
    #[inline(always)]
    fn contact_normals_of_four(&self, [a, b, c, d]: [u32; 4]) -> [Vec4; 4] {
        [
            self.contact_normal(a),
            self.contact_normal(b),
            self.contact_normal(c),
            self.contact_normal(d),
        ]
    }
}

/// Copy of the particles of a region, of which the first is `FIRST` or a multiple of [`REGION`] more. That is a power of two,
/// so accesses need no bounds checks.
pub(super) struct PackedRegion<'a, const FIRST: usize> {
    particles: &'a mut [[f32; 4]; REGION],
    /// `None` without contacts.
    normals: Option<&'a [[f32; 4]; REGION]>,
}

impl<const FIRST: usize> ParticleAccess for PackedRegion<'_, FIRST> {
    #[inline(always)]
    fn load(&self, particle: u32) -> Vec4 {
        Vec4::from_array(self.particles[(particle as usize).wrapping_sub(FIRST) % REGION])
    }

    #[inline(always)]
    fn store(&mut self, particle: u32, point: Vec4) {
        self.particles[(particle as usize).wrapping_sub(FIRST) % REGION] = point.to_array();
    }

    #[inline(always)]
    fn in_contact(&self) -> bool {
        self.normals.is_some()
    }

    #[inline(always)]
    fn contact_normal(&self, particle: u32) -> Vec4 {
        match self.normals {
            Some(normals) => normals[(particle as usize).wrapping_sub(FIRST) % REGION].into(),
            None => Vec4::ZERO,
        }
    }
}

/// Copy of any number of particles.
impl ParticleAccess for PackedParticles {
    #[inline(always)]
    fn load(&self, particle: u32) -> Vec4 {
        Vec4::from_array(self.particles[particle as usize])
    }

    #[inline(always)]
    fn store(&mut self, particle: u32, point: Vec4) {
        self.particles[particle as usize] = point.to_array();
    }

    #[inline(always)]
    fn in_contact(&self) -> bool {
        self.in_contact
    }

    #[inline(always)]
    fn contact_normal(&self, particle: u32) -> Vec4 {
        Vec4::from_array(self.normals[particle as usize])
    }
}

/// Accesses the SoA arrays directly.
impl ParticleAccess for Points<'_> {
    #[inline(always)]
    fn load(&self, particle: u32) -> Vec4 {
        let i = particle as usize;
        Vec4::new(self.x[i], self.y[i], self.z[i], self.w[i])
    }

    #[inline(always)]
    fn store(&mut self, particle: u32, point: Vec4) {
        let i = particle as usize;
        self.x[i] = point.x;
        self.y[i] = point.y;
        self.z[i] = point.z;
    }

    #[inline(always)]
    fn in_contact(&self) -> bool {
        self.normals.is_some()
    }

    #[inline(always)]
    fn contact_normal(&self, particle: u32) -> Vec4 {
        let i = particle as usize;
        match self.normals {
            Some([x, y, z]) => Vec4::new(x[i], y[i], z[i], 0.0),
            None => Vec4::ZERO,
        }
    }
}

impl PackedParticles {
    /// Returns a copy of no particles.
    pub(super) const fn new() -> Self {
        Self {
            particles: Vec::new(),
            normals: Vec::new(),
            in_contact: false,
        }
    }

    /// Copies all particles, and the normals of their contacts if there are any and they are wanted.
    pub(super) fn copy(&mut self, workers: &mut Workers, points: &Points, wants_normals: bool) {
        let count = points.w.len();
        // All regions are whole.
        let len = count.next_multiple_of(REGION) + BLOCK;
        for packed in [&mut self.particles, &mut self.normals] {
            if packed.len() < len {
                packed.resize(len, [0.0; 4]);
            }
        }
        let planes = [&*points.x, points.y, points.z, points.w];
        pack(workers, planes, &mut self.particles[..count]);
        let normals = points.normals.filter(|_| wants_normals);
        self.in_contact = normals.is_some();
        if let Some([x, y, z]) = normals {
            pack(workers, [x, y, z, points.w], &mut self.normals[..count]);
        }
    }

    /// Iterates over the regions that begin at the particle `FIRST` and multiples of [`REGION`] behind it.
    pub(super) fn regions<const FIRST: usize>(
        &mut self,
    ) -> impl PartIterator<Item = PackedRegion<'_, FIRST>> {
        let in_contact = self.in_contact;
        let particles = self.particles[FIRST..].as_chunks_mut().0.iter_mut();
        let normals = self.normals[FIRST..].as_chunks().0.iter();
        let regions = particles.zip(normals);
        regions.map(move |(particles, normals)| PackedRegion {
            particles,
            normals: in_contact.then_some(normals),
        })
    }

    /// Copies the positions back.
    pub(super) fn write_back(&self, workers: &mut Workers, points: &mut Points) {
        let parts = self.particles[..points.w.len()].chunks(PARTICLES_PER_PART);
        let planes = [&mut *points.x, &mut *points.y, &mut *points.z];
        let [x, y, z] = planes.map(|plane| plane.chunks_mut(PARTICLES_PER_PART));
        workers.for_each_part(parts.zip(x).zip(y).zip(z), |(((from, x), y), z)| {
            let (fours, tail) = from.as_chunks::<4>();
            let (x, x_tail) = x.as_chunks_mut::<4>();
            let (y, y_tail) = y.as_chunks_mut::<4>();
            let (z, z_tail) = z.as_chunks_mut::<4>();
            for (((from, x), y), z) in fours.iter().zip(x).zip(y).zip(z) {
                let [nx, ny, nz, _] = transpose(from.map(Vec4::from_array)).map(|of| of.to_array());
                (*x, *y, *z) = (nx, ny, nz);
            }
            for (i, from) in tail.iter().enumerate() {
                [x_tail[i], y_tail[i], z_tail[i], _] = *from;
            }
        });
    }
}
