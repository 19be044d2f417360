//! `comail audit` on ledgers that were damaged, shuffled or cut.

use std::fs;

use comail::base::Digest;

use crate::harness::EmailNet;
use crate::harness::audited::{
    assert_clean, assert_found, audit, head, resolve_and_carry, session, strings, worked,
};
use crate::harness::forge::found;

#[test]
fn a_flipped_bit_in_any_kind_of_line_is_found_there() {
    let world = worked();
    world.spoils();
    resolve_and_carry(&world);
    assert_clean(&world, &[]);
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read(&path).expect("a ledger");
    let text = String::from_utf8(good.clone()).expect("UTF-8");
    let mut seen = Vec::new();
    let mut offset = 0;
    for (index, line) in text.lines().enumerate() {
        let begins = offset;
        offset += line.len() + 1;
        let (_, kind) = line.split_once("\"type\":\"").expect("a type");
        let kind = kind.split('"').next().expect("a type").to_owned();
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        for field in [
            "seq\":",
            "prev\":\"",
            "salt\":\"",
            "digest\":\"",
            "body\":{\"",
        ] {
            let at = begins + line.find(field).expect("a field") + field.len();
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&path, &bad).expect("a ledger");
            let (code, report) = audit(&world, &[]);
            assert_eq!(code, 8, "{field} of {line}: {report}");
            let finding = &report["findings"][0];
            assert_eq!(finding["kind"], "ledger", "{field} of {line}: {report}");
            assert_eq!(finding["line"], index + 1, "{field} of {line}: {report}");
        }
    }
    assert_eq!(seen.len(), 9, "{seen:?}");
    fs::write(&path, &good).expect("a ledger");
    assert_clean(&world, &[]);
}

#[test]
fn lines_that_were_removed_swapped_or_doubled_are_found() {
    let world = worked();
    world.spoils();
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read_to_string(&path).expect("a ledger");
    let lines: Vec<&str> = good.lines().collect();
    let join = |lines: &[&str]| lines.join("\n") + "\n";
    let mut swapped = lines.clone();
    swapped.swap(8, 9);
    let mut doubled = lines.clone();
    doubled.insert(9, lines[8]);
    for (bad, line) in [
        (join(&[&lines[..8], &lines[9..]].concat()), 9),
        (join(&swapped), 9),
        (join(&doubled), 10),
        (join(&lines[1..]), 1),
        (String::new(), 1),
    ] {
        fs::write(&path, bad).expect("a ledger");
        let (code, report) = audit(&world, &[]);
        assert_eq!((code, found(&report).len()), (8, 1), "{report:#}");
        assert_eq!(report["findings"][0]["line"], line, "{report:#}");
    }
    let text = world.place.run(["audit"]).exits(8);
    assert!(text.starts_with("ledger: line 1: "), "{text}");
}

#[test]
fn damage_names_the_quest_of_its_line() {
    let world = worked();
    world.spoils();
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read_to_string(&path).expect("a ledger");
    fs::write(
        &path,
        good.replacen("looked everywhere", "locked everywhere", 1),
    )
    .expect("a ledger");
    let (code, report) = audit(&world, &[]);
    let finding = &report["findings"][0];
    assert_eq!((code, &finding["quest"]), (8, &3.into()), "{report:#}");
    assert_eq!(finding["key"], "Cargo Ring");
}

#[test]
fn lines_cut_off_the_end_show_against_a_noted_head() {
    let world = worked();
    world.spoils();
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read_to_string(&path).expect("a ledger");
    let lines = good.lines().count() as u64;
    let noted = head(&world);
    let report = assert_clean(&world, &["--head", &noted]);
    assert_eq!(
        (&report["noted"]["line"], &report["noted"]["since"]),
        (&lines.into(), &0.into())
    );
    let cut: Vec<&str> = good.lines().take(good.lines().count() - 2).collect();
    fs::write(&path, cut.join("\n") + "\n").expect("a ledger");
    // The index still knows of them.
    let report = assert_found(&world, &["index - -"]);
    let what = report["findings"][0]["what"].as_str().expect("what");
    assert!(what.contains("acknowledged lines are missing"), "{what}");
    // Nothing else does.
    assert_clean(&world, &[]);
    let (code, report) = audit(&world, &["--head", &noted]);
    assert_eq!(
        (code, found(&report)),
        (8, strings(&["head - -"])),
        "{report:#}"
    );
    let text = world.place.run(["audit", "--head", &noted]).exits(8);
    assert!(
        text.contains(&format!("no line has the head {noted}")),
        "{text}"
    );
}

#[test]
fn a_head_of_an_earlier_line_says_how_many_came_since() {
    let world = EmailNet::start();
    let noted = head(&world);
    world.expect(1, &world.acme(), "PASS", &[]);
    let report = assert_clean(&world, &["--head", &noted]);
    assert_eq!(report["noted"], serde_json::json!({"line": 2, "since": 1}));
    let text = world.place.run(["audit", "--head", &noted]).ok();
    assert!(
        text.contains("the head that you noted is that of line 2; 1 line since\n"),
        "{text}"
    );
    let other = Digest::of(b"other").to_string();
    let (code, report) = audit(&world, &["--head", &other]);
    assert_eq!(
        (code, found(&report)),
        (8, strings(&["head - -"])),
        "{report:#}"
    );
    for bad in ["", "abc", "g"] {
        assert_eq!(world.place.run(["audit", "--head", bad]).code, 2);
    }
}
