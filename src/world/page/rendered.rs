//! Reads the document that a browser made of a page: what is painted, and what is not.
//!
//! It is written by `browser/extract.js`, and each element is closed, so that no rule of HTML moves
//! any of it. Four attributes are not the page's own: `box` says how an element is laid out (`b` as
//! a block, `f` with its children apart, `p` with its line breaks), `hidden` that nobody sees it,
//! `drawn` that the text is not all that a reader reads there (a style sheet wrote it, or something
//! else touches it on the screen), and `incomplete` that a request got no answer.

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, ns};
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use scraper::node::{Element, Text};
use scraper::{Html, Node};

use super::Unreadable;
use super::dom::MOST_DEEP;

pub(super) const BOX: &str = "box";
pub(super) const DRAWN: &str = "drawn";

pub(super) fn parse(text: &str) -> Result<Html, Unreadable> {
    read(text)?.ok_or_else(|| Unreadable::BadEncoding("the form of a rendered page".to_owned()))
}

fn read(text: &str) -> Result<Option<Html>, Unreadable> {
    let mut html = Html::new_document();
    let mut open = vec![html.tree.root().id()];
    let mut reader = Reader::from_str(text);
    loop {
        let Some(mut parent) = open.last().and_then(|id| html.tree.get_mut(*id)) else {
            return Ok(None);
        };
        let Ok(event) = reader.read_event() else {
            return Ok(None);
        };
        let mut put = |text: &str| {
            let text = StrTendril::from(text);
            parent.append(Node::Text(Text { text }));
        };
        match event {
            Event::Start(start) => {
                let Some(element) = element(&start) else {
                    return Ok(None);
                };
                if open.len() >= MOST_DEEP {
                    return Err(Unreadable::TooDeep(MOST_DEEP));
                }
                let id = parent.append(Node::Element(element)).id();
                open.push(id);
            }
            Event::End(_) => {
                open.pop();
            }
            Event::Text(text) => put(&text),
            Event::GeneralRef(name) => {
                let Some(character) = resolve_xml_entity(&name) else {
                    return Ok(None);
                };
                put(character);
            }
            Event::Eof => return Ok((open.len() == 1).then_some(html)),
            _ => return Ok(None),
        }
    }
}

fn element(start: &BytesStart<'_>) -> Option<Element> {
    let name = start.name().into_inner().to_owned();
    let attributes = start.attributes().map(|attribute| {
        let attribute = attribute.ok()?;
        let name = attribute.key.into_inner();
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
        Some(Attribute {
            name: QualName::new(None, ns!(), LocalName::from(name)),
            value: StrTendril::from(&*value),
        })
    });
    let attributes = attributes.collect::<Option<Vec<_>>>()?;
    let name = QualName::new(None, ns!(html), LocalName::from(name.as_str()));
    Some(Element::new(name, attributes))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use crate::base::rows;
    use crate::world::mailbox::Mailbox;
    use crate::world::page::{Page, Presence, presence};

    fn page(body: &str) -> Page {
        let url = Url::parse("https://acme.co/contact/").unwrap();
        let text = format!(r#"<html box="b"><body box="b">{body}</body></html>"#);
        Page::rendered(&url, None, text.as_bytes(), false).unwrap()
    }

    #[test]
    fn boxes_part_and_nothing_else_does() {
        for (body, expected) in rows! {
            r#"<p box="b">in<div>fo</div>@acme.co</p>"# => "info@acme.co";
            r#"a<span box="b">b</span>c"# => "a|b|c";
            r#"<ul box="bf"><li>a</li><li>b</li></ul>"# => "a|b";
            "<div box=\"bp\">a\nb</div>" => "a|b";
            "a<br></br>b" => "a|b";
            r#"in<span hidden="">x</span>fo@acme.co"# => "info@acme.co";
            "a &amp; b&lt;" => "a & b<";
            "TEL<img></img>info@acme.co" => "TEL info@acme.co";
        } {
            assert_eq!(page(body).visible.join("|"), expected, "{body}");
        }
    }

    #[test]
    fn an_address_counts_as_the_browser_shows_it() {
        let how = |body: &str| presence(&page(body), &Mailbox::parse("info@acme.co").unwrap());
        for (body, expected) in rows! {
            r#"<style>p{display:none}</style><p box="b">info@acme.co</p>"# => Presence::Visible;
            r#"<p class="x" box="b">info@acme.co</p>"# => Presence::Visible;
            r#"<a href="mailto:info@acme.co"></a>"# => Presence::Visible;
            r#"<span hidden="">info@acme.co</span>"# => Presence::Hidden;
            "<s>info@acme.co</s>" => Presence::Hidden;
            r#"info<span drawn="">@acme.co</span>"# => Presence::Obfuscated;
            r#"<span drawn="">x</span>info@acme.co"# => Presence::Absent;
            r#"<span drawn="">Mail: </span>info@acme.co"# => Presence::Visible;
            "info@acme.com" => Presence::Absent;
        } {
            assert_eq!(how(body), expected, "{body}");
        }
    }

    #[test]
    fn only_the_form_of_the_browser_is_read() {
        let url = Url::parse("https://acme.co/").unwrap();
        for text in [
            "<html>",
            "</html>",
            "<html></p></html>",
            "<a b></a>",
            "<a>&x;</a>",
            "<!-- x -->",
        ] {
            assert!(
                Page::rendered(&url, None, text.as_bytes(), false).is_err(),
                "{text}"
            );
        }
    }
}
