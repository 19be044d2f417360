//! What `go test -json` prints: one event a line.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::complaint::Unread;
use super::complaint::{Complaint, Complaints, Seen};
use super::complaint::{decoded, lines};
use super::lines::Located;

const FORMAT: &str = "output of go test -json";

const MOST_OUTPUT: usize = 8 * 1024;

/// How deep tests may lie within tests; what holds a deeper one may be counted with it.
const MOST_DEPTH: usize = 32;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    test: Option<String>,
    #[serde(default)]
    output: String,
    import_path: Option<String>,
    failed_build: Option<String>,
}

/// A package, and a test in it unless the package itself is meant.
type Unit = (String, Option<String>);

#[derive(Debug, Default)]
struct Reading {
    seen: Seen,
    outputs: BTreeMap<Unit, String>,
    /// Those that began and have not ended, and how often.
    running: BTreeMap<Unit, u32>,
    ended: Vec<(Unit, Ended)>,
    parents: BTreeSet<Unit>,
    found: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Ended {
    Passed,
    Skipped,
    Failed(Option<String>),
}

pub(super) fn read(bytes: &[u8]) -> Result<Complaints, Unread> {
    let text = decoded(bytes);
    let mut reading = Reading::default();
    for event in lines(&text).filter_map(|line| serde_json::from_str(line).ok()) {
        reading.event(event);
    }
    if !reading.found {
        return Err(Unread::Nothing { format: FORMAT });
    }
    Ok(reading.finish())
}

impl Reading {
    fn event(&mut self, event: Event) {
        let package = event.import_path.unwrap_or(event.package);
        let unit = (package, event.test);
        let ended = match event.action.as_str() {
            "start" | "run" => {
                if unit.1.is_some() {
                    self.begun(&unit);
                }
                self.found = true;
                return;
            }
            "output" | "build-output" => {
                let kept = self.outputs.entry(unit).or_default();
                if kept.len() + event.output.len() <= MOST_OUTPUT {
                    kept.push_str(&event.output);
                }
                return;
            }
            "pass" => Ended::Passed,
            "skip" => Ended::Skipped,
            "fail" => Ended::Failed(event.failed_build),
            _ => return,
        };
        self.found = true;
        if let Some(left) = self.running.get_mut(&unit) {
            *left = left.saturating_sub(1);
        }
        self.ended.push((unit, ended));
    }

    fn begun(&mut self, unit: &Unit) {
        let runs = self.running.entry(unit.clone()).or_default();
        *runs = runs.saturating_add(1);
        let name = unit.1.as_deref().unwrap_or_default();
        if let Some((parent, _)) = name.rsplit_once('/') {
            self.parents
                .insert((unit.0.clone(), Some(parent.to_owned())));
        }
    }

    fn finish(mut self) -> Complaints {
        let mut all = Complaints::default();
        let cut = self.running.iter().filter(|(_, left)| **left > 0);
        let cut = cut.map(|(unit, _)| (unit.clone(), Ended::Failed(None)));
        self.ended.extend(cut);
        let ended = std::mem::take(&mut self.ended);
        let (tests, packages): (Vec<_>, Vec<_>) =
            ended.iter().partition(|(unit, _)| unit.1.is_some());
        let failed = tests
            .iter()
            .filter(|(_, how)| matches!(how, Ended::Failed(_)));
        // What holds a failure fails with it and is not counted again.
        let blamed: BTreeSet<Unit> = failed.flat_map(|(unit, _)| holders(unit)).collect();
        for (unit, how) in tests {
            match how {
                Ended::Failed(_) if blamed.contains(unit) => {}
                Ended::Failed(_) => {
                    self.seen.fail();
                    all.push(self.complaint(unit));
                }
                _ if self.parents.contains(unit) => {}
                Ended::Passed => self.seen.pass(),
                Ended::Skipped => self.seen.skip(),
            }
        }
        for (unit, how) in packages {
            if let Ended::Failed(build) = how
                && !blamed.contains(unit)
            {
                let told = build
                    .clone()
                    .map_or_else(|| unit.clone(), |build| (build, None));
                all.push(self.complaint(&told));
            }
        }
        all.seeing(self.seen)
    }

    fn complaint(&self, unit: &Unit) -> Complaint {
        let output = self.outputs.get(unit).map_or("", String::as_str);
        let found = Located::in_trace(output);
        let place = found.as_ref().map(Located::place);
        let said: Vec<&str> = lines(output)
            .map(str::trim)
            .filter(|line| !is_frame(line))
            .collect();
        let said = match said.join(" ") {
            empty if empty.is_empty() => "it does not, or never ended".to_owned(),
            said => said,
        };
        let complaint = match &unit.1 {
            Some(test) => Complaint::test(&format!("{}.{test}", unit.0), &said),
            None => Complaint::new("the package's tests run and pass", &said).named(&unit.0),
        };
        complaint.at(place.as_deref())
    }
}

/// What holds a test: its package, and the tests that it is part of.
fn holders((package, test): &Unit) -> Vec<Unit> {
    let name = test.as_deref().unwrap_or_default();
    let above = name.match_indices('/').take(MOST_DEPTH);
    let above = above.filter_map(|(at, _)| name.get(..at));
    let above = above.map(|name| (package.clone(), Some(name.to_owned())));
    above.chain([(package.clone(), None)]).collect()
}

/// Whether a line only frames what a test says.
fn is_frame(line: &str) -> bool {
    line.is_empty() || line.starts_with("=== ") || line.starts_with("--- ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_tests_and_tests_within_tests() {
        let all = read(include_bytes!("samples/go-test.jsonl")).expect("go test");
        assert_eq!(
            all.seen,
            Some(Seen {
                passed: 2,
                failed: 1,
                skipped: 1
            })
        );
        assert_eq!(all.count, 2, "{all:?}");
        let one = &all.first[0];
        assert_eq!(
            one.name.as_deref(),
            Some("example.com/shop.TestTotal/empty")
        );
        assert_eq!(one.location.as_deref(), Some("shop_test.go:12"));
        assert_eq!(one.actual, "shop_test.go:12: got 3, want 4");
        let build = &all.first[1];
        assert_eq!(build.location.as_deref(), Some("cart/cart.go:7:2"));
        assert!(build.actual.contains("undefined: Item"), "{build:?}");
    }

    #[test]
    fn a_failure_is_not_forgotten_for_a_later_pass() {
        let all = read(
            br#"{"Action":"run","Package":"p","Test":"T"}
{"Action":"fail","Package":"p","Test":"T"}
{"Action":"run","Package":"p","Test":"T"}
{"Action":"pass","Package":"p","Test":"T"}"#,
        )
        .expect("go test");
        assert_eq!(
            all.seen,
            Some(Seen {
                passed: 1,
                failed: 1,
                skipped: 0
            })
        );
    }

    #[test]
    fn names_of_many_parts_cost_little() {
        let name = "/".repeat(1 << 18);
        let text = format!(r#"{{"Action":"run","Package":"p","Test":"{name}"}}"#);
        assert_eq!(read(text.as_bytes()).expect("go test").count, 1);
    }

    #[test]
    fn what_never_ended_failed() {
        let all = read(br#"{"Action":"run","Package":"p","Test":"T"}"#).expect("go test");
        assert_eq!((all.count, all.seen.map(|seen| seen.failed)), (1, Some(1)));
        assert!(read(b"ok  \texample.com/shop\t0.01s\n").is_err());
        assert!(read(b"").is_err());
    }
}
