//! Where one quest stands, and where its ledger lines lie.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::decision::Decision;
use super::event::{Asked, Attempt, Carried, Outcome, Resolution, VerdictBasis};
use super::state::{Ending, Progress, State};
use super::totals::Effective;
use crate::quest::{Key, Quest, QuestId, Verdict};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub offset: u64,
    pub length: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestRecord {
    pub id: QuestId,
    pub key: Key,
    pub progress: Progress,
    pub attempts: u32,
    pub quest_line: Span,
    /// Its last attempt, or the PASS that was carried into the session.
    pub last: Option<Last>,
    pub resolution: Option<Resolved>,
    pub settled: Option<Settled>,
    pub dispute: Option<Span>,
    /// The line in which the last agent that was driven at it said where it stands.
    pub handover: Option<Span>,
    /// How many of its attempts were sent back for a revision.
    pub revisions: u32,
    /// Whether reviewers were asked about an answer, and what they said is on no record.
    pub asked: bool,
    /// The quests that must have passed before it is handed out, in order.
    pub after: Box<[QuestId]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Last {
    pub line: Span,
    pub grounds: VerdictBasis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolved {
    pub line: Span,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    pub line: Span,
    pub decision: Decision,
}

/// What those who wait for a quest have to expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyState {
    Passed,
    Open,
    /// It ended without a PASS; a REVIEW may still be settled by a person.
    Ended,
}

pub(super) type IllegalEvent = &'static str;

impl QuestRecord {
    #[must_use]
    pub fn new(quest: &Quest, quest_line: Span) -> Self {
        Self {
            id: quest.id,
            key: quest.key.clone(),
            progress: Progress::NEW,
            attempts: 0,
            quest_line,
            last: None,
            resolution: None,
            settled: None,
            dispute: None,
            handover: None,
            revisions: 0,
            asked: false,
            after: quest.after.clone().into(),
        }
    }

    #[must_use]
    pub fn way(&self) -> DependencyState {
        if Effective::of(self).holds() {
            DependencyState::Passed
        } else if self.progress.state == State::Todo {
            DependencyState::Open
        } else {
            DependencyState::Ended
        }
    }

    /// Whether it is a REVIEW that rests on an unanswered lookup alone, and that nobody has
    /// looked at again.
    #[must_use]
    pub fn is_unanswered(&self) -> bool {
        let silent = |last: Last| last.grounds == VerdictBasis::Unanswered;
        self.progress.state == State::Review
            && self.resolution.is_none()
            && self.settled.is_none()
            && self.last.is_some_and(silent)
    }

    /// The line that proves its answer: of the PASS, or of the confirmation.
    #[must_use]
    pub fn proof(&self) -> Option<Span> {
        match self.resolution {
            Some(resolved) if resolved.outcome == Outcome::Confirmed => Some(resolved.line),
            _ if self.progress.state == State::Pass => self.last.map(|last| last.line),
            _ => None,
        }
    }

    pub(super) fn asked(&self, asked: &Asked) -> Result<Self, IllegalEvent> {
        if self.progress.state != State::Todo {
            return Err("nobody is asked about a locked quest");
        }
        if asked.number != self.attempts.saturating_add(1) {
            return Err("reviewers are asked about the next attempt");
        }
        if self.asked != asked.withdrawn {
            return Err("reviewers are asked once until an attempt says what they said");
        }
        Ok(Self {
            asked: !asked.withdrawn,
            ..self.clone()
        })
    }

    /// The standing after an attempt whose line lies at `line`.
    pub(super) fn judged(
        &self,
        attempt: &Attempt,
        line: Span,
        max_tries: std::num::NonZeroU32,
    ) -> Result<Self, IllegalEvent> {
        if attempt.number != self.attempts.saturating_add(1) {
            return Err("attempts are numbered without gaps");
        }
        let judged = if attempt.revision {
            let revised = self.progress.revised(max_tries);
            revised.filter(|_| attempt.verdict == Verdict::Review)
        } else {
            self.progress.judged(attempt.verdict, max_tries).ok()
        };
        let next = judged.ok_or("a locked quest takes no submission")?;
        if (next.state, next.tries) != (attempt.state, attempt.tries) {
            return Err("the verdict leads to another state");
        }
        if next.state != State::Pass && !attempt.holds.is_empty() {
            return Err("only a PASS takes anything");
        }
        Ok(Self {
            progress: next,
            attempts: attempt.number,
            revisions: self.revisions + u32::from(attempt.revision),
            // A FAIL comes before reviewers are asked: it is not what they said.
            asked: self.asked && attempt.verdict == Verdict::Fail,
            last: Some(Last {
                line,
                grounds: attempt.grounds,
            }),
            ..self.clone()
        })
    }

    /// The standing after a PASS of an earlier session was carried here.
    pub(super) fn carried(&self, carried: &Carried, line: Span) -> Result<Self, IllegalEvent> {
        let attempt = &carried.attempt;
        if self.progress != Progress::NEW || self.attempts > 0 {
            return Err("a PASS is carried only to a quest that nobody has worked on");
        }
        if attempt.state != State::Pass {
            return Err("only a PASS is carried");
        }
        Ok(Self {
            progress: Progress {
                state: State::Pass,
                tries: 0,
            },
            last: Some(Last {
                line,
                grounds: attempt.grounds,
            }),
            ..self.clone()
        })
    }

    pub(super) fn resolved(
        &self,
        resolution: &Resolution,
        line: Span,
    ) -> Result<Self, IllegalEvent> {
        if !self.is_unanswered() {
            return Err("only a REVIEW that rests on an unanswered lookup is looked at again");
        }
        if resolution.attempt != self.attempts {
            return Err("only the last attempt is looked at again");
        }
        if resolution.outcome != Outcome::of(resolution.verdict) {
            return Err("the verdict leads to another outcome");
        }
        if resolution.outcome != Outcome::Confirmed && !resolution.holds.is_empty() {
            return Err("only a confirmation takes anything");
        }
        Ok(Self {
            resolution: Some(Resolved {
                line,
                outcome: resolution.outcome,
            }),
            ..self.clone()
        })
    }

    /// The standing after a person settled its REVIEW, or settled it anew.
    pub(super) fn settled(
        &self,
        attempt: u32,
        decision: Decision,
        line: Span,
    ) -> Result<Self, IllegalEvent> {
        if self.progress.state != State::Review {
            return Err("only a REVIEW is settled by a person");
        }
        if attempt != self.attempts {
            return Err("only the last attempt is settled");
        }
        if decision == Decision::Reopened && self.settled.is_none() {
            return Err("only what was settled is reopened");
        }
        Ok(Self {
            settled: Some(Settled { line, decision }),
            ..self.clone()
        })
    }

    pub(super) fn disputed(&self, line: Span) -> Result<Self, IllegalEvent> {
        if !Effective::of(self).holds() {
            return Err("only what counts as right is disputed");
        }
        Ok(Self {
            dispute: Some(line),
            ..self.clone()
        })
    }

    pub(super) fn ending(&self) -> Option<Ending> {
        Ending::of(self.progress.state, self.last?.grounds)
    }
}

/// A quest that can never be handed out unless a person settles the one that blocks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocked {
    pub quest: QuestId,
    /// The quest that ended without a PASS, which it waits for, if through others.
    pub by: QuestId,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waiting {
    /// All that wait, in order, those that are blocked included.
    pub quests: Vec<QuestId>,
    pub blocked: Vec<Blocked>,
    /// What they wait for in the end, in order: it waits for nothing itself.
    pub fronts: Vec<QuestId>,
}

impl Waiting {
    /// Of the quests in TODO that come after others, with those others, the ones that wait.
    pub(super) fn of(
        waiters: Vec<(QuestId, Box<[QuestId]>)>,
        way: impl Fn(QuestId) -> DependencyState,
    ) -> Self {
        let mut quests = BTreeSet::new();
        let mut ended = BTreeMap::new();
        let mut followers: HashMap<QuestId, Vec<QuestId>> = HashMap::new();
        for (quest, after) in waiters {
            for before in after {
                match way(before) {
                    DependencyState::Passed => continue,
                    DependencyState::Open => {}
                    DependencyState::Ended => {
                        ended.entry(quest).or_insert(before);
                    }
                }
                followers.entry(before).or_default().push(quest);
                quests.insert(quest);
            }
        }
        let fronts = followers.keys().filter(|quest| !quests.contains(quest));
        let fronts: BTreeSet<_> = fronts.copied().collect();
        Self {
            fronts: fronts.into_iter().collect(),
            quests: quests.into_iter().collect(),
            blocked: spread(ended, &followers),
        }
    }

    #[must_use]
    pub fn blocks(&self, quest: QuestId) -> bool {
        let found = self
            .blocked
            .binary_search_by_key(&quest, |blocked| blocked.quest);
        found.is_ok()
    }
}

fn spread(
    mut blocked: BTreeMap<QuestId, QuestId>,
    followers: &HashMap<QuestId, Vec<QuestId>>,
) -> Vec<Blocked> {
    let mut queue: VecDeque<_> = blocked.iter().map(|(quest, by)| (*quest, *by)).collect();
    while let Some((quest, by)) = queue.pop_front() {
        for follower in followers.get(&quest).into_iter().flatten() {
            if let std::collections::btree_map::Entry::Vacant(place) = blocked.entry(*follower) {
                place.insert(by);
                queue.push_back((*follower, by));
            }
        }
    }
    let pairs = blocked.into_iter();
    pairs.map(|(quest, by)| Blocked { quest, by }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> QuestId {
        QuestId::from_index(number - 1).unwrap()
    }

    fn ids(numbers: &[usize]) -> Vec<QuestId> {
        numbers.iter().map(|number| id(*number)).collect()
    }

    /// What waits of these quests after others, where 8 has passed and 9 has ended.
    fn waiting(waiters: &[(usize, &[usize])]) -> Waiting {
        let waiters = waiters
            .iter()
            .map(|(quest, after)| (id(*quest), ids(after).into()));
        Waiting::of(waiters.collect(), |quest| {
            match quest.to_string().as_str() {
                "8" => DependencyState::Passed,
                "9" => DependencyState::Ended,
                _ => DependencyState::Open,
            }
        })
    }

    fn blocked(pairs: &[(usize, usize)]) -> Vec<Blocked> {
        let pair = |(quest, by): &(usize, usize)| Blocked {
            quest: id(*quest),
            by: id(*by),
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_quest_waits_until_all_before_it_have_passed() {
        let found = waiting(&[(1, &[8]), (2, &[7, 8]), (3, &[2])]);
        assert_eq!(found.quests, ids(&[2, 3]));
        assert_eq!(found.fronts, ids(&[7]));
        assert_eq!(found.blocked, []);
    }

    #[test]
    fn what_follows_a_blocked_quest_is_blocked_by_the_same() {
        let found = waiting(&[(1, &[2]), (2, &[3, 7]), (3, &[9]), (4, &[7])]);
        assert_eq!(found.quests, ids(&[1, 2, 3, 4]));
        assert_eq!(found.blocked, blocked(&[(1, 9), (2, 9), (3, 9)]));
        assert_eq!(found.fronts, ids(&[7, 9]));
        assert!(found.blocks(id(2)) && !found.blocks(id(4)));
    }

    #[test]
    fn a_circle_ends_nothing_and_a_long_row_is_followed_to_its_end() {
        assert_eq!(waiting(&[(1, &[2]), (2, &[1])]).blocked, []);
        let mut waiters: Vec<_> = (10..200_000)
            .map(|n| (id(n), ids(&[n + 1]).into()))
            .collect();
        waiters.push((id(200_000), ids(&[1]).into()));
        let ended = Waiting::of(waiters, |quest| match quest.index() {
            0 => DependencyState::Ended,
            _ => DependencyState::Open,
        });
        assert_eq!(ended.blocked.len(), 200_000 - 9);
    }
}
