//! Carries the PASSes of an earlier session into a new one.
//!
//! Each PASS is judged again from its evidence, with the settings of the new session. If it does not
//! pass again, its quest starts in TODO.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use crate::gate::{Case, is_anchored};
use crate::judge::error::JudgeError;
use crate::judge::host_queue::{Job, JudgedJob};
use crate::judge::kind::kind_of;
use crate::judge::recheck::is_unanswered;
use crate::judge::recorded::NewJudgement;
use crate::judge::recorded::{mark, marks};
use crate::judge::replay::{ReplayError, Replayer};
use crate::quest::{Anchor, Key, Quest, QuestId, Verdict, map_schema};
use crate::session::{
    Attempt, Carried, CarriedPass, Dated, LineReader, Manifest, Mark, Origin, QuestRecord, Session,
    SessionError, State,
};
use crate::world::evidence::pack;
use crate::world::{UniqueValue, UniquenessIndex};

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NotCarried {
    /// The new list has no quest of its key.
    Gone,
    /// The new list names another site for it, or none, or one for the first time.
    OtherAnchor,
    /// Several quests have its name, and nothing tells them apart.
    Namesake,
    /// A person has disputed it since.
    Disputed,
    /// An address was removed from it, or from its quest.
    Forgotten,
    /// Its evidence is missing or changed, or does not answer all that the gate asks.
    Evidence,
    /// The gate does not pass it: by its evidence and the new settings, or by the world now.
    NotPassed,
    /// Some lookup was not answered when it was judged by the world now.
    Unanswered,
    /// Another carried PASS has the address, or one of its domain.
    Taken,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct CarryCounts {
    pub carried: u32,
    #[schemars(schema_with = "map_schema::<NotCarried, u32>")]
    pub not_carried: BTreeMap<NotCarried, u32>,
}

impl CarryCounts {
    fn leave(&mut self, why: NotCarried) {
        *self.not_carried.entry(why).or_default() += 1;
    }
}

pub struct Carrier<'a> {
    old: &'a Session,
    origin: String,
    reader: LineReader,
    replayer: Replayer,
    quests: &'a [Quest],
    pairs: std::vec::IntoIter<Pair>,
    judged: Option<HashMap<QuestId, JudgedJob>>,
    held: Held,
    counts: CarryCounts,
}

impl<'a> Carrier<'a> {
    pub fn new(
        old: &'a Session,
        quests: &'a [Quest],
        manifest: &Manifest,
    ) -> Result<Self, JudgeError> {
        kind_of(old.manifest())?;
        let mut reader = old.reader()?;
        let mut pairs = Pairs::default();
        for quest in quests {
            pairs.push(quest, true, false);
        }
        let mut counts = CarryCounts::default();
        for record in old.index().quests() {
            let record = record?;
            let mut passed = record.progress.state == State::Pass;
            if passed && let Some(why) = withdrawn(&mut reader, &record)? {
                counts.leave(why);
                passed = false;
            }
            pairs.push(&reader.quest(&record)?, false, passed);
        }
        let (pairs, left) = pairs.finish();
        for why in left {
            counts.leave(why);
        }
        let origin = std::path::absolute(old.dir());
        let origin = origin.unwrap_or_else(|_| old.dir().to_owned());
        Ok(Self {
            old,
            origin: origin.to_string_lossy().into_owned(),
            reader,
            replayer: Replayer::new(manifest, old.evidence())?,
            quests,
            pairs: pairs.into_iter(),
            judged: None,
            held: Held::default(),
            counts,
        })
    }

    /// The submissions to judge for [`Carrier::by_world`].
    pub fn jobs(&mut self) -> Result<Vec<Job>, JudgeError> {
        let pairs = self.pairs.as_slice().to_vec();
        let mut jobs = Vec::with_capacity(pairs.len());
        for pair in pairs {
            jobs.push(Job {
                submission: self.passed(pair)?.value.submission,
                quest: self.quest(pair)?.clone(),
                offline: None,
            });
        }
        Ok(jobs)
    }

    /// Uses these judgements of all [`Carrier::jobs`] by the current world instead of the old evidence.
    pub fn by_world(&mut self, judged: impl IntoIterator<Item = JudgedJob>) {
        let by_id = |judged: JudgedJob| (judged.job.quest.id, judged);
        self.judged = Some(judged.into_iter().map(by_id).collect());
    }

    #[must_use]
    pub fn left(&self) -> usize {
        self.pairs.len()
    }

    #[must_use]
    pub fn counts(&self) -> &CarryCounts {
        &self.counts
    }

    fn quest(&self, pair: Pair) -> Result<&'a Quest, JudgeError> {
        let quest = self.quests.get(pair.new.index());
        Ok(quest.ok_or(SessionError::Illegal("there is no such quest"))?)
    }

    fn passed(&mut self, pair: Pair) -> Result<Dated<Box<Attempt>>, JudgeError> {
        let record: Option<QuestRecord> = self.old.index().get(pair.old)?;
        let record = record.ok_or(SessionError::Illegal("there is no such quest"))?;
        let passed = self.reader.last_attempt(&record)?;
        Ok(passed.ok_or(SessionError::Illegal("a PASS has an attempt"))?)
    }

    fn judge(&mut self, quest: &Quest, passed: &Attempt) -> Attempted<NewJudgement> {
        let by_world = self.judged.is_some();
        let (judgement, recording) = match &mut self.judged {
            Some(judged) => match judged.remove(&quest.id) {
                Some(judged) => (judged.judgement, judged.recording),
                None => return Ok(Err(NotCarried::Unanswered)),
            },
            None => match self.replayer.judge(quest, passed) {
                Ok(judged) => judged,
                Err(ReplayError::Judge(error)) => return Err(error),
                Err(_) if self.old.forgetting().empties(passed.evidence.get()) => {
                    return Ok(Err(NotCarried::Forgotten));
                }
                Err(_) => return Ok(Err(NotCarried::Evidence)),
            },
        };
        Ok(if judgement.verdict == Verdict::Pass {
            let gate = self.replayer.gate();
            Ok(NewJudgement::by_gate(gate, judgement, recording))
        } else if by_world && is_unanswered(&judgement, &recording.evidence) {
            Err(NotCarried::Unanswered)
        } else {
            Err(NotCarried::NotPassed)
        })
    }

    fn carry(&mut self, pair: Pair) -> Attempted<CarriedPass> {
        let quest = self.quest(pair)?;
        let passed = self.passed(pair)?;
        let made = match self.judge(quest, &passed.value)? {
            Ok(made) => made,
            Err(why) => return Ok(Err(why)),
        };
        let case = Case::new(quest, &passed.value.submission);
        let holds = marks(self.replayer.gate(), case);
        let evidence = &made.recording.evidence;
        // It was judged as if no other quest had passed, so it must not depend on another carried PASS.
        let is_held = holds.iter().any(|mark| self.held.contains_key(mark));
        if is_held || evidence.session_differs(&self.held) {
            return Ok(Err(NotCarried::Taken));
        }
        let taken = holds.iter().map(|mark| (mark.clone(), quest.key.clone()));
        self.held.extend(taken);
        let bodies = made.recording.bodies.iter();
        Ok(Ok(CarriedPass {
            bodies: bodies.map(|(name, body)| (*name, pack(body))).collect(),
            carried: Carried {
                origin: Origin {
                    session: self.origin.clone(),
                    manifest: self.old.config().policy.session,
                    head: self.old.head(),
                    quest: pair.old,
                    at: passed.at,
                },
                attempt: Attempt {
                    quest: quest.id,
                    submitted: passed.value.submission.digest(),
                    verdict: made.judgement.verdict,
                    grounds: made.grounds,
                    state: State::Pass,
                    rules: made.fired(),
                    anchored: is_anchored(quest),
                    seen: made.judgement.seen,
                    holds,
                    // The key belonged to a call to the other session.
                    idempotency_key: None,
                    // Its files are in the tree that this session froze.
                    accepted: None,
                    judgement: to_raw_value(&made.judgement)?,
                    evidence: to_raw_value(evidence)?,
                    ..*passed.value
                },
            },
        }))
    }
}

/// Why a PASS is not carried because of a person's later decision.
fn withdrawn(
    reader: &mut LineReader,
    record: &QuestRecord,
) -> Result<Option<NotCarried>, SessionError> {
    let lines = [Some(record.quest_line), record.last.map(|last| last.line)];
    for line in lines.into_iter().flatten() {
        if reader.is_redacted(line)? {
            return Ok(Some(NotCarried::Forgotten));
        }
    }
    Ok(record.is_disputed().then_some(NotCarried::Disputed))
}

impl Iterator for Carrier<'_> {
    type Item = Result<CarriedPass, JudgeError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let pair = self.pairs.next()?;
            match self.carry(pair) {
                Ok(Ok(carried)) => {
                    self.counts.carried += 1;
                    return Some(Ok(carried));
                }
                Ok(Err(why)) => self.counts.leave(why),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The marks that the carried PASSes hold so far.
type Held = HashMap<Mark, Key>;

impl UniquenessIndex for Held {
    fn holder(&self, taken: &UniqueValue) -> Option<Key> {
        self.get(&mark(taken)).cloned()
    }
}

/// An attempt to carry a PASS. The inner error skips it, and the outer one ends the whole run.
type Attempted<T> = Result<Result<T, NotCarried>, JudgeError>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    old: QuestId,
    new: QuestId,
}

/// Collects quests of both sessions and pairs them.
///
/// Two quests are the same if key and anchor are equal, compared as in lists. A name without an anchor
/// is ambiguous if either session has several quests of that name.
#[derive(Debug, Default)]
struct Pairs {
    hasher: RandomState,
    sides: Vec<Side>,
}

/// A quest of either session, with hashes to save memory. If two names have the same hash, the gate
/// still judges the PASS for the new quest and does not pass it.
#[derive(Debug, Clone, Copy)]
struct Side {
    name: u64,
    anchor: Option<u64>,
    id: QuestId,
    is_new: bool,
    passed: bool,
}

impl Pairs {
    fn push(&mut self, quest: &Quest, is_new: bool, passed: bool) {
        let anchor = quest.anchor.as_ref().map(Anchor::folded);
        self.sides.push(Side {
            name: self.hasher.hash_one(quest.key.folded()),
            anchor: anchor.map(|anchor| self.hasher.hash_one(anchor)),
            id: quest.id,
            is_new,
            passed,
        });
    }

    /// The PASSes that belong to a new quest, in the order of the new quests, and why the others do
    /// not.
    fn finish(mut self) -> (Vec<Pair>, Vec<NotCarried>) {
        let (mut pairs, mut left) = (Vec::new(), Vec::new());
        self.sides.sort_unstable_by_key(|side| (side.name, side.id));
        for namesakes in self.sides.chunk_by(|one, other| one.name == other.name) {
            for old in namesakes.iter().filter(|side| side.passed) {
                match partner(namesakes, old) {
                    Ok(new) => pairs.push(Pair { old: old.id, new }),
                    Err(why) => left.push(why),
                }
            }
        }
        pairs.sort_unstable_by_key(|pair| pair.new);
        (pairs, left)
    }
}

fn partner(namesakes: &[Side], old: &Side) -> Result<QuestId, NotCarried> {
    let count = |is_new| namesakes.iter().filter(|it| it.is_new == is_new).count();
    if count(true) == 0 {
        return Err(NotCarried::Gone);
    }
    let same = namesakes.iter().filter(|side| side.anchor == old.anchor);
    let (new, olds): (Vec<&Side>, Vec<&Side>) = same.partition(|side| side.is_new);
    let partner = new.first().ok_or(NotCarried::OtherAnchor)?;
    let named = old.anchor.is_some() || (count(true) == 1 && count(false) == 1);
    if new.len() == 1 && olds.len() == 1 && named {
        Ok(partner.id)
    } else {
        Err(NotCarried::Namesake)
    }
}

#[cfg(test)]
mod tests {
    use super::NotCarried::{Gone, Namesake, OtherAnchor};
    use super::*;
    use crate::base::rows;

    /// Pairs quests by key and site; an old one whose key ends with `!` has not passed.
    fn paired(old: &[(&str, &str)], new: &[(&str, &str)]) -> (Vec<(u32, u32)>, Vec<NotCarried>) {
        let mut pairs = Pairs::default();
        for (rows, is_new) in [(new, true), (old, false)] {
            for (index, (key, site)) in rows.iter().enumerate() {
                let name = Key::new(key.trim_end_matches('!')).unwrap();
                let quest = Quest {
                    anchor: (!site.is_empty()).then(|| Anchor::Site((*site).to_owned())),
                    ..Quest::new(QuestId::from_index(index).unwrap(), name)
                };
                pairs.push(&quest, is_new, !is_new && !key.ends_with('!'));
            }
        }
        let (pairs, left) = pairs.finish();
        let number = |id: QuestId| u32::try_from(id.index()).unwrap() + 1;
        let pairs = pairs.iter();
        let pairs = pairs.map(|pair| (number(pair.old), number(pair.new)));
        (pairs.collect(), left)
    }

    #[test]
    fn pairs_quests_by_key_and_anchor() {
        const KR: (&str, &str) = ("Acme", "acme.kr");
        const DE: (&str, &str) = ("Acme", "acme.de");
        const BARE: (&str, &str) = ("Acme", "");
        type Rows<'a> = &'a [(&'a str, &'a str)];
        type Row<'a> = (Rows<'a>, Rows<'a>, &'a [(u32, u32)], &'a [NotCarried]);
        let cases: [Row<'_>; 14] = rows! {
            // Both are compared as lists compare them.
            &[("Acme", "https://www.acme.kr/"), ("㈜한빛", "")],
                &[("(주)한빛", ""), ("Ａcme ", "ACME.kr")], &[(2, 1), (1, 2)]
                => &[];
            // Another anchor, or none, is another company.
            &[KR], &[DE], &[] => &[OtherAnchor];
            &[KR], &[BARE], &[] => &[OtherAnchor];
            &[BARE], &[KR], &[] => &[OtherAnchor];
            // Anchors tell namesakes apart, and a bare name does not.
            &[KR, DE], &[KR, DE], &[(1, 1), (2, 2)] => &[];
            &[KR, DE], &[DE], &[(2, 1)] => &[OtherAnchor];
            &[BARE, DE], &[BARE, DE], &[(2, 2)] => &[Namesake];
            &[BARE, DE], &[BARE], &[] => &[Namesake, OtherAnchor];
            &[BARE], &[BARE, DE], &[] => &[Namesake];
            // No list makes two of the same, and an edited session might.
            &[KR, KR], &[KR], &[] => &[Namesake, Namesake];
            &[KR], &[KR, KR], &[] => &[Namesake];
            // What has not passed is no pair, and still a namesake.
            &[BARE, ("Acme!", "acme.de"), ("Beta!", ""), ("C!", "")], &[BARE, ("Beta", "")], &[]
                => &[Namesake];
            &[("Gone", "")], &[BARE], &[] => &[Gone];
            &[], &[BARE], &[] => &[];
        };
        for (old, new, pairs, left) in cases {
            let expected = (pairs.to_vec(), left.to_vec());
            assert_eq!(paired(old, new), expected, "{old:?} {new:?}");
        }
    }
}
