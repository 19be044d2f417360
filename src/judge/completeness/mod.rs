//! Whether a session is complete, and what keeps it from being so.
//!
//! [`survey()`] looks at the ledger, the claims and the working tree, and judges every PASS again
//! from its evidence. [`decide()`] is a pure function of what was seen, which trusts neither an
//! agent's word nor a cache.

mod decide;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::Digest;
use crate::judge::audit::{Finding, Onlooker, OtherJudge, Plan, SeenFile, walk};
use crate::judge::error::JudgeError;
use crate::judge::final_gate::FinalResult;
use crate::judge::kind::SessionKind;
use crate::judge::live_runs::{is_alive, is_locked};
use crate::quest::QuestId;
use crate::session::{Claim, Projection, RunId, RunProcess, Session, State, Tally, Worker};
use crate::world::sandbox::{Changed, FileSeen, LiveSandbox, Sandbox};

pub use decide::{decide, of_damage};

pub fn start_of(worker: &Worker) -> Option<(RunId, u32)> {
    let name = worker.as_str().strip_prefix("run-")?;
    let (run, start) = name.split_once('.')?;
    let number: u32 = start.parse().ok()?;
    let run = run.parse().ok()?;
    (number.to_string() == start).then_some((run, number))
}

pub fn is_live(dir: &Path, run: RunId, process: Option<RunProcess>) -> bool {
    process.is_some_and(is_alive) || is_locked(dir, run)
}

/// The quests whose claims nobody will answer, in order.
///
/// `lives` tells whether a run goes on. Of a worker that no run started nothing is known but its
/// lease: once that has run out it has not come back in time.
pub fn orphaned<'a>(
    claims: impl Iterator<Item = &'a Claim>,
    now: Timestamp,
    lives: &dyn Fn(RunId) -> bool,
) -> Vec<QuestId> {
    let left = claims.filter(|claim| {
        let gone = start_of(&claim.worker).is_some_and(|(run, _)| !lives(run));
        gone || !claim.is_live(now)
    });
    let mut quests: Vec<QuestId> = left.map(|claim| claim.quest).collect();
    quests.sort_unstable();
    quests
}

/// The least share of PASSes, in hundredths of a percent.
///
/// Only what a machine proved counts: a REVIEW is none, whatever became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MinPass(u32);

/// A text that is no share.
#[derive(Debug, thiserror::Error)]
#[error("a share is 0% to 100%, written such as 80% or 99.5%; less than 1% only with its %")]
pub struct BadPercent;

const ALL: u32 = 100 * 100;

impl MinPass {
    pub fn holds(self, tally: &Tally) -> bool {
        let passed = u64::from(tally.pass) * u64::from(ALL);
        passed >= u64::from(self.0) * u64::from(tally.total())
    }
}

impl FromStr for MinPass {
    type Err = BadPercent;

    fn from_str(text: &str) -> Result<Self, BadPercent> {
        let number = text.strip_suffix('%').unwrap_or(text);
        let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) || whole.len() > 3 || part.len() > 2 {
            return Err(BadPercent);
        }
        let part = format!("{part:0<2}");
        let number = |text: &str| text.parse::<u32>().map_err(|_| BadPercent);
        let hundredths = number(whole)? * 100 + number(&part)?;
        // Such as 0.8, by which most people mean 80 %.
        let is_fraction = !text.ends_with('%') && (1..100).contains(&hundredths);
        (hundredths <= ALL && !is_fraction)
            .then_some(Self(hundredths))
            .ok_or(BadPercent)
    }
}

impl fmt::Display for MinPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 100, self.0 % 100) {
            (whole, 0) => write!(f, "{whole} %"),
            (whole, part) if part % 10 == 0 => write!(f, "{whole}.{} %", part / 10),
            (whole, part) => write!(f, "{whole}.{part:02} %"),
        }
    }
}

/// Whether a session is complete.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Completeness {
    /// What stands against it; nothing when it is complete.
    pub shortfalls: Vec<Shortfall>,
}

impl Completeness {
    /// Whether nothing stands against it.
    pub fn is_complete(&self) -> bool {
        self.shortfalls.is_empty()
    }
}

/// One thing that stands against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shortfall {
    /// What it is about.
    pub kind: ShortfallKind,
    /// The quests that it is about, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quests: Vec<QuestId>,
    /// What is so, in one sentence.
    pub what: String,
    /// The single findings, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
}

/// What a shortfall is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShortfallKind {
    /// Quests are TODO.
    Todo,
    /// Quests are claimed by workers that are gone.
    OrphanedClaims,
    /// The working tree was changed outside the zones in which may be written.
    TreeChanged,
    /// The working tree cannot be looked at.
    TreeUnread,
    /// What a PASS saw in a file of the write zones is no longer there.
    PassChanged,
    /// The ledger, or what it is bound to, cannot be believed.
    Ledger,
    /// A PASS does not follow from its evidence.
    NotReplayed,
    /// A line says what does not follow from what it rests on.
    Record,
    /// Not all PASSes were judged again.
    Unchecked,
    /// The checks over the whole result did not pass.
    FinalGate,
    /// Fewer quests passed than was asked for.
    MinPass,
}

impl fmt::Display for ShortfallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Shortfall {
    /// A shortfall of no quest in particular.
    pub fn new(kind: ShortfallKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            quests: Vec::new(),
            what: what.into(),
            details: Vec::new(),
        }
    }

    pub fn of(mut self, quests: Vec<QuestId>) -> Self {
        self.quests = quests;
        self
    }

    pub fn with(mut self, details: Vec<String>) -> Self {
        self.details = details;
        self
    }
}

/// What was seen of a session.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    pub todo: Vec<QuestId>,
    /// How many of them come after one that ended without a PASS.
    pub blocked: usize,
    pub orphaned: Vec<QuestId>,
    pub tree: TreeSeen,
    pub files: Vec<FileThenAndNow>,
    pub findings: Vec<Finding>,
    /// What counts as proven and was not judged again.
    pub unchecked: Vec<QuestId>,
    /// What is proven and cannot be judged again: an address was blotted out.
    pub forgotten: Vec<QuestId>,
    pub stopped: bool,
    pub last: FinalResult,
    pub tally: Tally,
    /// The share that must have passed.
    pub min_pass: Option<MinPass>,
}

/// What was seen of the working tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TreeSeen {
    /// The kind has none.
    #[default]
    None,
    /// What in it is not as it was when the session was made.
    Seen(Vec<Changed>),
    /// It cannot be looked at, and why.
    Unread(String),
}

/// A file in the write zones, as a PASS saw it and as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileThenAndNow {
    pub then: SeenFile,
    /// The digest of what is there now; none where there is no file that can be read.
    pub now: Option<Digest>,
}

/// What is asked of a session.
pub struct Asked<'a> {
    pub now: Timestamp,
    pub lives: &'a dyn Fn(RunId) -> bool,
    pub last: FinalResult,
    /// The share that must have passed.
    pub min_pass: Option<MinPass>,
}

/// Looks at `session`, of which `board` is the whole ledger, folded.
///
/// Every PASS is judged again from its evidence; nothing is asked of the network.
pub fn survey(
    session: &Session,
    board: &Projection,
    asked: Asked<'_>,
    onlooker: Onlooker<'_>,
) -> Result<Survey, JudgeError> {
    let plan = Plan {
        session,
        board,
        noted: None,
        same_judge: OtherJudge::of(session.manifest()).is_same(),
    };
    let audited = walk(plan, onlooker)?;
    let judged: BTreeSet<QuestId> = audited.proven.iter().map(|proven| proven.quest).collect();
    let untold: BTreeSet<QuestId> = audited.forgotten.iter().filter_map(|it| it.quest).collect();
    let (mut todo, mut unchecked, mut forgotten) = (Vec::new(), Vec::new(), Vec::new());
    let mut proven = BTreeSet::new();
    for quest in board.quests() {
        let quest = quest?;
        if quest.progress.state == State::Todo {
            todo.push(quest.id);
        }
        if quest.proof().is_none() {
            continue;
        }
        proven.insert(quest.id);
        if untold.contains(&quest.id) {
            forgotten.push(quest.id);
        } else if !judged.contains(&quest.id) {
            unchecked.push(quest.id);
        }
    }
    let still = audited.proven.iter();
    let still = still.filter(|judged| proven.contains(&judged.quest));
    // What the last PASS of a quest saw is what must be there.
    let lines: BTreeMap<QuestId, u64> = still.map(|it| (it.quest, it.line)).collect();
    let mut files = audited.files;
    files.retain(|file| lines.get(&file.quest) == Some(&file.line));
    let (tree, files) = tree(session, files)?;
    Ok(Survey {
        todo,
        blocked: board.waiting()?.blocked.len(),
        orphaned: orphaned(board.claims()?.iter(), asked.now, asked.lives),
        tree,
        files,
        // What is proven and was not judged again, with nothing found that says why.
        unchecked,
        forgotten,
        findings: audited.findings,
        stopped: (onlooker.stop)(),
        last: asked.last,
        tally: board.totals().tally,
        min_pass: asked.min_pass,
    })
}

/// The working tree, held against what the session froze of it and what PASSes saw in it.
///
/// What a PASS saw is known of the files that the gate itself read, such as those that fields name.
/// Not seen is what only a command read, over its copy of the tree: no content is recorded of it.
fn tree(
    session: &Session,
    rested: Vec<SeenFile>,
) -> Result<(TreeSeen, Vec<FileThenAndNow>), JudgeError> {
    let nothing = (TreeSeen::None, Vec::new());
    let kind = SessionKind::load(session.manifest())?;
    let definition = kind.definition.as_ref();
    if definition.is_none_or(|definition| definition.tree.is_none()) {
        return Ok(nothing);
    }
    let bench = match kind.bench(session.evidence(), session.dir().to_owned()) {
        Ok(Some(bench)) => bench,
        Ok(None) => return Ok(nothing),
        Err(error) => return Ok((TreeSeen::Unread(error.to_string()), Vec::new())),
    };
    let sandbox = LiveSandbox::new(&bench);
    Ok(match sandbox.changes() {
        Err(why) => (TreeSeen::Unread(why), Vec::new()),
        Ok(changes) => {
            let inside = rested.into_iter();
            let inside = inside.filter(|it| bench.zones.contains(&it.path));
            (TreeSeen::Seen(changes), now(&sandbox, inside))
        }
    })
}

fn now(sandbox: &dyn Sandbox, files: impl Iterator<Item = SeenFile>) -> Vec<FileThenAndNow> {
    let mut read = BTreeMap::new();
    let files = files.map(|then| {
        let look = || match sandbox.file(&then.path) {
            FileSeen::File(bytes) => Some(Digest::of(&bytes)),
            FileSeen::Absent | FileSeen::Other(_) => None,
        };
        let now = *read.entry(then.path.clone()).or_insert_with(look);
        FileThenAndNow { then, now }
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;
    use std::fs::File;

    fn at() -> Timestamp {
        "2026-01-02T03:00:00Z".parse().unwrap()
    }

    fn claim(quest: usize, worker: &str) -> Claim {
        Claim {
            quest: QuestId::from_index(quest - 1).unwrap(),
            worker: worker.parse().unwrap(),
            at: at(),
            lease: "15m".parse().unwrap(),
        }
    }

    fn left(claims: &[Claim], minutes: i64) -> Vec<String> {
        let now = at() + SignedDuration::from_mins(minutes);
        let lives = |run| run == RunId::new(7);
        let quests = orphaned(claims.iter(), now, &lives);
        quests.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_start_is_known_by_its_name_alone() {
        let start = |name: &str| start_of(&name.parse().unwrap());
        assert_eq!(start("run-00000007.12"), Some((RunId::new(7), 12)));
        for other in [
            "w1",
            "run-7.1",
            "run-00000007",
            "run-00000007.01",
            "run-00000007.1.2",
            "run-0000000G.1",
        ] {
            assert_eq!(start(other), None, "{other}");
        }
    }

    #[test]
    fn a_claim_of_a_run_that_ended_is_left_behind_and_one_of_a_live_run_is_not() {
        let claims = [
            claim(3, "run-00000008.1"),
            claim(2, "run-00000007.1"),
            claim(1, "w1"),
        ];
        assert_eq!(left(&claims, 1), ["3"]);
        assert_eq!(left(&claims[1..], 1), [""; 0]);
    }

    #[test]
    fn a_lease_that_ran_out_leaves_its_claim_behind() {
        let claims = [claim(2, "run-00000007.1"), claim(1, "w1")];
        assert_eq!(left(&claims, 15), ["1", "2"]);
    }

    #[test]
    fn a_run_lives_as_long_as_its_lock_is_held() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunId::new(7);
        assert!(!is_live(dir.path(), run, None));
        std::fs::create_dir(dir.path().join("runs")).unwrap();
        let lock = File::create(dir.path().join("runs/00000007.lock")).unwrap();
        assert!(!is_live(dir.path(), run, None));
        lock.lock().unwrap();
        assert!(is_live(dir.path(), run, None));
        assert!(!is_live(dir.path(), RunId::new(8), None));
        lock.unlock().unwrap();
        assert!(!is_live(dir.path(), run, None));
    }

    #[test]
    fn a_share_is_read_as_people_write_it_and_has_bounds() {
        for (text, shown) in [
            ("80%", "80 %"),
            ("80", "80 %"),
            ("99.5%", "99.5 %"),
            ("0.05%", "0.05 %"),
            ("100.00%", "100 %"),
            ("0", "0 %"),
        ] {
            assert_eq!(text.parse::<MinPass>().unwrap().to_string(), shown);
        }
        for bad in [
            "", "%", "-1", "100.01", "101%", "8e1", "1.234", ".5", "5.", "80 %", "+5", "0.8",
            "0.05",
        ] {
            assert!(bad.parse::<MinPass>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_share_is_met_exactly_and_missed_by_one() {
        let least: MinPass = "80%".parse().unwrap();
        let tally = |pass, review| Tally {
            pass,
            review,
            ..Tally::default()
        };
        assert!(least.holds(&tally(8, 2)));
        assert!(!least.holds(&tally(7, 3)));
        assert!(!least.holds(&tally(799_999_999, 200_000_001)));
        assert!(least.holds(&tally(0, 0)), "of nothing");
        let all: MinPass = "100".parse().unwrap();
        assert!(all.holds(&tally(1, 0)) && !all.holds(&tally(99_999, 1)));
    }
}
