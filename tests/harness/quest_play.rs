//! A quest file that ships, played by the real program with the real tools.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Place, Run, tools};

/// A place with a copy of the quest file's example tree, in `tree`; temporary files in `tmp`.
pub struct QuestPlay {
    /// The place.
    pub place: Place,
    path: OsString,
    file: PathBuf,
}

impl QuestPlay {
    /// The quest file of this name, and a copy of its tree; nothing is scanned yet.
    pub fn of(name: &str) -> Self {
        let quests = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/quests");
        let play = Self {
            place: Place::new(),
            path: tools::path(),
            file: quests.join(format!("{name}.toml")),
        };
        copy(&quests.join(name).join("tree"), &play.place.at("tree"));
        fs::create_dir(play.place.at("tmp")).expect("a folder");
        play
    }

    /// A file that lies beside the quest file, in its folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.file.with_extension("").join(name)
    }

    /// Scans the list, whose gate has to stand its controls.
    #[track_caller]
    pub fn scan(&self, list: &Path, args: &[&str]) {
        let mut command = self.place.command();
        command.env("PATH", &self.path).arg("scan").arg(list);
        command.env("TMPDIR", self.place.at("tmp"));
        command.arg("--quest").arg(&self.file).arg("--tree=tree");
        Run::of(command.args(args)).ok();
    }

    /// Puts a file into the tree, as an agent does.
    pub fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        put(&self.place.at("tree").join(path), text.as_ref());
    }

    /// Puts what a control writes into the tree.
    pub fn put_control(&self, name: &str) {
        copy(
            &self.beside(&format!("controls/{name}")),
            &self.place.at("tree"),
        );
    }

    /// Makes the tree what it was.
    pub fn restore(&self) {
        let tree = self.place.at("tree");
        fs::remove_dir_all(&tree).expect("a tree to remove");
        copy(&self.beside("tree"), &tree);
    }

    /// Submits: the exit code, the verdict, and every rule that fired.
    #[track_caller]
    pub fn submit(&self, args: &[&str]) -> (i32, String, Vec<String>) {
        let (code, answer) = self.place.json([&["submit"], args].concat());
        let verdict = answer["verdict"].as_str();
        let verdict = verdict.unwrap_or_else(|| panic!("not judged: {answer:#}"));
        (code, verdict.to_owned(), rules(&answer))
    }

    /// Expects a FAIL by this rule alone.
    #[track_caller]
    pub fn fails(&self, args: &[&str], rule: &str) {
        let expected = (5, "FAIL".to_owned(), vec![rule.to_owned()]);
        assert_eq!(self.submit(args), expected, "{args:?}");
    }

    /// Expects a PASS.
    #[track_caller]
    pub fn passes(&self, args: &[&str]) {
        let (_, answer) = self.place.json([&["submit"], args].concat());
        assert_eq!(answer["verdict"], "PASS", "{answer:#}");
    }

    /// Expects that nothing is left to do, that the results are exported, and that the audit,
    /// which runs nothing, judges all as it was judged.
    #[track_caller]
    pub fn ends(&self, passed: u64) {
        let _ = self.place.run(["next"]).exits(3);
        let (_, status) = self.place.json(["status"]);
        assert_eq!(status["tally"]["pass"], passed, "{status:#}");
        let _ = self.place.run(["export", "results.jsonl"]).ok();
        let results = fs::read_to_string(self.place.at("results.jsonl")).expect("results");
        assert_eq!(results.lines().count() as u64, passed, "{results}");
        let (code, report) = self.place.json(["audit"]);
        assert_eq!(code, 0, "{report:#}");
    }
}

/// Every rule that fired, once, in order of names.
pub fn rules(answer: &Value) -> Vec<String> {
    let facts = answer["facts"].as_array().cloned().unwrap_or_default();
    let mut rules: Vec<_> = facts
        .iter()
        .map(|fact| fact["rule"].as_str().expect("a rule").to_owned())
        .collect();
    rules.sort();
    rules.dedup();
    rules
}

fn put(place: &Path, bytes: &[u8]) {
    fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
    fs::write(place, bytes).expect("a file");
}

fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.expect("an entry");
        let path = entry.path().strip_prefix(from).expect("below it");
        if entry.file_type().is_file()
            && !path.components().any(|it| it.as_os_str() == "__pycache__")
        {
            put(&to.join(path), &fs::read(entry.path()).expect("a file"));
        }
    }
}
