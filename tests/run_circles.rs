//! `comail run`: agents that go round in circles are stopped for it, and patient ones are not.

use crate::harness::agents::Driven;

const FLAGS: [&str; 5] = [
    "--set=detect-warn=3",
    "--set=detect-stop=6",
    "--set=poll=10ms",
    "--set=grace=100ms",
    "--max-attempts=1",
];

/// Gives the right answer.
const RIGHT: &str = "comail submit --id $id --answer right";

/// Does this so often, with `$i` counting up.
fn times(count: u32, act: &str) -> String {
    format!("i=0; while [ $i -lt {count} ]; do i=$((i+1)); {act}; done; ")
}

fn driven() -> Driven {
    Driven::scanned(1, &["--pause-after=0", "--max-tries=99"])
}

/// Expects that an agent that does this so often is stopped for `reason`, and that without its
/// detector nobody minds.
#[track_caller]
fn is_stopped_for(reason: &str, act: &str, count: u32, others: &[&str]) {
    let driven_to = driven();
    let flags = [&FLAGS, others].concat();
    driven_to.ends_for(
        reason,
        &flags,
        &times(count, act).replace("done; ", "done; sleep 1000"),
    );
    assert_eq!(driven_to.reasons("attempt"), [reason]);
    assert_eq!(driven_to.reasons("quest"), [reason]);

    let driven_to = driven();
    let off = format!("--set=no-detect={reason}");
    let flags = [&flags, [off.as_str()].as_slice()].concat();
    driven_to.drive(&flags, &(times(count, act) + RIGHT)).ok();
    assert_eq!(driven_to.reasons("attempt"), ["settled"]);
}

#[test]
fn answers_that_go_in_a_circle() {
    let again = "comail submit --id $id --answer wrong";
    is_stopped_for("repeat", again, 7, &[]);
    // Its flags are wrong, so that nothing of it is in the ledger.
    let refused = "comail submit --id $id --reply it";
    is_stopped_for("repeat", refused, 7, &[]);
    let in_turn = "comail submit --id $id --answer wrong$((i % 2))";
    is_stopped_for("ping-pong", in_turn, 8, &[]);
}

#[test]
fn calls_that_bring_nothing_new() {
    is_stopped_for("poll", "comail next", 7, &[]);
    let mixed = "if [ $((i % 2)) = 0 ]; then comail --json next; else comail status; fi";
    is_stopped_for("poll", mixed, 7, &[]);
    let line = r#"{"type":"tool_use","name":"Read","input":{"path":"a","from":1}}"#;
    let other = r#"{"type":"tool_use","name":"Read","input":{"from":1,"path":"a"}}"#;
    let act = format!("echo '{line}'; echo '{other}'");
    is_stopped_for("breaker", &act, 16, &[]);
    is_stopped_for("breaker", "comail status", 31, &["--set=no-detect=poll"]);
}

#[test]
fn other_answers_and_other_calls_are_no_circle() {
    let driven_to = driven();
    let act = "comail next; comail submit --id $id --answer wrong$i";
    driven_to.drive(&FLAGS, &(times(8, act) + RIGHT)).ok();
    assert_eq!(driven_to.place.attempts().len(), 9);

    let driven_to = driven();
    let act = r#"echo "{\"type\":\"tool_use\",\"name\":\"Read\",\"input\":{\"path\":$i}}""#;
    driven_to.drive(&FLAGS, &(times(40, act) + RIGHT)).ok();
}

#[test]
fn a_call_of_comail_in_the_events_counts_once() {
    let driven_to = driven();
    let event = r#"{"type":"tool_use","name":"Bash","input":{"command":"comail status"}}"#;
    let act = format!("echo '{event}'; comail status");
    // Counted twice, five would be ten, which is enough to be stopped.
    driven_to.drive(&FLAGS, &(times(5, &act) + RIGHT)).ok();
    assert_eq!(driven_to.reasons("attempt"), ["settled"]);
    driven().ends_for("poll", &FLAGS, &(times(6, &act) + "sleep 1000"));
}

#[test]
fn a_warning_is_a_fact_for_the_next_start() {
    let script = format!(
        "case \"$prompt\" in *'submitted the same answer'*) {RIGHT}; exit;; esac; {}",
        times(4, "comail submit --id $id --answer wrong")
    );
    let flags = [
        "--set=detect-warn=3",
        "--set=detect-stop=6",
        "--max-attempts=2",
    ];
    let driven_to = driven();
    driven_to.drive(&flags, &script).ok();
    assert_eq!(driven_to.place.attempts().len(), 5);
    let flags = [&flags[..], &["--set=no-detect=repeat"]].concat();
    driven().ends_for("attempts", &flags, &script);
}

#[test]
fn one_that_is_slow_but_logs_outlives_its_lease() {
    let driven_to = Driven::new(2);
    let flags = ["--set=lease=2s", "--set=grace=100ms", "--parallel=2"];
    // One says nothing at all at first, the other something now and then.
    let slow = times(7, "echo at it; sleep 0.5");
    let script =
        format!("if [ $id = 1 ]; then mkdir first && exec sleep 1000; else {slow} fi; {RIGHT}");
    driven_to.drive(&flags, &script).ok();
    let starts = |quest: u64| {
        let mut starts = driven_to.steps_of("attempt");
        starts.retain(|start| start["quest"] == quest);
        starts
            .iter()
            .map(|it| it["reason"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(starts(1), ["agent-failed", "settled"]);
    assert_eq!(starts(2), ["settled"]);
}
