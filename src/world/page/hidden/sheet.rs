//! The rules of a style sheet, as far as they hold for common screens.
//!
//! Blocks of `@media` for screens, `@layer`, `@supports`, `@scope` and `@container` are read,
//! those of other media, and of conditions that common screens do not meet, are not. Nested rules are read without
//! the selector around them.

use std::borrow::Cow;
use std::rc::Rc;

use crate::base::word_list::word_lists;

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) selectors: Rc<[String]>,
    pub(super) declarations: String,
    /// Whether it holds whatever the browser, the layers and the rules around it are.
    pub(super) sure: bool,
}

struct Block {
    selectors: Rc<[String]>,
    declarations: String,
    sure: bool,
    skipped: bool,
}

pub(super) fn rules(sheet: &str) -> Vec<Rule> {
    let sheet = without_comments(sheet);
    let mut rules = Vec::new();
    let mut open = vec![Block {
        selectors: Rc::new([]),
        declarations: String::new(),
        sure: true,
        skipped: false,
    }];
    let mut rest = sheet.as_str();
    while let Some((text, end, after)) = up_to_sign(rest) {
        rest = after;
        let Some(around) = open.last_mut() else {
            break;
        };
        if end == '{' {
            let block = block_inside(around, text.trim());
            open.push(block);
        } else {
            around.declarations.push_str(text);
            around.declarations.push(';');
        }
        // A brace too many closes nothing.
        if end == '}' && open.len() > 1 {
            rules.extend(open.pop().and_then(closed));
        }
    }
    if let Some(last) = open.last_mut() {
        last.declarations.push_str(rest);
    }
    rules.extend(open.into_iter().rev().filter_map(closed));
    rules
}

fn closed(block: Block) -> Option<Rule> {
    let empty = |c: char| c == ';' || c.is_whitespace();
    let says = !block.selectors.is_empty() && !block.declarations.chars().all(empty);
    (says && !block.skipped).then_some(Rule {
        selectors: block.selectors,
        declarations: block.declarations,
        sure: block.sure,
    })
}

/// The block that `prelude` opens inside `around`.
fn block_inside(around: &Block, prelude: &str) -> Block {
    let mut block = Block {
        selectors: Rc::clone(&around.selectors),
        declarations: String::new(),
        sure: around.sure,
        skipped: around.skipped,
    };
    if let Some(at_rule) = prelude.strip_prefix('@') {
        let at_rule = &*unescaped(at_rule);
        let end = at_rule.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let (name, condition) = at_rule.split_at(end.unwrap_or(at_rule.len()));
        let condition = condition.trim();
        match name.to_ascii_lowercase().as_str() {
            "media" => match media_hold(condition) {
                Held::Always => {}
                Held::Often => block.sure = false,
                Held::Never => block.skipped = true,
            },
            "layer" | "supports" | "scope" | "container" => block.sure = false,
            _ => block.skipped = true,
        }
        return block;
    }
    let nested = !around.selectors.is_empty();
    block.sure &= !nested;
    let same = nested && prelude == "&";
    if !block.skipped && !same {
        let prelude = prelude.replace('&', " ");
        let words = |selector: &str| selector.split_whitespace().collect::<Vec<_>>().join(" ");
        block.selectors = split(&prelude, &[','])
            .map(words)
            .filter(|selector| !selector.is_empty())
            .collect();
    }
    block
}

/// The parts of a list, separators in brackets and strings apart.
pub(super) fn split<'a>(list: &'a str, separators: &[char]) -> impl Iterator<Item = &'a str> {
    let mut depth = 0_usize;
    let mut quote = None;
    list.split(move |c: char| {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            _ => return depth == 0 && separators.contains(&c),
        }
        false
    })
}

/// The text before the next sign that ends something, the sign, and what follows it.
fn up_to_sign(text: &str) -> Option<(&str, char, &str)> {
    let mut quote = None;
    let mut escaped = false;
    let mut rounds = 0_usize;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match (quote, c) {
            (_, '\\') => escaped = true,
            // A string does not go on after its line.
            (Some(_), '\n') => quote = None,
            (Some(open), _) => quote = Some(open).filter(|open| *open != c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => rounds += 1,
            (None, ')') => rounds = rounds.saturating_sub(1),
            (None, ';') if rounds > 0 => {}
            (None, ';' | '{' | '}') => return Some((&text[..at], c, &text[at + 1..])),
            _ => {}
        }
    }
    None
}

/// The text without its comments; one that does not end goes on to the end.
pub(super) fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// The character that is escaped, and what follows it; `text` begins behind the backslash.
pub(super) fn escaped(text: &str) -> Option<(char, &str)> {
    const MOST_DIGITS: usize = 6;
    let digits = text.bytes().take(MOST_DIGITS);
    let count = digits.take_while(u8::is_ascii_hexdigit).count();
    if count == 0 {
        let c = text.chars().next()?;
        return Some((c, &text[c.len_utf8()..]));
    }
    let (digits, rest) = text.split_at(count);
    let code = u32::from_str_radix(digits, 16).ok();
    let c = code.and_then(char::from_u32).unwrap_or('\u{fffd}');
    let rest = rest.strip_prefix("\r\n").unwrap_or(rest);
    Some((
        c,
        rest.strip_prefix([' ', '\n', '\t', '\u{c}'])
            .unwrap_or(rest),
    ))
}

pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    let Some((head, mut rest)) = text.split_once('\\') else {
        return Cow::Borrowed(text);
    };
    let mut out = head.to_owned();
    while let Some((c, after)) = escaped(rest) {
        out.push(c);
        let Some((plain, next)) = after.split_once('\\') else {
            out.push_str(after);
            break;
        };
        out.push_str(plain);
        rest = next;
    }
    Cow::Owned(out)
}

/// The window that readers are taken to have, in pixels.
const WIDTH: f64 = 1280.0;
const HEIGHT: f64 = 800.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Held {
    Never,
    Often,
    Always,
}

/// How often what is for these media holds for a screen: that of the best one of the list.
pub(super) fn media_hold(media: &str) -> Held {
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

word_lists! { UNCOMMON = "../words/uncommon_media.txt"; }

fn is_plain(feature: &str, value: &str) -> bool {
    let least = |size: f64| pixels(value).is_none_or(|least| least <= size);
    let most = |size: f64| pixels(value).is_none_or(|most| most >= size);
    match feature {
        "min-width" | "min-device-width" => least(WIDTH),
        "max-width" | "max-device-width" => most(WIDTH),
        "min-height" | "min-device-height" => least(HEIGHT),
        "max-height" | "max-device-height" => most(HEIGHT),
        "width" | "height" | "device-width" | "device-height" => pixels(value).is_none(),
        _ => !UNCOMMON.contains(&value),
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

pub(super) fn arguments_of<'a>(function: &str, value: &'a str) -> Option<&'a str> {
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

    fn read(sheet: &str) -> Vec<String> {
        let rules = rules(sheet).into_iter();
        rules
            .map(|rule| {
                let sure = if rule.sure { "" } else { "?" };
                let declarations = rule.declarations.trim_matches(';').replace(' ', "");
                format!("{}{sure}: {declarations}", rule.selectors.join("|"))
            })
            .collect()
    }

    #[test]
    fn rules_are_read() {
        assert_eq!(read("a , .b{c:d;e:f}"), ["a|.b: c:d;e:f"]);
        assert_eq!(read("@import url(x;y);@charset 'u';a{c:d"), ["a: c:d"]);
        assert_eq!(read("a[t=\"},{\"]{c:';}'}b{}"), ["a[t=\"},{\"]: c:';}'"]);
        assert_eq!(read("a{c:d;.b{e:f}}"), [".b?: e:f", "a: c:d"]);
        assert_eq!(read("a{&.b{e:f}& .c{g:h}}"), [".b?: e:f", ".c?: g:h"]);
        assert_eq!(read("a{@supports(x){e:f}}"), ["a?: e:f"]);
        assert_eq!(read("@layer x{a{e:f}}"), ["a?: e:f"]);
        assert_eq!(read("@media screen{a{e:f}}}b{g:h}"), ["a: e:f", "b: g:h"]);
    }

    #[test]
    fn escapes_are_read() {
        for (text, read) in [
            ("display", "display"),
            ("d\\69splay", "display"),
            ("d\\000069splay", "display"),
            ("d\\69 splay", "display"),
            ("displa\\y", "display"),
            ("n\\6fne\\", "none"),
            ("\\", ""),
            ("a\\110000z", "a\u{fffd}z"),
        ] {
            assert_eq!(unescaped(text), read, "{text}");
        }
    }

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
            assert_eq!(media_hold(media), expected, "{media}");
        }
    }

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
