//! Plots of some experiments, as SVG.

use crate::{
    answers::{bending, chains, cusick},
    energy::{self, Energy},
    strip::Strip,
};
use plotters::prelude::*;
use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
};

type Drawn = Result<(), Box<dyn Error>>;

/// Writes all plots to a folder. Returns their files.
pub(crate) fn draw(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let plots: [(&str, fn(&Path) -> Drawn); 4] = [
        ("catenary", catenary),
        ("cantilever", cantilever),
        ("drape", drape),
        ("energy", energy_plot),
    ];
    let mut files = Vec::new();
    for (name, draw) in plots {
        let file = folder.join(name).with_extension("svg");
        draw(&file)?;
        files.push(file);
    }
    Ok(files)
}

const SIZE: (u32, u32) = (800, 500);

/// Colours of measured and of known values.
const MEASURED: RGBColor = RGBColor(214, 69, 31);
const KNOWN: RGBColor = RGBColor(60, 90, 160);

/// Creates a chart with axes, a title and margins.
macro_rules! chart {
    ($area:expr, $title:expr, $x:expr, $y:expr, $x_name:expr, $y_name:expr) => {{
        $area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&$area)
            .caption($title, ("sans-serif", 22))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d($x, $y)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .x_desc($x_name)
            .y_desc($y_name)
            .draw()?;
        chart
    }};
}

fn catenary(file: &Path) -> Drawn {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    let title = "A chain of 1 m between two pins: 65 particles, and the catenary";
    let mut chart = chart!(area, title, -0.5..0.5, -0.48..0.02, "x, m", "y, m");
    for (span, sag) in chains::SAGS {
        let span = f64::from(span);
        let shape = |x: f64| parameter(span) * ((x / parameter(span)).cosh() - 1.0) - sag;
        let known = (0..=200).map(|i| {
            let x = span * (f64::from(i) / 200.0 - 0.5);
            (x, shape(x))
        });
        chart.draw_series(LineSeries::new(known, KNOWN.stroke_width(2)))?;
        let chain = chains::catenary(span as f32);
        let measured = chain.iter().map(|at| {
            let at = (f64::from(at.x) - span / 2.0, f64::from(at.y));
            Circle::new(at, 2, MEASURED.filled())
        });
        chart.draw_series(measured)?;
    }
    area.present()?;
    Ok(())
}

/// Returns the a of the catenary of a chain of 1 m over a span: 2a·sinh(D/2a) = 1, by bisection.
fn parameter(span: f64) -> f64 {
    let (mut low, mut high) = (1e-3, 10.0);
    for _ in 0..60 {
        let a = f64::midpoint(low, high);
        // A larger a means a tauter, shorter chain.
        if 2.0 * a * (span / (2.0 * a)).sinh() > 1.0 {
            low = a;
        } else {
            high = a;
        }
    }
    f64::midpoint(low, high)
}

fn cantilever(file: &Path) -> Drawn {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    let title = "A strip clamped at one end: its tip, and the elastica";
    let (x, y) = ((0.08..120.0).log_scale(), (0.01..8.0).log_scale());
    let mut chart = chart!(area, title, x, y, "Γ = σgL³/B", "drop over reach");
    let known = bending::CANTILEVER;
    chart.draw_series(LineSeries::new(known, KNOWN.stroke_width(2)))?;
    let measured = known.map(|(gamma, _)| {
        let droop = Strip::grid(32, 1.0).droop(gamma);
        Circle::new((gamma, droop), 4, MEASURED.filled())
    });
    chart.draw_series(measured)?;
    area.present()?;
    Ok(())
}

fn drape(file: &Path) -> Drawn {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    let title = "Drape coefficients of the presets, the limpest first";
    let all = cusick::coefficients();
    let width = all.len() as f64;
    let mut chart = chart!(area, title, 0.0..width, 0.0..100.0, "preset", "%");
    for (i, (name, coefficient)) in all.into_iter().enumerate() {
        let left = i as f64;
        let bar = [(left + 0.15, 0.0), (left + 0.85, coefficient)];
        chart.draw_series([Rectangle::new(bar, MEASURED.filled())])?;
        let at = (left + 0.2, coefficient + 5.0);
        chart.draw_series([Text::new(name, at, ("sans-serif", 16))])?;
    }
    area.present()?;
    Ok(())
}

fn energy_plot(file: &Path) -> Drawn {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    let title = "Energy of an undamped sheet swinging from two corners";
    let x = 0.0..energy::SWING;
    let mut chart = chart!(
        area,
        title,
        x,
        0.0..1.15,
        "t, s",
        "fraction of the initial energy"
    );
    let series = energy::swing();
    let first = series[0].total();
    let lines: [(&str, RGBColor, fn(&Energy) -> f64); 3] = [
        ("total", BLACK, Energy::total),
        ("kinetic", MEASURED, |energy| energy.kinetic),
        ("potential", KNOWN, |energy| energy.potential),
    ];
    for (name, colour, of) in lines {
        let points = series
            .iter()
            .map(|energy| (energy.time, of(energy) / first));
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    Ok(())
}
