//! App without window and renderer, for all test programs.

use bevy::{
    app::Plugins, asset::AssetPlugin, mesh::MeshPlugin, prelude::*, time::TimeUpdateStrategy,
    transform::TransformPlugin,
};

/// Returns an app with `plugins`. Each of its updates is one frame and one fixed step of 1/60 s.
pub(crate) fn headless_app<M>(plugins: impl Plugins<M>) -> App {
    headless(App::new(), plugins)
}

/// Turns an app into one as [`headless_app`] returns.
pub(crate) fn headless<M>(mut app: App, plugins: impl Plugins<M>) -> App {
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        MeshPlugin,
        TransformPlugin,
    ))
    .add_plugins(plugins)
    .insert_resource(Time::<Fixed>::from_hz(60.0))
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
    .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate);
    app.finish();
    app.cleanup();
    app
}
