//! How the URL of a page carries a text: a page that repeats its own URL proves nothing.

use url::Url;

use super::Sought;
use crate::base::text::fold;
use crate::gate::email::source::echo::{carries_text, unescaped};
use crate::world::domain::HostName;

/// The fewest characters of a part of a text that are no chance.
const SHORTEST_PART: usize = 3;

/// How a URL carries a text, from what proves least to what proves most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Carried {
    /// Words of one among those of its path.
    Slug,
    /// A part of it, where a server is told what to show.
    Part,
    /// All of it, where a server is told what to show.
    Told,
}

/// How `url` carries what is sought, in the plainest of the ways in which it may be written.
pub(super) fn carried_any(url: &Url, sought: &Sought) -> Option<Carried> {
    let ways = sought.wordings.iter();
    ways.filter_map(|way| carried(url, way).max(carried_in_part(url, way)))
        .max()
}

/// How `url` carries some of `text`: what a page puts together need not be all in its URL.
fn carried_in_part(url: &Url, text: &str) -> Option<Carried> {
    let whole = worded(text);
    let is_part = |part: &str| {
        let part = worded(part);
        part.chars().count() >= SHORTEST_PART && whole.contains(&part)
    };
    let values: Vec<String> = url
        .query_pairs()
        // A query without a name is a value by itself.
        .map(|(name, value)| if value.is_empty() { name } else { value })
        .map(|value| unescaped(&value))
        .collect();
    if values.iter().any(|value| is_part(value)) || is_part(&values.join(" ")) {
        return Some(Carried::Part);
    }
    let path = worded(&unescaped(url.path()));
    path.split(' ').any(is_part).then_some(Carried::Slug)
}

/// The words of a part of a URL, or of a text that it may carry.
fn worded(text: &str) -> String {
    let plain = fold(text);
    let words = plain.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// How `url` carries `text`.
///
/// The registered name is not made up for a submission, so it is not looked at; whatever stands
/// before it is.
fn carried(url: &Url, text: &str) -> Option<Carried> {
    let host = url.host_str().unwrap_or_default();
    let domain = HostName::of_url(url).and_then(|host| host.registrable());
    let below = domain.and_then(|domain| host.strip_suffix(domain.as_str()));
    let below = below.unwrap_or(host).trim_end_matches('.');
    let query = url.query().unwrap_or_default();
    let needle = squeezed(text);
    let says = |part: &str| !needle.is_empty() && squeezed(part).contains(&needle);
    if [below, query]
        .iter()
        .any(|it| says(it) || carries_text(it, text))
    {
        return Some(Carried::Told);
    }
    let stem = |segment: &str| {
        let segment = unescaped(segment);
        let stem = segment.rsplit_once('.').map(|(stem, _)| stem.to_owned());
        squeezed(&stem.unwrap_or(segment))
    };
    let mut segments = url.path().split('/');
    if segments.any(|segment| !needle.is_empty() && stem(segment) == needle) {
        Some(Carried::Told)
    } else if says(url.path()) {
        // Among other words it may be the page's title; by itself or in code it is told.
        Some(Carried::Slug)
    } else {
        carries_text(url.path(), text).then_some(Carried::Told)
    }
}

/// The letters and digits of a part of a URL, or of a text that it may carry.
fn squeezed(text: &str) -> String {
    let plain = fold(&unescaped(text));
    plain.chars().filter(|c| c.is_alphanumeric()).collect()
}
