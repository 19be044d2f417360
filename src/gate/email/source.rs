//! Step 5, `source`: does a page of the site show the address, on its own account?

pub mod echo;
pub mod may_echo;
pub mod user_content;

mod ending;
mod folded_text;
mod pieces;
mod rules;
mod seen;
mod shown;

use url::Url;

use self::seen::Seen;
use super::context::{Context, SOURCE};
use super::identity::company_name::CompanyName;
use super::on_site::on_site;
use super::quoted::quoted;
use crate::base::text::truncate;
use crate::gate::{Check, Cost, Finding, Rule};
use crate::world::fetch::visit::{End, Visit};
use crate::world::mailbox::Mailbox;

/// Step 5.
pub struct Source;

impl Check<Context<'_>> for Source {
    fn name(&self) -> &'static str {
        "source"
    }

    fn cost(&self) -> Cost {
        Cost::Page
    }

    fn rules(&self) -> &'static [Rule] {
        &rules::RULES
    }

    fn run(&self, context: &Context<'_>) -> Vec<Finding> {
        let (Some(site), Some(email), Some(source)) =
            (&context.site, &context.email, &context.source)
        else {
            return Vec::new();
        };
        if echo::carries(source, email) {
            return vec![echoed(source)];
        }
        let name = CompanyName::parse(context.case.quest.key.as_str());
        judge(context.source_visit(source), site, email, &name)
    }
}

/// What a visit to the source shows.
fn judge(visit: &Visit, site: &Url, email: &Mailbox, name: &CompanyName) -> Vec<Finding> {
    let way = seen::way(visit);
    if let Some(hop) = way.iter().find(|hop| echo::carries(&hop.url, email)) {
        return vec![echoed(&hop.url)];
    }
    let urls = || way.iter().map(|hop| &hop.url);
    let suspicion = urls().find_map(|url| Some((url, may_echo::suspicion(url, email, name)?)));
    let suspicion = suspicion.map(|(url, what)| {
        let expected = "a page that says it without being told";
        finding(
            "source-may-echo",
            url,
            expected,
            format!("its URL carries {what}"),
        )
    });
    let mut findings: Vec<Finding> = suspicion.into_iter().collect();
    match (&visit.end, Seen::of(visit, site, email)) {
        (End::Pages(_), Some(seen)) => {
            if !on_site(site, &seen.main.url) {
                findings.push(off_site(site, &seen.main.url));
            }
            let shown = shown::judge(&seen, site, email);
            let places = urls().chain(seen.counted().map(|page| &page.url));
            findings.extend(written_by_others(places));
            findings.extend(shown);
        }
        (end, _) => {
            findings.extend(written_by_others(urls()));
            findings.extend(ending::finding_of(end));
        }
    }
    findings
}

fn echoed(url: &Url) -> Finding {
    let expected = "a page whose URL does not carry the address";
    finding("source-echo", url, expected, "its URL carries the address")
}

fn off_site(site: &Url, page: &Url) -> Finding {
    let expected = format!("a page on {}", quoted(site.as_str()));
    finding(
        "source-off-site",
        page,
        expected,
        "the page that answered is elsewhere",
    )
}

fn written_by_others<'a>(urls: impl Iterator<Item = &'a Url>) -> Option<Finding> {
    let (url, mark) = urls
        .into_iter()
        .find_map(|url| Some((url, user_content::mark(url)?)))?;
    let actual = format!("others write there: {mark}");
    Some(finding(
        "source-user-content",
        url,
        "a page that the site's owner writes",
        actual,
    ))
}

/// A finding about the field `source`, at a URL.
fn finding(
    rule: &'static str,
    url: &Url,
    expected: impl Into<String>,
    actual: impl Into<String>,
) -> Finding {
    Finding::new(rule, expected, actual)
        .on(SOURCE)
        .at(location(url))
}

/// The URL, cut to a length that people read.
fn location(url: &Url) -> String {
    const LONGEST: usize = 300;
    truncate(url.as_str(), LONGEST).into_owned()
}

#[cfg(test)]
mod tests;
