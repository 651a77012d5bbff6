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
//! | `scenes` | the scenes themselves |
//! | `keys` | keyboard, and changing scenes |
//! | `figures` | what was measured, and the screenshot |

mod arguments;
mod figures;
mod keys;
mod run;
mod scenes;
mod stage;
mod surroundings;
mod textures;

use bevy::app::AppExit;
use clap::Parser;

fn main() -> AppExit {
    let arguments = arguments::Arguments::parse();
    if let Err(problem) = arguments.check() {
        eprintln!("error: {problem}");
        return AppExit::error();
    }
    run::run(&arguments)
}
