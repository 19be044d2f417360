//! The Test Anything Protocol, versions 12 to 14, with tests within tests.

mod diagnosis;

use std::sync::LazyLock;

use regex::{Captures, Regex};

use self::diagnosis::Diagnosis;
use super::complaint::{Complaint, Complaints, Seen};
use super::text::{constant, lines, printed};
use super::unread::Unread;

const FORMAT: &str = "TAP";

/// How deep tests may nest; what lies deeper counts as if it lay there.
const MOST_DEPTH: usize = 31;

static POINT: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"(?xi)^(?<indent>\ *) (?<not>not\ )? ok\b (?:\ +(?<number>[0-9]+)\b)? (?:\ +-\ |\ +-$)?
        (?<name>.*?) (?:\s\#\s*(?<word>skip|todo)\S*(?:\s+(?<why>.*))?)? \s*$",
    )
});
static PLAN: LazyLock<Regex> =
    LazyLock::new(|| constant(r"(?i)^( *)1\.\.([0-9]+)(\s+#\s*skip.*)?\s*$"));

/// What the points of one depth have come to since the last point above them.
#[derive(Debug, Default, Clone, Copy)]
struct Below {
    points: bool,
    failures: bool,
}

#[derive(Debug, Default)]
struct Reading {
    all: Complaints,
    seen: Seen,
    below: [Below; MOST_DEPTH + 1],
    /// The failure whose details are being read.
    open: Option<(Complaint, Diagnosis)>,
    planned: Option<u64>,
    points: u64,
    bailed: bool,
}

pub(super) fn read(bytes: &[u8]) -> Result<Complaints, Unread> {
    let text = printed(bytes);
    let mut reading = Reading::default();
    for line in lines(&text) {
        reading.line(line);
        if reading.bailed {
            break;
        }
    }
    reading.finish()
}

impl Reading {
    fn line(&mut self, line: &str) {
        if let Some((_, diagnosis)) = &mut self.open
            && diagnosis.take(line)
        {
            return;
        }
        if let Some(point) = POINT.captures(line) {
            self.close();
            self.point(&point);
        } else if let Some(plan) = PLAN.captures(line) {
            if plan.get(3).is_some() {
                self.seen.skip();
            }
            if plan[1].is_empty() {
                self.planned = Some(plan[2].parse().unwrap_or(u64::MAX));
            }
        } else if let Some(why) = line.trim_start().strip_prefix("Bail out!") {
            self.close();
            self.bailed = true;
            let why = format!("it bailed out: {}", why.trim());
            self.all
                .push(Complaint::new("the tests run to their end", &why));
        }
    }

    fn point(&mut self, point: &Captures<'_>) {
        let part = |name: &str| point.name(name).map(|part| part.as_str());
        let depth = (part("indent").map_or(0, str::len) / 4).min(MOST_DEPTH - 1);
        let kids = self.below[depth + 1];
        self.below[depth + 1..].fill(Below::default());
        let word = part("word").unwrap_or_default().to_lowercase();
        let failed = part("not").is_some() && word.is_empty();
        self.below[depth].points = true;
        self.below[depth].failures |= failed;
        if depth == 0 {
            self.points += 1;
        }
        // A point that stands for those below it is no test, unless it fails by itself.
        if kids.points && (!failed || kids.failures) {
            return;
        }
        if failed {
            self.seen.fail();
            let name = part("name").filter(|name| !name.trim().is_empty());
            let name = name.or(part("number")).unwrap_or_default();
            self.open = Some((Complaint::test(name, "it does not"), Diagnosis::default()));
        } else if word == "skip" || (word == "todo" && part("not").is_some()) {
            self.seen.skip();
        } else {
            self.seen.pass();
        }
    }

    fn close(&mut self) {
        if let Some((complaint, diagnosis)) = self.open.take() {
            self.all.push(diagnosis.applied(complaint));
        }
    }

    fn finish(mut self) -> Result<Complaints, Unread> {
        self.close();
        if self.points == 0 && self.planned.is_none() && !self.bailed {
            return Err(Unread::Nothing { format: FORMAT });
        }
        let said = match self.planned {
            _ if self.bailed => None,
            None => Some("there is no plan; the run may have been cut off".to_owned()),
            Some(planned) if planned != self.points => Some(format!(
                "{planned} tests were planned, {} reported",
                self.points
            )),
            Some(_) => None,
        };
        if let Some(said) = said {
            self.all
                .push(Complaint::new("the tests run as planned", &said));
        }
        Ok(self.all.seeing(self.seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_points_directives_and_details() {
        let all = read(
            b"TAP version 13\n1..5\nok 1 - adds\nnot ok 2 - subtracts\n  ---\n  message: 'not equal'\n  \
            wanted: 4\n  found: 3\n  at:\n    line: 12\n    column: 5\n    file: \"test/a.js\"\n  ...\n\
            ok 3 - net # SKIP no network\nnot ok 4 - later # TODO not yet\nnot ok 5\n",
        )
        .expect("TAP");
        assert_eq!(
            all.seen,
            Some(Seen {
                passed: 1,
                failed: 2,
                skipped: 2
            })
        );
        let [first, second] = all.first.as_slice() else {
            panic!("{all:?}");
        };
        assert_eq!(first.name.as_deref(), Some("subtracts"));
        assert_eq!(first.location.as_deref(), Some("test/a.js:12:5"));
        assert_eq!((first.expected.as_str(), first.actual.as_str()), ("4", "3"));
        assert_eq!(second.name.as_deref(), Some("5"));
    }

    #[test]
    fn counts_the_tests_within_tests_alone() {
        let all = read(
            b"TAP version 14\n# Subtest: shop\n    # Subtest: adds\n    ok 1 - adds\n    \
            not ok 2 - subtracts\n      ---\n      error: |-\n        Expected values\n      ...\n    \
            1..2\nnot ok 1 - shop\n1..1\n",
        )
        .expect("TAP");
        assert_eq!(
            all.seen,
            Some(Seen {
                passed: 1,
                failed: 1,
                skipped: 0
            })
        );
        assert_eq!(all.count, 1, "{all:?}");
        assert_eq!(all.first[0].name.as_deref(), Some("subtracts"));
        assert_eq!(all.first[0].actual, "Expected values");
    }

    #[test]
    fn a_parent_can_fail_by_itself() {
        let all = read(b"    ok 1 - kid\n    1..1\nnot ok 1 - parent\n1..1\n").expect("TAP");
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
    fn reads_perls_comments() {
        let all = read(
            b"1..1\nnot ok 1 - sum\n#   Failed test 'sum'\n#   at t/a.t line 12.\n\
            #          got: '3'\n#     expected: '4'\n# Looks like you failed 1 test of 1.\n",
        )
        .expect("TAP");
        let one = &all.first[0];
        assert_eq!(one.location.as_deref(), Some("t/a.t:12"));
        assert_eq!((one.expected.as_str(), one.actual.as_str()), ("4", "3"));
    }

    #[test]
    fn a_run_that_ends_early_is_complained_of() {
        let said = |bytes: &[u8]| {
            let all = read(bytes).expect("TAP");
            let last = all.first.last().map(|one| one.actual.clone());
            last.unwrap_or_default()
        };
        assert_eq!(said(b"1..3\nok 1\n"), "3 tests were planned, 1 reported");
        assert!(said(b"ok 1\nok 2\n").contains("no plan"));
        assert_eq!(
            said(b"1..2\nok 1\nBail out! no disk\n"),
            "it bailed out: no disk"
        );
        let skipped = read(b"1..0 # SKIP no network\n").expect("TAP");
        assert_eq!(
            skipped.seen,
            Some(Seen {
                passed: 0,
                failed: 0,
                skipped: 1
            })
        );
        assert!(read(b"okay, all good\n").is_err());
    }
}
