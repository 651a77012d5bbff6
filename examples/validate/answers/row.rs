//! Row of the table.

/// Tolerance of a measured value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tolerance {
    /// Relative: a fraction of the expected value.
    Relative(f64),
    /// Absolute, in the unit of the value.
    Absolute(f64),
    /// The expected value is an upper limit.
    AtMost,
}

/// Measured value and its expected value.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Name of the value, with its unit.
    pub(crate) label: String,
    pub(crate) expected: f64,
    pub(crate) measured: f64,
    pub(crate) tolerance: Tolerance,
}

impl Row {
    /// Creates a row with a relative tolerance.
    pub(crate) fn near(
        label: impl Into<String>,
        expected: f64,
        measured: f64,
        tolerance: f64,
    ) -> Self {
        Self {
            label: label.into(),
            expected,
            measured,
            tolerance: Tolerance::Relative(tolerance),
        }
    }

    /// Creates a row with an absolute tolerance.
    pub(crate) fn within(
        label: impl Into<String>,
        expected: f64,
        measured: f64,
        tolerance: f64,
    ) -> Self {
        Self {
            label: label.into(),
            expected,
            measured,
            tolerance: Tolerance::Absolute(tolerance),
        }
    }

    /// Creates a row with an upper limit.
    pub(crate) fn at_most(label: impl Into<String>, limit: f64, measured: f64) -> Self {
        Self {
            label: label.into(),
            expected: limit,
            measured,
            tolerance: Tolerance::AtMost,
        }
    }

    /// Returns whether the value is within tolerance; NaN never is.
    pub(crate) fn passes(&self) -> bool {
        let error = (self.measured - self.expected).abs();
        match self.tolerance {
            Tolerance::Relative(fraction) => error <= fraction * self.expected.abs(),
            Tolerance::Absolute(limit) => error <= limit,
            Tolerance::AtMost => self.measured <= self.expected,
        }
    }

    /// Returns the tolerance as text.
    pub(crate) fn tolerance(&self) -> String {
        match self.tolerance {
            Tolerance::Relative(fraction) if fraction < 1e-3 => format!("{:.0e}", fraction),
            Tolerance::Relative(fraction) => format!("{} %", (fraction * 1e5).round() / 1e3),
            Tolerance::Absolute(limit) => format!("± {limit}"),
            Tolerance::AtMost => "at most".into(),
        }
    }
}
