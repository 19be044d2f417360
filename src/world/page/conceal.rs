//! What hides an element from its reader.
//!
//! Known are the `hidden` attribute, inline styles, and rules of the page's own `<style>`
//! elements with a simple selector: one class, one id or one tag. Not known are external
//! style sheets, compound selectors and conditional rules; of two rules for one selector the
//! later wins, and an inline style beats both. `html` and `body` are never hidden: a page that
//! is blank until its script runs is shown in the end.

use std::collections::HashMap;

use scraper::node::Element;

/// How many rules are remembered.
const MOST_RULES: usize = 20_000;

/// What the page's own style sheets hide, by simple selector.
#[derive(Debug, Default)]
pub(super) struct Concealed(HashMap<String, bool>);

impl Concealed {
    /// Adds the rules of one `<style>` element.
    pub(super) fn add(&mut self, sheet: &str) {
        let sheet = without_comments(sheet);
        let mut rest = sheet.as_str();
        while let Some((prelude, after)) = rest.split_once('{') {
            let prelude = prelude.rsplit([';', '}']).next().unwrap_or_default().trim();
            if let Some(at_rule) = prelude.strip_prefix('@') {
                let always = matches!(
                    at_rule.to_ascii_lowercase().trim(),
                    "media screen" | "media all" | "media only screen" | "layer"
                );
                rest = if always { after } else { past_block(after) };
                continue;
            }
            let (body, next) = after.split_once('}').unwrap_or((after, ""));
            rest = next;
            if let Some(hides) = hides(body) {
                self.remember(prelude, hides);
            }
        }
    }

    fn remember(&mut self, selectors: &str, hides: bool) {
        for selector in selectors.split(',').map(str::trim) {
            let name = selector.trim_start_matches(['.', '#']);
            let simple = selector.len() - name.len() <= 1
                && !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_alphanumeric() || c == '-' || c == '_');
            if simple && self.0.len() < MOST_RULES {
                let key = if name.len() == selector.len() {
                    selector.to_ascii_lowercase()
                } else {
                    selector.to_owned()
                };
                self.0.insert(key, hides);
            }
        }
    }

    /// Whether the element itself is hidden.
    pub(super) fn hides(&self, element: &Element) -> bool {
        if matches!(element.name(), "html" | "body") {
            return false;
        }
        if element.attr("hidden").is_some() {
            return true;
        }
        if let Some(hides) = element.attr("style").and_then(hides) {
            return hides;
        }
        let hidden = |key: &str| self.0.get(key).copied().unwrap_or(false);
        !self.0.is_empty()
            && (hidden(element.name())
                || element.id().is_some_and(|id| hidden(&format!("#{id}")))
                || element.classes().any(|class| hidden(&format!(".{class}"))))
    }
}

fn without_comments(sheet: &str) -> String {
    let mut kept = String::new();
    let mut rest = sheet;
    while let Some((before, after)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// What follows the block that has just been opened.
fn past_block(text: &str) -> &str {
    let mut depth = 1_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    ""
}

/// Whether declarations hide what they apply to; none when they say nothing about it.
fn hides(declarations: &str) -> Option<bool> {
    let mut said = Said::default();
    for declaration in declarations.split(';') {
        if let Some((property, value)) = declaration.split_once(':') {
            let value = value.to_ascii_lowercase().replace("!important", "");
            said.declare(&property.trim().to_ascii_lowercase(), value.trim());
        }
    }
    said.verdict()
}

/// What declarations say, as far as it bears on being seen.
#[derive(Default)]
struct Said {
    display: Option<bool>,
    visibility: Option<bool>,
    other: bool,
    tiny: bool,
    clipped: bool,
    colour: Option<String>,
    ground: Option<String>,
}

impl Said {
    fn declare(&mut self, property: &str, value: &str) {
        let zero = || number(value) == Some(0.0);
        let far = || number(value).is_some_and(|n| n <= -999.0);
        match property {
            "display" => self.display = Some(value == "none"),
            "visibility" => self.visibility = Some(matches!(value, "hidden" | "collapse")),
            "content-visibility" => self.other |= value == "hidden",
            "opacity" | "font-size" | "zoom" => self.other |= zero(),
            "text-indent" | "left" | "right" | "top" | "bottom" | "margin" | "margin-left"
            | "margin-top" | "margin-right" => self.other |= far(),
            "clip" => self.other |= nothing_left(value),
            "clip-path" => {
                self.other |= ["inset(50%", "inset(100%", "circle(0"]
                    .iter()
                    .any(|shape| value.starts_with(shape));
            }
            "transform" => {
                self.other |= value.starts_with("scale(0)") || value.contains("-9999");
            }
            "width" | "height" | "max-width" | "max-height" => {
                self.tiny |= number(value).is_some_and(|n| n == 0.0)
                    || (matches!(value, "1px") && property.ends_with("height"));
            }
            "overflow" => self.clipped = matches!(value, "hidden" | "clip"),
            "color" => self.colour = Some(value.to_owned()),
            "background" | "background-color" => self.ground = Some(value.to_owned()),
            _ => {}
        }
    }

    fn verdict(&self) -> Option<bool> {
        let unreadable = self.colour.as_deref() == Some("transparent")
            || (self.colour.is_some() && self.colour == self.ground);
        let hides = self.display == Some(true)
            || self.visibility == Some(true)
            || self.other
            || (self.tiny && self.clipped)
            || unreadable;
        let says = self.display.is_some() || self.visibility.is_some();
        (hides || says).then_some(hides)
    }
}

/// The number at the start of a value; in `em` and `rem` times 16.
fn number(value: &str) -> Option<f64> {
    let end = value
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+'))
        .unwrap_or(value.len());
    let unit = if value[end..].starts_with("em") || value[end..].starts_with("rem") {
        16.0
    } else {
        1.0
    };
    value[..end].parse::<f64>().ok().map(|n| n * unit)
}

/// Whether `rect(…)` leaves at most a pixel: all its sides are the same.
fn nothing_left(value: &str) -> bool {
    let sides = value
        .strip_prefix("rect(")
        .and_then(|rest| rest.strip_suffix(')'));
    let Some(sides) = sides else {
        return false;
    };
    let mut sides = sides.split([',', ' ']).filter(|side| !side.is_empty());
    let first = sides.next().and_then(number);
    first.is_some() && sides.all(|side| number(side) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_that_hide() {
        for style in [
            "display:none",
            "DISPLAY : None !important",
            "color:red;visibility: hidden",
            "opacity:0",
            "opacity:0.0",
            "font-size:0px",
            "text-indent:-9999px",
            "position:absolute;left:-999em",
            "clip:rect(0 0 0 0)",
            "clip: rect(1px, 1px, 1px, 1px)",
            "clip-path:inset(50%)",
            "height:0;overflow:hidden",
            "color:transparent",
            "color:#fff;background:#fff",
        ] {
            assert_eq!(hides(style), Some(true), "{style}");
        }
    }

    #[test]
    fn styles_that_do_not() {
        for style in [
            "opacity:0.5",
            "opacity:.9",
            "font-size:10px",
            "text-indent:-10px",
            "left:-20px",
            "height:0",
            "width:1px;overflow:hidden",
            "clip:rect(0,100px,50px,0)",
            "color:#fff;background:#000",
            "-x-display:none",
            "nonsense",
            "",
        ] {
            assert_eq!(hides(style), None, "{style}");
        }
        assert_eq!(hides("display:block"), Some(false));
    }

    fn sheet(text: &str) -> Concealed {
        let mut concealed = Concealed::default();
        concealed.add(text);
        concealed
    }

    #[test]
    fn simple_rules_are_known() {
        let known = sheet(
            "@charset 'utf-8'; /* .c{display:none} */ .a, #b , Blink {display:none} p{color:red}
             @media print { .d{display:none} .e{display:none} } @media screen{.f{display:none}}
             .g .h{display:none} .i{display:none} .i{display:block} .j{display:none",
        );
        let mut keys: Vec<_> = known
            .0
            .iter()
            .filter(|(_, h)| **h)
            .map(|(k, _)| k)
            .collect();
        keys.sort();
        assert_eq!(keys, ["#b", ".a", ".f", ".j", "blink"]);
    }

    #[test]
    fn torn_sheets_end() {
        for torn in ["{", "}", "@media{", "/*", "a{{{{", "@media x{a{}"] {
            sheet(torn);
        }
        sheet(&"@media{".repeat(10_000));
        sheet(&"@media x{}".repeat(10_000));
    }
}
