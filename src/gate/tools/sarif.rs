//! SARIF: the results of static analysis as one JSON document.

use serde_json::Value;

use super::{Complaints, Unread, complaint, decoded};
use crate::gate::Fact;

const SARIF: &str = "SARIF";

pub(super) fn read(bytes: &[u8]) -> Result<Complaints, Unread> {
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
    // is written by the author of the source.
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
    let mut locations = result["locations"].as_array().into_iter().flatten();
    let place = locations.find_map(sarif_place);
    complaint("no complaint", rule, said, &place.unwrap_or_default())
}

fn sarif_place(location: &Value) -> Option<String> {
    let physical = &location["physicalLocation"];
    let mut place = physical["artifactLocation"]["uri"].as_str()?.to_owned();
    let numbers = ["startLine", "startColumn"].map(|key| physical["region"][key].as_u64());
    for number in numbers.into_iter().map_while(|number| number) {
        place = format!("{place}:{number}");
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_results_and_passes_over_what_is_no_complaint() {
        let all = read(include_bytes!("samples/lint.sarif")).expect("SARIF");
        let seen: Vec<_> = all
            .facts
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
        let said = |text: &str| read(text.as_bytes()).map(|all| all.facts.len());
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
