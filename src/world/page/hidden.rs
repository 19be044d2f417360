//! What hides an element from its reader.
//!
//! Known are the `hidden` attribute, inline styles, and the rules of the page's own `<style>`
//! elements. Of two rules for one selector the later wins, and an inline style beats both but
//! for what is `!important`; else every rule that hides counts, whatever other rules say, and
//! so does one of which it is not sure that it applies: in a layer, for windows of some sizes
//! that are common, with a value that a custom property has somewhere. Not known are external
//! style sheets and rules for uncommon windows. `html` and `body` are never hidden: a page that is blank
//! until its script runs is shown in the end.

mod selector;
mod sheet;
mod style;

use std::cell::Cell;
use std::collections::HashMap;

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use self::selector::{Key, Selector};
use sheet::{Held, media_hold};
use style::Custom;

pub(super) use style::Declared;

const MOST_RULES: usize = 20_000;

/// How many elements and classes are compared with selectors, in all; beyond, everything
/// counts as hidden.
const MOST_COMPARED: usize = 5_000_000;

#[derive(Debug, Default)]
pub(super) struct Sheets {
    declared: HashMap<String, Declared>,
    custom: Custom,
}

impl Sheets {
    pub(super) fn add(&mut self, style: &Element, text: &str) {
        let attribute = |name| style.attr(name).unwrap_or_default().trim();
        let kind = attribute("type");
        let held = media_hold(attribute("media"));
        if (kind.is_empty() || kind.eq_ignore_ascii_case("text/css")) && held > Held::Never {
            self.add_text(text, held);
        }
    }

    pub(super) fn add_inline(&mut self, element: &Element) {
        if let Some(style) = element.attr("style") {
            self.custom.read(style);
        }
    }

    fn add_text(&mut self, text: &str, held: Held) {
        for rule in sheet::rules(text) {
            self.custom.read(&rule.declarations);
            let declared = Declared::parse(&rule.declarations);
            let declared = if rule.sure && held == Held::Always {
                declared
            } else {
                declared.only_if_hiding()
            };
            if declared.is_empty() {
                continue;
            }
            for selector in rule.selectors.iter() {
                if let Some(known) = self.declared.get_mut(selector) {
                    known.extend(&declared);
                } else if self.declared.len() < MOST_RULES {
                    self.declared.insert(selector.clone(), declared.clone());
                }
            }
        }
    }

    pub(super) fn into_rules(self) -> HidingRules {
        let mut rules = HidingRules::default();
        for (text, declared) in self.declared {
            if declared.hides_with(&self.custom)
                && let Some(selector) = selector::parse(&text)
            {
                let same_key = rules.rules.entry(selector.key()).or_default();
                same_key.push((selector, declared));
            }
        }
        rules.custom = self.custom;
        rules
    }
}

#[derive(Debug, Default)]
pub(super) struct HidingRules {
    custom: Custom,
    rules: HashMap<Key, Vec<(Selector, Declared)>>,
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
        element.attr("hidden").is_some()
            || inline.hides_with(&self.custom)
            || self.compared.get() > MOST_COMPARED
            || self.rules_for(element).any(|(selector, declared)| {
                self.matches(selector, node, element)
                    && declared.beneath(inline).hides_with(&self.custom)
            })
    }

    fn rules_for<'a>(
        &'a self,
        element: &'a Element,
    ) -> impl Iterator<Item = &'a (Selector, Declared)> {
        let keys = (!self.rules.is_empty()).then(|| Key::all_of(element));
        let found = keys.into_iter().flatten();
        found.filter_map(|key| self.rules.get(&key)).flatten()
    }

    fn matches(&self, selector: &Selector, node: NodeRef<'_, Node>, element: &Element) -> bool {
        let (matches, compared) = selector.matches(node, element);
        self.compared.set(self.compared.get() + compared);
        matches
    }
}

#[cfg(test)]
mod tests {
    use scraper::Html;

    use super::*;

    /// Whether `sheet` hides the one element of `html` with the attribute `x`.
    fn hides(sheet: &str, html: &str) -> bool {
        let mut sheets = Sheets::default();
        sheets.add_text(sheet, Held::Always);
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
            [data-t='1'] b[data-t] .tr\\61p"
            .split_whitespace()
            .chain([
                ".box .trap",
                ".box > p > b",
                ".box *",
                "p:not(.x) b",
                "i + b",
                ":is(.trap, i)",
                "#top #t",
            ])
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
            "@media print{.trap{display:block}}.trap{display:none",
            ".trap{display:none}.trap{visibility:visible}",
            ".trap{display:none!important}.trap{display:block}",
            ".trap{display:none}@layer x{.trap{display:block}}",
            ".trap{height:0}.trap{overflow:hidden}",
            "/* { */ .trap::before{content:'}'} .trap{display:none}",
        ] {
            assert!(hides(sheet, PAGE), "{sheet}");
        }
    }

    #[test]
    fn neighbours_do_not() {
        for selector in ".tra #top i b.three p.trap [data-u] [data-t='2'] .trap::before
            .trap:after .trap:hover"
            .split_whitespace()
            .chain([".trap .box", ".other .trap", ".trap i", ":is(i, u)"])
        {
            let sheet = format!("{selector}{{display:none}}");
            assert!(!hides(&sheet, PAGE), "{selector}");
        }
        for sheet in [
            ".trap{display:none}.trap{display:block}",
            "@media print{.trap{display:none} i{display:none}}",
            "@media (max-width:600px){.trap{display:none}}",
            "/* .trap{display:none} */",
            "@charset 'utf-8'; i{display:none}",
            "@keyframes fade{from{opacity:0}}",
            "@font-face{.trap{display:none}}",
            "@media (max-width:1px){.trap{display:none}}",
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
    }

    #[test]
    fn hostile_sheets_end() {
        for sheet in [
            "{".to_owned(),
            "@media{".repeat(10_000),
            "a{".repeat(10_000),
            "a,b{&{".repeat(5_000),
            ":is(".repeat(10_000) + "{display:none}",
            format!(
                "{}a{{display:var(--x)}}",
                "a{--x:var(--x)var(--x);--x:none}".repeat(10_000)
            ),
            "a ".repeat(50_000) + "{display:none}",
            "[".repeat(10_000) + "{display:none}",
            "\\".repeat(10_001) + "{display:none}",
        ] {
            let _ = hides(&sheet, PAGE);
        }
    }
}
