//! Judges with the world, and keeps the evidence that the judgement needs.

use std::cell::RefCell;
use std::collections::BTreeSet;

use itertools::Itertools as _;
use url::Url;

use crate::base::Digest;
use crate::gate::{Case, Cause, CheckOutcome, Fact, Gate, Judgement};
use crate::judge::error::JudgeError;
use crate::quest::{Key, QuestId, Submission, Verdict};
use crate::session::{Attempt, EvidenceStore, Mark, Session, SessionError, VerdictBasis};
use crate::world::evidence::prune::pruned;
use crate::world::evidence::record::Recorder;
use crate::world::evidence::replay::Replay;
use crate::world::evidence::{
    BodyRef, Evidence, Exchange, Question, Recording, SandboxAnswer, pack,
};
use crate::world::mailbox::Mailbox;
use crate::world::{EarlierDoubt, UniqueValue, UniquenessIndex, World};

/// Judges `case` with `world`, and keeps the evidence that the judgement needs.
pub fn record(
    gate: &dyn Gate,
    case: Case<'_>,
    world: World<'_>,
) -> Result<(Judgement, Recording), serde_json::Error> {
    let recorder = Recorder::new(world);
    let judgement = gate.judge(case, &recorder.world());
    let recording = without_other_addresses(gate, case, &judgement, recorder.finish())?;
    Ok((judgement, recording))
}

/// Prunes the pages of a recording to what the judgement needs. Judging again from it gives the same
/// judgement, byte for byte.
pub(super) fn without_other_addresses(
    gate: &dyn Gate,
    case: Case<'_>,
    judgement: &Judgement,
    recording: Recording,
) -> Result<Recording, serde_json::Error> {
    let less = pruned(&recording, &named_mailboxes(case, &judgement.facts));
    if less == recording {
        return Ok(recording);
    }
    Ok(match judge_from(gate, case, &less) {
        Some(again) if same(&again, judgement)? => less,
        _ => recording,
    })
}

/// Judges from evidence only; `None` if it does not answer every question.
pub fn judge_from(gate: &dyn Gate, case: Case<'_>, recording: &Recording) -> Option<Judgement> {
    let _span = tracing::info_span!("judged from the evidence").entered();
    let replay = Replay::new(&recording.evidence, &recording.bodies);
    let judgement = gate.judge(case, &replay.world());
    replay.missing().is_empty().then_some(judgement)
}

fn same(one: &Judgement, two: &Judgement) -> Result<bool, serde_json::Error> {
    Ok(serde_json::to_vec(one)? == serde_json::to_vec(two)?)
}

/// The mailboxes that the submission and the facts name.
pub(super) fn named_mailboxes(case: Case<'_>, facts: &[Fact]) -> Vec<Mailbox> {
    let submitted = match case.submission {
        Submission::Fields(fields) => fields.values().map(String::as_str).collect(),
        Submission::None(_) => Vec::new(),
    };
    let facts = facts.iter();
    let texts = facts.flat_map(|fact| [&*fact.expected, &*fact.actual]);
    let words = texts
        .chain(submitted)
        .flat_map(|text| text.split(|c: char| c.is_whitespace() || ",;()\"<>".contains(c)));
    let named: BTreeSet<Mailbox> = words.filter_map(|word| Mailbox::parse(word).ok()).collect();
    named.into_iter().collect()
}

/// A judgement as the ledger records it.
#[derive(Debug)]
pub(crate) struct NewJudgement {
    pub(crate) judgement: Judgement,
    pub(crate) grounds: VerdictBasis,
    pub(crate) recording: Recording,
}

impl NewJudgement {
    pub(crate) fn without_gate(judgement: Judgement, grounds: VerdictBasis) -> Self {
        Self {
            judgement,
            grounds,
            recording: Recording::default(),
        }
    }

    pub(crate) fn by_gate(gate: &dyn Gate, judgement: Judgement, recording: Recording) -> Self {
        Self {
            grounds: grounds(&judgement, &recording.evidence, &gate.fact_checks()),
            judgement,
            recording,
        }
    }

    /// Judges again from evidence, if the session's answers have changed.
    pub(crate) fn judge_again(
        self,
        gate: &dyn Gate,
        case: Case<'_>,
        store: &Session,
    ) -> Result<Self, JudgeError> {
        let Recording { evidence, bodies } = &self.recording;
        let replay = Replay::new(evidence, bodies);
        let mut accepted = SessionAccepted::new(store, case.quest.id);
        // Keep the earlier decision whether reviewers could be asked. They are not asked again.
        accepted.may_ask = replay.may_ask();
        let changed = evidence.session_differs(&accepted) || evidence.doubts_differ(&accepted);
        let again = changed.then(|| {
            let _span = tracing::info_span!("judged from the evidence").entered();
            let recorder = Recorder::new(replay.world_with(&accepted));
            let judgement = gate.judge(case, &recorder.world());
            Self::by_gate(gate, judgement, recorder.finish())
        });
        let again = accepted.into_result(again)?;
        Ok(again.unwrap_or(self))
    }

    /// Adds the files of the answer, as JSON, to the evidence.
    pub(crate) fn with_received(self, gate: &dyn Gate, text: Vec<u8>) -> Self {
        let Self {
            judgement,
            mut recording,
            ..
        } = self;
        let body = BodyRef::of(&text);
        recording.bodies.insert(body.sha256, text);
        recording.evidence.exchanges.push(Exchange::Sandbox {
            asked: Question::Received,
            answer: SandboxAnswer::Received(body),
        });
        Self::by_gate(gate, judgement, recording)
    }

    pub(crate) fn fired(&self) -> Vec<String> {
        let rules = self.judgement.facts.iter().map(|fact| &fact.rule);
        rules.unique().map(ToString::to_string).collect()
    }
}

/// Whether reviewers raised a doubt or did not settle the answer. They are asked only about a PASS, so
/// every fact of such a judgement is theirs.
pub(super) fn is_reviewed(judgement: &Judgement) -> bool {
    judgement.panel.is_some() && !judgement.facts.is_empty()
}

/// Whether a REVIEW goes back to the agent because of doubts with quotations, at most `revisions`
/// times.
pub(super) fn is_sent_back(revisions: u32, judgement: &Judgement, before: u32) -> bool {
    judgement.verdict == Verdict::Review && judgement.is_doubted() && before < revisions
}

/// The new bodies on disk for the next line of the ledger, removed if the line is not written.
///
/// So only a process that is killed leaves bodies behind that no line names.
pub(crate) struct KeptBodies {
    store: EvidenceStore,
    new: RefCell<Vec<Digest>>,
}

impl KeptBodies {
    pub(crate) fn new(store: EvidenceStore) -> Self {
        Self {
            store,
            new: RefCell::default(),
        }
    }

    pub(crate) fn keep(&self, recording: &Recording) -> Result<(), JudgeError> {
        for (digest, body) in &recording.bodies {
            if self.store.keep(*digest, &pack(body))? {
                self.new.borrow_mut().push(*digest);
            }
        }
        Ok(())
    }

    /// Removes them, if the line was not written.
    pub(crate) fn remove(&self) {
        for body in self.new.borrow().iter() {
            self.store.remove(*body);
        }
    }
}

/// Whether the lookup behind `fact` may have another answer later.
pub(super) fn may_answer(fact: &Fact, evidence: &Evidence) -> bool {
    let location = fact.location.as_deref().unwrap_or_default();
    let page = Url::parse(location).ok();
    match fact.cause {
        // DNS had only private addresses, which the owner may correct.
        Cause::Unanswered if page.is_none() && was_asked(evidence, location) => true,
        // A home page that may not be read counts as an answer.
        Cause::Unanswered => evidence.rests_on_silence(),
        // A robots.txt that does not answer forbids its site for now (RFC 9309, section 2.3.1.4).
        Cause::Unreadable => page.is_some_and(|page| evidence.robots_unanswered(&page)),
        Cause::Wrong | Cause::Ambiguous => false,
    }
}

fn was_asked(evidence: &Evidence, name: &str) -> bool {
    let mut exchanges = evidence.exchanges.iter();
    exchanges.any(|it| matches!(it, Exchange::Dns { name: asked, .. } if asked.as_str() == name))
}

/// What `judgement` rests on. `fact_checks` verify facts, and confirm a submission if all of them pass.
pub fn grounds(judgement: &Judgement, evidence: &Evidence, fact_checks: &[&str]) -> VerdictBasis {
    let caused = |cause: Cause| judgement.facts.iter().any(|fact| fact.cause == cause);
    let passed = |check: &&str| {
        let mut checks = judgement.checks.iter();
        checks.any(|report| report.check == *check && report.outcome == CheckOutcome::Passed)
    };
    let confirmed = !fact_checks.is_empty() && fact_checks.iter().all(passed);
    let mut checks = judgement.checks.iter();
    let failed = checks.any(|report| report.outcome == CheckOutcome::Failed);
    let waits = |fact: &Fact| fact.cause == Cause::Unanswered && may_answer(fact, evidence);
    if evidence.exchanges.is_empty() {
        VerdictBasis::Submission
    } else if is_reviewed(judgement) {
        // Reviewers without an answer confirm nothing. Otherwise an agent that can block them could end
        // every quest as proven.
        if caused(Cause::Wrong) && confirmed {
            VerdictBasis::Confirmed
        } else {
            VerdictBasis::World
        }
    } else if (evidence.rests_on_silence() && !failed) || judgement.facts.iter().any(waits) {
        VerdictBasis::Unanswered
    } else if caused(Cause::Unreadable) || caused(Cause::Unanswered) {
        VerdictBasis::Unread
    } else if confirmed && !failed {
        VerdictBasis::Confirmed
    } else {
        VerdictBasis::World
    }
}

/// What a session has passed for all quests but one.
pub(super) struct SessionAccepted<'a> {
    store: &'a Session,
    except: QuestId,
    pub(super) may_ask: bool,
    failed: RefCell<Option<SessionError>>,
}

impl<'a> SessionAccepted<'a> {
    pub fn new(store: &'a Session, except: QuestId) -> Self {
        Self {
            store,
            except,
            may_ask: true,
            failed: RefCell::new(None),
        }
    }

    /// `answer`, or the error if reading the session failed while the gate ran.
    pub fn into_result<T>(self, answer: T) -> Result<T, SessionError> {
        self.failed.into_inner().map_or(Ok(answer), Err)
    }

    /// A gate cannot return errors of the session, so they are kept for [`Self::into_result`].
    fn kept<T: Default>(&self, read: Result<T, SessionError>) -> T {
        read.unwrap_or_else(|error| {
            *self.failed.borrow_mut() = Some(error);
            T::default()
        })
    }
}

impl UniquenessIndex for SessionAccepted<'_> {
    fn holder(&self, taken: &UniqueValue) -> Option<Key> {
        let holder = self.kept(self.store.holder(&mark(taken)));
        let other = holder.filter(|holder| holder.id != self.except);
        other.map(|holder| holder.key)
    }

    /// The doubts about earlier answers of this quest that went back to the agent.
    fn doubts(&self) -> Vec<EarlierDoubt> {
        let revised = || -> Result<_, SessionError> {
            match self.store.quest_record(self.except)? {
                Some(record) => self.store.revised(&record),
                None => Ok(Vec::new()),
            }
        };
        self.kept(revised()).iter().flat_map(doubts_of).collect()
    }

    fn may_ask(&self) -> bool {
        self.may_ask
    }
}

pub(super) fn doubts_of(attempt: &Attempt) -> Vec<EarlierDoubt> {
    let judgement = serde_json::from_str::<Judgement>(attempt.judgement.get());
    let panel = judgement.ok().and_then(|judgement| judgement.panel);
    let mut doubts = Vec::new();
    for reviewer in panel.into_iter().flat_map(|panel| panel.reviewers) {
        for on in &reviewer.votes {
            doubts.extend(on.vote.doubt().map(|passage| EarlierDoubt {
                reviewer: reviewer.name.clone(),
                question: on.question.clone(),
                quotation: passage.quotation.clone(),
            }));
        }
    }
    doubts
}

/// No earlier PASSes, for judging without the session, which is compared afterwards.
#[derive(Debug, Clone, Copy)]
pub struct NothingAccepted;

impl UniquenessIndex for NothingAccepted {
    fn holder(&self, _taken: &UniqueValue) -> Option<Key> {
        None
    }
}

/// The marks that a PASS of this submission takes.
pub fn marks(gate: &dyn Gate, case: Case<'_>) -> Vec<Mark> {
    gate.takes(case).iter().map(mark).collect()
}

pub(super) fn mark(taken: &UniqueValue) -> Mark {
    Mark(match taken {
        UniqueValue::Mailbox(mailbox) => format!("mailbox {mailbox}"),
        UniqueValue::Domain(domain) => format!("domain {domain}"),
        UniqueValue::Value { field, text } => format!("value {field} {text}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::GateSettings;
    use crate::gate::email::email_gate;
    use crate::gate::{CheckReport, Doubts, Level, PanelReport, RuleId};
    use crate::quest::{Quest, email};

    const CONFIRMING: &[&str] = &["source", "identity"];

    /// What a REVIEW by this rule rests on, with evidence of one lookup that was answered or not.
    fn basis(
        rule: &'static str,
        checks: &[(&str, CheckOutcome)],
        is_reviewed: bool,
        unanswered: bool,
    ) -> VerdictBasis {
        let fact = Fact {
            cause: match rule {
                "reviewers-doubt" => Cause::Wrong,
                "source-robots" => Cause::Unreadable,
                "mx-unanswered" => Cause::Unanswered,
                _ => Cause::Ambiguous,
            },
            rule: RuleId::known(rule),
            level: Level::Review,
            ..Fact::wrong("", "")
        };
        let reports = checks.iter().map(|(check, outcome)| CheckReport {
            check: (*check).to_owned(),
            outcome: *outcome,
        });
        let mut judgement = Judgement::from_facts(vec![fact], reports.collect());
        judgement.panel = is_reviewed.then(|| Box::new(nobody()));
        let answer = if unanswered {
            r#"{"unanswered":{"silence":"timeout","detail":""}}"#
        } else {
            r#""no-such-host""#
        };
        let get = format!(r#"{{"url":"https://acme.com/","answer":{answer}}}"#);
        let evidence = format!(r#"{{"exchanges":[{{"get":{get}}}]}}"#);
        let evidence = serde_json::from_str(&evidence).unwrap();
        grounds(&judgement, &evidence, CONFIRMING)
    }

    fn nobody() -> PanelReport {
        PanelReport {
            plant: None,
            reviewers: Vec::new(),
        }
    }

    #[test]
    fn confirmed_requires_all_fact_checks_and_every_lookup() {
        use CheckOutcome::{Failed, NotConfirmed, NotRun, Passed};
        use VerdictBasis::{Confirmed, Unanswered, Unread, World};
        for (source, identity, mail, expected) in [
            (Passed, Passed, Passed, Confirmed),
            (Passed, Passed, NotConfirmed, Confirmed),
            (NotConfirmed, Passed, Passed, World),
            (Passed, NotConfirmed, Passed, World),
            (NotRun, Passed, Passed, World),
            (Passed, NotRun, Passed, World),
            (Passed, Passed, Failed, World),
        ] {
            let checks = [("source", source), ("mail", mail), ("identity", identity)];
            let basis = basis("freemail", &checks, false, false);
            assert_eq!(basis, expected, "{checks:?}");
        }
        // An unanswered lookup counts before what could not be read.
        let passed = ["source", "identity"].map(|check| (check, Passed));
        for (rule, checks, is_reviewed, unanswered, expected) in [
            ("mx-unanswered", &passed[..], false, true, Unanswered),
            ("mx-unanswered", &[], false, true, Unanswered),
            ("source-robots", &[], false, false, Unread),
            // robots.txt itself did not answer.
            ("source-robots", &[], false, true, Unanswered),
            ("freemail", &[], false, false, World),
            // Reviewers who say too little confirm nothing.
            ("reviewers-unsettled", &passed, true, true, World),
            ("reviewers-doubt", &passed, true, true, Confirmed),
        ] {
            let basis = basis(rule, checks, is_reviewed, unanswered);
            assert_eq!(basis, expected, "{rule} {unanswered}");
        }
        let passed = Judgement::from_facts(Vec::new(), Vec::new());
        let basis = grounds(&passed, &Evidence::default(), CONFIRMING);
        assert_eq!(basis, VerdictBasis::Submission);
    }

    #[test]
    fn sends_back_only_doubts_within_the_limit() {
        let passed = || Judgement::from_facts(Vec::new(), Vec::new());
        let mut doubted = Doubts::new(nobody());
        doubted.doubt("reader", "Is it so?", "it is not", None);
        let doubted = passed().doubted(doubted);
        assert!(is_sent_back(2, &doubted, 0) && is_sent_back(2, &doubted, 1));
        assert!(!is_sent_back(2, &doubted, 2) && !is_sent_back(0, &doubted, 0));
        let mut unsettled = Doubts::new(nobody());
        unsettled.unsettled("two answers", "one");
        assert!(!is_sent_back(2, &passed().doubted(unsettled), 0));
        assert!(!is_sent_back(
            2,
            &passed().doubted(Doubts::new(nobody())),
            0
        ));
    }

    #[test]
    fn a_pass_takes_address_and_domain_in_any_case() {
        let quest = Quest {
            rows: vec![1],
            ..Quest::new(QuestId::FIRST, Key::new("Acme").unwrap())
        };
        let expected: &[&str] = &["mailbox info@mail.acme.co.kr", "domain acme.co.kr"];
        for (address, expected) in [("INFO@Mail.Acme.co.kr", expected), ("not an address", &[])] {
            let submission = Submission::Fields([(email::EMAIL, address.to_owned())].into());
            let case = Case::new(&quest, &submission);
            let marks = marks(&email_gate(GateSettings::default()), case);
            let marks: Vec<_> = marks.iter().map(|mark| mark.0.as_str()).collect();
            assert_eq!(marks, expected);
        }
    }
}
