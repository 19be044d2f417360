//! `JUnit`'s XML: tests are counted one by one, whatever the totals in it say.
//!
//! quick-junit would build the whole report in memory, and has no place for a test that is nested
//! in another, behind which a failure could hide.

use std::sync::LazyLock;

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use regex::Regex;

use super::{TestReport, Unread, complaint, decoded};

const FORMAT: &str = "JUnit XML";

const MAX_TRACE: usize = 64 * 1024;

const MAX_DEPTH: usize = 100;

#[derive(Debug, Default)]
struct Case {
    name: String,
    place: String,
    skipped: bool,
    /// The message of the first failure, and its text.
    failure: Option<(String, String)>,
}

#[derive(Debug, Default)]
struct Reading {
    report: TestReport,
    case: Option<Case>,
    in_failure: bool,
}

pub fn read(bytes: &[u8]) -> Result<TestReport, Unread> {
    let text = decoded(bytes);
    let mut reader = Reader::from_str(&text);
    reader.config_mut().expand_empty_elements = true;
    let mut reading = Reading::default();
    let (mut depth, mut rooted) = (0_usize, false);
    loop {
        let event = reader.read_event().map_err(|error| error.to_string());
        let at = reader.buffer_position();
        let damaged = |why: &str| Unread::damaged(FORMAT, &format!("{why} (byte {at})"));
        match event.map_err(|why| damaged(&why))? {
            Event::Start(start) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(damaged("its elements nest too deep"));
                }
                if rooted {
                    reading.start(&start);
                } else if !matches!(start.name().as_ref(), "testsuites" | "testsuite") {
                    return Err(Unread::nothing(FORMAT));
                }
                rooted = true;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                reading.end(end.name().as_ref());
            }
            Event::Text(text) => reading.text(&text.xml10_content()),
            Event::CData(text) => reading.text(&text.xml10_content()),
            Event::GeneralRef(reference) => reading.text(&replaced(&reference)),
            Event::Eof if depth > 0 => return Err(damaged("it is cut off")),
            Event::Eof if !rooted => return Err(Unread::nothing(FORMAT)),
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(reading.report)
}

impl Reading {
    fn start(&mut self, start: &BytesStart<'_>) {
        match start.name().as_ref() {
            "testcase" => {
                self.close();
                self.case = Some(Case::begun(start));
            }
            "failure" | "error" => {
                // A suite can break off outside of any test.
                let case = self.case.get_or_insert_with(Case::default);
                if case.failure.is_none() {
                    let message = attribute(start, "message").or(attribute(start, "type"));
                    case.failure = Some((message.unwrap_or_default(), String::new()));
                    self.in_failure = true;
                }
            }
            "skipped" => {
                if let Some(case) = &mut self.case {
                    case.skipped = true;
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let failure = self.case.as_mut().and_then(|case| case.failure.as_mut());
        if let Some((_, trace)) = failure.filter(|_| self.in_failure)
            && trace.len() < MAX_TRACE
        {
            trace.push_str(text);
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "failure" | "error" => self.in_failure = false,
            "testcase" | "testsuite" | "testsuites" => self.close(),
            _ => {}
        }
    }

    fn close(&mut self) {
        self.in_failure = false;
        let Some(case) = self.case.take() else {
            return;
        };
        let count = match &case.failure {
            Some(_) => &mut self.report.failed,
            None if case.skipped => &mut self.report.skipped,
            None => &mut self.report.passed,
        };
        *count = count.saturating_add(1);
        let Some((message, trace)) = case.failure else {
            return;
        };
        let place = place_in_trace(&trace).unwrap_or(&case.place);
        // Some runners put a mere heading into the attribute and the reason into the text.
        let is_heading = message.trim().is_empty() || message == "collection failure";
        let said = if is_heading { &trace } else { &message };
        self.report
            .push(complaint("the test passes", &case.name, said, place));
    }
}

/// A line of a trace that begins with `file.py:12:`, as runners write where a test failed.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?m)^\s*([^:()\s]+\.[A-Za-z]\w{0,9}:[0-9]{1,9}(?::[0-9]{1,9})?):";
    Regex::new(pattern).expect("the pattern is a constant")
});

/// The first place that is not an absolute path, which is in the tree; else the first of all.
fn place_in_trace(trace: &str) -> Option<&str> {
    let places = PLACE.captures_iter(trace).filter_map(|found| found.get(1));
    let places: Vec<&str> = places.map(|place| place.as_str()).collect();
    let in_tree = places.iter().find(|place| !place.starts_with('/'));
    in_tree.or(places.first()).copied()
}

impl Case {
    fn begun(start: &BytesStart<'_>) -> Self {
        let name = attribute(start, "name").unwrap_or_default();
        let class = attribute(start, "classname").filter(|class| !class.is_empty());
        let place = attribute(start, "file").map(|file| match attribute(start, "line") {
            Some(line) => format!("{file}:{line}"),
            None => file,
        });
        // GoogleTest's words for a test that was disabled or passed over.
        let told = |name, words: &[&str]| {
            attribute(start, name).is_some_and(|value| words.contains(&value.as_str()))
        };
        Self {
            name: class.map_or_else(|| name.clone(), |class| format!("{class}.{name}")),
            place: place.unwrap_or_default(),
            skipped: told("status", &["notrun", "disabled", "skipped"])
                || told("result", &["suppressed", "skipped"]),
            failure: None,
        }
    }
}

/// The text of a reference. No entity that the document declares is expanded.
fn replaced(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(letter)) = reference.resolve_char_ref() {
        return letter.to_string();
    }
    let name = reference.xml10_content();
    resolve_xml_entity(&name).map_or_else(|| format!("&{name};"), str::to_owned)
}

/// The value of an attribute, as it is written where it holds what cannot be replaced.
fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = start.try_get_attribute(name).ok()??;
    let value = found.normalized_value(XmlVersion::Implicit1_0);
    Some(value.map_or_else(
        |_| found.value.clone().into_owned(),
        std::borrow::Cow::into_owned,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    #[test]
    fn reads_what_pytest_writes() {
        let all = read(include_bytes!("samples/pytest.xml")).expect("JUnit");
        assert_eq!((all.passed, all.failed, all.skipped), (2, 5, 2));
        assert_eq!(all.facts.len(), 5);
        let bad = &all.facts[1];
        assert_eq!(bad.location.as_deref(), Some("tests/test_a.py:8"));
        assert!(
            bad.actual
                .starts_with("tests.test_a.test_bad: AssertionError: sum & <tax> assert 3 == 4"),
            "{bad:?}"
        );
        let broken = &all.facts[0];
        assert_eq!(broken.location.as_deref(), Some("tests/test_b.py:1"));
        assert!(broken.actual.contains("ImportError"), "{broken:?}");
    }

    #[test]
    fn the_place_of_a_failure_is_one_in_the_tree() {
        for (trace, place) in rows! {
            "/usr/lib/importlib.py:126: in f\ntests/test_b.py:1: in <module>\n"
                => Some("tests/test_b.py:1");
            "/usr/lib/a.py:126: in f\n" => Some("/usr/lib/a.py:126");
            "    x_test.go:12:3: got 3" => Some("x_test.go:12:3");
            "12:30:45: started\nINFO 12:30:45: x" => None;
            "http://localhost:80: refused\nError: found 3 problems" => None;
        } {
            assert_eq!(place_in_trace(trace), place, "{trace}");
        }
    }

    #[test]
    fn counts_for_itself() {
        let lying = br#"<testsuite tests="50" failures="0" skipped="0">
            <testcase name="a"><skipped/></testcase>
            <testcase name="b" status="notrun"/>
            <testsuite><testcase name="c"><failure/></testcase></testsuite>
        </testsuite>"#;
        let all = read(lying).expect("JUnit");
        assert_eq!((all.passed, all.failed, all.skipped), (0, 1, 2));
    }

    #[test]
    fn no_test_hides_another() {
        let nested =
            b"<testsuite><testcase name='a'><failure/><testcase name='b'/></testcase></testsuite>";
        let all = read(nested).expect("JUnit");
        assert_eq!((all.passed, all.failed), (1, 1));
    }

    #[test]
    fn a_suite_can_break_off_outside_of_a_test() {
        let all =
            read(br#"<testsuites><testsuite><error message="boom"/></testsuite></testsuites>"#)
                .expect("JUnit");
        assert_eq!((all.facts.len(), &*all.facts[0].actual), (1, "boom"));
    }

    #[test]
    fn refuses_what_is_cut_off_or_something_else() {
        for bytes in [
            &b""[..],
            b"<html/>",
            b"plain",
            b"<testsuites><testcase name='a'/>",
        ] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
        let deep = "<testsuite>".repeat(100_000);
        assert!(
            read(deep.as_bytes())
                .unwrap_err()
                .to_string()
                .contains("nest too deep")
        );
    }

    #[test]
    fn expands_nothing() {
        let bomb = br#"<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/hostname">]>
            <testsuite><testcase name="n&b;"><failure>&b;&x;&amp;&#65;</failure></testcase></testsuite>"#;
        let all = read(bomb).expect("JUnit");
        assert_eq!(&*all.facts[0].actual, "n&b;: &b;&x;&A");
    }
}
