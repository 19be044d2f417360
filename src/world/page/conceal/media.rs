//! For which screens the rules of a sheet hold.

use super::sheet::split;
use super::value::pixels;

/// The window that readers are taken to have, in pixels.
const WIDTH: f64 = 1280.0;
const HEIGHT: f64 = 800.0;

/// How often rules hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Held {
    /// For no screen, or for uncommon ones.
    Never,
    /// For the common ones.
    Often,
    /// For every screen.
    Always,
}

/// How often what is for these media holds for a screen: that of the best one of the list.
pub(super) fn held(media: &str) -> Held {
    let list = split(media, &[',']).map(|one| query(&one.trim().to_ascii_lowercase()));
    list.max().unwrap_or(Held::Always)
}

fn query(text: &str) -> Held {
    if let Some(other) = text.strip_prefix("not") {
        let other = other.trim_start();
        return match query(other) {
            Held::Never if other.contains('(') => Held::Often,
            Held::Never => Held::Always,
            Held::Often | Held::Always => Held::Never,
        };
    }
    let text = text.strip_prefix("only ").unwrap_or(text);
    let all = text.split(" and ").map(|part| match part.trim() {
        "" | "all" | "screen" => Held::Always,
        part if part.contains('(') && part.split(" or ").any(is_common) => Held::Often,
        _ => Held::Never,
    });
    all.min().unwrap_or(Held::Always)
}

/// Whether a condition holds for a common screen; of one that is not known it is taken to.
fn is_common(condition: &str) -> bool {
    let condition = condition.trim();
    if let Some(other) = condition
        .trim_start_matches('(')
        .trim_start()
        .strip_prefix("not")
    {
        return !is_common(other);
    }
    let inner = condition.trim_matches(|c: char| matches!(c, '(' | ')') || c.is_whitespace());
    match inner.split_once(':') {
        Some((feature, value)) => is_plain(feature.trim(), value.trim()),
        None => is_range(inner),
    }
}

fn is_plain(feature: &str, value: &str) -> bool {
    let least = |size: f64| pixels(value).is_none_or(|least| least <= size);
    let most = |size: f64| pixels(value).is_none_or(|most| most >= size);
    match feature {
        "min-width" | "min-device-width" => least(WIDTH),
        "max-width" | "max-device-width" => most(WIDTH),
        "min-height" | "min-device-height" => least(HEIGHT),
        "max-height" | "max-device-height" => most(HEIGHT),
        "width" | "height" | "device-width" | "device-height" => pixels(value).is_none(),
        _ => !matches!(
            value,
            "reduce"
                | "dark"
                | "more"
                | "less"
                | "active"
                | "none"
                | "coarse"
                | "portrait"
                | "standalone"
                | "fullscreen"
                | "slow"
                | "inverted"
                | "high"
        ),
    }
}

/// Whether `width >= 1px`, `1px <= width < 90em` and kin hold.
fn is_range(text: &str) -> bool {
    let size = if text.contains("width") {
        WIDTH
    } else if text.contains("height") {
        HEIGHT
    } else {
        return true;
    };
    let parts: Vec<&str> = text
        .split(['<', '>', '='])
        .filter(|part| !part.trim().is_empty())
        .collect();
    let number = |part: &str| {
        let is_size = part.contains("width") || part.contains("height");
        if is_size { Some(size) } else { pixels(part) }
    };
    let is_less = text.contains('<');
    let is_more = text.contains('>');
    parts.windows(2).all(|two| {
        let (Some(one), Some(two)) = (number(two[0]), number(two[1])) else {
            return true;
        };
        match (is_less, is_more) {
            (true, _) => one <= two,
            (_, true) => one >= two,
            _ => (one - two).abs() < 1.0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_hold_always_often_or_never() {
        for (media, expected) in [
            ("", Held::Always),
            ("screen", Held::Always),
            ("only screen", Held::Always),
            ("not print", Held::Always),
            ("print, screen", Held::Always),
            ("(min-width:1px)", Held::Often),
            ("screen and (min-width: 48em)", Held::Often),
            ("(min-width:1px) and (orientation:landscape)", Held::Often),
            ("(max-width:99999px)", Held::Often),
            ("(min-width:calc(1px))", Held::Often),
            ("(width>=1px)", Held::Often),
            ("(1px<=width<=9000px)", Held::Often),
            ("not (max-width:600px)", Held::Often),
            ("(max-width:1px) or (min-width:1px)", Held::Often),
            ("(hover)", Held::Often),
            ("print", Held::Never),
            ("not all", Held::Never),
            ("print and (min-width:1px)", Held::Never),
            ("(max-width:600px)", Held::Never),
            ("(min-width:9000px)", Held::Never),
            ("(width<600px)", Held::Never),
            ("(prefers-color-scheme: dark)", Held::Never),
            ("not (min-width:1px)", Held::Never),
        ] {
            assert_eq!(held(media), expected, "{media}");
        }
    }
}
