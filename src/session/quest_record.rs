//! The state of one quest, and the places of its lines in the ledger.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use super::claim::Claim;
use super::decision::Decision;
use super::event::{Asked, Attempt, Carried, Outcome, Resolution};
use super::sample::Check;
use super::state::{Ending, IllegalEvent, Progress, State, VerdictBasis};
use crate::base::Digest;
use crate::quest::{Anchor, Key, Quest, QuestId, Verdict};

/// The bytes of a line in the ledger, without its line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Span {
    pub offset: u64,
    pub length: u32,
}

impl Span {
    pub fn end(self) -> u64 {
        self.offset + u64::from(self.length) + 1
    }
}

/// A row of the index: the folded state of a quest, without the content of its ledger lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestRecord {
    pub id: QuestId,
    pub key: Key,
    pub progress: Progress,
    pub quest_line: Span,
    /// What was added to the quest's line before anything was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submissions: Vec<Submitted>,
    /// Its last attempt, or the PASS that was carried into the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Last>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolved>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispute: Option<Span>,
    /// Whether it is a PASS that was drawn for a person to check.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sampled: bool,
    /// The line in which the last agent that worked on it said how far it got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Span>,
    pub revisions: u32,
    /// Whether reviewers were asked about an answer, and the ledger has no reply.
    pub asked: bool,
    /// When it became TODO again, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reopenings: Vec<Reopening>,
    /// The line that says why its PASS no longer holds, until the next attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<Span>,
    /// The quests that must have passed before it is handed out, in order.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub after: Box<[QuestId]>,
    /// Who holds it, also once the lease has run out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
}

/// The digest, the basis of the verdict and the line of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    pub digest: Digest,
    pub grounds: VerdictBasis,
    pub line: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    pub line: Span,
    pub grounds: VerdictBasis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    pub line: Span,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    pub line: Span,
    pub decision: Decision,
}

/// A time at which a quest became TODO again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reopening {
    /// How many attempts it had.
    pub attempts: u32,
    /// The line of its PASS, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Span>,
}

/// The state of a quest that others wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyState {
    Passed,
    Open,
    /// It ended without a PASS; a person may still settle a REVIEW.
    Ended,
}

impl QuestRecord {
    pub fn new(quest: &Quest, quest_line: Span) -> Self {
        Self {
            id: quest.id,
            key: quest.key.clone(),
            progress: Progress::NEW,
            quest_line,
            anchor: None,
            attempts: 0,
            submissions: Vec::new(),
            last: None,
            resolution: None,
            settled: None,
            dispute: None,
            sampled: false,
            handover: None,
            revisions: 0,
            asked: false,
            reopenings: Vec::new(),
            regression: None,
            after: quest.after.clone().into(),
            claim: None,
        }
    }

    pub fn dependency_state(&self) -> DependencyState {
        if Effective::of(self).holds() {
            DependencyState::Passed
        } else if self.progress.state == State::Todo {
            DependencyState::Open
        } else {
            DependencyState::Ended
        }
    }

    /// Whether it is a REVIEW because of an unanswered lookup, and neither the gate has judged it again
    /// nor a person has settled it.
    pub fn is_unanswered(&self) -> bool {
        let unanswered = |last: Last| last.grounds == VerdictBasis::Unanswered;
        let reopened = |settled: Settled| settled.decision == Decision::Reopened;
        self.progress.state == State::Review
            && self.resolution.is_none()
            && self.settled.is_none_or(reopened)
            && self.last.is_some_and(unanswered)
    }

    /// Whether a person found its answer wrong after it counted as right.
    pub fn is_disputed(&self) -> bool {
        let rejected = |settled: Settled| settled.decision == Decision::Rejected;
        self.dispute.is_some()
            || self.progress.state == State::Pass && self.settled.is_some_and(rejected)
    }

    /// What a person found when checking it by hand; `None` if it is not in the sample.
    pub fn check(&self) -> Option<Check> {
        let decision = self.settled.map(|settled| settled.decision);
        self.sampled.then_some(match decision {
            _ if self.is_disputed() => Check::Wrong,
            Some(Decision::Accepted) => Check::Right,
            _ => Check::Open,
        })
    }

    /// Whether a person must decide an open REVIEW or check a sampled PASS.
    pub fn waits_for_a_person(&self) -> bool {
        Effective::of(self).is_open() || self.check() == Some(Check::Open)
    }

    /// Whether it can be drawn if the first draw is at `first` in the ledger.
    pub fn may_be_drawn(&self, first: u64) -> bool {
        self.progress.state == State::Pass
            && !self.sampled
            && self.last.is_some_and(|last| last.line.offset < first)
    }

    /// The line of the PASS or the confirmation.
    pub fn proof(&self) -> Option<Span> {
        match self.resolution {
            Some(resolved) if resolved.outcome == Outcome::Confirmed => Some(resolved.line),
            _ if self.progress.state == State::Pass => self.last.map(|last| last.line),
            _ => None,
        }
    }

    /// The number of the earlier attempt with the same submission as the attempt `number`.
    ///
    /// An attempt with unanswered lookups is ignored, because they may be answered now. So is one from
    /// before the quest was reopened, because what it was judged by has changed.
    pub fn repeats(&self, submitted: Digest, number: u32) -> Option<u32> {
        let place = self.first_of(submitted, number)?;
        u32::try_from(place + 1).ok()
    }

    fn first_of(&self, submitted: Digest, number: u32) -> Option<usize> {
        let reopenings = self.reopenings.iter().map(|it| it.attempts);
        let first = reopenings.filter(|it| *it < number).max().unwrap_or(0);
        let before = self
            .submissions
            .iter()
            .take(number.saturating_sub(1) as usize);
        let mut earlier = before.enumerate().skip(first as usize);
        let found = earlier.find(|(_, earlier)| {
            earlier.digest == submitted && earlier.grounds != VerdictBasis::Unanswered
        });
        found.map(|(place, _)| place)
    }

    /// The line of the attempt that the last one repeats.
    pub fn repeated(&self) -> Option<Span> {
        let last = self.submissions.last()?;
        if last.grounds != VerdictBasis::Repeat {
            return None;
        }
        let place = self.first_of(last.digest, self.attempts)?;
        Some(self.submissions[place].line)
    }

    pub(super) fn add_anchor(&mut self, anchor: &Anchor) -> Result<(), IllegalEvent> {
        if self.anchor.is_some() || self.asked || self.attempts > 0 {
            return Err("a site is added once, before an attempt or a question to reviewers");
        }
        self.anchor = Some(anchor.clone());
        Ok(())
    }

    /// Whether a submission that was judged with this record can still be recorded with `now`.
    pub fn is_judged_by(&self, now: &Self) -> bool {
        self.attempts == now.attempts && self.anchor == now.anchor
    }

    pub(super) fn ask(&mut self, asked: &Asked) -> Result<(), IllegalEvent> {
        if self.progress.state != State::Todo {
            return Err("reviewers are not asked about a locked quest");
        }
        if asked.number != self.attempts.saturating_add(1) {
            return Err("reviewers are asked about the next attempt");
        }
        if self.asked != asked.withdrawn {
            return Err("reviewers are asked once until an attempt records their reply");
        }
        self.asked = !asked.withdrawn;
        Ok(())
    }

    pub(super) fn judge(
        &mut self,
        attempt: &Attempt,
        line: Span,
        max_tries: NonZeroU32,
    ) -> Result<(), IllegalEvent> {
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
            return Err("only a PASS holds marks");
        }
        self.progress = next;
        self.attempts = attempt.number;
        self.submissions.push(Submitted {
            digest: attempt.submitted,
            grounds: attempt.grounds,
            line,
        });
        self.revisions += u32::from(attempt.revision);
        self.regression = None;
        // A FAIL comes from the machine and is no reply of the reviewers.
        self.asked &= attempt.verdict == Verdict::Fail;
        self.last = Some(Last {
            line,
            grounds: attempt.grounds,
        });
        Ok(())
    }

    pub(super) fn carry(&mut self, carried: &Carried, line: Span) -> Result<(), IllegalEvent> {
        let attempt = &carried.attempt;
        if self.progress != Progress::NEW || self.attempts > 0 {
            return Err("a PASS is carried only to a quest that nobody has worked on");
        }
        if attempt.state != State::Pass {
            return Err("only a PASS is carried");
        }
        self.progress.state = State::Pass;
        self.last = Some(Last {
            line,
            grounds: attempt.grounds,
        });
        Ok(())
    }

    pub(super) fn resolve(
        &mut self,
        resolution: &Resolution,
        line: Span,
    ) -> Result<(), IllegalEvent> {
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
            return Err("only a confirmation holds marks");
        }
        let outcome = resolution.outcome;
        self.resolution = Some(Resolved { line, outcome });
        Ok(())
    }

    pub(super) fn sample(&mut self, first: u64) -> Result<(), IllegalEvent> {
        if !self.may_be_drawn(first) {
            return Err("only a PASS from before the first draw is drawn, and only once");
        }
        self.sampled = true;
        Ok(())
    }

    /// Applies a person's decision on its REVIEW or sampled PASS. A later decision replaces it.
    pub(super) fn settle(
        &mut self,
        attempt: u32,
        decision: Decision,
        line: Span,
    ) -> Result<(), IllegalEvent> {
        if self.progress.state != State::Review && !self.sampled {
            return Err("only a REVIEW or a sampled PASS is settled by a person");
        }
        if attempt != self.attempts {
            return Err("only the last attempt is settled");
        }
        if decision == Decision::Reopened && self.settled.is_none() {
            return Err("only what was settled is reopened");
        }
        self.settled = Some(Settled { line, decision });
        Ok(())
    }

    /// Applies the finding that its PASS no longer holds.
    pub(super) fn regress(&mut self, attempt: u32, line: Span) -> Result<(), IllegalEvent> {
        if self.progress.state != State::Pass {
            return Err("only a PASS can cease to hold");
        }
        self.reopen(attempt)?;
        self.regression = Some(line);
        Ok(())
    }

    /// Makes it TODO again, with all tries and without what was decided about its last answer.
    pub(super) fn reopen(&mut self, attempt: u32) -> Result<(), IllegalEvent> {
        if self.progress.state == State::Todo {
            return Err("only a locked quest is reopened");
        }
        if attempt != self.attempts {
            return Err("a quest is reopened after its last attempt");
        }
        self.reopenings.push(Reopening {
            attempts: self.attempts,
            proof: self.proof(),
        });
        self.progress = Progress::NEW;
        self.revisions = 0;
        self.resolution = None;
        self.settled = None;
        self.dispute = None;
        self.sampled = false;
        Ok(())
    }

    pub(super) fn contradict(&mut self, line: Span) -> Result<(), IllegalEvent> {
        if !Effective::of(self).holds() {
            return Err("only what counts as right is disputed");
        }
        self.dispute = Some(line);
        Ok(())
    }

    pub(super) fn ending(&self) -> Option<Ending> {
        Ending::of(self.progress.state, self.last?.grounds)
    }
}

/// What a quest comes to. Whatever becomes of a REVIEW, it is never a PASS.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Effective {
    Pass,
    Accepted,
    /// A REVIEW that the gate passed when it looked again.
    Confirmed,
    /// A REVIEW that nobody has settled.
    Open,
    /// A REVIEW that the gate failed when it looked again, and that a person is to settle.
    Refuted,
    Rejected,
    Done,
    Todo,
}

impl Effective {
    /// In the order of display.
    pub const ALL: &[Self] = Self::VARIANTS;

    pub fn of(record: &QuestRecord) -> Self {
        match record.progress.state {
            State::Todo => Self::Todo,
            State::Pass => Self::Pass,
            State::Done => Self::Done,
            State::Review => {
                let decision = record.settled.map(|settled| settled.decision);
                let outcome = record.resolution.map(|resolved| resolved.outcome);
                Self::of_review(decision, outcome)
            }
        }
    }

    /// A person's decision overrides the gate's second judgement.
    fn of_review(decision: Option<Decision>, outcome: Option<Outcome>) -> Self {
        match (decision, outcome) {
            (Some(Decision::Accepted), _) => Self::Accepted,
            (Some(Decision::Rejected), _) => Self::Rejected,
            (_, Some(Outcome::Confirmed)) => Self::Confirmed,
            (_, Some(Outcome::Refuted)) => Self::Refuted,
            (_, Some(Outcome::Open) | None) => Self::Open,
        }
    }

    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the gate passed the answer, at once or when it judged again.
    pub fn is_proven(self) -> bool {
        matches!(self, Self::Pass | Self::Confirmed)
    }

    /// Whether the answer counts as right: proven, or accepted by a person.
    pub fn holds(self) -> bool {
        self.is_proven() || self == Self::Accepted
    }

    /// Whether the answer is shown as valid. A failed or rejected address must not appear where somebody
    /// would mail to it.
    pub fn stands(self) -> bool {
        self.holds() || self == Self::Open
    }

    pub fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Refuted)
    }
}

/// A quest that cannot be handed out unless a person settles the one that blocks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocked {
    pub quest: QuestId,
    /// The quest that ended without a PASS, on which it depends directly or indirectly.
    pub by: QuestId,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waiting {
    /// All waiting quests, in order, including blocked ones.
    pub quests: Vec<QuestId>,
    pub blocked: Vec<Blocked>,
    /// The quests at the end of the dependencies, in order, which wait for nothing.
    pub fronts: Vec<QuestId>,
}

impl Waiting {
    /// Finds the waiting quests among those in TODO that depend on others.
    pub(super) fn of(
        waiters: Vec<(QuestId, Box<[QuestId]>)>,
        state: impl Fn(QuestId) -> DependencyState,
    ) -> Self {
        let mut quests = BTreeSet::new();
        let mut ended = BTreeMap::new();
        let mut followers: HashMap<QuestId, Vec<QuestId>> = HashMap::new();
        for (quest, after) in waiters {
            for before in after {
                match state(before) {
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
    fn shows_answers_that_neither_failed_nor_were_rejected() {
        use Effective::{Accepted, Confirmed, Open, Pass};
        for &effective in Effective::ALL {
            let shown = matches!(effective, Pass | Accepted | Confirmed | Open);
            assert_eq!(effective.stands(), shown, "{effective:?}");
        }
    }

    #[test]
    fn a_quest_waits_until_all_dependencies_have_passed() {
        let found = waiting(&[(1, &[8]), (2, &[7, 8]), (3, &[2])]);
        assert_eq!(found.quests, ids(&[2, 3]));
        assert_eq!(found.fronts, ids(&[7]));
        assert_eq!(found.blocked, []);
    }

    #[test]
    fn dependents_of_a_blocked_quest_are_blocked_too() {
        let found = waiting(&[(1, &[2]), (2, &[3, 7]), (3, &[9]), (4, &[7])]);
        assert_eq!(found.quests, ids(&[1, 2, 3, 4]));
        assert_eq!(found.blocked, blocked(&[(1, 9), (2, 9), (3, 9)]));
        assert_eq!(found.fronts, ids(&[7, 9]));
        assert!(found.blocks(id(2)) && !found.blocks(id(4)));
    }

    #[test]
    fn handles_circles_and_long_chains() {
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

    #[test]
    fn a_person_overrides_the_gate_until_the_review_is_reopened() {
        use Decision::{Accepted, Rejected, Reopened};
        use Outcome::{Confirmed, Open, Refuted};
        let cases = [
            (None, None, Effective::Open),
            (None, Some(Open), Effective::Open),
            (None, Some(Confirmed), Effective::Confirmed),
            (None, Some(Refuted), Effective::Refuted),
            (Some(Accepted), Some(Refuted), Effective::Accepted),
            (Some(Rejected), Some(Confirmed), Effective::Rejected),
            (Some(Reopened), None, Effective::Open),
            (Some(Reopened), Some(Refuted), Effective::Refuted),
        ];
        for (decision, outcome, expected) in cases {
            let found = Effective::of_review(decision, outcome);
            assert_eq!(found, expected, "{decision:?} {outcome:?}");
            assert_ne!(found, Effective::Pass);
        }
    }

    #[test]
    fn refuted_and_rejected_answers_do_not_stand() {
        let record = Effective::ALL.iter().copied().filter(|it| it.stands());
        let names: Vec<_> = record.map(Effective::name).collect();
        assert_eq!(names, ["pass", "accepted", "confirmed", "open"]);
    }

    #[test]
    fn a_persons_decision_proves_nothing() {
        let proven = Effective::ALL.iter().copied().filter(|it| it.is_proven());
        let names: Vec<_> = proven.map(Effective::name).collect();
        assert_eq!(names, ["pass", "confirmed"]);
    }
}
