//! One list per particle, such as the triangles at it, all in one block of memory.

/// Lists of items, one list per particle.
#[derive(Clone, Debug, Default)]
pub(in crate::solver) struct ParticleLists<T> {
    /// Begin of each list, and the end of the last.
    pub(in crate::solver) first: Vec<u32>,
    /// Items of all lists, one list after the other.
    pub(in crate::solver) all: Vec<T>,
}

impl<T: Copy + Default> ParticleLists<T> {
    /// Replaces the lists: counting sort of these pairs of particle and item, in their order.
    pub(in crate::solver) fn fill<I: Iterator<Item = (u32, T)>>(
        &mut self,
        particles: usize,
        items: impl Fn() -> I,
    ) {
        let Self { first, all } = self;
        first.clear();
        first.resize(particles + 2, 0);
        for (i, _) in items() {
            first[i as usize + 2] += 1;
        }
        let mut sum = 0;
        for begin in &mut *first {
            sum += *begin;
            *begin = sum;
        }
        all.resize(sum as usize, T::default());
        // The begin of list i stands one place further here, and becomes its end.
        for (i, item) in items() {
            let end = &mut first[i as usize + 1];
            all[*end as usize] = item;
            *end += 1;
        }
    }

    fn range(&self, particle: u32) -> std::ops::Range<usize> {
        let ends = self.first.get(particle as usize..particle as usize + 2);
        ends.map_or(0..0, |ends| ends[0] as usize..ends[1] as usize)
    }

    /// Returns the list of a particle; empty for particles without one.
    pub(in crate::solver) fn for_particle(&self, particle: u32) -> &[T] {
        &self.all[self.range(particle)]
    }

    /// Mutable version of [`for_particle`](Self::for_particle).
    pub(in crate::solver) fn for_particle_mut(&mut self, particle: u32) -> &mut [T] {
        let range = self.range(particle);
        &mut self.all[range]
    }
}
