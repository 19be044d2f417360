//! What a page asks for while it is shown, and what it is given.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::world::{Unanswered, UnansweredKind};

/// The most requests that are made for one page.
pub(super) const MAX_REQUESTS: usize = 60;

/// A transparent picture of one pixel, in place of images that no address stands on.
const NO_IMAGE: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

/// Answers what a page asks for, under the rules that hold for every request of comail.
pub trait Resources: Sync {
    /// One answer within this time; redirects are answers.
    fn get(&self, url: &Url, within: Duration) -> Resource;

    /// Whether the robots.txt of its site allows a frame to be read.
    fn may_read(&self, frame: &Url) -> bool;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    Answered(ResourceAnswer),
    /// There is no such host, or no reader outside can reach it.
    Unreachable,
    Unanswered(Unanswered),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceAnswer {
    pub status: u16,
    /// Those that say what the body is, and who may use it.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// A request that waits for an answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Paused {
    pub(super) request_id: String,
    pub(super) request: Asked,
    pub(super) frame_id: String,
    pub(super) resource_type: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    pub(super) url: String,
    pub(super) method: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl Asked {
    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value.as_str()))
    }
}

/// What a request is for, as far as its answer depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Document,
    /// The page may look different without it.
    Needed,
    /// What a script asks for.
    Data,
    Preflight,
    Image,
    /// Nothing that a text depends on.
    Other,
}

impl Paused {
    pub(super) fn purpose(&self) -> Purpose {
        match self.resource_type.as_str() {
            "Document" => Purpose::Document,
            "Script" | "Stylesheet" => Purpose::Needed,
            "XHR" | "Fetch" => Purpose::Data,
            "Preflight" => Purpose::Preflight,
            "Image" => Purpose::Image,
            _ => Purpose::Other,
        }
    }

    /// The answer with this status, these headers and this body.
    pub(super) fn fulfil(&self, answer: &ResourceAnswer) -> Value {
        let mut headers: Vec<Value> = Vec::new();
        for (name, value) in &answer.headers {
            headers.push(json!({"name": name, "value": value}));
        }
        if matches!(
            self.purpose(),
            Purpose::Needed | Purpose::Data | Purpose::Preflight
        ) {
            // Nothing is ever sent that identifies anybody, so that every answer is public.
            let origin = self.request.header("Origin").unwrap_or("*");
            let allowed = [
                ("Access-Control-Allow-Origin", origin),
                ("Access-Control-Allow-Credentials", "true"),
                ("Access-Control-Allow-Methods", "GET"),
                (
                    "Access-Control-Allow-Headers",
                    self.request
                        .header("Access-Control-Request-Headers")
                        .unwrap_or("*"),
                ),
            ];
            headers.extend(allowed.map(|(name, value)| json!({"name": name, "value": value})));
        }
        json!({
            "requestId": self.request_id,
            "responseCode": answer.status,
            "responseHeaders": headers,
            "body": STANDARD.encode(&answer.body),
        })
    }

    pub(super) fn fail(&self, reason: &str) -> Value {
        json!({"requestId": self.request_id, "errorReason": reason})
    }

    pub(super) fn no_image(&self) -> Value {
        json!({
            "requestId": self.request_id,
            "responseCode": 200,
            "responseHeaders": [{"name": "Content-Type", "value": "image/gif"}],
            "body": NO_IMAGE,
        })
    }
}

pub(super) fn too_many() -> Unanswered {
    let detail = format!("the page asks for more than {MAX_REQUESTS} files");
    Unanswered::new(UnansweredKind::Budget, detail)
}

/// Asks one host for one file after the other while requests are left. A host that cannot be reached
/// is asked once.
pub(super) fn ask_host(
    asked: Vec<(Paused, Url)>,
    left: &AtomicUsize,
    get: impl Fn(&Url) -> Resource,
) -> Vec<(Paused, Url, Resource)> {
    let mut is_unreachable = false;
    let one_less = |left: usize| left.checked_sub(1);
    let answered = asked.into_iter().map(|(paused, url)| {
        let resource = if is_unreachable {
            Resource::Unreachable
        } else if left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
            .is_ok()
        {
            get(&url)
        } else {
            Resource::Unanswered(too_many())
        };
        is_unreachable = resource == Resource::Unreachable;
        (paused, url, resource)
    });
    answered.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_host(count: usize) -> Vec<(Paused, Url)> {
        let one = |at: usize| {
            let url = format!("https://acme.co.kr/{at}.js");
            let paused = json!({
                "requestId": at.to_string(),
                "request": {"url": url, "method": "GET"},
                "frameId": "1",
                "resourceType": "Script",
            });
            let paused = serde_json::from_value(paused).unwrap();
            (paused, Url::parse(&url).unwrap())
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn a_host_that_cannot_be_reached_costs_one_request() {
        let left = AtomicUsize::new(2);
        let got = ask_host(of_host(5), &left, |_| Resource::Unreachable);
        assert!(
            got.iter()
                .all(|(_, _, resource)| *resource == Resource::Unreachable)
        );
        assert_eq!(got.len(), 5);
        assert_eq!(left.into_inner(), 1);
    }

    #[test]
    fn files_beyond_the_budget_are_not_asked_for() {
        let left = AtomicUsize::new(2);
        let answer = Resource::Answered(ResourceAnswer {
            status: 404,
            headers: Vec::new(),
            body: Vec::new(),
        });
        let got = ask_host(of_host(3), &left, |_| answer.clone());
        let got: Vec<_> = got.into_iter().map(|(_, _, resource)| resource).collect();
        let too_many = Resource::Unanswered(too_many());
        assert_eq!(got, [answer.clone(), answer, too_many]);
    }
}
