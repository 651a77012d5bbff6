//! One row of the table.

/// How far from the expected value a measured one may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Allowed {
    /// A share of the expected value.
    Share(f64),
    /// So much, in the unit of the value.
    Off(f64),
    /// As much as is expected, or less.
    AtMost,
}

/// Something measured, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// What was measured, with its unit.
    pub(crate) what: String,
    pub(crate) expected: f64,
    pub(crate) got: f64,
    pub(crate) allowed: Allowed,
}

impl Row {
    /// A value that may be off by a share of what is expected.
    pub(crate) fn near(what: impl Into<String>, expected: f64, got: f64, share: f64) -> Self {
        Self {
            what: what.into(),
            expected,
            got,
            allowed: Allowed::Share(share),
        }
    }

    /// A value that may be off by so much.
    pub(crate) fn within(what: impl Into<String>, expected: f64, got: f64, off: f64) -> Self {
        Self {
            what: what.into(),
            expected,
            got,
            allowed: Allowed::Off(off),
        }
    }

    /// A value that may not be above a limit.
    pub(crate) fn at_most(what: impl Into<String>, limit: f64, got: f64) -> Self {
        Self {
            what: what.into(),
            expected: limit,
            got,
            allowed: Allowed::AtMost,
        }
    }

    /// Whether it is as expected. NaN never is.
    pub(crate) fn passes(&self) -> bool {
        let off = (self.got - self.expected).abs();
        match self.allowed {
            Allowed::Share(share) => off <= share * self.expected.abs(),
            Allowed::Off(most) => off <= most,
            Allowed::AtMost => self.got <= self.expected,
        }
    }

    /// What is allowed, for people.
    pub(crate) fn tolerance(&self) -> String {
        match self.allowed {
            Allowed::Share(share) if share < 1e-3 => format!("{:.0e}", share),
            Allowed::Share(share) => format!("{} %", (share * 1e5).round() / 1e3),
            Allowed::Off(most) => format!("± {most}"),
            Allowed::AtMost => "at most".into(),
        }
    }
}
