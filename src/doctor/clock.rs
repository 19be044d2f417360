//! Whether the clock can be right.

use std::time::SystemTime;

use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};

use super::{Check, Finding};

/// The clocks that are held against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observed {
    /// What the clock of this process shows.
    pub now: Timestamp,
    /// When a file was written just now, by the file system's word.
    pub file: Option<Timestamp>,
    /// When the ledger's last line was written.
    pub last_line: Option<Timestamp>,
    /// What a server of the web shows.
    pub web: Option<Timestamp>,
}

/// When this program was not there yet.
const BEFORE: &str = "2025-01-01T00:00:00Z";

const MEND: &str = "set the clock, as by `timedatectl set-ntp true`";

/// The time of the `Date` header of a server.
#[must_use]
pub fn of_header(date: &str) -> Option<Timestamp> {
    let parser = DateTimeParser::new().relaxed_weekday(true);
    parser.parse_timestamp(date.trim()).ok()
}

/// The time of a file.
#[must_use]
pub fn of_file(time: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(time).ok()
}

/// What is to be said of the clock.
#[must_use]
pub fn judge(seen: &Observed) -> Vec<Finding> {
    let it = Check::Clock;
    let now = seen.now;
    let mut findings = Vec::new();
    if BEFORE.parse().is_ok_and(|before: Timestamp| now < before) {
        let found = format!("it shows {now}, when this program was not there yet");
        findings.push(it.trouble(found, MEND));
    }
    if let Some(last) = seen.last_line.filter(|last| now < *last) {
        let found = format!("it shows {now}, and the ledger's last line was written at {last}");
        findings.push(it.trouble(found, MEND));
    }
    findings.extend(seen.web.and_then(|web| apart(now, web)));
    if let Some(file) = seen.file.filter(|file| distance(now, *file) > FILE_SLACK) {
        let found = format!("it shows {now}, and the file system {file}");
        findings.push(it.note(found, "set the clock of the file system's server too"));
    }
    if findings.is_empty() {
        findings.push(it.ok(match seen.web {
            Some(_) => "it agrees with the files and with the web",
            None => "it agrees with the files; no server was held against it",
        }));
    }
    findings
}

/// How far files may be behind, whose times some file systems round.
const FILE_SLACK: SignedDuration = SignedDuration::from_secs(5);

fn apart(now: Timestamp, web: Timestamp) -> Option<Finding> {
    const SLACK: SignedDuration = SignedDuration::from_mins(2);
    const FAR: SignedDuration = SignedDuration::from_hours(1);

    let (it, apart) = (Check::Clock, distance(now, web));
    let found = format!("it shows {now}, and a server of the web {web}");
    match apart {
        _ if apart > FAR => Some(it.trouble(found, MEND)),
        _ if apart > SLACK => Some(it.note(found, MEND)),
        _ => None,
    }
}

fn distance(one: Timestamp, two: Timestamp) -> SignedDuration {
    one.duration_since(two).abs()
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn sound() -> Observed {
        let now = at("2026-03-04T12:00:00Z");
        Observed {
            now,
            file: Some(now),
            last_line: Some(now),
            web: Some(now),
        }
    }

    fn levels(seen: &Observed) -> Vec<Level> {
        judge(seen)
            .into_iter()
            .map(|finding| finding.level)
            .collect()
    }

    #[test]
    fn it_is_never_before_what_has_happened() {
        assert_eq!(levels(&sound()), [Level::Ok]);
        let later = Some(at("2026-03-04T12:00:01Z"));
        let behind = Observed {
            last_line: later,
            ..sound()
        };
        assert_eq!(levels(&behind), [Level::Trouble]);
        let old = Observed {
            now: at("1970-01-01T00:00:09Z"),
            file: None,
            last_line: None,
            web: None,
        };
        assert_eq!(levels(&old), [Level::Trouble]);
    }

    #[test]
    fn other_clocks_may_be_a_little_apart() {
        for (web, expected) in [
            ("2026-03-04T12:01:59Z", Level::Ok),
            ("2026-03-04T11:57:00Z", Level::Note),
            ("2026-03-04T14:00:00Z", Level::Trouble),
        ] {
            let seen = Observed {
                web: Some(at(web)),
                ..sound()
            };
            assert_eq!(levels(&seen), [expected], "{web}");
        }
        let file = Some(at("2026-03-04T12:00:30Z"));
        assert_eq!(levels(&Observed { file, ..sound() }), [Level::Note]);
    }

    #[test]
    fn a_header_tells_the_time() {
        let date = of_header("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(date, Some(at("1994-11-06T08:49:37Z")));
        assert_eq!(of_header("soon"), None);
    }
}
