//! `blacklist`: a value that is on a list is refused.

use std::collections::BTreeSet;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::fields::shown;
use super::host_of::host_of;
use super::probe::{Detail, Found, Probe};
use super::spec::{Flaw, Shows, Source, Spec};
use crate::base::text::{fold, visible};
use crate::gate::Cost;
use crate::gate::email::lists::with_parents;
use crate::quest::FieldName;
use crate::world::domain::HostName;

/// `kind = "blacklist"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlacklistSpec {
    /// The field that is looked at.
    field: String,
    /// Values that are refused, whatever their case, width and white space.
    #[serde(default)]
    exact: Vec<String>,
    /// Domains that are refused with all below them, as the host of a URL, an e-mail address or a
    /// host; a value that names no host is refused too.
    #[serde(default)]
    domains: Vec<String>,
    /// Patterns that are refused anywhere in the value.
    #[serde(default)]
    patterns: Vec<String>,
    /// A file beside the quest file with more of them: one a line, `#` begins a line that is none.
    list: Option<String>,
    /// What the entries of that file are.
    #[serde(default)]
    list_of: EntryKind,
}

/// What the entries of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum EntryKind {
    /// Whole values.
    #[default]
    Exact,
    /// Domains.
    Domains,
    /// Patterns.
    Patterns,
}

#[derive(Debug)]
struct Blacklist {
    field: FieldName,
    exact: BTreeSet<String>,
    domains: BTreeSet<String>,
    patterns: Vec<Regex>,
}

impl Spec for BlacklistSpec {
    const KIND: &'static str = "blacklist";
    const SHOWS: Shows = Shows::Form;

    fn build(mut self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        if let Some(name) = &self.list {
            let text = source.beside("list", name)?;
            let entries = match self.list_of {
                EntryKind::Exact => &mut self.exact,
                EntryKind::Domains => &mut self.domains,
                EntryKind::Patterns => &mut self.patterns,
            };
            let lines = text.lines().map(str::trim);
            let said = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            entries.extend(said.map(str::to_owned));
        }
        if self.exact.is_empty() && self.domains.is_empty() && self.patterns.is_empty() {
            let what = "nothing is on it: say `exact`, `domains`, `patterns` or `list`";
            return Err(Flaw::new("field", what));
        }
        let domain = |text: &String| {
            let host = host_of(text).filter(|_| !text.contains(['/', '@', ':']));
            let host = host.ok_or_else(|| {
                Flaw::new(
                    "domains",
                    format!("`{text}`: expected a domain such as acme.com"),
                )
            })?;
            Ok(host.to_string())
        };
        let patterns = self.patterns.iter();
        Ok(Box::new(Blacklist {
            field: source.field("field", &self.field)?,
            exact: self.exact.iter().map(|text| fold(text)).collect(),
            domains: self
                .domains
                .iter()
                .map(domain)
                .collect::<Result<_, Flaw>>()?,
            patterns: patterns
                .map(|text| source.pattern("patterns", text))
                .collect::<Result<_, _>>()?,
        }))
    }
}

impl Blacklist {
    /// What on the list the value is.
    fn hit(&self, text: &str, host: Option<&HostName>) -> Option<String> {
        if self.exact.contains(&fold(text)) {
            return Some(shown(text));
        }
        let mut names = host
            .into_iter()
            .flat_map(|host| with_parents(host.as_str()));
        if let Some(domain) = names.find(|name| self.domains.contains(*name)) {
            return Some(format!("{} (of {domain})", shown(text)));
        }
        let plain = visible(text);
        let is_match = |it: &&Regex| it.is_match(text) || it.is_match(&plain);
        let pattern = self.patterns.iter().find(is_match)?;
        Some(format!("{} (matches {pattern})", shown(text)))
    }
}

impl Probe for Blacklist {
    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        let Some(text) = context.field(&self.field) else {
            return Vec::new();
        };
        let host = host_of(text);
        let (expected, actual) = match self.hit(text, host.as_ref()) {
            Some(hit) => ("a value that is not on the blacklist", hit),
            // A list of domains says nothing of a value that hides its own.
            None if host.is_none() && !self.domains.is_empty() => {
                ("a URL, an e-mail address or a host", shown(text))
            }
            None => return Vec::new(),
        };
        vec![Detail::new(expected, actual).on(&self.field).wrong()]
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;

    const LISTED: &str = r#"
        kind = "blacklist"
        field = "value"
        exact = ["Example  Inc"]
        domains = ["bad.com", "한국.kr"]
        patterns = ["lorem"]
    "#;

    fn fired(value: &str) -> Vec<String> {
        Bench::of(LISTED).submit("value", value).fired()
    }

    #[test]
    fn what_is_on_it_is_refused_however_it_is_written() {
        for value in [
            "bad.com",
            "https://WWW.Bad.com./x",
            "me@mail.bad.com",
            "https://xn--3e0b707e.kr/",
            "https://ipsum.com/lorem",
            "https://ipsum.com/ｌｏ\u{200b}rem",
        ] {
            assert_eq!(fired(value), ["it"], "{value}");
        }
        let exact = r#"kind = "blacklist"
            field = "value"
            exact = ["Example  Inc"]"#;
        for value in ["example inc", "ＥＸＡＭＰＬＥ\n inc "] {
            assert_eq!(Bench::of(exact).submit("value", value).fired(), ["it"]);
        }
        let other = Bench::of(exact).submit("value", "Example Incorporated");
        assert_eq!(other.fired(), [""; 0]);
    }

    #[test]
    fn what_is_not_on_it_passes() {
        for value in ["notbad.com", "https://bad.com.kr/", "me@good.com", "  "] {
            assert_eq!(fired(value), [""; 0], "{value}");
        }
    }

    #[test]
    fn a_value_that_names_no_host_hides_from_domains() {
        assert_eq!(fired("see bad.com"), ["it"]);
    }

    #[test]
    fn entries_come_from_a_file_too() {
        let check = r#"kind = "blacklist"
            field = "value"
            list = "bad.txt"
            list_of = "domains""#;
        let bench = Bench::of(check).asset("bad.txt", "# bad ones\n\n bad.com \nworse.com\n");
        assert_eq!(bench.clone().submit("value", "a.worse.com").fired(), ["it"]);
        assert_eq!(bench.submit("value", "a.better.com").fired(), [""; 0]);
        assert!(Bench::of(check).mistake().contains("bad.txt"));
    }

    #[test]
    fn a_list_that_cannot_be_meant_is_a_mistake() {
        let empty = "kind = \"blacklist\"\nfield = \"value\"";
        assert!(Bench::of(empty).mistake().contains("nothing is on it"));
        let url = "kind = \"blacklist\"\nfield = \"value\"\ndomains = [\"https://a.com/x\"]";
        assert!(Bench::of(url).mistake().contains("expected a domain"));
    }
}
