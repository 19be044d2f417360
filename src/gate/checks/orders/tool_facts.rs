//! What a command's output says, as facts.

use super::facts_table::FactsTable;
use super::tail::tail;
use crate::gate::Fact;
use crate::gate::checks::kind::Flaw;
use crate::gate::checks::kind::MAX_FACTS;
use crate::gate::tools::{Adapter, Complaint, Complaints};
use crate::world::sandbox::Ran;

/// The keys of a command's table that say how its output is read.
#[derive(Debug, Clone, Default)]
pub struct ToolKeys {
    /// The format.
    pub facts: Option<FactsTable>,
    /// The fewest tests that must have passed.
    pub min_passed: Option<u32>,
    /// The most tests that may have been skipped.
    pub max_skipped: Option<u32>,
}

/// How a command's output is read.
#[derive(Debug)]
pub struct ToolFacts {
    adapter: Adapter,
    from: String,
    min_passed: u32,
    max_skipped: Option<u32>,
}

impl ToolFacts {
    /// The reading that these keys stand for; none where they name no format.
    pub fn build(keys: ToolKeys, reports: &[String]) -> Result<Option<Self>, Flaw> {
        let bound = match (keys.min_passed, keys.max_skipped) {
            (Some(_), _) => Some("min_passed"),
            (None, Some(_)) => Some("max_skipped"),
            (None, None) => None,
        };
        let Some(table) = keys.facts else {
            let needs = |key| Flaw::new(key, "it needs `facts`, which tells how tests are counted");
            return bound.map_or(Ok(None), |key| Err(needs(key)));
        };
        let is_stream = ["stdout", "stderr"].contains(&table.from.as_str());
        if !is_stream && !reports.contains(&table.from) {
            let what = format!(
                "`{}` is neither stdout, nor stderr, nor one of `reports`",
                table.from
            );
            return Err(Flaw::new("facts", what));
        }
        let adapter = table.adapter()?;
        if let (Some(key), false) = (bound, adapter.counts_tests()) {
            return Err(Flaw::new(
                key,
                "the format of `facts` does not tell how many tests there were",
            ));
        }
        Ok(Some(Self {
            // Where nothing has run nothing was shown, whatever the code says.
            min_passed: keys.min_passed.unwrap_or(adapter.counts_tests().into()),
            max_skipped: keys.max_skipped,
            adapter,
            from: table.from,
        }))
    }

    /// What the output says.
    pub fn read(&self, ran: &Ran) -> Result<Complaints, String> {
        let bytes = match self.from.as_str() {
            "stdout" => &ran.stdout,
            "stderr" => &ran.stderr,
            report => ran
                .reports
                .get(report)
                .and_then(Option::as_ref)
                .ok_or_else(|| format!("the command made no {report}"))?,
        };
        let read = self.adapter.read(bytes);
        read.map_err(|unread| format!("in {}: {unread}", self.from))
    }

    /// Whether the output tells how many tests there were.
    #[must_use]
    pub fn counts_tests(&self) -> bool {
        self.adapter.counts_tests()
    }

    /// What is wrong although the command ended well.
    #[must_use]
    pub fn despite_success(&self, ran: &Ran) -> Vec<Fact> {
        if !self.counts_tests() {
            return Vec::new();
        }
        let least = format!("at least {} passed tests", self.min_passed);
        let complaints = match self.read(ran) {
            Ok(complaints) => complaints,
            Err(_) if self.min_passed == 0 && self.max_skipped.is_none() => return Vec::new(),
            Err(why) => {
                let actual = format!("the command ended well, and tells of no test: {why}");
                return vec![Fact::wrong(least, actual)];
            }
        };
        let seen = complaints.seen.unwrap_or_default();
        let mut found = Vec::new();
        if seen.failed > 0 {
            let actual = format!("the command ended well, and {} tests failed", seen.failed);
            found.push(Fact::wrong("no failed test", actual));
        }
        if seen.passed < self.min_passed {
            found.push(Fact::wrong(least, format!("{} passed", seen.passed)));
        }
        if let Some(most) = self.max_skipped.filter(|most| seen.skipped > *most) {
            let expected = format!("at most {most} skipped tests");
            found.push(Fact::wrong(expected, format!("{} skipped", seen.skipped)));
        }
        found
    }

    /// What is wrong with a command that ended with a code of failure.
    #[must_use]
    pub fn of_failure(&self, ran: &Ran) -> Vec<Fact> {
        match self.read(ran) {
            Ok(complaints) => {
                let found = complaints.first.into_iter().map(|one| detail(one));
                capped(found.collect(), complaints.count)
            }
            Err(_) => Vec::new(),
        }
    }
}

fn detail(complaint: Complaint) -> Fact {
    let actual = match complaint.name {
        Some(name) => format!("{name}: {}", complaint.actual),
        None => complaint.actual,
    };
    Fact {
        location: complaint.location,
        ..Fact::wrong(complaint.expected, actual)
    }
}

/// At most [`MAX_FACTS`] of what was found, the last of which counts for the rest of `total`.
#[must_use]
pub fn capped(mut found: Vec<Fact>, total: u32) -> Vec<Fact> {
    found.truncate(MAX_FACTS);
    let shown = u32::try_from(found.len()).unwrap_or(u32::MAX);
    if let Some(last) = found.last_mut() {
        last.count = total.saturating_sub(shown).saturating_add(1);
    }
    found
}

/// That the command ended with a code which it must not end with.
#[must_use]
pub fn wrong_code(codes: &[i32], code: i32, ran: &Ran, means: Option<&str>) -> Fact {
    let codes: Vec<_> = codes.iter().map(i32::to_string).collect();
    let expected = format!("it ends with the code {}", codes.join(" or "));
    let actual = format!("it ended with the code {code}: {}", tail(ran));
    Fact::wrong(expected, with_meaning(means, actual))
}

/// What a program printed, after the check's own words: by itself it may say little.
#[must_use]
pub fn with_meaning(means: Option<&str>, actual: String) -> String {
    match means {
        Some(means) => format!("{means}: {actual}"),
        None => actual,
    }
}
