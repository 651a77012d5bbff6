//! Times several functions in turns, so that other load on the machine affects all of them.

use std::time::{Duration, Instant};

/// Minimum length of a turn: after a switch, each function first has to bring its data back into the cache.
const TURN: Duration = Duration::from_millis(15);

/// Durations of a run, ms.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) fastest: f64,
    pub(crate) median: f64,
}

/// Runs the functions in turns until `seconds` are over, at least twice each; each returns its duration, ms. As a
/// test, without cargo's `--bench`, each runs only as often as necessary to check that it works.
pub(crate) fn take_turns<const N: usize>(
    seconds: f64,
    mut functions: [&mut dyn FnMut() -> f64; N],
) -> [Times; N] {
    let mut times = [const { Vec::new() }; N];
    let began = Instant::now();
    let (enough, turn) = if is_bench() {
        (Duration::from_secs_f64(seconds), TURN)
    } else {
        (Duration::ZERO, Duration::ZERO)
    };
    for round in 0.. {
        if round >= 2 && began.elapsed() >= enough {
            break;
        }
        for (function, times) in functions.iter_mut().zip(&mut times) {
            let turn_began = Instant::now();
            // The first run of a turn warms the cache.
            function();
            while {
                times.push(function());
                turn_began.elapsed() < turn
            } {}
        }
    }
    times.map(summary)
}

/// Returns the duration of `work`, ms.
pub(crate) fn timed(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64() * 1e3
}

fn summary(mut times: Vec<f64>) -> Times {
    times.sort_by(f64::total_cmp);
    Times {
        fastest: times[0],
        median: times[times.len() / 2],
    }
}

/// Returns whether cargo runs benches, not tests.
pub(crate) fn is_bench() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}
