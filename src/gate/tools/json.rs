//! Complaints that tools print as JSON: SARIF, and the lines of
//! `cargo --message-format=json`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::{Complaints, Unread, complaint, decoded, lines_of};
use crate::gate::Fact;

const SARIF: &str = "SARIF";

/// SARIF: the results of static analysis as one JSON document.
pub(super) fn read_sarif(bytes: &[u8]) -> Result<Complaints, Unread> {
    let text = decoded(bytes);
    if text.trim().is_empty() {
        return Err(Unread::nothing(SARIF));
    }
    let log: Value = serde_json::from_str(&text).map_err(|why| Unread::damaged(SARIF, &why))?;
    let runs = log["runs"].as_array();
    let runs = runs.ok_or_else(|| Unread::damaged(SARIF, "it has no runs"))?;
    let mut all = Complaints::default();
    for run in runs {
        let mut invocations = run["invocations"].as_array().into_iter().flatten();
        let broke = invocations.any(|one| one["executionSuccessful"] == false);
        // A tool that says nothing of results did not find that there are none.
        let results = run["results"].as_array();
        let Some(results) = results.filter(|results| !(broke && results.is_empty())) else {
            let why = "a run has no results: the tool did not come to its end";
            return Err(Unread::damaged(SARIF, why));
        };
        for result in results.iter().filter(|result| complains(result)) {
            all.push(sarif_fact(result));
        }
    }
    Ok(all)
}

fn complains(result: &Value) -> bool {
    let kind = result["kind"].as_str().unwrap_or("fail");
    // Somebody other than the code's author said that it may stay: a suppression within the source
    // is written by whoever writes the source.
    let waives = |one: &Value| {
        let accepted = one["status"].as_str().is_none_or(|it| it == "accepted");
        one["kind"] == "external" && accepted
    };
    let mut suppressions = result["suppressions"].as_array().into_iter().flatten();
    !matches!(kind, "pass" | "notApplicable" | "informational") && !suppressions.any(waives)
}

fn sarif_fact(result: &Value) -> Fact {
    let text = |pointer: &str| result.pointer(pointer).and_then(Value::as_str);
    let rule = text("/ruleId").or(text("/rule/id")).unwrap_or_default();
    let message = ["/message/text", "/message/markdown", "/message/id"];
    let said = message.into_iter().find_map(text).unwrap_or(rule);
    let locations = result["locations"].as_array().into_iter().flatten();
    let place = locations.filter_map(sarif_place).next();
    complaint("no complaint", rule, said, &place.unwrap_or_default())
}

fn sarif_place(location: &Value) -> Option<String> {
    let physical = &location["physicalLocation"];
    let mut place = physical["artifactLocation"]["uri"].as_str()?.to_owned();
    let numbers = ["startLine", "startColumn"].map(|key| physical["region"][key].as_u64());
    for number in numbers.into_iter().map_while(|number| number) {
        place.push_str(&format!(":{number}"));
    }
    Some(place)
}

const CARGO: &str = "output of cargo --message-format=json";

#[derive(Deserialize)]
struct Line {
    reason: String,
    success: Option<bool>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(rename = "message")]
    text: String,
    level: String,
    code: Option<Code>,
    #[serde(default)]
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u64,
    column_start: u64,
    #[serde(default)]
    is_primary: bool,
}

/// What cargo prints with `--message-format=json`; clippy's complaints among it.
pub(super) fn read_cargo(bytes: &[u8]) -> Result<Complaints, Unread> {
    let text = decoded(bytes);
    let mut all = Complaints::default();
    // A file that belongs to several targets is complained of once for each.
    let mut known = BTreeSet::new();
    let (mut found, mut failed) = (false, false);
    // What a program that cargo ran printed stands between cargo's own lines.
    for line in lines_of(&text).filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
        found = true;
        failed |= line.reason == "build-finished" && line.success == Some(false);
        let message = line.message.filter(|_| line.reason == "compiler-message");
        if let Some(message) = message.filter(Message::complains)
            && known.insert((message.place(), message.text.clone()))
        {
            let code = message.code.as_ref().map_or("", |code| code.code.as_str());
            let said = format!("{}: {}", message.level, message.text);
            let place = message.place().unwrap_or_default();
            all.push(complaint("no complaint", code, &said, &place));
        }
    }
    if !found {
        return Err(Unread::nothing(CARGO));
    }
    if failed && all.count == 0 {
        let actual = "it failed, and no message says why";
        all.push(complaint("the build succeeds", "", actual, ""));
    }
    Ok(all)
}

impl Message {
    /// Whether it is a complaint. A message without a place and a code only counts those before it.
    fn complains(&self) -> bool {
        let weighs = self.level == "warning" || self.level.starts_with("error");
        weighs && !(self.spans.is_empty() && self.code.is_none())
    }

    fn place(&self) -> Option<String> {
        let primary = self.spans.iter().find(|span| span.is_primary);
        let span = primary.or(self.spans.first())?;
        Some(format!(
            "{}:{}:{}",
            span.file_name, span.line_start, span.column_start
        ))
    }
}

#[cfg(test)]
mod sarif {
    use super::*;

    #[test]
    fn reads_results_and_passes_over_what_is_no_complaint() {
        let all = read_sarif(include_bytes!("samples/lint.sarif")).expect("SARIF");
        let seen: Vec<_> = all
            .first
            .iter()
            .map(|one| (one.location.as_deref(), one.actual.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (
                    Some("src/shop.py:3:5"),
                    "F841: Local variable `x` is unused"
                ),
                (Some("src/shop.py:9"), "S102: Use of exec"),
                (None, "X1: X1"),
            ]
        );
    }

    #[test]
    fn no_results_are_not_none() {
        let said = |text: &str| read_sarif(text.as_bytes()).map(|all| all.count);
        assert_eq!(
            said(r#"{"version":"2.1.0","runs":[{"results":[]}]}"#),
            Ok(0)
        );
        assert!(said(r#"{"version":"2.1.0","runs":[{}]}"#).is_err());
        assert!(
            said(r#"{"runs":[{"results":[],"invocations":[{"executionSuccessful":false}]}]}"#)
                .is_err()
        );
        assert!(said("{}").is_err());
        assert!(said("").is_err());
        assert!(said(&"[".repeat(1_000_000)).is_err());
        let deep = format!(r#"{{"x":{}"#, "[".repeat(1_000_000));
        assert!(said(&deep).is_err());
    }
}

#[cfg(test)]
mod cargo {
    use super::*;

    #[test]
    fn reads_clippys_complaints_once() {
        let all = read_cargo(include_bytes!("samples/cargo.jsonl")).expect("cargo");
        assert_eq!(all.count, 2, "{all:?}");
        let one = &all.first[0];
        assert_eq!(one.location.as_deref(), Some("src/lib.rs:2:5"));
        let actual = "clippy::needless_return: warning: unneeded `return` statement";
        assert_eq!(one.actual, actual);
        assert!(all.first[1].actual.starts_with("E0308: "), "{all:?}");
    }

    #[test]
    fn a_failed_build_never_looks_clean() {
        let read = |text: &str| read_cargo(text.as_bytes()).map(|all| all.count);
        assert_eq!(read(r#"{"reason":"build-finished","success":true}"#), Ok(0));
        assert_eq!(
            read(r#"{"reason":"build-finished","success":false}"#),
            Ok(1)
        );
        assert!(read("error: could not find `Cargo.toml`\n").is_err());
        assert!(read("").is_err());
        assert!(read(&format!(r#"{{"reason":{}"#, "[".repeat(100_000))).is_err());
    }
}
