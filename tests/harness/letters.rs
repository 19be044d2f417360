//! A small quest file over a list of letters, and sessions of it.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;

use super::{Place, Run};

/// Read a total out of a letter, with a quote that stands in it.
pub const LETTERS: &str = include_str!("quests/letters.toml");

pub const LIST: &str = r#"{"letter":"one","text":"please pay 10 EUR"}
{"letter":"two","text":"nothing is due"}
"#;

/// The directories in which the tests find programs.
pub const PATH: &str = "/usr/bin:/bin";

/// A directory with a quest file in it.
pub struct Letters {
    pub place: Place,
}

impl Letters {
    /// A directory with this quest file and the list.
    pub fn with(file: &str) -> Self {
        let place = Place::new();
        place.write("letters.toml", file);
        place.write("list.jsonl", LIST);
        Self { place }
    }

    /// The same, with a session of its two letters.
    pub fn scanned(file: &str) -> Self {
        let letters = Self::with(file);
        letters.scan().ok();
        letters
    }

    pub fn scan(&self) -> Run {
        self.run(["scan", "list.jsonl", "--quest=letters.toml"])
    }

    pub fn check(&self) -> Run {
        self.run(["quest", "check", "letters.toml"])
    }

    /// Runs the program with a `PATH`.
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        Run::of(self.place.command().env("PATH", PATH).args(args))
    }

    /// The same with `--json`, and its one document.
    pub fn json<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> (i32, Value) {
        let mut command = self.place.command();
        Run::of(command.env("PATH", PATH).args(args).arg("--json")).json()
    }

    /// Submits with these arguments, expects this verdict, and returns the answer.
    #[track_caller]
    pub fn submits(&self, args: &[&str], verdict: &str) -> Value {
        let (code, answer) = self.json([&["submit"], args].concat());
        let exit = if verdict == "FAIL" { 5 } else { 0 };
        assert_eq!(answer["verdict"], verdict, "{args:?}: {answer:#}");
        assert_eq!(code, exit, "{args:?}: {answer:#}");
        answer
    }

    pub fn has_session(&self) -> bool {
        Path::new(&self.place.at(".comail/session.json")).exists()
    }
}
