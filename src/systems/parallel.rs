//! Goes through all cloths, on other threads where that is worth it.

use bevy::{ecs::query::IterQueryData, prelude::*, tasks::ComputeTaskPool};

/// Does the work for each cloth. One cloth alone is not handed to another thread, nor is anything
/// where there is none.
pub(super) fn for_all<D: IterQueryData>(
    cloths: &mut Query<D>,
    work: impl Fn(D::Item<'_, '_>) + Send + Sync + Clone,
) {
    let threads = ComputeTaskPool::try_get().map_or(1, |pool| pool.thread_num());
    if threads > 1 && cloths.iter().nth(1).is_some() {
        cloths.par_iter_mut().for_each(work);
    } else {
        cloths.iter_mut().for_each(work);
    }
}
