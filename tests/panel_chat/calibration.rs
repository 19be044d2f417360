//! What labelled cases tell of reviewers.

use serde_json::json;

use super::reviewed::{Reviewed, answers, is_plant, reads};
use crate::harness::EmailNet;
use crate::servers::chat::{Asked, Say};

/// A panel of one that reads and of others that see nothing wrong anywhere.
fn one_reads(asked: &Asked) -> Say {
    match asked.model() {
        "one" => reads(asked),
        _ => Say::words(answers(None)),
    }
}

#[test]
fn labelled_cases_tell_who_reads_and_who_does_not() {
    let reviewed = Reviewed::by(&["one", "two", "three"], one_reads);
    let before = reviewed.world.place.ledger();
    let (code, told) = reviewed.world.place.json(["prove", "--reviewers"]);
    assert_eq!(code, 8, "{told:#}");
    let share = |part: u32, whole: u32| json!({"part": part, "whole": whole});
    let one = &told["reviewers"][0];
    assert_eq!(
        (&one["name"], &one["model"]),
        (&json!("one"), &json!("one"))
    );
    assert_eq!(one["right"], share(2, 2), "{told:#}");
    let two = &told["reviewers"][1];
    assert_eq!(two["false_pass"], share(1, 1), "{told:#}");
    assert_eq!(two["false_doubt"], share(0, 1), "{told:#}");
    assert_eq!(told["panel"]["false_pass"], share(1, 1), "{told:#}");
    assert_eq!(told["agreement"], share(1, 2), "{told:#}");
    assert_eq!(one["usage"]["output_tokens"], 60, "{told:#}");
    assert_eq!(reviewed.world.place.ledger(), before, "nothing is recorded");
    let text = reviewed.world.place.run(["prove", "--reviewers"]).exits(8);
    for line in [
        "one (one)",
        "  right        2 of 2 (100 %)",
        "  false pass   1 of 1 (100 %)",
        "  false pass: on-mars, faithful",
        "2 labelled cases; all agree in 1 of 2 (50 %)",
    ] {
        assert!(text.lines().any(|it| it == line), "{line:?} in {text}");
    }
}

#[test]
fn a_panel_that_tells_right_from_wrong_is_no_finding() {
    let reviewed = Reviewed::by(&["one", "two"], reads);
    let (code, told) = reviewed.world.place.json(["prove", "--reviewers"]);
    assert_eq!(code, 0, "{told:#}");
    assert_eq!(told["cases"].as_array().map(Vec::len), Some(2), "{told:#}");
    // Two that doubt whatever they see are right half of the time.
    let reviewed = Reviewed::by(&["one", "two"], |asked| {
        let quotation = if is_plant(asked) {
            "founded on Mars in 1650"
        } else {
            "employs four hundred people"
        };
        Say::words(answers(Some(quotation)))
    });
    let (code, told) = reviewed.world.place.json(["prove", "--reviewers"]);
    assert_eq!(code, 8, "{told:#}");
    assert_eq!(told["panel"]["false_doubt"]["part"], 1, "{told:#}");
    assert_eq!(told["panel"]["false_pass"]["part"], 0, "{told:#}");
}

#[test]
fn reviewers_that_cannot_be_asked_are_not_measured() {
    let reviewed = Reviewed::with(&["one", "two"], "key = \"REVIEW_KEY\"", "20s", reads);
    let run = reviewed.world.place.run(["prove", "--reviewers"]);
    assert_eq!(run.code, 1, "{run:?}");
    run.says("REVIEW_KEY");
    let world = EmailNet::start();
    let run = world.place.run(["prove", "--reviewers"]);
    assert_eq!(run.code, 2, "{run:?}");
}
