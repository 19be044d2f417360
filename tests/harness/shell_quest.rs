//! A quest whose gate runs the submitted file in a shell, for scripts that attack it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::email_net::rules;
use super::{Place, Run};

const QUEST: &str = include_str!("quests/scripts.toml");

/// The line of the check's command, after which its time limit is inserted.
const ARGV: &str = "argv = [\"sh\", \"{{ field.file }}\"]
";

#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    pub verdict: String,
    pub rules: Vec<String>,
    pub all: Value,
}

/// A session of such quests: its tree in `tree`, temporary files in `tmp`.
pub struct ShellQuest {
    pub place: Place,
}

impl ShellQuest {
    /// A session whose scripts have this time limit.
    pub fn new(timeout: &str) -> Self {
        Self::scanned(timeout, |_| {})
    }

    /// The same, with changes before the scan.
    pub fn scanned(timeout: &str, before: impl FnOnce(&Place)) -> Self {
        let (quest, run) = Self::scan(timeout, before);
        run.ok();
        quest
    }

    /// The same, whatever the scan says.
    pub fn scan(timeout: &str, before: impl FnOnce(&Place)) -> (Self, Run) {
        let place = Place::new();
        for folder in ["tree", "tree/in", "tree/own", "tmp"] {
            fs::create_dir(place.at(folder)).expect("a folder");
        }
        place.write("tree/in/yes.sh", "exit 0\n");
        place.write("tree/in/no.sh", "exit 1\n");
        place.write("tree/own/data", "as it was\n");
        place.write("list.txt", "one\ntwo\nthree\n");
        let timed = format!("{ARGV}timeout = \"{timeout}\"\n");
        place.write("quest.toml", QUEST.replace(ARGV, &timed));
        before(&place);
        let mut command = place.command();
        // An operator's own programs come first.
        let path = format!("{}:/usr/bin:/bin", place.at("bin").display());
        command
            .env("PATH", path)
            .env("TMPDIR", place.at("tmp"))
            .args(["scan", "list.txt", "--quest=quest.toml", "--tree=tree"])
            .args(["--max-tries=99", "--set=scan.pause-after=0"]);
        let run = Run::of(&mut command);
        (Self { place }, run)
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.place.at("tree").join(name)
    }

    /// Submits this script for the first quest.
    #[track_caller]
    pub fn tries(&self, script: &str) -> Said {
        fs::write(self.at("in/try.sh"), script).expect("a script");
        self.submits("in/try.sh")
    }

    /// Submits this value for the first quest.
    #[track_caller]
    pub fn submits(&self, file: &str) -> Said {
        let file = format!("--file={file}");
        said(self.place.json(["submit", "--id=1", &file]))
    }

    #[track_caller]
    pub fn refuses(&self, script: &str) -> Said {
        let said = self.tries(script);
        assert_eq!(said.verdict, "FAIL", "{script}: {:#}", said.all);
        said
    }
}

#[track_caller]
pub fn said((code, answer): (i32, Value)) -> Said {
    let verdict = answer["verdict"].as_str();
    let verdict = verdict.unwrap_or_else(|| panic!("not judged ({code}): {answer:#}"));
    Said {
        verdict: verdict.to_owned(),
        rules: rules(&answer),
        all: answer,
    }
}
