use super::*;
use std::f32::consts::TAU;

/// Tapered capsule with a known answer.
struct Known {
    from: Vec3,
    axis: Vec3,
    length: f32,
    radii: [f32; 2],
}

const ARM: Known = Known {
    from: Vec3::new(0.3, 1.2, -0.4),
    axis: Vec3::new(0.48, 0.64, -0.6),
    length: 0.5,
    radii: [0.12, 0.08],
};

impl Known {
    fn of(limb: &Limb) -> Self {
        let axis = limb.rotation * Vec3::Y;
        Self {
            from: limb.centre - axis * (0.5 * limb.length),
            axis,
            length: limb.length,
            radii: [limb.radius_bottom, limb.radius_top],
        }
    }

    fn limb(&self) -> Limb {
        Limb::from(&TaperedCapsule {
            ends: [self.from, self.from + self.axis * self.length],
            radii: self.radii,
        })
    }

    /// Returns points on the surface, each moved in or out by up to this fraction of the radius. `side` are the angles
    /// around the axis, in turns; `ends`: whether the round ends are covered.
    fn points(&self, side: std::ops::Range<f32>, ends: bool, noise: f32) -> Vec<Vec3> {
        let x = self.axis.any_orthonormal_vector();
        let z = self.axis.cross(x);
        let lean = (self.radii[0] - self.radii[1]) / self.length;
        let (mut points, mut random) = (Vec::new(), 1_u32);
        for ring in 0..32 {
            // Angle of the normal to the axis: along the lower ball, the side, the upper ball.
            let t = ring as f32 / 31.0;
            let (sine, along) = match t {
                _ if !ends => (lean, t),
                t if t < 0.25 => (lean + (1.0 - t / 0.25) * (-1.0 - lean), 0.0),
                t if t > 0.75 => (lean + (t - 0.75) / 0.25 * (1.0 - lean), 1.0),
                t => (lean, (t - 0.25) / 0.5),
            };
            let cosine = (1.0 - sine * sine).max(0.0).sqrt();
            let radius = self.radii[0] + (self.radii[1] - self.radii[0]) * along;
            for k in 0..24 {
                let turn = TAU * (side.start + (side.end - side.start) * k as f32 / 24.0);
                let normal = (x * turn.cos() + z * turn.sin()) * cosine + self.axis * sine;
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = noise * (random as f32 / u32::MAX as f32 * 2.0 - 1.0);
                let centre = self.from + self.axis * (self.length * along);
                points.push(centre + normal * (radius * (1.0 + noise)));
            }
        }
        points
    }

    /// Asserts that one capsule was found with this axis and these radii, up to a relative tolerance, and, if the ends are
    /// covered, with this length, which all points of the ends but the outermost hardly tell.
    fn check(&self, limbs: &[Limb], tolerance: f32, ends: bool) {
        let [limb] = limbs else {
            panic!("{limbs:?}");
        };
        let axis = limb.rotation * Vec3::Y;
        let (bottom, top) = match axis.dot(self.axis) > 0.0 {
            true => (limb.radius_bottom, limb.radius_top),
            false => (limb.radius_top, limb.radius_bottom),
        };
        // The radii of the known cone at the ends that were found.
        let along = |k: f32| {
            let end = limb.centre + self.axis * (0.5 * limb.length * k) - self.from;
            end.dot(self.axis) / self.length
        };
        let radius = |t: f32| self.radii[0] + (self.radii[1] - self.radii[0]) * t;
        let expected = [radius(along(-1.0)), radius(along(1.0))];
        for (found, expected) in [bottom, top].into_iter().zip(expected) {
            assert!(
                (found / expected - 1.0).abs() < tolerance,
                "{found} is not {expected}: {limb:?}"
            );
        }
        assert!(
            axis.dot(self.axis).abs() > 1.0 - tolerance * tolerance,
            "{axis}"
        );
        if ends {
            assert!(
                (limb.length / self.length - 1.0).abs() < 2.0 * tolerance,
                "{limb:?}"
            );
            let middle = self.from + self.axis * (0.5 * self.length);
            assert!(
                limb.centre.distance(middle) < tolerance * self.length,
                "{limb:?}"
            );
        }
    }
}

#[test]
fn a_tapered_capsule_is_recovered_from_points_on_it() {
    for bone in [None, Some(ARM.axis), Some(Vec3::X)] {
        ARM.check(
            &Limb::around(&ARM.points(0.0..1.0, true, 0.0), bone),
            0.02,
            true,
        );
    }
}

#[test]
fn noise_of_three_per_cent_moves_radii_by_less_than_five() {
    ARM.check(
        &Limb::around(&ARM.points(0.0..1.0, true, 0.03), None),
        0.05,
        true,
    );
}

#[test]
fn an_open_tube_has_the_radii_of_its_points() {
    ARM.check(
        &Limb::around(&ARM.points(0.0..1.0, false, 0.0), None),
        0.03,
        false,
    );
}

#[test]
fn half_of_a_tube_has_the_radii_of_the_whole() {
    for ends in [true, false] {
        ARM.check(
            &Limb::around(&ARM.points(0.1..0.65, ends, 0.0), None),
            0.05,
            ends,
        );
    }
}

#[test]
fn nearly_all_points_are_enclosed() {
    let points = ARM.points(0.0..1.0, true, 0.1);
    let limbs = Limb::around(&points, None);
    let outside = points
        .iter()
        .filter(|at| limbs.iter().all(|limb| limb.distance(**at) > 1e-5));
    assert!(outside.count() * 100 <= points.len());
}

#[test]
fn a_chest_gets_several_capsules_that_protrude_little() {
    // An elliptic cylinder, 40 cm wide, 50 cm high and 20 cm deep.
    let points: Vec<Vec3> = (0..20)
        .flat_map(|row| {
            (0..24).map(move |k| {
                let turn = TAU * k as f32 / 24.0;
                Vec3::new(0.2 * turn.cos(), 0.025 * row as f32, 0.1 * turn.sin())
            })
        })
        .collect();
    let limbs = Limb::around(&points, Some(Vec3::Y));
    assert!(limbs.len() > 1, "{limbs:?}");
    let depth = |at: &Vec3| {
        limbs
            .iter()
            .map(|limb| -limb.distance(*at))
            .fold(0.0, f32::max)
    };
    let mean = points.iter().map(depth).sum::<f32>() / points.len() as f32;
    assert!(mean < 0.015, "{mean}: {limbs:?}");
}

#[test]
fn capsules_of_a_trunk_with_shoulders_protrude_little() {
    // Chest and shoulders: one side of each, and both as wide as those of a grown figure.
    let side = |x: f32| Known {
        from: Vec3::new(0.6 * x, 0.0, 0.0),
        axis: Vec3::new(0.4 * x, 0.21, 0.0).normalize(),
        length: 0.21,
        radii: [0.085, 0.105],
    };
    let shoulders = Known {
        from: Vec3::new(-0.165, 0.3, 0.0),
        axis: Vec3::X,
        length: 0.33,
        radii: [0.073, 0.073],
    };
    let shape = [side(0.085), side(-0.085), shoulders];
    let outside = |at: &Vec3| {
        let distances = shape.iter().map(|part| part.limb().distance(*at));
        distances.fold(f32::INFINITY, f32::min)
    };
    let all = shape
        .iter()
        .flat_map(|part| part.points(0.0..1.0, true, 0.0));
    let points: Vec<Vec3> = all.filter(|at| outside(at) > -1e-4).collect();
    let limbs = Limb::around(&points, Some(Vec3::Y));
    assert!(limbs.len() > 2, "{limbs:?}");
    let is_outside = |at: &&Vec3| limbs.iter().all(|limb| limb.distance(**at) > 1e-3);
    assert!(points.iter().filter(is_outside).count() * 100 < points.len());
    let surface = limbs
        .iter()
        .flat_map(|limb| Known::of(limb).points(0.0..1.0, true, 0.0));
    let most = surface.map(|at| outside(&at)).fold(0.0, f32::max);
    // Two capsules protrude by 6 cm.
    assert!(most < 0.035, "{most}: {limbs:?}");
}

#[test]
fn degenerate_points_give_no_capsule_or_a_ball() {
    assert_eq!(Limb::around(&[Vec3::ZERO; 4], None), []);
    assert_eq!(Limb::around(&[Vec3::ZERO; 40], None), []);
    assert_eq!(Limb::around(&[Vec3::NAN; 40], None), []);
    // Points on a line, and on a ball.
    let line: Vec<Vec3> = (0..40).map(|k| Vec3::X * k as f32).collect();
    for limb in Limb::around(&line, None) {
        assert!(limb.centre.is_finite() && limb.length.is_finite() && limb.radius_top > 0.0);
    }
    let ball = Known {
        length: 1e-4,
        radii: [0.1; 2],
        ..ARM
    };
    let limbs = Limb::around(&ball.points(0.0..1.0, true, 0.0), None);
    let [limb] = limbs[..] else {
        panic!("{limbs:?}")
    };
    assert!(
        (limb.radius_top - 0.1).abs() < 0.005 && limb.length < 0.02,
        "{limb:?}"
    );
}

impl Limb {
    /// Returns the signed distance of a point from the surface, m; negative inside.
    fn distance(&self, point: Vec3) -> f32 {
        let half = self.rotation * Vec3::Y * (0.5 * self.length);
        let capsule = TaperedCapsule {
            ends: [self.centre - half, self.centre + half],
            radii: [self.radius_bottom, self.radius_top],
        };
        capsule.distance(point)
    }
}
