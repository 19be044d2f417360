//! The HTML page about a session: one file that needs no other, made from its
//! [`Picture`](super::picture::Picture) alone.
//!
//! The page makes no network requests and works without its script: `page.js` only sorts, filters
//! and searches the table. The page of a server also has `live.js`, which follows the events of the
//! ledger and reloads the page. The content security policy allows only these scripts and the style
//! sheet, by their hashes. So no element may have a `style` attribute: geometry is in attributes
//! of the SVG, colours are in classes.
//!
//! All outside text goes through the formatter of the templates, which escapes markup and makes
//! invisible characters visible. Outside text never becomes a link.

mod chart;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::value::Value;
use minijinja::{Environment, Error, HtmlEscape, context};
use serde::Deserialize as _;

use self::chart::{BurnDown, Stripe, length, portion, stripes};
use crate::base::Digest;
use crate::base::text::is_unsafe;
use crate::report::picture::Picture;
use crate::report::run::Took;
use crate::report::template::{self, trusted};
use crate::session::{Effective, State, Tally};

/// Why a page could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("the page's template does not fit its data")]
    Template(#[from] minijinja::Error),
    #[error("could not write the page")]
    Io(#[from] io::Error),
}

pub fn html(picture: &Picture) -> Result<String, PageError> {
    text(picture, Updates::Never)
}

/// The page for a server, which loads it again after the event with this number or a later one.
pub fn live(picture: &Picture, next_event: u64) -> Result<String, PageError> {
    text(picture, Updates::After(next_event))
}

/// Whether a page follows the events of the ledger, and from which event on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Updates {
    Never,
    After(u64),
}

fn text(picture: &Picture, updates: Updates) -> Result<String, PageError> {
    let mut page = Vec::new();
    write(picture, updates, &mut page)?;
    String::from_utf8(page)
        .map_err(|error| PageError::Io(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// Writes the page about `picture` to `to`, one quest at a time. The same picture gives the same bytes.
fn write(picture: &Picture, updates: Updates, to: &mut dyn Write) -> Result<(), PageError> {
    let templates = environment()?;
    let (script, policy, next_event) = match updates {
        Updates::Never => (SCRIPT.to_owned(), policy(STYLE, SCRIPT), None),
        Updates::After(next) => {
            let script = format!("{SCRIPT}\n{LIVE_SCRIPT}");
            let policy = format!("{}; connect-src 'self'", policy(STYLE, &script));
            (script, policy, Some(next))
        }
    };
    let page = context! { policy, next_event, ..page(picture) };
    let piece = |name: &str, values: Value, to: &mut dyn Write| -> Result<(), PageError> {
        let made = templates.get_template(name)?.render(values)?;
        Ok(to.write_all(made.as_bytes())?)
    };
    piece("top.html", context! { page, style => trusted(STYLE) }, to)?;
    let (kind, unit) = (&picture.kind, &picture.unit);
    for quest in &picture.quests {
        piece("quest.html", context! { quest, kind, unit }, to)?;
    }
    piece("end.html", context! { page, script => trusted(script) }, to)
}

fn page(picture: &Picture) -> Value {
    let overview = &picture.overview;
    let mut rules_shown: BTreeMap<&str, u32> = BTreeMap::new();
    for rule in picture.quests.iter().flat_map(|quest| &quest.fired) {
        *rules_shown.entry(rule.as_str()).or_default() += 1;
    }
    let reviews = REVIEWS.map(|it| (it, overview.effective.get(&it).copied().unwrap_or(0)));
    let reviews = reviews.into_iter().filter(|(_, count)| *count > 0);
    context! {
        title => picture.title,
        kind => picture.kind,
        unit => picture.unit,
        at => picture.at,
        comail => picture.comail,
        completeness => picture.completeness,
        overview => overview,
        settled => overview.total.saturating_sub(overview.tally.todo),
        states => states(&overview.tally),
        reviews => reviews.collect::<Vec<_>>(),
        burn_down => BurnDown::of(&picture.burn_down, picture.at),
        funnel => picture.funnel,
        rules => picture.rules,
        times => picture.times,
        tries => picture.tries,
        workers => picture.workers,
        runs => picture.runs,
        shown => picture.quests.len(),
        left_out => picture.left_out,
        rules_shown => rules_shown,
        chain => picture.head,
    }
}

const REVIEWS: [Effective; 5] = [
    Effective::Accepted,
    Effective::Confirmed,
    Effective::Open,
    Effective::Refuted,
    Effective::Rejected,
];

fn states(tally: &Tally) -> Vec<Value> {
    let counts = State::ALL.map(|state| tally.of(state));
    let shares = State::ALL.into_iter().zip(counts).zip(stripes(counts));
    let shares = shares.map(|((state, quests), Stripe { x, width })| {
        context! { state, quests, x, width }
    });
    shares.collect()
}

/// The policy that allows only this style sheet and this script, by their hashes.
pub(super) fn policy(style: &str, script: &str) -> String {
    let (style, script) = (hash(style), hash(script));
    format!(
        "default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; \
         form-action 'none'"
    )
}

fn hash(text: &str) -> String {
    let digest = Digest::of(text.as_bytes());
    format!("sha256-{}", STANDARD.encode(digest.as_bytes()))
}

pub(super) const STYLE: &str = include_str!("page.css");

pub(super) const SCRIPT: &str = include_str!("page.js");

const LIVE_SCRIPT: &str = include_str!("live.js");

const TEMPLATES: [(&str, &str); 12] = [
    ("top.html", include_str!("html/top.html")),
    ("tally.html", include_str!("html/tally.html")),
    ("burn_down.html", include_str!("html/burn_down.html")),
    ("checks.html", include_str!("html/checks.html")),
    ("spread.html", include_str!("html/spread.html")),
    ("people.html", include_str!("html/people.html")),
    ("quests.html", include_str!("html/quests.html")),
    ("answer.html", include_str!("html/answer.html")),
    ("quest.html", include_str!("html/quest.html")),
    ("details.html", include_str!("html/details.html")),
    ("facts.html", include_str!("html/facts.html")),
    ("end.html", include_str!("html/end.html")),
];

pub(super) fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = template::environment(|text| HtmlEscape(&visible(text)).to_string());
    environment.add_filter("portion", portion);
    environment.add_filter("length_of", length);
    environment.add_filter("halves", halves);
    environment.add_filter("cost", |took: Value| -> Result<String, Error> {
        Ok(Took::deserialize(took)?.cost_text())
    });
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// The parts of an address before and from its `@`; any other text is a first part alone.
fn halves(text: &str) -> [String; 2] {
    let is_address = !text.contains(char::is_whitespace);
    let at = text.rfind('@').filter(|_| is_address);
    let (local, domain) = text.split_at(at.unwrap_or(text.len()));
    [local.to_owned(), domain.to_owned()]
}

/// The text with each invisible character as `\u{…}`; lines and tabs stay.
fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) && c != '\n' && c != '\t' {
            visible.extend(c.escape_unicode());
        } else {
            visible.push(c);
        }
    }
    visible
}
