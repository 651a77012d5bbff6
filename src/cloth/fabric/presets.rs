//! Fabric presets.
//!
//! | preset | areal density, kg/m² | bending, N·m | stretch, N/m | shear, N/m | from |
//! |---|---|---|---|---|---|
//! | cotton | 0.150 | 2.3e-6 | 261 | 105 | CIPC |
//! | wool | 0.235 | 2.8e-6 | 97 | 38 | CIPC |
//! | polyester | 0.165 | 0.75e-6 | 120 | 44 | CIPC |
//! | silk | 0.031 | 1.1e-6 | | | lightest and limpest of 618 (5 % quantiles) |
//! | denim | 0.488 | 110e-6 | | | heaviest and stiffest of 618 (95 % quantiles) |
//! | leather, rubber sheet, paper, chain mail | | | | | no measured source, see their functions |
//!
//! CIPC: Li, Kaufman, Jiang, "Codimensional Incremental Potential Contact" (2021), which gives density ρ,
//! thickness t, Young's modulus E and Poisson's ratio ν: areal density ρt, bending stiffness Et³/(12(1 − ν²)),
//! stretch stiffness Et, shear stiffness Et/(2(1 + ν)). The 618 are unnamed fabrics with measured density and warp
//! bending stiffness; their medians are 0.197 kg/m² and 13.8e-6 N·m.
//!
//! The presets leave friction and air at the defaults (only chain mail lets air through), and the distance from
//! colliders too: real thickness is less than a mesh for games can keep.

use super::Fabric;

impl Fabric {
    /// All presets with their names.
    pub const PRESETS: &[(&str, Self)] = &[
        ("cotton", Self::cotton()),
        ("wool", Self::wool()),
        ("polyester", Self::polyester()),
        ("silk", Self::silk()),
        ("denim", Self::denim()),
        ("leather", Self::leather()),
        ("rubber sheet", Self::rubber_sheet()),
        ("paper", Self::paper()),
        ("chain mail", Self::chain_mail()),
    ];

    /// Returns the preset of a name, in lower or upper case, with spaces or underscores.
    ///
    /// ```
    /// # use bevy_drape::cloth::Fabric;
    /// assert_eq!(Fabric::named("Rubber_Sheet"), Some(Fabric::rubber_sheet()));
    /// assert_eq!(Fabric::named("lead"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let wanted = name.to_lowercase().replace('_', " ");
        let preset = Self::PRESETS.iter().find(|(known, _)| *known == wanted);
        preset.map(|(_, fabric)| *fabric)
    }

    /// Returns the names of all presets, for a message.
    #[cfg(any(feature = "gltf", feature = "serialize"))]
    pub(crate) fn names() -> String {
        let names: Vec<_> = Self::PRESETS.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// Makes an inextensible fabric from its areal density, kg/m², and bending stiffness, N·m.
    const fn from_density_and_bending(areal_density: f32, bending_stiffness: f32) -> Self {
        Self {
            areal_density,
            bending_stiffness,
            ..Self::PLAIN
        }
    }

    /// Makes the fabric elastic, equally in all directions, with stiffnesses in N/m.
    const fn elastic(self, stretch: f32, shear: f32) -> Self {
        Self {
            warp_stiffness: Some(stretch),
            weft_stiffness: Some(stretch),
            shear_stiffness: Some(shear),
            ..self
        }
    }

    /// Cotton: 473 kg/m³, 0.318 mm, 0.821 MPa, ν 0.243 (CIPC).
    pub const fn cotton() -> Self {
        Self::from_density_and_bending(0.150, 2.3e-6).elastic(261.0, 105.0)
    }

    /// Wool: 413 kg/m³, 0.568 mm, 0.170 MPa, ν 0.277 (CIPC).
    pub const fn wool() -> Self {
        Self::from_density_and_bending(0.235, 2.8e-6).elastic(97.0, 38.0)
    }

    /// Polyester: 653 kg/m³, 0.252 mm, 0.478 MPa, ν 0.381 (CIPC).
    pub const fn polyester() -> Self {
        Self::from_density_and_bending(0.165, 0.75e-6).elastic(120.0, 44.0)
    }

    /// Light silk: 5 % quantiles of density and bending stiffness of 618 measured fabrics. No single silk was
    /// measured.
    pub const fn silk() -> Self {
        Self::from_density_and_bending(0.031, 1.1e-6)
    }

    /// Denim: 95 % quantiles of density and bending stiffness of 618 measured fabrics. No single denim was
    /// measured.
    pub const fn denim() -> Self {
        Self::from_density_and_bending(0.488, 110e-6)
    }

    /// Garment leather. No measured source: 1 mm of 900 kg/m³ with a modulus of 12 MPa.
    pub const fn leather() -> Self {
        Self::from_density_and_bending(0.9, 1e-3)
    }

    /// Rubber sheet that stretches to twice its length. No measured source: 0.5 mm of natural rubber, 950 kg/m³,
    /// with a modulus of 1.5 MPa and ν 0.5.
    pub const fn rubber_sheet() -> Self {
        Self {
            strain_limit: Some(1.0),
            // Modulus times thickness, and a third of that.
            ..Self::from_density_and_bending(0.475, 21e-6).elastic(750.0, 250.0)
        }
    }

    /// Office paper. No measured source: 80 g/m², 0.1 mm, with a modulus of 3 GPa.
    pub const fn paper() -> Self {
        Self {
            shear_stiffness: None,
            ..Self::from_density_and_bending(0.08, 250e-6)
        }
    }

    /// Chain mail, rings that hang freely in each other. No measured source: 10 kg for a shirt of 1.2 m². Bends
    /// freely and lets air through.
    pub const fn chain_mail() -> Self {
        Self {
            drag: 0.1,
            lift: 0.0,
            ..Self::from_density_and_bending(8.0, 0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params;

    #[test]
    fn presets_are_in_their_ranges_and_in_order() {
        for (name, mut fabric) in Fabric::PRESETS.iter().copied() {
            assert_eq!(
                params::sanitize(params::FABRIC, &mut fabric),
                Vec::<String>::new(),
                "{name}"
            );
        }
        // Sag grows with weight over stiffness.
        let limp = |fabric: Fabric| fabric.areal_density / fabric.bending_stiffness;
        let order = [
            Fabric::wool(),
            Fabric::cotton(),
            Fabric::denim(),
            Fabric::leather(),
        ];
        assert!(order.map(limp).is_sorted_by(|a, b| a > b));
    }
}
