//! SARIF: the results of static analysis as one JSON document.

use serde::Deserialize;

use super::complaint::Unread;
use super::complaint::decoded;
use super::complaint::{Complaint, Complaints};

const FORMAT: &str = "SARIF";

#[derive(Deserialize)]
struct Log {
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    /// Absent where the tool says nothing of results, which is not the same as none.
    results: Option<Vec<Found>>,
    #[serde(default)]
    invocations: Vec<Invocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    rule_id: Option<String>,
    rule: Option<Reference>,
    kind: Option<String>,
    message: Option<Message>,
    #[serde(default)]
    locations: Vec<Location>,
    suppressions: Option<Vec<Suppression>>,
}

#[derive(Deserialize)]
struct Reference {
    id: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    text: Option<String>,
    markdown: Option<String>,
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Option<Physical>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Option<Artifact>,
    region: Option<Region>,
}

#[derive(Deserialize)]
struct Artifact {
    uri: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: Option<u64>,
    start_column: Option<u64>,
}

#[derive(Deserialize)]
struct Suppression {
    kind: Option<String>,
    status: Option<String>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Complaints, Unread> {
    let text = decoded(bytes);
    if text.trim().is_empty() {
        return Err(Unread::Nothing { format: FORMAT });
    }
    let log: Log = serde_json::from_str(&text).map_err(|why| Unread::damaged(FORMAT, &why))?;
    let mut all = Complaints::default();
    for run in log.runs {
        let failed = |one: &Invocation| one.execution_successful == Some(false);
        let broke = run.invocations.iter().any(failed);
        let Some(results) = run.results.filter(|results| !(broke && results.is_empty())) else {
            let why = "a run has no results: the tool did not come to its end";
            return Err(Unread::damaged(FORMAT, why));
        };
        for found in results.iter().filter(|found| found.complains()) {
            all.push(found.complaint());
        }
    }
    Ok(all)
}

impl Found {
    fn complains(&self) -> bool {
        let kind = self.kind.as_deref().unwrap_or("fail");
        !matches!(kind, "pass" | "notApplicable" | "informational") && !self.waived()
    }

    /// Whether somebody other than the code's author said that it may stand: a suppression within
    /// the source is written by whoever writes the source.
    fn waived(&self) -> bool {
        let waives = |one: &Suppression| {
            one.kind.as_deref() == Some("external")
                && one
                    .status
                    .as_deref()
                    .is_none_or(|status| status == "accepted")
        };
        self.suppressions.iter().flatten().any(waives)
    }

    fn complaint(&self) -> Complaint {
        let rule = self.rule.as_ref().and_then(|rule| rule.id.as_deref());
        let rule = self.rule_id.as_deref().or(rule);
        let message = self.message.as_ref();
        let said = message.and_then(|one| {
            one.text
                .as_ref()
                .or(one.markdown.as_ref())
                .or(one.id.as_ref())
        });
        let said = said.map(String::as_str).or(rule).unwrap_or_default();
        let place = self.locations.iter().find_map(Location::place);
        Complaint::rule(said)
            .at(place.as_deref())
            .named(rule.unwrap_or_default())
    }
}

impl Location {
    fn place(&self) -> Option<String> {
        let physical = self.physical_location.as_ref()?;
        let mut place = physical.artifact_location.as_ref()?.uri.clone()?;
        let region = physical.region.as_ref();
        let line = region.and_then(|region| region.start_line);
        let column = region.and_then(|region| region.start_column);
        for number in [line, column].into_iter().map_while(|number| number) {
            place.push(':');
            place.push_str(&number.to_string());
        }
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_results_and_passes_over_what_is_no_complaint() {
        let all = read(include_bytes!("samples/lint.sarif")).expect("SARIF");
        let seen: Vec<_> = all
            .first
            .iter()
            .map(|one| {
                (
                    one.location.as_deref(),
                    one.name.as_deref(),
                    one.actual.as_str(),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                (
                    Some("src/shop.py:3:5"),
                    Some("F841"),
                    "Local variable `x` is unused"
                ),
                (Some("src/shop.py:9"), Some("S102"), "Use of exec"),
                (None, Some("X1"), "X1"),
            ]
        );
    }

    #[test]
    fn no_results_are_not_none() {
        let said = |text: &str| read(text.as_bytes()).map(|all| all.count);
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
