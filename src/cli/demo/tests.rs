//! The script of the demo, and the place it makes.

use serde_json::Value;

use super::*;
use clap::ColorChoice;

fn played(json: bool) -> (String, tempfile::TempDir) {
    let here = tempfile::tempdir().unwrap();
    let (output, kept) = Output::of_process(json, ColorChoice::Never, false).kept();
    let dir = here.path().join("demo").display().to_string();
    let args = ["comail", "demo", "--dir", &dir].map(str::to_owned);
    let world = Rc::new(RecordedWorld::from_json(WORLD).unwrap());
    let exit = crate::cli::command::rehearse(&args, output, world);
    assert_eq!(exit.unwrap(), Exit::Done);
    (kept.text(), here)
}

#[test]
fn plays_every_ending() {
    let (text, _here) = played(true);
    let played: Value = serde_json::from_str(&text).unwrap();
    let steps = played["steps"].as_array().unwrap();
    let judged: Vec<_> = steps
        .iter()
        .filter_map(|step| Some((step["output"]["verdict"].as_str()?, step["exit"].as_u64()?)))
        .collect();
    let expected = [
        ("PASS", 0),
        ("FAIL", 5),
        ("PASS", 0),
        ("REVIEW", 0),
        ("FAIL", 5),
        ("FAIL", 5),
        ("FAIL", 6),
        ("PASS", 0),
    ];
    assert_eq!(judged, expected);
    assert_eq!(steps[10]["output"]["status"], "complete");
    assert_eq!(steps[11]["output"]["tally"]["pass"], 3);
    assert_eq!(steps[11]["output"]["unanchored"], 0);
}

#[test]
fn takes_the_first_free_name_and_replaces_nothing() {
    let here = tempfile::tempdir().unwrap();
    let name = here.path().join("demo");
    fs::write(&name, "somebody's").unwrap();
    fs::create_dir(here.path().join("demo-2")).unwrap();
    assert_eq!(create_free(&name).unwrap(), here.path().join("demo-3"));
    assert_eq!(fs::read(&name).unwrap(), b"somebody's");
}

#[test]
fn a_directory_that_is_there_is_refused() {
    let here = tempfile::tempdir().unwrap();
    let error = create(here.path()).unwrap_err();
    assert!(error.to_string().contains("--dir"), "{error:#}");
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
    let error = create_free(&here.path().join("no/such/demo")).unwrap_err();
    assert!(error.to_string().contains("no/such/demo"), "{error:#}");
}
