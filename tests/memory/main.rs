//! Memory use of a cloth, and the absence of allocations in steady state.
//!
//! A single test, since the counters include all threads, and the test harness allocates when a test begins or
//! ends.

mod counting;
mod plugin;
mod step;

#[path = "../common/headless.rs"]
mod headless;

#[test]
fn a_cloth_takes_little_memory_and_allocates_none_while_it_moves() {
    step::allocates_nothing();
    plugin::allocates_nothing();
    plugin::keeps_few_bytes_for_each_particle();
    plugin::keeps_nothing_of_cloths_that_are_gone();
    plugin::builds_in_linear_time();
}
