//! Names of the prelude beside those of Avian and Bevy.

/// Glob imports of all preludes. A name that two of them export is ambiguous, and using it does not compile.
#[cfg(all(
    feature = "parry",
    feature = "debug",
    feature = "avian",
    feature = "rapier",
    feature = "panel",
    feature = "picking"
))]
mod every_name_compiles_beside_avian_and_bevy {
    use avian3d::prelude::*;
    use bevy::prelude::*;
    use bevy_drape::prelude::*;

    macro_rules! used {
        ($($name:ident)*) => {
            /// Names as the prelude is to have them.
            pub(super) const NAMES: &[&str] = &[$(stringify!($name)),*];

            #[expect(unused_imports, reason = "only have to resolve")]
            mod used {
                $(use super::$name as _;)*
            }
        };
    }

    used! {
        AvianClothPlugin Cloth ClothCollider ClothCommands ClothDebugPlugin ClothEdge ClothGravity
        ClothGrid ClothInteractionPlugin ClothMeshCollider ClothPanelPlugin ClothParticles
        ClothPlugin ClothReady ClothSubsteps ClothSystems ClothTearing ClothTime Fabric Pins
        RapierClothPlugin ResetCloth Rope SelfCollision Wind WindZone
    }

    /// Names of Avian and Bevy that a program with cloth is likely to use.
    #[expect(dead_code, reason = "only has to compile")]
    fn of_the_others(_: RigidBody, _: Collider, _: Substeps, _: Transform, _: Friction) {}
}

#[cfg(all(
    feature = "parry",
    feature = "debug",
    feature = "avian",
    feature = "rapier",
    feature = "panel",
    feature = "picking"
))]
#[test]
fn the_list_above_has_every_name_of_the_prelude() {
    use every_name_compiles_beside_avian_and_bevy::NAMES;
    let source = include_str!("../../src/prelude.rs");
    let code = source
        .lines()
        .filter(|line| !line.trim().starts_with(['/', '#']));
    let code: String = code.collect::<Vec<_>>().join(" ");
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut exported: Vec<_> = words
        .filter(|word| word.starts_with(|c: char| c.is_uppercase()))
        .collect();
    exported.sort_unstable();
    assert_eq!(exported, NAMES);
}
