//! Values of style properties: numbers, lengths and colours.

/// Below this, opacity and scale leave nothing that a reader sees.
pub(super) const FAINT: f64 = 0.05;

/// The number at the start of a value, and what follows it.
fn number(value: &str) -> Option<(f64, &str)> {
    let value = value.trim_start();
    let end = value
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+'))
        .unwrap_or(value.len());
    let (digits, unit) = value.split_at(end);
    Some((digits.parse().ok()?, unit))
}

/// A share of one, given as it is or in per cent.
pub(super) fn fraction(value: &str) -> Option<f64> {
    let (number, unit) = number(value)?;
    Some(if unit.starts_with('%') {
        number / 100.0
    } else {
        number
    })
}

/// A length, roughly, as in a window of a thousand pixels.
pub(super) fn pixels(value: &str) -> Option<f64> {
    let (number, unit) = number(value)?;
    let relative = ["vw", "vh", "vmin", "vmax", "%"];
    Some(if unit.starts_with("em") || unit.starts_with("rem") {
        number * 16.0
    } else if relative.iter().any(|relative| unit.starts_with(relative)) {
        number * 10.0
    } else {
        number
    })
}

/// What stands in the brackets of a function.
pub(super) fn inside<'a>(function: &str, value: &'a str) -> Option<&'a str> {
    value.strip_prefix(function)?.strip_suffix(')')
}

pub(super) fn numbers(list: &str) -> Vec<Option<f64>> {
    let parts = list.split([',', ' ', '/']).filter(|part| !part.is_empty());
    parts.map(pixels).collect()
}

/// Whether `rect(…)` leaves at most a pixel: all its sides are the same.
pub(super) fn all_the_same(list: &str) -> bool {
    let sides = numbers(list);
    let first = sides.first().copied().flatten();
    first.is_some() && sides.iter().all(|side| *side == first)
}

/// Whether a colour lets everything through.
pub(super) fn is_transparent(value: &str) -> bool {
    if let Some(digits) = value.strip_prefix('#') {
        return matches!(digits.len(), 4 | 8)
            && digits.is_ascii()
            && digits[digits.len() / 4 * 3..]
                .bytes()
                .all(|digit| digit == b'0');
    }
    let Some((_, list)) = value.split_once('(') else {
        return value == "transparent";
    };
    let parts: Vec<&str> = list
        .split([',', ' ', '/', ')'])
        .filter(|part| !part.is_empty())
        .collect();
    parts.len() == 4 && fraction(parts[3]).is_some_and(|alpha| alpha < FAINT)
}

/// A colour in the shortest of its usual forms.
pub(super) fn plain_colour(value: &str) -> String {
    match value {
        "white" => "#fff".to_owned(),
        "black" => "#000".to_owned(),
        _ => {
            let digits = value.strip_prefix('#').unwrap_or_default().as_bytes();
            let doubled = digits.len() == 6 && digits.chunks(2).all(|two| two[0] == two[1]);
            if doubled {
                let single = digits.iter().step_by(2).map(|digit| char::from(*digit));
                std::iter::once('#').chain(single).collect()
            } else {
                value.to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_roughly() {
        assert_eq!(pixels("-2em"), Some(-32.0));
        assert_eq!(pixels(" .5px"), Some(0.5));
        assert_eq!(pixels("-100%"), Some(-1000.0));
        assert_eq!(pixels("calc(1px)"), None);
        assert_eq!(fraction("5%"), Some(0.05));
    }

    #[test]
    fn colours_are_compared_in_one_form() {
        assert_eq!(plain_colour("#ffffff"), plain_colour("white"));
        assert_eq!(plain_colour("#12ab3c"), "#12ab3c");
        assert_eq!(plain_colour("#é"), "#é");
        assert!(is_transparent("hsla(0 0% 0% / 0)"));
        assert!(!is_transparent("rgba(0,0,0)"));
        assert!(!is_transparent("#000"));
    }
}
