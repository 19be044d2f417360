//! What reviewers say is recorded, or they are not asked again; and no doubt of theirs is hidden.

use comail::base::Digest;
use comail::session::{Asked, Event, Salt, Session};

use crate::harness::email_net::rules;
use crate::harness::replayed::assert_audited;
use crate::harness::reviewed::{CLEAR, doubt, last_types, place, scan, scanned, submit};
use crate::harness::{Place, Run, forge};

/// How many bodies are kept.
fn bodies(place: &Place) -> usize {
    let files = walkdir::WalkDir::new(place.at(".comail/evidence")).into_iter();
    files
        .filter(|entry| entry.as_ref().expect("an entry").path().is_file())
        .count()
}

#[test]
fn reviewers_whose_words_cannot_be_recorded_are_not_asked_again() {
    let place = place(0);
    // The ledger is longer than the index, whose growth is limited as well.
    let names: Vec<_> = (1..=400).map(|number| format!("task {number}")).collect();
    place.write("list.txt", names.join("\n"));
    scan(&place, &["--reviewers=reviewers.toml"]).ok();
    place.write("tree/in/try.sh", "true || curl http://elsewhere.example\n");
    place.run(["submit", "--id=2", "--file=in/try.sh"]).ok();
    place.write("replies/other", doubt("curl http://elsewhere.example"));
    let (ledger, kept) = (place.ledger().len(), bodies(&place));
    // Room for the note that they are asked, and for no judgement; a block has 512 bytes.
    let blocks = (ledger + 450) / 512 + 1;
    let submit = ["submit", "--id=1", "--file=in/try.sh"];
    let script = format!("ulimit -S -f {blocks} && exec comail {}", submit.join(" "));
    let run = Run::of(&mut place.shell(&script));
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(last_types(&place, 1), ["asked"]);
    assert_eq!(bodies(&place), kept, "no words without a line");
    place.write("replies/other", CLEAR);
    let (code, answer) = place.json(submit);
    assert_eq!(
        (code, &answer["state"]),
        (0, &"REVIEW".into()),
        "{answer:#}"
    );
    assert_eq!(rules(&answer), ["reviewers-unsettled"]);
    assert_eq!(last_types(&place, 2), ["asked", "attempt"]);
    assert_audited(&place.at(".comail"));
}

#[test]
fn a_fail_in_between_does_not_make_them_askable() {
    let place = scanned(0);
    place.write("replies/other", doubt("curl http://elsewhere.example"));
    noted(&place, 1);
    place.write("replies/other", CLEAR);
    let (code, _) = submit(&place, "exit 3\n");
    assert_eq!(code, 5);
    let (_, answer) = submit(&place, "echo all is well\n");
    assert_eq!(answer["state"], "REVIEW", "{answer:#}");
    assert_audited(&place.at(".comail"));
}

/// Notes that reviewers are asked about the attempt of this number, as a process does that is
/// killed before they have said anything.
fn noted(place: &Place, number: u32) {
    let mut session = Session::open(&place.at(".comail")).expect("a session");
    let asked = Event::Asked(Asked {
        quest: "1".parse().expect("an id"),
        number,
        submitted: Digest::of(b"what was submitted"),
        withdrawn: false,
    });
    let now = jiff::Timestamp::now();
    let salt = || Salt([7; 16]);
    session
        .append(&mut (|| now, salt), |_, _| Ok::<_, ()>(vec![asked]))
        .expect("a line");
}

#[test]
fn a_doubt_that_the_gate_was_not_told_of_is_found() {
    let place = scanned(2);
    place.write("replies/other", doubt("curl http://elsewhere.example"));
    submit(&place, "true || curl http://elsewhere.example\n");
    let (code, _) = submit(&place, "true || curl http://elsewhere.example # again\n");
    assert_eq!(code, 5);
    forge::rewrite(&place.at(".comail"), |_, event| {
        if let Event::Attempt(attempt) = event
            && attempt.number == 2
        {
            let evidence = attempt.evidence.get();
            let start = evidence.find(r#"{"doubts":["#).expect("the doubts") + 11;
            let end = start + evidence[start..].find(']').expect("their end");
            let without = format!("{}{}", &evidence[..start], &evidence[end..]);
            attempt.evidence = serde_json::value::RawValue::from_string(without).expect("JSON");
        }
        true
    });
    let (code, report) = place.json(["audit"]);
    assert_eq!(code, 8, "{report:#}");
    assert_eq!(forge::found(&report), ["answer 7 1"], "{report:#}");
}
