//! The walk over a page's tree: what a reader sees, block by block, and what no one does.
//!
//! Never shown: `head`, scripts, styles, templates, `<noscript>` (browsers with scripts do not
//! show it), what media and `<object>` fall back to, SVG's descriptions, dialogs and popovers
//! that are not open, and what [`Concealed`] hides. What a form's fields hold is not shown
//! either: it is what the visitor writes, or an echo of it. A closed `<details>` can be opened,
//! so it is shown.

use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{Html, Node};
use url::Url;

use super::conceal::Concealed;
use super::element::{self, Place};
use super::owner::{Owner, Regions};
use super::scripted::{Scripts, is_root};
use super::text::Run;
use super::{OwnerPlace, Page, links, protected, read, spelled, structured};

/// How many frames of one page are followed, at most.
const MOST_FRAMES: usize = 20;

/// A walk in progress.
pub(super) struct Walk<'a> {
    page: Page,
    base: Url,
    concealed: &'a Concealed,
    /// The open elements.
    open: Vec<Open>,
    /// How many of them hide their content.
    hidden: usize,
    /// How many of them keep their line breaks.
    preformatted: usize,
    regions: Regions,
    sections: usize,
    run: Run,
    unseen: Run,
    owner: Owner,
    scripts: Scripts,
    titled: bool,
}

/// What closing an element undoes.
#[derive(Default)]
struct Open {
    hides: bool,
    parts: bool,
    preformatted: bool,
    /// What its id, classes and links say about it.
    hints: element::Hints,
    place: Option<Place>,
    section: bool,
    /// For an `itemscope`: whether it is the owner's organization.
    organization: Option<bool>,
    /// For an organization's name: where it began, in lines and in bytes of the run.
    name: Option<(usize, usize)>,
}

impl Walk<'_> {
    /// What the tree of a page says.
    pub(super) fn over(url: &Url, html: &Html) -> Page {
        let concealed = concealed(html);
        let mut walk = Walk {
            page: read::empty(url),
            base: base(url, html),
            concealed: &concealed,
            open: Vec::new(),
            hidden: 0,
            preformatted: 0,
            regions: Regions::default(),
            sections: 0,
            run: Run::default(),
            unseen: Run::default(),
            owner: Owner::default(),
            scripts: Scripts::default(),
            titled: false,
        };
        for edge in html.tree.root().traverse() {
            match edge {
                Edge::Open(node) => walk.enter(node),
                Edge::Close(node) if node.value().is_element() => walk.leave(),
                Edge::Close(_) => {}
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
                self.run.push(line);
            }
        } else {
            self.run.push(text);
        }
    }

    fn enter_element(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let hides = element::never_shown(element) || self.concealed.hides(element);
        self.hidden += usize::from(hides);
        let parts = element::parts(element);
        if self.hidden == 0 && parts {
            self.end_line();
        } else if self.hidden == 0 && element::is_replaced(element) {
            self.run.part();
        } else if self.hidden > 0 && (hides || parts) {
            self.end_unseen();
        }
        let mut open = Open {
            hides,
            parts,
            preformatted: matches!(element.name(), "pre" | "listing" | "xmp" | "plaintext"),
            hints: element::hints(&self.base, element),
            place: element::place(element, self.sections),
            section: element::is_section(element),
            ..Open::default()
        };
        self.microdata(element, &mut open);
        self.preformatted += usize::from(open.preformatted);
        self.sections += usize::from(open.section);
        if let Some(place) = open.place {
            *place.count(&mut self.regions) += 1;
        }
        self.special(node, element, open.hints);
        self.open.push(open);
        self.attributes(node, element);
    }

    fn leave(&mut self) {
        let Some(open) = self.open.pop() else {
            return;
        };
        if let Some(start) = open.name
            && self.hidden == 0
        {
            let name = self.since(start);
            self.owner.add(OwnerPlace::Organization, &name);
        }
        if self.hidden > 0 && (open.hides || open.parts) {
            self.end_unseen();
        } else if self.hidden == 0 && open.parts {
            self.end_line();
        }
        self.hidden -= usize::from(open.hides);
        self.preformatted -= usize::from(open.preformatted);
        self.sections -= usize::from(open.section);
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
        let line = self.run.take();
        if !line.is_empty() {
            self.owner.line(&line, self.regions);
            self.page.visible.push(line);
        }
    }

    fn end_unseen(&mut self) {
        let text = self.unseen.take();
        if spelled::may_spell(&text) {
            self.page.hidden.push(text);
        }
    }

    fn hide_lines(&mut self, text: &str) {
        let lines = read::lines(text).filter(|line| spelled::may_spell(line));
        self.page.hidden.extend(lines);
    }

    fn link(&mut self, address: String) {
        if self.hidden > 0 {
            self.page.hidden.push(address);
        } else {
            self.page.linked.push(address);
        }
    }

    /// Elements that mean more than their text.
    fn special(&mut self, node: NodeRef<'_, Node>, element: &Element, hints: element::Hints) {
        match element.name() {
            "title" if !self.titled && element::is_html(element) => {
                self.titled = true;
                self.owner.add(OwnerPlace::Title, &own_text(node));
            }
            "meta" => self.meta(element),
            "script" => self.script(node, element),
            "noscript" => self.scripts.noscript(&own_text(node)),
            "iframe" | "frame" if !self.is_hidden_frame(element) => self.frame(element),
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
                self.page.linked.extend(said.emails);
                for (place, name) in said.names {
                    self.owner.add(place, &name);
                }
            }
        } else if kind.is_empty() || kind == "module" || kind.ends_with("javascript") {
            self.scripts.has = true;
        }
    }

    fn is_hidden_frame(&self, element: &Element) -> bool {
        let none = |name| matches!(element.attr(name), Some("0" | "1" | "0px" | "1px"));
        // A frame hides its own fallback, which counts in `hidden`.
        self.hidden > 1 && element.name() == "iframe"
            || self.concealed.hides(element)
            || (none("width") && none("height"))
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
    fn logo(&mut self, element: &Element, hints: element::Hints) {
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
            self.page
                .linked
                .push(content[scheme.map_or(0, str::len)..].trim().to_owned());
        }
        let inside = self.open.iter().rev().find_map(|open| open.organization);
        if inside == Some(true) && properties().any(|name| matches!(name, "name" | "legalName")) {
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
            open.organization = Some(of_owner && organization && self.regions.article == 0);
        }
    }

    /// Links that can be clicked, and attributes that no one reads.
    fn attributes(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        for (name, value) in element.attrs() {
            let link = name == "href" && matches!(element.name(), "a" | "area");
            if name == "data-cfemail"
                && let Some(address) = protected::decode(value)
            {
                self.link(address);
            } else if link && let Some(address) = protected::decode_link(value) {
                self.link(address);
            } else if link && let Some(addressees) = links::addressees(value) {
                // An empty link cannot be clicked: a trap for harvesters.
                let clickable = element.name() == "area" || has_content(node);
                for address in addressees {
                    if clickable {
                        self.link(address);
                    } else {
                        self.page.hidden.push(address);
                    }
                }
            } else {
                self.hide_lines(value);
            }
        }
    }
}

/// The text of an element's own text nodes.
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

/// What the page's own style sheets hide.
fn concealed(html: &Html) -> Concealed {
    let mut concealed = Concealed::default();
    for node in html.tree.root().descendants() {
        if node
            .value()
            .as_element()
            .is_some_and(|element| element.name() == "style")
        {
            concealed.add(&own_text(node));
        }
    }
    concealed
}

/// What relative URLs of the page are relative to.
fn base(url: &Url, html: &Html) -> Url {
    let declared = html.tree.root().descendants().find_map(|node| {
        let element = node.value().as_element()?;
        (element.name() == "base").then(|| element.attr("href"))?
    });
    declared
        .and_then(|href| url.join(href.trim()).ok())
        .unwrap_or_else(|| url.clone())
}
