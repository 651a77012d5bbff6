//! All scenes, with a panel to tune them.
//!
//! ```sh
//! cargo run --release --example demo
//! cargo run --release --example demo -- --help
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `arguments` | the command line |
//! | `surroundings` | is there a display, is there a graphics adapter |
//! | `run` | builds the app for what is there |
//! | `stage` | light, camera, floor and materials |
//! | `textures` | the pictures in `assets/`, ready for the GPU |
//! | `scenes/` | the scenes themselves |
//! | `change` | takes one scene down and puts up another |
//! | `euler`, `plot` | the figures of the scene of integrators, and how they are shown |
//! | `keys` | the keyboard, and the camera beside the panel |
//! | `figures` | what was measured, and the screenshot |

mod arguments;
mod change;
mod euler;
mod figures;
mod keys;
mod plot;
mod run;
mod scenes;
mod stage;
mod surroundings;
mod textures;

use bevy::app::AppExit;
use clap::{CommandFactory, Parser, error::ErrorKind};

fn main() -> AppExit {
    let arguments = arguments::Arguments::try_parse().unwrap_or_else(|error| {
        // Usage and the scenes belong to every complaint; clap only names the flag.
        let complaint = error.use_stderr() && error.kind() != ErrorKind::ValueValidation;
        let _ = error.print();
        if complaint {
            eprintln!("\n{}", arguments::Arguments::command().render_help());
        }
        std::process::exit(error.exit_code());
    });
    if let Err(problem) = arguments.check() {
        eprintln!("error: {problem}");
        return AppExit::error();
    }
    run::run(&arguments)
}
