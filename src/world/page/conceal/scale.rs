//! Transforms and scales that leave nothing of what they are put on.

use super::value::{FAINT, fraction};

/// Functions that scale, and how many of their numbers do so in the plane.
const SCALES: [(&str, usize); 4] = [
    ("scale(", 2),
    ("scale3d(", 2),
    ("scalex(", 1),
    ("scaley(", 1),
];

/// Whether a value of `scale` leaves nothing.
pub(super) fn is_flat(scale: &str) -> bool {
    factors(scale).any(is_faint)
}

/// Whether a value of `transform` leaves nothing.
pub(super) fn flattens(transform: &str) -> bool {
    let arguments = |function: &str| {
        let (_, list) = transform.split_once(function)?;
        list.split(')').next()
    };
    let scales = SCALES.iter().any(|(function, most)| {
        arguments(function).is_some_and(|list| factors(list).take(*most).any(is_faint))
    });
    scales || arguments("matrix(").is_some_and(is_flat_matrix)
}

/// Whether the area that a matrix leaves of one is next to nothing.
fn is_flat_matrix(list: &str) -> bool {
    let [a, b, c, d, ..] = factors(list).collect::<Vec<_>>()[..] else {
        return false;
    };
    (a * d - b * c).abs() < FAINT * FAINT
}

fn factors(list: &str) -> impl Iterator<Item = f64> {
    let parts = list.split([',', ' ']).filter(|part| !part.is_empty());
    parts.filter_map(fraction)
}

fn is_faint(factor: f64) -> bool {
    factor.abs() < FAINT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_nothing() {
        for transform in [
            "scale(0)",
            "translatex(1px) scale(1, 0)",
            "scale3d(0,0,0)",
            "scaley(.01)",
            "matrix(0,0,0,0,0,0)",
            "matrix(1,0,1,0,0,0)",
        ] {
            assert!(flattens(transform), "{transform}");
        }
        assert!(is_flat("0") && is_flat("1 0") && is_flat("0%"));
    }

    #[test]
    fn what_leaves_something() {
        for transform in [
            "none",
            "scale(1)",
            "scalex(-1)",
            "scale3d(1,1,0)",
            "matrix(1,0,0,1,0,0)",
            "matrix(0,1,-1,0,0,0)",
            "matrix(1)",
            "scale(",
        ] {
            assert!(!flattens(transform), "{transform}");
        }
        assert!(!is_flat("none") && !is_flat("1.2"));
    }
}
