//! The walk over a page's tree: what a reader sees, block by block, and what no one does.
//!
//! Never shown: `head`, scripts, styles, templates, `<noscript>` (browsers with scripts do not
//! show it), what media and `<object>` fall back to, SVG's descriptions, dialogs and popovers
//! that are not open, and what [`HidingRules`] hides. What a form's fields hold is not shown
//! either: it is what the visitor writes, or an echo of it. A closed `<details>` can be opened,
//! so it is shown. What is struck out counts as not shown: the page takes it back.

use std::ops::Range;

use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{Html, Node};
use url::Url;

use super::element::{self, Hints, Shape, attr};
use super::hidden::{Declared, HidingRules, Sheets};
use super::owner::{Owner, Regions};
use super::rendered::{BOX, DRAWN};
use super::text::Run;
use super::visitors::{Board, Names};
use super::{MailLink, OwnerPlace, Page, find_address, leaving, links, model, structured};
use crate::base::text::normalise;
use crate::base::word_list::word_lists;
use crate::world::email_text::may_spell;

pub(super) struct Walk<'a> {
    page: Page,
    base: Url,
    /// None for a page that a browser has shown: what it hides is marked.
    rules: Option<&'a HidingRules>,
    open: Vec<Open>,
    around: Around,
    run: Run,
    /// The part of `run` that may name the owner, where that is not all of it.
    own: Option<Run>,
    /// Whether the line has a link to another site.
    links_others: bool,
    unseen: Run,
    owner: Owner,
    scripts: Scripts,
    board: Board,
    names: Names,
    /// Whether the line that begins now follows the last one after a break alone.
    after_break: bool,
    titled: bool,
    /// Whether a style sheet wrote some of the line that grows, and where that is in bytes.
    drawn: Vec<Range<usize>>,
    /// The links to addresses that end in the line that grows.
    mail_links: Vec<MailLink>,
}

/// What the open elements say together. It is restored when an element ends.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each holds by itself")]
struct Around {
    hidden: usize,
    preformatted: bool,
    /// The level of the heading that the element is, or is in; 0 in none.
    heading: u8,
    regions: Regions,
    in_section: bool,
    /// Whether the innermost `itemscope` is the owner's organization.
    in_owner: bool,
    names_others: bool,
    by_visitors: bool,
    /// Whether an element holds what is not part of the page yet.
    inert: bool,
}

struct Open {
    shape: Shape,
    hints: Hints,
    parts_children: bool,
    /// For an organization's name: where it began, in lines and in bytes of the run.
    name: Option<(usize, usize)>,
    /// For what a style sheet writes: where it began in the run.
    drawn: Option<usize>,
    /// The addresses to which it links, and where it began, in lines and in bytes of the run.
    mails: Option<(Vec<String>, (usize, usize))>,
    before: Around,
}

impl Walk<'_> {
    pub(super) fn over_markup(url: &Url, html: &Html) -> Page {
        Walk::over(url, html, Some(&hiding_rules(html)))
    }

    pub(super) fn over_rendered(url: &Url, html: &Html) -> Page {
        Walk::over(url, html, None)
    }

    fn over(url: &Url, html: &Html, rules: Option<&HidingRules>) -> Page {
        let mut walk = Walk {
            page: Page::empty(url),
            base: base(url, html),
            rules,
            open: Vec::new(),
            around: Around::default(),
            run: Run::default(),
            own: None,
            links_others: false,
            unseen: Run::default(),
            owner: Owner::default(),
            scripts: Scripts::default(),
            board: Board::default(),
            names: Names::default(),
            after_break: false,
            titled: false,
            drawn: Vec::new(),
            mail_links: Vec::new(),
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
        self.page.others_write = self.board.mark(&self.page);
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
        if self.around.hidden > 0 {
            self.unseen.push(text);
        } else if self.around.preformatted {
            for (index, line) in text.split('\n').enumerate() {
                if index > 0 {
                    self.after_break = self.end_line();
                }
                self.show(line);
            }
        } else {
            self.show(text);
        }
    }

    fn show(&mut self, text: &str) {
        if self.around.names_others {
            self.links_others |= !text.trim().is_empty();
            self.own.get_or_insert_with(|| self.run.clone()).part();
        } else if let Some(own) = &mut self.own {
            own.push(text);
        }
        self.run.push(text);
    }

    fn enter_element(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let before = self.around;
        let by_visitors = self.names.are_of_visitors(element);
        self.board
            .see(element, self.around.by_visitors || by_visitors);
        let (mut shape, parts_children) = self.shape(node, element);
        // Visitors' words are kept apart from the owner's.
        shape.parts |= by_visitors || self.open.last().is_some_and(|open| open.parts_children);
        self.around.hidden += usize::from(shape.hides);
        let is_shown = self.around.hidden == 0;
        if is_shown && shape.parts {
            self.after_break = self.end_line() && element.name() == "br";
        } else if is_shown && element::is_replaced(element)
            || before.hidden == 0 && element::is_struck(element)
        {
            self.run.part();
            self.own.iter_mut().for_each(Run::part);
        } else if is_shown && self.has_edge(element) {
            self.run.edge();
        }
        if !is_shown && (shape.hides || shape.parts) {
            self.end_unseen();
        }
        let target = links::target(&self.base, element);
        let hints = element::hints(&self.page.url, target.as_ref(), element);
        let name = self.microdata(element, by_visitors);
        let around = &mut self.around;
        around.preformatted |= shape.preformatted;
        around.heading = element::heading_level(element).unwrap_or(around.heading);
        around.names_others |= element::names_others(&self.page.url, target.as_ref(), element);
        around.by_visitors |= by_visitors;
        around.inert |= element::is_inert(element);
        element::enter_region(element, around.in_section, &mut around.regions);
        around.in_section |= element::is_section(element);
        self.special(node, element, hints, target);
        self.open.push(Open {
            shape,
            hints,
            parts_children,
            name,
            drawn: is_shown
                .then(|| attr(element, DRAWN).map(|_| self.run.as_str().len()))
                .flatten(),
            mails: None,
            before,
        });
        let mails = self.attributes(node, element);
        let start = (self.page.visible.len(), self.run.as_str().len());
        if let Some(open) = self.open.last_mut().filter(|_| !mails.is_empty()) {
            open.mails = Some((mails, start));
        }
    }

    fn leave(&mut self, element: &Element) {
        let Some(open) = self.open.pop() else {
            return;
        };
        let is_shown = self.around.hidden == 0;
        if let Some(start) = open.name.filter(|_| is_shown) {
            let name = self.since(start);
            self.owner.add(OwnerPlace::Organization, &name);
        }
        if let Some((mails, start)) = open.mails.filter(|_| is_shown) {
            self.label_mails(&mails, start);
        }
        if let Some(start) = open.drawn {
            self.drawn.push(start..self.run.as_str().len());
        }
        if !is_shown && (open.shape.hides || open.shape.parts) {
            self.end_unseen();
        } else if is_shown && open.shape.parts && element.name() != "br" {
            self.end_line();
        } else if is_shown && self.has_edge(element) {
            self.run.edge();
        }
        self.around = open.before;
    }

    /// How an element is laid out, and whether its children stand apart.
    fn shape(&self, node: NodeRef<'_, Node>, element: &Element) -> (Shape, bool) {
        let shape = element::shape(element);
        let Some(rules) = self.rules else {
            let laid_out = attr(element, BOX).unwrap_or_default();
            let shape = Shape {
                hides: shape.hides_in_browsers || attr(element, "hidden").is_some(),
                parts: element.name() == "br" || laid_out.contains('b'),
                preformatted: laid_out.contains('p'),
                ..shape
            };
            return (shape, laid_out.contains('f'));
        };
        let inline = Declared::inline(element);
        let shape = Shape {
            hides: shape.hides || rules.hides(node, element, &inline),
            parts: shape.parts || inline.parts(),
            ..shape
        };
        (shape, inline.parts_children())
    }

    /// Whether a style sheet that is not known may set what is in an element apart.
    fn has_edge(&self, element: &Element) -> bool {
        self.rules.is_some() && element::is_edged(element)
    }

    /// What has become visible since `start`, up to a few lines.
    fn since(&self, (lines, bytes): (usize, usize)) -> String {
        const MAX_LINES: usize = 3;
        let ended = self.page.visible[lines..].iter().take(MAX_LINES);
        let pieces = ended.map(String::as_str).chain([self.run.as_str()]);
        let pieces = pieces.enumerate().map(|(index, piece)| {
            let start = if index == 0 { bytes } else { 0 };
            piece.get(start..).unwrap_or_default()
        });
        pieces.collect::<Vec<_>>().join(" ")
    }

    /// Notes what has become visible since `start` as the label of links to `mails`.
    fn label_mails(&mut self, mails: &[String], (first, start): (usize, usize)) {
        const MAX_LINES: usize = 20;
        let ended = self.page.visible[first..].iter().map(String::len);
        let lines = ended.chain([self.run.as_str().len()]).take(MAX_LINES);
        let labels = lines.enumerate().map(|(index, end)| {
            let start = if index == 0 { start.min(end) } else { 0 };
            (first + index, start..end)
        });
        let now = self.page.visible.len();
        let is_only = first == now;
        for (line, label) in labels.filter(|(_, label)| is_only || !label.is_empty()) {
            let labelled = mails.iter().map(|address| MailLink {
                address: address.clone(),
                line,
                label: label.clone(),
            });
            if line == now {
                self.mail_links.extend(labelled);
            } else {
                self.page.mail_links.extend(labelled);
            }
        }
    }

    /// Whether it was one of the owner's that shows something.
    fn end_line(&mut self) -> bool {
        let edges = self.run.take_edges();
        let drawn = std::mem::take(&mut self.drawn);
        let mail_links = std::mem::take(&mut self.mail_links);
        let own = self.own.take().map(|mut own| own.take());
        let line = self.run.take();
        let own = own.unwrap_or_else(|| line.clone());
        let (line, mut unclear) = find_address::part(line, &edges);
        // An address of which a style sheet writes a part is not the page's text.
        let (mut line, drawn) = find_address::without_drawn(line, &drawn);
        unclear.extend(drawn);
        let links_others = std::mem::take(&mut self.links_others);
        let after_break = std::mem::take(&mut self.after_break);
        if self.around.by_visitors {
            let words = unclear.into_iter().chain([line]);
            self.page
                .visitors
                .extend(words.filter(|line| !line.is_empty()));
            return false;
        }
        let page = &mut self.page;
        let above = page.visible.last_mut().filter(|_| after_break);
        // No address begins with the name of a site that is a link to it.
        let parts =
            |above: &&mut String| !line.contains('@') || !links::names_site(&page.links, above);
        if let Some(above) = above.filter(parts) {
            unclear.extend(find_address::across(above, &mut line));
        }
        self.page.unclear.extend(unclear);
        let shows = !line.is_empty();
        if shows {
            let is_heading = self.around.heading > 0;
            let regions = Regions {
                is_heading,
                ..self.around.regions
            };
            self.owner.line(&own, regions);
            if links_others && !own.trim().is_empty() {
                self.owner.linked_line(&line);
            }
            if is_heading {
                let at = self.page.visible.len();
                self.page.headings.push((at, self.around.heading));
            }
            self.page.mail_links.extend(mail_links);
            self.page.visible.push(line);
        }
        shows
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

fn hiding_rules(html: &Html) -> HidingRules {
    let mut sheets = Sheets::default();
    for node in html.tree.root().descendants() {
        if let Some(element) = node.value().as_element() {
            sheets.add_inline(element);
            if element.name() == "style" {
                sheets.add(element, &own_text(node));
            }
        }
    }
    sheets.into_rules()
}

fn base(url: &Url, html: &Html) -> Url {
    let declared = html.tree.root().descendants().find_map(|node| {
        let element = node.value().as_element()?;
        (element.name() == "base").then(|| attr(element, "href"))?
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

    fn special(
        &mut self,
        node: NodeRef<'_, Node>,
        element: &Element,
        hints: Hints,
        target: Option<Url>,
    ) {
        if let Some(target) = target.filter(|_| self.is_owners()) {
            links::add(&mut self.page.links, &self.page.url, target, node);
        }
        match element.name() {
            "title" if !self.titled && element::is_html(element) && self.is_owners() => {
                self.titled = true;
                self.owner.add(OwnerPlace::Title, &own_text(node));
            }
            "meta" if self.is_owners() => self.meta(element),
            "script" => self.script(node, element),
            "noscript" => self.scripts.noscript(&own_text(node)),
            "iframe" | "frame" if !self.is_hidden_frame(node, element) => self.frame(element),
            "img" if self.around.hidden == 0 => self.logo(element, hints),
            _ => {}
        }
        let root = attr(element, "id").is_some_and(is_root) || element.name() == "app-root";
        self.scripts.empty_root |= root && !has_content(node);
    }

    fn meta(&mut self, element: &Element) {
        let content = attr(element, "content").unwrap_or_default();
        let named = |attribute, names: &[&str]| {
            attr(element, attribute).is_some_and(|value: &str| {
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
        let kind = attr(element, "type")
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        if kind == "application/ld+json" {
            self.board.see_data(&own_text(node));
            if let Some(said) = structured::json_ld(&own_text(node)) {
                self.said(said);
            }
        } else if kind.is_empty() || kind == "module" || kind.ends_with("javascript") {
            self.scripts.has = true;
            self.page.leaves |= !self.around.inert && leaving::leaves(&own_text(node));
        }
    }

    fn said(&mut self, said: structured::Said) {
        let (inert, visitors) = (self.around.inert, self.around.by_visitors);
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
        !self.around.inert && !self.around.by_visitors
    }

    fn is_hidden_frame(&self, node: NodeRef<'_, Node>, element: &Element) -> bool {
        let unseen = |name| matches!(attr(element, name), Some("0" | "1" | "0px" | "1px"));
        // A frame hides its own fallback, which counts in `hidden`.
        self.around.hidden > 1 && element.name() == "iframe"
            || self.is_hidden(node, element)
            || (unseen("width") && unseen("height"))
    }

    fn is_hidden(&self, node: NodeRef<'_, Node>, element: &Element) -> bool {
        self.rules
            .is_some_and(|rules| rules.hides(node, element, &Declared::inline(element)))
    }

    fn frame(&mut self, element: &Element) {
        let source = attr(element, "src").filter(|source| !source.trim().is_empty());
        if let Some(url) = source.and_then(|source| links::absolute(&self.base, source))
            && self.page.frames.len() < MOST_FRAMES
            && !self.page.frames.contains(&url)
        {
            self.page.frames.push(url);
        }
    }

    /// An image is the owner's logo when it leads home, in the page's header or by its name.
    fn logo(&mut self, element: &Element, hints: Hints) {
        const NEAR: usize = 4;
        let near = || self.open.iter().rev().take(NEAR).map(|open| open.hints);
        let source = attr(element, "src").unwrap_or_default();
        let file = source.rsplit('/').next().unwrap_or_default();
        let called = hints.logo
            || file.to_ascii_lowercase().contains("logo")
            || near().any(|hints| hints.logo);
        let others = hints.others || near().any(|hints| hints.others);
        let home = near().any(|hints| hints.home);
        if !others
            && !self.around.names_others
            && self.around.regions.article == 0
            && home
            && (called || self.around.regions.header > 0)
            && let Some(alt) = attr(element, "alt")
        {
            self.owner.add(OwnerPlace::Logo, alt);
        }
    }

    /// Reads what microdata says. If the element's text is the name of the owner's organization,
    /// gives where that text begins.
    fn microdata(&mut self, element: &Element, by_visitors: bool) -> Option<(usize, usize)> {
        let has_property = |names: &[&str]| {
            let properties = attr(element, "itemprop").unwrap_or_default();
            let mut properties = properties.split_ascii_whitespace();
            properties.any(|property| names.contains(&property))
        };
        let content = attr(element, "content");
        if let Some(content) = content.filter(|_| has_property(&["email"])) {
            let address = structured::without_scheme(content);
            let by_visitors = self.around.by_visitors || by_visitors;
            self.add([address], self.around.inert, by_visitors);
        }
        let is_name =
            self.around.in_owner && self.is_owners() && has_property(&["name", "legalName"]);
        if let Some(content) = content.filter(|_| is_name) {
            self.owner.add(OwnerPlace::Organization, content);
        }
        if attr(element, "itemscope").is_some() {
            let of_owner = attr(element, "itemprop").is_none()
                || has_property(&["publisher", "copyrightHolder"]);
            let types = attr(element, "itemtype").unwrap_or_default();
            let mut types = types.split_ascii_whitespace();
            self.around.in_owner = of_owner
                && types.any(structured::is_organization)
                && self.around.regions.article == 0;
        }
        (is_name && content.is_none()).then(|| (self.page.visible.len(), self.run.as_str().len()))
    }

    /// Whether anything in an element can be seen: a text, an image, or an element that a style
    /// may draw, such as an icon.
    fn shows_something(&self, node: NodeRef<'_, Node>) -> bool {
        let mut waiting: Vec<_> = node.children().collect();
        while let Some(node) = waiting.pop() {
            match node.value() {
                Node::Text(text) if !normalise(text).is_empty() => return true,
                Node::Element(element) => {
                    if element::shape(element).hides || self.is_hidden(node, element) {
                        continue;
                    }
                    if element::is_replaced(element)
                        || element::names(element).next().is_some()
                        || attr(element, "style").is_some()
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

    /// Reads links that can be clicked, and attributes that no one reads; gives the addresses to
    /// which the owner links.
    fn attributes(&mut self, node: NodeRef<'_, Node>, element: &Element) -> Vec<String> {
        let (hidden, visitors) = (self.around.hidden > 0, self.around.by_visitors);
        let owners = self.page.linked.len();
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
                let clickable =
                    self.rules.is_none() || element.name() == "area" || self.shows_something(node);
                self.add(addressees, hidden || !clickable, visitors);
            } else {
                let onload = name == "onload" && element.name() == "body";
                self.page.leaves |= onload && leaving::leaves(value);
                self.hide_lines(value);
            }
        }
        self.page.linked[owners..].to_vec()
    }
}

/// A page with scripts and less text than this, in characters, shows little.
const LITTLE_TEXT: usize = 50;

/// A page with less text than this, in characters, shows little when it asks for scripts or
/// has an empty place for an application.
const SOME_TEXT: usize = 500;

word_lists! {
    ROOTS = "words/script_roots.txt";
    ASKS = "words/noscript_asks.txt";
}

#[derive(Debug, Default)]
struct Scripts {
    has: bool,
    /// It has an empty element that a framework renders into.
    empty_root: bool,
    asks: bool,
}

impl Scripts {
    /// Whether a page that shows `visible` shows little without its scripts.
    fn needed(&self, visible: &[String]) -> bool {
        let text: usize = visible.iter().map(|line| line.chars().count()).sum();
        self.has && (text < LITTLE_TEXT || (text < SOME_TEXT && (self.empty_root || self.asks)))
    }

    fn noscript(&mut self, text: &str) {
        let lower = text.to_lowercase();
        let scripts = ["javascript", "자바스크립트", "스크립트"]
            .iter()
            .any(|word| lower.contains(word));
        self.asks |= scripts && ASKS.iter().any(|word| lower.contains(word));
    }
}

fn is_root(id: &str) -> bool {
    ROOTS.contains(&id)
}
