//! Assets in memory instead of on disk.

use bevy::{
    asset::io::{
        AssetSourceBuilder, AssetSourceId,
        memory::{Dir, MemoryAssetReader, MemoryAssetWriter},
    },
    prelude::*,
};
use std::{path::Path, thread, time::Duration};

/// Returns an app and the folder in memory from which the app loads assets.
pub(crate) fn app_with_files() -> (App, Dir) {
    let (mut app, folder) = (App::new(), Dir::default());
    let [read, write] = [folder.clone(), folder.clone()];
    let source =
        AssetSourceBuilder::new(move || Box::new(MemoryAssetReader { root: read.clone() }))
            .with_writer(move |_| {
                Some(Box::new(MemoryAssetWriter {
                    root: write.clone(),
                }))
            });
    app.register_asset_source(AssetSourceId::Default, source);
    (app, folder)
}

/// Writes a text into a file, or replaces its text.
pub(crate) fn write(folder: &Dir, path: &str, text: &str) {
    folder.insert_asset(Path::new(path), text.as_bytes().to_vec());
}

/// Returns the first value found; polls in real time, as assets load, for at least 4 s.
pub(crate) fn until<T>(mut found: impl FnMut() -> Option<T>) -> T {
    for _ in 0..2000 {
        if let Some(found) = found() {
            return found;
        }
        thread::sleep(Duration::from_millis(2));
    }
    panic!("nothing was found in time")
}
