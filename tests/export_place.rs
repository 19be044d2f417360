//! Where `export` writes: never over the list, never half, and whatever became of the original.

use std::path::Path;

use crate::harness::{Place, Run};
use crate::sheets::{bring, cells, names, text};

fn scanned() -> Place {
    let place = Place::new();
    bring(&place, "companies.xlsx");
    place.run(["scan", "companies.xlsx", "--col=A"]).ok();
    place
}

/// Exports and expects a refusal with these words (separated by bars) that changes nothing in the
/// directory.
#[track_caller]
fn refused(place: &Place, args: &[&str], code: i32, words: &str) {
    let before = names(place.path());
    let list = std::fs::read(place.at("companies.xlsx")).ok();
    let run: Run = place.run([&["export"], args].concat());
    assert_eq!(run.code, code, "{args:?}: {run:?}");
    for word in words.split('|') {
        assert!(
            run.stderr.contains(word),
            "{args:?}: {word:?} in {}",
            run.stderr
        );
    }
    assert_eq!(names(place.path()), before);
    assert_eq!(std::fs::read(place.at("companies.xlsx")).ok(), list);
}

#[test]
fn nothing_that_exists_is_replaced_without_force() {
    let place = scanned();
    place.write("mine.xlsx", "mine");
    let exists = "mine.xlsx exists already|--force";
    refused(&place, &["mine.xlsx"], 1, exists);
    assert_eq!(std::fs::read(place.at("mine.xlsx")).unwrap(), b"mine");
    place.run(["export", "mine.xlsx", "--force"]).ok();
    let found = cells(&place.at("mine.xlsx"), "Companies");
    assert_eq!(text(&found, 1, 5), "email");
    place.run(["export"]).ok();
    refused(&place, &[], 1, "companies.comail.xlsx exists already");
}

#[test]
fn the_list_is_never_written_over_by_whatever_name() {
    let place = scanned();
    let absolute = place.at("companies.xlsx").display().to_string();
    std::os::unix::fs::symlink("companies.xlsx", place.at("soft.xlsx")).unwrap();
    std::fs::hard_link(place.at("companies.xlsx"), place.at("hard.xlsx")).unwrap();
    let plain = ["companies.xlsx", "./companies.xlsx", &absolute];
    for way in [&plain[..], &["soft.xlsx", "hard.xlsx"]].concat() {
        refused(&place, &[way, "--force"], 1, "is the source itself");
        refused(&place, &[way], 1, "");
    }
    // A list that was moved is still the list.
    std::fs::rename(place.at("companies.xlsx"), place.at("moved.xlsx")).unwrap();
    let list = std::fs::read(place.at("moved.xlsx")).unwrap();
    let moved = ["moved.xlsx", "--force"];
    refused(&place, &moved, 1, "is the source itself");
    assert_eq!(std::fs::read(place.at("moved.xlsx")).unwrap(), list);
}

#[test]
fn the_session_is_no_place_for_results() {
    let place = scanned();
    let session = place.at(".comail");
    let before = (place.ledger(), names(&session));
    let around = ".comail/../.comail/evidence/out.xlsx";
    for path in [".comail/source.xlsx", ".comail/out.xlsx", around] {
        refused(&place, &[path, "--force"], 2, "is inside the session");
    }
    refused(&place, &[".comail/ledger.jsonl", "--force"], 2, "session");
    assert_eq!((place.ledger(), names(&session)), before);
}

#[test]
fn places_that_are_no_files() {
    let place = scanned();
    std::fs::create_dir(place.at("dir")).unwrap();
    std::fs::create_dir(place.at("dir.csv")).unwrap();
    for force in [&[][..], &["--force"]] {
        let dir = [&["dir"], force].concat();
        refused(&place, &dir, 1, "dir is a directory");
        refused(&place, &[&["dir.csv"], force].concat(), 1, "is a directory");
        let nowhere = [&["no/such/out.csv"], force].concat();
        refused(
            &place,
            &nowhere,
            1,
            "there is no directory no/such|create it",
        );
    }
    refused(&place, &["/dev/null", "--force"], 1, "device");
}

#[test]
fn a_name_never_promises_another_format() {
    let place = scanned();
    let cases: [(&[&str], &str); 6] = [
        (&["out.doc"], "out.doc|.csv|.html|--format"),
        (&["out.pdf"], "out.pdf"),
        (&["out.xlsx", "--format=csv"], "out.xlsx|csv"),
        (&["out.xlsm"], "macros|.xlsx"),
        (&["out.html", "--format=csv"], "out.html|csv"),
        (&["out.txt", "--format=pdf"], "pdf"),
    ];
    for (args, words) in cases {
        refused(&place, args, 2, words);
    }
    place.run(["export", "out.txt", "--format=csv"]).ok();
    place.run(["export", "out"]).ok();
}

#[test]
fn a_vanished_or_changed_original_costs_nothing() {
    let place = scanned();
    place.run(["export", "first.xlsx"]).ok();
    let first = std::fs::read(place.at("first.xlsx")).unwrap();
    place.write("companies.xlsx", "something else");
    let run = place.run(["export", "second.xlsx"]);
    run.says("has changed since it was scanned");
    run.ok();
    std::fs::remove_file(place.at("companies.xlsx")).unwrap();
    let run = place.run(["export", "third.xlsx"]);
    run.says("can no longer be read");
    run.ok();
    for name in ["second.xlsx", "third.xlsx"] {
        assert_eq!(std::fs::read(place.at(name)).unwrap(), first, "{name}");
    }
    // The original's name stays reserved for it while it is there.
    place.write("companies.xlsx", "something else");
    let reserved = ["companies.xlsx", "--force"];
    refused(&place, &reserved, 1, "is the source itself");
}

#[test]
fn a_copy_or_chain_that_was_tampered_with_is_a_finding() {
    let place = scanned();
    let copy = place.at(".comail/source.xlsx");
    let whole = std::fs::read(&copy).unwrap();
    std::fs::write(&copy, &whole[..whole.len() - 1]).unwrap();
    refused(&place, &["out.xlsx"], 8, "not the list that was scanned");
    std::fs::remove_file(&copy).unwrap();
    refused(&place, &["out.xlsx"], 1, "source.xlsx");
    std::fs::write(&copy, &whole).unwrap();

    let ledger = String::from_utf8(place.ledger()).unwrap();
    place.write(".comail/ledger.jsonl", ledger.replace("Bluefin", "Blowfin"));
    refused(&place, &["out.xlsx"], 8, "line");
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    use crate::sheets::on_a_full_disk;
    let place = Place::new();
    let list: Vec<String> = (0..600).map(|number| format!("Company {number}")).collect();
    place.write("list.txt", list.join("\n"));
    place.run(["scan", "list.txt"]).ok();
    place.write("old.csv", "old");
    let before = names(place.path());
    for args in ["out.csv", "out.xlsx", "old.csv --force"] {
        let run = on_a_full_disk(&place, 4, &format!("export {args}"));
        assert_eq!(run.code, 1, "{run:?}");
        run.says("disk has room");
        assert_eq!(names(place.path()), before);
    }
    assert_eq!(std::fs::read(place.at("old.csv")).unwrap(), b"old");
}

#[test]
fn a_directory_that_may_not_be_written_to() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = scanned();
    let locked = place.at("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(locked.join("probe"), "").is_ok() {
        // Whoever may write everywhere is refused nothing.
        return;
    }
    refused(&place, &["locked/out.csv"], 1, "the directory is writable");
    assert!(names(Path::new(&locked)).is_empty());
}
