//! Decides whether a session is complete, and what is missing.
//!
//! [`survey()`] reads the ledger, the claims and the working tree, and judges every PASS again from
//! its evidence. [`judge_again()`] judges with the current tree and commands. [`decide()`] is a pure
//! function of the survey, and relies neither on an agent nor on a cache.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use itertools::Itertools as _;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::Digest;
use crate::base::text::small;
use crate::gate::Fact;
use crate::judge::audit::{
    Asks, Finding, FindingKind, JudgeDifference, Live, Place, Plan, Proven, SeenFile, ask_world,
    audit_ledger,
};
use crate::judge::context::{FinalResult, FinalWord};
use crate::judge::error::JudgeError;
use crate::judge::kind::JudgeWorld;
use crate::judge::live_runs::orphaned;
use crate::judge::passes::sentence;
use crate::judge::quest_file::Definition;
use crate::quest::{Key, QuestId};
use crate::session::{Effective, NotProven, Projection, RunId, Session, State, Tally, Watch};
use crate::world::sandbox::{Changed, FileSeen, Sandbox as _};
use crate::world::tree::TreePath;

/// The least share of PASSes, in hundredths of a percent.
///
/// Only a PASS counts, because a machine proved it. A REVIEW does not, however it was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MinPass(u32);

#[derive(Debug, thiserror::Error)]
#[error("expected a share from 0% to 100%, such as 80% or 99.5%; a share below 1% needs the %")]
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
        // Refuse 0.8, because most people mean 80 %.
        let is_fraction = !text.ends_with('%') && (1..100).contains(&hundredths);
        (hundredths <= ALL && !is_fraction)
            .then_some(Self(hundredths))
            .ok_or(BadPercent)
    }
}

impl fmt::Display for MinPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", f64::from(self.0) / 100.0)
    }
}

/// One thing that is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shortfall {
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
    /// A PASS is not one by the tree and the commands as they are now.
    NoLongerHolds,
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
    /// Every quest is settled, and REVIEWs are open or quests are DONE.
    NotProven,
}

impl fmt::Display for ShortfallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

#[derive(Debug, Clone, Default)]
pub struct Survey {
    pub todo: Vec<QuestId>,
    /// How many of them depend on a quest that ended without a PASS.
    pub blocked: usize,
    pub orphaned: Vec<QuestId>,
    /// The changes of the working tree since the scan, or why it cannot be read; `None` without a tree.
    pub tree: Option<Result<Vec<Changed>, String>>,
    pub files: Vec<FileThenAndNow>,
    /// The PASSes that rest on the tree, on commands or on services.
    pub on_machine: Vec<Proven>,
    /// The result of judging these again; `None` if nobody did.
    pub again: Option<Live>,
    pub findings: Vec<Finding>,
    /// Proven quests that were not judged again.
    pub unchecked: Vec<QuestId>,
    /// Proven quests that cannot be judged again, because an address was removed.
    pub forgotten: Vec<QuestId>,
    pub stopped: bool,
    pub last: FinalResult,
    pub tally: Tally,
    pub min_pass: Option<MinPass>,
    /// The open REVIEWs and the quests that are DONE.
    pub not_proven: Vec<QuestId>,
    /// Whether the session can be complete despite these.
    pub accept_unproven: bool,
}

/// Whether the PASSes that rest on the tree, on commands or on services were judged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct JudgedAgain {
    pub status: AgainStatus,
    /// How many PASSes rest on these.
    pub passes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AgainStatus {
    /// All were.
    #[default]
    Done,
    /// `--quick` left them out.
    LeftOut,
    /// Not all could be; the shortfalls say why.
    Unfinished,
}

impl JudgedAgain {
    /// `is_wanted` is false with `--quick`.
    pub fn of(seen: &Survey, is_wanted: bool) -> Self {
        let is_whole = |live: &Live| live.left == 0 && live.failed.is_empty();
        let passes = seen.on_machine.len();
        let status = match &seen.again {
            Some(live) if is_whole(live) => AgainStatus::Done,
            None if passes == 0 => AgainStatus::Done,
            None if !is_wanted => AgainStatus::LeftOut,
            _ => AgainStatus::Unfinished,
        };
        Self { status, passes }
    }
}

/// A file in the write zones, as a PASS saw it and now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileThenAndNow {
    pub then: SeenFile,
    /// Its current digest; `None` if the file cannot be read.
    pub now: Option<Digest>,
}

impl Survey {
    /// Notes that these PASSes were recorded as regressed since.
    pub fn note_todo(&mut self, regressed: &[QuestId]) {
        self.todo.extend(regressed);
        self.todo.sort_unstable();
        for _ in regressed {
            self.tally.shift(State::Pass, State::Todo);
        }
    }
}

/// Surveys a session. `projection` is its whole ledger, folded, and `lives` tells whether a run is
/// active. The caller adds the final gate's result and the required share of PASSes.
///
/// `world` holds the tree, or the reason why there is none. Every PASS is judged again from its
/// evidence, without the network.
pub fn survey(
    session: &Session,
    projection: &Projection,
    world: Result<&JudgeWorld, &str>,
    now: Timestamp,
    lives: &dyn Fn(RunId) -> bool,
    watch: &dyn Watch,
) -> Result<Survey, JudgeError> {
    let plan = Plan {
        session,
        projection,
        noted: None,
        same_judge: JudgeDifference::of(session.manifest()).is_same(),
    };
    let audited = audit_ledger(plan, watch)?;
    let judged: BTreeSet<QuestId> = audited.proven.iter().map(|proven| proven.quest).collect();
    let untold: BTreeSet<QuestId> = audited.forgotten.iter().filter_map(|it| it.quest).collect();
    let mut seen = Survey {
        blocked: projection.waiting()?.blocked.len(),
        orphaned: orphaned(projection.claims()?.iter(), now, lives),
        findings: audited.findings,
        stopped: watch.stops(),
        tally: projection.totals().tally,
        ..Survey::default()
    };
    let mut proven = BTreeSet::new();
    for quest in projection.quests() {
        let quest = quest?;
        let effective = Effective::of(&quest);
        if effective == Effective::Todo {
            seen.todo.push(quest.id);
        }
        if effective.is_open() || effective == Effective::Done {
            seen.not_proven.push(quest.id);
        }
        if quest.proof().is_none() {
            continue;
        }
        proven.insert(quest.id);
        if untold.contains(&quest.id) {
            seen.forgotten.push(quest.id);
        } else if !judged.contains(&quest.id) {
            seen.unchecked.push(quest.id);
        }
    }
    let proofs = audited.proven.into_iter();
    let proofs = proofs.filter(|pass| proven.contains(&pass.quest));
    // Only the files that the last PASS of a quest saw matter.
    let last: BTreeMap<QuestId, Proven> = proofs.map(|it| (it.quest, it)).collect();
    let mut files = audited.files;
    files.retain(|file| last.get(&file.quest).map(|it| it.line) == Some(file.line));
    // A PASS that was judged with other lists or another program is already a finding.
    let on_machine = last
        .into_values()
        .filter(|it| it.on_machine && !it.by_others);
    seen.on_machine = on_machine.collect();
    look_at_tree(session, world, files, &mut seen)?;
    Ok(seen)
}

/// Judges the PASSes that rest on the tree, on commands or on services again, with their current
/// state. Pages and DNS are answered from the evidence.
///
/// `judged` is called after each judgement, and `stop` tells whether to end early.
pub fn judge_again(
    session: &Session,
    projection: &Projection,
    world: &Arc<JudgeWorld>,
    seen: &mut Survey,
    judged: &dyn Fn(),
    stop: &dyn Fn() -> bool,
) -> Result<(), JudgeError> {
    // Without its tree, every judgement would fail for the same reason.
    if seen.stopped || matches!(seen.tree, Some(Err(_))) {
        return Ok(());
    }
    let proven = &seen.on_machine;
    let live = ask_world(
        session,
        projection,
        proven,
        world,
        Asks::Machine,
        judged,
        stop,
    )?;
    seen.stopped = live.left > 0;
    seen.again = Some(live);
    Ok(())
}

/// Compares the working tree with what the session froze and with what PASSes saw.
///
/// This covers files that the gate itself read, such as those that fields name. The content of files
/// that only a command read is not recorded.
fn look_at_tree(
    session: &Session,
    world: Result<&JudgeWorld, &str>,
    files: Vec<SeenFile>,
    seen: &mut Survey,
) -> Result<(), JudgeError> {
    let definition = Definition::of(session.manifest())?;
    if definition.is_none_or(|definition| definition.tree.is_none()) {
        return Ok(());
    }
    let world = match world {
        Ok(world) => world,
        Err(why) => {
            seen.tree = Some(Err(why.to_owned()));
            return Ok(());
        }
    };
    let (Some(config), Some(sandbox)) = (world.sandbox_config(), world.live_sandbox()) else {
        return Ok(());
    };
    let changes = sandbox.changes();
    if changes.is_ok() {
        let mut read = BTreeMap::new();
        for then in files {
            if config.zones.contains(&then.path) {
                let look = || match sandbox.file(&then.path) {
                    FileSeen::File(bytes) => Some(Digest::of(&bytes)),
                    FileSeen::Absent | FileSeen::Other(_) => None,
                };
                let now = *read.entry(then.path.clone()).or_insert_with(look);
                seen.files.push(FileThenAndNow { then, now });
            }
        }
    }
    seen.tree = Some(changes);
    Ok(())
}

/// What is missing. Empty if the session is complete.
pub fn decide(seen: &Survey) -> Vec<Shortfall> {
    let shortfalls = [
        todo(&seen.todo, seen.blocked),
        orphans(&seen.orphaned),
        tree_change(seen.tree.as_ref()),
        pass_change(&seen.files),
        no_longer_holds(seen.again.as_ref()),
        audited(&seen.findings, ShortfallKind::Ledger),
        audited(&seen.findings, ShortfallKind::NotReplayed),
        audited(&seen.findings, ShortfallKind::Record),
        unchecked(&seen.unchecked, seen.stopped),
        failed(seen.again.as_ref()),
        final_gate(&seen.last),
        too_few(seen.min_pass, &seen.tally),
        not_proven(seen),
    ];
    shortfalls.into_iter().flatten().collect()
}

/// The shortfall of a damaged session, of which nothing else can be read.
pub fn of_damage(finding: &Finding) -> Vec<Shortfall> {
    let shortfall = audited(std::slice::from_ref(finding), ShortfallKind::Ledger);
    shortfall.into_iter().collect()
}

/// A shortfall about these quests or with these details; `None` if there are neither.
fn some(
    kind: ShortfallKind,
    quests: impl IntoIterator<Item = QuestId>,
    details: Vec<String>,
    what: impl Into<String>,
) -> Option<Shortfall> {
    let shortfall = Shortfall {
        kind,
        quests: quests.into_iter().collect(),
        what: what.into(),
        details,
    };
    (!shortfall.quests.is_empty() || !shortfall.details.is_empty()).then_some(shortfall)
}

impl Shortfall {
    /// A shortfall of the whole session.
    pub fn new(kind: ShortfallKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            quests: Vec::new(),
            what: what.into(),
            details: Vec::new(),
        }
    }
}

fn todo(quests: &[QuestId], blocked: usize) -> Option<Shortfall> {
    let mut what = format!("{} TODO", are(quests.len()));
    if blocked > 0 {
        what = format!(
            "{what}; {blocked} of them can never be handed out, because earlier quests that they \
             depend on ended without a PASS"
        );
    }
    some(ShortfallKind::Todo, quests.to_vec(), Vec::new(), what)
}

fn orphans(quests: &[QuestId]) -> Option<Shortfall> {
    let what = format!("{} claimed by workers that are gone", are(quests.len()));
    let kind = ShortfallKind::OrphanedClaims;
    some(kind, quests.to_vec(), Vec::new(), what)
}

fn tree_change(seen: Option<&Result<Vec<Changed>, String>>) -> Option<Shortfall> {
    match seen? {
        Err(why) => {
            let what = format!("cannot read the working tree: {why}");
            Some(Shortfall::new(ShortfallKind::TreeUnread, what))
        }
        Ok(changes) => {
            let outside = changes.iter().filter(|change| !change.inside);
            let details = outside.map(|change| format!("{}: {}", change.path, change.how));
            let what = "the working tree was changed outside the write zones";
            some(ShortfallKind::TreeChanged, [], details.collect(), what)
        }
    }
}

/// Files that changed or disappeared after a PASS saw them.
///
/// If quests share a file, the last PASS that saw it decides.
fn pass_change(files: &[FileThenAndNow]) -> Option<Shortfall> {
    let mut last: BTreeMap<&TreePath, &FileThenAndNow> = BTreeMap::new();
    for file in files {
        let known = last.entry(&file.then.path).or_insert(file);
        if known.then.line < file.then.line {
            *known = file;
        }
    }
    let mut quests = BTreeSet::new();
    let mut details = Vec::new();
    for FileThenAndNow { then, now } in last.into_values() {
        // If it saw no file, nothing can be lost.
        if then.file.is_some() && then.file != *now {
            let how = now.map_or("gone", |_| "changed");
            quests.insert(then.quest);
            details.push(format!("quest {}: {}: {how}", then.quest, then.path));
        }
    }
    let what = "files on which a PASS is based have changed since";
    some(ShortfallKind::PassChanged, quests, details, what)
}

/// The PASSes that no longer pass, with the facts.
///
/// A PASS that is now REVIEW, such as after a timeout, counts too.
fn no_longer_holds(again: Option<&Live>) -> Option<Shortfall> {
    let again = again?;
    let drift = again.drift.iter().map(|it| (&it.place, &it.facts));
    let unanswered = again.unanswered.iter().map(|it| (&it.place, &it.facts));
    let lost: Vec<(&Place, &Vec<Fact>)> = drift.chain(unanswered).collect();
    let details = lost.iter().flat_map(|(place, facts)| {
        let quest = [
            place.quest.map(|it| it.to_string()),
            place.key.as_ref().map(Key::to_string),
        ];
        let quest = quest.into_iter().flatten().join(", ");
        facts
            .iter()
            .map(move |fact| format!("quest {quest}: {}", sentence(fact)))
    });
    let quests: BTreeSet<QuestId> = lost.iter().filter_map(|(place, _)| place.quest).collect();
    let what = match quests.len() {
        1 => "1 PASS no longer holds".to_owned(),
        count => format!("{count} PASSes no longer hold"),
    };
    some(
        ShortfallKind::NoLongerHolds,
        quests,
        details.collect(),
        what,
    )
}

/// The PASSes that could not be judged again, and why.
fn failed(again: Option<&Live>) -> Option<Shortfall> {
    let failed = &again?.failed;
    let details = failed.iter().map(|(_, why)| why.clone()).collect();
    let quests = failed.iter().map(|(quest, _)| *quest);
    let what = format!("{} PASS but could not be judged again", are(failed.len()));
    some(ShortfallKind::Unchecked, quests, details, what)
}

fn counts_as(kind: FindingKind) -> Option<ShortfallKind> {
    match kind {
        FindingKind::Ledger | FindingKind::Settings | FindingKind::Source | FindingKind::Head => {
            Some(ShortfallKind::Ledger)
        }
        FindingKind::Evidence | FindingKind::Replay | FindingKind::OtherLists => {
            Some(ShortfallKind::NotReplayed)
        }
        FindingKind::Answer | FindingKind::Field | FindingKind::Seal | FindingKind::Forgotten => {
            Some(ShortfallKind::Record)
        }
        // These do not concern recorded judgements: the index is rebuilt, and programs and the world
        // may change.
        FindingKind::Index | FindingKind::Program | FindingKind::Drift => None,
    }
}

fn audited(findings: &[Finding], kind: ShortfallKind) -> Option<Shortfall> {
    let mut quests = BTreeSet::new();
    let mut details = Vec::new();
    for finding in findings
        .iter()
        .filter(|it| counts_as(it.kind) == Some(kind))
    {
        quests.extend(finding.place.quest);
        let line = finding.place.line.map(|line| format!("line {line}"));
        let quest = finding.place.quest.map(|quest| format!("quest {quest}"));
        details.push(match line.into_iter().chain(quest).join(", ").as_str() {
            "" => finding.what.clone(),
            place => format!("{place}: {}", finding.what),
        });
    }
    let what = match kind {
        ShortfallKind::NotReplayed => "what was judged does not follow from its evidence",
        ShortfallKind::Record => "lines of the ledger contradict the lines before them",
        _ => "the ledger, or a file that it names, was changed",
    };
    some(kind, quests, details, what)
}

fn unchecked(quests: &[QuestId], stopped: bool) -> Option<Shortfall> {
    let kind = ShortfallKind::Unchecked;
    if stopped {
        return Some(Shortfall {
            quests: quests.to_vec(),
            ..Shortfall::new(kind, "the check was stopped before its end")
        });
    }
    let what = format!("{} PASS but not judged again", are(quests.len()));
    some(kind, quests.to_vec(), Vec::new(), what)
}

fn final_gate(said: &FinalResult) -> Option<Shortfall> {
    let kind = ShortfallKind::FinalGate;
    match said.word {
        FinalWord::None | FinalWord::Passed | FinalWord::Proven => None,
        FinalWord::Refused => Some(Shortfall {
            details: said.details.clone(),
            quests: said.suspects.clone(),
            ..Shortfall::new(kind, "the checks over the whole result did not pass")
        }),
        FinalWord::Unjudged => {
            let why = said.details.join("; ");
            let what = format!("the whole result was not judged: {why}");
            Some(Shortfall::new(kind, what))
        }
    }
}

fn too_few(least: Option<MinPass>, tally: &Tally) -> Option<Shortfall> {
    let least = least.filter(|least| !least.holds(tally))?;
    let (pass, total) = (tally.pass, tally.total());
    let what = format!("{pass} of {total} quests are PASS, and at least {least} are required");
    Some(Shortfall::new(ShortfallKind::MinPass, what))
}

fn not_proven(seen: &Survey) -> Option<Shortfall> {
    if seen.accept_unproven || !seen.todo.is_empty() {
        return None;
    }
    let done = seen.tally.done;
    let open = small(seen.not_proven.len()).saturating_sub(done);
    let what = format!("settled, not proven: {}", NotProven { open, done });
    let kind = ShortfallKind::NotProven;
    some(kind, seen.not_proven.clone(), Vec::new(), what)
}

fn are(count: usize) -> String {
    match count {
        1 => "1 quest is".to_owned(),
        count => format!("{count} quests are"),
    }
}
