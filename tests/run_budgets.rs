//! `comail run`: each budget ends a run, and so do a paused session and a backend that is gone.

use crate::harness::agents::Driven;

const SUBMITS: &str = "comail submit --id $id --answer right";

/// So that nothing takes long that is stopped.
const QUICK: [&str; 3] = [
    "--set=grace=100ms",
    "--set=last-call=200ms",
    "--set=poll=10ms",
];

#[track_caller]
fn ends_for(reason: &str, quests: u32, flag: &str, script: &str) -> Driven {
    let driven = Driven::new(quests);
    let flags = [&QUICK[..], &[flag]].concat();
    driven.ends_for(reason, &flags, script);
    driven
}

/// Tells so much in its own words, and goes on for ever.
fn tells(usage: &str) -> String {
    format!("echo '{usage}'; exec sleep 1000")
}

#[test]
fn starts_for_a_quest_and_in_all() {
    let driven = ends_for("attempts", 1, "--max-attempts=2", ":");
    assert_eq!(driven.reasons("attempt").len(), 3, "with the last call");
    let driven = ends_for("attempts", 3, "--set=max-attempts-total=2", ":");
    assert_eq!(driven.reasons("quest"), ["attempts"]);
    assert_eq!(driven.reasons("attempt").len(), 3);
}

#[test]
fn quests() {
    let driven = ends_for("quests", 3, "--max-quests=2", SUBMITS);
    assert_eq!(driven.tally("pass"), 2);
    let ledger = String::from_utf8(driven.place.ledger()).expect("UTF-8");
    let claims = ledger.matches(r#""type":"claim""#).count();
    assert_eq!(claims, 2, "nothing is claimed for which there is no budget");
    driven.drive(&["--max-quests=1"], SUBMITS).ok();
}

#[test]
fn time_for_a_quest_and_in_all() {
    let driven = ends_for("wall-clock", 2, "--wall-clock=300ms", "exec sleep 1000");
    assert_eq!(driven.reasons("quest"), ["wall-clock"]);
    let driven = ends_for(
        "quest-timeout",
        2,
        "--quest-timeout=300ms",
        "exec sleep 1000",
    );
    assert_eq!(driven.reasons("quest"), ["quest-timeout"; 2]);
}

#[test]
fn tokens_for_a_quest_and_in_all() {
    let many = tells(r#"{"usage":{"input_tokens":5000,"output_tokens":1}}"#);
    let driven = ends_for("tokens", 1, "--max-tokens=5k", &many);
    let attempt = &driven.steps_of("attempt")[0];
    assert_eq!(attempt["spent"]["tokens"], 5001);
    // Anything may have printed it.
    assert_eq!(attempt["spent"]["told"], false);
    let driven = ends_for("tokens", 2, "--set=max-tokens-total=5k", &many);
    assert_eq!(driven.reasons("quest"), ["tokens"]);
}

#[test]
fn money_told_and_estimated() {
    let told = tells(r#"{"total_cost_usd":1.5,"usage":{"input_tokens":7,"output_tokens":1}}"#);
    let driven = ends_for("cost", 1, "--max-cost=1.40", &told);
    let attempt = &driven.steps_of("attempt")[0];
    assert_eq!(attempt["spent"]["cost"], 1_500_000_000_u64);
    // A price of its own for a million tokens, where nothing but tokens are told.
    let untold = tells(r#"{"usage":{"input_tokens":1000,"output_tokens":0}}"#);
    let driven = Driven::new(1);
    let flags = [
        &QUICK[..],
        &["--set=max-quest-cost=0.01", "--set=token-price=10"],
    ]
    .concat();
    driven.ends_for("cost", &flags, &untold);
}

#[test]
fn turns_that_bring_little() {
    let turn = |tokens| format!(r#"echo '{{"usage":{{"input_tokens":{tokens}}}}}';"#);
    let little = turn(499).repeat(3) + "exec sleep 1000";
    ends_for("diminishing", 1, "--max-attempts=9", &little);
    let share = turn(900) + "exec sleep 1000";
    ends_for("diminishing", 1, "--max-tokens=1000", &share);
    // Five hundred are not little, and two turns in a row are not yet three.
    let driven = Driven::new(1);
    let enough = turn(500).repeat(4) + &turn(1).repeat(2) + &turn(500) + &turn(1).repeat(2);
    driven
        .drive(&QUICK, &(enough + "sleep 0.2;" + SUBMITS))
        .ok();
    assert_eq!(driven.reasons("attempt"), ["settled"]);
}

#[test]
fn an_agent_within_all_budgets_gets_all_done() {
    let driven = Driven::new(2);
    let flags = [
        "--max-attempts=1",
        "--set=max-attempts-total=2",
        "--max-quests=2",
        "--wall-clock=10m",
        "--quest-timeout=10m",
        "--max-tokens=5k",
        "--set=max-tokens-total=10k",
        "--max-cost=3",
    ];
    let script = format!(
        r#"echo '{{"total_cost_usd":1.4,"usage":{{"input_tokens":4000}}}}'; sleep 0.2; {SUBMITS}"#
    );
    driven.drive(&flags, &script).ok();
    assert_eq!(driven.reasons("attempt"), ["settled"; 2]);
}

#[test]
fn a_session_that_is_paused() {
    let flags = ["--pause-after=1", "--max-tries=1"];
    let wrong = "comail submit --id $id --answer wrong";
    let driven = Driven::scanned(2, &flags);
    driven.ends_for("paused", &QUICK, wrong);
    assert_eq!(driven.tally("todo"), 1);
    let driven = Driven::scanned(2, &["--pause-after=0", "--max-tries=1"]);
    driven.drive(&QUICK, wrong).ok();
    assert_eq!(driven.reasons("ended"), ["complete"]);
}

#[test]
fn a_backend_that_refuses_the_agent_burns_no_try() {
    let flags = ["--set=breaker=2", "--set=backoff=1ms", "--max-attempts=3"];
    // The words of an agent that ends well are only words.
    let driven = Driven::new(1);
    let only_words = "echo 'Please run /login' >&2; exit 0";
    driven.ends_for("attempts", &flags, only_words);

    let driven = Driven::new(1);
    let limited = "echo 'API Error: 429 Too Many Requests'; exit 1";
    driven.ends_for("breaker", &flags, limited);
    assert_eq!(driven.place.attempts(), []);
    let comes_back = format!("mkdir once && {{ {limited}; }}; {SUBMITS}");
    driven.drive(&flags, &comes_back).ok();
    assert_eq!(driven.place.attempts().len(), 1);
}

#[test]
fn a_further_start_goes_on_with_the_conversation_where_that_is_asked_for() {
    let script = "echo '{\"session_id\":\"c7\"}'; if [ \"$1\" = --resume=c7 ]; then \
         comail submit --id $id --answer right; fi";
    let words = ["agent", "--resume={conversation}"];
    let driven = Driven::new(1);
    let flags = ["--resume", "--max-attempts=2"];
    let mut command = driven.command(&flags, script);
    crate::harness::Run::of(command.args(words)).ok();
    assert_eq!(driven.reasons("attempt"), ["agent-failed", "settled"]);

    let driven = Driven::new(1);
    let mut command = driven.command(&["--max-attempts=2"], script);
    driven.run_ends_for("attempts", command.args(words));
    let driven = Driven::new(1);
    let _ = driven.drive(&["--resume"], script).exits(2);
}

/// Wants to stop, and keeps what the hook says to that.
const ASKS: &str = "case \"$prompt\" in *'last call'*) at=last;; *) at=usual;; esac; \
     echo '{\"hook_event_name\":\"Stop\",\"stop_hook_active\":false}' | comail hook stop > $at; \
     echo \"${COMAIL_LAST_CALL-none}\" > $at.variable";

#[test]
fn at_the_last_call_the_agent_may_stop_and_before_it_may_not() {
    let driven = Driven::new(1);
    let mut command = driven.command(&["--max-attempts=1"], ASKS);
    // As where an agent at its own last call starts a run.
    command.env("COMAIL_LAST_CALL", "1");
    driven.run_ends_for("attempts", &mut command);
    let said = |name: &str| std::fs::read_to_string(driven.place.at(name)).expect("an answer");
    let usual = said("usual");
    assert!(usual.contains("\"decision\":\"block\""), "{usual}");
    let last = said("last");
    assert!(last.contains("a budget of the run is used up"), "{last}");
    assert!(!last.contains("decision"), "{last}");
    assert_eq!(said("usual.variable"), "none\n");
    assert_eq!(said("last.variable"), "1\n");
}
