//! Types by which threads communicate. `tests/loom` compiles `workers` with those of loom instead, which run it in all
//! orders that threads may take.

pub(super) use std::{
    hint::spin_loop,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering},
    },
    thread::yield_now,
    time::Instant,
};

/// Polls before a thread yields its core to other threads: longer than most of the serial code between stages.
pub(super) const SPINS: u32 = 2000;
