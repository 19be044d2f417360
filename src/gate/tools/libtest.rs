//! What `cargo test` prints: libtest's lines for people, since its JSON is not stable.
//!
//! Tests print to the same place. So each run must have as many tests as its first line announces, and
//! as its last line counts: a test that ends the process, or that adds a line, makes them differ.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::{TestReport, Unread, complaint, decoded, lines_of};

const FORMAT: &str = "libtest output";

const MAX_TRACE: usize = 64 * 1024;

/// The tests of one program.
#[derive(Debug, Default)]
struct Run<'t> {
    announced: u32,
    passed: u32,
    failed: Vec<&'t str>,
    skipped: u32,
    /// What the failed tests printed, by their names.
    said: BTreeMap<&'t str, String>,
    saying: Option<&'t str>,
}

/// The last line of a run, and its counts.
static RESULT: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^test result: \w+\. ([0-9]{1,9}) passed; ([0-9]{1,9}) failed; ([0-9]{1,9}) ignored; ([0-9]{1,9}) measured;";
    Regex::new(pattern).expect("the pattern is a constant")
});

/// Where a test panicked, and why.
static PANIC: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?s) panicked at (\S+):\n(.*?)(?:\nstack backtrace:|\nnote: |$)";
    Regex::new(pattern).expect("the pattern is a constant")
});

pub fn read(bytes: &[u8]) -> Result<TestReport, Unread> {
    let text = decoded(bytes);
    let mut report = TestReport::default();
    let mut open: Option<Run<'_>> = None;
    let mut is_empty = true;
    for (index, line) in lines_of(&text).enumerate() {
        let damaged = |why: &str| Unread::damaged(FORMAT, &format!("line {}: {why}", index + 1));
        if let Some(announced) = announced(line) {
            if open.is_some() {
                return Err(damaged("a run begins within another"));
            }
            open = Some(Run {
                announced,
                ..Run::default()
            });
            is_empty = false;
        } else if let Some(counts) = RESULT.captures(line) {
            let run = open.take();
            let run = run.ok_or_else(|| damaged("a result of no run"))?;
            let counts = [1, 2, 3, 4].map(|at| counts[at].parse().unwrap_or(u32::MAX));
            if run.is_as(counts) {
                run.add_to(&mut report);
            } else {
                return Err(damaged(&run.differs()));
            }
        } else if let Some(run) = &mut open {
            run.read(line);
        } else if outcome(line).is_some() {
            return Err(damaged("a test outside of any run"));
        }
    }
    match open {
        Some(_) => Err(Unread::damaged(FORMAT, "it is cut off within a run")),
        None if is_empty => Err(Unread::nothing(FORMAT)),
        None => Ok(report),
    }
}

/// How many tests follow, by the first line of a run.
fn announced(line: &str) -> Option<u32> {
    let count = line.strip_prefix("running ")?;
    let count = count.strip_suffix(" tests").or(count.strip_suffix(" test"));
    count?.parse().ok()
}

/// The name of a test, and how it ended.
fn outcome(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("test ")?.rsplit_once(" ... ")
}

impl<'t> Run<'t> {
    fn read(&mut self, line: &'t str) {
        let said = line.strip_prefix("---- ");
        if let Some(name) = said.and_then(|it| it.strip_suffix(" stdout ----")) {
            self.saying = Some(name);
        } else if line == "failures:" {
            self.saying = None;
        } else if let Some(said) = self.saying.map(|name| self.said.entry(name).or_default()) {
            if said.len() < MAX_TRACE {
                said.push_str(line);
                said.push('\n');
            }
        } else if let Some((name, how)) = outcome(line) {
            match how.split([' ', ',', ':']).next() {
                Some("ok" | "bench") => self.passed = self.passed.saturating_add(1),
                Some("FAILED") => self.failed.push(name),
                Some("ignored") => self.skipped = self.skipped.saturating_add(1),
                _ => {}
            }
        }
    }

    fn failed(&self) -> u32 {
        u32::try_from(self.failed.len()).unwrap_or(u32::MAX)
    }

    fn is_as(&self, [passed, failed, skipped, measured]: [u32; 4]) -> bool {
        let passed = passed.saturating_add(measured);
        let all = passed.saturating_add(failed).saturating_add(skipped);
        (self.passed, self.failed(), self.skipped) == (passed, failed, skipped)
            && all == self.announced
    }

    fn differs(&self) -> String {
        format!(
            "{} tests were announced, of which {} passed, {} failed and {} were ignored, which its \
             result does not say",
            self.announced,
            self.passed,
            self.failed(),
            self.skipped
        )
    }

    fn add_to(self, report: &mut TestReport) {
        report.passed = report.passed.saturating_add(self.passed);
        report.failed = report.failed.saturating_add(self.failed());
        report.skipped = report.skipped.saturating_add(self.skipped);
        for name in self.failed {
            let said = self.said.get(name).map_or("", String::as_str);
            let (place, why) = PANIC.captures(said).map_or(("", said), |found| {
                let (_, [place, why]) = found.extract();
                (place, why)
            });
            report.push(complaint("the test passes", name, why, place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    const SAMPLE: &str = include_str!("samples/libtest.txt");

    #[test]
    fn reads_what_cargo_prints() {
        let all = read(SAMPLE.as_bytes()).expect("libtest");
        assert_eq!((all.passed, all.failed, all.skipped), (3, 2, 1));
        let facts = all.facts.iter();
        let facts = facts.map(|fact| (fact.location.as_deref(), &*fact.actual));
        assert_eq!(
            facts.collect::<Vec<_>>(),
            [
                (
                    Some("src/lib.rs:10:34"),
                    "tests::bad: assertion `left == right` failed: sum & <tax> left: 1 right: 2"
                ),
                (None, "tests::r: Error: \"no\""),
            ]
        );
    }

    #[test]
    fn a_run_is_whole_and_counts_as_its_lines_do() {
        let result = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let run = format!("running 1 test\ntest a ... ok\n\n{result}");
        let counts =
            |text: &str| read(text.as_bytes()).map(|it| (it.passed, it.failed, it.skipped));
        assert_eq!(counts(&format!("{run}\n{run}")), Ok((2, 0, 0)));
        let timed = run.replace("... ok", "... ok <0.001s>");
        assert_eq!(counts(&timed), Ok((1, 0, 0)));
        for (text, said) in rows! {
            String::new() => "no libtest output";
            ".\n".to_owned() => "no libtest output";
            // A test ends the process.
            "running 1 test\n".to_owned() => "cut off";
            run.replace(result, "") => "cut off";
            format!("running 1 test\n{run}") => "within another";
            format!("test b ... ok\n{run}") => "outside of any run";
            format!("{run}{result}") => "a result of no run";
            // A test adds a line, or the result of a run that it leaves out.
            run.replace("test a", "test b ... ok\ntest a") => "1 tests were announced, of which 2";
            run.replace("test a ... ok\n", "") => "of which 0 passed";
            run.replace("1 test\n", "2 tests\n") => "2 tests were announced";
            run.replace("a ... ok", "a ... FAILED") => "1 failed";
            run.replace("1 passed", "99999999999999999999 passed") => "cut off";
        } {
            let why = counts(&text).expect_err(&text).to_string();
            assert!(why.contains(said), "{text}: {why}");
        }
    }
}
