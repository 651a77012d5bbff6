//! Splits the work of one step over threads.
//!
//! A step is a sequence of *stages* (integrate, relax, collide, …), and a stage is cut into *parts* that may be
//! processed in any order. The thread that steps the cloth, the *caller*, goes through the stages with
//! [`Workers::for_each_part`]. *Workers* on other threads claim parts of the stage that is running:
//!
//! ```text
//!             stage 1, parts 0 to 4    serial code    stage 2, parts 0 to 4
//! caller    |---0---|---1---|--2--|..|=============|---0---|---1---|.........|====
//! worker A  |...|---4---|-----3------|.............|---4---|--------2--------|....
//! worker B  |      (not started yet)      .........|------3------|...........|....
//!           -----------------------------------------------------------------------> time
//!
//! --- processes a part    ... polls for one    === runs serial code    |  begins or ends a part or a stage
//! ```
//!
//! - **Claims.** A thread claims a part by decrementing the atomic number of unclaimed parts. Each part is
//!   processed exactly once. The caller takes parts from the front and workers take them from the back, so a
//!   core mostly gets the same particles in each stage and still finds them in its cache.
//! - **End of a stage.** The caller processes parts until none is unclaimed, then waits for the claimed parts
//!   that workers have not finished, and for nothing else. A worker that starts late, never starts, or returns
//!   between two parts delays no stage. Without workers, the caller processes every part.
//! - **Determinism.** The cut into parts must not depend on the number of threads. Then results do not depend on
//!   it either, nor on which thread processes which part.
//! - **Cost.** Handing over a part takes some tenths of a microsecond; a task per part would take several
//!   microseconds.
//! - **Safety.** Iterators (`chunks_mut` and the like) hand out the data that parts write, under a lock: the
//!   compiler proves that parts do not overlap. It cannot prove that the closure of a stage, which borrows from
//!   the stack of the caller, is not called after the end of the stage. That is the only `unsafe` code of this
//!   file. Its proof is in the documentation of `SharedState`, and `tests/loom` checks it by model.

use super::sync::{
    Arc, AtomicBool, AtomicPtr, AtomicUsize, Instant, Mutex, MutexGuard, Ordering, SPINS,
    spin_loop, yield_now,
};
use std::{
    any::Any,
    mem::forget,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr::null_mut,
    sync::PoisonError,
    time::Duration,
};

/// Runs the stages of a step, on the calling thread alone or with workers.
///
/// Runs one stage at a time: [`for_each_part`](Self::for_each_part) borrows it exclusively.
#[derive(Debug, Default)]
pub struct Workers {
    shared: Option<Arc<SharedState>>,
}

/// Handle with which a thread joins the stages of its [`Workers`]: see [`run`](Self::run).
#[derive(Debug)]
pub struct Worker {
    shared: Arc<SharedState>,
}

/// State that caller and workers share.
///
/// Proof that a call of `job` never outlives the data that the job borrows:
/// - `job` points into the stack frame of the caller, inside [`run_stage`](Self::run_stage), from before
///   `unclaimed` is raised until `run_stage` returns. There is one caller, and it runs one stage at a time.
/// - A thread calls the job only after it has decremented `unclaimed` from above 0. The decrement is one atomic
///   operation, so the claimed part belongs to the stage that is running at that moment, however long ago the
///   thread last read `unclaimed`. The raise releases and the claim acquires, so the thread reads the `job` of
///   that stage.
/// - `unfinished` equals `unclaimed` when the stage begins, and is decremented once per claim, after the call,
///   panic or not. So it stays above 0 while any call runs, and `run_stage` does not return before it is 0.
/// - Nothing in `run_stage` can unwind before that. A panic of the call is caught, and its payload, whose `drop`
///   might panic as well, is not dropped but stored or, if a payload is stored already, leaked.
#[derive(Debug)]
struct SharedState {
    /// Parts of the running stage that no thread has claimed yet.
    unclaimed: CachePadded<AtomicUsize>,
    /// Parts of the running stage that are not finished.
    unfinished: CachePadded<AtomicUsize>,
    job: AtomicPtr<Job>,
    /// Workers must return.
    stopped: AtomicBool,
    /// Number of existing [`Worker`]s.
    worker_count: AtomicUsize,
    /// Payload of the first panic in the running stage.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Keeps a value on cache lines of its own: it is read by all threads, and writes to neighbouring values must not
/// evict it.
#[derive(Debug)]
#[repr(align(128))]
struct CachePadded<T>(T);

/// Type-erased closure that takes one part of the running stage and processes it.
struct Job {
    work: *const (),
    call: unsafe fn(*const (), Role),
}

/// Role of the thread that takes a part.
#[derive(Clone, Copy, Debug)]
enum Role {
    Caller,
    Worker,
}

/// Particles in a part, approximately: some microseconds of work, so that the cost of handing it over is small,
/// and still enough parts in any cloth that is worth splitting.
pub(in crate::solver) const PARTICLES_PER_PART: usize = 4096;

/// Iterator over the parts of a stage.
pub(in crate::solver) trait PartIterator:
    ExactSizeIterator + DoubleEndedIterator + Send
{
}

impl<I: ExactSizeIterator + DoubleEndedIterator + Send> PartIterator for I {}

/// Time without work after which a worker returns.
const IDLE_TIMEOUT: Duration = Duration::from_millis(2);

impl Workers {
    /// Returns a new instance that can start workers.
    pub fn new() -> Self {
        let shared = SharedState {
            unclaimed: CachePadded(AtomicUsize::new(0)),
            unfinished: CachePadded(AtomicUsize::new(0)),
            job: AtomicPtr::new(null_mut()),
            stopped: AtomicBool::new(false),
            worker_count: AtomicUsize::new(0),
            panic: Mutex::new(None),
        };
        Self {
            shared: Some(Arc::new(shared)),
        }
    }

    /// Returns an instance that runs every part on the calling thread. Costs nothing.
    pub fn serial() -> Self {
        Self { shared: None }
    }

    /// Returns whether every part runs on the calling thread.
    pub(crate) fn is_serial(&self) -> bool {
        self.shared.is_none()
    }

    /// Starts workers until there are `wanted`. `spawn` receives each missing [`Worker`] and calls
    /// [`run`](Worker::run) on another thread. No stage waits for that thread to start.
    pub fn start(&mut self, wanted: usize, mut spawn: impl FnMut(Worker)) {
        let Some(shared) = &self.shared else { return };
        shared.stopped.store(false, Ordering::Relaxed);
        for _ in shared.worker_count.load(Ordering::Relaxed)..wanted {
            shared.worker_count.fetch_add(1, Ordering::Relaxed);
            spawn(Worker {
                shared: shared.clone(),
            });
        }
    }

    /// Makes all workers return. A worker that starts late returns at once.
    pub fn stop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.stopped.store(true, Ordering::Relaxed);
        }
    }

    /// Runs a stage: calls `work` once for each part, on any thread and in any order. When it returns, all parts
    /// are finished, and every part of the next stage can read the data that they wrote. If `work` panics, this
    /// panics too, after every thread has left `work`.
    ///
    /// The caller takes parts from the front and workers take them from the back, so a core mostly gets the same
    /// parts in each stage and still finds their data in its cache.
    pub fn for_each_part<I>(&mut self, parts: I, work: impl Fn(I::Item) + Sync)
    where
        I: ExactSizeIterator + DoubleEndedIterator + Send,
    {
        let count = parts.len();
        match &self.shared {
            Some(shared) if count > 1 => {
                let parts = Mutex::new(parts);
                shared.run_stage(count, |role| {
                    let mut parts = lock(&parts);
                    let part = match role {
                        Role::Caller => parts.next(),
                        Role::Worker => parts.next_back(),
                    };
                    drop(parts);
                    if let Some(part) = part {
                        work(part);
                    }
                });
                // Parts that remain if the iterator returned more than its `len`.
                let rest = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
                rest.for_each(work);
            }
            _ => parts.for_each(work),
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Worker {
    /// Processes parts of all stages until [`Workers::stop`] is called, or until no part has been available for
    /// `IDLE_TIMEOUT`.
    pub fn run(self) {
        let shared = &*self.shared;
        'work: while !shared.stopped.load(Ordering::Relaxed) {
            if shared.run_part(Role::Worker) {
                continue;
            }
            for _ in 0..SPINS {
                if shared.run_part(Role::Worker) {
                    continue 'work;
                }
                spin_loop();
            }
            let idle_since = Instant::now();
            while !shared.stopped.load(Ordering::Relaxed) {
                if shared.run_part(Role::Worker) {
                    continue 'work;
                }
                if idle_since.elapsed() > IDLE_TIMEOUT {
                    return;
                }
                yield_now();
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.worker_count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SharedState {
    /// Calls `work` `count` times in all, on this thread and on workers. Only the caller may call this.
    fn run_stage<F: Fn(Role) + Sync>(&self, count: usize, work: F) {
        let mut job = Job {
            work: (&raw const work).cast(),
            call: call::<F>,
        };
        self.job.store(&mut job, Ordering::Relaxed);
        self.unfinished.0.store(count, Ordering::Relaxed);
        self.unclaimed.0.store(count, Ordering::Release);
        while self.run_part(Role::Caller) {}
        let mut spins = 0;
        while self.unfinished.0.load(Ordering::Acquire) != 0 {
            if spins < SPINS {
                spins += 1;
                spin_loop();
            } else {
                yield_now();
            }
        }
        let panic = lock(&self.panic).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Claims a part and processes it. Returns false if every part is claimed.
    #[allow(unsafe_code)]
    fn run_part(&self, role: Role) -> bool {
        let claim = self
            .unclaimed
            .0
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |n| n.checked_sub(1));
        if claim.is_err() {
            return false;
        }
        let job = self.job.load(Ordering::Relaxed);
        let done = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: this thread has claimed a part, so `run_stage` does not return until the decrement of
            // `unfinished` below. Until then `job` is the job of the running stage and points into the stack
            // frame of `run_stage`, and so does `work`, which is the `F: Sync` that `call` was
            // instantiated for. See the proof at `SharedState`.
            unsafe { ((*job).call)((*job).work, role) }
        }));
        if let Err(payload) = done {
            let mut first = lock(&self.panic);
            if first.is_none() {
                *first = Some(payload);
            } else {
                // Not dropped: a panic here would skip the decrement.
                forget(payload);
            }
        }
        self.unfinished.0.fetch_sub(1, Ordering::Release);
        true
    }
}

/// Calls a type-erased `F`.
///
/// # Safety
///
/// `work` must point to a live `F` that this thread may access by shared reference.
#[allow(unsafe_code)]
unsafe fn call<F: Fn(Role) + Sync>(work: *const (), role: Role) {
    // SAFETY: guaranteed by the contract of this function.
    let work = unsafe { &*work.cast::<F>() };
    work(role);
}

/// Locks a mutex, poisoned or not: panics of other threads are handled in `run_stage`.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs tests with any number of threads.
#[cfg(test)]
pub(crate) mod threads {
    use super::Workers;

    /// Numbers of threads that tests compare; 0 runs serially.
    pub(crate) const COUNTS: [usize; 4] = [0, 1, 2, 7];

    /// Calls `work` with [`Workers`] of `count` threads in all; serial for 0.
    pub(crate) fn with<T>(count: usize, work: impl FnOnce(&mut Workers) -> T) -> T {
        if count == 0 {
            return work(&mut Workers::serial());
        }
        let mut workers = Workers::new();
        let mut threads = Vec::new();
        workers.start(count - 1, |worker| {
            threads.push(std::thread::spawn(move || worker.run()));
        });
        let result = work(&mut workers);
        drop(workers);
        for thread in threads {
            thread.join().expect("workers do not panic");
        }
        result
    }
}

#[cfg(test)]
#[path = "workers/tests.rs"]
mod tests;
