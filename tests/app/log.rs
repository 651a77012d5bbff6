//! Records the log, so that tests can read the lines of the plugin.

use bevy::{
    log::{
        tracing::{Event, Subscriber, field::Visit},
        tracing_subscriber::{Layer, Registry, layer::Context, prelude::*},
    },
    prelude::*,
};
use std::{
    fmt::Debug,
    sync::{Mutex, Once},
};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static START: Once = Once::new();

struct Recorder;

impl<S: Subscriber> Layer<S> for Recorder {
    fn on_event(&self, event: &Event, _: Context<S>) {
        struct Message(String);
        impl Visit for Message {
            fn record_debug(
                &mut self,
                field: &bevy::log::tracing::field::Field,
                value: &dyn Debug,
            ) {
                if field.name() == "message" {
                    self.0 = format!("{value:?}");
                }
            }
        }
        let mut message = Message(String::new());
        event.record(&mut message);
        let line = format!("{} {}", event.metadata().level(), message.0);
        LINES.lock().unwrap().push(line);
    }
}

/// Starts recording, and spawns `entities_before` entities, so that later entities of this test have unique
/// indices: all tests share one log.
pub(crate) fn record(app: &mut App, entities_before: usize) {
    START.call_once(|| {
        Registry::default().with(Recorder).init();
    });
    for _ in 0..entities_before {
        app.world_mut().spawn_empty();
    }
}

/// Returns all lines that name an entity.
pub(crate) fn lines_about(entity: Entity) -> Vec<String> {
    let name = entity.to_string();
    let lines = LINES.lock().unwrap();
    lines
        .iter()
        .filter(|line| {
            line.match_indices(&name).any(|(start, _)| {
                // "12v3" is neither "12v34" nor "112v3"; after a name it is in parentheses.
                line[..start].ends_with([' ', '('])
                    && !line[start + name.len()..].starts_with(|c: char| c.is_ascii_digit())
            })
        })
        .cloned()
        .collect()
}

/// Returns all lines that contain a text.
pub(crate) fn lines_with(text: &str) -> Vec<String> {
    let lines = LINES.lock().unwrap();
    lines
        .iter()
        .filter(|line| line.contains(text))
        .cloned()
        .collect()
}
