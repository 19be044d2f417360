//! Workbooks of the queue that fit no more, are none, or come from somebody who may not decide.

use serde_json::json;

use crate::harness::EmailNet;
use crate::harness::email_net::ACME;
use crate::harness::office::{effective, export, fill, import, keyed, refused};
use crate::servers::http::Reply;

#[test]
fn what_fits_no_more_is_refused_and_the_rest_is_settled() {
    let cases = [
        (&[(3, "decision", "maybe")][..], "unknown-word"),
        (&[(3, "note", "")], "no-note"),
        (&[(3, "id", "2nd")], "no-id"),
        (&[(3, "id", "9")], "unknown-quest"),
        (&[(3, "id", "4")], "other-key"),
        (&[(3, "id", "4"), (3, "key", "Delta Mills")], "not-open"),
        (&[(3, "key", "Bolt")], "other-key"),
        (&[(3, "attempt", "2")], "other-attempt"),
        (&[(3, "judged", "2026-01-01T00:00:00Z")], "judged-again"),
        (&[(3, "session", "0123")], "other-session"),
    ];
    let world = keyed();
    export(&world);
    let path = world.place.at("review.xlsx");
    let decided = [(3, "decision", "accept"), (3, "note", "called")];
    fill(&path, &decided);
    let whole = std::fs::read(&path).expect("the workbook");
    let before = world.place.ledger();
    for (changes, why) in cases {
        world.place.write("review.xlsx", &whole);
        fill(&path, changes);
        let (code, answer) = import(&world, "review.xlsx");
        assert_eq!((code, refused(&answer)), (8, vec![(3, why)]), "{answer}");
        assert_eq!(world.place.ledger(), before, "{why}");
    }
    let other = [(2, "decision", "accept"), (2, "note", "called")];
    fill(&path, &other);
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!(
        (code, refused(&answer)),
        (8, vec![(3, "other-session")]),
        "{answer}"
    );
    assert_eq!(answer["accepted"], 1);
    assert_eq!(effective(&world)["open"], 2);
}

#[test]
fn a_quest_in_two_rows_is_settled_by_neither() {
    let world = keyed();
    export(&world);
    let path = world.place.at("review.xlsx");
    let filled = [
        (2, "decision", "accept"),
        (2, "note", "called"),
        (3, "decision", "reject"),
        (3, "note", "called"),
        (3, "id", "1"),
    ];
    fill(&path, &filled);
    let before = world.place.ledger();
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!(
        (code, refused(&answer)),
        (8, vec![(2, "twice"), (3, "twice")])
    );
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn what_was_judged_again_or_answered_anew_is_looked_at_again() {
    let world = EmailNet::unscanned();
    let key = world.place.write("operator.key", [7; 32]);
    let key = key.display().to_string();
    let flags = world.flags_with(&["--operator-key", &key]);
    world.place.scan(&[ACME], &flags);
    let submission = world.answers(Reply::Reset);
    world.expect(1, &submission, "REVIEW", &["source-unanswered"]);
    export(&world);
    let decided = [(2, "decision", "accept"), (2, "note", "called")];
    fill(&world.place.at("review.xlsx"), &decided);
    // Nobody wrote there what the gate sees by now.
    world.contact("nothing of theirs");
    let (code, report) = world.place.json(["recheck"]);
    assert_eq!((code, &report["refuted"]), (0, &json!(1)), "{report}");
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!((code, refused(&answer)), (8, vec![(2, "judged-again")]));
    export(&world);
    fill(&world.place.at("review.xlsx"), &decided);
    assert_eq!(import(&world, "review.xlsx").0, 0);
}

#[test]
fn the_workbook_of_another_session_settles_nothing() {
    let (one, other) = (keyed(), keyed());
    export(&one);
    let decided = [(2, "decision", "accept"), (2, "note", "called")];
    fill(&one.place.at("review.xlsx"), &decided);
    let bytes = std::fs::read(one.place.at("review.xlsx")).expect("the workbook");
    other.place.write("review.xlsx", bytes);
    let before = other.place.ledger();
    let (code, answer) = import(&other, "review.xlsx");
    assert_eq!((code, refused(&answer)), (8, vec![(2, "other-session")]));
    assert_eq!(other.place.ledger(), before);
}

#[test]
fn what_is_no_sheet_of_the_queue_is_refused_whole() {
    let world = keyed();
    world
        .place
        .write("list.csv", "id,key,decision\n1,Acme Foods,accept\n");
    world.place.write(
        "twice.csv",
        "id,key,judged,attempt,decision,note,note,session\n",
    );
    world.place.write("other.csv", "company\nAcme Foods\n");
    world.place.write("torn.xlsx", "PK\u{3}\u{4}torn");
    let before = world.place.ledger();
    for (file, code, word) in [
        ("list.csv", 2, "no column judged, attempt, note, session"),
        ("twice.csv", 2, "two columns note"),
        ("other.csv", 2, "no column id, key"),
        ("torn.xlsx", 1, "torn.xlsx"),
        ("none.xlsx", 1, "no such file"),
    ] {
        let import = format!("--import={file}");
        let run = world
            .place
            .run(["review", &import, "--operator-key=operator.key"]);
        assert_eq!(run.code, code, "{file}: {run:?}");
        assert!(run.stderr.contains(word), "{file}: {run:?}");
    }
    for args in [
        &["--import=list.csv", "--export=a.xlsx"][..],
        &["--by=kim"],
        &["--operator-key=operator.key"],
        &["--force"],
        &["--yes"],
        &["--import=list.csv", "--yes"],
    ] {
        let all = [&["review"], args].concat();
        world.place.run(all).exits(2);
    }
    assert_eq!(world.place.ledger(), before);
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_settles_by_a_workbook_who_could_not_otherwise() {
    use crate::harness::office::reviewed;
    use crate::harness::terminal::at_terminal;

    let world = keyed();
    export(&world);
    let decided = (2..=3).flat_map(|row| [(row, "decision", "accept"), (row, "note", "called")]);
    let decided: Vec<_> = decided.collect();
    fill(&world.place.at("review.xlsx"), &decided);
    let before = world.place.ledger();
    let import = ["review", "--import=review.xlsx"];
    assert_eq!(at_terminal(&world.place, &import, "settle").code, 2);
    let keyed = [&import[..], &["--operator-key=operator.key"]].concat();
    // Several are confirmed.
    world.place.run(&keyed).exits(2);
    assert_eq!(world.place.ledger(), before);
    let run = at_terminal(&world.place, &keyed, "settle");
    let asked = "settle 2 REVIEWs: accept 2, reject 0";
    assert!(run.stdout.contains(asked), "{run:?}");
    assert_eq!(effective(&world)["accepted"], 2);

    let world = EmailNet::unscanned();
    reviewed(&world, &[]);
    export(&world);
    fill(&world.place.at("review.xlsx"), &decided);
    let before = world.place.ledger();
    world.place.run(import).exits(2);
    let yes = [&import[..], &["--yes"]].concat();
    world.place.run(yes).exits(2);
    assert_eq!(at_terminal(&world.place, &import, "accept").code, 1);
    assert_eq!(world.place.ledger(), before);
    assert_eq!(at_terminal(&world.place, &import, "settle").code, 0);
    assert_eq!(effective(&world)["accepted"], 2);
}

#[test]
fn a_row_that_was_settled_and_reopened_since_is_refused() {
    let world = keyed();
    export(&world);
    let decided = [(2, "decision", "accept"), (2, "note", "called")];
    fill(&world.place.at("review.xlsx"), &decided);
    for verb in ["reject", "reopen"] {
        let args = [
            "review",
            verb,
            "1",
            "--note=x",
            "--operator-key=operator.key",
        ];
        world.place.run(args).ok();
    }
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!((code, refused(&answer)), (8, vec![(2, "settled-since")]));
    export(&world);
    fill(&world.place.at("review.xlsx"), &decided);
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!((code, &answer["accepted"]), (0, &json!(1)), "{answer}");
}
