//! Numbers of instructions, counted by valgrind, which are free of noise.
//!
//! ```sh
//! cargo install gungraun-runner --version 0.20.0
//! cargo bench -p bevy_drape_instructions
//! ```
//!
//! Valgrind does not support AVX-512, so AVX2 is the widest level here. Instructions are no unit of time: a
//! division counts as much as an addition, and eight lanes as much as one. Compare a case with itself before a
//! change; gungraun prints the difference from the last run. `sse2` is the baseline of x86-64.

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
    // Gungraun runs this program again under valgrind, with its own arguments.
    if !env::args().any(|argument| argument == "--gungraun-run") {
        let runner = option_env!("GUNGRAUN_RUNNER").unwrap_or("gungraun-runner");
        for (program, remedy) in [
            ("valgrind", "most Linux distributions have a package"),
            (
                runner,
                "`cargo install gungraun-runner --version 0.20.0` installs it",
            ),
        ] {
            if !starts(program) {
                println!("instructions are not counted: {program} is missing; {remedy}");
                return;
            }
        }
    }
    counted::run();
}

/// Returns whether a program can be run.
fn starts(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// Benches. In a module, because the macro defines its own `main`.
mod counted {
    use crate::{
        scene::{MeshLayout, Plan, Scene, Stage, Stepper},
        tutorial::Tutorial,
    };
    use bevy_drape::solver::{self, RelaxSettings, SimdLevel, StretchSolver};
    use gungraun::{Callgrind, prelude::*};
    use std::hint::black_box;

    const SIDE: u32 = 64;
    /// Iterations over all constraints.
    const ITERATIONS: u32 = 10;
    /// Steps before the measurement: `drape` then lies on sphere and floor.
    const STEPS: u32 = 120;

    pub(super) fn run() {
        main();
    }

    fn stage(scene: Scene, mesh: MeshLayout, level: SimdLevel) -> Stage {
        let plan = Plan {
            side: SIDE,
            mesh,
            ..scene.plan()
        };
        let mut stage = plan.build();
        let mut alone = Stepper::with_threads(1);
        for _ in 0..STEPS {
            assert!(alone.step(&mut stage), "a number was not finite");
        }
        assert!(level.force(), "this processor does not support {level:?}");
        stage
    }

    fn tutorial() -> Tutorial {
        let stage = Scene::Hang.plan().build();
        Tutorial::of(&stage.particles, &stage.constraints)
    }

    #[library_benchmark]
    #[bench::ten_iterations(setup = tutorial)]
    fn tutorials_loop(mut tutorial: Tutorial) {
        tutorial.relax(ITERATIONS);
    }

    fn hanging(
        mesh: MeshLayout,
        level: SimdLevel,
        stretch_solver: StretchSolver,
    ) -> (Stage, RelaxSettings) {
        let mut stage = stage(Scene::Hang, mesh, level);
        stage.constraints.prepare(&stage.particles);
        let settings = RelaxSettings {
            compliance: stage.settings.compliance,
            iterations: ITERATIONS,
            dt: stage.settings.dt / stage.settings.substeps as f32,
            stretch_solver,
            ..RelaxSettings::default()
        };
        (stage, settings)
    }

    #[library_benchmark]
    #[bench::direct_grid_sse2(args = (MeshLayout::Grid, SimdLevel::Baseline, StretchSolver::Direct), setup = hanging)]
    #[bench::direct_grid_avx2(args = (MeshLayout::Grid, SimdLevel::Avx2, StretchSolver::Direct), setup = hanging)]
    #[bench::direct_no_grid_avx2(args = (MeshLayout::General, SimdLevel::Avx2, StretchSolver::Direct), setup = hanging)]
    #[bench::gauss_seidel_grid_sse2(args = (MeshLayout::Grid, SimdLevel::Baseline, StretchSolver::GaussSeidel), setup = hanging)]
    #[bench::gauss_seidel_grid_avx2(args = (MeshLayout::Grid, SimdLevel::Avx2, StretchSolver::GaussSeidel), setup = hanging)]
    #[bench::gauss_seidel_no_grid_avx2(args = (MeshLayout::General, SimdLevel::Avx2, StretchSolver::GaussSeidel), setup = hanging)]
    fn ten_iterations((mut stage, settings): (Stage, RelaxSettings)) -> Stage {
        solver::relax(
            &mut solver::Workers::serial(),
            &mut stage.particles,
            &mut stage.constraints,
            &settings,
        );
        black_box(stage)
    }

    #[library_benchmark]
    #[bench::hang_grid_avx2(args = (Scene::Hang, MeshLayout::Grid, SimdLevel::Avx2), setup = stage)]
    #[bench::hang_no_grid_avx2(args = (Scene::Hang, MeshLayout::General, SimdLevel::Avx2), setup = stage)]
    #[bench::drape_grid_avx2(args = (Scene::Drape, MeshLayout::Grid, SimdLevel::Avx2), setup = stage)]
    #[bench::drape_no_grid_avx2(args = (Scene::Drape, MeshLayout::General, SimdLevel::Avx2), setup = stage)]
    fn step(mut stage: Stage) -> Stage {
        Stepper::with_threads(1).step(&mut stage);
        black_box(stage)
    }

    library_benchmark_group!(
        name = of_64x64,
        benchmarks = [tutorials_loop, ten_iterations, step]
    );

    gungraun::main!(
        config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
        library_benchmark_groups = of_64x64
    );
}
