//! Goes through all cloths, on several threads where that is worth it.

use crate::{settings::ClothThreads, solver::Leader};
use bevy::{prelude::*, tasks::ComputeTaskPool};

/// A cloth of fewer particles is not split over threads. Two threads instead of one took (`measure`,
/// hang, ms a step, smallest of three runs on a 2-core machine that had other work too): 48² 0.31
/// instead of 0.29, 64² 0.46 instead of 0.50, 96² 0.88 instead of 1.07, 128² 1.39 instead of 1.93.
const SPLIT: usize = 8192;

/// Fewer particles in all are not worth another thread: their step takes 0.1 ms or two, a good part of
/// which it would take the other one to wake up.
const WORTH: usize = 1500;

/// What is less work than a step is worth another thread for so many times as many particles.
const LIGHTER: usize = 10;

/// A cloth is split when it has more particles than this share of what each thread has to do;
/// otherwise threads take whole cloths, which costs less.
const LARGE: usize = 4;

/// The threads that work on cloths: the one that runs the systems and, while it does, some of the
/// compute pool.
#[derive(Resource)]
pub(crate) struct ClothCrew {
    leader: Leader,
}

impl Default for ClothCrew {
    fn default() -> Self {
        Self {
            leader: Leader::new(),
        }
    }
}

impl ClothCrew {
    /// Does the work for each cloth. `size` says how many particles it has. What is large is shared
    /// by all threads, one cloth after the other; of the rest each thread takes whole cloths. Who does
    /// what has no influence on results.
    pub(super) fn for_all<T>(
        &mut self,
        most: ClothThreads,
        cloths: impl Iterator<Item = T>,
        size: impl Fn(&T) -> usize,
        work: impl Fn(&mut Leader, T) + Sync,
    ) where
        T: Send,
    {
        let helpers = helpers(most);
        let alone = |cloth| work(&mut Leader::alone(), cloth);
        if helpers == 0 {
            cloths.for_each(alone);
            return;
        }
        let leader = &mut self.leader;
        let mut cloths = cloths;
        // One cloth is the most common case; it needs no list.
        let Some(first) = cloths.next() else { return };
        let Some(second) = cloths.next() else {
            if size(&first) >= SPLIT {
                gather(leader, helpers);
                work(leader, first);
                leader.dismiss();
            } else {
                alone(first);
            }
            return;
        };
        let mut cloths: Vec<T> = [first, second].into_iter().chain(cloths).collect();
        let total: usize = cloths.iter().map(&size).sum();
        if total < WORTH {
            cloths.into_iter().for_each(alone);
            return;
        }
        gather(leader, helpers);
        // The largest first, so that nobody comes to it last.
        cloths.sort_by_key(|cloth| std::cmp::Reverse(size(cloth)));
        let threads = helpers + 1;
        let split = |cloth: &T| {
            let size = size(cloth);
            size >= SPLIT && size * threads * LARGE > total
        };
        let large = cloths.partition_point(split);
        let mut cloths = cloths.into_iter();
        for cloth in cloths.by_ref().take(large) {
            work(leader, cloth);
        }
        leader.each(cloths, alone);
        leader.dismiss();
    }

    /// The same for light work, of which no cloth is ever split.
    pub(super) fn for_whole<T>(
        &mut self,
        most: ClothThreads,
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
        let helpers = helpers(most);
        let total: usize = cloths.iter().map(size).sum();
        if helpers == 0 || total < WORTH * LIGHTER {
            cloths.into_iter().for_each(work);
            return;
        }
        gather(&mut self.leader, helpers);
        self.leader.each(cloths.into_iter(), work);
        self.leader.dismiss();
    }
}

/// Calls helpers from the compute pool.
fn gather(leader: &mut Leader, helpers: usize) {
    if let Some(pool) = ComputeTaskPool::try_get() {
        leader.gather(helpers, |helper| {
            pool.spawn(async move { helper.help() }).detach();
        });
    }
}

/// How many threads can help the one that asks.
fn helpers(most: ClothThreads) -> usize {
    // There the pool is this thread.
    if cfg!(target_arch = "wasm32") {
        return 0;
    }
    let pool = ComputeTaskPool::try_get().map_or(0, |pool| pool.thread_num());
    pool.min(most.0.saturating_sub(1))
}
