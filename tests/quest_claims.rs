//! `claims.toml`, played: a document's claims are listed with what shows them.

use std::fs;

use crate::played::Played;

const BACKUP: &[(&str, &str)] = &[("manifest", "claims/backup.json")];

fn with(play: &Played, from: &str, to: &str) {
    play.put_control("right");
    let path = play.world.place.at("tree/claims/backup.json");
    let text = fs::read_to_string(&path).expect("a manifest");
    assert!(text.contains(from), "{from}");
    fs::write(path, text.replacen(from, to, 1)).expect("a file");
}

#[test]
fn a_document_passes_when_each_claim_is_shown() {
    let play = Played::of("claims");
    play.scan("documents.jsonl");
    assert!(play.next().contains("docs/backup.md"));
    play.expect("backup", BACKUP, "FAIL field-format");
    play.put_control("left-out");
    play.expect("backup", BACKUP, "FAIL every-claim");
    play.put_control("says-otherwise");
    let answer = play.submit("backup", BACKUP);
    assert_eq!(
        answer["facts"][0]["location"], "src/backup.py:3",
        "{answer:#}"
    );
    play.put_control("right");
    play.expect("backup", BACKUP, "PASS");
    play.put_control("soft");
    let restore = &[("manifest", "claims/restore.json")];
    play.expect("restore", restore, "REVIEW every-claim-unconfirmed");
    play.ends(1, 1, 2);
}

#[test]
fn what_does_not_show_a_claim_is_refused() {
    let play = Played::of("claims");
    play.scan("documents.jsonl");
    for (from, to, said) in [
        ("src/backup.py:3:", "src/backup.py:4:", "FAIL cited"),
        ("src/backup.py:3:", "src/backup.py:300:", "FAIL cited"),
        ("src/backup.py:3:", "src/../docs/backup.md:5:", "FAIL cited"),
        ("src/backup.py:3:", "/etc/passwd:1:", "FAIL form"),
        ("KEEP_DAYS = 30", "= 30", "FAIL cited"),
        ("KEEP_DAYS = 30", "KEEP_DAYS =", "FAIL every-claim"),
        ("\"C4\"", "\"C9\"", "FAIL every-claim"),
        ("\"C4\"", "\"C3\"", "FAIL every-claim"),
    ] {
        with(&play, from, to);
        play.expect("backup", BACKUP, said);
    }
    play.put_control("elsewhere");
    play.expect("backup", BACKUP, "FAIL nothing-else");
    let outside = &[("manifest", "claims/../../secret.json")];
    play.expect("backup", outside, "FAIL field-format");
    play.ends(0, 0, 2);
}

#[test]
fn a_manifest_with_very_much_wrong_about_it_is_wrong_all_the_same() {
    let play = Played::of("claims");
    play.scan("documents.jsonl");
    for text in ["x".repeat(11 << 20), r"\ud800".to_owned()] {
        let claim = format!(
            r#"{{"id": "C1", "text": "{text}", "cites": ["src/backup.py:3: \"KEEP_DAYS = 30\""]}}"#
        );
        play.put_control("right");
        let path = play.world.place.at("tree/claims/backup.json");
        fs::write(path, format!(r#"{{"claims": [{claim}]}}"#)).expect("a file");
        let answer = play.submit("backup", BACKUP);
        assert_eq!(answer["verdict"], "FAIL");
    }
}
