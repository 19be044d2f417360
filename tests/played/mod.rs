//! Quest files that ship, used with the real program: scanned, answered, exported, audited.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::case::copy;
use crate::harness::email_net::rules;
use crate::harness::quest_play::{Shipped, ends};
use crate::harness::{EmailNet, Run, tools};

/// A quest file with a net as its world, and a copy of its example tree in `tree`.
///
/// At the end every judgement is made again from its evidence, and the session is audited.
pub struct Played {
    /// The net and the place.
    pub world: EmailNet,
    shipped: Shipped,
    /// The session as the scan left it.
    fresh: TempDir,
}

impl Played {
    /// The quest file of this name; nothing is scanned yet.
    pub fn of(name: &str) -> Self {
        let played = Self {
            world: EmailNet::unscanned(),
            shipped: Shipped::named(name),
            fresh: tempfile::tempdir().expect("a temporary directory"),
        };
        played.shipped.put_tree(&played.world.place.at("tree"));
        played
    }

    /// The same with a session of this list.
    #[track_caller]
    pub fn scanned(name: &str, list: &str) -> Self {
        let played = Self::of(name);
        played.scan(list);
        played
    }

    #[track_caller]
    pub fn edit(&self, path: &str, from: &str, to: &str) {
        let path = self.world.place.at("tree").join(path);
        let text = fs::read_to_string(&path).expect("a file");
        assert!(text.contains(from), "{from}");
        fs::write(path, text.replacen(from, to, 1)).expect("a file");
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.shipped.beside(name)
    }

    /// Scans the list of this name in its folder; the gate must pass its controls.
    #[track_caller]
    pub fn scan(&self, list: &str) {
        let mut scan = self.world.place.command();
        scan.env("PATH", tools::path())
            .args(["scan", "--max-tries=30", "--set=scan.pause-after=0"])
            .arg(self.beside(list))
            .arg("--quest")
            .arg(&self.shipped.file);
        if self.world.place.at("tree").exists() {
            scan.arg("--tree=tree");
        }
        let _ = Run::of(scan.args(self.world.flags())).ok();
        copy(&self.world.place.at(".comail"), self.fresh.path());
    }

    /// Begins again with the session and the tree as the scan left them, which saves a second run
    /// of all the controls. What was judged until now is judged again from its evidence first.
    #[track_caller]
    pub fn begin_again(&self) {
        self.world.assert_honest();
        let session = self.world.place.at(".comail");
        fs::remove_dir_all(&session).expect("a session");
        copy(self.fresh.path(), &session);
        let tree = self.world.place.at("tree");
        if tree.exists() {
            fs::remove_dir_all(&tree).expect("a tree");
            self.shipped.put_tree(&tree);
        }
    }

    #[track_caller]
    pub fn next(&self) -> String {
        self.world.place.run(["next"]).ok()
    }

    pub fn put_control(&self, name: &str) {
        let tree = self.world.place.at("tree");
        self.shipped.put_control(name, &tree);
    }

    fn unit(&self) -> String {
        let file = fs::read_to_string(&self.shipped.file).expect("a quest file");
        let file: toml::Table = file.parse().expect("TOML");
        file["unit"].as_str().expect("a unit").to_owned()
    }

    /// Submits these fields for the quest of this key, and returns the answer.
    #[track_caller]
    pub fn submit(&self, key: &str, fields: &[(&str, &str)]) -> Value {
        let mut args = vec!["submit".to_owned(), format!("--{}={key}", self.unit())];
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
    pub fn ends(&self, pass: u64, review: u64, rows: u64) {
        ends(&self.world.place, (pass, review), rows);
    }
}
