//! A forgotten address does not come back in the files that a submission names.

use std::fs;

use crate::harness::email_net::rules;
use crate::harness::replayed::assert_audited;
use crate::harness::reviewed::{QUEST, place};
use crate::harness::{Place, Run};

/// A session of scripts that has forgotten an address.
fn forgetful() -> Place {
    let place = place(0);
    place.write("quest.toml", QUEST);
    place.write("key", [7; 32]);
    let flags = ["scan", "list.txt", "--quest=quest.toml", "--tree=tree"];
    let mut scan = place.command();
    scan.env("PATH", "/usr/bin:/bin")
        .env("TMPDIR", place.at("tmp"));
    Run::of(scan.args(flags).arg("--operator-key=key")).ok();
    let why = "--none=jo@acme.com is the only one";
    assert_eq!(place.run(["submit", "--id=1", why]).code, 5);
    let forget = [
        "forget",
        "jo@acme.com",
        "--note=asked",
        "--operator-key=key",
    ];
    place.run(forget).ok();
    place
}

#[test]
fn a_file_that_holds_it_is_refused_and_not_kept() {
    let place = forgetful();
    for (id, text) in [
        ("--id=1", "exit 0 # jo@acme.com\n"),
        ("--id=2", "exit 0 # 𝐣𝐨 [at] acme (dot) com\n"),
    ] {
        place.write("tree/in/try.sh", text);
        let (code, answer) = place.json(["submit", id, "--file=in/try.sh"]);
        assert_eq!(code, 5, "{answer:#}");
        assert_eq!(rules(&answer), ["forgotten-address"]);
        let ledger = String::from_utf8(place.ledger()).expect("a text");
        assert!(!ledger.contains("jo@acme.com") && !ledger.contains("in/try.sh"));
    }
    let kept = walkdir::WalkDir::new(place.at(".comail/evidence")).into_iter();
    for entry in kept.map(|entry| entry.expect("an entry").into_path()) {
        let body = fs::read(&entry).ok();
        let body = body.and_then(|packed| comail::world::evidence::unpack(&packed, 1 << 20).ok());
        let text = body.map(|body| String::from_utf8_lossy(&body).into_owned());
        assert!(!text.is_some_and(|text| text.contains("acme")), "{entry:?}");
    }
    place.write("tree/in/try.sh", "exit 0 # ann.jo@acme.com\n");
    let (code, answer) = place.json(["submit", "--id=2", "--file=in/try.sh"]);
    assert_eq!(
        (code, &answer["verdict"]),
        (0, &"PASS".into()),
        "{answer:#}"
    );
    assert_audited(&place.at(".comail"));
}
