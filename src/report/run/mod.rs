//! The report on a session: the outcome of every quest, the effort, and whether it is complete.
//!
//! [`Report`] is made from values: the folded ledger, its runs ([`RunHistory`]) and what speaks
//! against completeness. It is printed as JSON (the form of [`Report`], format 1) or as Markdown
//! ([`markdown()`]).

#[cfg(test)]
mod fixtures;
mod history;
mod markdown;
mod write;

use std::collections::BTreeMap;

use itertools::Itertools as _;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::Digest;
use crate::judge::completeness::{AgainStatus, JudgedAgain, Shortfall, ShortfallKind};
use crate::judge::{FinalWord, says_unproven};
use crate::quest::{Key, QuestId};
use crate::report::picture::Word;
use crate::report::sample::SampleEstimate;
use crate::session::{
    Effective, Ending, Manifest, NotProven, Projection, QuestRecord, Reason, RunId, SessionError,
    State, VerdictBasis, WorldKind,
};

pub use history::{Driven, Run, RunHistory, RunReport, Took};
pub use markdown::markdown;
pub use write::{WriteError, write_page, write_report};

pub const FORMAT: u32 = 1;

pub struct Telling<'a> {
    pub at: Timestamp,
    /// The manifest; none if `session.json` cannot be read.
    pub manifest: Option<&'a Manifest>,
    /// The folded ledger; none if it is damaged.
    pub projection: Option<&'a Projection>,
    pub history: &'a RunHistory,
    /// What is missing; nothing when the session is complete.
    pub shortfalls: &'a [Shortfall],
    /// What is proven and cannot be judged again, because an address was removed.
    pub forgotten: &'a [QuestId],
    /// The quests that do not count as PASS, and whose changes are in the accepted tree.
    pub unproven_changes: &'a [QuestId],
    /// Whether PASSes were judged again; none if the ledger is damaged.
    pub judged_again: Option<JudgedAgain>,
    /// The result of the checks over the whole result; none if they were not run.
    pub last: Option<FinalWord>,
    /// The run that the report is about; by default [`RunHistory::leading`].
    pub run: Option<RunId>,
    pub lives: &'a dyn Fn(RunId) -> bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    pub format: u32,
    /// Whether nothing is missing. Where `judged_again` was left out, this is as recorded.
    pub complete: bool,
    pub shortfalls: Vec<Shortfall>,
    pub at: Timestamp,
    /// The version of the program that made it.
    pub comail: String,
    /// The quest kind; none where `session.json` does not read.
    pub kind: Option<String>,
    /// What the session is judged by; none where `session.json` does not read.
    pub world: Option<WorldKind>,
    /// The hash of the ledger's last line; none where the ledger cannot be believed.
    pub head: Option<Digest>,
    /// How many quests ended how; none where the ledger cannot be believed.
    pub shares: Option<Shares>,
    /// What a person found in a sample of the PASSes; none before the first draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampleEstimate>,
    /// What is proven and cannot be judged again, because an address was removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<QuestId>,
    /// The quests whose changes are in the accepted tree although they do not count as PASS now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unproven_changes: Vec<QuestId>,
    /// Whether PASSes were judged again by the tree, commands and services as they were at the time
    /// of the report; none where the ledger cannot be believed.
    pub judged_again: Option<JudgedAgain>,
    /// What the checks over the whole result said; none where the ledger cannot be believed.
    pub final_gate: Option<FinalWord>,
    /// The run that the report is about; none where none ever began.
    pub run: Option<RunReport>,
    /// The other runs of the session, in the order in which they began.
    pub others: Vec<RunReport>,
    pub quests: Vec<QuestReport>,
}

impl Report {
    pub fn of(telling: &Telling<'_>) -> Result<Self, SessionError> {
        let projection = telling.projection;
        let runs = telling.history.runs();
        let chosen = match telling.run {
            Some(run) => telling.history.get(run),
            None => telling.history.leading(telling.lives),
        };
        let told = |run: &Run| RunReport::of(run, (telling.lives)(run.id));
        let others = runs
            .iter()
            .filter(|run| Some(run.id) != chosen.map(|it| it.id));
        Ok(Self {
            format: FORMAT,
            complete: telling.shortfalls.is_empty(),
            shortfalls: telling.shortfalls.to_vec(),
            at: telling.at,
            comail: env!("CARGO_PKG_VERSION").to_owned(),
            kind: telling.manifest.map(|it| it.kind.name.clone()),
            world: telling.manifest.map(|it| it.frozen.world_kind()),
            head: projection.map(|projection| projection.tip().head),
            shares: projection.map(Shares::of).transpose()?,
            sample: projection.and_then(|projection| SampleEstimate::of(projection.totals())),
            forgotten: telling.forgotten.to_vec(),
            unproven_changes: telling.unproven_changes.to_vec(),
            judged_again: telling.judged_again,
            final_gate: telling.last,
            run: chosen.map(told),
            others: others.map(told).collect(),
            quests: match projection {
                Some(projection) => quests(telling, projection)?,
                None => Vec::new(),
            },
        })
    }
}

/// The outcome of each quest, with its effort in all runs or in the named one.
fn quests(
    telling: &Telling<'_>,
    projection: &Projection,
) -> Result<Vec<QuestReport>, SessionError> {
    let runs = telling.history.runs().iter();
    let named = |run: &&Run| telling.run.is_none_or(|named| named == run.id);
    let runs: Vec<&Run> = runs.filter(named).collect();
    let report = |record: &QuestRecord| {
        let driven = runs.iter().filter_map(|run| {
            let driven = run.quests.get(&record.id)?;
            Some(DrivenIn {
                run: run.id,
                took: Took::of(driven.starts.values()),
                reason: run.reason_of(driven, (telling.lives)(run.id)),
            })
        });
        QuestReport {
            quest: record.id,
            key: record.key.clone(),
            state: record.progress.state,
            effective: Effective::of(record),
            without_result: is_without_result(record),
            tries: record.progress.tries,
            submissions: record.attempts,
            rules: telling.history.rules_of(record.id),
            driven: driven.collect(),
        }
    };
    let quests = projection.quests().map(|quest| Ok(report(&quest?)));
    quests.collect()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuestReport {
    pub quest: QuestId,
    pub key: Key,
    pub state: State,
    /// What it comes to, by whatever the gate or a person made of a REVIEW.
    pub effective: Effective,
    /// Whether it ended without a result.
    pub without_result: bool,
    pub tries: u32,
    pub submissions: u32,
    /// In how many of them each rule fired.
    pub rules: BTreeMap<String, u32>,
    /// What each run took for it, the runs in the order in which they began.
    pub driven: Vec<DrivenIn>,
}

/// What one run took for a quest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DrivenIn {
    pub run: RunId,
    #[serde(flatten)]
    pub took: Took,
    /// Why the drive ended; none while it goes on.
    pub reason: Option<Reason>,
}

/// How many quests ended how. Each quest is one of `pass`, `review`, `done` and `todo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Shares {
    pub quests: u32,
    pub pass: u32,
    pub review: u32,
    pub done: u32,
    pub todo: u32,
    pub reviews: Reviews,
    pub without_result: WithoutResult,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Reviews {
    pub accepted: u32,
    /// The gate passed them when it looked again.
    pub confirmed: u32,
    pub open: u32,
    /// The gate failed them when it looked again.
    pub refuted: u32,
    pub rejected: u32,
}

/// The quests that ended without a result: those that are DONE, REVIEWs that were refuted or rejected,
/// and REVIEWs where the agent found nothing or a lookup was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct WithoutResult {
    pub quests: u32,
    /// Those for which the agent said last that it found nothing.
    pub given_up: u32,
    /// Those for which a lookup was not answered.
    pub unanswered: u32,
}

impl Shares {
    fn of(projection: &Projection) -> Result<Self, SessionError> {
        let mut shares = Self::default();
        for record in projection.quests() {
            shares.add(&record?);
        }
        Ok(shares)
    }

    fn add(&mut self, record: &QuestRecord) {
        self.quests += 1;
        match record.progress.state {
            State::Pass => self.pass += 1,
            State::Review => self.review += 1,
            State::Done => self.done += 1,
            State::Todo => self.todo += 1,
        }
        let reviews = &mut self.reviews;
        match Effective::of(record) {
            Effective::Accepted => reviews.accepted += 1,
            Effective::Confirmed => reviews.confirmed += 1,
            Effective::Open => reviews.open += 1,
            Effective::Refuted => reviews.refuted += 1,
            Effective::Rejected => reviews.rejected += 1,
            Effective::Pass | Effective::Done | Effective::Todo => {}
        }
        if is_without_result(record) {
            let grounds = record.last.map(|last| last.grounds);
            self.without_result.quests += 1;
            self.without_result.given_up += u32::from(grounds == Some(VerdictBasis::NoResult));
            self.without_result.unanswered += u32::from(grounds == Some(VerdictBasis::Unanswered));
        }
    }
}

fn is_without_result(record: &QuestRecord) -> bool {
    let effective = Effective::of(record);
    if effective.holds() || effective == Effective::Todo {
        return false;
    }
    let said_no = matches!(effective, Effective::Refuted | Effective::Rejected);
    let last = record.last.map(|last| last.grounds);
    let ending = last.and_then(|grounds| Ending::of(record.progress.state, grounds));
    said_no || ending != Some(Ending::WithResult)
}

/// The numbers of quests, such as `1-3, 7`.
fn ranges(quests: &[QuestId]) -> String {
    let mut spans: Vec<(QuestId, QuestId)> = Vec::new();
    for quest in quests {
        match spans.last_mut() {
            Some((_, end)) if end.index() + 1 == quest.index() => *end = *quest,
            _ => spans.push((*quest, *quest)),
        }
    }
    let mut texts = spans.into_iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    texts.join(", ")
}

/// The same with a noun; empty without quests.
fn numbers(quests: &[QuestId]) -> String {
    match quests {
        [] => String::new(),
        [quest] => format!("quest {quest}"),
        quests => format!("quests {}", ranges(quests)),
    }
}

impl Report {
    /// The headline instead of "complete" or "not complete" if everything is settled, but not
    /// everything is proven.
    pub fn settled(&self) -> Option<String> {
        let reviews = self.shares?.reviews;
        let left = NotProven {
            open: reviews.open + reviews.refuted,
            done: self.shares?.done,
        };
        match self.shortfalls.as_slice() {
            [] if left == NotProven::default() => None,
            [] => Some(format!("Settled, unproven results accepted: {left}")),
            [one] if one.kind == ShortfallKind::NotProven => {
                Some(format!("Settled, not proven: {left}"))
            }
            _ => None,
        }
    }
}

/// The words of the page about completeness.
pub fn word(report: &Report) -> Word {
    let settled = report.settled();
    let shortfalls = report.shortfalls.iter().map(|shortfall| {
        let (kind, what) = (shortfall.kind, &shortfall.what);
        match numbers(&shortfall.quests).as_str() {
            "" => format!("{kind}: {what}"),
            // The rest is in the headline.
            numbers if settled.is_some() => numbers.to_owned(),
            numbers => format!("{kind}: {what} ({numbers})"),
        }
    });
    Word {
        complete: report.complete,
        shortfalls: shortfalls.collect(),
        settled,
        left_out: left_out(report),
        unproven: says_unproven(&report.unproven_changes),
    }
}

/// The number of PASSes that were not judged again because of `--quick`.
fn left_out(report: &Report) -> usize {
    let again = report.judged_again;
    let left_out = again.filter(|again| again.status == AgainStatus::LeftOut);
    left_out.map_or(0, |again| again.passes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::{Key, Quest, QuestId};
    use crate::report::run::fixtures::report;
    use crate::session::{Decision, Last, Settled, Span};

    const SPAN: Span = Span {
        offset: 0,
        length: 0,
    };

    fn record(state: State, grounds: VerdictBasis, decision: Option<Decision>) -> QuestRecord {
        let quest = Quest {
            rows: vec![1],
            ..Quest::new(QuestId::FIRST, Key::new("Acme").unwrap())
        };
        let mut record = QuestRecord::new(&quest, SPAN);
        record.progress.state = state;
        record.last = Some(Last {
            line: SPAN,
            grounds,
        });
        record.settled = decision.map(|decision| Settled {
            line: SPAN,
            decision,
        });
        record
    }

    #[test]
    fn unanswered_lookups_and_giving_up_prove_nothing() {
        use Decision::{Accepted, Rejected};
        use State::{Done, Pass, Review, Todo};
        use VerdictBasis::{Confirmed, NoResult, Unanswered, World};
        let cases = [
            (Pass, Confirmed, None, false),
            (Review, Confirmed, None, false),
            (Review, Confirmed, Some(Rejected), true),
            (Review, World, None, true),
            (Review, Unanswered, None, true),
            (Review, Unanswered, Some(Accepted), false),
            (Done, NoResult, None, true),
            (Done, Confirmed, None, true),
            (Todo, World, None, false),
        ];
        for (state, grounds, decision, without_result) in cases {
            let record = record(state, grounds, decision);
            let found = is_without_result(&record);
            assert_eq!(found, without_result, "{state} {grounds:?} {decision:?}");
        }
    }

    #[test]
    fn counts_each_quest_once_and_the_reasons_without_a_result() {
        let mut shares = Shares::default();
        shares.add(&record(State::Pass, VerdictBasis::Confirmed, None));
        shares.add(&record(State::Review, VerdictBasis::Unanswered, None));
        shares.add(&record(State::Done, VerdictBasis::NoResult, None));
        shares.add(&record(State::Todo, VerdictBasis::World, None));
        let states = [shares.pass, shares.review, shares.done, shares.todo];
        assert_eq!((shares.quests, states), (4, [1; 4]));
        assert_eq!(shares.reviews.open, 1);
        let expected = WithoutResult {
            quests: 2,
            given_up: 1,
            unanswered: 1,
        };
        assert_eq!(shares.without_result, expected);
    }

    #[test]
    fn consecutive_numbers_are_ranges() {
        let text = |numbers: &[usize]| {
            let quests = numbers.iter();
            let quests = quests.map(|it| QuestId::from_index(it - 1).unwrap());
            ranges(&quests.collect::<Vec<_>>())
        };
        assert_eq!(text(&[]), "");
        assert_eq!(text(&[4]), "4");
        assert_eq!(text(&[1, 2, 3, 7, 9, 10]), "1-3, 7, 9-10");
    }

    #[test]
    fn a_shortfall_names_its_quests() {
        let word = word(&report());
        assert!(!word.complete);
        let expected = [
            "todo: 1 quest is TODO (quest 2)",
            "tree-changed: the working tree is not clean",
        ];
        assert_eq!(word.shortfalls, expected);
    }
}
