//! Picks the widest instructions that the processor has, when the program runs.
//!
//! A kernel is written once, as plain loops over slices, and compiled once for each level; the
//! compiler makes SIMD of it. Kernels use + − × ÷ √ only, each rounded by itself (nothing is fused),
//! so all levels give the same bits. Beside each kernel stands a scalar twin, the formula particle by
//! particle, which [`SimdLevel::Scalar`] runs; tests compare the two bit by bit.

use std::{
    hint::select_unpredictable,
    sync::atomic::{AtomicU8, Ordering},
};

/// Which instructions the kernels use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SimdLevel {
    /// One number at a time: the twins that say what the kernels have to compute.
    Scalar,
    /// What every processor of this kind has: SSE2 on x86-64, NEON on AArch64, SIMD128 on WebAssembly
    /// if it is enabled.
    Baseline,
    /// Eight numbers at a time. x86-64 only.
    Avx2,
    /// Sixteen numbers at a time. x86-64 only.
    Avx512,
}

impl SimdLevel {
    /// All levels, from slow to fast.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Baseline, Self::Avx2, Self::Avx512];

    /// The fastest level that this processor has.
    pub fn best() -> Self {
        *Self::ALL
            .iter()
            .rev()
            .find(|level| level.is_available())
            .unwrap_or(&Self::Baseline)
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar | Self::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                // The second is not implied for the compiler, but no processor has one without the
                // other.
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// The level in use: the best one, unless [`force`](Self::force) was called.
    pub fn current() -> Self {
        #[cfg(test)]
        if let Some(level) = levels::OF_THIS_THREAD.get() {
            return level;
        }
        match CURRENT.load(Ordering::Relaxed) {
            UNKNOWN => {
                let best = Self::best();
                CURRENT.store(best as u8, Ordering::Relaxed);
                best
            }
            known => Self::ALL[usize::from(known)],
        }
    }

    /// Makes the whole program use this level, to measure or to compare; results stay the same to
    /// the bit. A level that the processor lacks is refused: then nothing changes and the answer is
    /// `false`.
    pub fn force(self) -> bool {
        let possible = self.is_available();
        if possible {
            CURRENT.store(self as u8, Ordering::Relaxed);
        }
        possible
    }
}

const UNKNOWN: u8 = u8::MAX;

/// The level in use. Only [`SimdLevel::current`] and [`SimdLevel::force`] write it, and only levels
/// that the processor has.
static CURRENT: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Numbers in the largest register, and in a line of the cache: so many are worked on side by side,
/// where there are as many.
pub(crate) const LANES: usize = 16;

/// A loop that is compiled for each level.
pub(crate) trait Kernel {
    /// Runs it. Must be `#[inline(always)]`, and so must all that it calls in its loops: only what is
    /// inlined is compiled with the instructions of the level.
    fn run(self);

    /// The same, one number at a time and as plain as can be.
    fn run_scalar(self);
}

/// Runs a kernel at the level in use.
pub(crate) fn dispatch<K: Kernel>(kernel: K) {
    match SimdLevel::current() {
        SimdLevel::Scalar => kernel.run_scalar(),
        SimdLevel::Baseline => kernel.run(),
        level => wide(kernel, level),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn wide<K: Kernel>(kernel: K, _: SimdLevel) {
    kernel.run();
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn wide<K: Kernel>(kernel: K, level: SimdLevel) {
    #[target_feature(enable = "avx2")]
    fn avx2<K: Kernel>(kernel: K) {
        kernel.run();
    }
    #[target_feature(enable = "avx512f,avx512vl")]
    fn avx512<K: Kernel>(kernel: K) {
        kernel.run();
    }
    debug_assert!(level.is_available());
    if level == SimdLevel::Avx512 {
        // SAFETY: the function may be called where the processor has its target features. `level`
        // comes from `SimdLevel::current`, which gives none that `is_available` has not confirmed.
        unsafe { avx512(kernel) }
    } else {
        // SAFETY: likewise.
        unsafe { avx2(kernel) }
    }
}

/// `a` where `choose` holds, else `b`: both are computed, where of an `if` the compiler may make a
/// branch, which keeps a loop from being vectorised.
///
/// Where something is to stay as it is, choose what is added to it (−0.0 changes nothing, not even
/// the sign of a zero) and not what is stored: of a choice between a new value and the one that was
/// there the compiler makes a masked store, which some processors with AVX2 do ten times more slowly.
#[inline(always)]
pub(crate) fn select(choose: bool, a: f32, b: f32) -> f32 {
    select_unpredictable(choose, a, b)
}

/// Runs tests at each level.
#[cfg(test)]
pub(crate) mod levels {
    use super::SimdLevel;
    use std::cell::Cell;

    thread_local! {
        /// Goes before the level of the program, which other tests share.
        pub(super) static OF_THIS_THREAD: Cell<Option<SimdLevel>> = const { Cell::new(None) };
    }

    /// Asserts that `run` gives the same bits at all levels that there are as the scalar twins do.
    /// Returns those bits.
    pub(crate) fn same_bits(run: impl Fn() -> Vec<u32>) -> Vec<u32> {
        let at = |level| {
            OF_THIS_THREAD.set(Some(level));
            let bits = run();
            OF_THIS_THREAD.set(None);
            bits
        };
        let expected = at(SimdLevel::Scalar);
        for level in SimdLevel::ALL.into_iter().filter(|l| l.is_available()) {
            let got = at(level);
            assert_eq!(got.len(), expected.len());
            for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
                assert!(
                    got == expected,
                    "{level:?}: number {i} is {}, not {}",
                    f32::from_bits(*got),
                    f32::from_bits(*expected)
                );
            }
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_level_is_available_and_the_unavailable_are_refused() {
        assert!(SimdLevel::best().is_available());
        assert!(SimdLevel::best() >= SimdLevel::Baseline);
        for level in SimdLevel::ALL {
            if !level.is_available() {
                assert!(!level.force());
            }
        }
        assert!(SimdLevel::current().is_available());
    }
}
