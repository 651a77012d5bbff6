//! Threads that share the work of one step.
//!
//! A step is a sequence of phases, and a phase a number of parts that may be worked on in any order.
//! The [`Leader`] goes through the phases; helpers, if there are any, take parts of the one that is
//! running. Who takes a part first claims it, by counting down what is left. When nothing is left to
//! claim, the leader waits for the claimed parts that helpers are still working on, and for nothing
//! else: a helper that comes late, or never, or goes away between two parts, holds nobody up, and one
//! leader alone gets everything done.
//!
//! Handing over costs some tenths of a microsecond, where a task for each part would cost several.
//! How a phase is cut into parts must not depend on the number of threads; then nothing else does.
//!
//! What the parts write is handed out by iterators (`chunks_mut` and the like), under a lock: that
//! they do not overlap is for the compiler to prove. The only thing it cannot see is that the work of
//! a phase, which borrows from the leader's stack, is not called any more when the phase is over. The
//! only `unsafe` of this file is about that, and its proof is in `Crew`.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr::null_mut,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Goes through the phases of a step, alone or with helpers.
///
/// There is one for each crew, and it can run one phase at a time: [`each`](Self::each) borrows it
/// exclusively.
#[derive(Debug, Default)]
pub struct Leader {
    crew: Option<Arc<Crew>>,
}

/// A thread's way into a crew: see [`help`](Self::help).
#[derive(Debug)]
pub struct Helper {
    crew: Arc<Crew>,
}

/// What leader and helpers share.
///
/// Why a call of `job` never outlives what it borrows:
/// - `job` points to something on the leader's stack, inside [`run`](Self::run), from before
///   `unclaimed` is raised until `run` returns. There is one leader, and it runs one phase at a time.
/// - A thread calls the job only after it has counted `unclaimed` down from more than 0. That is one
///   atomic step, so what it claims is a part of the phase that is running at that moment, however
///   long ago it last looked. Raising releases and claiming acquires, so it sees the `job` of that
///   phase.
/// - `unfinished` is as great as `unclaimed` when the phase begins, and is counted down once for each
///   claim, when the call is over, panic or not. So it stays above 0 while any call runs, and `run`
///   does not return before it is 0. Nothing in `run` can unwind before that.
#[derive(Debug)]
struct Crew {
    /// Parts of the running phase that nobody has claimed yet.
    unclaimed: Apart<AtomicUsize>,
    /// Parts of the running phase that are not done.
    unfinished: Apart<AtomicUsize>,
    job: AtomicPtr<Job>,
    /// Helpers may go.
    over: AtomicBool,
    /// How many [`Helper`]s there are.
    helpers: AtomicUsize,
    /// What a part panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Keeps what many threads look at away from what others write.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

/// Takes a part of the running phase and works on it.
struct Job {
    work: *const (),
    call: unsafe fn(*const (), Who),
}

/// Who takes a part.
#[derive(Clone, Copy, Debug)]
enum Who {
    Leader,
    Helper,
}

/// About so many particles make a part: some microseconds, so that handing it over costs little, and
/// enough parts of a cloth that is worth being shared.
pub(super) const PART: usize = 4096;

/// What a phase can be cut into.
pub(super) trait Parts: ExactSizeIterator + DoubleEndedIterator + Send {}

impl<I: ExactSizeIterator + DoubleEndedIterator + Send> Parts for I {}

/// How often a thread looks again at once before it lets others on its core go first: longer than most
/// phases that the leader has for itself.
const SPINS: u32 = 2000;

/// A helper that has found nothing to do for so long goes.
const PATIENCE: Duration = Duration::from_millis(2);

impl Leader {
    /// One that may be given helpers.
    pub fn new() -> Self {
        let crew = Crew {
            unclaimed: Apart(AtomicUsize::new(0)),
            unfinished: Apart(AtomicUsize::new(0)),
            job: AtomicPtr::new(null_mut()),
            over: AtomicBool::new(false),
            helpers: AtomicUsize::new(0),
            panic: Mutex::new(None),
        };
        Self {
            crew: Some(Arc::new(crew)),
        }
    }

    /// One that does everything itself. Costs nothing.
    pub fn alone() -> Self {
        Self { crew: None }
    }

    /// Whether it never has helpers.
    pub fn is_alone(&self) -> bool {
        self.crew.is_none()
    }

    /// Sees to it that there are `wanted` helpers: `send` is given each that is missing, to call its
    /// [`help`](Helper::help) on a thread of its own. Nobody waits for it to get there.
    pub fn gather(&mut self, wanted: usize, mut send: impl FnMut(Helper)) {
        let Some(crew) = &self.crew else { return };
        crew.over.store(false, Ordering::Relaxed);
        for _ in crew.helpers.load(Ordering::Relaxed)..wanted {
            crew.helpers.fetch_add(1, Ordering::Relaxed);
            send(Helper { crew: crew.clone() });
        }
    }

    /// Sends all helpers away. Those that are late go as soon as they come.
    pub fn dismiss(&mut self) {
        if let Some(crew) = &self.crew {
            crew.over.store(true, Ordering::Relaxed);
        }
    }

    /// Runs a phase: does `work` for each part, on whatever thread, in whatever order. When it
    /// returns, all is done, and what the parts have written can be read by all parts of the next
    /// phase. If `work` panics, so does this, after all threads are out of it.
    ///
    /// The leader takes parts from the front and helpers from the back: what a core had in one phase,
    /// and still has in its cache, it mostly gets in the next.
    pub fn each<I>(&mut self, parts: I, work: impl Fn(I::Item) + Sync)
    where
        I: ExactSizeIterator + DoubleEndedIterator + Send,
    {
        let count = parts.len();
        match &self.crew {
            Some(crew) if count > 1 => {
                let parts = Mutex::new(parts);
                crew.run(count, |who| {
                    let mut parts = lock(&parts);
                    let part = match who {
                        Who::Leader => parts.next(),
                        Who::Helper => parts.next_back(),
                    };
                    drop(parts);
                    if let Some(part) = part {
                        work(part);
                    }
                });
                // What is left of an iterator that counts badly.
                let rest = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
                rest.for_each(work);
            }
            _ => parts.for_each(work),
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.dismiss();
    }
}

impl Helper {
    /// Takes part in the phases until the leader says that it is over, or nothing has been to do for
    /// a while.
    pub fn help(self) {
        let crew = &*self.crew;
        'work: while !crew.over.load(Ordering::Relaxed) {
            if crew.take(Who::Helper) {
                continue;
            }
            for _ in 0..SPINS {
                if crew.take(Who::Helper) {
                    continue 'work;
                }
                std::hint::spin_loop();
            }
            let idle_since = Instant::now();
            while !crew.over.load(Ordering::Relaxed) {
                if crew.take(Who::Helper) {
                    continue 'work;
                }
                if idle_since.elapsed() > PATIENCE {
                    return;
                }
                std::thread::yield_now();
            }
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.crew.helpers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Crew {
    /// Has `work` called `count` times. Only the leader may call this.
    fn run<F: Fn(Who) + Sync>(&self, count: usize, work: F) {
        let mut job = Job {
            work: (&raw const work).cast(),
            call: call::<F>,
        };
        self.job.store(&mut job, Ordering::Relaxed);
        self.unfinished.0.store(count, Ordering::Relaxed);
        self.unclaimed.0.store(count, Ordering::Release);
        while self.take(Who::Leader) {}
        let mut spins = 0;
        while self.unfinished.0.load(Ordering::Acquire) != 0 {
            if spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        let panic = lock(&self.panic).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Claims a part, if one is left, and works on it.
    #[allow(unsafe_code)]
    fn take(&self, who: Who) -> bool {
        let claim = self
            .unclaimed
            .0
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |n| n.checked_sub(1));
        if claim.is_err() {
            return false;
        }
        let job = self.job.load(Ordering::Relaxed);
        let done = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: we have claimed a part, so until we count `unfinished` down, `run` does not
            // return: `job` is that of its phase and points to its stack, and so does what `call` is
            // given, which is the `F: Sync` that it was made for. See `Crew`.
            unsafe { ((*job).call)((*job).work, who) }
        }));
        if let Err(panic) = done {
            *lock(&self.panic) = Some(panic);
        }
        self.unfinished.0.fetch_sub(1, Ordering::Release);
        true
    }
}

/// Calls an `F` without knowing its type.
///
/// # Safety
///
/// `work` must point to an `F`, which this thread may share.
#[allow(unsafe_code)]
unsafe fn call<F: Fn(Who) + Sync>(work: *const (), who: Who) {
    // SAFETY: the caller says so.
    let work = unsafe { &*work.cast::<F>() };
    work(who);
}

/// What is behind a lock. A panic of another thread is dealt with elsewhere.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs tests with any number of threads.
#[cfg(test)]
pub(crate) mod threads {
    use super::Leader;

    /// The numbers of threads that tests compare.
    pub(crate) const COUNTS: [usize; 4] = [0, 1, 2, 7];

    /// Lends a leader with helpers, so that there are `count` threads; alone for 0.
    pub(crate) fn with<T>(count: usize, work: impl FnOnce(&mut Leader) -> T) -> T {
        if count == 0 {
            return work(&mut Leader::alone());
        }
        let mut leader = Leader::new();
        let mut threads = Vec::new();
        leader.gather(count - 1, |helper| {
            threads.push(std::thread::spawn(move || helper.help()));
        });
        let result = work(&mut leader);
        drop(leader);
        for thread in threads {
            thread.join().expect("helpers do not panic");
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::atomic::AtomicU32, thread};

    #[test]
    fn every_part_is_worked_on_once() {
        for count in threads::COUNTS {
            threads::with(count, |leader| {
                let mut numbers = vec![0_u32; 1000];
                for phase in 0..300 {
                    // All lengths of parts, also one part and one number in each.
                    leader.each(numbers.chunks_mut(1 + phase * 7 % 1100), |part| {
                        part.iter_mut().for_each(|number| *number += 1);
                    });
                }
                assert!(numbers.iter().all(|&number| number == 300));
                leader.each(0..0_u32, |_| panic!("there is no part"));
            });
        }
    }

    /// Each phase reads what others wrote in the one before.
    #[test]
    fn phases_see_each_other() {
        let run = |count| {
            threads::with(count, |leader| {
                let mut now: Vec<u64> = (0..500).collect();
                let mut next = now.clone();
                for _ in 0..2000 {
                    leader.each(next.chunks_mut(23).enumerate(), |(number, part)| {
                        for (k, value) in part.iter_mut().enumerate() {
                            let i = number * 23 + k;
                            let (left, right) = (now[(i + 499) % 500], now[(i + 1) % 500]);
                            *value = left.wrapping_mul(3) ^ right.wrapping_add(now[i] >> 3);
                        }
                    });
                    std::mem::swap(&mut now, &mut next);
                }
                now
            })
        };
        let expected = run(0);
        for count in threads::COUNTS {
            assert_eq!(run(count), expected, "{count} threads");
        }
    }

    /// An iterator that stops where it said there was more, or goes on, hangs nobody and loses
    /// nothing.
    #[test]
    fn iterators_that_count_badly_do_no_harm() {
        struct Liar(std::ops::Range<u32>, usize);
        impl Iterator for Liar {
            type Item = u32;
            fn next(&mut self) -> Option<u32> {
                self.0.next()
            }
            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.1, Some(self.1))
            }
        }
        impl ExactSizeIterator for Liar {}
        impl DoubleEndedIterator for Liar {
            fn next_back(&mut self) -> Option<u32> {
                self.0.next_back()
            }
        }
        for says in [0, 1, 10, 100, 500] {
            threads::with(3, |leader| {
                let sum = AtomicU32::new(0);
                leader.each(Liar(0..101, says), |i| {
                    sum.fetch_add(i, Ordering::Relaxed);
                });
                assert_eq!(sum.into_inner(), 5050);
            });
        }
    }

    #[test]
    fn a_panic_reaches_the_leader_and_nobody_hangs() {
        for count in threads::COUNTS {
            threads::with(count, |leader| {
                for bad in [0, 17, 99] {
                    let panics = catch_unwind(AssertUnwindSafe(|| {
                        leader.each(0..100, |i| {
                            if i == bad {
                                resume_unwind(Box::new("bad part"));
                            }
                        });
                    }));
                    let why = panics.expect_err("it must get out");
                    assert_eq!(why.downcast_ref::<&str>(), Some(&"bad part"));
                }
                // The crew is as good as before.
                let sum = AtomicU32::new(0);
                leader.each(0..100, |i| {
                    sum.fetch_add(i, Ordering::Relaxed);
                });
                assert_eq!(sum.into_inner(), 4950);
            });
        }
    }

    #[test]
    fn helpers_that_never_come_are_not_waited_for_and_late_ones_go_at_once() {
        let mut leader = Leader::new();
        let mut waiting = Vec::new();
        leader.gather(3, |helper| waiting.push(helper));
        let mut numbers = [0; 64];
        leader.each(numbers.iter_mut(), |number| *number += 1);
        assert_eq!(numbers, [1; 64]);
        // They are still on their way: nobody else is sent for.
        leader.gather(3, |_| panic!("there are three"));
        leader.dismiss();
        waiting.drain(..).for_each(Helper::help);
        leader.gather(2, |helper| waiting.push(helper));
        assert_eq!(waiting.len(), 2);
    }

    #[test]
    fn idle_helpers_go() {
        let mut leader = Leader::new();
        let mut idle = None;
        leader.gather(1, |helper| {
            idle = Some(thread::spawn(move || helper.help()));
        });
        // Without a word from the leader.
        idle.expect("it was sent")
            .join()
            .expect("it does not panic");
        let mut sent = 0;
        leader.gather(1, |_| sent += 1);
        assert_eq!(sent, 1);
    }

    /// Both threads take part: the leader waits in its part for the helper to have had one.
    #[test]
    fn helpers_help() {
        threads::with(2, |leader| {
            let own = thread::current().id();
            let helped = AtomicBool::new(false);
            leader.each(0..2, |_| {
                if thread::current().id() != own {
                    helped.store(true, Ordering::Relaxed);
                }
                let began = Instant::now();
                while !helped.load(Ordering::Relaxed) && began.elapsed().as_secs() < 20 {
                    thread::yield_now();
                }
            });
            assert!(helped.into_inner());
        });
    }
}
