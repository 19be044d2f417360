//! `http`: a page answers, the links of a text do, or a service answers a request as it should.

mod answer;
mod links;
mod request;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use self::answer::AnswerSpec;
use self::request::RequestSpec;
use answer::JsonAtSpec;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::http::answer::AnswerRules;
use super::http::request::RequestPlan;
use super::kind::{Flaw, Probe, Shows, Source, Spec, first_facts};
use super::page::{PageTemplate, location, pages};
use crate::gate::{Cost, Fact};
use crate::quest::Span;
use crate::quest::file::unknown_name;
use crate::world::fetch::visit::{End, Visit};
use crate::world::sandbox::{Call, Called, Started};

/// `kind = "http"`: one of `url`, `links_in` or `links_path`, and `service`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpSpec {
    /// A page that must answer, as a template.
    url: Option<String>,
    /// The field of which each http(s) link must answer.
    links_in: Option<String>,
    /// In its place: the path of the file of which each must, as a template.
    links_path: Option<String>,
    /// The fewest links.
    #[serde(default = "one")]
    min: usize,
    /// The service that is asked.
    service: Option<String>,
    /// The field that holds the request as JSON: `method`, `path`, `headers`, `body`.
    request: Option<String>,
    /// In its place: the path of the file that holds it, as a template.
    request_path: Option<String>,
    /// In their place: the method, as a template.
    method: Option<String>,
    /// The path and query, as a template.
    path: Option<String>,
    /// The body, as a template.
    body: Option<String>,
    /// The methods that a request may have.
    #[serde(default)]
    methods: Vec<String>,
    /// The operation that it must be a request of, as a template: `GET /users/{id}`.
    must_match: Option<String>,
    /// The statuses that may be answered; any of 2xx where none is named. Of a page no more is
    /// known than that it is 2xx, or which other it is.
    #[serde(default)]
    status: Vec<u16>,
    /// In its place: the statuses that this quest's request may be answered with, parted by commas,
    /// as a template.
    status_of: Option<String>,
    /// Patterns that whole headers of the answer match, by name.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// What stands at places of the answer's body, which then is JSON.
    #[serde(default)]
    json: Vec<JsonAtSpec>,
    /// A file beside the quest file with the JSON schema of the body.
    schema: Option<String>,
    /// Where in that file, such as an `OpenAPI` document, it stands: a JSON pointer (RFC 6901), as a
    /// template.
    schema_at: Option<String>,
    /// How long its answer may take.
    #[serde(default = "ten_seconds")]
    timeout: Span,
}

fn one() -> usize {
    1
}

fn ten_seconds() -> Span {
    Span::from_millis(10_000)
}

impl Spec for HttpSpec {
    const KIND: &'static str = "http";
    const SHOWS: Shows = Shows::Fact;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let links = self.links_in.is_some() || self.links_path.is_some();
        let modes = [self.url.is_some(), links, self.service.is_some()];
        if modes.iter().filter(|named| **named).count() != 1 {
            let what = "say one of `url`, `links_in`, `links_path` and `service`";
            return Err(Flaw::new("service", what));
        }
        let request = RequestSpec {
            request: self.request,
            request_path: self.request_path,
            method: self.method,
            path: self.path,
            body: self.body,
            methods: self.methods,
            must_match: self.must_match,
        };
        let answer = AnswerSpec {
            status: self.status,
            status_of: self.status_of,
            headers: self.headers,
            json: self.json,
            schema: self.schema,
            schema_at: self.schema_at,
        };
        let Some(service) = self.service else {
            request.is_for_service()?;
            answer.is_for_service()?;
            return match &self.url {
                Some(url) => build(source, url, answer.status),
                None => links::build(
                    source,
                    self.links_in.as_deref(),
                    self.links_path.as_deref(),
                    self.min,
                ),
            };
        };
        let known: Vec<_> = source
            .file
            .services
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        if !known.contains(&service.as_str()) {
            let what = unknown_name("service", &service, &known);
            return Err(Flaw::new("service", what));
        }
        Ok(Box::new(ServiceCheck {
            service,
            request: request.read(source)?,
            answer: answer.read(source)?,
            timeout: self.timeout,
        }))
    }
}

#[derive(Debug)]
struct ServiceCheck {
    service: String,
    request: RequestPlan,
    answer: AnswerRules,
    timeout: Span,
}

impl Probe for ServiceCheck {
    fn cost(&self) -> Cost {
        Cost::Command
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let request = match self.request.request(context) {
            Ok(Some(request)) => request,
            Ok(None) => return Vec::new(),
            Err(found) => return vec![found],
        };
        let workshop = context.world.workshop;
        if let Started::Failed(why) = workshop.service(&self.service) {
            let expected = format!("a service {} that starts", self.service);
            return vec![Fact::wrong(expected, why).unconfirmed()];
        }
        let named = request.named();
        let call = Call {
            service: self.service.clone(),
            body: request.sent_body(),
            method: request.method,
            path: request.path,
            headers: request.headers.into_iter().collect(),
            timeout_ms: self.timeout.millis().into(),
        };
        match workshop.call(&call) {
            // A service that goes on has only this request to blame for its silence.
            Called::Refused(why) => {
                let actual = format!("the service gave no answer to this request: {why}");
                let detail = Fact::wrong("an answer of the service", actual);
                vec![detail.at(named)]
            }
            Called::Unanswered(why) => {
                let detail = Fact::wrong("an answer of the service", why);
                vec![detail.at(named).unconfirmed()]
            }
            Called::Answered(answer) => {
                let misfits = match self.answer.misfits(context, &answer) {
                    Ok(misfits) => misfits.into_iter(),
                    Err(found) => return vec![found],
                };
                let placed = misfits.map(|mut detail| {
                    let inside = detail.location.take();
                    let place = inside.map_or_else(|| named.clone(), |at| format!("{named}: {at}"));
                    detail.at(place)
                });
                first_facts(placed.collect())
            }
        }
    }
}

#[derive(Debug)]
struct UrlCheck {
    url: PageTemplate,
    status: Vec<u16>,
}

/// The check that the page at `url` answers with one of these statuses, or with any of 2xx.
pub(super) fn build(
    source: &Source<'_>,
    url: &str,
    status: Vec<u16>,
) -> Result<Box<dyn Probe>, Flaw> {
    Ok(Box::new(UrlCheck {
        url: PageTemplate::new(source, "url", url)?,
        status,
    }))
}

impl UrlCheck {
    /// Whether the end is a status that is asked for. Of those that show a page no more is known
    /// than that they do.
    fn fits(&self, visit: &Visit) -> Option<bool> {
        let shows =
            || self.status.is_empty() || self.status.iter().any(|it| (200..300).contains(it));
        let has = |status: Option<u16>| status.is_some_and(|it| self.status.contains(&it));
        match &visit.end {
            End::Pages(_) | End::Unreadable { .. } => Some(shows()),
            End::Missing { status, .. } => Some(has(*status)),
            End::Unanswered { why, .. } => has(why.status).then_some(true),
            End::Forbidden { .. } => None,
        }
    }
}

impl Probe for UrlCheck {
    fn cost(&self) -> Cost {
        Cost::Page
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let url = match self.url.url(context) {
            Ok(url) => url,
            Err(found) => return vec![found],
        };
        let visit = context.visit(&url);
        if self.fits(&visit) == Some(true) {
            return Vec::new();
        }
        match pages(&visit) {
            Err(found) => vec![found],
            Ok((page, _)) => {
                let expected = format!("a status of {:?}", self.status);
                let detail = Fact::wrong(expected, "a page");
                vec![detail.at(location(&page.url))]
            }
        }
    }
}
