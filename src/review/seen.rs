//! What the gate saw, as lines for people: pages, files of the tree, what commands printed.

use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

use crate::world::Response;
use crate::world::evidence::{Asked, Evidence, Exchange, PageAnswer, Recording, Told};
use crate::world::mailbox::Mailbox;
use crate::world::page::{Page, Presence, presence};

/// A page that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeenPage {
    /// Its address.
    pub url: Url,
    /// What came: `status 200`, `no such host`, why nothing did.
    pub answer: String,
}

/// Something that the gate saw and that is read line by line.
#[derive(Debug)]
pub(super) struct Source {
    /// A page's address, a path in the tree, or the command that printed it.
    pub(super) place: String,
    /// Its lines: of a page what a reader sees, then what can be clicked, then the rest.
    pub(super) lines: Vec<String>,
    /// An empty page at its address, where it is a page.
    page: Option<Page>,
}

impl Source {
    /// Whether `location`, as a fact names it, is here.
    pub(super) fn is_at(&self, location: &str) -> bool {
        let bare = location.split('#').next().unwrap_or(location);
        let behind = bare.strip_prefix(&self.place);
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with([':', ' ']))
    }

    /// Whether the line at this index spells `mailbox`, in whatever way the gate would read.
    pub(super) fn spells(&self, at: usize, mailbox: &Mailbox) -> bool {
        let line = &self.lines[at];
        match &self.page {
            Some(empty) => {
                let alone = Page {
                    visible: vec![line.clone()],
                    ..empty.clone()
                };
                presence(&alone, mailbox) != Presence::Absent
            }
            None => line
                .to_lowercase()
                .contains(&mailbox.to_string().to_lowercase()),
        }
    }
}

/// Every page that was asked for, each once.
#[must_use]
pub fn pages(evidence: &Evidence) -> Vec<SeenPage> {
    let gets = evidence.exchanges.iter().filter_map(|exchange| {
        let Exchange::Get(get) = exchange else {
            return None;
        };
        (get.url.path() != "/robots.txt").then(|| SeenPage {
            url: get.url.clone(),
            answer: answer(&get.answer),
        })
    });
    gets.collect()
}

fn answer(answer: &PageAnswer) -> String {
    match answer {
        PageAnswer::Response(stored) => {
            let leads = stored.head.location.as_ref();
            let leads = leads.map(|location| format!(", leads to {location}"));
            format!("status {}{}", stored.head.status, leads.unwrap_or_default())
        }
        PageAnswer::NoSuchHost => "no such host".to_owned(),
        PageAnswer::TooLarge { limit_bytes } => format!("larger than {limit_bytes} bytes"),
        PageAnswer::Unanswered(why) => why.to_string(),
    }
}

/// What is read line by line of what was seen, in the order in which it was asked for.
pub(super) fn sources(recording: &Recording) -> Vec<Source> {
    let exchanges = recording.evidence.exchanges.iter();
    exchanges
        .filter_map(|exchange| source(exchange, recording))
        .collect()
}

fn source(exchange: &Exchange, recording: &Recording) -> Option<Source> {
    let bodies = &recording.bodies;
    match exchange {
        Exchange::Get(get) => match get.answer.fetched(bodies)? {
            crate::world::Fetched::Response(response) => of_page(&get.url, &response),
            _ => None,
        },
        Exchange::Workshop(asking) => {
            let (place, bytes) = match (&asking.asked, &asking.answer) {
                (Asked::File(path), Told::File(body)) => {
                    (path.to_string(), bodies.get(&body.sha256)?)
                }
                (Asked::Run(order), Told::Ran(ran)) => {
                    (order.name.clone(), bodies.get(&ran.stdout.sha256)?)
                }
                _ => return None,
            };
            let text = String::from_utf8_lossy(bytes);
            Some(Source {
                place,
                lines: text.lines().map(str::to_owned).collect(),
                page: None,
            })
        }
        Exchange::Dns(_) | Exchange::Session(_) | Exchange::Doubts(_) | Exchange::MayAsk(_) => None,
    }
}

fn of_page(url: &Url, response: &Response) -> Option<Source> {
    let page = Page::parse(
        url,
        response.content_type.as_deref(),
        response.refresh.as_deref(),
        &response.body,
    );
    let page = page.ok()?;
    let mut empty = page.of_visitors();
    empty.visible.clear();
    let lines = [
        page.visible,
        page.linked,
        page.unclear,
        page.visitors,
        page.hidden,
    ];
    Some(Source {
        place: url.to_string(),
        lines: lines.concat(),
        page: Some(empty),
    })
}

#[cfg(test)]
impl Source {
    /// A text at `place`.
    pub(super) fn text(place: &str, text: &str) -> Self {
        Self {
            place: place.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
            page: None,
        }
    }

    /// A page at `url`.
    pub(super) fn html(url: &str, html: &str) -> Self {
        let response = Response {
            status: 200,
            content_type: Some("text/html; charset=utf-8".to_owned()),
            location: None,
            refresh: None,
            body: html.as_bytes().to_vec(),
        };
        of_page(&Url::parse(url).unwrap(), &response).unwrap()
    }
}
