//! `http`: a page answers, the links of a text do, or a service answers a request as it should.

mod links;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::context::Context;
use super::fields::shown;
use super::json::{JsonRules, json_asset, json_of};
use super::kind::{Check, CheckConfig, Flaw, Found, Shows, Source};
use super::page::{PageTemplate, location, pages};
use super::subject::{Subject, brief, by_values, rendered};
use crate::gate::{Cost, Fact};
use crate::quest::template::Template;
use crate::quest::{Span, field, json};
use crate::world::fetch::visit::{End, Visit};
use crate::world::sandbox::{Call, CallAnswer, Called, Started};

/// `kind = "http"`: one of `url`, `links_in` or `links_path`, and `service`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpConfig {
    /// A page that must answer, as a template.
    url: Option<String>,
    /// The field in which every http(s) link must answer.
    links_in: Option<String>,
    /// Instead of `links_in`: the path of the file in which every link must, as a template.
    links_path: Option<String>,
    /// The fewest links.
    #[serde(default = "one")]
    min: usize,
    /// The service that is asked.
    service: Option<String>,
    /// The field that holds the request as JSON: `method`, `path`, `headers`, `body`.
    request: Option<String>,
    /// Instead of `request`: the path of the file that holds it, as a template.
    request_path: Option<String>,
    /// Instead of a submitted request: the method, as a template.
    method: Option<String>,
    /// The path and query, as a template.
    path: Option<String>,
    /// The body, as a template.
    body: Option<String>,
    /// The allowed methods.
    #[serde(default)]
    methods: Vec<String>,
    /// The operation that the request must be for, as a template: `GET /users/{id}`.
    must_match: Option<String>,
    /// The allowed statuses. Default: any 2xx. The exact 2xx status of a page is not known.
    #[serde(default)]
    status: Vec<u16>,
    /// Instead of `status`: the allowed statuses of this quest, separated by commas, as a template.
    status_of: Option<String>,
    /// Patterns that whole headers of the answer must match, by name.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// A file next to the quest file with the JSON schema of the body.
    schema: Option<String>,
    /// Where the schema is in that file, such as an `OpenAPI` document: a JSON pointer (RFC 6901), as
    /// a template.
    schema_at: Option<String>,
    /// How long the answer may take.
    #[serde(default = "ten_seconds")]
    timeout: Span,
}

fn one() -> usize {
    1
}

fn ten_seconds() -> Span {
    Span::from_millis(10_000)
}

impl CheckConfig for HttpConfig {
    const KIND: &'static str = "http";
    const SHOWS: Shows = Shows::Fact;

    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        let links = self.links_in.is_some() || self.links_path.is_some();
        let modes = [self.url.is_some(), links, self.service.is_some()];
        if modes.iter().filter(|named| **named).count() != 1 {
            let what = "say one of `url`, `links_in`, `links_path` and `service`";
            return Err(Flaw::new("service", what));
        }
        if let Some(service) = self.service.clone() {
            source.service("service", &service)?;
            let check = ServiceCheck {
                service,
                request: RequestPlan::new(&self, source)?,
                status: Statuses::new(&self, source)?,
                headers: headers(&self.headers)?,
                schema: BodySchema::new(&self, source)?,
                timeout: self.timeout,
            };
            return Ok(source.check(Cost::Command, move |context| check.run(context)));
        }
        let foreign = [
            ("request", self.request.is_some()),
            ("request_path", self.request_path.is_some()),
            ("method", self.method.is_some()),
            ("path", self.path.is_some()),
            ("body", self.body.is_some()),
            ("methods", !self.methods.is_empty()),
            ("must_match", self.must_match.is_some()),
            ("headers", !self.headers.is_empty()),
            ("schema", self.schema.is_some()),
            ("schema_at", self.schema_at.is_some()),
            ("status_of", self.status_of.is_some()),
        ];
        if let Some((key, _)) = foreign.into_iter().find(|(_, said)| *said) {
            return Err(Flaw::new(key, "it is for a `service` alone"));
        }
        if let Some(url) = &self.url {
            let url = PageTemplate::new(source, "url", url)?;
            let run = move |context: &Context<'_>| page_answers(context, &url, &self.status);
            return Ok(source.check(Cost::Page, run));
        }
        let subject = Subject::new(source, self.links_in.as_ref(), self.links_path.as_ref());
        let subject = subject.map_err(|flaw| match flaw.key {
            "field" => Flaw::new("links_in", flaw.what),
            _ => Flaw::new("links_path", flaw.what),
        })?;
        let run = move |context: &Context<'_>| links::answer(context, &subject, self.min);
        Ok(source.check(Cost::Page, run))
    }
}

fn page_answers(context: &Context<'_>, url: &PageTemplate, status: &[u16]) -> Found {
    let visit = context.visit(&url.url(context)?);
    if is_asked_for(&visit, status) {
        return Ok(Vec::new());
    }
    let (page, _) = pages(&visit)?;
    let fact = Fact::wrong(format!("a status of {status:?}"), "a page");
    Err(fact.at(location(&page.url)))
}

/// Whether the end is a status that is asked for. Of those that show a page no more is known
/// than that they do.
fn is_asked_for(visit: &Visit, status: &[u16]) -> bool {
    let has = |code: Option<u16>| code.is_some_and(|it| status.contains(&it));
    match &visit.end {
        End::Pages(_) | End::Unreadable { .. } => {
            status.is_empty() || status.iter().any(|it| (200..300).contains(it))
        }
        End::Missing { status, .. } => has(*status),
        End::Unanswered { why, .. } => has(why.status),
        End::Forbidden { .. } => false,
    }
}

struct ServiceCheck {
    service: String,
    request: RequestPlan,
    status: Statuses,
    headers: Vec<(String, Regex)>,
    schema: Option<BodySchema>,
    timeout: Span,
}

impl ServiceCheck {
    fn run(&self, context: &Context<'_>) -> Found {
        let Some(request) = self.request.request(context)? else {
            return Ok(Vec::new());
        };
        let sandbox = context.world.sandbox;
        if let Started::Failed(why) = sandbox.service(&self.service) {
            let expected = format!("a service {} that starts", self.service);
            return Err(Fact::wrong(expected, why).unconfirmed());
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
        let silent = |why| Fact::wrong("an answer of the service", why).at(&*named);
        let answer = match sandbox.call(&call) {
            Called::Answered(answer) => answer,
            // A service that goes on has only this request to blame for its silence.
            Called::Refused(why) => {
                let why = format!("the service gave no answer to this request: {why}");
                return Err(silent(why));
            }
            Called::Unanswered(why) => return Err(silent(why).unconfirmed()),
        };
        let misfits = self.misfits(context, &answer)?.into_iter();
        let placed = misfits.map(|mut fact| {
            let inside = fact.location.take();
            let place = inside.map_or_else(|| named.clone(), |at| format!("{named}: {at}"));
            fact.at(place)
        });
        Ok(placed.collect())
    }

    fn misfits(&self, context: &Context<'_>, answer: &CallAnswer) -> Found {
        let status = self.status.listed(context)?;
        let (may, list) = if status.is_empty() {
            ((200..300).contains(&answer.status), "2xx".to_owned())
        } else {
            let list: Vec<String> = status.iter().map(u16::to_string).collect();
            (status.contains(&answer.status), list.join(", "))
        };
        if !may {
            let actual = format!("status {}", answer.status);
            return Ok(vec![Fact::wrong(format!("a status of {list}"), actual)]);
        }
        let headers = self.headers.iter();
        let headers = headers.filter_map(|(name, pattern)| header_misfit(answer, name, pattern));
        let mut facts: Vec<Fact> = headers.collect();
        if let Some(schema) = &self.schema {
            facts.extend(schema.misfits(context, &answer.body)?);
        }
        Ok(facts)
    }
}

/// The statuses that may be answered.
enum Statuses {
    Listed(Vec<u16>),
    Of(Template),
}

impl Statuses {
    fn new(config: &HttpConfig, source: &Source<'_>) -> Result<Self, Flaw> {
        match source.maybe_template("status_of", config.status_of.as_ref())? {
            None => Ok(Self::Listed(config.status.clone())),
            Some(template) if config.status.is_empty() => Ok(Self::Of(template)),
            Some(_) => {
                let what = "say either `status` or `status_of`";
                Err(Flaw::new("status_of", what))
            }
        }
    }

    /// Those that may be answered; of a cell that names none the quest's own list is to blame.
    fn listed(&self, context: &Context<'_>) -> Result<Vec<u16>, Fact> {
        let template = match self {
            Self::Listed(list) => return Ok(list.clone()),
            Self::Of(template) => template,
        };
        let text = rendered(context, template)?;
        let listed: Result<Vec<u16>, _> = text.split(',').map(|it| it.trim().parse()).collect();
        listed.map_err(|_| {
            let expected = "a status such as 200, or several parted by commas";
            by_values(template, Fact::wrong(expected, shown(&text)))
        })
    }
}

fn headers(patterns: &BTreeMap<String, String>) -> Result<Vec<(String, Regex)>, Flaw> {
    let patterns = patterns.iter().map(|(name, pattern)| {
        let pattern = field::whole(pattern).map_err(|what| Flaw::new("headers", what))?;
        Ok((name.to_ascii_lowercase(), pattern))
    });
    patterns.collect()
}

/// A header may be sent several times; one that matches is enough.
fn header_misfit(answer: &CallAnswer, name: &str, pattern: &Regex) -> Option<Fact> {
    let values = answer.headers.iter().filter(|(it, _)| it == name);
    let values: Vec<&str> = values.map(|(_, value)| value.as_str()).collect();
    if values.iter().any(|value| pattern.is_match(value)) {
        return None;
    }
    let actual = if values.is_empty() {
        "none".to_owned()
    } else {
        shown(&values.join(", "))
    };
    let expected = format!("a header {name} that matches {pattern}");
    Some(Fact::wrong(expected, actual))
}

/// The schema of an answer's body.
enum BodySchema {
    Whole(JsonRules),
    Part { document: Value, at: Template },
}

impl BodySchema {
    fn new(config: &HttpConfig, source: &Source<'_>) -> Result<Option<Self>, Flaw> {
        let at = source.maybe_template("schema_at", config.schema_at.as_ref())?;
        let Some(name) = &config.schema else {
            let what = "it is a place in a file: say `schema`";
            return at.map_or(Ok(None), |_| Err(Flaw::new("schema_at", what)));
        };
        let document = json_asset(source, "schema", name)?;
        Ok(Some(match at {
            Some(at) => Self::Part { document, at },
            None => Self::Whole(JsonRules::new("schema", &document)?),
        }))
    }

    fn misfits(&self, context: &Context<'_>, body: &[u8]) -> Found {
        let value = match json::slice(body) {
            Ok(value) => value,
            Err(bad) => return Ok(vec![Fact::wrong("a body of JSON", shown(&bad.to_string()))]),
        };
        let misfits = match self {
            Self::Whole(rules) => rules.misfits(&value),
            Self::Part { document, at } => {
                let pointer = rendered(context, at)?;
                let rules = JsonRules::at("schema_at", document, &pointer);
                let rules = rules.map_err(|flaw| {
                    let expected = "a schema of what is answered";
                    by_values(at, Fact::wrong(expected, flaw.what))
                })?;
                rules.misfits(&value)
            }
        };
        let misfits = misfits.into_iter();
        Ok(misfits.map(|(place, fact)| fact.at(place)).collect())
    }
}

/// Headers that say how a request is carried: not what it is.
const CARRIAGE: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

struct RequestPlan {
    from: RequestSource,
    methods: Vec<String>,
    must_match: Option<Template>,
}

enum RequestSource {
    Submitted(Subject),
    Table {
        method: Template,
        path: Template,
        body: Option<Template>,
    },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    method: String,
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// A text as it stands; any other value as JSON.
    #[serde(default)]
    body: Option<Value>,
}

impl RequestPlan {
    fn new(config: &HttpConfig, source: &Source<'_>) -> Result<Self, Flaw> {
        let (field, file) = (config.request.as_ref(), config.request_path.as_ref());
        let submitted = field.is_some() || file.is_some();
        let from = match (&config.method, &config.path) {
            (Some(method), Some(path)) if !submitted => RequestSource::Table {
                method: source.template("method", method)?,
                path: source.template("path", path)?,
                body: source.maybe_template("body", config.body.as_ref())?,
            },
            (None, None) if submitted && config.body.is_none() => {
                let subject = Subject::new(source, field, file);
                RequestSource::Submitted(subject.map_err(|flaw| Flaw::new("request", flaw.what))?)
            }
            _ => {
                let what = "say either `request`, `request_path`, or `method` and `path`";
                return Err(Flaw::new("request", what));
            }
        };
        Ok(Self {
            from,
            methods: config.methods.clone(),
            must_match: source.maybe_template("must_match", config.must_match.as_ref())?,
        })
    }

    /// The request, if it is one that may be sent; none where its field was left out.
    fn request(&self, context: &Context<'_>) -> Result<Option<Request>, Fact> {
        let request = match &self.from {
            RequestSource::Submitted(subject) => {
                let Some(text) = subject.read(context)? else {
                    return Ok(None);
                };
                let misfit = |actual: &str| {
                    let expected = "a JSON object of `method`, `path`, `headers` and `body`";
                    text.detail(Fact::wrong(expected, shown(actual)), "/")
                };
                let value = json_of(&text)?;
                // A list would be read as the members in their order.
                if !value.is_object() {
                    return Err(misfit(&brief(&value)));
                }
                serde_json::from_value(value).map_err(|error| misfit(&error.to_string()))?
            }
            RequestSource::Table { method, path, body } => Request {
                method: rendered(context, method)?,
                path: rendered(context, path)?,
                headers: BTreeMap::new(),
                body: match body {
                    Some(body) => Some(Value::String(rendered(context, body)?)),
                    None => None,
                },
            },
        };
        if let Some((expected, actual)) = request.flaw(&self.methods) {
            return Err(Fact::wrong(expected, shown(&actual)));
        }
        if let Some(operation) = &self.must_match {
            let operation = rendered(context, operation)?;
            if !request.is_of(&operation) {
                let expected = format!("a request of {}", shown(operation.trim()));
                return Err(Fact::wrong(expected, shown(&request.named())));
            }
        }
        Ok(Some(request))
    }
}

impl Request {
    fn named(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn sent_body(&self) -> Option<String> {
        match &self.body {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(value) => Some(value.to_string()),
        }
    }

    /// What keeps it from being sent: what was expected, and what is there.
    fn flaw(&self, methods: &[String]) -> Option<(String, String)> {
        let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map(str::to_owned);
        let methods = if methods.is_empty() {
            &known[..]
        } else {
            methods
        };
        if !(methods.contains(&self.method) && is_token(&self.method)) {
            let expected = format!("a method of {}", methods.join(", "));
            return Some((expected, self.method.clone()));
        }
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '#' | '\\');
        if !self.path.starts_with('/') || !self.path.chars().all(plain) {
            let expected = "a path from `/`, without spaces or `#`";
            return Some((expected.to_owned(), self.path.clone()));
        }
        let (path, _) = split_query(&self.path);
        if path.split('/').skip(1).any(|segment| !is_segment(segment)) {
            let expected = "a path that names what it says, without `..` or `%2F`";
            return Some((expected.to_owned(), self.path.clone()));
        }
        let bad = self.headers.iter().find(|(name, value)| {
            let lower = name.to_ascii_lowercase();
            let steers = value.chars().any(|c| c.is_control() && c != '\t');
            !is_token(name) || steers || CARRIAGE.contains(&lower.as_str())
        });
        bad.map(|(name, value)| {
            let expected = "headers on one line that say nothing of how they are carried";
            (expected.to_owned(), format!("{name}: {value}"))
        })
    }

    /// Whether it is one of `METHOD /path/{with}/{parameters}`.
    fn is_of(&self, operation: &str) -> bool {
        let Some((method, wanted)) = operation.trim().split_once(char::is_whitespace) else {
            return false;
        };
        let (path, _) = split_query(&self.path);
        let (wanted, path): (Vec<&str>, Vec<&str>) = (
            wanted.trim().split('/').collect(),
            path.split('/').collect(),
        );
        method.eq_ignore_ascii_case(&self.method)
            && wanted.len() == path.len()
            && wanted
                .iter()
                .zip(&path)
                .all(|(wanted, found)| fits(wanted, found))
    }
}

/// Whether a segment fits one of a path template: `{id}` takes any that is not empty.
fn fits(wanted: &str, found: &str) -> bool {
    let Some((before, rest)) = wanted.split_once('{') else {
        return wanted == found;
    };
    let Some((_, after)) = rest.split_once('}') else {
        return wanted == found;
    };
    let inner = found
        .strip_prefix(before)
        .and_then(|found| found.strip_suffix(after));
    inner.is_some_and(|value| !value.is_empty())
}

fn is_segment(segment: &str) -> bool {
    // Some servers decode twice.
    let once = percent_decode_str(segment).decode_utf8_lossy().into_owned();
    let twice = percent_decode_str(&once).decode_utf8_lossy().into_owned();
    [segment, once.as_str(), twice.as_str()].iter().all(|text| {
        let name = text.split(';').next().unwrap_or_default();
        !matches!(name, "." | "..") && !text.contains(['/', '\\', '\0', '\n', '\r'])
    })
}

fn split_query(path: &str) -> (&str, &str) {
    path.split_once('?').unwrap_or((path, ""))
}

/// Whether the text is a token (RFC 9110 §5.6.2).
fn is_token(text: &str) -> bool {
    let of_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(of_token)
}
