//! Textures from `assets/` and a generated one, prepared for the GPU: repeating, and with mip levels, without
//! which fine fabric flickers in the distance.

use bevy::{
    asset::RenderAssetUsages,
    image::{
        CompressedImageFormats, ImageAddressMode, ImageFilterMode, ImageSampler,
        ImageSamplerDescriptor, ImageType,
    },
    prelude::*,
    render::render_resource::{Extent3d, TextureDimension, TextureFormat},
};

/// Returns the colour texture of the tartan.
pub(crate) fn tartan() -> Image {
    load(include_bytes!("../../assets/tartan.png"), true)
}

/// Returns the normal map of the tartan.
pub(crate) fn tartan_normal() -> Image {
    load(include_bytes!("../../assets/tartan_normal.png"), false)
}

/// Returns the texture of a flag: a golden sun over a red and a blue band, separated by a slanted white one.
pub(crate) fn flag() -> Image {
    const WIDTH: u32 = 768;
    const HEIGHT: u32 = 512;
    // Without antialiasing: the mip levels smooth it.
    let colour = |x: u32, y: u32| -> [u8; 4] {
        // In heights of the flag, from its upper left corner.
        let at = Vec2::new(x as f32, y as f32) / HEIGHT as f32;
        let from_sun = at.distance(Vec2::new(0.48, 0.36));
        let band = at.y - (0.86 - 0.2 * at.x);
        if from_sun < 0.2 {
            [255, 202, 40, 255]
        } else if band.abs() < 0.05 {
            [250, 248, 240, 255]
        } else if band < 0.0 {
            [214, 24, 30, 255]
        } else {
            [12, 62, 168, 255]
        }
    };
    let pixels = (0..HEIGHT).flat_map(|y| (0..WIDTH).flat_map(move |x| colour(x, y)));
    let mut image = Image::new(
        Extent3d {
            width: WIDTH,
            height: HEIGHT,
            depth_or_array_layers: 1,
        },
        TextureDimension::D2,
        pixels.collect(),
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    );
    image.sampler = sampler();
    add_mip_levels(&mut image);
    image
}

/// Returns a repeating, trilinear sampler.
fn sampler() -> ImageSampler {
    ImageSampler::Descriptor(ImageSamplerDescriptor {
        address_mode_u: ImageAddressMode::Repeat,
        address_mode_v: ImageAddressMode::Repeat,
        mag_filter: ImageFilterMode::Linear,
        min_filter: ImageFilterMode::Linear,
        mipmap_filter: ImageFilterMode::Linear,
        // No anisotropic filtering: with it, a software adapter compiles shaders for minutes.
        ..default()
    })
}

fn load(png: &[u8], is_srgb: bool) -> Image {
    let mut image = Image::from_buffer(
        png,
        ImageType::Extension("png"),
        CompressedImageFormats::NONE,
        is_srgb,
        sampler(),
        RenderAssetUsages::default(),
    )
    .expect("the images of this project are valid PNGs");
    add_mip_levels(&mut image);
    image
}

/// Appends smaller and smaller copies; each pixel is the mean of four.
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
