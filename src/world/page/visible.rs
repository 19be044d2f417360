//! The walk over a page's tree: what a reader sees, block by block, and what no one does.
//!
//! Never shown: `head`, scripts, styles, templates, `<noscript>` (browsers with scripts do not
//! show it), what media and `<object>` fall back to, SVG's descriptions, dialogs and popovers
//! that are not open, and what [`Concealed`] hides. What a form's fields hold is not shown
//! either: it is what the visitor writes, or an echo of it. A closed `<details>` can be opened,
//! so it is shown. What is struck out counts as not shown: the page takes it back.

mod special;

use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{Html, Node};
use url::Url;

use super::conceal::{Concealed, Declared, Sheets};
use super::element::{self, Place, Shape};
use super::owner::{Owner, Regions};
use super::scripted::Scripts;
use super::text::Run;
use super::{OwnerPlace, Page, read, spelled, unclear, visitors};

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

/// What closing an element undoes.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is counted by itself while the element is open"
)]
struct Open {
    shape: Shape,
    /// What its id, classes and links say about it.
    hints: element::Hints,
    place: Option<Place>,
    section: bool,
    /// Its children stand apart from each other.
    parts_children: bool,
    /// Its text names others than the owner.
    names_others: bool,
    /// Visitors write what is in it.
    visitors: bool,
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
        let visitors = visitors::write_in(element);
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
        let (line, unclear) = unclear::part(self.run.take(), &edges);
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
        if spelled::may_spell(&text) {
            self.page.hidden.push(text);
        }
    }

    fn hide_lines(&mut self, text: &str) {
        let lines = read::lines(text).filter(|line| spelled::may_spell(line));
        self.page.hidden.extend(lines);
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
