//! Reports on the disk.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::report::run::bench::report;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_report_is_its_owners_alone_and_replaces_the_last() {
    let dir = tempfile::tempdir().unwrap();
    let mut report = report();
    let run = RunId::new(8);
    let people = write_report(dir.path(), run, &report).unwrap();
    let folder = dir.path().join("runs/00000008");
    assert_eq!(people, folder.join("report.md"));
    assert!(fs::read_to_string(&people).unwrap().starts_with("# NOT"));
    // One that others could read does not stay so.
    fs::set_permissions(&people, fs::Permissions::from_mode(0o666)).unwrap();
    report.complete = true;
    write_report(dir.path(), run, &report).unwrap();
    assert_eq!(names(&folder), ["report.json", "report.md"]);
    assert!(fs::read_to_string(&people).unwrap().starts_with("# COMP"));
    for name in names(&folder) {
        assert_eq!(mode(&folder.join(&name)), 0o600, "{name}");
    }
    assert_eq!(mode(&folder), 0o700);
    let json = fs::read_to_string(folder.join("report.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json, serde_json::to_value(&report).unwrap());
    assert_eq!(json["format"], 1);
}

#[test]
fn a_copy_is_of_the_form_that_its_name_says_and_never_goes_over_the_ledger() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("ledger.jsonl"), "lines").unwrap();
    let report = report();
    write_at(&at("out.JSON"), dir.path(), &report).unwrap();
    assert!(fs::read_to_string(at("out.JSON")).unwrap().starts_with('{'));
    write_at(&at("out.txt"), dir.path(), &report).unwrap();
    assert!(fs::read_to_string(at("out.txt")).unwrap().starts_with("# "));
    let refused = write_at(&at("ledger.jsonl"), dir.path(), &report);
    assert!(matches!(
        refused,
        Err(WriteError::Atomic(AtomicError::Source(_)))
    ));
    assert_eq!(fs::read_to_string(at("ledger.jsonl")).unwrap(), "lines");
}
