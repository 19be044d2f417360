//! `comail run`: what is claimed together with the end of the quest before.

use serde_json::Value;

use crate::harness::agents::Driven;

/// Answers by printing; the second quest is right at the second try alone.
const PRINTS: &str = "case \"$id$prompt\" in 2*is-right*|[13]*) echo '{\"answer\":\"right\"}';; \
     *) echo '{\"answer\":\"no\"}';; esac";

/// The type of each line, and the step of a run where it is one, with its time.
fn lines(driven: &Driven) -> Vec<(String, String)> {
    let ledger = String::from_utf8(driven.place.ledger()).expect("UTF-8");
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let what = text(&line["type"]) + " " + &text(&line["body"]["what"]);
        (what, text(&line["at"]))
    };
    ledger.lines().map(line).collect()
}

#[test]
fn the_next_quest_is_claimed_with_the_end_of_one_that_is_settled() {
    let driven = Driven::new(3);
    driven.drive(&["--answer=stdout"], PRINTS).ok();
    let lines = lines(&driven);
    let ends = lines.iter().enumerate();
    let ends: Vec<usize> = ends
        .filter(|(_, (what, _))| what == "run quest")
        .map(|(place, _)| place)
        .collect();
    assert_eq!(ends.len(), 3, "{lines:?}");
    for end in &ends[..2] {
        let [attempt, quest, claim] = &lines[end - 1..=end + 1] else {
            panic!("{lines:?}");
        };
        assert_eq!((&*attempt.0, &*claim.0), ("run attempt", "claim "));
        assert_eq!((&attempt.1, &quest.1), (&claim.1, &claim.1), "one append");
    }
    assert_eq!(lines[ends[2] + 1].0, "run ended");
    assert_eq!(
        driven.reasons("attempt"),
        ["settled", "agent-failed", "settled", "settled"]
    );
    driven.assert_free();
    driven.place.run(["audit"]).ok();
}

#[test]
fn nothing_is_claimed_ahead_of_a_budget() {
    let driven = Driven::new(3);
    driven
        .drive(&["--answer=stdout", "--max-quests=1"], PRINTS)
        .exits(8);
    let lines = lines(&driven);
    let claims = lines.iter().filter(|(what, _)| what == "claim ").count();
    assert_eq!(claims, 1, "{lines:?}");
    assert_eq!(driven.reasons("ended"), ["quests"]);
    driven.assert_free();
}
