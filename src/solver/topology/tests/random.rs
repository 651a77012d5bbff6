//! Long random sequences of edits of every kind.

use super::*;

#[test]
fn ten_thousand_random_cuts_and_tears_leave_a_sound_cloth() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move || {
        // xorshift64*, Vigna 2016.
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        (random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f32 / (1 << 24) as f32
    };
    let mut operations = 0;
    while operations < 10_000 {
        let mut cloth = Cloth::square(12);
        let area: f32 = cloth.triangles.rest_area.iter().sum();
        let most = 3 * cloth.particles.len();
        for round in 0..500 {
            operations += 1;
            let mut point = || Vec3::new(next() - 0.5, 0.0, next() - 0.5) * 14.0;
            let (from, to, along) = (point(), point(), Vec3::Y + point() * 0.05);
            let number = (next() * cloth.triangles.indices.len() as f32) as usize;
            let [a, b, c] = cloth.triangles.indices.at(number);
            let blade = Blade::stroke(
                from + cloth.particles.origin,
                to + cloth.particles.origin,
                along * 3.0,
            );
            let kind = next();
            let mut edit = cloth.edit();
            if kind < 0.5 {
                edit.cut(&blade, Some(a), most);
            } else if kind < 0.9 {
                edit.tear_across([a, b], 2);
                edit.tear_across([b, c], 1);
            } else {
                edit.open_edges([[a, b], [b, c]]);
            }
            edit.finish();
            if round % 20 == 0 {
                cloth.check();
            }
        }
        cloth.check();
        let now: f32 = cloth.triangles.rest_area.iter().sum();
        assert!((now / area - 1.0).abs() < 1e-3, "{now} m² of {area}");
        assert!(cloth.particles.len() < 8 * 144 * 6, "too many particles");
    }
}
