//! A quest file that ships, used with the real program and the real tools.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::case::copy;
use super::email_net::rules;
use super::{Place, Run, tools};

/// A quest file that ships, with the files of its folder.
pub struct Shipped {
    pub file: PathBuf,
}

impl Shipped {
    pub fn named(name: &str) -> Self {
        let quests = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/quests");
        Self {
            file: quests.join(format!("{name}.toml")),
        }
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.file.with_extension("").join(name)
    }

    /// Copies its example tree, if it has one, to `tree`.
    pub fn put_tree(&self, tree: &Path) {
        let from = self.beside("tree");
        if from.is_dir() {
            copy(&from, tree);
        }
    }

    pub fn put_control(&self, name: &str, tree: &Path) {
        copy(&self.beside(&format!("controls/{name}")), tree);
    }
}

/// A place with a copy of the quest file's example tree, in `tree`; temporary files in `tmp`.
pub struct QuestPlay {
    pub place: Place,
    path: OsString,
    shipped: Shipped,
}

impl QuestPlay {
    /// The quest file of this name, and a copy of its tree; nothing is scanned yet.
    pub fn of(name: &str) -> Self {
        let play = Self {
            place: Place::new(),
            path: tools::path(),
            shipped: Shipped::named(name),
        };
        play.shipped.put_tree(&play.place.at("tree"));
        fs::create_dir(play.place.at("tmp")).expect("a folder");
        play
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.shipped.beside(name)
    }

    /// Scans the list; the gate must pass its controls.
    #[track_caller]
    pub fn scan(&self, list: &Path, args: &[&str]) {
        let mut command = self.place.command();
        command.env("PATH", &self.path).arg("scan").arg(list);
        command.env("TMPDIR", self.place.at("tmp"));
        command.arg("--quest").arg(&self.shipped.file);
        command.arg("--tree=tree");
        Run::of(command.args(args)).ok();
    }

    pub fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.place.at("tree").join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub fn put_control(&self, name: &str) {
        self.shipped.put_control(name, &self.place.at("tree"));
    }

    pub fn restore(&self) {
        let tree = self.place.at("tree");
        fs::remove_dir_all(&tree).expect("a tree to remove");
        self.shipped.put_tree(&tree);
    }

    /// Submits: the exit code, the verdict, and every rule that fired.
    #[track_caller]
    pub fn submit(&self, args: &[&str]) -> (i32, String, Vec<String>) {
        let (code, answer) = self.place.json([&["submit"], args].concat());
        let verdict = answer["verdict"].as_str();
        let verdict = verdict.unwrap_or_else(|| panic!("not judged: {answer:#}"));
        (code, verdict.to_owned(), rules(&answer))
    }

    #[track_caller]
    pub fn fails(&self, args: &[&str], rule: &str) {
        let expected = (5, "FAIL".to_owned(), vec![rule.to_owned()]);
        assert_eq!(self.submit(args), expected, "{args:?}");
    }

    #[track_caller]
    pub fn passes(&self, args: &[&str]) {
        let (_, answer) = self.place.json([&["submit"], args].concat());
        assert_eq!(answer["verdict"], "PASS", "{answer:#}");
    }

    /// Expects that no quest is left, and that the export and the audit agree with the verdicts.
    #[track_caller]
    pub fn ends(&self, passed: u64) {
        let _ = self.place.run(["next"]).exits(3);
        ends(&self.place, (passed, 0), passed);
    }
}

/// Expects so many PASS and REVIEW in the status, as many rows in the export, and a clean audit.
#[track_caller]
pub fn ends(place: &Place, (pass, review): (u64, u64), rows: u64) {
    let (_, status) = place.json(["status"]);
    let tally = &status["tally"];
    let counts = (&tally["pass"], &tally["review"]);
    assert_eq!(counts, (&pass.into(), &review.into()), "{status:#}");
    let _ = place.run(["export", "--out=results.jsonl", "--force"]).ok();
    let results = fs::read_to_string(place.at("results.jsonl")).expect("results");
    assert_eq!(results.lines().count() as u64, rows, "{results}");
    let (code, report) = place.json(["audit"]);
    assert_eq!(code, 0, "{report:#}");
}
