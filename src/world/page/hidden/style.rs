//! The declarations of a rule or an inline style, and whether they hide an element.
//!
//! Which of its declarations a custom property takes on an element is not worked out: every value
//! that the page gives it anywhere is one that it may have.

use scraper::node::Element;
use std::collections::{BTreeMap, HashMap};

use super::sheet::{
    FAINT, all_the_same, arguments_of, fraction, is_transparent, numbers, pixels, plain_colour,
    unescaped,
};
use crate::base::word_list::word_lists;

const MOST_NAMES: usize = 5_000;

/// How many values of one are remembered, and how many a value is read as.
const MOST_VALUES: usize = 8;

/// How deep `var()` may refer to `var()`.
const DEPTH: usize = 4;

const LONGEST: usize = 300;

#[derive(Debug, Default)]
pub(super) struct Custom(HashMap<String, Vec<String>>);

impl Custom {
    pub(super) fn read(&mut self, declarations: &str) {
        if !declarations.contains("--") && !declarations.contains('\\') {
            return;
        }
        for declaration in declarations.split(';') {
            let Some((name, value)) = declaration.split_once(':') else {
                continue;
            };
            let name = unescaped(name.trim());
            let value = value.split('!').next().unwrap_or_default().trim();
            if !name.starts_with("--")
                || value.len() > LONGEST
                || self.0.len() >= MOST_NAMES && !self.0.contains_key(&*name)
            {
                continue;
            }
            let value = unescaped(value).to_ascii_lowercase();
            let values = self.0.entry(name.into_owned()).or_default();
            if values.len() < MOST_VALUES && !values.contains(&value) {
                values.push(value);
            }
        }
    }

    /// What `value` may be once every `var()` in it is read.
    pub(super) fn readings(&self, value: &str) -> Vec<String> {
        let mut readings = vec![value.to_owned()];
        for _ in 0..DEPTH {
            if !readings.iter().any(|reading| has_variable(reading)) {
                break;
            }
            let next = readings.iter().flat_map(|reading| self.once(reading));
            readings = next.take(MOST_VALUES).collect();
        }
        readings
    }

    /// `value` with its last `var()` read, in each way.
    fn once(&self, value: &str) -> Vec<String> {
        const OPEN: &str = "var(";
        // What stands in the last one holds no further one.
        let parts = value
            .rsplit_once(OPEN)
            .and_then(|(before, rest)| Some((before, rest.split_once(')')?)));
        let Some((before, (inner, after))) = parts else {
            return vec![value.to_owned()];
        };
        let (name, fallback) = match inner.split_once(',') {
            Some((name, fallback)) => (name, Some(fallback.trim().to_owned())),
            None => (inner, None),
        };
        let known = self.0.get(name.trim()).into_iter().flatten().cloned();
        known
            .chain(fallback)
            .filter(|one| before.len() + one.len() + after.len() <= LONGEST)
            .map(|one| format!("{before}{one}{after}"))
            .collect()
    }
}

pub(super) fn has_variable(value: &str) -> bool {
    value.contains("var(")
}

word_lists! {
    /// The properties that bear on being seen, or on standing apart.
    PROPERTIES = "../words/style_properties.txt";
}

/// Below this, in pixels, letters cannot be told.
const TINY_PIXELS: f64 = 2.0;

/// Beyond this, in pixels, a text is left of or above every window.
const FAR_PIXELS: f64 = 999.0;

/// Beyond this, in pixels, a text is right of or below every window.
const VERY_FAR_PIXELS: f64 = 9_000.0;

/// The values of one rule or of one inline style; the later of two wins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declared(BTreeMap<&'static str, Value>);

#[derive(Debug, Clone)]
struct Value {
    text: String,
    important: bool,
}

impl Declared {
    pub(crate) fn inline(element: &Element) -> Self {
        element.attr("style").map(Self::parse).unwrap_or_default()
    }

    pub(super) fn parse(declarations: &str) -> Self {
        let mut declared = Self::default();
        for declaration in super::sheet::without_comments(declarations).split(';') {
            let Some((property, value)) = declaration.split_once(':') else {
                continue;
            };
            let property = unescaped(property.trim()).to_ascii_lowercase();
            let Some(property) = PROPERTIES.iter().find(|known| **known == property) else {
                continue;
            };
            let value = lower_case(&unescaped(value.trim()));
            let (text, important) = match value.split_once('!') {
                Some((text, mark)) => (text.trim().to_owned(), mark.trim() == "important"),
                None => (value, false),
            };
            declared.put(property, Value { text, important });
        }
        declared
    }

    fn put(&mut self, property: &'static str, value: Value) {
        let known = self.0.get(property);
        if value.important || !known.is_some_and(|known| known.important) {
            self.0.insert(property, value);
        }
    }

    /// Adds what a later rule for the same selector says.
    pub(super) fn extend(&mut self, later: &Self) {
        for (property, value) in &later.0 {
            self.put(property, value.clone());
        }
    }

    /// What holds of an element to which these apply and which has the style `inline`.
    pub(super) fn beneath(&self, inline: &Self) -> Self {
        let mut both = self.clone();
        both.extend(inline);
        both
    }

    /// Itself when it hides, or may once its custom properties are read; else nothing.
    pub(super) fn only_if_hiding(self) -> Self {
        if self.hides() || self.has_variable() {
            self
        } else {
            Self::default()
        }
    }

    fn has_variable(&self) -> bool {
        self.0.values().any(|value| has_variable(&value.text))
    }

    /// Whether an element that is styled so is hidden with these custom properties.
    pub(super) fn hides_with(&self, custom: &Custom) -> bool {
        self.hides() || self.has_variable() && self.read_with(custom).iter().any(Self::hides)
    }

    /// What this may be once every `var()` is read.
    fn read_with(&self, custom: &Custom) -> Vec<Self> {
        let mut read = Vec::new();
        for (property, value) in &self.0 {
            if !has_variable(&value.text) {
                continue;
            }
            for (index, text) in custom.readings(&value.text).into_iter().enumerate() {
                if read.len() <= index {
                    read.push(self.clone());
                }
                let important = value.important;
                read[index].0.insert(property, Value { text, important });
            }
        }
        read
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, property: &str) -> &str {
        self.0.get(property).map_or("", |value| &value.text)
    }

    /// Whether an element with this style is separated from what is before and after it.
    pub(crate) fn parts(&self) -> bool {
        let display = self.get("display");
        let blocks = ["block", "flex", "grid", "table", "list-item", "flow-root"];
        blocks.iter().any(|block| display.starts_with(block))
            || matches!(
                self.get("float"),
                "left" | "right" | "inline-start" | "inline-end"
            )
            || matches!(self.get("position"), "absolute" | "fixed")
    }

    /// Whether the children of an element that is styled so stand apart from each other.
    pub(crate) fn parts_children(&self) -> bool {
        matches!(
            self.get("display"),
            "flex" | "inline-flex" | "grid" | "inline-grid"
        )
    }

    /// Whether an element that is styled so is hidden, or takes its text back.
    pub(super) fn hides(&self) -> bool {
        let mut values = self.0.iter();
        values.any(|(property, value)| hides(property, &value.text))
            || self.is_shut()
            || self.is_unreadable()
    }

    /// Whether nothing of the content fits in the box, and the rest is cut off.
    fn is_shut(&self) -> bool {
        let tiny = |property| {
            let value = self.get(property);
            pixels(value).is_some_and(|size| size == 0.0)
                || (value == "1px" && property.ends_with("height"))
        };
        matches!(self.get("overflow"), "hidden" | "clip")
            && ["width", "height", "max-width", "max-height"]
                .into_iter()
                .any(tiny)
    }

    fn is_unreadable(&self) -> bool {
        let colour = plain_colour(self.get("color"));
        !colour.is_empty()
            && (colour == plain_colour(self.get("background"))
                || colour == plain_colour(self.get("background-color")))
    }
}

fn hides(property: &str, value: &str) -> bool {
    let faint = || fraction(value).is_some_and(|share| share < FAINT);
    let far =
        || pixels(value).is_some_and(|place| place <= -FAR_PIXELS || place >= VERY_FAR_PIXELS);
    match property {
        "display" => value == "none",
        "visibility" => matches!(value, "hidden" | "collapse"),
        "content-visibility" => value == "hidden",
        "opacity" | "zoom" => faint(),
        "scale" => is_flat(value),
        "font-size" => pixels(value).is_some_and(|size| size < TINY_PIXELS),
        "text-indent" | "left" | "right" | "top" | "bottom" | "margin" | "margin-left"
        | "margin-top" | "margin-right" => far(),
        "clip" => arguments_of("rect(", value).is_some_and(all_the_same),
        "clip-path" => {
            let shapes = ["inset(50%", "inset(100%", "circle(0", "ellipse(0"];
            shapes.iter().any(|shape| value.starts_with(shape))
                || arguments_of("polygon(", value).is_some_and(|points| {
                    let mut points = points.split(',').map(numbers);
                    let first = points.next();
                    points.all(|point| Some(point) == first)
                })
        }
        "transform" => value.contains("-999") || flattens(value),
        "filter" => {
            let opacity = value.split_once("opacity(").map(|(_, share)| share);
            opacity
                .and_then(fraction)
                .is_some_and(|share| share < FAINT)
        }
        "text-decoration" | "text-decoration-line" => value.contains("line-through"),
        "color" => is_transparent(value),
        _ => false,
    }
}

/// The value in lower case, but for the names of custom properties.
fn lower_case(value: &str) -> String {
    if !value.contains("--") {
        return value.to_ascii_lowercase();
    }
    let mut pieces = value.split("--");
    let first = pieces.next().unwrap_or_default().to_ascii_lowercase();
    let rest = pieces.map(|piece| {
        let end = piece.find([',', ')', ' ']).unwrap_or(piece.len());
        let (name, rest) = piece.split_at(end);
        format!("--{name}{}", rest.to_ascii_lowercase())
    });
    std::iter::once(first).chain(rest).collect()
}

/// Whether a value of `scale` leaves nothing.
pub(super) fn is_flat(scale: &str) -> bool {
    factors(scale).any(is_faint)
}

/// Whether a value of `transform` leaves nothing.
pub(super) fn flattens(transform: &str) -> bool {
    let functions = transform.split(')').filter_map(|one| one.split_once('('));
    let mut functions = functions.map(|(name, list)| (name.trim(), factors(list)));
    functions.any(|(name, mut factors)| match name {
        // The third of three dimensions leads out of the plane.
        "scale" | "scale3d" => factors.take(2).any(is_faint),
        "scalex" | "scaley" => factors.next().is_some_and(is_faint),
        "matrix" => match factors.collect::<Vec<_>>()[..] {
            // The determinant: the area that is left of one.
            [a, b, c, d, ..] => (a * d - b * c).abs() < FAINT * FAINT,
            _ => false,
        },
        _ => false,
    })
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

    fn custom() -> Custom {
        let mut custom = Custom::default();
        custom.read("--d: NONE !important; color:red;--a:var(--d);--loop:var(--loop)");
        custom.read("--d:block");
        custom
    }

    #[test]
    fn every_value_is_a_reading() {
        let custom = custom();
        assert_eq!(custom.readings("red"), ["red"]);
        assert_eq!(custom.readings("var(--d)"), ["none", "block"]);
        assert_eq!(custom.readings("var( --a , x)"), ["none", "block", "x"]);
        assert_eq!(custom.readings("var(--no,var(--d))"), ["none", "block"]);
        assert_eq!(custom.readings("scale(var(--no, 0))"), ["scale(0)"]);
        assert_eq!(custom.readings("var(--no)"), [""; 0]);
    }

    #[test]
    fn loops_and_torn_ones_end() {
        let custom = custom();
        assert_eq!(custom.readings("var(--loop)"), ["var(--loop)"]);
        assert_eq!(custom.readings("var(--d"), ["var(--d"]);
    }

    #[test]
    fn styles_that_hide() {
        for style in "display:none display:none;visibility:visible
            display:none!important;display:block opacity:0 opacity:0.0 opacity:.001 opacity:1%
            font-size:0px font-size:.01px text-indent:-9999px text-indent:-100%
            position:absolute;left:-999em left:9999px clip-path:inset(50%)
            height:0;overflow:hidden transform:scale(.001) scale:0 d\\69splay:none
            display:n\\6fne color:transparent color:rgba(0,0,0,0) color:#0000 color:#12345600
            color:#fff;background:#fff color:white;background-color:#FFFFFF
            text-decoration:line-through"
            .split_whitespace()
            .chain([
                "DISPLAY : None !important",
                "color:red;visibility: hidden",
                "clip:rect(0 0 0 0)",
                "clip: rect(1px, 1px, 1px, 1px)",
                "clip-path:polygon(0 0,0 0,0 0)",
                "color:rgb(0 0 0 / 0%)",
                "/* x */display:none",
            ])
        {
            assert!(Declared::parse(style).hides(), "{style}");
        }
    }

    #[test]
    fn styles_that_do_not() {
        for style in "display:block display:none;display:block opacity:0.5 opacity:.9
            opacity:80% zoom:100% font-size:10px font-size:.8em font-size:1vw font-size:80%
            text-indent:-10px left:-20px top:1200px height:0 width:1px;overflow:hidden
            clip:rect(0,100px,50px,0) transform:scale(1) scale:1.2 color:#fff;background:#000
            color:rgba(0,0,0,.8) color:rgb(0,0,0) color:#000 color:#0f08 text-decoration:none
            -x-display:none nonsense"
            .split_whitespace()
            .chain(["clip-path:polygon(0 0,100% 0,100% 100%)", ""])
        {
            assert!(!Declared::parse(style).hides(), "{style}");
        }
    }

    #[test]
    fn boxes_stand_apart() {
        for style in [
            "display:block",
            "float:left",
            "display: grid",
            "position:absolute",
        ] {
            assert!(Declared::parse(style).parts(), "{style}");
        }
        for style in [
            "display:inline",
            "display:inline-block",
            "float:none",
            "color:red",
        ] {
            assert!(!Declared::parse(style).parts(), "{style}");
        }
        assert!(Declared::parse("display:inline-flex").parts_children());
        assert!(!Declared::parse("display:block").parts_children());
    }

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
        for transform in "none scale(1) scalex(-1) scale3d(1,1,0) matrix(1,0,0,1,0,0)
            matrix(0,1,-1,0,0,0) matrix(1) scale("
            .split_whitespace()
        {
            assert!(!flattens(transform), "{transform}");
        }
        assert!(!is_flat("none") && !is_flat("1.2"));
    }
}
