//! Presets as Bevy assets: loading and saving.

use super::{ClothPreset, ClothPresetError};
use bevy::{
    asset::{AssetLoader, AssetPath, LoadContext, io::Reader},
    prelude::*,
    tasks::block_on,
};

/// File name extension of presets.
pub(crate) const EXTENSION: &str = "cloth.ron";

#[derive(Default, TypePath)]
pub(crate) struct ClothPresetLoader;

impl AssetLoader for ClothPresetLoader {
    type Asset = ClothPreset;
    type Settings = ();
    type Error = ClothPresetError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        (): &(),
        context: &mut LoadContext<'_>,
    ) -> Result<ClothPreset, ClothPresetError> {
        let path = context.path().to_string();
        let unreadable = |reason: String| ClothPresetError::Read {
            path: path.clone(),
            reason,
        };
        let mut bytes = Vec::new();
        let read = reader.read_to_end(&mut bytes).await;
        read.map_err(|error| unreadable(error.to_string()))?;
        let text = str::from_utf8(&bytes).map_err(|error| unreadable(error.to_string()))?;
        ClothPreset::from_ron(text, &path)
    }

    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }
}

impl ClothPreset {
    /// Writes the preset to the asset source and path from which it would be loaded.
    ///
    /// # Errors
    ///
    /// The file cannot be written, as is always so on the web, or a number is out of range, so that the file could
    /// not be read again.
    pub fn save_asset<'a>(
        &self,
        server: &AssetServer,
        path: impl Into<AssetPath<'a>>,
    ) -> Result<(), ClothPresetError> {
        let path = path.into();
        let name = path.to_string();
        self.check(&name)?;
        let unwritable = |reason: String| ClothPresetError::Write { path: name, reason };
        let source = match server.get_source(path.source()) {
            Ok(source) => source.writer().map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let written = source.and_then(|writer| {
            let text = self.to_ron();
            block_on(writer.write_bytes(path.path(), text.as_bytes()))
                .map_err(|error| error.to_string())
        });
        written.map_err(unwritable)
    }
}
