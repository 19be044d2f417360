//! Looking at a session as it stands: what is decided on whether it is complete.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::claims::orphaned;
use super::final_said::FinalSaid;
use super::min_pass::MinPass;
use crate::base::Digest;
use crate::judge::audit::lists::OtherJudge;
use crate::judge::audit::{Audited, Finding, Onlooker, Plan, Rested, walk};
use crate::judge::quest_file::{Definition, bench_of};
use crate::judge::{DriveError, audit};
use crate::quest::QuestId;
use crate::session::{Board, RunId, Session, Standing, State, Tally};
use crate::world::sandbox::{Changed, FileSeen, LiveWorkshop, Workshop};

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
    pub last: FinalSaid,
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
    pub then: Rested,
    /// The digest of what is there now; none where there is no file that can be read.
    pub now: Option<Digest>,
}

/// What is asked of a session.
pub struct Asked<'a> {
    pub now: Timestamp,
    pub lives: &'a dyn Fn(RunId) -> bool,
    pub last: FinalSaid,
    /// The share that must have passed.
    pub min_pass: Option<MinPass>,
}

/// Looks at `session`, of which `board` is the whole ledger, folded.
///
/// Every PASS is judged again from its evidence; nothing is asked of the network.
pub fn survey(
    session: &Session,
    board: &Board,
    asked: Asked<'_>,
    onlooker: Onlooker<'_>,
) -> Result<Survey, DriveError> {
    let plan = Plan {
        session,
        board,
        noted: None,
        same_judge: OtherJudge::of(session.manifest()).is_same(),
    };
    let audited = walk(plan, onlooker)?;
    let (tree, files) = tree(session, rested(board, &audited))?;
    let quests = board.quests().iter();
    let todo = quests.filter(|quest| quest.progress.state == State::Todo);
    let forgotten = quests_of(&audited.forgotten);
    Ok(Survey {
        todo: todo.map(|quest| quest.id).collect(),
        blocked: board.waiting().blocked.len(),
        orphaned: orphaned(board.claims(), asked.now, asked.lives),
        tree,
        files,
        unchecked: unchecked(board.quests(), &audited, &forgotten),
        forgotten: proven(board.quests(), &forgotten),
        findings: audited.findings,
        stopped: (onlooker.stop)(),
        last: asked.last,
        tally: board.totals().tally,
        min_pass: asked.min_pass,
    })
}

fn quests_of(places: &[audit::Place]) -> BTreeSet<QuestId> {
    places.iter().filter_map(|place| place.quest).collect()
}

fn proven(quests: &[Standing], these: &BTreeSet<QuestId>) -> Vec<QuestId> {
    let proven = quests.iter().filter(|quest| quest.proof().is_some());
    let among = proven.filter(|quest| these.contains(&quest.id));
    among.map(|quest| quest.id).collect()
}

/// What is proven and was not judged again, with nothing found that says why.
fn unchecked(
    quests: &[Standing],
    audited: &Audited,
    forgotten: &BTreeSet<QuestId>,
) -> Vec<QuestId> {
    let judged: BTreeSet<QuestId> = audited.proven.iter().map(|proven| proven.quest).collect();
    let proven = quests.iter().filter(|quest| quest.proof().is_some());
    let left = proven.filter(|quest| !judged.contains(&quest.id) && !forgotten.contains(&quest.id));
    left.map(|quest| quest.id).collect()
}

fn rested(board: &Board, audited: &Audited) -> Vec<Rested> {
    let proven = audited.proven.iter().filter(|proven| {
        let standing = board.get(proven.quest);
        standing.is_some_and(|standing| standing.proof().is_some())
    });
    // The last of a quest's lines stays.
    let lines: BTreeMap<QuestId, u64> = proven.map(|it| (it.quest, it.line)).collect();
    let rested = audited.rested.iter();
    let last = rested.filter(|it| lines.get(&it.quest) == Some(&it.line));
    last.cloned().collect()
}

/// The working tree, held against what the session froze of it and what PASSes saw in it.
///
/// What a PASS saw is known of the files that the gate itself read, such as those that fields name.
/// Not seen is what only a command read, over its copy of the tree: no content is recorded of it.
fn tree(
    session: &Session,
    rested: Vec<Rested>,
) -> Result<(TreeSeen, Vec<FileThenAndNow>), DriveError> {
    let nothing = (TreeSeen::None, Vec::new());
    let definition = Definition::of(session.manifest())?;
    if definition.is_none_or(|definition| definition.tree.is_none()) {
        return Ok(nothing);
    }
    let dir = session.dir().to_owned();
    let bench = match bench_of(session.manifest(), session.evidence(), dir) {
        Ok(Some(bench)) => bench,
        Ok(None) => return Ok(nothing),
        Err(error) => return Ok((TreeSeen::Unread(error.to_string()), Vec::new())),
    };
    let workshop = LiveWorkshop::new(&bench);
    Ok(match workshop.changes() {
        Err(why) => (TreeSeen::Unread(why), Vec::new()),
        Ok(changes) => {
            let inside = rested.into_iter();
            let inside = inside.filter(|it| bench.zones.contains(&it.path));
            (TreeSeen::Seen(changes), now(&workshop, inside))
        }
    })
}

fn now(workshop: &dyn Workshop, files: impl Iterator<Item = Rested>) -> Vec<FileThenAndNow> {
    let mut read = BTreeMap::new();
    let files = files.map(|then| {
        let look = || match workshop.file(&then.path) {
            FileSeen::File(bytes) => Some(Digest::of(&bytes)),
            FileSeen::Absent | FileSeen::Other(_) => None,
        };
        let now = *read.entry(then.path.clone()).or_insert_with(look);
        FileThenAndNow { then, now }
    });
    files.collect()
}
