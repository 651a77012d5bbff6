//! Compares images by differences that an eye notices, not by single pixels, in which drivers differ.

use image::{RgbImage, imageops::FilterType};

/// Difference of two images.
#[derive(Debug)]
pub(crate) struct Difference {
    /// Mean difference of all blocks, from 0 (equal) to 1 (black and white).
    mean: f32,
    /// Fraction of blocks that clearly differ.
    differing_blocks: f32,
}

impl Difference {
    /// Compares blocks of 6 × 6 pixels.
    pub(crate) fn between(a: &RgbImage, b: &RgbImage) -> Self {
        assert_eq!(a.dimensions(), b.dimensions());
        let blocks = |picture: &RgbImage| {
            let (width, height) = picture.dimensions();
            image::imageops::resize(picture, width / 6, height / 6, FilterType::Triangle)
        };
        let (a, b) = (blocks(a), blocks(b));
        let differences: Vec<f32> = a
            .pixels()
            .zip(b.pixels())
            .map(|(a, b)| {
                let channels = a.0.iter().zip(b.0);
                channels
                    .map(|(&a, b)| f32::from(a.abs_diff(b)))
                    .sum::<f32>()
                    / (3.0 * 255.0)
            })
            .collect();
        let count = differences.len() as f32;
        Self {
            mean: differences.iter().sum::<f32>() / count,
            differing_blocks: differences.iter().filter(|&&d| d > 0.06).count() as f32 / count,
        }
    }

    /// Returns whether the difference may come from another driver.
    pub(crate) fn is_small(&self) -> bool {
        self.mean < 0.01 && self.differing_blocks < 0.01
    }
}

#[test]
fn noise_is_small_and_a_missing_corner_is_not() {
    let picture = RgbImage::from_fn(120, 120, |x, y| image::Rgb([x as u8, y as u8, 128]));
    let noisy = RgbImage::from_fn(120, 120, |x, y| {
        let mut pixel = *picture.get_pixel(x, y);
        pixel.0[2] = pixel.0[2].wrapping_add((x * 7 + y * 13) as u8 % 5);
        pixel
    });
    assert!(Difference::between(&picture, &noisy).is_small());
    let mut cut = picture.clone();
    for x in 0..30 {
        for y in 0..30 {
            cut.put_pixel(x, y, image::Rgb([255, 255, 255]));
        }
    }
    assert!(!Difference::between(&picture, &cut).is_small());
}
