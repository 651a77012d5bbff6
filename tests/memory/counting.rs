//! Allocator that counts.

// The soak needs only `live`.
#![allow(unsafe_code, dead_code)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

#[global_allocator]
static COUNTING: Counting = Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every request is passed to the system's allocator unchanged and its result is returned unchanged, so its
// guarantees hold here too. Counting only touches atomics: it neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller upholds the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_sub(layout.size(), Relaxed);
        grow(size);
        // SAFETY: as above; `at` came from the system's allocator.
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

fn grow(bytes: usize) {
    CALLS.fetch_add(1, Relaxed);
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

/// Returns the number of bytes that all threads hold now.
pub(crate) fn live() -> usize {
    LIVE.load(Relaxed)
}

/// Returns the peak number of bytes since the last call, and resets the peak to the bytes held now.
pub(crate) fn peak() -> usize {
    PEAK.swap(live(), Relaxed)
}

/// Returns the number of allocations and reallocations of all threads so far.
pub(crate) fn allocations() -> usize {
    CALLS.load(Relaxed)
}

/// Returns the number of allocations and reallocations of all threads while `work` ran.
pub(crate) fn allocations_during(work: impl FnOnce()) -> usize {
    let before = allocations();
    work();
    allocations() - before
}
