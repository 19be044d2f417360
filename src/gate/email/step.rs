//! A step of the gate: what it is given, and the catalogue of its rules.

use std::collections::HashMap;
use std::sync::LazyLock;

use url::Url;

use super::site::{anchor_sites, sites_of};
use super::web_url::web_url;
use crate::gate::checks::context::Context as CheckContext;
use crate::gate::checks::kind::Verifies;
use crate::gate::{Cause, Cost, Fact, Level, Rule};
use crate::quest::FieldName;
use crate::world::mailbox::Mailbox;

pub use crate::quest::email::{EMAIL, SITE, SOURCE};

/// A kind of checks with several rules, which `rules.txt` lists under its name.
pub struct Step {
    pub name: &'static str,
    pub cost: Cost,
    pub verifies: Verifies,
    /// The keys that its table may have: the fields that it parses, and its options.
    pub keys: &'static [&'static str],
    pub run: fn(&Context<'_>) -> Vec<Fact>,
}

/// Where a quest file keeps what the steps look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub site: FieldName,
    pub email: FieldName,
    pub source: FieldName,
    /// The column that names the site which is expected, where the quest's anchor does not.
    pub anchor: Option<String>,
}

/// One submission, with its fields parsed.
pub struct Context<'a> {
    pub base: &'a CheckContext<'a>,
    pub role_only: bool,
    pub site: Option<Url>,
    pub email: Option<Mailbox>,
    pub source: Option<Url>,
    places: &'a Places,
}

impl Places {
    /// The quest file's name for a field of the built-in kind.
    fn field<'n>(&'n self, name: &'n FieldName) -> &'n FieldName {
        match name.as_str() {
            "site" => &self.site,
            "email" => &self.email,
            "source" => &self.source,
            _ => name,
        }
    }
}

impl<'a> Context<'a> {
    pub fn new(base: &'a CheckContext<'a>, places: &'a Places, role_only: bool) -> Self {
        let field = |name: &FieldName| base.case.submission.field(name.as_str());
        let url = |name| web_url(field(name).unwrap_or_default()).ok();
        Self {
            base,
            role_only: role_only || base.settings.role_only,
            site: url(&places.site),
            email: Mailbox::parse(field(&places.email).unwrap_or_default()).ok(),
            source: url(&places.source),
            places,
        }
    }

    pub fn text(&self, name: &FieldName) -> Option<&'a str> {
        let submission = self.base.case.submission;
        submission.field(self.places.field(name).as_str())
    }

    pub fn anchors(&self) -> Vec<Url> {
        let quest = self.base.case.quest;
        let named = sites_of(quest);
        match &self.places.anchor {
            Some(column) if named.is_empty() => {
                anchor_sites(quest.cell(column).unwrap_or_default())
            }
            _ => named,
        }
    }
}

impl Step {
    pub fn rules(&self) -> &'static [Rule] {
        RULES.get(self.name).map_or(&[], Vec::as_slice)
    }

    /// The facts of a submission, about the fields as the quest file calls them.
    pub fn facts(&self, context: &Context<'_>) -> Vec<Fact> {
        let mut facts = (self.run)(context);
        for field in facts.iter_mut().filter_map(|fact| fact.field.as_mut()) {
            *field = context.places.field(field).clone();
        }
        facts
    }
}

static RULES: LazyLock<HashMap<&str, Vec<Rule>>> =
    LazyLock::new(|| parse(include_str!("rules.txt")));

/// Reads `[step]` headings and, below each, three lines a rule: its name with its level and
/// cause, its meaning, and its remedy.
fn parse(catalogue: &'static str) -> HashMap<&'static str, Vec<Rule>> {
    let mut steps: HashMap<&str, Vec<Rule>> = HashMap::new();
    let mut step = "";
    let lines = catalogue.lines();
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix('[') {
            step = name.trim_end_matches(']');
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let level = match words.get(1) {
            Some(&"REVIEW") => Level::Review,
            // A level that cannot be read must not let anything through.
            _ => Level::Fail,
        };
        let mut text = || lines.next().unwrap_or_default().trim();
        let rule = Rule::known(words[0], level, text(), text());
        let rule = match words.get(2) {
            Some(&"unanswered") => rule.because(Cause::Unanswered),
            Some(&"unreadable") => rule.because(Cause::Unreadable),
            _ => rule,
        };
        steps.entry(step).or_default().push(rule);
    }
    steps
}

/// Text from outside in quotes, its control and invisible characters escaped, cut after 120
/// characters.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 120;
    match text.char_indices().nth(LONGEST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
    }
}
