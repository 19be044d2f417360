//! The text that pytest prints: its short summary, its traces, and its last line.

mod tally;
mod traces;

use std::sync::LazyLock;

use regex::Regex;

use self::traces::Traces;
use super::complaint::{Complaint, Complaints};
use super::located::Located;
use super::text::{constant, lines, printed};
use super::unread::Unread;

const FORMAT: &str = "output of pytest";

static SUMMARY: LazyLock<Regex> =
    LazyLock::new(|| constant(r"^(?<what>FAILED|ERROR) (?<id>.+?)(?: - (?<said>.*))?$"));

pub(super) fn read(bytes: &[u8]) -> Result<Complaints, Unread> {
    let text = printed(bytes);
    let Some(seen) = tally::read(&text) else {
        return Err(Unread::Nothing { format: FORMAT });
    };
    let mut traces = Traces::read(&text);
    let mut all = Complaints::default();
    for line in lines(short_summary(&text)) {
        let Some(entry) = SUMMARY.captures(line) else {
            continue;
        };
        let said = entry.name("said").map(|said| said.as_str());
        all.push(summarised(whole_id(&entry["id"], said), &mut traces));
    }
    if all.count == 0 {
        for (name, trace) in traces.rest() {
            all.push(complaint(&name, &trace, None));
        }
    }
    // The summary can be switched off; the tally cannot.
    all.count = all.count.max(seen.failed);
    Ok(all.seeing(seen))
}

/// The part of the output that lists what failed, up to its end.
fn short_summary(text: &str) -> &str {
    const HEADING: &str = " short test summary info ";
    text.rfind(HEADING)
        .and_then(|at| text.get(at..))
        .unwrap_or_default()
}

/// A test's id and what is said of it; a dash within the brackets of a parameter parts nothing.
fn whole_id<'a>(id: &'a str, said: Option<&'a str>) -> (String, Option<&'a str>) {
    let Some(rest) = said.filter(|_| id.contains('[') && !id.ends_with(']')) else {
        return (id.to_owned(), said);
    };
    match rest.split_once("] - ") {
        Some((more, said)) => (format!("{id} - {more}]"), Some(said)),
        None => (format!("{id} - {rest}"), None),
    }
}

fn summarised((id, said): (String, Option<&str>), traces: &mut Traces) -> Complaint {
    let (file, name) = id.split_once("::").unwrap_or((&id, ""));
    let parameters = name.find('[').unwrap_or(name.len());
    let (called, parameters) = name.split_at(parameters);
    let heading = called.replace("::", ".") + parameters;
    let trace = traces.take(file, &heading);
    let one = complaint(&id, trace.as_deref().unwrap_or_default(), said);
    if one.location.is_none() {
        one.at(Some(file))
    } else {
        one
    }
}

/// A complaint of what a trace's lines that begin with `E` say.
fn complaint(name: &str, trace: &str, said: Option<&str>) -> Complaint {
    let errors = lines(trace).filter_map(|line| line.strip_prefix("E  "));
    let errors: Vec<&str> = errors.map(str::trim).take(20).collect();
    let place = Located::in_trace(trace).map(|found| found.place());
    let actual = match errors.join(" ") {
        empty if empty.is_empty() => said.unwrap_or("it does not").to_owned(),
        errors => errors,
    };
    Complaint::test(name, &actual).at(place.as_deref())
}

#[cfg(test)]
mod tests {
    use super::super::complaint::Seen;
    use super::*;

    #[test]
    fn reads_what_failed_and_where() {
        let all = read(include_bytes!("samples/pytest.txt")).expect("pytest");
        let seen = Seen {
            passed: 2,
            failed: 5,
            skipped: 2,
        };
        assert_eq!((all.seen, all.count), (Some(seen), 5));
        let places: Vec<_> = all
            .first
            .iter()
            .map(|one| one.location.as_deref())
            .collect();
        assert_eq!(
            places,
            [
                Some("tests/test_a.py:8"),
                Some("tests/test_a.py:12"),
                Some("tests/test_a.py:24"),
                Some("tests/test_b.py:1"),
                Some("tests/test_a.py:28"),
            ]
        );
        let bad = &all.first[0];
        assert_eq!(bad.name.as_deref(), Some("tests/test_a.py::test_bad"));
        assert_eq!(
            bad.actual,
            "AssertionError: sum & <tax> assert 3 == 4 + where 3 = total([1, 2])"
        );
        assert_eq!(
            all.first[3].actual,
            "ModuleNotFoundError: No module named 'nope'"
        );
    }

    #[test]
    fn reads_a_summary_without_traces_and_traces_without_a_summary() {
        let all = read(
            b"FF\n=== short test summary info ===\nFAILED t.py::test_p[a - b] - AssertionError: x - y\n\
            FAILED t.py::test_q\n2 failed in 0.01s\n",
        )
        .expect("pytest");
        let seen: Vec<_> = all
            .first
            .iter()
            .map(|one| (one.name.as_deref(), one.actual.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (Some("t.py::test_p[a - b]"), "AssertionError: x - y"),
                (Some("t.py::test_q"), "it does not"),
            ]
        );
        let all = read(
            b"=== FAILURES ===\n___ test_q ___\n    def test_q():\n>       assert 0\nE       assert 0\n\n\
            t.py:2: AssertionError\n=== 1 failed, 3 passed in 0.01s ===\n",
        )
        .expect("pytest");
        assert_eq!(all.first[0].location.as_deref(), Some("t.py:2"));
        assert_eq!(all.first[0].name.as_deref(), Some("test_q"));
    }

    #[test]
    fn counts_what_it_is_told_of_even_if_nothing_is_listed() {
        let all =
            read(b"....F\n1 failed, 4 passed, 2 warnings in 61.20s (0:01:01)\n").expect("pytest");
        assert_eq!((all.count, all.first.len()), (1, 0));
    }

    #[test]
    fn output_without_a_last_line_is_no_run() {
        for bytes in [
            &b""[..],
            b"....",
            b"ImportError while loading conftest 'conftest.py'.\n",
        ] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }
}
