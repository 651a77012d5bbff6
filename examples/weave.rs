//! Generates the textures in `assets/`: a tartan in 2/2 twill, as colour and normal map.
//!
//! ```sh
//! cargo run --example weave
//! ```

use image::{Rgb, RgbImage};
use std::{f32::consts::PI, path::Path};

/// Pixels across one yarn.
const YARN: u32 = 4;
/// Yarns until the pattern repeats, in both directions.
const SETT: u32 = 128;

const TEAL: [f32; 3] = [0.075, 0.215, 0.235];
const NAVY: [f32; 3] = [0.055, 0.085, 0.150];
const CREAM: [f32; 3] = [0.860, 0.780, 0.640];
const RUST: [f32; 3] = [0.610, 0.215, 0.110];

/// Half of the sett: numbers of yarns and their colours. The other half is its mirror image.
const STRIPES: [(u32, [f32; 3]); 7] = [
    (17, TEAL),
    (2, CREAM),
    (9, NAVY),
    (12, TEAL),
    (3, RUST),
    (9, NAVY),
    (12, RUST),
];

fn main() -> image::ImageResult<()> {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let size = YARN * SETT;
    let colour = RgbImage::from_fn(size, size, |x, y| {
        let (colour, height) = cloth_at(x, y);
        // Darker between the yarns, where less light arrives.
        let light = 0.70 + 0.30 * height;
        Rgb(colour.map(|c| (c * light * 255.0).round() as u8))
    });
    colour.save(assets.join("tartan.png"))?;

    let normal = RgbImage::from_fn(size, size, |x, y| {
        let height = |dx: u32, dy: u32| cloth_at((x + dx) % size, (y + dy) % size).1;
        let (right, left) = (height(1, 0), height(size - 1, 0));
        let (below, above) = (height(0, 1), height(0, size - 1));
        // Green points up in the image, against v.
        let slope = [left - right, below - above, 3.0];
        let length = slope.iter().map(|c| c * c).sum::<f32>().sqrt();
        Rgb(slope.map(|c| ((c / length * 0.5 + 0.5) * 255.0).round() as u8))
    });
    normal.save(assets.join("tartan_normal.png"))?;
    println!(
        "wrote tartan.png and tartan_normal.png to {}",
        assets.display()
    );
    Ok(())
}

/// Returns colour and height (0 to 1) of the yarn on top.
fn cloth_at(x: u32, y: u32) -> ([f32; 3], f32) {
    let (warp, weft) = (x / YARN, y / YARN);
    let warp_on_top = (warp + weft) % 4 < 2;
    let (yarn, across) = if warp_on_top {
        (warp, x % YARN)
    } else {
        (weft, y % YARN)
    };
    let height = (PI * (across as f32 + 0.5) / YARN as f32).sin();
    // Brightness varies from yarn to yarn.
    let brightness = 0.93 + 0.14 * noise(yarn * 2 + u32::from(warp_on_top));
    (colour_of(yarn).map(|c| c * brightness), height)
}

fn colour_of(yarn: u32) -> [f32; 3] {
    let mut index = yarn.min(SETT - 1 - yarn);
    for (width, colour) in STRIPES {
        if index < width {
            return colour;
        }
        index -= width;
    }
    TEAL
}

/// Returns a pseudo-random number from 0 to 1.
fn noise(seed: u32) -> f32 {
    let mut bits = seed.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    bits ^= bits >> 15;
    bits = bits.wrapping_mul(0x2c1b_3c6d);
    bits ^= bits >> 12;
    (bits & 0xffff) as f32 / 65535.0
}
