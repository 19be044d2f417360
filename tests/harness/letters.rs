//! A small quest file over a list of letters, and sessions of it.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;

use super::{Place, Run};

/// Read a total out of a letter, with a quote that stands in it.
pub const LETTERS: &str = r#"name = "letters"
unit = "letter"
about = "Read the total."

[input]
key = ["letter"]
anchor = ["text"]

[prompt]
text = "Read {{ key }}: {{ input.text }}"

[example]
key = "letter-0"
quote = "that makes 350"

[[field]]
name = "quote"
kind = "text"
help = "A line of the letter"

[[field]]
name = "total"
kind = "number"
required = false
unchecked = true

[[check]]
name = "quote-in-letter"
kind = "command"
argv = ["grep", "-qF", "--", "{{ field.quote }}"]
stdin = "{{ input.text }}"
timeout = "10s"

[[check]]
name = "no-blank"
kind = "matches"
field = "quote"
pattern = '\S'
needs = ["quote-in-letter"]
level = "review"

[[control]]
name = "honest"
key = "letter-7"
input = { text = "please pay 1200 EUR" }
submit = { quote = "pay 1200" }
verdict = "PASS"

[[control]]
name = "made-up"
key = "letter-7"
input = { text = "please pay 1200 EUR" }
submit = { quote = "pay 900" }
verdict = "FAIL"
fires = ["quote-in-letter"]
"#;

/// Two letters.
pub const LIST: &str = r#"{"letter":"one","text":"please pay 10 EUR"}
{"letter":"two","text":"nothing is due"}
"#;

/// The directories in which the tests find programs.
pub const PATH: &str = "/usr/bin:/bin";

/// A directory with a quest file in it.
pub struct Letters {
    /// The directory.
    pub place: Place,
}

impl Letters {
    /// A directory with this quest file, and the list beside it.
    pub fn with(file: &str) -> Self {
        let place = Place::new();
        place.write("letters.toml", file);
        place.write("list.jsonl", LIST);
        Self { place }
    }

    /// The same, with a session of its two letters.
    pub fn scanned(file: &str) -> Self {
        let letters = Self::with(file);
        let scan = ["scan", "list.jsonl", "--quest", "letters.toml"];
        letters.run(scan).ok();
        letters
    }

    /// Runs the program where it finds others.
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        Run::of(self.place.command().env("PATH", PATH).args(args))
    }

    /// The same with `--json`, and its one document.
    pub fn json<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> (i32, Value) {
        let mut command = self.place.command();
        let run = Run::of(command.env("PATH", PATH).args(args).arg("--json"));
        let value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("no JSON document ({error}): {run:?}"));
        (run.code, value)
    }

    pub fn has_session(&self) -> bool {
        Path::new(&self.place.at(".comail")).exists()
    }
}
