//! Model check of the solver's work sharing: [loom](https://docs.rs/loom) runs it in all orders of threads with few
//! preemptions, with every value that a relaxed load may return, and reports data that two threads use at the same time.

#![allow(missing_docs)]

mod solver;

use loom::{cell::UnsafeCell, model::Builder, thread};
use solver::workers::{Worker, Workers};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Numbers that parts write, observed by loom.
fn numbers<const N: usize>() -> [UnsafeCell<u32>; N] {
    std::array::from_fn(|_| UnsafeCell::new(0))
}

fn increment(number: &mut UnsafeCell<u32>) {
    // With exclusive access this cannot conflict, but loom reports it if the thread had it before that of another ended.
    number.with_mut(|_| ());
}

/// Checks `caller` with this many workers on threads of their own.
fn check(name: &str, workers: usize, caller: fn(&mut Workers)) {
    let begin = std::time::Instant::now();
    let mut model = Builder::new();
    // Few faults need as many to be seen; all orders would take hours.
    model.preemption_bound = Some(if workers == 1 { 3 } else { 2 });
    model.check(move || {
        let mut all = Workers::new();
        let mut threads = Vec::new();
        all.start(workers, |worker: Worker| {
            threads.push(thread::spawn(move || worker.run()));
        });
        caller(&mut all);
        drop(all);
        for thread in threads {
            thread.join().expect("workers do not panic");
        }
    });
    println!("{name}: {:.1} s", begin.elapsed().as_secs_f32());
}

fn two_stages(workers: &mut Workers) {
    let mut numbers = numbers::<2>();
    workers.for_each_part(numbers.iter_mut(), increment);
    workers.for_each_part(numbers.iter_mut().rev(), increment);
    numbers.iter_mut().for_each(increment);
}

fn main() {
    check("one stage, two workers, late or gone", 2, |workers| {
        let mut numbers = numbers::<2>();
        workers.for_each_part(numbers.iter_mut(), increment);
        // The caller has them back.
        numbers.iter_mut().for_each(increment);
    });
    check("two stages back to back", 1, two_stages);
    check("two stages back to back, two workers", 2, two_stages);
    check("a panic in a part", 1, |workers| {
        let mut numbers = numbers::<3>();
        let stage = AssertUnwindSafe(|| {
            workers.for_each_part(numbers.iter_mut().enumerate(), |(i, number)| {
                increment(number);
                if i == 1 {
                    // A panic without its message.
                    resume_unwind(Box::new(()));
                }
            });
        });
        assert!(catch_unwind(stage).is_err());
        numbers.iter_mut().for_each(increment);
        workers.for_each_part(numbers.iter_mut(), increment);
        numbers.iter_mut().for_each(increment);
    });
}
