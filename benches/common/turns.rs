//! Times several ways of doing things by turns, so that what else the machine does hits all of them.

use std::time::{Duration, Instant};

/// A turn takes at least so long: what one way has in the cache, the next one finds gone, and each is
/// to run with its own there.
const TURN: Duration = Duration::from_millis(15);

/// What one run takes, ms.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) fastest: f64,
    pub(crate) median: f64,
}

/// Lets each way run by turns until `seconds` are over, at least twice; each says what it took, ms. As
/// a test, without cargo's `--bench`, each runs only just often enough to see that it works.
pub(crate) fn take_turns<const N: usize>(
    seconds: f64,
    mut ways: [&mut dyn FnMut() -> f64; N],
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
        for (way, times) in ways.iter_mut().zip(&mut times) {
            let turn_began = Instant::now();
            // The first run of a turn brings the cache back.
            way();
            while {
                times.push(way());
                turn_began.elapsed() < turn
            } {}
        }
    }
    times.map(summary)
}

/// What it takes to do this, ms.
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

/// Whether cargo runs benches, not tests.
pub(crate) fn is_bench() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}
