//! The report as a value, and how it is made of others.
//!
//! Its JSON is stable: within a format nothing is renamed or removed, and what is new is added.
//!
//! ```text
//! {"format":1,"complete":false,
//!  "shortfalls":[{"kind":"todo","quests":[4],"what":"1 quest is TODO"}],
//!  "at":"…","comail":"0.1.0","kind":"email","head":"<sha-256>",
//!  "shares":{"quests":4,"pass":1,"review":1,"done":1,"todo":1,
//!            "reviews":{"accepted":0,"confirmed":0,"open":1,"refuted":0,"rejected":0},
//!            "unproven":{"quests":1,"no_result":1,"silence":0}},
//!  "final_gate":"unjudged",
//!  "run":{"run":"7f3a09c2","agent":"claude","model":null,"workers":4,"began":"…","ended":"…",
//!         "reason":"wall-clock","quests":3,"settled":2,"starts":5,"lost":0,"milliseconds":61000,
//!         "tokens":1500,"cost":12000000,"estimated":1,"unpriced":1},
//!  "others":[…],
//!  "quests":[{"quest":4,"key":"…","state":"TODO","effective":"todo","unproven":false,"tries":1,
//!             "submissions":1,"rules":{"email-not-on-page":1},
//!             "driven":[{"run":"7f3a09c2","starts":2,"lost":0,"milliseconds":9000,"tokens":700,
//!                        "cost":null,"estimated":2,"unpriced":2,"reason":"quest-timeout"}]}]}
//! ```
//!
//! A `reason` of null is that of what goes on; `cost` is in billionths of a US dollar.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::history::{Run, RunHistory};
use super::quests::QuestReport;
use super::runs::RunReport;
use super::shares::Shares;
use crate::base::Digest;
use crate::judge::completeness::{Completeness, FinalWord, Shortfall};
use crate::quest::QuestId;
use crate::session::{Board, RunId};

/// The format of the report's JSON.
pub const FORMAT: u32 = 1;

/// What a report is made of.
pub struct Telling<'a> {
    /// The time.
    pub at: Timestamp,
    /// The quest kind; none where `session.json` does not read.
    pub kind: Option<&'a str>,
    /// The ledger, folded; none where it cannot be believed.
    pub board: Option<&'a Board>,
    /// What runs left in it.
    pub history: &'a RunHistory,
    /// What stands against completeness.
    pub completeness: &'a Completeness,
    /// What is proven and cannot be judged again, for an address was blotted out.
    pub forgotten: &'a [QuestId],
    /// What the checks over the whole result said; none where nobody asked them.
    pub last: Option<FinalWord>,
    /// The run that the report is about; the last where none is named.
    pub run: Option<RunId>,
    /// Whether a run goes on.
    pub lives: &'a dyn Fn(RunId) -> bool,
}

/// The run report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// Whether the session is complete.
    pub complete: bool,
    /// What stands against it.
    pub shortfalls: Vec<Shortfall>,
    /// When the report was made.
    pub at: Timestamp,
    /// The version of the program that made it.
    pub comail: String,
    /// The quest kind; none where `session.json` does not read.
    pub kind: Option<String>,
    /// The hash of the ledger's last line; none where the ledger cannot be believed.
    pub head: Option<Digest>,
    /// How many quests ended how; none where the ledger cannot be believed.
    pub shares: Option<Shares>,
    /// What is proven and cannot be judged again, for an address was blotted out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<QuestId>,
    /// What the checks over the whole result said; none where the ledger cannot be believed.
    pub final_gate: Option<FinalWord>,
    /// The run that the report is about; none where none ever began.
    pub run: Option<RunReport>,
    /// The other runs of the session, in the order in which they began.
    pub others: Vec<RunReport>,
    /// Every quest, in order.
    pub quests: Vec<QuestReport>,
}

impl Report {
    /// The report that these values make.
    #[must_use]
    pub fn of(telling: &Telling<'_>) -> Self {
        let board = telling.board;
        let runs = telling.history.runs();
        let chosen = match telling.run {
            Some(run) => telling.history.get(run),
            None => runs.last(),
        };
        let told = |run: &Run| RunReport::of(run, (telling.lives)(run.id));
        let others = runs
            .iter()
            .filter(|run| Some(run.id) != chosen.map(|it| it.id));
        Self {
            format: FORMAT,
            complete: telling.completeness.is_complete(),
            shortfalls: telling.completeness.shortfalls.clone(),
            at: telling.at,
            comail: env!("CARGO_PKG_VERSION").to_owned(),
            kind: telling.kind.map(str::to_owned),
            head: board.map(|board| board.tip().head),
            shares: board.map(Shares::of),
            forgotten: telling.forgotten.to_vec(),
            final_gate: telling.last,
            run: chosen.map(told),
            others: others.map(told).collect(),
            quests: board.map_or_else(Vec::new, |board| quests(telling, board)),
        }
    }
}

/// What is told of each quest: what all runs took, or the one that was named.
fn quests(telling: &Telling<'_>, board: &Board) -> Vec<QuestReport> {
    let runs = telling.history.runs().iter();
    let named = |run: &&Run| telling.run.is_none_or(|named| named == run.id);
    let runs: Vec<&Run> = runs.filter(named).collect();
    let quests = board.quests().iter();
    let told =
        quests.map(|standing| QuestReport::of(standing, telling.history, &runs, telling.lives));
    told.collect()
}
