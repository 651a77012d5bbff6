//! Known answers: experiments with the solver, their results, and the expected results from a formula or a table
//! in the literature, never from an earlier run of this code. Rest, length, crossings and symmetry have goals instead: what
//! a viewer does not see. Where the solver misses a goal so far, the row says so, and its limit is near today's value.
//!
//! The tests in `tests/physics` check every row; the example `validate` prints them.

pub(crate) mod air;
pub(crate) mod bending;
pub(crate) mod chains;
pub(crate) mod cloths;
pub(crate) mod contacts;
pub(crate) mod crossings;
pub(crate) mod cusick;
pub(crate) mod hands;
pub(crate) mod membrane;
pub(crate) mod motion;
pub(crate) mod rates;
pub(crate) mod rest;
mod row;
pub(crate) mod scale;
pub(crate) mod storm;
pub(crate) mod symmetry;

pub(crate) use row::Row;

/// Rows of the table with a common source.
pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    /// Formula, or publication.
    pub(crate) source: &'static str,
    pub(crate) run: fn() -> Vec<Row>,
}

/// All experiments.
pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "free fall",
        source: "at²/2; Euler ½aT(T ± Δt)",
        run: motion::free_fall,
    },
    Experiment {
        name: "oscillator",
        source: "ω = 2/Δt·asin(ω₀Δt/2) (Hairer, Lubich, Wanner 2003)",
        run: motion::oscillator,
    },
    Experiment {
        name: "pendulum",
        source: "T = 4√(L/g)·K(sin θ₀/2)",
        run: motion::pendulum,
    },
    Experiment {
        name: "hanging chain",
        source: "eigenvalues of the discrete chain (D. Bernoulli 1732 for the continuous one)",
        run: chains::first_modes,
    },
    Experiment {
        name: "catenary",
        source: "2a·sinh(D/2a) = L (Leibniz, Huygens, J. Bernoulli 1691)",
        run: chains::catenaries,
    },
    Experiment {
        name: "law of relaxation",
        source: "ΔL = gΔts²N²/2K",
        run: chains::stretch_of_relaxation,
    },
    Experiment {
        name: "static stretch",
        source: "ΔL = αmg·N(N+1)/2 (Hooke), by XPBD (Macklin et al. 2016)",
        run: chains::stretch_of_compliance,
    },
    Experiment {
        name: "stretch of a fabric",
        source: "ΔL = σgL²/2Y (Hooke)",
        run: membrane::stretch,
    },
    Experiment {
        name: "stretch of triangles",
        source: "k = YΣA/L² (Van Gelder 1998)",
        run: membrane::stretch_of_triangles,
    },
    Experiment {
        name: "stretch of presets",
        source: "u = σg(sL − s²/2)/Y (Hooke), with the settings of the plugin",
        run: membrane::stretch_of_presets,
    },
    Experiment {
        name: "shear of a fabric",
        source: "sag σgW²/2G (Hooke)",
        run: membrane::shear,
    },
    Experiment {
        name: "cantilever",
        source: "the elastica under its weight, Γ = σgL³/B, by a Runge–Kutta shooting method",
        run: bending::cantilever,
    },
    Experiment {
        name: "step and mesh independence",
        source: "the fabric does not depend on mesh and substeps",
        run: bending::independence,
    },
    Experiment {
        name: "buckling",
        source: "a clamped column is stable up to σgL³/B = 7.8373 (Greenhill 1881)",
        run: bending::buckling,
    },
    Experiment {
        name: "Cusick drape",
        source: "fabrics stiffer for their weight have larger shadows (Cusick 1968)",
        run: cusick::presets_in_order,
    },
    Experiment {
        name: "friction cone",
        source: "slips where tan θ > μ; a = g(sin θ − μ·cos θ) (Coulomb 1785)",
        run: contacts::friction_cone,
    },
    Experiment {
        name: "layers on a slope",
        source: "cloth on cloth slips where tan θ > μ; s = ½g(sin θ − μ·cos θ)t² (Coulomb 1785)",
        run: contacts::layers_on_a_slope,
    },
    Experiment {
        name: "capstan",
        source: "T₂/T₁ = e^(μφ) (Euler 1769, Eytelwein 1808)",
        run: contacts::capstan,
    },
    Experiment {
        name: "terminal velocity",
        source: "v = √(2σg/ρC_D)·tanh(gt/v_t)",
        run: air::terminal_velocity,
    },
    Experiment {
        name: "momentum",
        source: "Newton 1687",
        run: cloths::momentum,
    },
    Experiment {
        name: "rest pose",
        source: "nothing moves without a force",
        run: cloths::rest,
    },
    Experiment {
        name: "sphere drape",
        source: "no particle is inside",
        run: contacts::drape,
    },
    Experiment {
        name: "twist",
        source: "cloth wrung by π/3 rad/s at both ends for 10 s does not pass through itself",
        run: crossings::twisted,
    },
    Experiment {
        name: "crossings",
        source: "no particle passes through a triangle, no edge through an edge; a slide over cloth is not braked",
        run: crossings::sample,
    },
    Experiment {
        name: "drapes",
        source: "5 s after its fall a sheet is at rest, and its links have their lengths",
        run: rest::sample,
    },
    Experiment {
        name: "storm",
        source: "a flag keeps its length, and moves in the same way at any rate of the steps",
        run: storm::sample,
    },
    Experiment {
        name: "flapping frequency",
        source: "f = U/1.87L (Raynaud, Mulleners 2026, arXiv:2602.06237, waves as fast as the wind)",
        run: storm::flapping,
    },
    Experiment {
        name: "fast hands",
        source: "cloth whose pins jump to 20 m/s keeps its length",
        run: hands::jerked,
    },
    Experiment {
        name: "rates: hanging cloth",
        source: "motion does not depend on the rate of the steps",
        run: rates::hanging,
    },
    Experiment {
        name: "rates: drape",
        source: "motion does not depend on the rate of the steps",
        run: rates::drape,
    },
    Experiment {
        name: "scale",
        source: "lengths grow with the size, times with its root (Froude 1861)",
        run: scale::similar_sheets,
    },
    Experiment {
        name: "symmetry",
        source: "flat cloth that is compressed buckles, and lies down within 2 s",
        run: symmetry::buckling,
    },
    Experiment {
        name: "energy",
        source: "nothing that falls or lies gains energy",
        run: symmetry::energy,
    },
];

/// The longer list: rest, length, crossings and storms for all shapes, sizes and settings. Takes hours.
pub(crate) const FULL: [&[Experiment]; 4] =
    [rest::FULL, crossings::LONG, storm::FULL, membrane::FULL];
