//! What a service is asked, and whether it is a request that the quest is about.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::Value;

use super::HttpConfig;
use crate::gate::Fact;
use crate::gate::checks::context::Context;
use crate::gate::checks::fields::shown;
use crate::gate::checks::json::json_of;
use crate::gate::checks::kind::{Flaw, Source};
use crate::gate::checks::subject::{Subject, brief, rendered};
use crate::quest::template::Template;

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

pub(super) struct RequestPlan {
    from: From,
    methods: Vec<String>,
    must_match: Option<Template>,
}

enum From {
    Submitted(Subject),
    Table {
        method: Template,
        path: Template,
        body: Option<Template>,
    },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    /// A text as it stands; any other value as JSON.
    #[serde(default)]
    body: Option<Value>,
}

impl RequestPlan {
    pub(super) fn new(config: &HttpConfig, source: &Source<'_>) -> Result<Self, Flaw> {
        let (field, file) = (config.request.as_ref(), config.request_path.as_ref());
        let submitted = field.is_some() || file.is_some();
        let from = match (&config.method, &config.path) {
            (Some(method), Some(path)) if !submitted => From::Table {
                method: source.template("method", method)?,
                path: source.template("path", path)?,
                body: source.maybe_template("body", config.body.as_ref())?,
            },
            (None, None) if submitted && config.body.is_none() => {
                let subject = Subject::new(source, field, file);
                From::Submitted(subject.map_err(|flaw| Flaw::new("request", flaw.what))?)
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
    pub(super) fn request(&self, context: &Context<'_>) -> Result<Option<Request>, Fact> {
        let request = match &self.from {
            From::Submitted(subject) => {
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
            From::Table { method, path, body } => Request {
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
    pub(super) fn named(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub(super) fn sent_body(&self) -> Option<String> {
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
