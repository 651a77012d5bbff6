//! Demo: all scenes, with a panel to tune them.
//!
//! ```sh
//! cargo run --release --example demo
//! cargo run --release --example demo -- --help
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `arguments` | command line |
//! | `surroundings` | detects a display and a graphics adapter |
//! | `run` | builds the app accordingly |
//! | `stage` | light, camera, floor and materials |
//! | `textures` | images in `assets/`, prepared for the GPU |
//! | `scenes/` | the scenes |
//! | `change` | replaces one scene with another |
//! | `euler`, `plot` | figures of the scene `integrators`, and their plot |
//! | `keys` | keyboard, and interaction of the camera with the panel |
//! | `figures` | measured figures, and the screenshot |

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
        // Clap names only the flag: add usage and scenes to each error.
        let is_usage_error = error.use_stderr() && error.kind() != ErrorKind::ValueValidation;
        let _ = error.print();
        if is_usage_error {
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
