//! What reviewers may do to a judgement: raise doubt, and nothing else.
//!
//! There is no way from here to a PASS, to a FAIL or to a level:
//!
//! ```compile_fail
//! use comail::gate::{Doubts, PanelReport};
//! use comail::quest::Verdict;
//!
//! let report = PanelReport { plant: None, reviewers: Vec::new() };
//! let doubts = Doubts { report, facts: Vec::new(), verdict: Verdict::Pass };
//! ```

use super::{Cause, CheckOutcome, CheckReport, Fact, Judgement, Level, PanelReport, Rule};
use crate::base::text::truncate_with_size;
use crate::quest::Verdict;

pub const REVIEWERS_DOUBT: Rule = Rule::known(
    "reviewers-doubt",
    Level::Review,
    "reviewers doubt an answer that passed every check, and quote the reason",
    "change what the quotation shows to be wrong; otherwise, a person settles it",
)
.because(Cause::Wrong);

pub const REVIEWERS_UNSETTLED: Rule = Rule::known(
    "reviewers-unsettled",
    Level::Review,
    "too few reviewers gave a valid answer",
    "a person settles it",
);

/// The name of the panel among the checks.
pub(super) const PANEL: &str = "reviewers";

/// The most characters of a quotation that a fact shows.
const MAX_SHOWN: usize = 300;

/// What reviewers object to in a submission; it may be nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubts {
    facts: Vec<Fact>,
    report: PanelReport,
}

impl Doubts {
    /// No doubts, of reviewers who said this.
    pub fn new(report: PanelReport) -> Self {
        Self {
            facts: Vec::new(),
            report,
        }
    }

    /// Adds that `reviewer` answers this question with yes, by this quotation, which is about `place`.
    pub fn doubt(
        &mut self,
        reviewer: &str,
        question: &str,
        quotation: &str,
        place: Option<String>,
    ) {
        let expected = format!("{reviewer} answers no: {question}");
        let quotation = truncate_with_size(quotation, MAX_SHOWN);
        self.facts.push(Fact {
            location: place.map(Into::into),
            ..Fact::of(&REVIEWERS_DOUBT, expected, quotation)
        });
    }

    /// Adds that the reviewers have not settled something.
    pub fn unsettled(&mut self, expected: impl Into<String>, actual: &str) {
        let actual = truncate_with_size(actual, MAX_SHOWN);
        self.facts
            .push(Fact::of(&REVIEWERS_UNSETTLED, expected, actual));
    }
}

impl Judgement {
    /// Whether reviewers doubt the answer, and quote why.
    pub fn is_doubted(&self) -> bool {
        let mut facts = self.facts.iter();
        facts.any(|fact| fact.rule == REVIEWERS_DOUBT.id)
    }

    /// The same with the objections of reviewers: a PASS becomes REVIEW where they doubt, and
    /// nothing else changes the verdict.
    pub fn doubted(mut self, doubts: Doubts) -> Self {
        let outcome = if doubts.facts.is_empty() {
            CheckOutcome::Passed
        } else {
            CheckOutcome::NotConfirmed
        };
        if self.verdict == Verdict::Pass && !doubts.facts.is_empty() {
            self.verdict = Verdict::Review;
        }
        self.facts.extend(doubts.facts);
        self.checks.push(CheckReport {
            check: PANEL.to_owned(),
            outcome,
        });
        self.panel = Some(Box::new(doubts.report));
        self
    }
}

pub fn rules() -> Vec<Rule> {
    vec![REVIEWERS_DOUBT, REVIEWERS_UNSETTLED]
}
