//! Selects the widest SIMD instructions of the processor at run time.
//!
//! A kernel is written once, as plain loops over slices, and compiled once per level; the compiler vectorizes it.
//! Kernels use only + − × ÷ √, each rounded separately (no fused operations), so all levels give the same bits.
//! In tests each kernel has a scalar reference too, the formula particle by particle: the bits of all levels are
//! compared with those of the reference (`levels::same_bits`).
//!
//! | file | contents |
//! |---|---|
//! | `mod` | levels of instructions, kernels |
//! | `soa` | vectors as three planes of `f32`, bounding boxes |
//! | `aligned` | lists of `f32` that begin at a cache line |

pub mod aligned;
pub mod soa;

use bevy::math::Vec3;
use std::{
    hint::select_unpredictable,
    sync::atomic::{AtomicU8, Ordering},
};

/// Instruction set of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SimdLevel {
    /// Instructions of every processor of the target: SSE2 on x86-64, NEON on AArch64, SIMD128 on WebAssembly if
    /// enabled.
    Baseline,
    /// Eight numbers at a time. x86-64 only.
    Avx2,
    /// Sixteen numbers at a time. x86-64 only.
    Avx512,
}

impl SimdLevel {
    /// All levels, from slow to fast.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// Returns the fastest level of this processor.
    pub fn best() -> Self {
        *Self::ALL
            .iter()
            .rev()
            .find(|level| level.is_available())
            .unwrap_or(&Self::Baseline)
    }

    /// Returns whether this processor has the level.
    pub fn is_available(self) -> bool {
        match self {
            Self::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                // AVX-512F does not imply VL for the compiler, though in practice processors have both.
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// Returns the level in use: the best one, unless [`force`](Self::force) was called.
    pub fn current() -> Self {
        #[cfg(test)]
        if let Some(levels::TestLevel::Simd(level)) = levels::OF_THIS_THREAD.get() {
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

    /// Makes the whole program use this level, for measurements and comparisons; results keep their bits. If the
    /// processor lacks the level, returns false and changes nothing.
    pub fn force(self) -> bool {
        let possible = self.is_available();
        if possible {
            CURRENT.store(self as u8, Ordering::Relaxed);
        }
        possible
    }
}

const UNKNOWN: u8 = u8::MAX;

/// Level in use. Only [`SimdLevel::current`] and [`SimdLevel::force`] write it, and only levels that the processor
/// has.
static CURRENT: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Number of `f32` in the widest register, and in a cache line: kernels process that many at a time if enough are
/// left.
pub(crate) const LANES: usize = 16;

/// Loop that is compiled for each level.
pub(crate) trait Kernel {
    /// Runs the kernel. Must be `#[inline(always)]`, as must every function that it calls in its loops: only
    /// inlined code is compiled with the instructions of the level.
    fn run(self);

    /// Scalar reference: the same computation, one number at a time, as plain as possible. By default the kernel
    /// itself, for kernels that consist of other functions with references.
    #[cfg(test)]
    fn run_reference(self)
    where
        Self: Sized,
    {
        self.run();
    }
}

/// Runs a kernel at the level in use.
pub(crate) fn dispatch<K: Kernel>(kernel: K) {
    #[cfg(test)]
    if levels::is_reference() {
        return kernel.run_reference();
    }
    match SimdLevel::current() {
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
        // SAFETY: calling the function is sound if the processor has its target features. `level` comes from
        // `SimdLevel::current`, which returns only levels that `is_available` has confirmed.
        unsafe { avx512(kernel) }
    } else {
        // SAFETY: as above.
        unsafe { avx2(kernel) }
    }
}

/// Returns `a` if `choose` is true, else `b`. Both are computed: the compiler may turn an `if` into a branch,
/// which prevents vectorization of the loop.
///
/// To keep a stored value unchanged, select the summand (−0.0 changes no value, not even the sign of a zero), not
/// the result: the compiler turns a select between a new value and the stored one into a masked store, which is
/// ten times slower on some processors with AVX2.
#[inline(always)]
pub(crate) fn select(choose: bool, a: f32, b: f32) -> f32 {
    select_unpredictable(choose, a, b)
}

/// Returns the bit of a lane if `hit` is true, else 0; for [`join_bits`].
#[inline(always)]
pub(crate) fn lane_bit(lane: usize, hit: bool) -> u32 {
    select_unpredictable(hit, 1 << lane, 0)
}

/// Joins the bits of all lanes into one number. They are as wide as `f32`, so that comparisons of these make them without
/// a detour through bytes, which the widest registers do not compare.
#[inline(always)]
pub(crate) fn join_bits(mut bits: [u32; LANES]) -> u32 {
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            bits[l] |= bits[l + half];
        }
        half /= 2;
    }
    bits[0]
}

/// Selects all components of one of two vectors, as [`select`] does.
#[inline(always)]
pub(crate) fn select_vec3(choose: bool, a: Vec3, b: Vec3) -> Vec3 {
    Vec3::new(
        select(choose, a.x, b.x),
        select(choose, a.y, b.y),
        select(choose, a.z, b.z),
    )
}

/// Runs tests at each level and with the scalar references.
#[cfg(test)]
pub(crate) mod levels {
    use super::SimdLevel;
    use std::cell::Cell;

    /// Code of the kernels that a test runs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum TestLevel {
        /// The scalar references of all kernels.
        Reference,
        /// The kernels, compiled for this level.
        Simd(SimdLevel),
    }

    thread_local! {
        /// Overrides the level of the program on this thread, so that concurrent tests do not interfere.
        pub(super) static OF_THIS_THREAD: Cell<Option<TestLevel>> = const { Cell::new(None) };
    }

    /// Returns whether the test on this thread runs the scalar references.
    pub(crate) fn is_reference() -> bool {
        OF_THIS_THREAD.get() == Some(TestLevel::Reference)
    }

    /// Returns the result of `run` with the scalar references, then at each available level.
    pub(crate) fn each<T>(run: impl Fn() -> T) -> impl Iterator<Item = (TestLevel, T)> {
        let available = SimdLevel::ALL.into_iter().filter(|l| l.is_available());
        let levels = std::iter::once(TestLevel::Reference).chain(available.map(TestLevel::Simd));
        levels.map(move |level| {
            OF_THIS_THREAD.set(Some(level));
            let result = run();
            OF_THIS_THREAD.set(None);
            (level, result)
        })
    }

    /// Asserts that `run` gives the same bits at all available levels as the scalar references. Returns those
    /// bits.
    pub(crate) fn same_bits(run: impl Fn() -> Vec<u32>) -> Vec<u32> {
        let mut results = each(run);
        let (_, expected) = results.next().expect("the reference comes first");
        for (level, got) in results {
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
    fn the_best_level_is_available_and_unavailable_levels_are_refused() {
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
