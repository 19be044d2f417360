//! The rules of a style sheet, as far as they hold for common screens.
//!
//! Blocks of `@media` for screens, `@layer`, `@supports`, `@scope` and `@container` are read,
//! those of other media, and of conditions that common screens do not meet, are not. Nested rules are read without
//! the selector around them.

use std::rc::Rc;

use super::escape::unescaped;
use super::media::{Held, held};

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    /// Its selectors, as written.
    pub(super) selectors: Rc<[String]>,
    /// What stands between its braces, nested blocks apart.
    pub(super) declarations: String,
    /// Whether it holds whatever the browser, the layers and the rules around it are.
    pub(super) sure: bool,
}

/// A block that is open.
struct Block {
    selectors: Rc<[String]>,
    declarations: String,
    sure: bool,
    skipped: bool,
}

/// The rules of `sheet`, in order of their ends.
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
            let block = inside(around, text.trim());
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
fn inside(around: &Block, prelude: &str) -> Block {
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
            "media" => match held(condition) {
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

/// What stands before the next sign that ends something, the sign, and what follows it.
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
    fn what_does_not_hold_for_screens_is_not() {
        for sheet in [
            "@media print{a{e:f}}",
            "@media (max-width:1px){a{e:f}}",
            "@font-face{e:f}",
            "@keyframes x{from{e:f}}",
            "/* a{e:f} */",
            "",
        ] {
            assert_eq!(read(sheet), [""; 0], "{sheet}");
        }
    }
}
