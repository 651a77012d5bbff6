//! How much memory a cloth takes, and that it asks for none once it is under way.
//!
//! All of it is one test: the count is of all threads, and the test harness allocates too when a test
//! ends or begins.

mod counting;
mod plugin;
mod step;

#[path = "../common/headless.rs"]
mod headless;

#[test]
fn a_cloth_takes_little_memory_and_asks_for_none_while_it_moves() {
    step::asks_for_nothing();
    plugin::asks_for_nothing();
    plugin::keeps_few_bytes_for_each_particle();
    plugin::builds_a_million_particles_soon();
}
