//! How many instructions it takes, counted by valgrind: figures that noise cannot touch.
//!
//! ```sh
//! cargo install gungraun-runner --version 0.20.0
//! cargo bench -p bevy_drape_instructions
//! ```
//!
//! Valgrind knows no AVX-512, so that AVX2 is the best level here. An instruction is no unit of time: a
//! division counts as much as an addition, and eight lanes as much as one. Compare a case with itself
//! before a change; gungraun shows the difference to the last run. `sse2` is the baseline of x86-64.

#[expect(dead_code, reason = "measure needs more")]
#[path = "../../examples/measure/scene.rs"]
mod scene;
#[path = "../common/tutorial.rs"]
mod tutorial;

use std::{
    env,
    process::{Command, Stdio},
};

fn main() {
    // Gungraun starts this program again, under valgrind, with arguments of its own.
    if !env::args().any(|argument| argument == "--gungraun-run") {
        let runner = option_env!("GUNGRAUN_RUNNER").unwrap_or("gungraun-runner");
        for (program, how) in [
            ("valgrind", "it comes with most Linux distributions"),
            (
                runner,
                "`cargo install gungraun-runner --version 0.20.0` installs it",
            ),
        ] {
            if !starts(program) {
                println!("instructions are not counted: there is no {program} here; {how}");
                return;
            }
        }
    }
    counted::run();
}

/// Whether there is such a program.
fn starts(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// What is counted. A module, because the macro brings a `main` of its own.
mod counted {
    use crate::{
        scene::{Crew, Form, Plan, Scene, Stage},
        tutorial::Tutorial,
    };
    use bevy_drape::solver::{self, Relaxation, SimdLevel, Strength, ThreadSolver};
    use gungraun::{Callgrind, prelude::*};
    use std::hint::black_box;

    const SIDE: u32 = 64;
    /// Passes over all constraints.
    const ITERATIONS: u32 = 10;
    /// Steps that come before: the falling cloth lies, on ball and floor.
    const STEPS: u32 = 120;

    pub(super) fn run() {
        main();
    }

    fn stage(scene: Scene, mesh: Form, level: SimdLevel) -> Stage {
        let plan = Plan {
            side: SIDE,
            mesh,
            ..scene.plan()
        };
        let mut stage = plan.build();
        let mut alone = Crew::of(1);
        for _ in 0..STEPS {
            assert!(alone.step(&mut stage), "a number was not finite");
        }
        assert!(level.force(), "this processor has no {level:?}");
        stage
    }

    fn tutorial() -> Tutorial {
        let stage = Scene::Hang.plan().build();
        Tutorial::of(&stage.particles, &stage.constraints)
    }

    #[library_benchmark]
    #[bench::ten_passes(setup = tutorial)]
    fn tutorials_loop(mut tutorial: Tutorial) {
        tutorial.relax(ITERATIONS);
    }

    fn hanging(mesh: Form, level: SimdLevel, threads: ThreadSolver) -> (Stage, Relaxation) {
        let mut stage = stage(Scene::Hang, mesh, level);
        stage.constraints.prepare(&stage.particles);
        let by = Relaxation {
            compliance: stage.settings.compliance,
            iterations: ITERATIONS,
            dt: stage.settings.dt / stage.settings.substeps as f32,
            strength: Strength::default(),
            threads,
            to_come: 0,
            loads: false,
        };
        (stage, by)
    }

    #[library_benchmark]
    #[bench::direct_grid_scalar(args = (Form::Grid, SimdLevel::Scalar, ThreadSolver::Direct), setup = hanging)]
    #[bench::direct_grid_sse2(args = (Form::Grid, SimdLevel::Baseline, ThreadSolver::Direct), setup = hanging)]
    #[bench::direct_grid_avx2(args = (Form::Grid, SimdLevel::Avx2, ThreadSolver::Direct), setup = hanging)]
    #[bench::direct_no_grid_avx2(args = (Form::General, SimdLevel::Avx2, ThreadSolver::Direct), setup = hanging)]
    #[bench::relaxed_grid_scalar(args = (Form::Grid, SimdLevel::Scalar, ThreadSolver::Relaxation), setup = hanging)]
    #[bench::relaxed_grid_sse2(args = (Form::Grid, SimdLevel::Baseline, ThreadSolver::Relaxation), setup = hanging)]
    #[bench::relaxed_grid_avx2(args = (Form::Grid, SimdLevel::Avx2, ThreadSolver::Relaxation), setup = hanging)]
    #[bench::relaxed_no_grid_avx2(args = (Form::General, SimdLevel::Avx2, ThreadSolver::Relaxation), setup = hanging)]
    fn ten_passes((mut stage, by): (Stage, Relaxation)) -> Stage {
        solver::relax(&mut stage.particles, &mut stage.constraints, &by);
        black_box(stage)
    }

    #[library_benchmark]
    #[bench::hang_grid_scalar(args = (Scene::Hang, Form::Grid, SimdLevel::Scalar), setup = stage)]
    #[bench::hang_grid_avx2(args = (Scene::Hang, Form::Grid, SimdLevel::Avx2), setup = stage)]
    #[bench::hang_no_grid_avx2(args = (Scene::Hang, Form::General, SimdLevel::Avx2), setup = stage)]
    #[bench::drape_grid_scalar(args = (Scene::Drape, Form::Grid, SimdLevel::Scalar), setup = stage)]
    #[bench::drape_grid_avx2(args = (Scene::Drape, Form::Grid, SimdLevel::Avx2), setup = stage)]
    #[bench::drape_no_grid_avx2(args = (Scene::Drape, Form::General, SimdLevel::Avx2), setup = stage)]
    fn step(mut stage: Stage) -> Stage {
        Crew::of(1).step(&mut stage);
        black_box(stage)
    }

    library_benchmark_group!(
        name = of_64x64,
        benchmarks = [tutorials_loop, ten_passes, step]
    );

    gungraun::main!(
        config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
        library_benchmark_groups = of_64x64
    );
}
