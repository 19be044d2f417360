//! `comail run`: the loop, its budgets, and agents that go round in circles.

use std::process::Command;

use crate::harness::agents::{Driven, QUICK};
use crate::harness::{Run, scale};

#[track_caller]
fn ends_for(reason: &str, quests: u32, flag: &str, script: &str) -> Driven {
    let driven = Driven::new(quests);
    let flags = [&QUICK[..], &[flag]].concat();
    driven.ends_for(reason, &flags, script);
    driven
}

/// Tells so much in its own words, and goes on forever.
fn tells(usage: &str) -> String {
    format!("echo '{usage}'; exec sleep 1000")
}

#[test]
fn starts_for_a_quest_and_in_all() {
    let driven = ends_for("attempts", 1, "--set=run.max-attempts=2", ":");
    assert_eq!(driven.reasons("attempt").len(), 3, "with the last call");
    let driven = ends_for("attempts", 3, "--set=max-attempts-total=2", ":");
    assert_eq!(driven.reasons("quest"), ["attempts"]);
    assert_eq!(driven.reasons("attempt").len(), 3);
}

#[test]
fn quests() {
    let driven = ends_for("quests", 3, "--set=run.max-quests=2", SUBMITS);
    assert_eq!(driven.tally("pass"), 2);
    let ledger = String::from_utf8(driven.place.ledger()).expect("UTF-8");
    let claims = ledger.matches(r#""type":"claim""#).count();
    assert_eq!(claims, 2, "nothing is claimed for which there is no budget");
    driven.drive(&["--set=run.max-quests=1"], SUBMITS).ok();
}

#[test]
fn time_for_a_quest_and_in_all() {
    let driven = ends_for("wall-clock", 2, "--wall-clock=300ms", "exec sleep 1000");
    assert_eq!(driven.reasons("quest"), ["wall-clock"]);
    let driven = ends_for(
        "quest-timeout",
        2,
        "--set=run.quest-timeout=300ms",
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

/// A Codex that calls so many tools, each with an output of 2,000 bytes, before it does `act`, and
/// reports its usage only after that.
fn codex(driven: &Driven, calls: u32, act: &str) -> Command {
    let script = format!(
        r#"#!/bin/sh
cat > /dev/null; id=1
out=$(head -c 2000 /dev/zero | tr '\0' x)
echo '{{"type":"thread.started","thread_id":"t-1"}}'
i=0; while [ $i -lt {calls} ]; do i=$((i+1))
item="\"id\":\"i$i\",\"type\":\"command_execution\",\"command\":\"cat $i\""
echo "{{\"type\":\"item.started\",\"item\":{{$item}}}}"
echo "{{\"type\":\"item.completed\",\"item\":{{$item,\"aggregated_output\":\"$out\"}}}}"
done
{act}
echo '{{"type":"turn.completed","usage":{{"input_tokens":9000,"output_tokens":7}}}}'"#
    );
    driven.known("codex", &script)
}

#[test]
fn tokens_are_estimated_for_an_agent_that_reports_them_at_its_end() {
    let driven = Driven::new(1);
    let mut command = codex(&driven, 20, "exec sleep 1000");
    let flags = [&QUICK[1..], &["--max-tokens=50k"]].concat();
    driven.run_ends_for("tokens", command.args(&flags));
    // It printed 45,000 bytes. Each of the calls was sent all that came before it.
    let attempt = &driven.steps_of("attempt")[0];
    assert!(
        attempt["spent"]["tokens"].as_u64() > Some(50_000),
        "{attempt}"
    );
    assert_eq!(attempt["spent"]["told"], false);
    // Fewer calls are within the budget.
    let driven = Driven::new(1);
    let mut command = codex(&driven, 10, SUBMITS);
    Run::of(command.args(&flags)).ok();
}

#[test]
fn after_a_pass_an_agent_has_a_moment_to_report_its_usage() {
    let spent = |calls, act: &str| {
        let driven = Driven::new(1);
        let mut command = codex(&driven, calls, act);
        Run::of(command.args(["--set=grace=3s", "--set=poll=10ms"])).ok();
        assert_eq!(driven.reasons("attempt"), ["settled"]);
        driven.steps_of("attempt")[0]["spent"].clone()
    };
    let reports = spent(2, &format!("{SUBMITS}; sleep 0.3"));
    assert_eq!(
        (&reports["tokens"], &reports["told"]),
        (&9007.into(), &true.into())
    );
    // It goes on with something else, or never ends.
    let more = r#"echo '{"type":"item.started","item":{"type":"web_search","query":"x"}}'"#;
    for act in [
        format!("{SUBMITS}; sleep 0.3; {more}; sleep 1"),
        format!("{SUBMITS}; exec sleep 1000"),
    ] {
        assert_eq!(spent(2, &act)["told"], false, "{act}");
    }
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
    ends_for("diminishing", 1, "--set=run.max-attempts=9", &little);
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
        "--set=run.max-attempts=1",
        "--set=max-attempts-total=2",
        "--set=run.max-quests=2",
        "--wall-clock=10m",
        "--set=run.quest-timeout=10m",
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
    let flags = ["--set=scan.pause-after=1", "--max-tries=1"];
    let wrong = "comail submit --id $id --answer wrong";
    let driven = Driven::scanned(2, &flags);
    driven.ends_for("paused", &QUICK, wrong);
    assert_eq!(driven.tally("todo"), 1);
    let driven = Driven::scanned(2, &["--set=scan.pause-after=0", "--max-tries=1"]);
    let run = driven.drive(&QUICK, wrong);
    run.says("note: Settled, not proven: 2 DONE; the report is ");
    run.says("hint: see why answers failed: `comail list --state done`");
    let text = run.exits(8);
    assert!(
        text.contains(" ended: all quests are settled: 0 PASS, 2 DONE\n"),
        "{text}"
    );
    assert_eq!(driven.reasons("ended"), ["complete"]);
    let accepts = [&QUICK[..], &["--accept-unproven"]].concat();
    driven.drive(&accepts, wrong).ok();
}

#[test]
fn a_backend_that_refuses_the_agent_burns_no_try() {
    let flags = [
        "--set=fruitless-starts=2",
        "--set=backoff=1ms",
        "--set=run.max-attempts=3",
    ];
    let driven = Driven::new(1);
    let limited = "echo 'API Error: 429 Too Many Requests'; exit 1";
    driven.ends_for("fruitless-starts", &flags, limited);
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
    let flags = ["--set=resume=true", "--set=run.max-attempts=2"];
    let mut command = driven.command(&flags, script);
    crate::harness::Run::of(command.args(words)).ok();
    assert_eq!(driven.reasons("attempt"), ["agent-failed", "settled"]);

    let driven = Driven::new(1);
    let mut command = driven.command(&["--set=run.max-attempts=2"], script);
    driven.run_ends_for("attempts", command.args(words));
    let driven = Driven::new(1);
    let _ = driven.drive(&["--set=resume=true"], script).exits(2);
}

/// Wants to stop, and keeps what the hook says to that.
const ASKS: &str = "case \"$prompt\" in *'last call'*) at=last;; *) at=usual;; esac; \
     echo '{\"hook_event_name\":\"Stop\",\"stop_hook_active\":false}' | comail hook stop > $at; \
     echo \"${COMAIL_LAST_CALL-none}\" > $at.variable";

#[test]
fn at_the_last_call_the_agent_may_stop_and_before_it_may_not() {
    let driven = Driven::new(1);
    let mut command = driven.command(&["--set=run.max-attempts=1"], ASKS);
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

const FLAGS: [&str; 5] = [
    "--set=detect-warn=3",
    "--set=detect-stop=6",
    "--set=poll=10ms",
    "--set=grace=100ms",
    "--set=run.max-attempts=1",
];

/// Gives the right answer.
const RIGHT: &str = "comail submit --id $id --answer right";

/// Does this so often, with `$i` counting up.
fn times(count: u32, act: &str) -> String {
    format!("i=0; while [ $i -lt {count} ]; do i=$((i+1)); {act}; done; ")
}

fn driven() -> Driven {
    Driven::scanned(1, &["--set=scan.pause-after=0", "--max-tries=99"])
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
    // Only the first call is judged, so that the ledger holds one answer.
    let keyed = "comail submit --id $id --answer wrong --idempotency-key k";
    is_stopped_for("repeat", keyed, 8, &[]);
    let in_turn = "comail submit --id $id --answer wrong$((i % 2))";
    is_stopped_for("ping-pong", in_turn, 8, &[]);
}

#[test]
fn calls_that_bring_nothing_new() {
    is_stopped_for("poll", "comail next", 7, &[]);
    let mixed = "if [ $((i % 2)) = 0 ]; then comail --json next; else comail status; fi";
    is_stopped_for("poll", mixed, 7, &[]);
    // Asks the judge for the fields of an answer alone, which does not count the first time.
    is_stopped_for("poll", "comail submit --help", 8, &[]);
    let line = r#"{"type":"tool_use","name":"Read","input":{"path":"a","from":1}}"#;
    let other = r#"{"type":"tool_use","name":"Read","input":{"from":1,"path":"a"}}"#;
    let act = format!("echo '{line}'; echo '{other}'");
    is_stopped_for("repeat", &act, 4, &[]);
    let read = |page| {
        format!(
            r#"echo "{{\"type\":\"tool_use\",\"name\":\"Read\",\"input\":{{\"page\":{page}}}}}""#
        )
    };
    is_stopped_for("ping-pong", &read("$((i % 2))"), 7, &[]);
    is_stopped_for("breaker", &read("$((i % 8))"), 39, &[]);
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
        "--set=run.max-attempts=2",
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
    assert_eq!(starts(1), ["stalled", "settled"]);
    assert_eq!(starts(2), ["settled"]);
}

const SUBMITS: &str = "comail submit --id $id --answer \"right $id\"";

const PRINTS: &str = "echo '{\"answer\":\"right it is\"}'";

#[test]
fn an_honest_agent_that_submits_gets_all_done() {
    let driven = Driven::new(3);
    let text = driven.drive(&[], SUBMITS).ok();
    assert!(
        text.contains(" ended: all quests are settled: 3 PASS\n"),
        "{text}"
    );
    assert_eq!(driven.tally("pass"), 3);
    assert_eq!(driven.reasons("attempt"), ["settled"; 3]);
    assert_eq!(driven.reasons("quest"), ["settled"; 3]);
    assert_eq!(driven.reasons("ended"), ["complete"]);
    driven.assert_free();
    driven.place.run(["audit"]).ok();
}

#[test]
fn an_honest_agent_that_prints_gets_all_done() {
    let driven = Driven::new(3);
    let prose = "echo 'First {\"answer\":\"wrong\"} came to mind.'; \
         echo 'So: {\"answer\":'; echo '\"right {so}\"} and that is all. }'";
    driven.drive(&["--answer=stdout"], prose).ok();
    assert_eq!(driven.tally("pass"), 3);
    assert_eq!(driven.place.attempts().len(), 3);
    assert_eq!(driven.reasons("quest"), ["settled"; 3]);
    driven.assert_free();
    driven.place.run(["audit"]).ok();
}

#[test]
fn after_a_fail_the_agent_is_driven_again_with_the_facts() {
    // What is no submission costs a start and no try.
    for (fact, first, judged) in [
        ("is-right", r#"{"answer":"no"}"#, 2),
        (r#"there is no field "reply""#, r#"{"reply":"right"}"#, 1),
    ] {
        let driven = Driven::new(1);
        let learns = format!(
            "case \"$prompt\" in *'{fact}'*) echo '{{\"answer\":\"right now\"}}';; \
             *) echo '{first}';; esac"
        );
        driven.drive(&["--answer=stdout"], &learns).ok();
        assert_eq!(driven.reasons("attempt"), ["agent-failed", "settled"]);
        assert_eq!(driven.place.attempts().len(), judged, "{fact}");
    }
}

#[test]
fn a_lazy_agent_is_driven_until_all_is_done() {
    let quests = scale::pick(40, 527);
    let driven = Driven::new(quests);
    // It is content after every fourth quest.
    let lazy =
        format!("[ $((id % 4)) -eq 0 ] && [ ! -e lazy$id ] && touch lazy$id && exit 0; {SUBMITS}");
    driven
        .drive(&["--parallel=2", "--set=backoff=1ms"], &lazy)
        .ok();
    assert_eq!(driven.tally("pass"), u64::from(quests));
    let failed = driven.reasons("attempt");
    let failed = failed.iter().filter(|it| *it == "agent-failed").count();
    assert_eq!(failed, quests as usize / 4);
}

#[test]
fn a_lying_agent_is_not_believed() {
    let driven = Driven::new(2);
    let lies = "echo 'All done, everything passes.'; echo 'COMPLETE'";
    let flags = [
        "--set=run.max-attempts=2",
        "--set=fruitless-starts=9",
        "--set=backoff=1ms",
    ];
    let text = driven.drive(&flags, lies).exits(8);
    assert!(text.contains("ended: attempts ("), "{text}");
    assert!(
        text.contains("start 3 (the last call) ended after"),
        "{text}"
    );
    assert_eq!(driven.tally("todo"), 2);
    assert_eq!(driven.reasons("quest"), ["attempts"; 2]);
    // Two starts and the last call, for each.
    assert_eq!(driven.reasons("attempt").len(), 6);
    assert_eq!(driven.place.attempts(), []);
    driven.assert_free();
}

#[test]
fn what_it_says_at_the_last_call_is_handed_to_whoever_is_next() {
    let driven = Driven::new(1);
    let says = "case \"$prompt\" in *'last call'*) echo 'looked at half; try the cellar';; esac";
    let _ = driven.drive(&["--set=run.max-attempts=1"], says).exits(8);
    let note = &driven.steps_of("quest")[0]["handover"];
    assert_eq!(note, "looked at half; try the cellar");
    let next = driven.place.run(["next"]).ok();
    assert!(next.contains("> looked at half; try the cellar"), "{next}");
    // And the next agent makes something of it.
    let heeds = "case \"$prompt\" in *'try the cellar'*) echo '{\"answer\":\"right\"}';; esac";
    driven.drive(&["--answer=stdout"], heeds).ok();
}

#[test]
fn what_is_handed_over_has_no_terminal_codes() {
    let driven = Driven::new(1);
    let says = "printf '\\033]0;title\\007\\033[1;31mtry the cellar\\033[0m\\n'";
    let _ = driven.drive(&["--set=run.max-attempts=1"], says).exits(8);
    assert_eq!(driven.steps_of("quest")[0]["handover"], "try the cellar");
}

#[test]
fn the_last_call_may_settle_the_quest() {
    let driven = Driven::new(1);
    let late = "case \"$prompt\" in *'last call'*) echo '{\"answer\":\"right\"}';; esac";
    driven
        .drive(&["--set=run.max-attempts=2", "--answer=stdout"], late)
        .ok();
    assert_eq!(driven.reasons("quest"), ["settled"]);
}

#[test]
fn workers_share_the_quests_and_none_is_driven_twice_at_once() {
    let driven = Driven::new(24);
    // Whoever finds another at its quest says so.
    let script = format!("mkdir at$id || echo $id >> twice; sleep 0.05; {SUBMITS}; rmdir at$id");
    driven.drive(&["--parallel=4"], &script).ok();
    assert_eq!(driven.tally("pass"), 24);
    assert!(!driven.place.at("twice").exists());
    assert_eq!(driven.place.attempts().len(), 24);
    assert_eq!(driven.steps_of("began")[0]["workers"], 4);
}

#[test]
fn an_agent_is_stopped_once_its_quest_is_settled() {
    let driven = Driven::new(1);
    // It would go on forever.
    let script = format!("{SUBMITS}; echo settled > settled; sleep 1000");
    driven.drive(&[], &script).ok();
    assert!(driven.reasons("attempt") == ["settled"]);
}

#[test]
fn a_prompt_carries_what_was_learned_and_a_report_is_written() {
    let driven = Driven::new(2);
    let keeps = format!("printf '%s\\n' \"$prompt\" > prompt$id; {PRINTS}");
    let run = driven.drive(&["--answer=stdout"], &keeps);
    run.says("COMPLETE; the report is ");
    run.ok();
    let prompt = |id| std::fs::read_to_string(driven.place.at(id)).expect("a prompt");
    assert!(!prompt("prompt1").contains("passed last"));
    let second = prompt("prompt2");
    assert!(second.contains("passed last, in quest 1"), "{second}");
    let run = driven.steps_of("began")[0]["run"].clone();
    let folder = format!(".comail/runs/{}", run.as_str().expect("a name"));
    let written = |name| std::fs::read_to_string(driven.place.at(&folder).join(name));
    assert!(written("report.md").expect("a report").contains("COMPLETE"));
    let page = written("report.html").expect("a page");
    assert!(page.starts_with("<!doctype html>"), "{page}");
}

#[test]
fn json_is_a_line_for_each_event() {
    let driven = Driven::new(1);
    let mut command = driven.command(&["--json", "--answer=stdout"], PRINTS);
    let run = crate::harness::Run::of(&mut command).ok();
    let whats: Vec<String> = run
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .filter_map(|it| it["what"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(whats, ["began", "attempt", "quest", "ended", "report"]);
}

#[test]
fn a_dry_run_of_each_known_agent_says_which_flags_it_needs() {
    let place = crate::harness::Place::new();
    let names = "claude codex gemini aider cursor opencode amp goose qwen copilot";
    let text: String = names
        .split(' ')
        .map(|name| {
            let agent = format!("--agent={name}");
            place.run(["run", &agent, "--dry-run"]).ok() + "\n"
        })
        .collect();
    insta::assert_snapshot!("dry_run", text);
    // An agent that runs no commands prints its answer.
    let args = ["run", "--agent=aider", "--answer=submit", "--dry-run"];
    let run = place.run(args);
    run.says("aider runs no commands; use --answer stdout");
    let _ = run.exits(2);
}

#[test]
fn the_prompt_of_an_agent_with_a_login_shell_names_the_program_by_its_path() {
    for (name, program) in [
        ("codex", env!("CARGO_BIN_EXE_comail")),
        ("claude", "comail"),
    ] {
        let driven = Driven::new(1);
        let keeps = "#!/bin/sh\ncat > prompt; exit 1";
        let mut command = driven.known(name, keeps);
        driven.run_ends_for("fruitless-starts", &mut command);
        let prompt = std::fs::read_to_string(driven.place.at("prompt")).expect("a prompt");
        let line = format!("  {program} submit ");
        assert!(prompt.contains(&line), "{prompt}");
    }
}

#[test]
fn a_program_that_cannot_be_run_is_refused_before_the_run() {
    let driven = Driven::new(1);
    driven.place.write("agent", "#!/bin/sh\n");
    let says = [
        ("./agent", "this file is not executable"),
        ("agent/", "there is no such program"),
        ("./nosuch", "there is no such program"),
        ("nosuch", "this program is not in PATH"),
    ];
    for (program, problem) in says {
        let run = driven.place.run(["run", "--", program]);
        run.says(problem);
        run.exits(1);
    }
    assert_eq!(driven.steps(), [] as [serde_json::Value; 0]);
}

#[test]
fn a_dry_run_starts_nothing() {
    let driven = Driven::new(1);
    let args = ["run", "--agent=claude", "--model=m 1", "--dry-run"];
    let text = driven.place.run(args).ok();
    assert!(text.starts_with("claude -p "), "{text}");
    assert!(text.contains("--model 'm 1'"), "{text}");
    let args = ["--json", "run", "--dry-run", "--", "my-agent", "{prompt}"];
    let dry = driven.place.run(args).ok();
    let dry: serde_json::Value = serde_json::from_str(&dry).expect("JSON");
    assert_eq!(dry["argv"][1], "PROMPT");
    assert_eq!(dry["prompt"], "argument");
    assert_eq!(driven.steps(), [] as [serde_json::Value; 0]);
}

#[test]
fn a_judged_answer_reads_as_its_verdict_and_its_rules() {
    let driven = Driven::new(1);
    let learns = "case \"$prompt\" in *is-right*) echo '{\"answer\":\"right\"}';; \
                  *) echo '{\"answer\":\"no\"}';; esac";
    let text = driven.drive(&["--answer=stdout"], learns).ok();
    let line = |begin: &str| {
        let mut lines = text.lines();
        let found = lines.find(|line| line.starts_with(begin));
        found.unwrap_or_else(|| panic!("{begin} in {text}"))
    };
    let fail = line("quest 1, word 1: start 1 ended after ");
    assert!(fail.ends_with(" tokens: FAIL is-right"), "{fail}");
    let pass = line("quest 1, word 1: start 2 ended after ");
    assert!(pass.ends_with(" tokens: PASS"), "{pass}");
    let end = "1 PASS, 0 REVIEW, 0 DONE, 0 TODO\nrules that cost most tries: is-right (1)\n";
    assert!(text.ends_with(end), "{text}");

    // An agent that answers nothing has failed.
    let driven = Driven::new(1);
    let text = driven.drive(&["--set=run.max-attempts=1"], ":").exits(8);
    assert!(text.contains("tokens: agent-failed, exit 0\n"), "{text}");
    assert!(!text.contains("rules that cost"), "{text}");

    let driven = Driven::new(1);
    let text = driven.drive(&["--json", "--answer=stdout"], learns).ok();
    let lines = text.lines().map(serde_json::from_str);
    let lines: Vec<serde_json::Value> = lines.map(|line| line.expect("JSON")).collect();
    let attempts = lines.iter().filter(|line| line["what"] == "attempt");
    let judged: Vec<_> = attempts.map(|line| &line["judged"]["verdict"]).collect();
    assert_eq!(judged, ["FAIL", "PASS"]);
    let report = lines.last().expect("a report");
    assert_eq!(report["shares"]["pass"], 1);
    assert_eq!(report["rules"][0]["rule"], "is-right");
}

/// A file of the user that names this script as the command of events, which keeps what it gets.
fn notified(driven: &Driven, script: &str) -> std::path::PathBuf {
    let home = driven.place.at("home");
    std::fs::create_dir_all(home.join("comail")).expect("a folder");
    let text = format!("[notify]\ncommand = [\"sh\", \"-c\", {script:?}]\n");
    std::fs::write(home.join("comail/config.toml"), text).expect("a file");
    home
}

fn events(driven: &Driven) -> Vec<serde_json::Value> {
    let seen = std::fs::read_to_string(driven.place.at("seen")).expect("events");
    let lines = seen.lines().map(serde_json::from_str);
    lines.map(|line| line.expect("JSON")).collect()
}

#[test]
fn the_command_of_the_user_gets_what_happened() {
    let wrong = "comail submit --id $id --answer wrong";
    let driven = Driven::scanned(2, &["--set=scan.pause-after=1", "--max-tries=1"]);
    let home = notified(&driven, "cat >> seen");
    let mut command = driven.command(&QUICK, wrong);
    driven.run_ends_for("paused", command.env("XDG_CONFIG_HOME", &home));
    let seen = events(&driven);
    let names: Vec<_> = seen.iter().map(|event| &event["event"]).collect();
    assert_eq!(names, ["session-paused", "run-ended"]);
    assert_eq!(
        [&seen[1]["reason"], &seen[1]["report"]],
        [
            &serde_json::json!("paused"),
            &serde_json::json!("not-complete")
        ]
    );
    let session = seen[1]["session"].as_str().expect("a path");
    assert!(session.ends_with("/.comail"), "{session}");

    let driven = Driven::open(1);
    let home = notified(&driven, "cat >> seen");
    let mut command = driven.command(&QUICK, SUBMITS);
    let run = crate::harness::Run::of(command.env("XDG_CONFIG_HOME", &home));
    run.exits(8);
    let seen = events(&driven);
    let names: Vec<_> = seen.iter().map(|event| &event["event"]).collect();
    assert_eq!(names, ["review-opened", "run-ended"]);
    assert_eq!(
        [&seen[0]["key"], &seen[1]["reason"], &seen[1]["report"]],
        ["word 1", "complete", "settled"]
    );

    // Agents can write a file in the project: it names no command.
    let driven = Driven::new(1);
    let project = "[notify]\ncommand = [\"touch\", \"seen\"]\n";
    driven.place.write("config.toml", project);
    driven.place.write("comail.toml", project);
    driven.drive(&[], SUBMITS).ok();
    assert!(!driven.place.at("seen").exists());
}

#[test]
fn a_command_of_the_user_that_fails_changes_nothing_of_the_run() {
    let driven = Driven::new(1);
    let home = notified(&driven, "cat >> seen; exit 3");
    let mut command = driven.command(&QUICK, SUBMITS);
    let run = crate::harness::Run::of(command.env("XDG_CONFIG_HOME", &home));
    run.says("note: the notify command failed: exit status: 3");
    run.ok();
    assert_eq!(events(&driven)[0]["report"], "complete");

    let test = |args: &[&str]| {
        let mut command = driven.place.command();
        let command = command.env("XDG_CONFIG_HOME", &home).arg("notify");
        crate::harness::Run::of(command.args(args))
    };
    test(&["--test"]).exits(1);
    notified(&driven, "cat > seen");
    test(&["--test", "--json"]).ok();
    assert_eq!(events(&driven)[0]["event"], "test");
    std::fs::remove_dir_all(&home).expect("the user's files");
    test(&["--test"]).exits(2);
    test(&[]).exits(2);
}
