//! Quest files that ship, played by the real program: scanned, answered, exported, audited.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::email_net::rules;
use crate::harness::{EmailNet, Run};

/// A quest file with a net that is its world, and a copy of its example tree in `tree`.
///
/// At the end every judgement is made again from its evidence, and the session is audited.
pub struct Played {
    /// The net and the place.
    pub world: EmailNet,
    file: PathBuf,
}

impl Played {
    /// The quest file of this name; nothing is scanned yet.
    pub fn of(name: &str) -> Self {
        let quests = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/quests");
        let played = Self {
            world: EmailNet::unscanned(),
            file: quests.join(format!("{name}.toml")),
        };
        let tree = played.beside("tree");
        if tree.is_dir() {
            copy(&tree, &played.world.place.at("tree"));
        }
        played
    }

    /// A file that lies in the quest file's folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.file.with_extension("").join(name)
    }

    /// Scans the list of its folder that has this name, whose gate has to stand its controls.
    #[track_caller]
    pub fn scan(&self, list: &str) {
        let mut scan = self.with_path(&["scan", "--max-tries=30", "--pause-after=0"]);
        scan.arg(self.beside(list)).arg("--quest").arg(&self.file);
        if self.world.place.at("tree").exists() {
            scan.arg("--tree=tree");
        }
        let _ = Run::of(scan.args(self.world.flags())).ok();
    }

    /// Reads the quest file and runs its controls, each of which has to be as it must.
    #[track_caller]
    pub fn check(&self) {
        let mut check = self.with_path(&["quest", "check"]);
        let said = Run::of(check.arg(&self.file)).ok();
        assert!(said.contains("the gate can say yes and no"), "{said}");
    }

    fn with_path(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.world.place.command();
        let path: OsString = std::env::var_os("PATH").unwrap_or_default();
        command.env("PATH", path).args(args);
        command
    }

    /// What the next quest says.
    #[track_caller]
    pub fn next(&self) -> String {
        self.world.place.run(["next"]).ok()
    }

    /// Lays the files of a control over the tree.
    pub fn put_control(&self, name: &str) {
        let from = self.beside(&format!("controls/{name}"));
        copy(&from, &self.world.place.at("tree"));
    }

    /// Submits these fields for the quest of this key, and returns the answer.
    #[track_caller]
    pub fn submit(&self, key: &str, fields: &[(&str, &str)]) -> Value {
        let mut args = vec!["submit".to_owned(), format!("--key={key}")];
        let fields = fields.iter().map(|(name, text)| format!("--{name}={text}"));
        args.extend(fields);
        self.world.place.json(args).1
    }

    /// Submits, and expects this verdict and these rules: `FAIL answers`.
    #[track_caller]
    pub fn expect(&self, key: &str, fields: &[(&str, &str)], said: &str) {
        let answer = self.submit(key, fields);
        let verdict = answer["verdict"].as_str();
        let verdict = verdict.unwrap_or_else(|| panic!("not judged: {answer:#}"));
        let words = std::iter::once(verdict.to_owned()).chain(rules(&answer));
        let words: Vec<_> = words.collect();
        assert_eq!(words.join(" "), said, "{fields:?}: {answer:#}");
    }

    /// Expects these counts in the status, as many rows in the export, and a clean audit.
    #[track_caller]
    pub fn ends(&self, pass: u64, review: u64, rows: usize) {
        let (_, status) = self.world.place.json(["status"]);
        let tally = &status["tally"];
        let counts = (&tally["pass"], &tally["review"]);
        assert_eq!(counts, (&pass.into(), &review.into()), "{status:#}");
        let _ = self.world.place.run(["export", "results.jsonl"]).ok();
        let results = fs::read_to_string(self.world.place.at("results.jsonl")).expect("results");
        assert_eq!(results.lines().count(), rows, "{results}");
        let (code, report) = self.world.place.json(["audit"]);
        assert_eq!(code, 0, "{report:#}");
    }
}

/// Copies every file below `from` to below `to`.
pub fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.expect("an entry");
        let below = entry.path().strip_prefix(from).expect("below it");
        let place = to.join(below);
        if entry.file_type().is_dir() {
            fs::create_dir_all(place).expect("a folder");
        } else {
            fs::write(place, fs::read(entry.path()).expect("a file")).expect("a file");
        }
    }
}
