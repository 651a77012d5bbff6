//! The pictures in `assets/`, ready for the GPU: repeating, and with mip levels, without which a fine
//! weave flickers in the distance.

use bevy::{
    asset::RenderAssetUsages,
    image::{
        CompressedImageFormats, ImageAddressMode, ImageFilterMode, ImageSampler,
        ImageSamplerDescriptor, ImageType,
    },
    prelude::*,
};

/// The colours of the tartan.
pub(crate) fn tartan() -> Image {
    load(include_bytes!("../../assets/tartan.png"), true)
}

/// Its relief.
pub(crate) fn tartan_normal() -> Image {
    load(include_bytes!("../../assets/tartan_normal.png"), false)
}

fn load(png: &[u8], is_srgb: bool) -> Image {
    let sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        address_mode_u: ImageAddressMode::Repeat,
        address_mode_v: ImageAddressMode::Repeat,
        mag_filter: ImageFilterMode::Linear,
        min_filter: ImageFilterMode::Linear,
        mipmap_filter: ImageFilterMode::Linear,
        // No anisotropic filtering: with it, a software adapter compiles shaders for minutes.
        ..default()
    });
    let mut image = Image::from_buffer(
        png,
        ImageType::Extension("png"),
        CompressedImageFormats::NONE,
        is_srgb,
        sampler,
        RenderAssetUsages::default(),
    )
    .expect("the pictures of this project are good PNGs");
    add_mip_levels(&mut image);
    image
}

/// Appends ever smaller copies, each pixel the mean of four.
fn add_mip_levels(image: &mut Image) {
    const BYTES: usize = 4;
    let (mut width, mut height) = (image.width() as usize, image.height() as usize);
    let Some(data) = &mut image.data else {
        return;
    };
    let mut larger = data.clone();
    let mut levels = 1;
    while width > 1 && height > 1 {
        let (half_width, half_height) = (width / 2, height / 2);
        let mut smaller = Vec::with_capacity(half_width * half_height * BYTES);
        for y in 0..half_height {
            for x in 0..half_width {
                for channel in 0..BYTES {
                    let at = |dx: usize, dy: usize| {
                        let pixel = (2 * y + dy) * width + 2 * x + dx;
                        u32::from(larger[pixel * BYTES + channel])
                    };
                    let sum = at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1);
                    smaller.push(((sum + 2) / 4) as u8);
                }
            }
        }
        data.extend(&smaller);
        larger = smaller;
        (width, height) = (half_width, half_height);
        levels += 1;
    }
    image.texture_descriptor.mip_level_count = levels;
}
