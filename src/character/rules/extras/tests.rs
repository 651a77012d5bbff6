use super::*;

fn read_text(text: &str) -> (ExtrasComponents, Vec<String>) {
    let Ok(Value::Object(all)) = serde_json::from_str(text) else {
        panic!("{text}");
    };
    read(&all)
}

#[test]
fn all_properties_are_read() {
    let (components, errors) = read_text(
        r#"{
            "cloth": "Silk", "cloth_damping": 1, "cloth_gravity_scale": 0.5,
            "cloth_self_collision": "on", "cloth_pins": "top, joint:Neck",
            "cloth_max_distance": 0.8, "cloth_max_distance_paint": "red",
            "cloth_backstop": 0.02, "cloth_backstop_radius": 0.3,
            "cloth_part": "attribute:Cloth", "cloth_mass": 4, "cloth_mass_paint": "blue",
            "cloth_stiffness": 2, "cloth_inertia": 0.5, "cloth_collider": 1.2
        }"#,
    );
    assert_eq!(errors, [""; 0]);
    let expected = ExtrasComponents {
        cloth: Some(Cloth {
            fabric: Fabric::silk(),
            damping: 1.0,
            gravity_scale: 0.5,
            self_collision: SelfCollision::On,
            ..default()
        }),
        pins: Some(Pins::edge(ClothEdge::Top).and(Pins::painted(VertexChannel::joint("Neck")))),
        max_distance: Some(
            ClothMaxDistance::painted(VertexChannel::Red, 0.8).with_backstop(0.02, 0.3),
        ),
        part: Some(ClothPart::painted(VertexChannel::attribute("Cloth"))),
        paint: Some(ClothPaint {
            mass: PerVertex::Painted {
                channel: VertexChannel::Blue,
                zero: 1.0,
                one: 4.0,
            },
            bending_stiffness: 2.0.into(),
        }),
        inertia: Some(ClothInertia::uniform(0.5)),
        colliders: Some(SkeletonColliders {
            thickness: 1.2,
            ..default()
        }),
    };
    assert_eq!(components, expected);
}

#[test]
fn invalid_properties_are_reported_and_the_others_apply() {
    let (components, errors) = read_text(
        r#"{
            "cloth": true, "cloth_pin": "top", "cloth_damping": "much",
            "cloth_pins": "top, sideways", "cloth_gravity_scale": 2,
            "cloth_mass_paint": "red"
        }"#,
    );
    let count_of = |what: &str| {
        errors
            .iter()
            .filter(|error| error.starts_with(what))
            .count()
    };
    for what in [
        "cloth_pin: ",
        "cloth_damping: ",
        "cloth_pins: ",
        "cloth_mass_paint: ",
    ] {
        assert_eq!(count_of(what), 1, "{what}{errors:#?}");
    }
    assert_eq!(errors.len(), 4);
    assert_eq!(components.cloth.unwrap().gravity_scale, 2.0);
    let (_, errors) = read_text(r#"{"cloth": true, "cloth_backstop": 0.1}"#);
    assert!(errors[0].contains("cloth_max_distance"), "{errors:?}");
    let (components, errors) = read_text(r#"{"cloth": "silc"}"#);
    assert!(errors[0].contains("silk"), "{errors:?}");
    assert_eq!(
        components.cloth,
        Some(Cloth::default()),
        "it is cloth all the same"
    );
}

#[test]
fn without_the_cloth_property_there_is_no_cloth() {
    assert_eq!(
        read_text(r#"{"cloth": false}"#),
        (ExtrasComponents::default(), vec![])
    );
    let (components, errors) = read_text(r#"{"cloth_damping": 1}"#);
    assert_eq!((components, errors.len()), (ExtrasComponents::default(), 1));
    for (value, expected) in [
        ("true", Some(SkeletonColliders::capsules())),
        ("false", None),
        (r#""capsules""#, Some(SkeletonColliders::capsules())),
        (r#""mesh""#, Some(SkeletonColliders::mesh())),
    ] {
        let (components, errors) = read_text(&format!(r#"{{"cloth_collider": {value}}}"#));
        assert_eq!(components.colliders, expected);
        assert!(components.cloth.is_none());
        assert_eq!(
            errors.is_empty(),
            expected.is_some() || value == "true",
            "{errors:?}"
        );
    }
    let (components, errors) = read_text(r#"{"cloth_collider": "box"}"#);
    assert!(components.colliders.is_none() && errors[0].contains("capsules, mesh"));
}
