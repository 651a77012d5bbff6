//! TODO: what this module contains.

pub(crate) mod finish;
pub(crate) mod prepare;
pub(crate) mod stages;
pub(crate) mod substeps;
pub(crate) mod warm_up;
