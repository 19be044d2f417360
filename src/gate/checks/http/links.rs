//! Links of a text that must answer.

use url::Url;

use super::super::context::Context;
use super::super::first_facts::first_facts;
use super::super::page_seen::{location, pages};
use super::super::probe::{Detail, Found, Probe};
use super::super::spec::{Flaw, Source};
use super::super::subject::Subject;
use crate::gate::Cost;
use crate::world::visit::End;

/// The most links that one judgement asks for; each must be asked politely.
const MOST_ASKED: usize = 40;

#[derive(Debug)]
struct Links {
    subject: Subject,
    min: usize,
}

/// The check that each link of a text answers, and that there are `min`.
pub(super) fn build(
    source: &Source<'_>,
    field: Option<&str>,
    path: Option<&str>,
    min: usize,
) -> Result<Box<dyn Probe>, Flaw> {
    let subject = Subject::new(source, field, path);
    let subject = subject.map_err(|flaw| match flaw.key {
        "field" => Flaw::new("links_in", flaw.what),
        _ => Flaw::new("links_path", flaw.what),
    });
    Ok(Box::new(Links {
        subject: subject?,
        min,
    }))
}

impl Probe for Links {
    fn cost(&self) -> Cost {
        Cost::Page
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        let text = match self.subject.read(context) {
            Ok(Some(text)) => text,
            Ok(None) => return Vec::new(),
            Err(found) => return vec![found],
        };
        let links = links_of(&text.said);
        if links.len() < self.min {
            let expected = format!("at least {} links", self.min);
            let detail = Detail::new(expected, links.len().to_string());
            return vec![text.detail(detail, "").wrong()];
        }
        let asked = links.iter().take(MOST_ASKED);
        let mut found: Vec<Found> = asked.filter_map(|url| dead(context, url)).collect();
        if links.len() > MOST_ASKED {
            let expected = format!("at most {MOST_ASKED} links, which are all that are asked for");
            let detail = Detail::new(expected, links.len().to_string());
            found.push(text.detail(detail, "").unconfirmed());
        }
        first_facts(found)
    }
}

fn dead(context: &Context<'_>, url: &Url) -> Option<Found> {
    let visit = context.visit(url);
    if matches!(visit.end, End::Unreadable { .. }) {
        // An image or a document answers as well as a page does.
        return None;
    }
    let (Found::Wrong(mut detail) | Found::Unconfirmed(mut detail)) = pages(&visit).err()?;
    let definite = matches!(visit.end, End::Missing { .. });
    detail.expected = String::from("a link that answers");
    detail.location = Some(location(url));
    Some(if definite {
        detail.wrong()
    } else {
        detail.unconfirmed()
    })
}

/// The http and https links of a text, each once, in order.
pub(super) fn links_of(text: &str) -> Vec<Url> {
    let mut links = Vec::new();
    let starts = text.match_indices("http").map(|(at, _)| &text[at..]);
    for rest in starts {
        let in_scheme = rest
            .strip_prefix("https")
            .or_else(|| rest.strip_prefix("http"));
        if !in_scheme.is_some_and(|it| it.starts_with("://")) {
            continue;
        }
        let ends = |c: char| c.is_whitespace() || c.is_control() || "<>\"`|\\^{}".contains(c);
        let link = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let Ok(mut url) = Url::parse(closed(link)) else {
            continue;
        };
        url.set_fragment(None);
        if !links.contains(&url) {
            links.push(url);
        }
    }
    links
}

/// The link without what the text around it ends with.
fn closed(link: &str) -> &str {
    let mut depth = 0_i32;
    let mut end = link.len();
    for (at, c) in link.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            end = at;
            break;
        }
    }
    link[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_'])
}
