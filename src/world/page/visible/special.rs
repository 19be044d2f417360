//! Elements and attributes that say more than their text: titles, metadata, scripts, frames,
//! logos, microdata and links.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use super::{Open, Walk, has_content, own_text};
use crate::base::text::normalise;
use crate::world::page::conceal::Declared;
use crate::world::page::element::{self, Hints};
use crate::world::page::scripted::is_root;
use crate::world::page::{OwnerPlace, links, protected, structured};

/// How many frames of one page are followed, at most.
const MOST_FRAMES: usize = 20;

impl Walk<'_> {
    fn link(&mut self, address: String) {
        if self.hidden > 0 {
            self.page.hidden.push(address);
        } else if self.visitors > 0 {
            self.page.visitors.push(address);
        } else {
            self.page.linked.push(address);
        }
    }

    /// Elements that mean more than their text.
    pub(super) fn special(&mut self, node: NodeRef<'_, Node>, element: &Element, hints: Hints) {
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
        if self.inert > 0 {
            self.page.hidden.extend(said.emails);
        } else if self.visitors > 0 {
            self.page.visitors.extend(said.emails);
        } else {
            self.page.linked.extend(said.emails);
            for (place, names) in said.names {
                // Names of one organization are one claim.
                self.owner.add(place, &names.join(" | "));
            }
        }
        let others = if self.inert > 0 {
            &mut self.page.hidden
        } else {
            &mut self.page.visitors
        };
        others.extend(said.others_emails);
    }

    /// Whether the page's owner speaks here, and to everybody.
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

    pub(super) fn microdata(&mut self, element: &Element, open: &mut Open) {
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
            if self.inert > 0 {
                self.page.hidden.push(address);
            } else if self.visitors > 0 || open.visitors {
                self.page.visitors.push(address);
            } else {
                self.page.linked.push(address);
            }
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
    pub(super) fn attributes(&mut self, node: NodeRef<'_, Node>, element: &Element) {
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
                let clickable = element.name() == "area" || self.shows_something(node);
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
