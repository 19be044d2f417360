//! Checks that everything in a session's ledger follows from its evidence.
//!
//! [`audit_ledger`] reads the ledger in order and repeats judgements on all cores; `judgement` examines
//! one of them. [`ask_world`] judges again with the current world, to find what has drifted.

mod findings;
mod judgement;

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead as _;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use judgement::{DoubtedBefore, Examiner, JudgementLine};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::base::{Digest, files};
use crate::gate::{Fact, Judgement};
use crate::judge::error::JudgeError;
use crate::judge::forgotten::names;
use crate::judge::host_queue::{HostQueue, Job, JudgedJob, NetworkEvidence, Next, STACK};
use crate::judge::kind::JudgeWorld;
use crate::judge::quest_file::email_record;
use crate::judge::recheck::is_unanswered;
use crate::judge::replay::{Replayer, resolved};
use crate::quest::{Quest, QuestId, Verdict};
use crate::session::{
    Attempt, DecisionPolicy, Entry, Event, EvidenceStore, Forgetting, Manifest, Projection,
    Session, SessionError, SourceRecord, Suppressed, Watch,
};
use crate::world::evidence::Evidence;

pub use findings::{
    Audited, Checked, Finding, FindingKind, NotedHead, Place, Proven, SeenFile, edits, notes,
    programs,
};

#[derive(Clone, Copy)]
pub struct Plan<'a> {
    pub session: &'a Session,
    pub projection: &'a Projection,
    /// A head that was noted earlier, which the chain must contain.
    pub noted: Option<Digest>,
    /// Whether this program and its lists made the session.
    pub same_judge: bool,
}

const WAITING: usize = 8;

/// Examines every line of the ledger.
///
/// It needs memory for the projection and a few lines with their pages, whatever the length.
pub fn audit_ledger(plan: Plan<'_>, watch: &dyn Watch) -> Result<Audited, JudgeError> {
    let (manifest, evidence) = (plan.session.manifest(), plan.session.evidence());
    // Report unreadable settings here rather than in each thread.
    Replayer::new(manifest, evidence.clone())?;
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let (lines, waiting) = sync_channel(threads * WAITING);
    let waiting = Arc::new(Mutex::new(waiting));
    let mut audited = thread::scope(|scope| {
        let mut workers = Vec::with_capacity(threads);
        for _ in 0..threads {
            let (evidence, waiting) = (evidence.clone(), Arc::clone(&waiting));
            let reader = plan.session.reader()?;
            let examine = move || {
                let mut examiner = Examiner {
                    projection: plan.projection,
                    reader,
                    // Gates cannot be shared between threads.
                    replayer: Replayer::new(manifest, evidence)?,
                    same_judge: plan.same_judge,
                };
                examiner.work(&waiting)
            };
            let thread = thread::Builder::new().stack_size(STACK);
            let spawned = thread.spawn_scoped(scope, examine);
            workers.push(spawned.map_err(JudgeError::Threads)?);
        }
        // Only the workers hold it now, so feeding ends when none of them is left.
        drop(waiting);
        let mut audited = feed(plan, lines, watch)?;
        for worker in workers {
            match worker.join() {
                Ok(examined) => audited.add(examined?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok::<_, JudgeError>(audited)
    })?;
    audited.sort();
    Ok(audited)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the threads end when the sender is dropped"
)]
fn feed(
    plan: Plan<'_>,
    lines: SyncSender<JudgementLine>,
    watch: &dyn Watch,
) -> Result<Audited, JudgeError> {
    let mut audited = Audited::default();
    audited.checked.quests = plan.projection.count();
    let end = plan.projection.tip().length;
    let mut policy = plan.session.config().policy;
    let mut offset = 0;
    let mut suppressed: Vec<Suppressed> = Vec::new();
    let mut doubted = DoubtedBefore::default();
    let place = |line, quest: Option<QuestId>| -> Result<Place, SessionError> {
        let record = quest.map(|quest| plan.projection.get(quest)).transpose()?;
        Ok(Place::of(line, record.flatten().as_ref()))
    };
    let mut take = |entry: Entry<'_>| -> Result<(), SessionError> {
        let begins = offset;
        offset += entry.line.text().len() as u64 + 1;
        if audited.checked.lines == end || watch.stops() {
            return Ok(());
        }
        audited.checked.lines += 1;
        let line = audited.checked.lines;
        if audited.noted.is_none() && plan.noted == Some(entry.line.tip().head) {
            audited.noted = Some(NotedHead {
                line,
                since: end - line,
            });
        }
        let source = match &entry.event {
            Event::Session(_) => Some(&plan.session.manifest().source),
            Event::Extended(extended) => Some(&extended.source),
            _ => None,
        };
        let forgetting = &plan.projection.totals().forgetting;
        let copy = source.and_then(|it| changed_copy(plan.session.dir(), it, forgetting, line));
        audited.findings.extend(copy);
        if let Some((quest, what)) = unsigned(&policy, &entry.event, entry.line.prev()) {
            let finding = Finding::new(FindingKind::Seal, place(line, quest)?, what);
            audited.findings.push(finding);
        }
        match &entry.event {
            Event::Amended(amended) => policy.amend(amended, entry.line.prev()),
            Event::Forgotten(forgotten) if policy.admits(forgotten.as_ref(), entry.line.prev()) => {
                suppressed.push(forgotten.address);
            }
            Event::Attempt(attempt) if names(&suppressed, &attempt.submission) => {
                let place = place(line, Some(attempt.quest))?;
                let what = "it submits an address that was forgotten before, and that the rule \
                            forgotten-address fails: run `comail forget` again";
                let finding = Finding::new(FindingKind::Forgotten, place, what);
                audited.findings.push(finding);
            }
            _ => {}
        }
        if let Event::Attempt(_) | Event::Resolution(_) | Event::Carried(_) | Event::Regressed(_) =
            entry.event
        {
            // Sending fails only if every thread has failed, which joining reports.
            let _ = lines.send(JudgementLine {
                line,
                offset: begins,
                doubted: doubted.take(&entry.event),
                event: entry.event,
            });
        }
        Ok(())
    };
    let mut log = plan.session.log();
    let mut failed = None;
    let mut each = |entry: Entry<'_>| match take(entry) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    };
    match log.read_while(watch, &mut each) {
        // Report what was examined until then.
        Ok(()) | Err(SessionError::Stopped) => {}
        Err(error) => audited.findings.push(found(error)?),
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    let whole = audited.checked.lines == end;
    if let (Some(head), None, true) = (plan.noted, audited.noted, whole) {
        let what = format!(
            "no line has the head {head}, which was noted earlier: lines were removed or rewritten \
             since"
        );
        let finding = Finding::new(FindingKind::Head, Place::default(), what);
        audited.findings.push(finding);
    }
    Ok(audited)
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
            "{} still contains an address that was forgotten: run `comail forget` again",
            path.display()
        ),
        Ok(_) => format!("{} is not the list that was scanned", path.display()),
        Err(error) => format!("{} cannot be read: {error}", path.display()),
    };
    Some(Finding::new(
        FindingKind::Source,
        Place::of(line, None),
        what,
    ))
}

/// What is wrong with the signature of a person's decision, and its quest; `None` if the event has or
/// needs none. `after` is the hash of the line before it.
fn unsigned(
    policy: &DecisionPolicy,
    event: &Event,
    after: Digest,
) -> Option<(Option<QuestId>, String)> {
    let decided = event
        .decision()
        .filter(|decided| !policy.admits(*decided, after))?;
    let (quest, what) = match event {
        Event::Settled(settlement) => {
            let (by, decision) = (&settlement.by, settlement.decision.name());
            let quest = match settlement.quests.as_slice() {
                [one] => Some(one.quest),
                _ => None,
            };
            let what = format!("a decision ({decision} by {by:?})");
            (quest, what)
        }
        Event::Disputed(dispute) => {
            let what = format!("a dispute (by {:?})", dispute.by);
            (Some(dispute.quest), what)
        }
        Event::Reopened(reopened) => {
            let quest = match reopened.quests.as_slice() {
                [one] => Some(one.quest),
                _ => None,
            };
            (
                quest,
                format!("a decision to reopen (by {:?})", reopened.by),
            )
        }
        Event::Sampled(sampled) => (None, format!("a draw of a sample (by {:?})", sampled.by)),
        Event::Amended(amended) => {
            let what = format!("an addition to the settings (by {:?})", amended.by);
            (None, what)
        }
        Event::Forgotten(forgotten) => (
            None,
            format!("a decision to forget (by {:?})", forgotten.by),
        ),
        _ => return None,
    };
    let why = match decided.seal() {
        None => "without the operator's signature",
        Some(seal) if seal.after != after => {
            "with a signature that was made for another place in the ledger"
        }
        Some(_) => "with a signature that the operator's key did not make for it",
    };
    let what = format!("{what} {why}: it does not count, and it changed nothing");
    Some((quest, what))
}

/// The finding that `error` is about the session, or the error itself if it is not one.
pub fn found(error: SessionError) -> Result<Finding, SessionError> {
    match &error {
        SessionError::Damaged { path, line, why } => {
            let place = place_of_damage(path, *line);
            Ok(Finding::new(FindingKind::Ledger, place, why.to_string()))
        }
        SessionError::MirrorDiffers { .. } => {
            let place = Place::of(1, None);
            Ok(Finding::new(FindingKind::Ledger, place, error.to_string()))
        }
        SessionError::ManifestChanged(_) | SessionError::Manifest { .. } => {
            let place = Place::of(1, None);
            let what = error.to_string();
            Ok(Finding::new(FindingKind::Settings, place, what))
        }
        _ => Err(error),
    }
}

/// The damaged line of the ledger at `path`, and its quest if it is still readable.
fn place_of_damage(path: &Path, number: u64) -> Place {
    let mut place = Place::of(number, None);
    // This is not verified, and only helps a person to find the place.
    let lines = || {
        let ledger = files::open(path).map(std::io::BufReader::new).ok();
        let lines = ledger.into_iter().flat_map(|ledger| ledger.split(b'\n'));
        lines.map_while(Result::ok)
    };
    let before = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
    let damaged = before.and_then(|before| lines().nth(before));
    let body = |line: Vec<u8>| {
        let mut line: Value = serde_json::from_slice(&line).ok()?;
        Some(line.get_mut("body")?.take())
    };
    let Some(body_of_damaged) = damaged.and_then(body) else {
        return place;
    };
    place.quest = ["/id", "/quest", "/attempt/quest"].iter().find_map(|at| {
        let id = body_of_damaged.pointer(at)?;
        serde_json::from_value(id.clone()).ok()
    });
    place.key = lines().find_map(|line| {
        let made: Quest = serde_json::from_value(body(line)?).ok()?;
        (Some(made.id) == place.quest).then_some(made.key)
    });
    place
}

/// A note if `store` still has bodies that should have been forgotten: forgetting was interrupted, or
/// the same page was seen again for another quest.
pub fn left_over(
    store: &EvidenceStore,
    forgetting: &Forgetting,
) -> Result<Option<String>, SessionError> {
    let mut left = 0;
    for body in forgetting.bodies() {
        left += u32::from(store.load(body)?.is_some());
    }
    let note =
        "pages in evidence/ contain an address that was forgotten: run `comail forget` again";
    Ok((left > 0).then(|| format!("{left} {note}")))
}

/// How the judge of a session differs from this program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct JudgeDifference {
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
    pub name: String,
    /// The digest that the session froze; none where it knew no such list.
    pub session: Option<Digest>,
    /// The digest of this program's; none where it has no such list.
    pub here: Option<Digest>,
}

impl JudgeDifference {
    pub fn of(manifest: &Manifest) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        Self {
            program: (manifest.comail != version).then(|| manifest.comail.clone()),
            lists: other_lists(&manifest.kind.lists, &email_record().lists),
        }
    }

    pub fn is_same(&self) -> bool {
        *self == Self::default()
    }
}

fn other_lists(
    session: &BTreeMap<String, Digest>,
    here: &BTreeMap<String, Digest>,
) -> Vec<OtherList> {
    let names: BTreeSet<&String> = session.keys().chain(here.keys()).collect();
    let lists = names.into_iter().map(|name| OtherList {
        name: name.clone(),
        session: session.get(name).copied(),
        here: here.get(name).copied(),
    });
    lists.filter(|list| list.session != list.here).collect()
}

/// What the world says now of what was proven.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Live {
    pub asked: usize,
    /// Those with a lookup that was not answered.
    pub unanswered: Vec<Silent>,
    /// What would not pass now, in the order of the lines.
    #[serde(skip)]
    pub drift: Vec<Finding>,
    /// The PASSes that fail now, with their attempts.
    #[serde(skip)]
    pub lost: Vec<LostPass>,
    /// Which could not be judged again, and why.
    #[serde(skip)]
    pub failed: Vec<(QuestId, String)>,
    /// How many were not judged again, since it was stopped.
    #[serde(skip_serializing_if = "is_zero")]
    pub left: usize,
}

/// A PASS that fails now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostPass {
    pub quest: QuestId,
    pub attempt: u32,
    pub judgement: Judgement,
}

/// What is asked when a PASS is judged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// The whole world, and the reviewers.
    World,
    /// The tree, commands and services. What the network said comes from the evidence, and no
    /// reviewer is asked.
    Machine,
}

/// A proven quest about which the world does not say enough now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Silent {
    /// Where it was proven.
    #[serde(flatten)]
    pub place: Place,
    /// What was not answered.
    pub facts: Vec<Fact>,
}

const BATCH: usize = 4096;

/// Judges every quest of `proven` again, many hosts in parallel, each within its rate limit.
///
/// PASSes of other quests are ignored: the audit has compared them with the ledger, and the quest's own
/// PASS holds its address.
///
/// `judged` is called after each judgement, and `stop` tells whether to end early.
pub fn ask_world(
    session: &Session,
    projection: &Projection,
    proven: &[Proven],
    world: &Arc<JudgeWorld>,
    asks: Asks,
    judged: &dyn Fn(),
    stop: &dyn Fn() -> bool,
) -> Result<Live, JudgeError> {
    let mut reader = session.reader()?;
    let mut live = Live {
        left: proven.len(),
        ..Live::default()
    };
    'batches: for batch in proven.chunks(BATCH) {
        let mut jobs = Vec::with_capacity(batch.len());
        let mut attempts = BTreeMap::new();
        for one in batch {
            let Some(record) = projection.get(one.quest)? else {
                continue;
            };
            let Some(attempt) = reader.last_attempt(&record)? else {
                continue;
            };
            let Attempt {
                submission,
                evidence,
                ..
            } = match reader.resolution(&record)? {
                Some(resolution) => resolved(*attempt.value, &resolution.value),
                None => *attempt.value,
            };
            let offline = match asks {
                Asks::World => None,
                Asks::Machine => Some(NetworkEvidence {
                    evidence: serde_json::from_str::<Evidence>(evidence.get())?.of_network(),
                    store: session.evidence(),
                }),
            };
            attempts.insert(record.id, record.attempts);
            jobs.push(Job {
                quest: reader.quest(&record)?,
                submission,
                offline,
            });
        }
        let lines: BTreeMap<QuestId, u64> =
            batch.iter().rev().map(|it| (it.quest, it.line)).collect();
        let mut queue = HostQueue::start(jobs, session.manifest(), Arc::clone(world))?;
        loop {
            match queue.next(stop) {
                Ok(Next::Judged(one)) => {
                    judged();
                    let quest = one.job.quest.id;
                    let attempt = attempts.get(&quest).copied().unwrap_or_default();
                    live.take(lines.get(&quest).copied(), attempt, *one);
                }
                Ok(Next::Stopped) => break 'batches,
                Ok(Next::Done) => break,
                Err(error @ JudgeError::OfQuest { quest, .. }) => {
                    judged();
                    live.left = live.left.saturating_sub(1);
                    live.failed.push((quest, error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
    }
    live.drift.sort_by_key(|finding| finding.place.line);
    live.unanswered.sort_by_key(|silent| silent.place.line);
    live.failed.sort();
    Ok(live)
}

impl Live {
    /// Whether everything was judged again, and is as it was.
    pub fn all_hold(&self) -> bool {
        let is_whole = self.left == 0 && self.failed.is_empty();
        is_whole && self.drift.is_empty() && self.unanswered.is_empty()
    }

    fn take(&mut self, line: Option<u64>, attempt: u32, judged: JudgedJob) {
        self.asked += 1;
        self.left = self.left.saturating_sub(1);
        let judgement = judged.judgement;
        if judgement.verdict == Verdict::Pass {
            return;
        }
        let place = Place {
            line,
            quest: Some(judged.job.quest.id),
            key: Some(judged.job.quest.key),
        };
        // An unanswered lookup does not count as drift, because the world may still agree.
        if is_unanswered(&judgement, &judged.recording.evidence) {
            let facts = judgement.facts;
            self.unanswered.push(Silent { place, facts });
            return;
        }
        if judgement.verdict == Verdict::Fail {
            self.lost.push(LostPass {
                quest: judged.job.quest.id,
                attempt,
                judgement: judgement.clone(),
            });
        }
        let what = format!(
            "the gate says {} now that the world was asked again",
            judgement.verdict
        );
        self.drift.push(Finding {
            facts: judgement.facts,
            ..Finding::new(FindingKind::Drift, place, what)
        });
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands on a reference"
)]
fn is_zero(left: &usize) -> bool {
    *left == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Cause, Judgement, Level, RuleId};
    use crate::quest::{Key, QuestId, Submission};
    use crate::session::{Decision, SettledQuest, Settlement, SigningKey};
    use crate::world::evidence::Recording;

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
    fn names_each_kind_of_forgery() {
        let key = SigningKey::read(&[7; 32]).unwrap();
        let policy = DecisionPolicy {
            session: Digest::of(b"session"),
            key: Some(key.public()),
        };
        let here = Digest::of(b"line 7");
        let found = |settlement| {
            unsigned(&policy, &Event::Settled(Box::new(settlement)), here).map(|(_, what)| what)
        };
        let sealed = |after| policy.seal(settlement(), after, &key).unwrap();
        assert_eq!(found(sealed(here)), None);
        let changed = Settlement {
            note: "did not".to_owned(),
            ..sealed(here)
        };
        for (forged, word) in [
            (settlement(), "without the operator's signature"),
            (sealed(Digest::of(b"line 3")), "another place"),
            (changed, "did not make for it"),
        ] {
            let what = found(forged).unwrap();
            assert!(what.contains(word), "{what}");
            assert!(what.contains(r#"accepted by "kim""#), "{what}");
        }
        let keyless = DecisionPolicy {
            key: None,
            ..policy
        };
        let event = Event::Settled(Box::new(settlement()));
        assert_eq!(unsigned(&keyless, &event, here), None);
    }

    fn digests(lists: &[(&str, &str)]) -> BTreeMap<String, Digest> {
        let lists = lists
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Digest::of(text.as_bytes())));
        lists.collect()
    }

    #[test]
    fn reports_added_removed_and_changed_lists() {
        let session = digests(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let here = digests(&[("b", "1"), ("c", "2"), ("d", "1")]);
        let other = other_lists(&session, &here);
        let names: Vec<_> = other.iter().map(|list| list.name.as_str()).collect();
        assert_eq!(names, ["a", "c", "d"]);
        assert!(other[0].here.is_none() && other[2].session.is_none());
        assert_eq!(other_lists(&session, &session), []);
    }

    /// How many drifted, and how many are unanswered, of one judgement by these rules.
    fn counts(rules: &[(&'static str, Level)]) -> (usize, usize) {
        let fact = |(rule, level): &(&'static str, Level)| Fact {
            cause: match *rule {
                "mx-unanswered" => Cause::Unanswered,
                _ => Cause::Ambiguous,
            },
            level: *level,
            rule: RuleId::known(rule),
            ..Fact::wrong("", "")
        };
        let facts = rules.iter().map(fact).collect();
        let silence = r#"{"unanswered":{"silence":"timeout","detail":""}}"#;
        let asked = rules.iter().any(|(rule, _)| rule.ends_with("-unanswered"));
        let exchange = format!(r#"{{"get":{{"url":"https://acme.com/","answer":{silence}}}}}"#);
        let exchanges = if asked { exchange } else { String::new() };
        let evidence = format!(r#"{{"exchanges":[{exchanges}]}}"#);
        let mut live = Live::default();
        live.take(
            None,
            1,
            JudgedJob {
                job: Job {
                    quest: Quest {
                        rows: vec![1],
                        ..Quest::new(QuestId::FIRST, Key::new("Acme Foods").unwrap())
                    },
                    submission: Submission::None(String::new()),
                    offline: None,
                },
                judgement: Judgement::from_facts(facts, Vec::new()),
                recording: Recording {
                    evidence: serde_json::from_str(&evidence).unwrap(),
                    ..Recording::default()
                },
            },
        );
        (live.drift.len(), live.unanswered.len())
    }

    #[test]
    fn a_failure_is_drift_but_an_unanswered_lookup_is_not() {
        use Level::{Fail, Review};
        assert_eq!(counts(&[]), (0, 0));
        assert_eq!(counts(&[("email-not-on-source", Fail)]), (1, 0));
        assert_eq!(counts(&[("company-not-on-site", Review)]), (1, 0));
        assert_eq!(counts(&[("mx-unanswered", Review)]), (0, 1));
        let both = [("source-unanswered", Review), ("mx-null", Fail)];
        assert_eq!(counts(&both), (1, 0));
    }
}
