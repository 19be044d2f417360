//! What hides an element from its reader, where no browser shows the page.
//!
//! Known are the `hidden` attribute, and `display`, `visibility` and an opacity of zero in inline
//! styles and in the page's own `<style>` elements. Of two rules for one selector the later wins,
//! and an inline style beats both but for what is `!important`; else every rule that hides counts,
//! whatever other rules say. Not known are external style sheets, colours, positions and sizes: that
//! is what a browser is for. `html` and `body` are never hidden: a page that is blank until its
//! script runs is shown in the end.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use cssparser::{ParseError, Parser, Token};
use ego_tree::NodeRef;
use scraper::node::Element;
use scraper::{ElementRef, Node, Selector};

use super::element::attr;

const MAX_RULES: usize = 20_000;

/// No selector that people write is longer, in bytes.
const MAX_SELECTOR: usize = 1_000;

/// How often an element is compared with a selector, in all; beyond, everything counts as hidden.
const MAX_COMPARED: usize = 300_000;

/// The window for which style rules with conditions are read, in pixels.
const WINDOW_WIDTH: f32 = 1_280.0;

/// The values of one rule or of one inline style; the later of two wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Declared(HashMap<Property, Value>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Property {
    Display,
    Visibility,
    Opacity,
    Float,
    Position,
    Decoration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Value {
    text: String,
    important: bool,
}

impl Declared {
    pub(super) fn inline(element: &Element) -> Self {
        let mut declared = Self::default();
        if let Some(style) = attr(element, "style") {
            block(
                &mut Parser::new(style),
                &[],
                &mut declared,
                &mut Read::default(),
            );
        }
        declared
    }

    fn put(&mut self, property: Property, value: Value) {
        let known = self.0.get(&property);
        if value.important || !known.is_some_and(|known| known.important) {
            self.0.insert(property, value);
        }
    }

    /// Adds what a later rule says.
    fn extend(&mut self, later: &Self) {
        for (property, value) in &later.0 {
            self.put(*property, value.clone());
        }
    }

    fn get(&self, property: Property) -> &str {
        self.0.get(&property).map_or("", |value| &value.text)
    }

    fn hides(&self, custom: &Custom) -> bool {
        let hidden = [Property::Display, Property::Visibility, Property::Opacity];
        let hides = |property: &Property| custom.hides(self.get(*property));
        let is_struck = || self.get(Property::Decoration).contains("line-through");
        !self.0.is_empty() && (hidden.iter().any(hides) || is_struck())
    }

    /// Whether an element with this style is separated from what is before and after it.
    pub(super) fn parts(&self) -> bool {
        let display = self.get(Property::Display);
        let blocks = ["block", "flex", "grid", "table", "list-item", "flow-root"];
        blocks.iter().any(|block| display.starts_with(block))
            || matches!(self.get(Property::Float), "left" | "right")
            || matches!(self.get(Property::Position), "absolute" | "fixed")
    }

    /// Whether the children of an element with this style stand apart from each other.
    pub(super) fn parts_children(&self) -> bool {
        let display = self.get(Property::Display);
        matches!(display, "flex" | "inline-flex" | "grid" | "inline-grid")
    }
}

fn property(name: &str) -> Option<Property> {
    Some(match name.to_ascii_lowercase().as_str() {
        "display" => Property::Display,
        "visibility" => Property::Visibility,
        "opacity" => Property::Opacity,
        "float" => Property::Float,
        "position" => Property::Position,
        "text-decoration" | "text-decoration-line" => Property::Decoration,
        _ => return None,
    })
}

/// What style sheets say, as far as it bears on being seen.
#[derive(Default)]
struct Read {
    rules: Vec<(String, Declared)>,
    custom: Custom,
}

/// The custom properties with all values that they have anywhere on the page.
#[derive(Debug, Default)]
struct Custom(HashMap<String, Vec<String>>);

impl Custom {
    /// How often a custom property may stand for another.
    const DEPTH: usize = 4;

    /// Whether a value hides what it applies to, or may.
    fn hides(&self, value: &str) -> bool {
        self.hides_within(value, Self::DEPTH)
    }

    fn hides_within(&self, value: &str, depth: usize) -> bool {
        let Some((_, rest)) = value.split_once("var(") else {
            let share = value.trim_end_matches('%').parse::<f32>();
            return matches!(value, "none" | "hidden" | "collapse")
                || share.is_ok_and(|share| share <= 0.0);
        };
        let (inner, _) = rest.rsplit_once(')').unwrap_or((rest, ""));
        let (name, fallback) = inner.split_once(',').unwrap_or((inner, ""));
        let mut values = self.0.get(name.trim()).into_iter().flatten();
        depth > 0
            && (values.any(|value| self.hides_within(value, depth - 1))
                || self.hides_within(fallback.trim(), depth - 1))
    }

    fn put(&mut self, name: &str, value: &str) {
        const MAX_VALUES: usize = 100;
        let values = self.0.entry(name.to_owned()).or_default();
        if values.len() < MAX_VALUES {
            values.push(value.trim().to_ascii_lowercase());
        }
    }
}

/// Reads what is in a block, or a whole sheet: declarations, and rules inside those for `around`.
fn block(parser: &mut Parser<'_>, around: &[String], declared: &mut Declared, found: &mut Read) {
    while let Some((text, end)) = piece(parser) {
        if end != End::Block {
            if let Some((name, value)) = text.split_once(':') {
                declare(name, value, declared, &mut found.custom);
            }
            continue;
        }
        let text = text.trim();
        let mut inside = Declared::default();
        let selectors = match at_rule(text) {
            // What is not read is skipped with the next piece.
            Some((name, condition)) if !at_rule_holds(&name, condition) => continue,
            Some(_) => around.to_vec(),
            None => nested(text, around),
        };
        // A block that nests too deep is not read by the parser.
        let _ = parser.parse_nested_block(|parser| {
            block(parser, &selectors, &mut inside, found);
            Ok::<_, ParseError<()>>(())
        });
        for selector in selectors {
            if !inside.0.is_empty() && found.rules.len() < MAX_RULES {
                found.rules.push((selector, inside.clone()));
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Semicolon,
    Block,
    All,
}

/// The text up to the next semicolon or block; none at the end.
fn piece<'i>(parser: &mut Parser<'i>) -> Option<(&'i str, End)> {
    parser.skip_whitespace();
    let start = parser.position();
    loop {
        let end = match parser.next_including_whitespace() {
            Ok(Token::Semicolon) => End::Semicolon,
            Ok(Token::CurlyBracketBlock) => End::Block,
            Ok(_) => continue,
            Err(_) => End::All,
        };
        let text = parser.slice_from(start);
        // A semicolon and a brace are one byte each.
        let length = text.len() - usize::from(end != End::All);
        let is_over = end == End::All && text.trim().is_empty();
        return (!is_over).then(|| (&text[..length], end));
    }
}

fn declare(name: &str, value: &str, declared: &mut Declared, custom: &mut Custom) {
    let name = name.trim();
    if name.starts_with("--") {
        let value = value.split('!').next().unwrap_or_default();
        return custom.put(name, value);
    }
    let unescaped = |text: &str| {
        let mut parser = Parser::new(text);
        let first = parser.next().ok().cloned();
        match first {
            // Of several words, all count.
            Some(Token::Ident(name)) if parser.is_exhausted() => name.to_ascii_lowercase(),
            _ => text.trim().to_ascii_lowercase(),
        }
    };
    let (value, important) = match value.rsplit_once('!') {
        Some((value, mark)) => (value, mark.trim().eq_ignore_ascii_case("important")),
        None => (value, false),
    };
    if let Some(property) = property(&unescaped(name)) {
        let text = unescaped(value);
        declared.put(property, Value { text, important });
    }
}

/// The selectors of a rule, those of a nested one with the ones around them.
fn nested(prelude: &str, around: &[String]) -> Vec<String> {
    let own = split(prelude);
    if around.is_empty() {
        return own;
    }
    let own = own.iter().flat_map(|own| {
        around.iter().map(move |around| {
            if own.contains('&') {
                own.replace('&', around)
            } else {
                format!("{around} {own}")
            }
        })
    });
    own.filter(|selector| selector.len() <= MAX_SELECTOR)
        .take(100)
        .collect()
}

/// The selectors of a list, one each.
fn split(list: &str) -> Vec<String> {
    let mut parser = Parser::new(list);
    let mut all = Vec::new();
    let mut start = parser.position();
    loop {
        let is_over = match parser.next_including_whitespace() {
            Ok(Token::Comma) => false,
            Ok(_) => continue,
            Err(_) => true,
        };
        let text = parser.slice_from(start);
        let selector = text[..text.len() - usize::from(!is_over)].trim();
        if !selector.is_empty() && selector.len() <= MAX_SELECTOR {
            all.push(selector.to_owned());
        }
        if is_over {
            return all;
        }
        start = parser.position();
    }
}

/// The name of an at-rule, in lower case, and what follows it.
fn at_rule(text: &str) -> Option<(String, &str)> {
    let mut parser = Parser::new(text);
    let Ok(Token::AtKeyword(name)) = parser.next() else {
        return None;
    };
    let name = name.to_ascii_lowercase();
    let start = parser.position();
    while parser.next().is_ok() {}
    Some((name, parser.slice_from(start)))
}

/// Whether what is in an at-rule applies in a common window, or may.
fn at_rule_holds(name: &str, condition: &str) -> bool {
    match name {
        "media" => media_holds(condition),
        "layer" | "supports" | "scope" | "container" => true,
        _ => false,
    }
}

fn media_holds(queries: &str) -> bool {
    let queries = queries.to_ascii_lowercase();
    let holds = |query: &str| {
        let other = ["print", "speech", "reduce", "forced"];
        let other = other.iter().any(|kind| query.contains(kind));
        let bound = |name: &str| {
            let (_, rest) = query.split_once(name)?;
            let rest = rest.trim_start().strip_prefix(':')?.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let pixels = if rest[end..].starts_with("px") {
                1.0
            } else {
                16.0
            };
            Some(rest[..end].parse::<f32>().ok()? * pixels)
        };
        query.contains("not ") == other
            && bound("min-width").is_none_or(|least| least <= WINDOW_WIDTH)
            && bound("max-width").is_none_or(|most| most >= WINDOW_WIDTH)
    };
    queries.trim().is_empty() || queries.split(',').any(holds)
}

#[derive(Debug, Default)]
pub(super) struct Sheets {
    declared: HashMap<String, Declared>,
    custom: Custom,
}

impl Sheets {
    pub(super) fn add(&mut self, style: &Element, text: &str) {
        let attribute = |name| attr(style, name).unwrap_or_default().trim();
        let kind = attribute("type");
        let is_css = kind.is_empty() || kind.eq_ignore_ascii_case("text/css");
        if !is_css || !media_holds(attribute("media")) {
            return;
        }
        self.read(text);
    }

    /// Reads the custom properties that an element sets in its own style.
    pub(super) fn add_inline(&mut self, element: &Element) {
        if let Some(style) = attr(element, "style").filter(|style| style.contains("--")) {
            self.read(style);
        }
    }

    fn read(&mut self, text: &str) {
        let mut found = Read {
            rules: Vec::new(),
            custom: std::mem::take(&mut self.custom),
        };
        block(
            &mut Parser::new(text),
            &[],
            &mut Declared::default(),
            &mut found,
        );
        for (selector, declared) in found.rules {
            self.declared.entry(selector).or_default().extend(&declared);
        }
        self.custom = found.custom;
    }

    pub(super) fn into_rules(self) -> HidingRules {
        let mut rules = HidingRules {
            custom: self.custom,
            ..HidingRules::default()
        };
        for (text, declared) in self.declared {
            if declared.hides(&rules.custom)
                && let Some(key) = Key::of(&text)
                && let Ok(selector) = Selector::parse(&text)
            {
                rules
                    .rules
                    .entry(key)
                    .or_default()
                    .push((selector, declared));
            }
        }
        rules
    }
}

/// What an element must have so that a selector may match it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key<'a> {
    Id(Cow<'a, str>),
    Class(Cow<'a, str>),
    Tag(Cow<'a, str>),
    Any,
}

impl Key<'static> {
    /// By what is found an element that the selector matches; none where that would cost too much.
    fn of(selector: &str) -> Option<Self> {
        if selector.to_ascii_lowercase().contains(":has(") {
            return None;
        }
        let mut parser = Parser::new(selector);
        let mut key = Self::Any;
        let (mut class, mut pseudo) = (false, false);
        while let Ok(token) = parser.next_including_whitespace() {
            let is_class = std::mem::replace(&mut class, *token == Token::Delim('.'));
            let is_pseudo = std::mem::replace(&mut pseudo, *token == Token::Colon);
            key = match token {
                Token::Ident(_) if is_pseudo => key,
                Token::WhiteSpace(_) | Token::Delim('>' | '+' | '~') => Self::Any,
                Token::IDHash(id) => Self::Id(id.to_string().into()),
                Token::Ident(name) if is_class && !matches!(key, Self::Id(_)) => {
                    Self::Class(name.to_string().into())
                }
                Token::Ident(name) if key == Self::Any && !is_class => {
                    Self::Tag(name.to_ascii_lowercase().into())
                }
                _ => key,
            };
        }
        Some(key)
    }
}

impl<'a> Key<'a> {
    fn all_of(element: &'a Element) -> impl Iterator<Item = Self> {
        let classes = attr(element, "class").unwrap_or_default();
        let classes = classes.split_ascii_whitespace();
        let classes = classes.map(|class| Self::Class(class.into()));
        let id = attr(element, "id").map(|id| Self::Id(id.into()));
        let tag = Self::Tag(element.name().to_ascii_lowercase().into());
        id.into_iter().chain(classes).chain([tag, Self::Any])
    }
}

#[derive(Debug, Default)]
pub(super) struct HidingRules {
    custom: Custom,
    rules: HashMap<Key<'static>, Vec<(Selector, Declared)>>,
    compared: Cell<usize>,
}

impl HidingRules {
    /// Whether the element itself is hidden, whose inline style is `inline`.
    pub(super) fn hides(
        &self,
        node: NodeRef<'_, Node>,
        element: &Element,
        inline: &Declared,
    ) -> bool {
        if matches!(element.name(), "html" | "body") {
            return false;
        }
        attr(element, "hidden").is_some()
            || inline.hides(&self.custom)
            || self.compared.get() > MAX_COMPARED
            || ElementRef::wrap(node).is_some_and(|it| self.rule_hides(it, element, inline))
    }

    fn rule_hides(&self, it: ElementRef<'_>, element: &Element, inline: &Declared) -> bool {
        let keys = (!self.rules.is_empty()).then(|| Key::all_of(element));
        let keys = keys.into_iter().flatten();
        let mut found = keys.filter_map(|key| self.rules.get(&key)).flatten();
        found.any(|(selector, declared)| {
            self.compared.set(self.compared.get() + 1);
            let mut both = declared.clone();
            both.extend(inline);
            both.hides(&self.custom) && selector.matches(&it)
        })
    }
}

#[cfg(test)]
mod tests {
    use scraper::Html;

    use super::*;

    /// Whether `sheet` hides the one element of `html` with the attribute `x`.
    fn hides(sheet: &str, html: &str) -> bool {
        let style = Html::parse_document(&format!("<style>{sheet}</style>"));
        let style = style.root_element().descendants().find_map(|node| {
            let element = node.value().as_element()?;
            (element.name() == "style").then(|| element.clone())
        });
        let mut sheets = Sheets::default();
        sheets.add(&style.unwrap(), sheet);
        let rules = sheets.into_rules();
        let html = Html::parse_document(html);
        let found = html.tree.root().descendants().find_map(|node| {
            let element = node.value().as_element()?;
            element.attr("x").map(|_| (node, element))
        });
        let (node, element) = found.unwrap();
        rules.hides(node, element, &Declared::inline(element))
    }

    const PAGE: &str =
        "<div class=box id=top><p><b class='trap two' id=t data-t=1 x>a</b></p></div>";

    #[test]
    fn rules_that_apply_hide() {
        for selector in ".trap #t b B b.trap b.trap.two#t .box>p>.trap i,.trap [data-t]
            [data-t='1'] b[data-t] .tr\\61p b:not(.x) :is(.trap,i) b:first-child *"
            .split_whitespace()
            .chain([".box .trap", ".box > p > b", ".box *", "#top #t"])
        {
            let sheet = format!("{selector}{{display:none}}");
            assert!(hides(&sheet, PAGE), "{selector}");
        }
        for sheet in [
            ".box{color:red;.trap{display:none}}",
            ".trap{& {display:none}}",
            "b{&.trap{display:none}}",
            "@layer base{.trap{display:none}}",
            "@supports (x:y){.trap{display:none}}",
            "@media screen{.trap{display:none}}",
            "@media (min-width:600px){.trap{display:none}}",
            "@media print{.trap{display:block}}.trap{display:none",
            ".trap{display:none}.trap{visibility:visible}",
            ".trap{display:none!important}.trap{display:block}",
            ".trap{opacity:0}",
            ".trap{d\\69splay:n\\6fne}",
            "/* { */ .trap::before{content:'}'} .trap{display:none}",
        ] {
            assert!(hides(sheet, PAGE), "{sheet}");
        }
    }

    #[test]
    fn neighbours_do_not() {
        for selector in ".tra #top i b.three p.trap [data-u] [data-t='2'] .trap::before
            .trap:after .trap:hover b:not(.trap) b+b"
            .split_whitespace()
            .chain([
                ".trap .box",
                ".other .trap",
                ".trap i",
                ":is(i, u)",
                "i + b",
            ])
        {
            let sheet = format!("{selector}{{display:none}}");
            assert!(!hides(&sheet, PAGE), "{selector}");
        }
        for sheet in [
            ".trap{display:none}.trap{display:block}",
            ".trap{display:none}@media(min-width:768px){.trap{display:block}}",
            "@media print{.trap{display:none} i{display:none}}",
            "@media (max-width:600px){.trap{display:none}}",
            "@media (max-width:40em){.trap{display:none}}",
            "/* .trap{display:none} */",
            "@charset 'utf-8'; i{display:none}",
            "@keyframes fade{from{opacity:0}}",
            "@font-face{.trap{display:none}}",
            ".trap{opacity:.5}",
        ] {
            assert!(!hides(sheet, PAGE), "{sheet}");
        }
    }

    #[test]
    fn an_inline_style_beats_what_is_not_important() {
        let page = |style: &str| format!("<b class=trap style='{style}' x>a</b>");
        let none = ".trap{display:none}";
        assert!(!hides(none, &page("display:block")));
        assert!(hides(none, &page("visibility:visible")));
        assert!(hides(none, &page("color:red")));
        let important = ".trap{display:none!important}";
        assert!(hides(important, &page("display:block")));
        assert!(!hides(important, &page("display:block !important")));
        assert!(hides("", &page("DISPLAY : None !important")));
        assert!(!hides("", &page("display:none;display:block")));
    }

    #[test]
    fn hostile_sheets_end() {
        for sheet in [
            "{".to_owned(),
            "@media{".repeat(10_000),
            "a{".repeat(10_000),
            "a,b{&{".repeat(5_000),
            ":is(".repeat(10_000) + "{display:none}",
            "a:has(b){display:none}".repeat(1_000),
            "a ".repeat(50_000) + "{display:none}",
            "[".repeat(10_000) + "{display:none}",
            "\\".repeat(10_001) + "{display:none}",
        ] {
            let _ = hides(&sheet, PAGE);
        }
    }

    #[test]
    fn boxes_stand_apart() {
        let declared = |style: &str| {
            let html = Html::parse_document(&format!("<b style='{style}' x>a</b>"));
            let mut elements = html.tree.root().descendants();
            let found = elements.find_map(|node| {
                let element = node.value().as_element()?;
                element.attr("x").map(|_| Declared::inline(element))
            });
            found.unwrap()
        };
        for style in [
            "display:block",
            "float:left",
            "display: grid",
            "position:absolute",
        ] {
            assert!(declared(style).parts(), "{style}");
        }
        for style in [
            "display:inline",
            "display:inline-block",
            "float:none",
            "color:red",
        ] {
            assert!(!declared(style).parts(), "{style}");
        }
        assert!(declared("display:inline-flex").parts_children());
        assert!(!declared("display:block").parts_children());
    }
}
