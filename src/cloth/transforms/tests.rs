use super::*;

fn at(x: f32) -> GlobalTransform {
    GlobalTransform::from_xyz(x, 0.0, 0.0)
}

fn x(history: &TransformHistory, fraction: f32) -> f32 {
    history.at(fraction).translation().x
}

#[test]
fn motion_between_frames_is_interpolated() {
    let mut history = TransformHistory::default();
    history.sample(at(1.0), 0.1, true);
    assert!(!history.moved_by_frame, "only one sample so far");
    history.sample(at(2.0), 0.1, true);
    assert!(history.moved_by_frame);
    assert_eq!(
        [0.0, 0.25, 1.0].map(|fraction| x(&history, fraction)),
        [1.0, 1.25, 2.0]
    );
    history.sample(at(2.0), 0.1, true);
    assert!(!history.moved_by_frame, "stopped");
}

#[test]
fn only_roots_that_stay_where_they_are_come_to_rest() {
    let mut history = TransformHistory::default();
    let mut rests = |x, is_root| {
        history.sample(at(x), 0.1, is_root);
        history.is_at_rest
    };
    assert!(!rests(1.0, true), "only one sample so far");
    assert!(rests(1.0, true));
    assert!(!rests(1.0, false), "its parent may move");
    assert!(!rests(2.0, true));
    assert!(rests(2.0, true));
    history.jump();
    assert!(!history.is_at_rest);
}

#[test]
fn motion_in_the_fixed_schedule_and_jumps_are_not_interpolated() {
    let mut history = TransformHistory::default();
    history.sample(at(1.0), 0.1, true);
    // The fixed schedule moves it on.
    history.after_fixed = at(1.5);
    history.sample(at(1.5), 0.1, true);
    assert!(!history.moved_by_frame);
    history.sample(at(100.0), 0.1, true);
    assert!(!history.moved_by_frame);
    history.jump();
    history.sample(at(101.0), 0.1, true);
    assert!(!history.moved_by_frame);
}

#[test]
fn interpolation_takes_the_shorter_rotation() {
    let [a, b] = [0.1, 0.3].map(|angle| Pose {
        rotation: Quat::from_rotation_y(angle),
        translation: Vec3::X * angle,
    });
    let other = Pose {
        rotation: -b.rotation,
        ..b
    };
    let half = interpolate(&a, &other, 0.5);
    assert!(half.rotation.angle_between(Quat::from_rotation_y(0.2)) < 1e-3);
    assert!((half.translation.x - 0.2).abs() < 1e-6);
}
