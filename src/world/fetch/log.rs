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
            info!(url, status = response.status, bytes, ms, "fetched");
        }
        Fetched::NoSuchHost => info!(url, ms, "not fetched: there is no such host"),
        Fetched::TooLarge { limit_bytes } => {
            info!(url, limit_bytes, ms, "not fetched: it is too large");
        }
        Fetched::Unanswered(why) => info!(url, why = why.detail, ms, "not fetched: no answer"),
    }
}

pub(super) fn resource(url: &Url, answer: &Result<ResourceAnswer, Unanswered>, time: Duration) {
    let (url, ms) = (url.as_str(), millis(time));
    match answer {
        Ok(answer) => {
            let (status, bytes) = (answer.status, answer.body.len());
            info!(url, status, bytes, ms, "fetched for a page");
        }
        Err(why) => info!(url, why = why.detail, ms, "not fetched for a page"),
    }
}

pub(super) fn looked(name: &HostName, kind: &str, looked: &Looked, time: Duration) {
    let (name, ms) = (name.as_str(), millis(time));
    match looked {
        Looked::Found(Records::Addresses(addresses)) => {
            info!(name, kind, found = ?addresses, ms, "asked DNS");
        }
        Looked::Found(Records::Mx(hosts)) => {
            info!(name, kind, found = hosts.len(), ms, "asked DNS");
        }
        Looked::NoData => info!(name, kind, ms, "asked DNS: no such record"),
        Looked::NoSuchName => info!(name, kind, ms, "asked DNS: no such name"),
        Looked::Unanswered(why) => {
            info!(name, kind, why = why.detail, ms, "asked DNS: no answer");
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
