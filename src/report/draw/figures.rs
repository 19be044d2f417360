//! The figures of a session, folded from its ledger: burn-down, times, funnel and workers.

use std::collections::HashMap;

use jiff::Timestamp;
use serde::Deserialize;

use crate::base::text::small;
use crate::gate::{CheckOutcome, CheckReport};
use crate::judge::live_runs::start_of;
use crate::quest::{QuestId, Verdict};
use crate::report::picture::{Bar, FunnelStep, Marks, Remaining, Spread, WorkerRow};
use crate::session::{Attempt, Event, State, Worker};

const MOST_SHOWN: usize = 400;

#[derive(Debug, Default)]
pub(super) struct BurnDown {
    left: u32,
    points: Vec<Remaining>,
    /// Whether the previous line added a quest.
    listing: bool,
    extended: bool,
}

impl BurnDown {
    pub(super) fn take(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Quest(_) => return self.grow(at),
            Event::Extended(_) => {
                self.extended = true;
                self.listing = false;
                return;
            }
            Event::Attempt(attempt) if attempt.state != State::Todo => self.fall(at),
            Event::Carried(_) => self.fall(at),
            _ => {}
        }
        self.listing = false;
        self.extended = false;
    }

    pub(super) fn points(&self) -> Vec<Remaining> {
        thinned(&self.points, MOST_SHOWN)
    }

    fn grow(&mut self, at: Timestamp) {
        self.left += 1;
        match self.points.last_mut().filter(|_| self.listing) {
            Some(last) => last.left = self.left,
            None => self.push(at, self.extended),
        }
        self.listing = true;
    }

    fn fall(&mut self, at: Timestamp) {
        self.left = self.left.saturating_sub(1);
        let several = self.points.len() > 1;
        let last = self.points.last_mut();
        match last.filter(|last| several && !last.grew && last.at == at) {
            Some(last) => last.left = self.left,
            None => self.push(at, false),
        }
    }

    fn push(&mut self, at: Timestamp, grew: bool) {
        // If the clock was set back, the curve must not go back.
        let at = self.points.last().map_or(at, |last| last.at.max(at));
        self.points.push(Remaining {
            at,
            left: self.left,
            grew,
        });
    }
}

/// Reduces points in order of time to at most `most`, and keeps the first and the last.
///
/// Every nth point is kept, so the curve is wrong by at most n settled quests at any time. If the
/// point of a rise is dropped, the next point carries its mark.
fn thinned(points: &[Remaining], most: usize) -> Vec<Remaining> {
    let last = points.len().saturating_sub(1);
    let every = last.div_ceil(most.max(2) - 1).max(1);
    let mut kept = Vec::with_capacity(most);
    let mut grew = false;
    for (at, point) in points.iter().enumerate() {
        grew |= point.grew;
        if at % every == 0 || at == last {
            kept.push(Remaining { grew, ..*point });
            grew = false;
        }
    }
    kept
}

/// Measures how long quests took.
///
/// A quest begins with its first claim or submission. If the first submission settled it without a
/// claim, the beginning is unknown.
#[derive(Debug, Default)]
pub(super) struct Clock {
    begun: HashMap<QuestId, Timestamp>,
    /// The time of each quest that was settled, in milliseconds.
    pub(super) took: HashMap<QuestId, u64>,
}

impl Clock {
    pub(super) fn take(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Claim(claimed) => self.begin(claimed.quest, at),
            Event::Asked(asked) => self.begin(asked.quest, at),
            Event::Attempt(attempt) if attempt.state == State::Todo => {
                self.begin(attempt.quest, at);
            }
            Event::Attempt(attempt) => self.end(attempt.quest, at),
            _ => {}
        }
    }

    fn begin(&mut self, quest: QuestId, at: Timestamp) {
        self.begun.entry(quest).or_insert(at);
    }

    fn end(&mut self, quest: QuestId, at: Timestamp) {
        let Some(begun) = self.begun.remove(&quest) else {
            return;
        };
        let took = at.duration_since(begun).as_millis();
        let took = u64::try_from(took).unwrap_or(0);
        self.took.insert(quest, took);
    }
}

/// The lower bounds of the time bars in milliseconds, each about three times the previous one.
pub(super) const TIMES: &[u64] = &[
    0,
    10,
    30,
    100,
    300,
    1_000,
    3_000,
    10_000,
    30_000,
    MINUTE,
    3 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    60 * MINUTE,
    180 * MINUTE,
    720 * MINUTE,
    DAY,
    3 * DAY,
    10 * DAY,
    30 * DAY,
    100 * DAY,
];

const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;

pub(super) const TRIES: &[u64] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 21, 51, 101, 201, 501, 1_001, 10_001, 100_001,
];

/// The histogram of `values`; `edges` are the sorted lower bounds of the bars, starting with 0.
pub(super) fn spread(mut values: Vec<u64>, edges: &[u64]) -> Spread {
    values.sort_unstable();
    let Some(marks) = marks(&values) else {
        return Spread::default();
    };
    let bar_of = |value: u64| edges.partition_point(|edge| *edge <= value) - 1;
    let bars = (bar_of(marks.least)..=bar_of(marks.most)).map(|at| {
        let (from, next) = (edges[at], edges.get(at + 1));
        let below = |edge: u64| values.partition_point(|value| *value < edge);
        let upto = next.map_or(values.len(), |next| below(*next));
        Bar {
            from,
            to: next.map_or(marks.most, |next| next - 1),
            quests: small(upto - below(from)),
        }
    });
    Spread {
        known: small(values.len()),
        marks: Some(marks),
        bars: bars.collect(),
    }
}

fn marks(values: &[u64]) -> Option<Marks> {
    let upto = |tenths: usize| values.get((values.len() * tenths).div_ceil(10).max(1) - 1);
    Some(Marks {
        least: *values.first()?,
        median: *upto(5)?,
        ninth: *upto(9)?,
        most: *values.last()?,
    })
}

/// The step that refuses missing and repeated answers.
const BEFORE: &str = "before the first step";

/// Counts what each step of the gate stopped.
///
/// A submission that is not stopped by a step reaches the next one.
#[derive(Debug)]
pub(super) struct Funnel {
    steps: Vec<FunnelStep>,
}

#[derive(Deserialize)]
struct Checked {
    checks: Vec<CheckReport>,
}

impl Default for Funnel {
    fn default() -> Self {
        Self {
            steps: vec![step(BEFORE)],
        }
    }
}

impl Funnel {
    /// Adds a judgement as the gate wrote it. `audit` reports one that cannot be read.
    pub(super) fn take(&mut self, judgement: &str) {
        let Ok(Checked { checks }) = serde_json::from_str(judgement) else {
            return;
        };
        self.steps[0].reached += 1;
        // A judgement without checks is a refusal before the gate.
        let mut stopped = checks.is_empty();
        self.steps[0].stopped += u32::from(stopped);
        let mut next = 1;
        for report in checks {
            let place = self.place(&report.check, next);
            next = next.max(place + 1);
            if stopped {
                continue;
            }
            let step = &mut self.steps[place];
            step.reached += 1;
            stopped = report.outcome == CheckOutcome::Failed;
            step.stopped += u32::from(stopped);
        }
    }

    pub(super) fn steps(self) -> Vec<FunnelStep> {
        self.steps
    }

    /// The index of the check of this name; a new one is inserted at `next`.
    fn place(&mut self, name: &str, next: usize) -> usize {
        let known = self.steps.iter().skip(1).position(|it| it.name == name);
        known.map_or_else(
            || {
                self.steps.insert(next, step(name));
                next
            },
            |place| place + 1,
        )
    }
}

fn step(name: &str) -> FunnelStep {
    FunnelStep {
        name: name.to_owned(),
        reached: 0,
        stopped: 0,
    }
}

const MOST: usize = 200;

const OTHERS: &str = "(others)";

/// Counts submissions by worker.
///
/// All starts of an agent in one run count as one worker: each start has its own worker name, but
/// people know the run.
#[derive(Debug, Default)]
pub(super) struct Workers {
    rows: HashMap<Option<String>, WorkerRow>,
}

impl Workers {
    pub(super) fn take(&mut self, attempt: &Attempt) {
        let mut name = attempt.worker.as_ref().map(name);
        if self.rows.len() >= MOST && name.is_some() && !self.rows.contains_key(&name) {
            name = Some(OTHERS.to_owned());
        }
        let row = self.rows.entry(name.clone()).or_insert(WorkerRow {
            name,
            submissions: 0,
            pass: 0,
            review: 0,
            fail: 0,
        });
        row.submissions += 1;
        *match attempt.verdict {
            Verdict::Pass => &mut row.pass,
            Verdict::Review => &mut row.review,
            Verdict::Fail => &mut row.fail,
        } += 1;
    }

    pub(super) fn rows(self) -> Vec<WorkerRow> {
        let mut rows: Vec<WorkerRow> = self.rows.into_values().collect();
        rows.sort_by(|one, next| {
            let most = next.submissions.cmp(&one.submissions);
            most.then_with(|| one.name.cmp(&next.name))
        });
        rows
    }
}

fn name(worker: &Worker) -> String {
    match start_of(worker) {
        Some((run, _)) => format!("run {run}"),
        None => worker.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::Verdict;
    use crate::report::draw::fixtures::{at, attempt, attempt_by, claim, extended, id, quest};
    use jiff::Timestamp;
    use proptest::prelude::*;

    fn points_of(events: &[(i64, Event)]) -> Vec<(i64, u32, bool)> {
        let mut burn = BurnDown::default();
        for (second, event) in events {
            burn.take(at(*second), event);
        }
        let points = burn.points().into_iter();
        points
            .map(|it| (it.at.as_second(), it.left, it.grew))
            .collect()
    }

    #[test]
    fn falls_with_each_quest_that_is_settled_and_grows_with_a_newer_list() {
        let events = [
            (0, quest(1)),
            (0, quest(2)),
            (10, attempt(1, 1, Verdict::Fail, State::Todo)),
            (20, attempt(1, 2, Verdict::Review, State::Review)),
            (30, extended(2)),
            (30, quest(3)),
            (30, quest(4)),
            (40, attempt(2, 1, Verdict::Fail, State::Done)),
            (40, attempt(3, 1, Verdict::Pass, State::Pass)),
            (35, attempt(4, 1, Verdict::Pass, State::Pass)),
        ];
        let expected = [
            (0, 2, false),
            (20, 1, false),
            (30, 3, true),
            (40, 1, false),
            (40, 0, false),
        ];
        assert_eq!(points_of(&events), expected);
    }

    #[test]
    fn a_newer_list_without_new_quests_does_not_raise_the_curve() {
        let events = [(0, quest(1)), (5, extended(0)), (9, quest(2))];
        // comail never writes such a ledger, but the numbers must still be right.
        assert_eq!(points_of(&events), [(0, 1, false), (9, 2, true)]);
        assert_eq!(points_of(&[]), []);
    }

    proptest! {
        #[test]
        fn never_rises_unless_a_list_grew(
            steps in proptest::collection::vec((0..5_i64, 0..4_u8), 0..200),
        ) {
            let mut burn = BurnDown::default();
            burn.take(at(0), &quest(1));
            let mut second = 0;
            for (later, what) in steps {
                second += later;
                if what == 0 {
                    burn.take(at(second), &extended(1));
                    burn.take(at(second), &quest(2));
                } else {
                    burn.take(at(second), &attempt(1, 1, Verdict::Pass, State::Pass));
                }
            }
            let points = burn.points();
            prop_assert!(!points.is_empty() && points.len() <= MOST_SHOWN);
            for pair in points.windows(2) {
                prop_assert!(pair[1].grew || pair[1].left <= pair[0].left);
            }
        }
    }

    /// A curve of these steps: milliseconds, quests and whether they are new.
    fn curve(steps: &[(u16, u8, bool)]) -> Vec<Remaining> {
        let mut point = Remaining {
            at: Timestamp::UNIX_EPOCH,
            left: 100_000,
            grew: false,
        };
        let mut points = vec![point];
        for (time, quests, grew) in steps {
            let at = point.at.as_millisecond() + i64::from(*time);
            point.at = Timestamp::from_millisecond(at).unwrap();
            point.left = if *grew {
                point.left + u32::from(*quests)
            } else {
                point.left.saturating_sub((*quests).into())
            };
            point.grew = *grew;
            points.push(point);
        }
        points
    }

    #[test]
    fn a_long_curve_is_wrong_by_a_share_of_its_points() {
        let few = curve(&[(1, 1, false), (5, 2, true)]);
        assert_eq!(thinned(&few, 3), few);
        let points = curve(&[(10, 1, false); 500]);
        let thin = thinned(&points, 40);
        for pair in thin.windows(2) {
            assert!(pair[0].left - pair[1].left <= 13, "{pair:?}");
        }
    }

    proptest! {
        #[test]
        fn the_ends_stay_and_nothing_rises_unsaid(
            steps in proptest::collection::vec(
                (any::<u16>(), any::<u8>(), proptest::bool::weighted(0.05)), 0..300),
            most in 2..50_usize,
        ) {
            let points = curve(&steps);
            let thin = thinned(&points, most);
            prop_assert!(thin.len() <= most.max(1));
            prop_assert_eq!(thin.first(), points.first());
            let ends = thin.last().zip(points.last());
            prop_assert!(ends.is_some_and(|(thin, whole)| (thin.at, thin.left) == (whole.at, whole.left)));
            for pair in thin.windows(2) {
                prop_assert!(pair[0].at <= pair[1].at);
                prop_assert!(pair[1].grew || pair[1].left <= pair[0].left);
            }
            let grew = |points: &[Remaining]| points.iter().any(|point| point.grew);
            prop_assert_eq!(grew(&thin), grew(&points));
        }
    }

    #[test]
    fn a_quest_begins_when_it_is_claimed_or_first_fails() {
        let mut clock = Clock::default();
        let events = [
            (0, claim(1, "kim")),
            (5, attempt(2, 1, Verdict::Fail, State::Todo)),
            (7, claim(1, "lee")),
            (9, attempt(1, 1, Verdict::Pass, State::Pass)),
            (15, attempt(2, 2, Verdict::Fail, State::Done)),
            (20, attempt(3, 1, Verdict::Pass, State::Pass)),
        ];
        for (second, event) in events {
            clock.take(at(second), &event);
        }
        // The beginning of the third is unknown.
        assert_eq!(clock.took, [(id(1), 9_000), (id(2), 10_000)].into());
    }

    #[test]
    fn a_clock_that_was_set_back_gives_a_time_of_zero() {
        let mut clock = Clock::default();
        clock.take(at(60), &claim(1, "kim"));
        clock.take(at(0), &attempt(1, 1, Verdict::Pass, State::Pass));
        assert_eq!(clock.took, [(id(1), 0)].into());
    }

    #[test]
    fn bars_cover_the_range_without_gaps() {
        assert_eq!(spread(Vec::new(), TIMES), Spread::default());
        let last = spread(vec![200 * DAY, 300 * DAY], TIMES).bars[0];
        assert_eq!((last.from, last.to), (100 * DAY, 300 * DAY));
        let found = spread(vec![3, 1, 1, 12], TRIES);
        let bars: Vec<_> = found
            .bars
            .iter()
            .map(|it| (it.from, it.to, it.quests))
            .collect();
        assert_eq!(bars.len(), 11);
        assert_eq!(bars[..3], [(1, 1, 2), (2, 2, 0), (3, 3, 1)]);
        assert_eq!(bars[10], (11, 20, 1));
        let marks = found.marks.unwrap();
        assert_eq!(
            (marks.least, marks.median, marks.ninth, marks.most),
            (1, 1, 12, 12)
        );
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_bar(values in proptest::collection::vec(any::<u64>(), 1..100)) {
            for edges in [TIMES, TRIES] {
                prop_assert!(edges.is_sorted_by(|one, next| one < next));
                let found = spread(values.clone(), edges);
                let counted: u32 = found.bars.iter().map(|bar| bar.quests).sum();
                prop_assert_eq!(counted as usize, values.len());
                for pair in found.bars.windows(2) {
                    prop_assert_eq!(pair[0].to + 1, pair[1].from);
                }
                let marks = found.marks.unwrap();
                prop_assert!(marks.least <= marks.median && marks.median <= marks.ninth);
                prop_assert!(marks.ninth <= marks.most);
            }
        }
    }

    /// A judgement with these outcomes of checks: `p`assed, `f`ailed, `r`eview, `n`ot run.
    fn judged(checks: &[(&str, char)]) -> String {
        let outcome = |letter| match letter {
            'p' => CheckOutcome::Passed,
            'f' => CheckOutcome::Failed,
            'r' => CheckOutcome::NotConfirmed,
            _ => CheckOutcome::NotRun,
        };
        let reports = checks.iter().map(|(check, letter)| CheckReport {
            check: (*check).to_owned(),
            outcome: outcome(*letter),
        });
        let judgement = crate::gate::Judgement::from_facts(Vec::new(), reports.collect());
        serde_json::to_string(&judgement).unwrap()
    }

    fn steps_of(judgements: &[String]) -> Vec<(String, u32, u32)> {
        let mut funnel = Funnel::default();
        for judgement in judgements {
            funnel.take(judgement);
        }
        let steps = funnel.steps().into_iter();
        steps.map(|it| (it.name, it.reached, it.stopped)).collect()
    }

    #[test]
    fn a_submission_is_stopped_once_at_the_first_step_that_fails() {
        let judgements = [
            judged(&[]),
            judged(&[("format", 'f'), ("domain", 'f'), ("source", 'n')]),
            judged(&[("format", 'p'), ("domain", 'r'), ("source", 'f')]),
            judged(&[("format", 'p'), ("domain", 'p'), ("source", 'p')]),
            "null".to_owned(),
        ];
        let expected = [
            (BEFORE, 4, 1),
            ("format", 3, 1),
            ("domain", 2, 0),
            ("source", 2, 1),
        ];
        let expected = expected.map(|(name, reached, stopped)| (name.to_owned(), reached, stopped));
        assert_eq!(steps_of(&judgements), expected);
    }

    #[test]
    fn a_submission_that_is_not_stopped_reaches_the_next_step() {
        let judgements: Vec<String> = (0..30_u8)
            .map(|number| {
                let at = |bit: u8| if number >> bit & 1 == 1 { 'f' } else { 'p' };
                judged(&[("a", at(0)), ("b", at(1)), ("c", at(2)), ("d", at(3))])
            })
            .collect();
        for pair in steps_of(&judgements).windows(2) {
            assert_eq!(pair[0].1 - pair[0].2, pair[1].1, "{pair:?}");
        }
    }

    #[test]
    fn a_step_that_some_judgements_lack_keeps_its_place() {
        let judgements = [
            judged(&[("a", 'p'), ("c", 'p')]),
            judged(&[("a", 'p'), ("b", 'p'), ("c", 'p'), ("panel", 'r')]),
        ];
        let names: Vec<String> = steps_of(&judgements).into_iter().map(|it| it.0).collect();
        assert_eq!(names, [BEFORE, "a", "b", "c", "panel"]);
        assert_eq!(steps_of(&[]), [(BEFORE.to_owned(), 0, 0)]);
    }

    fn rows_of(attempts: &[(Option<&str>, Verdict)]) -> Vec<(Option<String>, [u32; 4])> {
        let mut workers = Workers::default();
        for (worker, verdict) in attempts {
            workers.take(&attempt_by(*worker, *verdict));
        }
        let rows = workers.rows().into_iter();
        rows.map(|it| (it.name, [it.submissions, it.pass, it.review, it.fail]))
            .collect()
    }

    #[test]
    fn groups_workers_by_run_and_unnamed_ones_together() {
        use Verdict::{Fail, Pass, Review};
        let found = rows_of(&[
            (Some("run-00000007.1"), Pass),
            (Some("run-00000007.2"), Fail),
            (Some("run-00000007.2"), Review),
            (None, Pass),
            (None, Pass),
            (Some("kim"), Fail),
        ]);
        let expected = [
            (Some("run 00000007".to_owned()), [3, 1, 1, 1]),
            (None, [2, 2, 0, 0]),
            (Some("kim".to_owned()), [1, 0, 0, 1]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn changing_worker_names_are_grouped_as_others() {
        let names: Vec<String> = (0..MOST + 50).map(|number| format!("w{number}")).collect();
        let attempts: Vec<_> = names
            .iter()
            .map(|it| (Some(it.as_str()), Verdict::Fail))
            .collect();
        let found = rows_of(&attempts);
        assert_eq!(found.len(), MOST + 1);
        assert_eq!(found[0], (Some(OTHERS.to_owned()), [50, 0, 0, 50]));
    }
}
