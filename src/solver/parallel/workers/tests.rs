use super::*;
use std::{sync::atomic::AtomicU32, thread};

#[test]
fn every_part_is_processed_once() {
    for count in threads::COUNTS {
        threads::with(count, |workers| {
            let mut numbers = vec![0_u32; 1000];
            for stage in 0..300 {
                // Parts of all lengths, from a single number to all numbers in one part.
                workers.for_each_part(numbers.chunks_mut(1 + stage * 7 % 1100), |part| {
                    part.iter_mut().for_each(|number| *number += 1);
                });
            }
            assert!(numbers.iter().all(|&number| number == 300));
            workers.for_each_part(0..0_u32, |_| panic!("there is no part"));
        });
    }
}

/// Each stage reads data that other threads wrote in the stage before.
#[test]
fn a_stage_sees_the_writes_of_the_stage_before() {
    let run = |count| {
        threads::with(count, |workers| {
            let mut now: Vec<u64> = (0..500).collect();
            let mut next = now.clone();
            for _ in 0..2000 {
                workers.for_each_part(next.chunks_mut(23).enumerate(), |(number, part)| {
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

/// An iterator that returns fewer or more parts than its `len` causes no hang and loses no part.
#[test]
fn iterators_with_a_wrong_len_do_no_harm() {
    struct WrongLen(std::ops::Range<u32>, usize);
    impl Iterator for WrongLen {
        type Item = u32;
        fn next(&mut self) -> Option<u32> {
            self.0.next()
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (self.1, Some(self.1))
        }
    }
    impl ExactSizeIterator for WrongLen {}
    impl DoubleEndedIterator for WrongLen {
        fn next_back(&mut self) -> Option<u32> {
            self.0.next_back()
        }
    }
    for len in [0, 1, 10, 100, 500] {
        threads::with(3, |workers| {
            let sum = AtomicU32::new(0);
            workers.for_each_part(WrongLen(0..101, len), |i| {
                sum.fetch_add(i, Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), 5050);
        });
    }
}

#[test]
fn a_panic_reaches_the_caller_without_a_hang() {
    for count in threads::COUNTS {
        threads::with(count, |workers| {
            for bad in [0, 17, 99] {
                let panics = catch_unwind(AssertUnwindSafe(|| {
                    workers.for_each_part(0..100, |i| {
                        if i == bad {
                            resume_unwind(Box::new("bad part"));
                        }
                    });
                }));
                let payload = panics.expect_err("it must get out");
                assert_eq!(payload.downcast_ref::<&str>(), Some(&"bad part"));
            }
            // Later stages run as before.
            let sum = AtomicU32::new(0);
            workers.for_each_part(0..100, |i| {
                sum.fetch_add(i, Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), 4950);
        });
    }
}

/// Payloads of panics may panic when they are dropped. Only the first leaves the stage.
#[test]
fn the_first_of_several_panics_reaches_the_caller_without_a_hang() {
    struct Payload(u32);
    impl Drop for Payload {
        fn drop(&mut self) {
            resume_unwind(Box::new("dropped"));
        }
    }
    for count in threads::COUNTS {
        threads::with(count, |workers| {
            let panics = catch_unwind(AssertUnwindSafe(|| {
                workers.for_each_part(0..100, |i| {
                    resume_unwind(Box::new(Payload(i)));
                });
            }));
            let payload = panics.expect_err("it must get out");
            let number = payload.downcast_ref::<Payload>().map(|payload| payload.0);
            forget(payload);
            assert!(number.is_some());
            if count < 2 {
                assert_eq!(number, Some(0));
            }
            // Later stages run as before.
            let sum = AtomicU32::new(0);
            workers.for_each_part(0..100, |i| {
                sum.fetch_add(i, Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), 4950);
        });
    }
}

#[test]
fn workers_that_never_start_delay_no_stage_and_late_ones_return_at_once() {
    let mut workers = Workers::new();
    let mut waiting = Vec::new();
    workers.start(3, |worker| waiting.push(worker));
    let mut numbers = [0; 64];
    workers.for_each_part(numbers.iter_mut(), |number| *number += 1);
    assert_eq!(numbers, [1; 64]);
    // Three exist already, though none runs yet: no more are spawned.
    workers.start(3, |_| panic!("there are three"));
    workers.stop();
    waiting.drain(..).for_each(Worker::run);
    workers.start(2, |worker| waiting.push(worker));
    assert_eq!(waiting.len(), 2);
}

#[test]
fn idle_workers_return() {
    let mut workers = Workers::new();
    let mut idle = None;
    workers.start(1, |worker| {
        idle = Some(thread::spawn(move || worker.run()));
    });
    // Returns without a call of `stop`.
    idle.expect("it was spawned")
        .join()
        .expect("it does not panic");
    let mut spawned = 0;
    workers.start(1, |_| spawned += 1);
    assert_eq!(spawned, 1);
}

/// Both threads take part: the caller waits in its part until the worker has begun one.
#[test]
fn workers_process_parts() {
    threads::with(2, |workers| {
        let own = thread::current().id();
        let joined = AtomicBool::new(false);
        workers.for_each_part(0..2, |_| {
            if thread::current().id() != own {
                joined.store(true, Ordering::Relaxed);
            }
            let began = Instant::now();
            while !joined.load(Ordering::Relaxed) && began.elapsed().as_secs() < 20 {
                thread::yield_now();
            }
        });
        assert!(joined.into_inner());
    });
}
