//! What goes round in circles is told of, and what goes on is left alone.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::session::Reason;

fn digest(number: u32) -> Digest {
    Digest::of(&number.to_le_bytes())
}

fn reads(number: u32) -> Observed {
    Observed::Call(Call::new("Read", &json!({ "page": number })))
}

fn noted(own: Own) -> Observed {
    Observed::Call(Call::noted(own))
}

fn observe_all(detectors: &mut Detectors, all: impl IntoIterator<Item = Observed>) -> Vec<Alarm> {
    let alarms = all.into_iter().filter_map(|it| detectors.observe(it));
    alarms.collect()
}

fn alarms(all: impl IntoIterator<Item = Observed>) -> Vec<(Detector, Level, u32)> {
    let mut detectors = Detectors::new(Settings::default());
    observe_all(&mut detectors, all)
        .iter()
        .map(|alarm| (alarm.detector, alarm.level, alarm.count))
        .collect()
}

#[test]
fn the_same_answer_again_is_warned_of_once_and_then_stopped() {
    let same = |times| vec![Observed::Submitted(digest(1)); times];
    assert_eq!(alarms(same(9)), []);
    let warning = (Detector::Repeat, Level::Warn, 10);
    assert_eq!(alarms(same(19)), [warning]);
    let stop = (Detector::Repeat, Level::Stop, 20);
    assert_eq!(alarms(same(20)), [warning, stop]);
}

#[test]
fn other_calls_in_between_do_not_hide_a_repeat() {
    let often = (0..29).map(|n| match n % 3 {
        2 => reads(n),
        _ => Observed::Submitted(digest(1)),
    });
    let stop = (Detector::Repeat, Level::Stop, 20);
    assert_eq!(alarms(often).last(), Some(&stop));
    let seldom = (0..300).map(|n| match n % 4 {
        0 => Observed::Submitted(digest(1)),
        _ => reads(n),
    });
    assert_eq!(alarms(seldom), []);
}

#[test]
fn an_answer_that_is_judged_and_called_is_one() {
    let call = noted(Own::Submit(digest(7)));
    let once = [call, Observed::Submitted(digest(1))];
    let nine = once.into_iter().cycle().take(18);
    assert_eq!(alarms(nine), []);
    let late = once.into_iter().rev().cycle().take(18);
    assert_eq!(alarms(late), []);
    let ten = alarms(once.into_iter().cycle().take(20));
    assert_eq!(ten, [(Detector::Repeat, Level::Warn, 10)]);
}

#[test]
fn the_same_call_with_other_answers_is_no_repeat() {
    let call = noted(Own::Submit(digest(7)));
    let all = (0..60).flat_map(|n| [call, Observed::Submitted(digest(n))]);
    assert_eq!(alarms(all), []);
}

#[test]
fn a_call_that_is_refused_each_time_is_a_repeat() {
    let stop = (Detector::Repeat, Level::Stop, 20);
    let refused = alarms(vec![noted(Own::Submit(digest(7))); 20]);
    assert_eq!(refused.last(), Some(&stop));
    let others = (0..100).map(|n| noted(Own::Submit(digest(n))));
    assert_eq!(alarms(others), []);
}

#[test]
fn the_same_answer_over_a_changed_tree_is_another() {
    let all = (0..100).flat_map(|_| [Observed::Progress, Observed::Submitted(digest(1))]);
    assert_eq!(alarms(all), []);
}

#[test]
fn going_to_and_fro_is_stopped() {
    let between_two = (0..20).map(|n| Observed::Submitted(digest(n % 2)));
    let seen = alarms(between_two);
    assert!(
        seen.contains(&(Detector::PingPong, Level::Warn, 10)),
        "{seen:?}"
    );
    assert_eq!(seen.last(), Some(&(Detector::PingPong, Level::Stop, 20)));
    let between_four = (0..40).map(|n| Observed::Submitted(digest(n % 4)));
    let seen = alarms(between_four);
    assert!(!seen.iter().any(|(which, ..)| *which == Detector::PingPong));
}

#[test]
fn asking_over_and_over_is_stopped() {
    let asked = |times| {
        let all = [noted(Own::Next), noted(Own::Status)];
        all.into_iter().cycle().take(times)
    };
    assert_eq!(alarms(asked(9)), []);
    let stop = (Detector::Poll, Level::Stop, 20);
    assert_eq!(alarms(asked(20)).last(), Some(&stop));
}

#[test]
fn who_asks_after_something_changed_is_not_polling() {
    let all = (0..100).flat_map(|n| {
        let answer = Observed::Submitted(digest(n));
        [noted(Own::Next), noted(Own::Status), answer]
    });
    assert_eq!(alarms(all), []);
}

#[test]
fn nothing_new_trips_the_breaker() {
    let tripped = (Detector::Breaker, Level::Stop, 30);
    assert_eq!(alarms(vec![reads(1); 30]), []);
    assert_eq!(alarms(vec![reads(1); 31]), [tripped], "the first was new");
    let mut detectors = Detectors::new(Settings::default());
    let all = (0..30).flat_map(|_| [Observed::Began, noted(Own::Next)]);
    let seen = observe_all(&mut detectors, all);
    let reasons: Vec<_> = seen.iter().filter_map(Alarm::reason).collect();
    assert_eq!(reasons, [Reason::Breaker], "across processes too");
}

#[test]
fn a_new_process_begins_with_an_empty_window() {
    let nineteen = vec![Observed::Submitted(digest(1)); 19];
    let again = nineteen.iter().copied().chain([Observed::Began]);
    let stops = alarms(again.chain(vec![Observed::Submitted(digest(1)); 1]));
    assert_eq!(stops, [(Detector::Repeat, Level::Warn, 10)]);
}

#[test]
fn a_detector_that_is_off_says_nothing() {
    let polls = vec![noted(Own::Next); 25];
    let settings = Settings::default().without(Detector::Poll);
    assert_eq!(
        observe_all(&mut Detectors::new(settings), polls.clone()),
        []
    );
    let others = Settings::default().without(Detector::Repeat);
    let seen = observe_all(&mut Detectors::new(others), polls);
    assert_eq!(seen.len(), 2);
}

#[test]
fn a_warning_that_was_given_is_not_given_again_while_it_holds() {
    // Every third call is a poll: as the window moves, nine or ten of it are.
    let all = (0..300).map(|n| match n % 3 {
        0 => noted(Own::Status),
        _ => reads(n),
    });
    assert_eq!(alarms(all), [(Detector::Poll, Level::Warn, 10)]);
}

fn any_observed() -> impl Strategy<Value = Observed> {
    prop_oneof![
        1 => Just(Observed::Began),
        8 => (0..4_u32).prop_map(reads),
        4 => Just(noted(Own::Next)),
        4 => (0..3_u32).prop_map(|n| noted(Own::Submit(digest(n)))),
        8 => (0..3_u32).prop_map(|n| Observed::Submitted(digest(n))),
        1 => Just(Observed::Progress),
    ]
}

proptest! {
    #[test]
    fn an_agent_that_gets_on_is_never_alarmed_about(steps in prop::collection::vec(0..4_u8, 0..400)) {
        let mut detectors = Detectors::new(Settings::default());
        for (number, step) in (0..).zip(steps) {
            let observed = match step {
                0 => Observed::Submitted(digest(number)),
                1 => noted(Own::Submit(digest(number))),
                _ => reads(number),
            };
            prop_assert_eq!(detectors.observe(observed), None);
        }
    }

    #[test]
    fn a_settled_quest_leaves_nothing_behind(steps in prop::collection::vec(any_observed(), 0..200)) {
        let mut detectors = Detectors::new(Settings::default());
        observe_all(&mut detectors, steps.clone());
        prop_assert_eq!(detectors.observe(Observed::Settled), None);
        prop_assert!(detectors.is_empty());
        let mut fresh = Detectors::new(Settings::default());
        let again = observe_all(&mut detectors, steps.clone());
        prop_assert_eq!(again, observe_all(&mut fresh, steps));
    }

    #[test]
    fn whoever_brings_nothing_new_is_stopped(cycle in prop::collection::vec(any_observed(), 1..6)) {
        let cycle: Vec<_> = cycle
            .into_iter()
            .filter(|it| !matches!(it, Observed::Progress | Observed::Began))
            .collect();
        prop_assume!(!cycle.is_empty());
        let endless = cycle.iter().copied().cycle().take(cycle.len() * 40);
        let mut detectors = Detectors::new(Settings::default());
        let seen = observe_all(&mut detectors, endless);
        prop_assert!(seen.iter().any(|alarm| alarm.reason().is_some()));
    }
}
