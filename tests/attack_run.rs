//! `comail run` driven by agents that attack it: its processes, its files, its session.

use crate::harness::agents::{Driven, alive};

const SUBMITS: &str = "comail submit --id $id --answer \"right $id\"";

#[test]
fn an_agent_that_killed_its_supervisor_has_failed_and_is_gone_before_the_next() {
    let driven = Driven::new(1);
    // What it leaves would answer for the next.
    let script = format!(
        "mkdir first || {{ ls late 2>/dev/null; {SUBMITS}; exit; }}; \
         setsid sh -c 'trap \"\" TERM HUP; sleep 98732; touch late' >/dev/null 2>&1 </dev/null & \
         sleep 0.1; kill -9 $PPID; sleep 98732"
    );
    driven.drive(&["--set=backoff=1ms"], &script).ok();
    assert_eq!(alive("sleep 98732"), [""; 0]);
    assert_eq!(driven.reasons("attempt"), ["agent-failed", "settled"]);
    driven.assert_free();
}

#[test]
fn a_supervisor_that_was_stopped_holds_nothing_up() {
    let driven = Driven::new(1);
    let script = format!(
        "setsid sh -c 'trap \"\" TERM; sleep 98733' >/dev/null 2>&1 </dev/null & \
         kill -STOP $PPID; {SUBMITS}; sleep 98733"
    );
    driven.drive(&["--set=grace=200ms"], &script).ok();
    assert_eq!(alive("sleep 98733"), [""; 0]);
}

#[test]
fn no_name_but_its_own_gets_an_agent_a_quest_while_a_run_goes_on() {
    let driven = Driven::new(3);
    let script = format!(
        "for name in evil1 evil2; do comail next --worker $name --lease 23h; echo $? >> others; done; \
         comail next --worker run-deadbeef.7 --lease 23h; echo $? >> forged; \
         comail next --worker run-$COMAIL_RUN.99; echo $? >> others; \
         comail next >> own || echo failed >> own; {SUBMITS}"
    );
    driven.drive(&[], &script).ok();
    let read = |name| std::fs::read_to_string(driven.place.at(name)).expect("a file");
    assert!(
        read("others").starts_with("4\n4\n4\n"),
        "{}",
        read("others")
    );
    assert!(read("forged").starts_with("1\n"), "{}", read("forged"));
    assert!(!read("own").contains("failed"), "{}", read("own"));
    driven.assert_free();
    // Without a run the session is as free as before.
    let free = Driven::new(1);
    free.place.run(["next", "--worker=w1"]).ok();
}

#[test]
fn a_run_whose_lock_was_replaced_goes_on_and_no_other_begins_inside_it() {
    let driven = Driven::new(2);
    let script = format!(
        "cd $COMAIL_SESSION/runs; rm $COMAIL_RUN.lock; touch $COMAIL_RUN.lock deadbeef.lock; cd ../..; \
         comail next --worker w1; echo $? >> others; \
         comail run -- true; echo $? >> inside; \
         env -u COMAIL_RUN -u COMAIL_WORKER comail run -- true; echo $? >> inside; {SUBMITS}"
    );
    driven.drive(&[], &script).ok();
    let read = |name| std::fs::read_to_string(driven.place.at(name)).expect("a file");
    assert!(read("inside").starts_with("2\n2\n"), "{}", read("inside"));
    assert!(read("others").starts_with("4\n"), "{}", read("others"));
    assert_eq!(driven.reasons("ended"), ["complete"]);
    assert_eq!(driven.steps_of("began").len(), 1);
    driven.assert_free();
}

#[test]
fn a_last_call_may_use_up_a_tenth_and_nothing_where_the_run_has_no_more() {
    let tells = "echo '{\"usage\":{\"input_tokens\":5000}}'; exec sleep 98734";
    let script = format!("case \"$prompt\" in *'last call'*) {tells};; esac");
    let driven = Driven::new(1);
    let flags = ["--max-attempts=1", "--max-tokens=10k", "--set=grace=100ms"];
    let _ = driven.drive(&flags, &script).exits(8);
    assert_eq!(driven.reasons("attempt"), ["agent-failed", "tokens"]);
    let driven = Driven::new(1);
    let flags = ["--set=max-tokens-total=5k", "--set=grace=100ms"];
    let _ = driven.drive(&flags, tells).exits(8);
    assert_eq!(driven.reasons("attempt"), ["tokens"]);
}

#[test]
fn one_token_that_is_told_does_not_hide_what_is_written() {
    let driven = Driven::new(1);
    let script = "echo '{\"type\":\"result\",\"usage\":{\"input_tokens\":1}}'; \
         head -c 2000000 /dev/zero | tr '\\0' x | fold -w 1000; exec sleep 98735";
    let flags = [
        "--max-tokens=100k",
        "--set=grace=100ms",
        "--set=last-call=100ms",
    ];
    let _ = driven.drive(&flags, script).exits(8);
    assert_eq!(driven.reasons("quest"), ["tokens"]);
    let spent = &driven.steps_of("attempt")[0]["spent"];
    assert_eq!(spent["told"], false);
    assert!(spent["tokens"].as_u64() > Some(400_000), "{spent}");
}

#[test]
fn what_is_planted_where_a_run_keeps_its_own_does_not_end_it() {
    let driven = Driven::new(2);
    let script = format!(
        "cd $COMAIL_SESSION/runs/$COMAIL_RUN; mkdir -p report.json/x report.md/x report.html/x; \
         touch 2.log; cd - >/dev/null; {SUBMITS}"
    );
    driven.drive(&[], &script).ok();
    assert_eq!(driven.tally("pass"), 2);
}
