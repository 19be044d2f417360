//! An agent that blocks the folder of a script, or has a service not answer.

use std::fs;
use std::os::unix::fs::symlink;

use crate::harness::letters::Letters;

const ANSWERS: &str = include_str!("harness/quests/answers.toml");

#[test]
fn a_file_in_the_place_of_a_scripts_folder_fails() {
    let letters = Letters::with(ANSWERS);
    let script = "grep -q '\"answer\":\"good\"'\n";
    letters.place.write("judge.sh", script);
    fs::create_dir(letters.place.at("tree")).expect("a directory");
    letters.scan().ok();
    let good = ["--letter=one", "--answer=good"];
    let folder = letters.place.at("tree/.comail");
    let fails = || {
        let answer = letters.submits(&good, "FAIL");
        assert_eq!(answer["facts"][0]["location"], ".comail", "{answer:#}");
        fs::remove_file(&folder).expect("what is in the way");
    };
    fs::write(&folder, "in the way\n").expect("a file");
    fails();
    symlink("/tmp", &folder).expect("a link");
    fails();
    letters.place.write("tree/notes", "beside it\n");
    letters.submits(&good, "PASS");
    letters.run(["audit"]).ok();
}

const SERVICE: &str = include_str!("harness/quests/requests.toml");

/// A server that falls silent, talks nonsense, stops short or ends, each on a path of its own.
const SERVER: &str = include_str!("harness/quests/odd_server.py");

#[test]
fn a_request_that_the_service_does_not_answer_fails() {
    let letters = Letters::with(SERVICE);
    fs::create_dir(letters.place.at("tree")).expect("a directory");
    letters.place.write("tree/server.py", SERVER);
    letters.scan().ok();
    let asks = |letter: &str, path: &str, verdict: &str| {
        let letter = format!("--letter={letter}");
        let request = format!(r#"--request={{"method": "GET", "path": "{path}"}}"#);
        letters.submits(&[&letter, &request], verdict)
    };
    for path in ["/drop", "/nonsense", "/short", "/packed"] {
        let answer = asks("one", path, "FAIL");
        let fact = &answer["facts"][0];
        assert_eq!(fact["location"], format!("GET {path}"), "{answer:#}");
        let actual = fact["actual"].as_str().expect("a text");
        assert!(actual.contains("no answer to this request"), "{answer:#}");
    }
    asks("one", "/fine", "PASS");
    asks("two", "/end", "REVIEW");
    letters.run(["audit"]).ok();
}
