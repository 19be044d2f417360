//! The queue: REVIEWs and sampled PASSes that wait for a person, grouped by rule, the oldest first.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use url::Url;

use crate::gate::{CheckReport, Fact, Judgement, Rule, add_remedies, common_rules};
use crate::judge::excerpts::{Excerpt, REMOVED, SeenPage, excerpt, pages, sources};
use crate::judge::forgotten::{is_evidence_redacted, is_forgotten};
use crate::judge::{JudgeError, Replayer};
use crate::quest::email::SOURCE;
use crate::quest::{Anchor, Key, QuestId, Shown, Submission, Verdict, listed};
use crate::session::{
    Attempt, Claim, Dated, Decision, Effective, Event, Forgetting, LineReader, Outcome,
    QuestRecord, Session, SessionError, State, Unwatched, Worker,
};
use crate::world::evidence::{Evidence, Recording};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Waiting {
    pub id: QuestId,
    pub key: Key,
    /// The attempt that is to be settled.
    pub attempt: u32,
    /// Open or, where the gate fails it now, refuted; of a PASS that is in the sample, pass.
    pub effective: Effective,
    /// When it was judged last.
    pub since: Timestamp,
    /// The rules that fired then, each once.
    pub rules: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Group {
    /// The first rule that fired for each of them; of the sample, `(sample)`.
    pub rule: String,
    pub quests: Vec<Waiting>,
}

/// Every REVIEW and sampled PASS that waits for a person, each in one group.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Queue {
    /// How many REVIEWs are open.
    pub open: usize,
    /// How many sampled PASSes are to be checked by hand.
    pub sampled: usize,
    /// The group with the oldest first.
    pub groups: Vec<Group>,
}

/// The group of REVIEWs without rules. No rule has this name.
const NO_RULE: &str = "-";

/// The group of sampled PASSes. No rule has this name.
const SAMPLE: &str = "(sample)";

impl Waiting {
    /// Whether it is a PASS, which a person checks by hand.
    pub fn is_sampled(&self) -> bool {
        self.effective == Effective::Pass
    }

    fn group(&self) -> &str {
        match self.rules.first() {
            _ if self.is_sampled() => SAMPLE,
            Some(rule) => rule,
            None => NO_RULE,
        }
    }
}

impl Queue {
    pub fn of(mut waiting: Vec<Waiting>) -> Self {
        waiting.sort_by_key(|one| (one.since, one.id));
        let sampled = waiting.iter().filter(|one| one.is_sampled()).count();
        let open = waiting.len() - sampled;
        let mut groups: Vec<Group> = Vec::new();
        for one in waiting {
            match groups.iter_mut().find(|group| group.rule == one.group()) {
                Some(group) => group.quests.push(one),
                None => groups.push(Group {
                    rule: one.group().to_owned(),
                    quests: vec![one],
                }),
            }
        }
        Self {
            open,
            sampled,
            groups,
        }
    }

    pub fn read(session: &Session) -> Result<Self, SessionError> {
        let mut reader = session.reader()?;
        let mut waiting = Vec::new();
        let forgetting = session.forgetting();
        for record in session.reviews()?.into_iter().chain(session.sampled()?) {
            // If the answer was forgotten, nobody can look at it.
            let gone = !forgetting.is_empty() && is_forgotten(&mut reader, &record)?;
            if record.waits_for_a_person() && !gone {
                waiting.extend(wait_of(&mut reader, record)?);
            }
        }
        Ok(Self::of(waiting))
    }

    pub fn all(&self) -> impl Iterator<Item = &Waiting> {
        self.groups.iter().flat_map(|group| &group.quests)
    }

    /// The REVIEWs. Sampled PASSes are checked one by one, not by rule.
    fn reviews(&self) -> impl Iterator<Item = &Waiting> {
        self.all().filter(|one| !one.is_sampled())
    }

    /// The REVIEWs for which `rule` fired, first or among others.
    pub fn with_rule(&self, rule: &str) -> Vec<&Waiting> {
        let fired = |one: &&Waiting| one.rules.iter().any(|it| it == rule);
        self.reviews().filter(fired).collect()
    }

    pub fn rules(&self) -> BTreeSet<&str> {
        self.reviews()
            .flat_map(|one| &one.rules)
            .map(String::as_str)
            .collect()
    }
}

fn wait_of(reader: &mut LineReader, record: QuestRecord) -> Result<Option<Waiting>, SessionError> {
    let judged = match reader.resolution(&record)? {
        Some(again) => Some((again.at, again.value.rules)),
        None => reader
            .last_attempt(&record)?
            .map(|last| (last.at, last.value.rules)),
    };
    Ok(judged.map(|(since, rules)| Waiting {
        id: record.id,
        attempt: record.attempts,
        effective: Effective::of(&record),
        key: record.key,
        since,
        rules,
    }))
}

/// One quest, as a person looks at it: the last answer, and what the gate saw of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Item {
    pub id: QuestId,
    pub key: Key,
    /// The rows of the list that it covers.
    pub rows: Vec<u32>,
    /// What the operator knows about it beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// The other columns that the prompt shows.
    pub shown: Vec<Shown>,
    /// Further columns that checks use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Shown>,
    pub state: State,
    pub effective: Effective,
    /// Whether somebody reported that the answer proved wrong.
    pub disputed: bool,
    /// The number of the last attempt; 0 where there was none in this session.
    pub attempt: u32,
    /// How many tries were used.
    pub tries: u32,
    /// When it was judged last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Who holds the quest, also after the lease has expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// Who gave the last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<Worker>,
    /// The last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submission: Option<Submission>,
    /// The earlier attempt that the last one repeats. Facts, pages and checks are those of that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// What fired, with where it shows.
    pub facts: Vec<SeenFact>,
    pub pages: Vec<SeenPage>,
    pub checks: Vec<CheckReport>,
    /// What reviewers said, as the judgement holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<Value>,
    #[serde(flatten)]
    pub history: History,
    /// Why nothing is shown of what the gate saw, where the evidence is not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
}

impl Item {
    pub fn listed(&self) -> Vec<Shown> {
        listed(self.anchor.as_ref(), &self.shown, &self.known)
    }

    /// The web page that a person should look at: the submitted source, or else the location of a fact,
    /// another submitted URL, or the first page that was requested.
    pub fn source_page(&self) -> Option<Url> {
        let submission = self.submission.as_ref();
        let source = submission.and_then(|it| it.field(SOURCE.as_str()));
        let places = self.facts.iter().flat_map(|seen| {
            let excerpt = seen.excerpt.as_ref().map(|excerpt| excerpt.of.as_str());
            [seen.fact.location.as_deref(), excerpt]
        });
        let fields = match submission {
            Some(Submission::Fields(fields)) => Some(fields.values()),
            Some(Submission::None(_)) | None => None,
        };
        let fields = fields.into_iter().flatten().map(String::as_str);
        let pages = self.pages.iter().map(|page| page.url.as_str());
        let mut texts = source
            .into_iter()
            .chain(places.flatten())
            .chain(fields)
            .chain(pages);
        texts.find_map(|text| {
            let url = Url::parse(text.trim()).ok()?;
            matches!(url.scheme(), "http" | "https").then_some(url)
        })
    }
}

/// A fact, and the lines that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeenFact {
    #[serde(flatten)]
    pub fact: Fact,
    /// The lines around what it is about, where anything shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Excerpt>,
}

pub struct Viewer {
    reader: LineReader,
    replayer: Replayer,
    rules: Vec<Rule>,
    histories: BTreeMap<QuestId, History>,
    forgetting: Forgetting,
}

impl Viewer {
    pub fn new(session: &Session, quests: &BTreeSet<QuestId>) -> Result<Self, JudgeError> {
        let replayer = Replayer::new(session.manifest(), session.evidence())?;
        Ok(Self {
            reader: session.reader()?,
            rules: [common_rules::rules(), replayer.gate().rules()].concat(),
            replayer,
            histories: histories(session, quests)?,
            forgetting: session.forgetting(),
        })
    }

    pub fn item(&mut self, record: &QuestRecord) -> Result<Item, JudgeError> {
        let quest = self.reader.quest(record)?;
        let mut history = self.histories.get(&record.id).cloned().unwrap_or_default();
        history.earlier.retain(|it| it.number < record.attempts);
        let mut item = Item {
            id: record.id,
            key: record.key.clone(),
            rows: quest.rows,
            anchor: quest.anchor,
            shown: quest.shown,
            known: quest.known,
            state: record.progress.state,
            effective: Effective::of(record),
            disputed: record.is_disputed(),
            attempt: record.attempts,
            tries: record.progress.tries,
            since: None,
            claim: record.claim.clone(),
            worker: None,
            submission: None,
            repeats: None,
            facts: Vec::new(),
            pages: Vec::new(),
            checks: Vec::new(),
            panel: None,
            history,
            damage: None,
        };
        if let Some(last) = self.reader.last_attempt(record)? {
            self.judged(record, last, &mut item)?;
        }
        Ok(item)
    }

    /// Adds the last answer, and what the gate saw.
    fn judged(
        &mut self,
        record: &QuestRecord,
        last: Dated<Box<Attempt>>,
        item: &mut Item,
    ) -> Result<(), JudgeError> {
        let again = self.reader.resolution(record)?;
        let repeated = self.reader.repeated_attempt(record)?;
        item.since = Some(again.as_ref().map_or(last.at, |again| again.at));
        item.repeats = repeated.as_ref().map(|first| first.value.number);
        let (judgement, evidence) = match (&again, &repeated) {
            (Some(again), _) => (&again.value.judgement, &again.value.evidence),
            (None, Some(first)) => (&first.value.judgement, &first.value.evidence),
            (None, None) => (&last.value.judgement, &last.value.evidence),
        };
        let mut judged: Judgement = serde_json::from_str(judgement.get())?;
        let is_redacted =
            is_evidence_redacted(&self.forgetting, &mut self.reader, record, evidence)?;
        // If a body is missing or damaged, show the evidence without bodies and say why.
        let (recording, damage) = match self.replayer.recording(evidence) {
            Ok(recording) => (recording, None),
            Err(error) => {
                let evidence = serde_json::from_str::<Evidence>(evidence.get());
                let bare = Recording {
                    evidence: evidence.unwrap_or_default(),
                    bodies: BTreeMap::new(),
                };
                (bare, Some(error.to_string()))
            }
        };
        let history = &mut item.history;
        let earlier = history.earlier.iter_mut().map(|it| &mut it.facts);
        let later = history.again.iter_mut().map(|it| &mut it.facts);
        let shown = earlier.chain(later).chain([&mut judged.facts]);
        add_remedies(shown.flatten(), &self.rules);
        item.damage = damage.map(|damage| {
            if is_redacted {
                REMOVED.to_owned()
            } else {
                damage
            }
        });
        item.facts = seen_facts(
            judged.facts,
            &last.value.submission,
            &record.key,
            &recording,
        );
        item.pages = pages(&recording.evidence);
        item.checks = judged.checks;
        item.panel = judged.panel.map(serde_json::to_value).transpose()?;
        item.worker = last.value.worker;
        item.submission = Some(last.value.submission);
        Ok(())
    }
}

fn seen_facts(
    facts: Vec<Fact>,
    submission: &Submission,
    key: &Key,
    recording: &Recording,
) -> Vec<SeenFact> {
    let sources = sources(recording);
    let seen = facts.into_iter().map(|fact| SeenFact {
        excerpt: excerpt(&fact, submission, key.as_str(), &sources),
        fact,
    });
    seen.collect()
}

// Not a doc comment: in the schema, it would replace the description of `Item`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct History {
    /// What the gate said when it looked again; the facts are those.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<Again>,
    pub earlier: Vec<Earlier>,
    pub settlements: Vec<Remark>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disputes: Vec<Remark>,
}

/// An attempt, as far as people want to know it later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Earlier {
    pub number: u32,
    pub at: Timestamp,
    pub verdict: Verdict,
    pub submission: Submission,
    pub facts: Vec<Fact>,
}

/// A REVIEW that the gate judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Again {
    pub at: Timestamp,
    pub outcome: Outcome,
    pub facts: Vec<Fact>,
}

/// A decision on a REVIEW, or a contradiction by the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remark {
    pub at: Timestamp,
    /// None of a contradiction by the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    pub by: String,
    pub note: String,
    /// Where the session froze a key, only what that key signed counts.
    pub counts: bool,
}

fn histories(
    session: &Session,
    quests: &BTreeSet<QuestId>,
) -> Result<BTreeMap<QuestId, History>, SessionError> {
    let mut policy = session.config().policy;
    let mut histories: BTreeMap<QuestId, History> =
        quests.iter().map(|id| (*id, History::default())).collect();
    session.read_sound(&Unwatched, &mut |entry| {
        let (at, prev) = (entry.line.at(), entry.line.prev());
        match &entry.event {
            Event::Attempt(attempt) => {
                if let Some(history) = histories.get_mut(&attempt.quest) {
                    history.earlier.push(Earlier {
                        number: attempt.number,
                        at,
                        verdict: attempt.verdict,
                        submission: attempt.submission.clone(),
                        facts: Judgement::facts_of(attempt.judgement.get()),
                    });
                }
            }
            Event::Resolution(resolution) => {
                if let Some(history) = histories.get_mut(&resolution.quest) {
                    history.again.push(Again {
                        at,
                        outcome: resolution.outcome,
                        facts: Judgement::facts_of(resolution.judgement.get()),
                    });
                }
            }
            Event::Amended(amended) => policy.amend(amended, prev),
            Event::Settled(settlement) => {
                let settling = Remark {
                    at,
                    decision: Some(settlement.decision),
                    by: settlement.by.clone(),
                    note: settlement.note.clone(),
                    counts: policy.admits(settlement.as_ref(), prev),
                };
                for settled in &settlement.quests {
                    if let Some(history) = histories.get_mut(&settled.quest) {
                        history.settlements.push(settling.clone());
                    }
                }
            }
            Event::Disputed(dispute) => {
                if let Some(history) = histories.get_mut(&dispute.quest) {
                    history.disputes.push(Remark {
                        at,
                        decision: None,
                        by: dispute.by.clone(),
                        note: dispute.note.clone(),
                        counts: policy.admits(dispute.as_ref(), prev),
                    });
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    Ok(histories)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(id: usize, second: i64, rules: &[&str]) -> Waiting {
        Waiting {
            id: QuestId::from_index(id - 1).unwrap(),
            key: Key::new(&format!("quest {id}")).unwrap(),
            attempt: 1,
            effective: Effective::Open,
            since: Timestamp::from_second(second).unwrap(),
            rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
        }
    }

    fn ids<'a>(waiting: impl IntoIterator<Item = &'a Waiting>) -> Vec<usize> {
        waiting.into_iter().map(|one| one.id.index() + 1).collect()
    }

    #[test]
    fn lists_each_quest_once_with_the_oldest_first() {
        let queue = Queue::of(vec![
            waiting(1, 30, &["free-mail"]),
            waiting(2, 20, &["owner-contested", "free-mail"]),
            waiting(3, 10, &["free-mail"]),
            waiting(4, 10, &["free-mail"]),
        ]);
        let groups: Vec<_> = queue
            .groups
            .iter()
            .map(|group| (group.rule.as_str(), ids(&group.quests)))
            .collect();
        let expected = [("free-mail", vec![3, 4, 1]), ("owner-contested", vec![2])];
        assert_eq!((queue.open, groups.as_slice()), (4, &expected[..]));
        assert_eq!(ids(queue.all()), [3, 4, 1, 2]);
        // A rule means all for which it fired.
        assert_eq!(ids(queue.with_rule("free-mail")), [3, 4, 1, 2]);
        assert_eq!(ids(queue.with_rule("owner-contested")), [2]);
        assert_eq!(ids(queue.with_rule("free")), Vec::<usize>::new());
        let rules: Vec<_> = queue.rules().into_iter().collect();
        assert_eq!(rules, ["free-mail", "owner-contested"]);
        assert_eq!(Queue::of(Vec::new()), Queue::default());
    }

    #[test]
    fn a_sampled_pass_is_not_selected_by_rule() {
        let passed = Waiting {
            effective: Effective::Pass,
            ..waiting(2, 10, &["free-mail"])
        };
        let queue = Queue::of(vec![waiting(1, 20, &["free-mail"]), passed]);
        assert_eq!((queue.open, queue.sampled), (1, 1));
        let names: Vec<_> = queue.groups.iter().map(|it| it.rule.as_str()).collect();
        assert_eq!(names, ["(sample)", "free-mail"]);
        assert_eq!(ids(queue.with_rule("free-mail")), [1]);
        assert_eq!(queue.rules().len(), 1);
    }
}
