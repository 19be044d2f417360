//! Reads a whole ledger: one thread reads the lines in order, the others examine them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::base::{Digest, files};
use crate::gate::{Case, Gate, Judgement, house};
use crate::judge::accepted::{mark, marks};
use crate::judge::audit::replayed::{DoubtedBefore, Examiner, Job, Judged, Rested};
use crate::judge::audit::{Finding, Kind, Place};
use crate::judge::forgotten::{is_masked, names};
use crate::judge::recorded::RecordedJudgement;
use crate::judge::submit::{anchored, is_sent_back};
use crate::judge::{JudgeError, Replayer, email_record};
use crate::quest::{Key, Quest, QuestId, Submission};
use crate::session::{
    Decided, DecisionPolicy, Entry, Event, EvidenceStore, Forgetting, Manifest, Projection, Seal,
    Session, SessionError, SourceRecord, Suppressed, VerdictBasis, Watch,
};
use crate::world::evidence::{Evidence, Exchange, Recording};
use crate::world::{UniqueValue, UniquenessIndex};

/// What is to be audited.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    pub session: &'a Session,
    pub board: &'a Projection,
    pub noted: Option<Digest>,
    pub same_judge: bool,
}

/// Who looks on, and may end it.
#[derive(Clone, Copy)]
pub struct Onlooker<'a> {
    pub watch: &'a dyn Watch,
    pub stop: &'a dyn Fn() -> bool,
}

/// What came of an audit.
#[derive(Debug, Default)]
pub struct Audited {
    pub findings: Vec<Finding>,
    /// Lines of which something was forgotten that they rest on: they are not judged again.
    pub forgotten: Vec<Place>,
    pub checked: Checked,
    pub noted: Option<NotedHead>,
    pub proven: Vec<Proven>,
    pub rested: Vec<Rested>,
}

/// A line that proves its quest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proven {
    pub line: u64,
    pub quest: QuestId,
    /// Whether other lists or another program judged it, and this one judges it otherwise: then
    /// nothing that the world says now tells drift from that.
    pub by_others: bool,
}

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Checked {
    /// Lines of the ledger.
    pub lines: u64,
    /// Quests.
    pub quests: usize,
    /// Judgements, whose fields were held against them.
    pub judgements: u64,
    /// PASSes and confirmations, which were judged again from their evidence.
    pub passes: u64,
}

/// A head that was noted earlier and is one of this chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotedHead {
    /// The line that it is the hash of.
    pub line: u64,
    /// How many lines have come since.
    pub since: u64,
}

const STACK: usize = 8 * 1024 * 1024;

const WAITING: usize = 8;

/// Examines every line of the ledger.
///
/// Memory is that of the board and of a few lines with their pages, however many there are.
pub fn walk(plan: Plan<'_>, onlooker: Onlooker<'_>) -> Result<Audited, JudgeError> {
    let (manifest, evidence) = (plan.session.manifest(), plan.session.evidence());
    // What every thread makes for itself can be made.
    Replayer::new(manifest, evidence.clone())?;
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut readers = Vec::with_capacity(threads);
    for _ in 0..threads {
        readers.push(plan.session.reader()?);
    }
    let (jobs, waiting) = sync_channel(threads * WAITING);
    let waiting = Arc::new(Mutex::new(waiting));
    let mut audited = thread::scope(|scope| {
        let workers: Vec<_> = readers
            .into_iter()
            .map(|reader| {
                let (evidence, waiting) = (evidence.clone(), Arc::clone(&waiting));
                let examine = move || {
                    let mut examiner = Examiner {
                        board: plan.board,
                        reader,
                        // Every thread has a gate of its own, since gates are not shared.
                        replayer: Replayer::new(manifest, evidence)?,
                        same_judge: plan.same_judge,
                    };
                    examiner.work(&waiting)
                };
                let thread = thread::Builder::new().stack_size(STACK);
                let spawned = thread.spawn_scoped(scope, examine);
                spawned.map_err(JudgeError::Threads)
            })
            .collect::<Result<_, _>>()?;
        // Held by the workers alone, so that the feeding ends once none of them is left.
        drop(waiting);
        let mut audited = feed(plan, &jobs, onlooker)?;
        drop(jobs);
        for worker in workers {
            match worker.join() {
                Ok(examined) => audited.add(examined?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok::<_, JudgeError>(audited)
    })?;
    audited.findings.sort_by_key(|finding| finding.place.line);
    audited.proven.sort_by_key(|proven| proven.line);
    audited.rested.sort_by_key(|rested| rested.line);
    audited.forgotten.sort_by_key(|place| place.line);
    Ok(audited)
}

fn feed(
    plan: Plan<'_>,
    jobs: &SyncSender<Job>,
    onlooker: Onlooker<'_>,
) -> Result<Audited, JudgeError> {
    let mut audited = Audited::default();
    audited.checked.quests = plan.board.count();
    let end = plan.board.tip().length;
    let mut offset = 0;
    let mut before = ForgottenBefore::new(plan.session.config().policy);
    let mut doubted = DoubtedBefore::default();
    let mut failed = None;
    let mut take = |entry: Entry<'_>| {
        let begins = offset;
        offset += entry.line.text().len() as u64 + 1;
        if audited.checked.lines == end || (onlooker.stop)() {
            return;
        }
        audited.checked.lines += 1;
        let line = audited.checked.lines;
        if audited.noted.is_none() && plan.noted == plan.noted.map(|_| entry.line.tip().head) {
            audited.noted = plan.noted.map(|_| NotedHead {
                line,
                since: end - line,
            });
        }
        let copied = match &entry.event {
            Event::Session(_) => Some(&plan.session.manifest().source),
            Event::Extended(extended) => Some(&extended.source),
            _ => None,
        };
        let changed = copied.and_then(|source| {
            let forgetting = &plan.board.totals().forgetting;
            changed_copy(plan.session.dir(), source, forgetting, line)
        });
        audited.findings.extend(changed);
        let noticed = unsealed(plan, &entry, line).and_then(|unsealed| {
            let forgotten = before.take(plan.board, &entry, line)?;
            Ok([unsealed, forgotten])
        });
        match noticed {
            Ok(noticed) => audited.findings.extend(noticed.into_iter().flatten()),
            Err(error) => failed = failed.take().or(Some(error)),
        }
        if let Event::Attempt(_) | Event::Resolution(_) | Event::Carried(_) = entry.event {
            // Nobody takes it only when every thread has failed, which is told when they end.
            let _ = jobs.send(Job {
                line,
                offset: begins,
                doubted: doubted.take(&entry.event),
                event: entry.event,
            });
        }
    };
    let mut log = plan.session.log();
    match log.read_on_watched(onlooker.watch, &mut take) {
        // What was looked at until then is told.
        Ok(()) | Err(SessionError::Stopped) => {}
        Err(error) => audited.findings.push(found(error)?),
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    let whole = audited.checked.lines == end;
    if let (Some(head), None, true) = (plan.noted, audited.noted, whole) {
        let what = format!(
            "no line has the head {head}, which was noted earlier: lines were cut off or written \
             anew since"
        );
        audited
            .findings
            .push(Finding::new(Kind::Head, Place::default(), what));
    }
    Ok(audited)
}

fn unsealed(plan: Plan<'_>, entry: &Entry<'_>, line: u64) -> Result<Option<Finding>, SessionError> {
    let court = plan.session.config().policy;
    let Some(what) = broken(&court, &entry.event, entry.line.prev()) else {
        return Ok(None);
    };
    let quest = match &entry.event {
        Event::Settled(settlement) => match settlement.quests.as_slice() {
            [one] => Some(one.quest),
            _ => None,
        },
        Event::Disputed(dispute) => Some(dispute.quest),
        _ => None,
    };
    let place = place_of(plan.board, quest, line)?;
    Ok(Some(Finding::new(Kind::Seal, place, what)))
}

fn place_of(board: &Projection, quest: Option<QuestId>, line: u64) -> Result<Place, SessionError> {
    let record = match quest {
        Some(quest) => board.get(quest)?,
        None => None,
    };
    Ok(match record {
        Some(record) => Place::of_quest(line, &record),
        None => Place::of_line(line),
    })
}

fn changed_copy(
    dir: &Path,
    source: &SourceRecord,
    forgetting: &Forgetting,
    line: u64,
) -> Option<Finding> {
    let expected = forgetting.copy_of(source.sha256);
    let path = dir.join(&source.copy);
    let digest = files::open(&path).and_then(|mut file| Digest::of_reader(&mut file));
    let what = match digest {
        Ok(digest) if digest == expected => return None,
        Ok(digest) if forgetting.copy_of(digest) == expected => format!(
            "{} still holds what was to be forgotten: run `comail forget` again",
            path.display()
        ),
        Ok(_) => format!("{} is not the list that was scanned", path.display()),
        Err(error) => format!("{} cannot be read: {error}", path.display()),
    };
    Some(Finding::new(Kind::Source, Place::of_line(line), what))
}

impl Audited {
    pub(super) fn add(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.forgotten.extend(other.forgotten);
        self.checked.judgements += other.checked.judgements;
        self.checked.passes += other.checked.passes;
        self.proven.extend(other.proven);
        self.rested.extend(other.rested);
    }
}

/// What is wrong with the seal under `event`, which stands after the line with the hash `after`;
/// nothing where the event needs none, or has it.
#[must_use]
pub fn broken(court: &DecisionPolicy, event: &Event, after: Digest) -> Option<String> {
    let what = match event {
        Event::Settled(settlement) => {
            let (by, decision) = (&settlement.by, settlement.decision.name());
            let why = why(court, settlement.as_ref(), after)?;
            format!("a decision ({decision} by {by:?}) {why}")
        }
        Event::Disputed(dispute) => {
            let why = why(court, dispute.as_ref(), after)?;
            format!("a dispute (by {:?}) {why}", dispute.by)
        }
        Event::Forgotten(forgotten) => {
            let why = why(court, forgotten.as_ref(), after)?;
            format!("a decision to forget (by {:?}) {why}", forgotten.by)
        }
        _ => return None,
    };
    Some(format!("{what}: nobody made it, and it changed nothing"))
}

fn why<T: Decided>(court: &DecisionPolicy, decided: &T, after: Digest) -> Option<&'static str> {
    if court.admits(decided, after) {
        return None;
    }
    Some(match decided.seal() {
        None => "without the operator's seal",
        Some(Seal { after: there, .. }) if *there != after => {
            "under a seal that was made for another place in the ledger"
        }
        Some(_) => "under a seal that the operator's key did not make for it",
    })
}

/// What `error` says of the session, where that is a finding; the error itself where it is none.
pub fn found(error: SessionError) -> Result<Finding, SessionError> {
    match &error {
        SessionError::Damaged { path, line, why } => {
            let place = place(path, *line);
            Ok(Finding::new(Kind::Ledger, place, why.to_string()))
        }
        SessionError::ManifestChanged { .. } | SessionError::Manifest { .. } => {
            let place = Place::of_line(1);
            Ok(Finding::new(Kind::Settings, place, error.to_string()))
        }
        _ => Err(error),
    }
}

/// A line of the ledger at `path` and its quest, as far as the line still tells.
fn place(path: &Path, line: u64) -> Place {
    let before = usize::try_from(line).ok().and_then(|n| n.checked_sub(1));
    let said = lines(path)
        .zip(before)
        .and_then(|(mut lines, n)| lines.nth(n));
    let quest = said.and_then(|said| quest_of(&said));
    Place {
        line: Some(line),
        quest,
        key: quest.and_then(|quest| key_of(path, quest)),
    }
}

const MAX_BYTES: u64 = 64 * 1024 * 1024;

fn lines(path: &Path) -> Option<impl Iterator<Item = Vec<u8>>> {
    let mut reader = BufReader::new(File::open(path).ok()?);
    Some(std::iter::from_fn(move || {
        let mut bytes = Vec::new();
        let mut limited = reader.by_ref().take(MAX_BYTES);
        let read = limited.read_until(b'\n', &mut bytes).ok()?;
        (read > 0).then_some(bytes)
    }))
}

/// The quest that a line is about, be it damaged or not.
fn quest_of(said: &[u8]) -> Option<QuestId> {
    let said: Value = serde_json::from_slice(said).ok()?;
    let body = said.get("body")?;
    let carried = body.get("attempt").and_then(|attempt| attempt.get("quest"));
    let named = [body.get("id"), body.get("quest"), carried];
    let mut named = named.into_iter().flatten();
    named.find_map(|id| serde_json::from_value(id.clone()).ok())
}

fn key_of(path: &Path, quest: QuestId) -> Option<Key> {
    #[derive(serde::Deserialize)]
    struct Line {
        r#type: String,
        body: Value,
    }

    lines(path)?.find_map(|said| {
        let line: Line = serde_json::from_slice(&said).ok()?;
        let made: Quest = serde_json::from_value(line.body).ok()?;
        (line.r#type == "quest" && made.id == quest).then_some(made.key)
    })
}

/// The fields of `judged` that do not follow from its judgement, its evidence and its quest.
///
/// `repeats`: the number of the earlier attempt that sent the same, if the world was heard on it.
#[must_use]
pub fn misfits(
    gate: &dyn Gate,
    quest: &Quest,
    judged: &Judged<'_>,
    evidence: &Evidence,
    repeats: Option<u32>,
) -> Vec<String> {
    let Ok(judgement) = serde_json::from_str::<Judgement>(judged.judgement.get()) else {
        return vec![String::from("its judgement cannot be read")];
    };
    let sums_up = Judgement::from_facts(judgement.facts.clone(), Vec::new()).verdict;
    let by_house = by_house(&judgement, judged.submission, repeats);
    let other = by_house
        .as_ref()
        .is_some_and(|(expected, _)| *expected != judgement);
    let made = match by_house {
        Some((_, grounds)) => RecordedJudgement::by_house(judgement, grounds),
        None => RecordedJudgement::by_gate(gate, judgement, without_bodies(evidence)),
    };
    let verdict = made.judgement.verdict;
    let holds = if judged.proves() {
        let submission = judged.submission;
        marks(gate, Case { quest, submission })
    } else {
        Vec::new()
    };
    let may_revise = is_sent_back(gate.revisions(), &made.judgement, 0);
    let digest = judged.submission.digest();
    let fields = [
        ("verdict", verdict == judged.verdict && verdict == sums_up),
        ("rules", made.fired() == judged.rules),
        ("grounds", made.grounds == judged.grounds),
        ("holds", holds == judged.holds),
        ("revision", !judged.revision || may_revise),
        ("submitted", judged.submitted.is_none_or(|it| it == digest)),
        (
            "anchored",
            judged.anchored.is_none_or(|it| it == anchored(quest)),
        ),
    ];
    let wrong = fields.into_iter().filter(|(_, fits)| !fits);
    let wrong = wrong.map(|(name, _)| format!("its {name:?} does not follow from its judgement"));
    let house = "it says nothing or repeats an earlier submission, but was judged as if it did not";
    let house = other.then(|| String::from(house));
    house.into_iter().chain(wrong).collect()
}

/// The judgement on a submission that no gate is asked about.
///
/// What held a forgotten address cannot be known from what is left of it: the house says so, of
/// a submission from which something was blotted out, and that is a FAIL.
fn by_house(
    judgement: &Judgement,
    submission: &Submission,
    repeats: Option<u32>,
) -> Option<(Judgement, VerdictBasis)> {
    let forgotten = house::forgotten_address();
    if is_masked(submission) && *judgement == forgotten {
        return Some((forgotten, VerdictBasis::Submission));
    }
    match submission {
        Submission::None(why) => Some((house::no_result(why), VerdictBasis::NoResult)),
        Submission::Fields(_) => {
            let earlier = repeats?;
            Some((house::repeated_submission(earlier), VerdictBasis::Repeat))
        }
    }
}

/// A recording of which nobody will ask for the bodies.
fn without_bodies(evidence: &Evidence) -> Recording {
    Recording {
        evidence: evidence.clone(),
        ..Recording::default()
    }
}

#[derive(Debug)]
pub(super) struct ForgottenBefore {
    court: DecisionPolicy,
    suppressed: Vec<Suppressed>,
}

impl ForgottenBefore {
    /// None as yet.
    pub(super) fn new(court: DecisionPolicy) -> Self {
        Self {
            court,
            suppressed: Vec::new(),
        }
    }

    pub(super) fn take(
        &mut self,
        board: &Projection,
        entry: &Entry<'_>,
        line: u64,
    ) -> Result<Option<Finding>, SessionError> {
        match &entry.event {
            Event::Forgotten(forgotten) => {
                if self.court.admits(forgotten.as_ref(), entry.line.prev()) {
                    self.suppressed.push(forgotten.address);
                }
                Ok(None)
            }
            Event::Attempt(attempt) if names(&self.suppressed, &attempt.submission) => {
                let place = place_of(board, Some(attempt.quest), line)?;
                let what = "it submits an address that was forgotten before, and that the rule \
                            forgotten-address fails: run `comail forget` again";
                Ok(Some(Finding::new(Kind::Forgotten, place, what)))
            }
            _ => Ok(None),
        }
    }
}

/// A note for each line that is not judged again, for something that it rests on is gone.
#[must_use]
pub fn notes(places: &[Place]) -> Vec<String> {
    let note = |place: &Place| {
        let line = place.line.unwrap_or_default();
        let quest = place
            .quest
            .map_or(String::new(), |id| format!(", quest {id}"));
        format!(
            "line {line}{quest}: forgotten: an address was blotted out, and it is not judged again"
        )
    };
    places.iter().map(note).collect()
}

/// A note where bodies lie in `store` that were to be forgotten.
///
/// Forgetting was cut off, or the same page was seen again for another quest.
pub fn left_over(
    store: &EvidenceStore,
    forgetting: &Forgetting,
) -> Result<Option<String>, SessionError> {
    let mut left = 0;
    for body in forgetting.bodies() {
        left += u32::from(store.load(body)?.is_some());
    }
    let note =
        "pages in evidence/ hold an address that was to be forgotten: run `comail forget` again";
    Ok((left > 0).then(|| format!("{left} {note}")))
}

/// What the ledger had passed for other quests before one of its lines.
#[derive(Debug, Clone, Copy)]
pub struct HeldBefore<'a> {
    pub board: &'a Projection,
    pub except: QuestId,
    pub offset: u64,
}

impl UniquenessIndex for HeldBefore<'_> {
    /// The first holder of all: who takes something never gives it back, so whoever held it
    /// before the line holds it at the ledger's end.
    fn holder(&self, taken: &UniqueValue) -> Option<Key> {
        // A projection that cannot be read holds nothing, which the audit then tells.
        let holder = self.board.holder(&mark(taken)).ok()??;
        let before = holder.proof()?.offset < self.offset;
        (holder.id != self.except && before).then(|| holder.key.clone())
    }
}

/// The answers in `evidence` that `ledger` contradicts, one sentence each.
#[must_use]
pub fn wrong_answers(evidence: &Evidence, ledger: &dyn UniquenessIndex) -> Vec<String> {
    let who =
        |key: Option<&Key>| key.map_or("nobody".to_owned(), |key| format!("{:?}", key.as_str()));
    let mut wrong = Vec::new();
    for exchange in &evidence.exchanges {
        let Exchange::Session {
            taken,
            holder: told,
        } = exchange
        else {
            continue;
        };
        let holder = ledger.holder(taken);
        if holder == *told {
            continue;
        }
        let what = match taken {
            UniqueValue::Mailbox(mailbox) => mailbox.to_string(),
            UniqueValue::Domain(domain) => format!("the addresses of {domain}"),
            UniqueValue::Value { field, text } => format!("{text:?} as {field}"),
        };
        wrong.push(format!(
            "the gate was told that {} had passed with {what}, and by the ledger {} had",
            who(told.as_ref()),
            who(holder.as_ref())
        ));
    }
    wrong
}

/// In what the judge of a session differs from this program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct OtherJudge {
    /// The version that made the session, where it is not this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The lists that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<OtherList>,
}

/// A built-in list that is not the one that the session was judged by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OtherList {
    /// Its name.
    pub name: String,
    /// The digest that the session froze; none where it knew no such list.
    pub session: Option<Digest>,
    /// The digest of this program's; none where it has no such list.
    pub here: Option<Digest>,
}

impl OtherJudge {
    #[must_use]
    pub fn of(manifest: &Manifest) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        Self {
            program: (manifest.comail != version).then(|| manifest.comail.clone()),
            lists: other_lists(&manifest.kind.lists, &email_record().lists),
        }
    }

    /// Whether it does in nothing.
    #[must_use]
    pub fn is_same(&self) -> bool {
        *self == Self::default()
    }
}

#[must_use]
pub fn other_lists(
    session: &BTreeMap<String, Digest>,
    here: &BTreeMap<String, Digest>,
) -> Vec<OtherList> {
    let gone = session.keys().filter(|name| !here.contains_key(*name));
    let mut names: Vec<&String> = here.keys().chain(gone).collect();
    names.sort();
    let lists = names.into_iter().map(|name| OtherList {
        name: name.clone(),
        session: session.get(name).copied(),
        here: here.get(name).copied(),
    });
    lists.filter(|list| list.session != list.here).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::QuestId;
    use crate::session::{Decision, SettledQuest, Settlement, SigningKey};
    use crate::world::mailbox::Mailbox;

    fn settlement() -> Settlement {
        Settlement {
            quests: vec![SettledQuest {
                quest: QuestId::FIRST,
                attempt: 1,
            }],
            decision: Decision::Accepted,
            by: "kim".to_owned(),
            note: "called".to_owned(),
            seal: None,
        }
    }

    #[test]
    fn each_way_of_forging_is_named() {
        let key = SigningKey::read(&[7; 32]).unwrap();
        let court = DecisionPolicy {
            session: Digest::of(b"session"),
            key: Some(key.public()),
        };
        let here = Digest::of(b"line 7");
        let found = |settlement| broken(&court, &Event::Settled(Box::new(settlement)), here);
        let sealed = |after| court.seal(settlement(), after, &key).unwrap();
        assert_eq!(found(sealed(here)), None);
        let changed = Settlement {
            note: "did not".to_owned(),
            ..sealed(here)
        };
        for (forged, word) in [
            (settlement(), "without the operator's seal"),
            (sealed(Digest::of(b"line 3")), "another place"),
            (changed, "did not make for it"),
        ] {
            let what = found(forged).unwrap();
            assert!(what.contains(word), "{what}");
            assert!(what.contains(r#"accepted by "kim""#), "{what}");
        }
        let keyless = DecisionPolicy { key: None, ..court };
        let event = Event::Settled(Box::new(settlement()));
        assert_eq!(broken(&keyless, &event, here), None);
    }

    const LINES: &str = "not json\n\
        {\"type\":\"quest\",\"body\":{\"id\":1,\"key\":\"Acme\",\"rows\":[1]}}\n\
        {\"type\":\"attempt\",\"body\":{\"quest\":1}}\n\
        {\"type\":\"carried\",\"body\":{\"attempt\":{\"quest\":1}}}\n\
        {\"type\":\"claim\",\"body\":{\"quest\":9}}\n";

    #[test]
    fn a_line_that_cannot_be_believed_still_names_its_quest() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), LINES).unwrap();
        let named = |line| {
            let place = place(file.path(), line);
            (
                place.quest.map(|quest| quest.to_string()),
                place.key.map(|key| key.as_str().to_owned()),
            )
        };
        let acme = (Some("1".to_owned()), Some("Acme".to_owned()));
        for line in [2, 3, 4] {
            assert_eq!(named(line), acme, "{line}");
        }
        assert_eq!(named(5), (Some("9".to_owned()), None));
        for line in [0, 1, 6] {
            assert_eq!(named(line), (None, None), "{line}");
        }
    }

    struct Acme;

    impl UniquenessIndex for Acme {
        fn holder(&self, taken: &UniqueValue) -> Option<Key> {
            matches!(taken, UniqueValue::Mailbox(_)).then(|| Key::new("Acme").unwrap())
        }
    }

    fn asked(holder: Option<&str>) -> Evidence {
        let mailbox = Mailbox::parse("info@acme.co.kr").unwrap();
        let domain = mailbox.domain().registrable().unwrap();
        let answer = |taken, holder: Option<&str>| {
            let holder = holder.map(|key| Key::new(key).unwrap());
            Exchange::Session { taken, holder }
        };
        Evidence {
            exchanges: vec![
                answer(UniqueValue::Mailbox(mailbox), holder),
                answer(UniqueValue::Domain(domain), None),
            ],
        }
    }

    #[test]
    fn an_answer_that_the_ledger_gives_is_right() {
        assert_eq!(wrong_answers(&asked(Some("Acme")), &Acme), [""; 0]);
    }

    #[test]
    fn a_holder_that_was_hidden_or_made_up_is_named() {
        for told in [None, Some("Bolt")] {
            let wrong = wrong_answers(&asked(told), &Acme);
            let [wrong] = wrong.as_slice() else {
                panic!("{wrong:?}");
            };
            assert!(wrong.contains("info@acme.co.kr"), "{wrong}");
            assert!(wrong.contains("by the ledger \"Acme\" had"), "{wrong}");
        }
    }

    fn digests(lists: &[(&str, &str)]) -> BTreeMap<String, Digest> {
        let lists = lists
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Digest::of(text.as_bytes())));
        lists.collect()
    }

    #[test]
    fn what_is_new_gone_or_changed_differs() {
        let session = digests(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let here = digests(&[("b", "1"), ("c", "2"), ("d", "1")]);
        let other = other_lists(&session, &here);
        let names: Vec<_> = other.iter().map(|list| list.name.as_str()).collect();
        assert_eq!(names, ["a", "c", "d"]);
        assert!(other[0].here.is_none() && other[2].session.is_none());
        assert_eq!(other_lists(&session, &session), []);
    }
}
