//! Serializes numbers that may be infinite as their bits, because JSON has no infinity.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number or a list of numbers that is saved as bits.
pub(crate) trait Bits: Sized {
    type Saved: Serialize + for<'de> Deserialize<'de>;
    fn save(&self) -> Self::Saved;
    fn load(saved: Self::Saved) -> Self;
}

impl Bits for f32 {
    type Saved = u32;

    fn save(&self) -> u32 {
        self.to_bits()
    }

    fn load(saved: u32) -> Self {
        Self::from_bits(saved)
    }
}

impl Bits for Vec<f32> {
    type Saved = Vec<u32>;

    fn save(&self) -> Vec<u32> {
        self.iter().map(|value| value.to_bits()).collect()
    }

    fn load(saved: Vec<u32>) -> Self {
        saved.into_iter().map(f32::from_bits).collect()
    }
}

pub(crate) fn serialize<T: Bits, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    value.save().serialize(to)
}

pub(crate) fn deserialize<'de, T: Bits, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::Saved::deserialize(from).map(T::load)
}
