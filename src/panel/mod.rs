//! x
/// x
pub struct ClothPanel;
/// x
pub struct ClothPanelPlugin;
