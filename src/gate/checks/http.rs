//! `http`: the links of a text answer, or a service answers a request as it should.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use itertools::Itertools as _;
use percent_encoding::percent_decode_str;
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::context::Context;
use super::fields::shown;
use super::json::{JsonRules, json_asset, json_of};
use super::kind::{Check, CheckConfig, Flaw, Found, Source, default_number};
use super::page::links_answer;
use super::subject::{Subject, by_values, rendered};
use crate::base::word_list::word_lists;
use crate::gate::{Cost, Fact};
use crate::quest::template::Template;
use crate::quest::{FieldName, Span, field, json};
use crate::world::sandbox::{Call, CallAnswer, Called, RunPlace, Started};

/// `kind = "http"`: either `links_in` or `service`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpConfig {
    /// The field in which every http(s) link must answer.
    links_in: Option<String>,
    /// The fewest links.
    #[serde(default = "default_number::<1>")]
    min: usize,
    /// The service that is asked.
    service: Option<String>,
    /// The field that holds the request as JSON: `method`, `path`, `headers`, `body`.
    request: Option<String>,
    /// Instead of `request`: the path and query to ask for, as a template.
    path: Option<String>,
    /// The method with which `path` is asked for. Default: `GET`.
    method: Option<String>,
    /// The operation that the request must be for, as a template: `GET /users/{id}`.
    must_match: Option<String>,
    /// The allowed statuses, separated by commas, as a template. Default: any 2xx.
    status: Option<String>,
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

fn ten_seconds() -> Span {
    Span::from_millis(10_000)
}

impl CheckConfig for HttpConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        match (&self.links_in, &self.service) {
            (None, Some(_)) => {
                let check = ServiceCheck::new(self, source)?;
                Ok(source.check(Cost::Command, move |context| check.run(context)))
            }
            (Some(field), None) => {
                self.says_nothing_of_a_service()?;
                let field = source.field("links_in", field)?.name;
                let run = move |context: &Context<'_>| links_answer(context, &field, self.min);
                Ok(source.check(Cost::Page, run))
            }
            _ => Err(Flaw::new("service", "say either `links_in` or `service`")),
        }
    }
}

impl HttpConfig {
    fn says_nothing_of_a_service(&self) -> Result<(), Flaw> {
        let keys = [
            ("request", self.request.is_some()),
            ("path", self.path.is_some()),
            ("method", self.method.is_some()),
            ("headers", !self.headers.is_empty()),
            ("must_match", self.must_match.is_some()),
            ("status", self.status.is_some()),
            ("schema", self.schema.is_some()),
            ("schema_at", self.schema_at.is_some()),
        ];
        match keys.into_iter().find(|(_, is_said)| *is_said) {
            Some((key, _)) => Err(Flaw::new(key, "it is for a `service` only")),
            None => Ok(()),
        }
    }
}

struct ServiceCheck {
    service: String,
    asked: Asked,
    must_match: Option<Template>,
    status: Option<Template>,
    headers: Vec<(String, Regex)>,
    schema: Option<BodySchema>,
    timeout: Span,
}

/// Where the request comes from.
enum Asked {
    Submitted(FieldName),
    Own { method: String, path: Template },
}

/// The schema of an answer's body.
enum BodySchema {
    Whole(JsonRules),
    Part { document: Value, at: Template },
}

impl ServiceCheck {
    fn new(config: HttpConfig, source: &Source<'_>) -> Result<Self, Flaw> {
        let service = config.service.unwrap_or_default();
        source.service("service", &service)?;
        let asked = match (&config.request, &config.path, config.method) {
            (Some(field), None, None) => Asked::Submitted(source.field("request", field)?.name),
            (None, Some(path), method) => Asked::Own {
                method: method.unwrap_or_else(|| String::from("GET")),
                path: source.template("path", path)?,
            },
            _ => {
                let what = "say either `request`, or `path` and perhaps `method`";
                return Err(Flaw::new("request", what));
            }
        };
        if let Asked::Own { method, .. } = &asked
            && !METHODS.contains(&&**method)
        {
            let what = format!("expected one of {}", METHODS.join(", "));
            return Err(Flaw::new("method", what));
        }
        let headers = config.headers.iter().map(|(name, pattern)| {
            let pattern = field::whole(pattern).map_err(|what| Flaw::new("headers", what))?;
            Ok((name.to_ascii_lowercase(), pattern))
        });
        let headers = headers.collect::<Result<_, _>>()?;
        let at = source.maybe_template("schema_at", config.schema_at.as_ref())?;
        let document = config.schema.as_ref();
        let document = document.map(|name| json_asset(source, "schema", name));
        let schema = match (document.transpose()?, at) {
            (Some(document), Some(at)) => Some(BodySchema::Part { document, at }),
            (Some(document), None) => Some(BodySchema::Whole(JsonRules::new("schema", &document)?)),
            (None, Some(_)) => {
                let what = "it is a place in a file: say `schema`";
                return Err(Flaw::new("schema_at", what));
            }
            (None, None) => None,
        };
        Ok(Self {
            must_match: source.maybe_template("must_match", config.must_match.as_ref())?,
            status: source.maybe_template("status", config.status.as_ref())?,
            timeout: config.timeout,
            service,
            asked,
            headers,
            schema,
        })
    }

    fn run(&self, context: &Context<'_>) -> Found {
        let Some(request) = self.request(context)? else {
            return Ok(Vec::new());
        };
        let sandbox = context.world.sandbox;
        if let Started::Failed(why) = sandbox.service(&self.service, RunPlace::Submission) {
            let expected = format!("a service {} that starts", self.service);
            return Err(Fact::wrong(expected, why).unconfirmed());
        }
        let named = request.named();
        let call = Call {
            service: self.service.clone(),
            body: match request.body {
                None | Some(Value::Null) => None,
                Some(Value::String(text)) => Some(text),
                Some(value) => Some(value.to_string()),
            },
            method: request.method,
            path: request.path,
            headers: request.headers.into_iter().collect(),
            timeout_ms: self.timeout.millis().into(),
        };
        let silent = |why| Fact::wrong("an answer from the service", why).at(&*named);
        let answer = match sandbox.call(&call) {
            Called::Answered(answer) => answer,
            // A service that goes on has only this request to blame for its silence.
            Called::Refused(why) => {
                let why = format!("the service gave no answer to this request: {why}");
                return Err(silent(why));
            }
            Called::Unanswered(why) => return Err(silent(why).unconfirmed()),
        };
        let misfits = self.misfits(context, &answer);
        let misfits = misfits.unwrap_or_else(|fact| vec![fact]).into_iter();
        let placed = misfits.map(|mut fact| {
            let inside = fact.location.take();
            let place = inside.map_or_else(|| named.clone(), |at| format!("{named}: {at}"));
            fact.at(place)
        });
        Ok(placed.collect())
    }

    /// The request, if it is one that may be sent; none where its field was left out.
    fn request(&self, context: &Context<'_>) -> Result<Option<Request>, Fact> {
        let request = match &self.asked {
            Asked::Own { method, path } => Request {
                method: method.clone(),
                path: rendered(context, path)?,
                headers: BTreeMap::new(),
                body: None,
            },
            Asked::Submitted(field) => {
                let Some(text) = Subject::Field(field.clone()).read(context)? else {
                    return Ok(None);
                };
                let misfit = |actual: &str| {
                    let expected = "a JSON object of `method`, `path`, `headers` and `body`";
                    text.detail(Fact::wrong(expected, shown(actual)), "/")
                };
                let value = json_of(&text)?;
                // Serde would read a list as the members in their order.
                if !value.is_object() {
                    return Err(misfit(&value.to_string()));
                }
                serde_json::from_value(value).map_err(|error| misfit(&error.to_string()))?
            }
        };
        if let Some((expected, actual)) = request.flaw() {
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

    fn misfits(&self, context: &Context<'_>, answer: &CallAnswer) -> Found {
        let status = self.allowed_statuses(context)?;
        let (may, list) = if status.is_empty() {
            ((200..300).contains(&answer.status), "2xx".to_owned())
        } else {
            (status.contains(&answer.status), status.iter().join(", "))
        };
        if !may {
            let actual = format!("status {}", answer.status);
            return Ok(vec![Fact::wrong(format!("a status of {list}"), actual)]);
        }
        let headers = self.headers.iter();
        let headers = headers.filter_map(|(name, pattern)| header_misfit(answer, name, pattern));
        let mut facts: Vec<Fact> = headers.collect();
        let Some(schema) = &self.schema else {
            return Ok(facts);
        };
        let value = json::slice(&answer.body)
            .map_err(|bad| Fact::wrong("a body of JSON", shown(&bad.to_string())))?;
        let misfits = match schema {
            BodySchema::Whole(rules) => rules.misfits(&value),
            BodySchema::Part { document, at } => {
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
        facts.extend(misfits.map(|(place, fact)| fact.at(place)));
        Ok(facts)
    }

    /// The statuses that may be answered. A cell that names none is the list's fault, not the
    /// agent's.
    fn allowed_statuses(&self, context: &Context<'_>) -> Result<Vec<u16>, Fact> {
        let Some(template) = &self.status else {
            return Ok(Vec::new());
        };
        let text = rendered(context, template)?;
        let listed: Result<Vec<u16>, _> = text.split(',').map(|it| it.trim().parse()).collect();
        listed.map_err(|_| {
            let expected = "a status such as 200, or several separated by commas";
            by_values(template, Fact::wrong(expected, shown(&text)))
        })
    }
}

/// A header may be sent several times; one that matches is enough.
fn header_misfit(answer: &CallAnswer, name: &str, pattern: &Regex) -> Option<Fact> {
    let mut values = answer.headers.iter().filter(|(it, _)| it == name);
    if values.clone().any(|(_, value)| pattern.is_match(value)) {
        return None;
    }
    let actual = values
        .next()
        .map_or_else(|| "none".to_owned(), |(_, value)| shown(value));
    let expected = format!("a header {name} that matches {pattern}");
    Some(Fact::wrong(expected, actual))
}

/// The methods that a request may have. `CONNECT` addresses proxies, not the service.
const METHODS: [&str; 8] = [
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE",
];

word_lists! {
    CARRIAGE = "lists/carriage_headers.txt";
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    method: String,
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// A text is sent as it is, any other value as JSON.
    #[serde(default)]
    body: Option<Value>,
}

impl Request {
    fn named(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The path without its query.
    fn bare_path(&self) -> &str {
        self.path.split_once('?').map_or(&self.path, |it| it.0)
    }

    /// What keeps it from being sent: what was expected, and what was found.
    fn flaw(&self) -> Option<(String, String)> {
        if !METHODS.contains(&&*self.method) {
            let expected = format!("a method of {}", METHODS.join(", "));
            return Some((expected, self.method.clone()));
        }
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '#' | '\\');
        if !self.path.starts_with('/') || !self.path.chars().all(plain) {
            let expected = "a path from `/`, without spaces or `#`";
            return Some((expected.to_owned(), self.path.clone()));
        }
        let mut segments = self.bare_path().split('/').skip(1);
        if segments.any(|segment| !is_segment(segment)) {
            let expected = "a path without `..` or `%2F`";
            return Some((expected.to_owned(), self.path.clone()));
        }
        let bad = self.headers.iter().find(|(name, value)| {
            let steers = value.chars().any(|c| c.is_control() && c != '\t');
            let lower = name.to_ascii_lowercase();
            !is_token(name) || steers || CARRIAGE.contains(&lower.as_str())
        });
        bad.map(|(name, value)| {
            let expected = "headers on one line that do not control the connection";
            (expected.to_owned(), format!("{name}: {value}"))
        })
    }

    /// Whether it is one of `METHOD /path/{with}/{parameters}`, of which none is empty.
    fn is_of(&self, operation: &str) -> bool {
        let Some((method, wanted)) = operation.trim().split_once(char::is_whitespace) else {
            return false;
        };
        let pattern = regex::escape(wanted.trim());
        let pattern = PARAMETER.replace_all(&pattern, "[^/]+");
        method.eq_ignore_ascii_case(&self.method)
            && field::whole(&pattern).is_ok_and(|path| path.is_match(self.bare_path()))
    }
}

/// A parameter of a path, as `regex::escape` leaves it.
static PARAMETER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\\\{[^/{}]*\\\}").expect("the pattern is a constant"));

fn is_segment(segment: &str) -> bool {
    // Some servers decode twice.
    let once = percent_decode_str(segment).decode_utf8_lossy().into_owned();
    let twice = percent_decode_str(&once).decode_utf8_lossy().into_owned();
    [segment, once.as_str(), twice.as_str()].iter().all(|text| {
        let name = text.split(';').next().unwrap_or_default();
        !matches!(name, "." | "..") && !text.contains(['/', '\\', '\0', '\n', '\r'])
    })
}

/// Whether the text is a token (RFC 9110 §5.6.2).
fn is_token(text: &str) -> bool {
    let of_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(of_token)
}
