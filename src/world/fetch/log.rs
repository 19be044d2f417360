//! Logs requests and their answers.

use std::time::Duration;

use tracing::info;
use url::Url;

use crate::world::browser::ResourceAnswer;
use crate::world::domain::HostName;
use crate::world::{Fetched, Looked, Records, Unanswered};

/// Logs a GET. The URL is the one that was sent, so it contains no credentials.
pub(super) fn fetched(url: &Url, fetched: &Fetched, time: Duration) {
    let (url, ms) = (url.as_str(), millis(time));
    match fetched {
        Fetched::Response(response) => {
            let bytes = response.body.len();
            let status = response.status;
            info!(
                lookup = "page",
                outcome = "answered",
                url,
                status,
                bytes,
                ms,
                "fetched"
            );
        }
        Fetched::NoSuchHost => {
            let outcome = "no such host";
            info!(lookup = "page", outcome, url, ms, "not fetched");
        }
        Fetched::TooLarge { limit_bytes } => {
            let outcome = "too large";
            info!(
                lookup = "page",
                outcome, url, limit_bytes, ms, "not fetched"
            );
        }
        Fetched::Unanswered(why) => {
            let outcome = "unanswered";
            info!(
                lookup = "page",
                outcome,
                url,
                why = why.detail,
                ms,
                "not fetched"
            );
        }
    }
}

pub(super) fn resource(url: &Url, answer: &Result<ResourceAnswer, Unanswered>, time: Duration) {
    let (url, ms) = (url.as_str(), millis(time));
    match answer {
        Ok(answer) => {
            let (status, bytes) = (answer.status, answer.body.len());
            let outcome = "answered";
            info!(
                lookup = "resource",
                outcome, url, status, bytes, ms, "fetched for a page"
            );
        }
        Err(why) => {
            let (outcome, why) = ("unanswered", why.detail.as_str());
            info!(
                lookup = "resource",
                outcome, url, why, ms, "not fetched for a page"
            );
        }
    }
}

pub(super) fn looked(name: &HostName, kind: &str, looked: &Looked, time: Duration) {
    let (name, ms) = (name.as_str(), millis(time));
    let outcome = match looked {
        Looked::Found(_) => "answered",
        Looked::NoData => "no such record",
        Looked::NoSuchName => "no such name",
        Looked::Unanswered(_) => "unanswered",
    };
    let why = match looked {
        Looked::Unanswered(why) => Some(why.detail.as_str()),
        _ => None,
    };
    let found = match looked {
        Looked::Found(Records::Addresses(addresses)) => addresses.len(),
        Looked::Found(Records::Mx(hosts)) => hosts.len(),
        _ => 0,
    };
    info!(
        lookup = "dns",
        outcome, name, kind, found, why, ms, "asked DNS"
    );
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
