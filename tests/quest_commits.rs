//! Commits that are cited: those of a real repository, as it was at scan.

use std::process::Command;

use serde_json::Value;

use crate::harness::letters::{Letters, PATH};

const FILE: &str = r#"name = "reasons"
unit = "question"
max_tries = 9

[input]
key = ["question"]

[tree]
root = "tree"
write = ["notes/**"]

[prompt]
text = "Say which commit answers {{ key }}."

[[field]]
name = "source"
kind = "text"

[[check]]
name = "cited"
kind = "citation"
field = "source"
min_chars = 6

[[control]]
name = "of a file"
key = "why"
submit = { source = "a.txt:1: \"as it was\"" }
verdict = "PASS"

[[control]]
name = "made up"
key = "why"
submit = { source = "a.txt:1: \"as it never was\"" }
verdict = "FAIL"
fires = ["cited"]
"#;

struct Reasons {
    letters: Letters,
}

impl Reasons {
    fn new() -> Self {
        let letters = Letters::with(FILE);
        let list = r#"{"question":"one"}
{"question":"two"}
"#;
        letters.place.write("list.jsonl", list);
        std::fs::create_dir(letters.place.at("tree")).expect("a directory");
        letters.place.write("tree/a.txt", "as it was\n");
        Self { letters }
    }

    fn git(&self, words: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.letters.place.at("tree")).env_clear();
        git.env("PATH", PATH)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        let output = git.args(words).output().expect("git");
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout)
            .expect("text")
            .trim()
            .to_owned()
    }

    /// The full name of a new commit with this message.
    fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn scan(&self) {
        let scan = ["scan", "list.jsonl", "--quest", "letters.toml"];
        self.letters.run(scan).ok();
    }

    /// The verdict on a citation for a question, and its one fact.
    fn submit(&self, question: &str, source: &str) -> (Value, Value) {
        let question = format!("--question={question}");
        let source = format!("--source={source}");
        let (_, answer) = self
            .letters
            .json(["submit", &question, &source].map(str::to_owned));
        (answer["verdict"].clone(), answer["facts"][0].clone())
    }
}

#[test]
fn what_a_commit_said_at_scan_is_cited() {
    let reasons = Reasons::new();
    reasons.git(&["init", "-q"]);
    let old = reasons.commit("Fix the parser\n\nIt read one line too many.");
    let head = reasons.commit("Go on");
    reasons.scan();
    // Whatever becomes of the repository, the session has what it needs.
    let late = reasons.commit("Answer the question");
    let cases = [
        (&late[..], "Answer the question", "none of that name"),
        ("0123456789abcdef", "Fix the parser", "none of that name"),
        (&old[..7], "Fix the lexer", "Fix the parser"),
        (&head[..], "Fix the parser", "Go on"),
        (&old[..10], "parse", "parse"),
    ];
    for (name, quote, actual) in cases {
        let (verdict, fact) = reasons.submit("one", &format!("commit {name}: \"{quote}\""));
        assert_eq!((&verdict, &fact["rule"]), (&"FAIL".into(), &"cited".into()));
        assert_eq!(fact["location"], format!("commit {name}"), "{fact}");
        let told = fact["actual"].as_str().expect("text");
        assert!(told.contains(actual), "{fact}");
    }
    let right = format!("commit {}: \"It read one line\"", &old[..7]);
    assert_eq!(reasons.submit("one", &right).0, "PASS");
    reasons.letters.run(["audit"]).ok();

    std::fs::remove_dir_all(reasons.letters.place.at("tree/.git")).expect("a repository");
    let right = format!("commit {old}: \"Fix the parser\"");
    assert_eq!(reasons.submit("two", &right).0, "PASS");
    reasons.letters.run(["audit"]).ok();
}

#[test]
fn a_tree_without_a_repository_has_no_commits() {
    let reasons = Reasons::new();
    reasons.scan();
    reasons.git(&["init", "-q"]);
    let late = reasons.commit("Fix the parser");
    let (verdict, fact) = reasons.submit("one", &format!("commit {late}: \"Fix the parser\""));
    assert_eq!(verdict, "FAIL");
    assert_eq!(fact["actual"], "no commits were pinned at scan", "{fact}");
    assert_eq!(reasons.submit("two", "a.txt:1: \"as it was\"").0, "PASS");
}
