//! `comail prompt`, and the files that are made by it.

use std::fs;
use std::path::Path;

use crate::harness::letters::{LETTERS, Letters};
use crate::harness::{EmailNet, Place};

/// The files of `fixtures/agents`, and the format of each.
const FILES: [(&str, &str); 2] = [("AGENTS.txt", "text"), ("SKILL.md", "skill")];

#[test]
fn the_files_for_agents_are_what_prompt_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents");
    for (name, format) in FILES {
        let printed = Place::new().run(["prompt", "--format", format]).ok();
        let kept = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            kept == printed,
            "fixtures/agents/{name} is not what is printed now; write it anew:\n  cargo run -- \
             prompt --format {format} > fixtures/agents/{name}"
        );
    }
}

#[test]
fn a_skill_says_when_it_is_to_be_used() {
    let text = Place::new().run(["prompt", "--format", "skill"]).ok();
    let mut parts = text.split("---\n").skip(1);
    let head = parts.next().expect("a front matter");
    let [name, description] = head.lines().collect::<Vec<_>>()[..] else {
        panic!("{head}");
    };
    assert_eq!(name, "name: comail");
    let words = description
        .strip_prefix("description: ")
        .expect("a description");
    // What would be YAML's to read.
    assert!(!words.is_empty() && words.len() <= 1024 && !words.contains('#'));
    assert_eq!(words.matches(": ").count(), 0, "{words}");
    let body = Place::new().run(["prompt"]).ok();
    assert_eq!(
        text.split_once("---\n\n").map(|(_, rest)| rest),
        Some(body.as_str())
    );
}

#[test]
fn inside_a_session_its_fields_are_told() {
    let letters = Letters::scanned(LETTERS);
    let text = letters.run(["prompt"]).ok();
    assert!(text.contains("\n    comail submit --id N --"), "{text}");
    let (_, block) = letters.json(["prompt"]);
    let session = &block["session"];
    assert_eq!(session["unit"], "letter");
    assert_eq!(block["text"].as_str(), Some(text.as_str()));
    for name in ["total", "quote"] {
        assert!(text.contains(&format!("\n- {name}: ")), "{name}: {text}");
    }
    let elsewhere = letters.run(["--session", "nowhere", "prompt"]);
    assert_eq!(elsewhere.code, 1, "{elsewhere:?}");
    assert!(Place::new().json(["prompt"]).1.get("session").is_none());
}

/// What an agent gets by doing word for word what it is told.
#[test]
fn the_line_that_is_told_is_taken() {
    let mail = EmailNet::start();
    let (_, block) = mail.place.json(["--session", ".comail", "prompt"]);
    let line = block["session"]["submit"].as_str().expect("a line");
    let expected =
        "comail submit --session .comail --id N --site SITE --email EMAIL --source SOURCE";
    assert_eq!(line, expected);
    let right = mail.right("acme.co.kr");
    let line = line
        .replace("--id N", "--id 1")
        .replace("SITE", &right.site)
        .replace("EMAIL", &right.email)
        .replace("SOURCE", &right.source);
    let run = crate::harness::Run::of(&mut mail.place.shell(&line));
    assert!(run.ok().starts_with("PASS quest 1"));
}
