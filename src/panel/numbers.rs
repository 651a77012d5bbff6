//! Texts of numbers, their units and their ranges.

use crate::params::Param;

/// Returns a unit as it follows a number.
pub(super) fn suffix(unit: &str) -> String {
    if unit.is_empty() {
        String::new()
    } else {
        format!(" {unit}")
    }
}

/// Returns range, unit and default of a number, for its tooltip.
pub(super) fn range_text<T: Default>(param: &Param<T>) -> String {
    let (low, high) = (param.range.start(), param.range.end());
    let unit = suffix(param.unit);
    let default = param.describe(param.default_value());
    match param.none_label() {
        Some(none) => format!("{low} to {high}{unit}, or {none}; default {default}"),
        None => format!("{low} to {high}{unit}, default {default}"),
    }
}

/// Formats a number with three significant digits, without trailing zeros.
pub(super) fn format_number(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let digits = 2 - number.abs().log10().floor() as i32;
    if digits > 8 {
        return format!("{number:.1e}");
    }
    let text = format!("{number:.*}", digits.max(0) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::format_number;

    #[test]
    fn numbers_have_three_digits() {
        let cases = [
            (0.0, "0"),
            (0.2, "0.2"),
            (1.0, "1"),
            (0.000_012_3, "0.0000123"),
            (12.345, "12.3"),
            (1000.0, "1000"),
            (-9.81, "-9.81"),
        ];
        for (number, text) in cases {
            assert_eq!(format_number(number), text);
        }
    }
}
