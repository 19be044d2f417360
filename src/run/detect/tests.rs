use crate::base::rows;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::session::Reason;

fn digest(number: u32) -> Digest {
    Digest::of(&number.to_le_bytes())
}

fn of_tool(tool: &str, arguments: &Value) -> Digest {
    tool_call(tool, arguments).unwrap()
}

fn reads(number: u32) -> Observed {
    Observed::Tool(of_tool("Read", &json!({ "page": number })))
}

fn observe_all(detectors: &mut Detectors, all: impl IntoIterator<Item = Observed>) -> Vec<Alarm> {
    let alarms = all.into_iter().filter_map(|it| detectors.observe(it));
    alarms.collect()
}

/// Of the alarms, those about calls.
fn about_calls(all: impl IntoIterator<Item = Observed>) -> Vec<(Detector, Level, u32)> {
    let mut detectors = Detectors::new(Settings::default());
    let mut seen = observe_all(&mut detectors, all);
    seen.retain(|alarm| alarm.circle == Circle::Calls);
    let told = seen.iter().map(|it| (it.detector, it.level, it.count));
    told.collect()
}

fn alarms(all: impl IntoIterator<Item = Observed>) -> Vec<(Detector, Level, u32)> {
    let mut detectors = Detectors::new(Settings::default());
    observe_all(&mut detectors, all)
        .iter()
        .map(|alarm| (alarm.detector, alarm.level, alarm.count))
        .collect()
}

#[test]
fn each_circle_gives_one_warning_and_then_stops_the_agent() {
    use Detector::{PingPong, Poll, Repeat};
    let same = Observed::Judged(digest(1));
    let to_and_fro = |n: u32| Observed::Judged(digest(n % 2));
    let warned = |which| (which, Level::Warn, 10);
    let stopped = |which| (which, Level::Stop, 20);
    let now_and_then = |n: u32| if n.is_multiple_of(4) { same } else { reads(n) };
    let every_third = |n: u32| {
        if n.is_multiple_of(3) {
            Observed::Poll
        } else {
            reads(n)
        }
    };
    let refused = |n| Observed::Refused(digest(n));
    for (case, observed, expected) in rows! {
        "too few answers", vec![same; 9] => vec![];
        "a repeat", vec![same; 19] => vec![warned(Repeat)];
        "many repeats", vec![same; 20] => vec![warned(Repeat), stopped(Repeat)];
        "an answer that is refused each time", vec![refused(7); 20]
            => vec![warned(Repeat), stopped(Repeat)];
        "others are refused", (0..100).map(refused).collect() => vec![];
        "too few polls", vec![Observed::Poll; 9] => vec![];
        "polls", vec![Observed::Poll; 20] => vec![warned(Poll), stopped(Poll)];
        "now and then an answer", (0..300).map(now_and_then).collect() => vec![];
        // As the window moves, nine or ten of it are polls: there is one warning.
        "every third is a poll", (0..300).map(every_third).collect() => vec![warned(Poll)];
    } {
        assert_eq!(alarms(observed), expected, "{case}");
    }
    let often = (0..29).map(|n| if n % 3 == 2 { reads(n) } else { same });
    let stop = stopped(Repeat);
    assert_eq!(alarms(often).last(), Some(&stop), "others do not hide it");
    let seen = alarms((0..20).map(to_and_fro));
    assert!(seen.contains(&warned(PingPong)), "{seen:?}");
    assert_eq!(seen.last(), Some(&stopped(PingPong)));
    let between_four = alarms((0..40).map(|n| Observed::Judged(digest(n % 4))));
    assert!(!between_four.iter().any(|(which, ..)| *which == PingPong));
}

#[test]
fn a_change_in_between_breaks_the_circle() {
    let same = Observed::Judged(digest(1));
    let over_a_changed_tree = (0..100).flat_map(|_| [Observed::Progress, same]);
    assert_eq!(alarms(over_a_changed_tree), []);
    let asked_after_an_answer = (0..100).flat_map(|n| {
        let answer = Observed::Judged(digest(n));
        [Observed::Poll, Observed::Poll, answer]
    });
    assert_eq!(alarms(asked_after_an_answer), []);
}

#[test]
fn tool_calls_can_go_in_circles() {
    let warned = |which| (which, Level::Warn, 10);
    let stopped = |which| (which, Level::Stop, 20);
    let same = vec![reads(1); 25];
    let both = [warned(Detector::Repeat), stopped(Detector::Repeat)];
    assert_eq!(about_calls(same.clone()), both);
    assert_eq!(alarms(same), both);
    let in_turn: Vec<_> = (0..19).map(|n| reads(n % 2)).collect();
    let found = about_calls(in_turn.clone());
    assert!(found.contains(&warned(Detector::PingPong)), "{found:?}");
    let found = about_calls([in_turn, vec![reads(1)]].concat());
    assert_eq!(found.last(), Some(&stopped(Detector::PingPong)));
    // Others, and the same after an answer or a change, are none.
    assert_eq!(alarms((0..25).map(reads)), []);
    for news in [Observed::Progress, Observed::Judged(digest(7))] {
        let again = [vec![reads(1); 9], vec![news], vec![reads(1); 9]].concat();
        assert_eq!(alarms(again), [], "{news:?}");
    }
}

#[test]
fn steps_without_anything_new_trip_the_breaker() {
    let tripped = (Detector::Breaker, Level::Stop, 30);
    let four = |count: u32| (0..count).map(|n| reads(n % 4));
    assert_eq!(alarms(four(33)), []);
    assert_eq!(alarms(four(34)), [tripped], "the first four were new");
    let mut detectors = Detectors::new(Settings::default());
    let all = (0..30).flat_map(|_| [Observed::Began, Observed::Poll]);
    let seen = observe_all(&mut detectors, all);
    let reasons: Vec<_> = seen.iter().filter_map(Alarm::reason).collect();
    assert_eq!(reasons, [Reason::Breaker], "across processes too");
}

#[test]
fn a_new_process_begins_with_an_empty_window() {
    let nineteen = vec![Observed::Judged(digest(1)); 19];
    let again = nineteen.iter().copied().chain([Observed::Began]);
    let stops = alarms(again.chain(vec![Observed::Judged(digest(1)); 1]));
    assert_eq!(stops, [(Detector::Repeat, Level::Warn, 10)]);
}

#[test]
fn a_disabled_detector_raises_no_alarm() {
    let polls = vec![Observed::Poll; 25];
    let settings = Settings::default().without(Detector::Poll);
    assert_eq!(
        observe_all(&mut Detectors::new(settings), polls.clone()),
        []
    );
    let others = Settings::default().without(Detector::Repeat);
    let seen = observe_all(&mut Detectors::new(others), polls);
    assert_eq!(seen.len(), 2);
}

fn any_observed() -> impl Strategy<Value = Observed> {
    prop_oneof![
        1 => Just(Observed::Began),
        8 => (0..4_u32).prop_map(reads),
        4 => Just(Observed::Poll),
        4 => (0..3_u32).prop_map(|n| Observed::Refused(digest(n))),
        8 => (0..3_u32).prop_map(|n| Observed::Judged(digest(n))),
        1 => Just(Observed::Progress),
    ]
}

proptest! {
    #[test]
    fn an_agent_that_gets_on_is_never_alarmed_about(steps in prop::collection::vec(0..4_u8, 0..400)) {
        let mut detectors = Detectors::new(Settings::default());
        for (number, step) in (0..).zip(steps) {
            let observed = match step {
                0 => Observed::Judged(digest(number)),
                1 => Observed::Refused(digest(number)),
                _ => reads(number),
            };
            prop_assert_eq!(detectors.observe(observed), None);
        }
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

fn alarm(detector: Detector, level: Level) -> Alarm {
    Alarm {
        detector,
        circle: Circle::Answers,
        level,
        count: 10,
        settings: Settings::default(),
    }
}

#[test]
fn a_warning_names_the_count_and_the_limit() {
    assert_eq!(
        alarm(Detector::PingPong, Level::Warn).text(),
        "the last 10 answers alternated between the same two; at 20 the work on this quest \
         ends"
    );
    let of_calls = Alarm {
        circle: Circle::Calls,
        ..alarm(Detector::Repeat, Level::Stop)
    };
    assert_eq!(
        of_calls.text(),
        "10 of the last 30 calls gave the same tool the same arguments, although nothing had changed"
    );
    let stop = alarm(Detector::Breaker, Level::Stop).text();
    assert_eq!(stop, "the last 10 calls brought nothing new");
    for detector in Detector::ALL {
        assert_eq!(alarm(detector, Level::Warn).reason(), None);
        let stop = alarm(detector, Level::Stop);
        assert_eq!(stop.reason(), Some(detector.reason()));
    }
}

#[test]
fn a_call_is_identified_by_tool_and_arguments() {
    let one = of_tool("Read", &json!({"path": "a"}));
    assert_eq!(one, of_tool("Read", &json!({"path": "a"})));
    assert_ne!(one, of_tool("Write", &json!({"path": "a"})));
    assert_ne!(one, of_tool("Read", &json!({"path": "b"})));
    assert_ne!(
        of_tool("Read", &json!(["a", "b"])),
        of_tool("Read", &json!(["b", "a"])),
        "the order of a list does count"
    );
}

proptest! {
    #[test]
    fn the_order_of_keys_does_not_hide_a_repeat(
        fields in prop::collection::btree_map("[a-z]{1,4}", any::<i32>(), 1..6)
            .prop_flat_map(|map| {
                let fields: Vec<_> = map.into_iter().collect();
                (Just(fields.clone()), Just(fields).prop_shuffle())
            })
    ) {
        let text = |fields: &[(String, i32)]| {
            let fields: Vec<_> = fields.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
            format!("{{\"in\":[{{{}}}]}}", fields.join(","))
        };
        let call = |fields: &[(String, i32)]| {
            let arguments: Value = serde_json::from_str(&text(fields)).unwrap();
            of_tool("Edit", &arguments)
        };
        let (one, two) = fields;
        prop_assert_eq!(call(&one), call(&two));
        let mut other = one.clone();
        other[0].1 = other[0].1.wrapping_add(1);
        prop_assert_ne!(call(&one), call(&other));
    }
}

const INTERVAL: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_mins(1);

fn sees(monitor: &mut LivenessMonitor, at: u64, cpu: u64, printed: u64) -> bool {
    let now = VitalSigns {
        cpu: Duration::from_millis(cpu),
        printed,
    };
    monitor.is_stalled(Duration::from_millis(at), now)
}

fn stalled_after(seconds: u64, cpu: impl Fn(u64) -> u64, printed: impl Fn(u64) -> u64) -> bool {
    let mut monitor = LivenessMonitor::new(INTERVAL, PATIENCE);
    let looks = 1..=seconds * 10;
    looks
        .map(|look| sees(&mut monitor, look * 100, cpu(look), printed(look)))
        .last()
        .unwrap()
}

#[test]
fn an_agent_has_stalled_if_it_neither_computes_nor_prints() {
    assert!(!stalled_after(60, |_| 0, |_| 0));
    assert!(stalled_after(61, |_| 0, |_| 0));
    assert!(!stalled_after(36_000, |look| look / 500 * 10, |_| 0));
    assert!(!stalled_after(36_000, |_| 0, |look| look / 500));
}

#[test]
fn an_agent_that_resumes_is_no_longer_stalled() {
    let mut monitor = LivenessMonitor::new(INTERVAL, PATIENCE);
    for look in 1..=700 {
        sees(&mut monitor, look * 100, 0, 0);
    }
    assert!(sees(&mut monitor, 70_100, 0, 0));
    assert!(!sees(&mut monitor, 70_200, 10, 0));
}

#[test]
fn time_in_which_the_machine_was_suspended_does_not_count() {
    let mut monitor = LivenessMonitor::new(INTERVAL, PATIENCE);
    assert!(!sees(&mut monitor, 8 * 3_600_000, 0, 0));
    assert_eq!(monitor.silent, Duration::from_secs(1));
}

#[test]
fn the_set_of_seen_digests_is_bounded() {
    let mut seen = Seen::default();
    for number in 0..4096 {
        assert!(seen.is_new(digest(number)));
    }
    assert!(!seen.is_new(digest(0)) && seen.is_new(digest(4096)));
    assert!(seen.0.len() <= MAX_SEEN && seen.is_new(digest(0)));
}

#[test]
fn each_detector_can_be_switched_off_by_its_name() {
    for detector in Detector::ALL {
        let named: Detector = detector.reason().label().parse().unwrap();
        let off = Settings::default().without(named).off;
        for other in Detector::ALL {
            assert_eq!(off[other as usize], other == detector);
        }
    }
    assert!("loop".parse::<Detector>().is_err());
}

#[test]
fn calls_of_comail_are_not_counted_as_tool_calls() {
    for (arguments, is_own) in rows! {
        json!({"command": "comail next"}) => true;
        json!({"command": "cd /x && /opt/bin/comail --json submit --id 3"}) => true;
        json!({"command": ["bash", "-lc", "comail status"]}) => true;
        json!({"cmd": ["comail", "status"]}) => true;
        json!({"command": "comail rules; git status"}) => false;
        json!({"path": "/src/comail/next.rs.bak/x"}) => true;
        json!({"path": "/src/comail/lib.rs"}) => false;
        json!({"command": "comailx next"}) => false;
    } {
        assert_eq!(tool_call("t", &arguments).is_none(), is_own, "{arguments}");
    }
    for (tool, is_own) in [
        ("mcp__comail__next", true),
        ("comail_submit", true),
        ("mcp__comailx__next", false),
        ("comail_rules", false),
    ] {
        assert_eq!(tool_call(tool, &json!({})).is_none(), is_own, "{tool}");
    }
}

#[test]
fn a_submission_is_known_by_its_flags_in_any_order() {
    let of = |line: &str| submission_of_words(&line.split(' ').collect::<Vec<_>>());
    let one = of("submit --id 3 --email a@b.c --site=https://b.c");
    assert!(one.is_some());
    assert_eq!(
        of("--json submit --site https://b.c --email=a@b.c --id 3"),
        one
    );
    for other in [
        "submit --id 4 --email a@b.c --site https://b.c",
        "submit --id 3 --email https://b.c --site a@b.c",
        "submit --id 3",
        "--session next submit",
    ] {
        assert_ne!(of(other), one, "{other}");
    }
    for other in ["--session dir next", "rules", ""] {
        assert_eq!(of(other), None);
    }
}
