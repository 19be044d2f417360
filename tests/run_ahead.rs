//! `comail run`: no quest is claimed for which there is no budget.

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
