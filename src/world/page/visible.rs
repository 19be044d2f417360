//! The walk over a page's tree: what a reader sees, block by block, and what no one does.
//!
//! Never shown: `head`, scripts, styles, templates, `<noscript>` (browsers with scripts do not
//! show it), what media and `<object>` fall back to, SVG's descriptions, dialogs and popovers
//! that are not open, and what [`Concealed`] hides. What a form's fields hold is not shown
//! either: it is what the visitor writes, or an echo of it. A closed `<details>` can be opened,
//! so it is shown. What is struck out counts as not shown: the page takes it back.

use std::sync::LazyLock;

use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{Html, Node};
use url::Url;

use super::element::{self, Hints, Place, Shape};
use super::hidden::{Concealed, Declared, Sheets};
use super::owner::{Owner, Regions};
use super::text::Run;
use super::{OwnerPlace, Page, find_address, links, model, structured};
use crate::base::text::normalise;
use crate::base::word_list::entries;
use crate::world::email_text::may_spell;

pub(super) struct Walk<'a> {
    page: Page,
    base: Url,
    concealed: &'a Concealed,
    open: Vec<Open>,
    hidden: usize,
    preformatted: usize,
    regions: Regions,
    sections: usize,
    /// Of the open `itemscope`s, whether each is the owner's organization.
    scopes: Vec<bool>,
    /// How many of the open elements name others than the owner.
    naming: usize,
    /// How many of the open elements are written by visitors.
    visitors: usize,
    /// How many of the open elements hold what is no part of the page yet.
    inert: usize,
    run: Run,
    /// What of `run` may name the owner.
    own: Run,
    unseen: Run,
    owner: Owner,
    scripts: Scripts,
    titled: bool,
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is counted by itself while the element is open"
)]
struct Open {
    shape: Shape,
    hints: element::Hints,
    place: Option<Place>,
    section: bool,
    parts_children: bool,
    names_others: bool,
    visitors: bool,
    /// For an organization's name: where it began, in lines and in bytes of the run.
    name: Option<(usize, usize)>,
}

impl Walk<'_> {
    pub(super) fn over(url: &Url, html: &Html) -> Page {
        let concealed = concealed(html);
        let mut walk = Walk {
            page: model::empty(url),
            base: base(url, html),
            concealed: &concealed,
            open: Vec::new(),
            hidden: 0,
            preformatted: 0,
            regions: Regions::default(),
            sections: 0,
            scopes: Vec::new(),
            naming: 0,
            visitors: 0,
            inert: 0,
            run: Run::default(),
            own: Run::default(),
            unseen: Run::default(),
            owner: Owner::default(),
            scripts: Scripts::default(),
            titled: false,
        };
        for edge in html.tree.root().traverse() {
            match edge {
                Edge::Open(node) => walk.enter(node),
                Edge::Close(node) => {
                    if let Some(element) = node.value().as_element() {
                        walk.leave(element);
                    }
                }
            }
        }
        walk.finish()
    }

    fn finish(mut self) -> Page {
        self.end_line();
        self.end_unseen();
        self.page.owner = self.owner.into_texts();
        self.page.needs_script = self.scripts.needed(&self.page.visible);
        self.page
    }

    fn enter(&mut self, node: NodeRef<'_, Node>) {
        match node.value() {
            Node::Text(text) => self.text(text),
            Node::Comment(comment) => self.hide_lines(comment),
            Node::Element(element) => self.enter_element(node, element),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.hidden > 0 {
            self.unseen.push(text);
        } else if self.preformatted > 0 {
            for (index, line) in text.split('\n').enumerate() {
                if index > 0 {
                    self.end_line();
                }
                self.show(line);
            }
        } else {
            self.show(text);
        }
    }

    fn show(&mut self, text: &str) {
        self.run.push(text);
        if self.naming == 0 {
            self.own.push(text);
        } else {
            self.own.part();
        }
    }

    fn enter_element(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let inline = Declared::inline(element);
        let mut shape = element::shape(element);
        let visitors = element::write_in(element);
        shape.hides |= self.concealed.hides(node, element, &inline);
        // Visitors' words are kept apart from the owner's.
        shape.parts |=
            visitors || inline.parts() || self.open.last().is_some_and(|open| open.parts_children);
        let shown_before = self.hidden == 0;
        self.hidden += usize::from(shape.hides);
        if self.hidden == 0 && shape.parts {
            self.end_line();
        } else if self.hidden == 0 && element::is_replaced(element)
            || shown_before && element::is_struck(element)
        {
            self.run.part();
            self.own.part();
        } else if self.hidden == 0 && element::is_edged(element) {
            self.run.edge();
        }
        if self.hidden > 0 && (shape.hides || shape.parts) {
            self.end_unseen();
        }
        let mut open = Open {
            shape,
            parts_children: inline.parts_children(),
            hints: element::hints(&self.base, element),
            place: element::place(element, self.sections),
            section: element::is_section(element),
            names_others: element::names_others(&self.base, element),
            visitors,
            ..Open::default()
        };
        self.microdata(element, &mut open);
        self.preformatted += usize::from(shape.preformatted);
        self.sections += usize::from(open.section);
        self.naming += usize::from(open.names_others);
        self.visitors += usize::from(open.visitors);
        self.inert += usize::from(element::is_inert(element));
        if let Some(place) = open.place {
            *place.count(&mut self.regions) += 1;
        }
        self.special(node, element, open.hints);
        self.open.push(open);
        self.attributes(node, element);
    }

    fn leave(&mut self, element: &Element) {
        let Some(open) = self.open.pop() else {
            return;
        };
        if let Some(start) = open.name
            && self.hidden == 0
        {
            let name = self.since(start);
            self.owner.add(OwnerPlace::Organization, &name);
        }
        if self.hidden > 0 && (open.shape.hides || open.shape.parts) {
            self.end_unseen();
        } else if self.hidden == 0 && open.shape.parts {
            self.end_line();
        } else if self.hidden == 0 && element::is_edged(element) {
            self.run.edge();
        }
        if element.attr("itemscope").is_some() {
            self.scopes.pop();
        }
        self.hidden -= usize::from(open.shape.hides);
        self.preformatted -= usize::from(open.shape.preformatted);
        self.sections -= usize::from(open.section);
        self.naming -= usize::from(open.names_others);
        self.visitors -= usize::from(open.visitors);
        self.inert -= usize::from(element::is_inert(element));
        if let Some(place) = open.place {
            *place.count(&mut self.regions) -= 1;
        }
    }

    /// What has become visible since `start`, up to a few lines.
    fn since(&self, (lines, bytes): (usize, usize)) -> String {
        const MOST_LINES: usize = 3;
        let mut text = String::new();
        for (index, line) in self.page.visible[lines..]
            .iter()
            .take(MOST_LINES)
            .enumerate()
        {
            text.push_str(
                line.get(if index == 0 { bytes } else { 0 }..)
                    .unwrap_or_default(),
            );
            text.push(' ');
        }
        let whole = self.page.visible.len() > lines;
        text.push_str(
            self.run
                .as_str()
                .get(if whole { 0 } else { bytes }..)
                .unwrap_or_default(),
        );
        text
    }

    fn end_line(&mut self) {
        let edges = self.run.take_edges();
        let (line, unclear) = find_address::part(self.run.take(), &edges);
        let own = self.own.take();
        if self.visitors > 0 {
            let words = unclear.into_iter().chain([line]);
            self.page
                .visitors
                .extend(words.filter(|line| !line.is_empty()));
            return;
        }
        self.page.unclear.extend(unclear);
        if !line.is_empty() {
            self.owner.line(&own, self.regions);
            self.page.visible.push(line);
        }
    }

    fn end_unseen(&mut self) {
        let text = self.unseen.take();
        if may_spell(&text) {
            self.page.hidden.push(text);
        }
    }

    fn hide_lines(&mut self, text: &str) {
        let lines = model::lines(text).filter(|line| may_spell(line));
        self.page.hidden.extend(lines);
    }
}

fn own_text(node: NodeRef<'_, Node>) -> String {
    let texts = node.children().filter_map(|child| child.value().as_text());
    texts.map(|text| &**text).collect()
}

/// Whether there is anything in an element but white space and comments.
fn has_content(node: NodeRef<'_, Node>) -> bool {
    node.children().any(|child| match child.value() {
        Node::Element(_) => true,
        Node::Text(text) => !text.trim().is_empty(),
        _ => false,
    })
}

fn concealed(html: &Html) -> Concealed {
    let mut sheets = Sheets::default();
    for node in html.tree.root().descendants() {
        if let Some(element) = node.value().as_element() {
            sheets.add_inline(element);
            if element.name() == "style" {
                sheets.add(element, &own_text(node));
            }
        }
    }
    sheets.concealed()
}

fn base(url: &Url, html: &Html) -> Url {
    let declared = html.tree.root().descendants().find_map(|node| {
        let element = node.value().as_element()?;
        (element.name() == "base").then(|| element.attr("href"))?
    });
    declared
        .and_then(|href| url.join(href.trim()).ok())
        .unwrap_or_else(|| url.clone())
}

const MOST_FRAMES: usize = 20;

impl Walk<'_> {
    /// Adds addresses where nobody reads them, visitors write, or else the owner does.
    fn add(&mut self, addresses: impl IntoIterator<Item = String>, hidden: bool, visitors: bool) {
        let place = if hidden {
            &mut self.page.hidden
        } else if visitors {
            &mut self.page.visitors
        } else {
            &mut self.page.linked
        };
        place.extend(addresses);
    }

    fn special(&mut self, node: NodeRef<'_, Node>, element: &Element, hints: Hints) {
        match element.name() {
            "title" if !self.titled && element::is_html(element) && self.is_owners() => {
                self.titled = true;
                self.owner.add(OwnerPlace::Title, &own_text(node));
            }
            "meta" if self.is_owners() => self.meta(element),
            "script" => self.script(node, element),
            "noscript" => self.scripts.noscript(&own_text(node)),
            "iframe" | "frame" if !self.is_hidden_frame(node, element) => self.frame(element),
            "img" if self.hidden == 0 => self.logo(element, hints),
            _ => {}
        }
        let root = element.id().is_some_and(is_root) || element.name() == "app-root";
        self.scripts.empty_root |= root && !has_content(node);
    }

    fn meta(&mut self, element: &Element) {
        let content = element.attr("content").unwrap_or_default();
        let named = |attribute, names: &[&str]| {
            element.attr(attribute).is_some_and(|value: &str| {
                names
                    .iter()
                    .any(|name| value.trim().eq_ignore_ascii_case(name))
            })
        };
        if named("property", &["og:site_name"])
            || named("name", &["og:site_name", "application-name"])
        {
            self.owner.add(OwnerPlace::SiteName, content);
        }
        if self.page.refresh.is_none() && named("http-equiv", &["refresh"]) {
            self.page.refresh = links::refresh(&self.page.url, &self.base, content);
        }
    }

    fn script(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let kind = element
            .attr("type")
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        if kind == "application/ld+json" {
            if let Some(said) = structured::json_ld(&own_text(node)) {
                self.said(said);
            }
        } else if kind.is_empty() || kind == "module" || kind.ends_with("javascript") {
            self.scripts.has = true;
        }
    }

    fn said(&mut self, said: structured::Said) {
        let (inert, visitors) = (self.inert > 0, self.visitors > 0);
        self.add(said.emails, inert, visitors);
        self.add(said.others_emails, inert, true);
        if self.is_owners() {
            for (place, names) in said.names {
                // Names of one organization are one claim.
                self.owner.add(place, &names.join(" | "));
            }
        }
    }

    fn is_owners(&self) -> bool {
        self.inert == 0 && self.visitors == 0
    }

    fn is_hidden_frame(&self, node: NodeRef<'_, Node>, element: &Element) -> bool {
        let unseen = |name| matches!(element.attr(name), Some("0" | "1" | "0px" | "1px"));
        // A frame hides its own fallback, which counts in `hidden`.
        self.hidden > 1 && element.name() == "iframe"
            || self
                .concealed
                .hides(node, element, &Declared::inline(element))
            || (unseen("width") && unseen("height"))
    }

    fn frame(&mut self, element: &Element) {
        let source = element
            .attr("src")
            .filter(|source| !source.trim().is_empty());
        if let Some(url) = source.and_then(|source| links::absolute(&self.base, source))
            && self.page.frames.len() < MOST_FRAMES
            && !self.page.frames.contains(&url)
        {
            self.page.frames.push(url);
        }
    }

    /// An image is the owner's logo when it leads home, or is called so in the page's header.
    fn logo(&mut self, element: &Element, hints: Hints) {
        const NEAR: usize = 4;
        let near = || self.open.iter().rev().take(NEAR).map(|open| open.hints);
        let source = element.attr("src").unwrap_or_default();
        let file = source.rsplit('/').next().unwrap_or_default();
        let called = hints.logo
            || file.to_ascii_lowercase().contains("logo")
            || near().any(|hints| hints.logo);
        let others = hints.others || near().any(|hints| hints.others);
        let home = near().any(|hints| hints.home);
        if !others
            && self.naming == 0
            && self.regions.article == 0
            && (home || (called && self.regions.header > 0))
            && let Some(alt) = element.attr("alt")
        {
            self.owner.add(OwnerPlace::Logo, alt);
        }
    }

    fn microdata(&mut self, element: &Element, open: &mut Open) {
        let properties = || {
            element
                .attr("itemprop")
                .unwrap_or_default()
                .split_ascii_whitespace()
        };
        let content = element.attr("content").map(str::to_owned);
        if properties().any(|name| name == "email")
            && let Some(content) = &content
        {
            let scheme = content
                .get(..7)
                .filter(|s| s.eq_ignore_ascii_case("mailto:"));
            let address = content[scheme.map_or(0, str::len)..].trim().to_owned();
            let visitors = self.visitors > 0 || open.visitors;
            self.add([address], self.inert > 0, visitors);
        }
        let inside = self.scopes.last().copied().unwrap_or(false);
        if inside
            && self.is_owners()
            && properties().any(|name| matches!(name, "name" | "legalName"))
        {
            match content {
                Some(content) => self.owner.add(OwnerPlace::Organization, &content),
                None => open.name = Some((self.page.visible.len(), self.run.as_str().len())),
            }
        }
        if element.attr("itemscope").is_some() {
            let of_owner = element.attr("itemprop").is_none()
                || properties().any(|name| matches!(name, "publisher" | "copyrightHolder"));
            let types = element.attr("itemtype").unwrap_or_default();
            let organization = types
                .split_ascii_whitespace()
                .any(structured::is_organization);
            self.scopes
                .push(of_owner && organization && self.regions.article == 0);
        }
    }

    /// Whether anything in an element can be seen: a text, an image, or an element that a style
    /// may draw, such as an icon.
    fn shows_something(&self, node: NodeRef<'_, Node>) -> bool {
        let mut waiting: Vec<_> = node.children().collect();
        while let Some(node) = waiting.pop() {
            match node.value() {
                Node::Text(text) if !normalise(text).is_empty() => return true,
                Node::Element(element) => {
                    let inline = Declared::inline(element);
                    if element::shape(element).hides || self.concealed.hides(node, element, &inline)
                    {
                        continue;
                    }
                    if element::is_replaced(element)
                        || element.id().is_some()
                        || element.classes().next().is_some()
                        || element.attr("style").is_some()
                    {
                        return true;
                    }
                    waiting.extend(node.children());
                }
                _ => {}
            }
        }
        false
    }

    /// Links that can be clicked, and attributes that no one reads.
    fn attributes(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let (hidden, visitors) = (self.hidden > 0, self.visitors > 0);
        for (name, value) in element.attrs() {
            let link = name == "href" && matches!(element.name(), "a" | "area");
            let encoded = match name {
                "data-cfemail" => links::decode(value),
                _ if link => links::decode_link(value),
                _ => None,
            };
            if encoded.is_some() {
                self.add(encoded, hidden, visitors);
            } else if link && let Some(addressees) = links::addressees(value) {
                // An empty link cannot be clicked: a trap for harvesters.
                let clickable = element.name() == "area" || self.shows_something(node);
                self.add(addressees, hidden || !clickable, visitors);
            } else {
                self.hide_lines(value);
            }
        }
    }
}

/// A page with scripts and less text than this, in characters, shows little.
const LITTLE_TEXT: usize = 50;

/// A page with less text than this, in characters, shows little when it asks for scripts or
/// has an empty place for an application.
const SOME_TEXT: usize = 500;

static ROOTS: LazyLock<Vec<&str>> =
    LazyLock::new(|| entries(include_str!("words/script_roots.txt")));

#[derive(Debug, Default)]
pub(super) struct Scripts {
    pub(super) has: bool,
    /// It has an empty element that a framework renders into.
    pub(super) empty_root: bool,
    pub(super) asks: bool,
}

impl Scripts {
    /// Whether a page that shows `visible` shows little without its scripts.
    pub(super) fn needed(&self, visible: &[String]) -> bool {
        let text: usize = visible.iter().map(|line| line.chars().count()).sum();
        self.has && (text < LITTLE_TEXT || (text < SOME_TEXT && (self.empty_root || self.asks)))
    }

    /// Reads the text of a `<noscript>`.
    pub(super) fn noscript(&mut self, text: &str) {
        let lower = text.to_lowercase();
        let scripts = ["javascript", "자바스크립트", "스크립트"]
            .iter()
            .any(|word| lower.contains(word));
        let asks = [
            "enable", "turn on", "activate", "need", "require", "without", "disabled", "aktivier",
            "활성", "허용", "필요", "켜", "有効", "启用", "activer", "activar",
        ];
        self.asks |= scripts && asks.iter().any(|word| lower.contains(word));
    }
}

pub(super) fn is_root(id: &str) -> bool {
    ROOTS.contains(&id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(scripts: &Scripts, characters: usize) -> bool {
        scripts.needed(&["x".repeat(characters)])
    }

    #[test]
    fn little_text_with_scripts_needs_them() {
        let mut scripts = Scripts {
            has: true,
            ..Scripts::default()
        };
        assert!(needed(&scripts, 10));
        assert!(!needed(&scripts, 100));
        scripts.noscript("You need to enable JavaScript to run this app.");
        assert!(needed(&scripts, 100));
        assert!(!needed(&scripts, 1000));
    }

    #[test]
    fn without_scripts_little_text_is_all_there_is() {
        let scripts = Scripts {
            empty_root: true,
            asks: true,
            ..Scripts::default()
        };
        assert!(!needed(&scripts, 0));
    }

    #[test]
    fn a_pixel_in_noscript_asks_for_nothing() {
        let mut scripts = Scripts::default();
        scripts.noscript("<img src='https://t.example/pixel?enable=1'>");
        assert!(!scripts.asks);
    }
}
