//! `JUnit`'s XML: tests are counted one by one, whatever the totals in it say.

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::complaint::{Complaint, Complaints, Seen, Unread, decoded};
use super::lines::Located;

const FORMAT: &str = "JUnit XML";

const MOST_TRACE: usize = 64 * 1024;

#[derive(Debug, Default)]
struct Case {
    name: String,
    place: Option<String>,
    skipped: bool,
    failure: Option<Failure>,
}

#[derive(Debug, Default)]
struct Failure {
    message: String,
    trace: String,
}

#[derive(Debug, Default)]
struct Reading {
    all: Complaints,
    seen: Seen,
    case: Option<Case>,
    in_failure: bool,
}

pub(super) fn read(bytes: &[u8]) -> Result<Complaints, Unread> {
    let text = decoded(bytes);
    let mut walk = Walk::new(&text, FORMAT);
    let mut reading = Reading::default();
    let mut rooted = false;
    while let Some(piece) = walk.next()? {
        match piece {
            Piece::Start(start) if !rooted => {
                if !matches!(start.name().as_ref(), "testsuites" | "testsuite") {
                    return Err(Unread::Nothing { format: FORMAT });
                }
                rooted = true;
            }
            Piece::Start(start) => reading.start(&start),
            Piece::Text(text) => reading.text(&text),
            Piece::End(name) => reading.end(&name),
        }
    }
    Ok(reading.all.seeing(reading.seen))
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
                    let message = message.unwrap_or_default();
                    let trace = String::new();
                    case.failure = Some(Failure { message, trace });
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
        if let Some(failure) = failure.filter(|_| self.in_failure)
            && failure.trace.len() < MOST_TRACE
        {
            failure.trace.push_str(text);
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
        match self.case.take() {
            None => {}
            Some(Case {
                failure: None,
                skipped: true,
                ..
            }) => self.seen.skip(),
            Some(Case { failure: None, .. }) => self.seen.pass(),
            Some(Case {
                name,
                place,
                failure: Some(failure),
                ..
            }) => {
                self.seen.fail();
                self.all.push(failure.complaint(&name, place));
            }
        }
    }
}

impl Case {
    fn begun(start: &BytesStart<'_>) -> Self {
        let name = attribute(start, "name").unwrap_or_default();
        let class = attribute(start, "classname").filter(|class| !class.is_empty());
        let line = attribute(start, "line");
        let place = attribute(start, "file").map(|file| match line {
            Some(line) => format!("{file}:{line}"),
            None => file,
        });
        // GoogleTest's words for a test that was disabled or passed over.
        let told = |name, words: &[&str]| {
            attribute(start, name).is_some_and(|value| words.contains(&value.as_str()))
        };
        Self {
            name: class.map_or_else(|| name.clone(), |class| format!("{class}.{name}")),
            place,
            skipped: told("status", &["notrun", "disabled", "skipped"])
                || told("result", &["suppressed", "skipped"]),
            failure: None,
        }
    }
}

impl Failure {
    fn complaint(&self, name: &str, place: Option<String>) -> Complaint {
        let place = Located::in_trace(&self.trace)
            .map(|found| found.place())
            .or(place);
        // Some runners put a mere heading into the attribute and the reason into the text.
        let said = if self.message.trim().is_empty() || self.message == "collection failure" {
            &self.trace
        } else {
            &self.message
        };
        Complaint::test(name, said).at(place.as_deref())
    }
}

const MOST_DEPTH: usize = 100;

#[derive(Debug)]
pub(super) enum Piece<'a> {
    Start(BytesStart<'a>),
    End(String),
    Text(String),
}

pub(super) struct Walk<'a> {
    reader: Reader<&'a [u8]>,
    format: &'static str,
    depth: usize,
    began: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(text: &'a str, format: &'static str) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self {
            reader,
            format,
            depth: 0,
            began: false,
        }
    }

    /// The next piece; `None` at the end of a document that is whole.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'a>>, Unread> {
        loop {
            let event = self.reader.read_event();
            match event.map_err(|error| self.damaged(&error))? {
                Event::Start(start) => {
                    self.depth += 1;
                    self.began = true;
                    if self.depth > MOST_DEPTH {
                        return Err(self.damaged("its elements nest too deep"));
                    }
                    return Ok(Some(Piece::Start(start)));
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Some(Piece::End(end.name().as_ref().to_owned())));
                }
                Event::Text(text) => {
                    return Ok(Some(Piece::Text(text.xml10_content().into_owned())));
                }
                Event::CData(text) => {
                    return Ok(Some(Piece::Text(text.xml10_content().into_owned())));
                }
                Event::GeneralRef(reference) => {
                    return Ok(Some(Piece::Text(replaced(&reference))));
                }
                Event::Eof if self.depth > 0 => return Err(self.damaged("it is cut off")),
                Event::Eof if !self.began => {
                    return Err(Unread::Nothing {
                        format: self.format,
                    });
                }
                Event::Eof => return Ok(None),
                _ => {}
            }
        }
    }

    /// An error that says where the walk is.
    pub(super) fn damaged(&self, why: &(impl ToString + ?Sized)) -> Unread {
        let at = self.reader.buffer_position();
        Unread::damaged(self.format, &format!("{} (byte {at})", why.to_string()))
    }
}

fn replaced(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(letter)) = reference.resolve_char_ref() {
        return letter.to_string();
    }
    let name = reference.xml10_content();
    resolve_xml_entity(&name).map_or_else(|| format!("&{name};"), str::to_owned)
}

/// The value of an attribute, as it is written where it holds what cannot be replaced.
pub(super) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
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

    #[test]
    fn reads_what_pytest_writes() {
        let all = read(include_bytes!("samples/pytest.xml")).expect("JUnit");
        let seen = Seen {
            passed: 2,
            failed: 5,
            skipped: 2,
        };
        assert_eq!((all.seen, all.count), (Some(seen), 5));
        let bad = &all.first[1];
        assert_eq!(bad.name.as_deref(), Some("tests.test_a.test_bad"));
        assert_eq!(bad.location.as_deref(), Some("tests/test_a.py:8"));
        assert!(
            bad.actual
                .starts_with("AssertionError: sum & <tax> assert 3 == 4"),
            "{bad:?}"
        );
        let broken = &all.first[0];
        assert_eq!(broken.location.as_deref(), Some("tests/test_b.py:1"));
        assert!(broken.actual.contains("ImportError"), "{broken:?}");
    }

    #[test]
    fn counts_for_itself() {
        let lying = br#"<testsuite tests="50" failures="0" skipped="0">
            <testcase name="a"><skipped/></testcase>
            <testcase name="b" status="notrun"/>
            <testsuite><testcase name="c"><failure/></testcase></testsuite>
        </testsuite>"#;
        let all = read(lying).expect("JUnit");
        assert_eq!(
            all.seen,
            Some(Seen {
                passed: 0,
                failed: 1,
                skipped: 2
            })
        );
    }

    #[test]
    fn no_test_hides_another() {
        let nested =
            b"<testsuite><testcase name='a'><failure/><testcase name='b'/></testcase></testsuite>";
        let all = read(nested).expect("JUnit");
        assert_eq!(
            all.seen.map(|seen| (seen.passed, seen.failed)),
            Some((1, 1))
        );
    }

    #[test]
    fn a_suite_can_break_off_outside_of_a_test() {
        let all =
            read(br#"<testsuites><testsuite><error message="boom"/></testsuite></testsuites>"#)
                .expect("JUnit");
        assert_eq!((all.count, all.first[0].actual.as_str()), (1, "boom"));
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
        assert_eq!(all.first[0].actual, "&b;&x;&A");
        assert_eq!(all.first[0].name.as_deref(), Some("n&b;"));
    }
}
