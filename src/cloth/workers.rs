//! Iteration over all cloths, on several threads where that is faster.

use crate::{cloth::settings::ClothMaxThreads, solver::Workers};
use bevy::{prelude::*, tasks::ComputeTaskPool};

/// Smallest number of particles for which a single cloth is split over threads. Two threads instead of one took
/// (`measure`, hang, ms per step, minimum of three runs on a 2-core machine with other load): 48² 0.31
/// instead of 0.29, 64² 0.46 instead of 0.50, 96² 0.88 instead of 1.07, 128² 1.39 instead of 1.93.
const MIN_SPLIT_PARTICLES: usize = 8192;

/// Smallest total number of particles for which several threads are used: a step of fewer takes 0.1 to 0.2 ms, and
/// waking a thread a large part of that.
const MIN_PARALLEL_PARTICLES: usize = 1500;

/// Factor on [`MIN_PARALLEL_PARTICLES`] for work that is light compared to a step.
const LIGHT_WORK_FACTOR: usize = 10;

/// A cloth is split if it has more than 1/4 of the particles per thread; otherwise threads take whole cloths,
/// which has less overhead.
const SPLIT_DIVISOR: usize = 4;

/// Threads that work on cloths: the one that runs the system, and some of the compute pool.
#[derive(Resource)]
pub(crate) struct ClothWorkers {
    workers: Workers,
}

impl Default for ClothWorkers {
    fn default() -> Self {
        Self {
            workers: Workers::new(),
        }
    }
}

impl ClothWorkers {
    /// Calls `work` for each cloth. `size` returns its number of particles. Large cloths are split over all
    /// threads, one after the other; of the others each thread takes whole cloths. The results do not depend on
    /// the distribution.
    pub(crate) fn for_each_cloth<T>(
        &mut self,
        max_threads: ClothMaxThreads,
        cloths: impl Iterator<Item = T>,
        size: impl Fn(&T) -> usize,
        work: impl Fn(&mut Workers, T) + Sync,
    ) where
        T: Send,
    {
        let worker_count = worker_count(max_threads);
        let serial = |cloth| work(&mut Workers::serial(), cloth);
        if worker_count == 0 {
            cloths.for_each(serial);
            return;
        }
        let workers = &mut self.workers;
        let mut cloths = cloths;
        // A single cloth is the most common case, and needs no list.
        let Some(first) = cloths.next() else { return };
        let Some(second) = cloths.next() else {
            if size(&first) >= MIN_SPLIT_PARTICLES {
                start_workers(workers, worker_count);
                work(workers, first);
                workers.stop();
            } else {
                serial(first);
            }
            return;
        };
        let mut cloths: Vec<T> = [first, second].into_iter().chain(cloths).collect();
        let total: usize = cloths.iter().map(&size).sum();
        if total < MIN_PARALLEL_PARTICLES {
            cloths.into_iter().for_each(serial);
            return;
        }
        start_workers(workers, worker_count);
        // The largest first, so that no thread starts it last.
        cloths.sort_by_key(|cloth| std::cmp::Reverse(size(cloth)));
        let threads = worker_count + 1;
        let split = |cloth: &T| {
            let size = size(cloth);
            size >= MIN_SPLIT_PARTICLES && size * threads * SPLIT_DIVISOR > total
        };
        let large = cloths.partition_point(split);
        let mut cloths = cloths.into_iter();
        for cloth in cloths.by_ref().take(large) {
            work(workers, cloth);
        }
        workers.for_each_part(cloths, serial);
        workers.stop();
    }

    /// Calls `work` for each cloth, for light work: no cloth is split.
    pub(crate) fn for_each_whole_cloth<T>(
        &mut self,
        max_threads: ClothMaxThreads,
        cloths: impl Iterator<Item = T>,
        size: impl Fn(&T) -> usize,
        work: impl Fn(T) + Sync,
    ) where
        T: Send,
    {
        let mut cloths = cloths;
        let Some(first) = cloths.next() else { return };
        let Some(second) = cloths.next() else {
            return work(first);
        };
        let cloths: Vec<T> = [first, second].into_iter().chain(cloths).collect();
        let worker_count = worker_count(max_threads);
        let total: usize = cloths.iter().map(size).sum();
        if worker_count == 0 || total < MIN_PARALLEL_PARTICLES * LIGHT_WORK_FACTOR {
            cloths.into_iter().for_each(work);
            return;
        }
        start_workers(&mut self.workers, worker_count);
        self.workers.for_each_part(cloths.into_iter(), work);
        self.workers.stop();
    }
}

/// Starts workers on the compute pool.
fn start_workers(workers: &mut Workers, worker_count: usize) {
    if let Some(pool) = ComputeTaskPool::try_get() {
        workers.start(worker_count, |worker| {
            pool.spawn(async move { worker.run() }).detach();
        });
    }
}

/// Returns the number of threads available besides the current one.
fn worker_count(max_threads: ClothMaxThreads) -> usize {
    // The pool has only the current thread.
    if cfg!(target_arch = "wasm32") {
        return 0;
    }
    let pool = ComputeTaskPool::try_get().map_or(0, |pool| pool.thread_num());
    pool.min(max_threads.0.saturating_sub(1))
}
