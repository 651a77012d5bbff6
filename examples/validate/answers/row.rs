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
    /// The expected value is a lower limit.
    AtLeast,
}

/// Measured value and its expected value.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Name of the value, with its unit.
    pub(crate) label: String,
    pub(crate) expected: f64,
    pub(crate) measured: f64,
    pub(crate) tolerance: Tolerance,
    /// Limit that the project aims at, if the row has a looser one so far: what today's solver reaches, with some margin.
    pub(crate) goal: Option<f64>,
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
            goal: None,
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
            goal: None,
        }
    }

    /// Creates a row with an upper limit.
    pub(crate) fn at_most(label: impl Into<String>, limit: f64, measured: f64) -> Self {
        Self {
            label: label.into(),
            expected: limit,
            measured,
            tolerance: Tolerance::AtMost,
            goal: None,
        }
    }

    /// Creates a row with a lower limit.
    pub(crate) fn at_least(label: impl Into<String>, limit: f64, measured: f64) -> Self {
        Self {
            tolerance: Tolerance::AtLeast,
            ..Self::at_most(label, limit, measured)
        }
    }

    /// Loosens the limit, if this one is looser; the former one remains the goal.
    pub(crate) fn so_far(self, limit: f64) -> Self {
        let is_looser = match self.tolerance {
            Tolerance::AtLeast => limit < self.expected,
            _ => limit > self.expected,
        };
        if !is_looser {
            return self;
        }
        Self {
            expected: limit,
            goal: Some(self.expected),
            ..self
        }
    }

    /// Returns whether the value is within tolerance; NaN never is.
    pub(crate) fn passes(&self) -> bool {
        let error = (self.measured - self.expected).abs();
        match self.tolerance {
            Tolerance::Relative(fraction) => error <= fraction * self.expected.abs(),
            Tolerance::Absolute(limit) => error <= limit,
            Tolerance::AtMost => self.measured <= self.expected,
            Tolerance::AtLeast => self.measured >= self.expected,
        }
    }

    /// Returns whether the value is beyond the goal.
    pub(crate) fn misses_goal(&self) -> bool {
        self.goal.is_some_and(|goal| {
            let expected = goal;
            !Self {
                expected,
                ..self.clone()
            }
            .passes()
        })
    }

    /// Returns the tolerance as text.
    pub(crate) fn tolerance(&self) -> String {
        let tolerance = match self.tolerance {
            Tolerance::Relative(fraction) if fraction < 1e-3 => format!("{:.0e}", fraction),
            Tolerance::Relative(fraction) => format!("{} %", (fraction * 1e5).round() / 1e3),
            Tolerance::Absolute(limit) => format!("± {limit}"),
            Tolerance::AtMost => "at most".into(),
            Tolerance::AtLeast => "at least".into(),
        };
        match self.goal {
            Some(goal) if self.misses_goal() => format!("{tolerance}; misses the goal {goal}"),
            Some(goal) => format!("{tolerance}; reaches the goal {goal}"),
            None => tolerance,
        }
    }
}
