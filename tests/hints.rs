//! What is said to who typed too little, or something else: it can be typed as it stands.

use crate::harness::Place;

/// What a refused command line is told, exit 2.
#[track_caller]
fn refused(place: &Place, args: &[&str]) -> String {
    let run = place.run(args);
    let told = run.stderr.clone();
    run.exits(2);
    told
}

#[test]
fn all_that_is_missing_is_named_at_once() {
    let place = Place::new();
    place.scan(&["Acme"], &[]);
    let told = refused(&place, &["submit"]);
    assert!(told.contains("--site, --email, --source missing"), "{told}");
    assert!(told.contains("with --company KEY or --id N"), "{told}");
    let told = refused(&place, &["submit", "--id=1"]);
    assert!(!told.contains("name the quest"), "{told}");
    let told = refused(&place, &["release"]);
    assert!(told.contains("<--id <N>|--worker <NAME>>"), "{told}");
    refused(&place, &["release", "--id=1", "--worker=w1"]);
    for number in ["abc", "0"] {
        let told = refused(&place, &["submit", "--id", number]);
        assert!(
            told.contains("expected the number of a quest, such as 17"),
            "{told}"
        );
    }
}

#[test]
fn commands_that_are_advised_reach_the_same_session() {
    let place = Place::new();
    let two = ["--session", "my two"];
    let run = place.run([&two[..], &["status"]].concat());
    let made = "make one with `comail scan LIST --col COLUMN --session 'my two'`";
    run.says(made);
    for command in ["next", "status", "export", "resume"] {
        let run = place.run([command]);
        assert_eq!(run.code, 1);
        run.says("comail scan");
    }
    place.write("list.txt", "Acme\nBolt\n");
    let scan = [&two[..], &["scan", "list.txt", "--pause-after=1"]].concat();
    place.run(scan).ok();
    let told = |args: &[&str], exit| place.run([&two[..], args].concat()).exits(exit);
    for exit in [5, 5, 6] {
        told(&["submit", "--id=1", "--none=x"], exit);
    }
    let resume = "run `comail resume --session 'my two'`";
    for (args, exit) in [
        (&["next"][..], 9),
        (&["submit", "--id=2", "--none=x"], 9),
        (&["status"], 0),
    ] {
        let text = told(args, exit);
        assert!(text.contains(resume), "{text}");
    }
    let (_, status) = place.json([&["status"], &two[..]].concat());
    assert_eq!(
        (&status["paused"], &status["pace"]),
        (&true.into(), &().into())
    );
}

#[test]
fn a_rule_is_explained_by_its_name() {
    let place = Place::new();
    let alone = place.run(["rules", "freemail"]).ok();
    assert!(alone.starts_with("freemail  REVIEW  "), "{alone}");
    assert!(
        alone.contains("to pass:  ") && alone.lines().count() == 2,
        "{alone}"
    );
    let (_, one) = place.json(["rules", "freemail"]);
    assert_eq!(one["rules"].as_array().map(Vec::len), Some(1), "{one}");
    let told = refused(&place, &["rules", "fremail"]);
    assert!(told.contains("did you mean `freemail`?"), "{told}");
}
