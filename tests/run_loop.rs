//! `comail run`: the loop, driven by agents that are honest, lazy, lying or hard to understand.

use crate::harness::agents::Driven;
use crate::harness::scale;

const SUBMITS: &str = "comail submit --id $id --answer \"right $id\"";

const PRINTS: &str = "echo '{\"answer\":\"right it is\"}'";

#[test]
fn an_honest_agent_that_submits_gets_all_done() {
    let driven = Driven::new(3);
    let text = driven.drive(&[], SUBMITS).ok();
    assert!(text.contains("ended: complete"), "{text}");
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
    driven.drive(&["--parallel=2"], &lazy).ok();
    assert_eq!(driven.tally("pass"), u64::from(quests));
    let failed = driven.reasons("attempt");
    let failed = failed.iter().filter(|it| *it == "agent-failed").count();
    assert_eq!(failed, quests as usize / 4);
}

#[test]
fn a_lying_agent_is_not_believed() {
    let driven = Driven::new(2);
    let lies = "echo 'All done, everything passes.'; echo 'COMPLETE'";
    let text = driven.drive(&["--max-attempts=2"], lies).exits(8);
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
    let _ = driven.drive(&["--max-attempts=1"], says).exits(8);
    let note = &driven.steps_of("quest")[0]["handover"];
    assert_eq!(note, "looked at half; try the cellar");
    let next = driven.place.run(["next"]).ok();
    assert!(next.contains("> looked at half; try the cellar"), "{next}");
    // And the next agent makes something of it.
    let heeds = "case \"$prompt\" in *'try the cellar'*) echo '{\"answer\":\"right\"}';; esac";
    driven.drive(&["--answer=stdout"], heeds).ok();
}

#[test]
fn the_last_call_may_settle_the_quest() {
    let driven = Driven::new(1);
    let late = "case \"$prompt\" in *'last call'*) echo '{\"answer\":\"right\"}';; esac";
    driven
        .drive(&["--max-attempts=2", "--answer=stdout"], late)
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
    // It would go on for ever.
    let script = format!("{SUBMITS}; echo settled > settled; sleep 1000");
    driven.drive(&[], &script).ok();
    assert!(driven.reasons("attempt") == ["settled"]);
}

#[test]
fn a_prompt_carries_what_was_learned_and_a_report_is_written() {
    let driven = Driven::new(2);
    let keeps = format!("printf '%s\\n' \"$prompt\" > prompt$id; {PRINTS}");
    let run = driven.drive(&["--answer=stdout"], &keeps);
    run.says("COMPLETE: see ");
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
