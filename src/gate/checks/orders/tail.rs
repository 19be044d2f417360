//! The end of what a command printed, where what went wrong usually stands.

use crate::base::text::truncate_start;
use crate::world::sandbox::Ran;

/// The most characters of an output that a fact shows.
const MOST_SHOWN: usize = 2_000;

/// The last characters of both outputs, the error stream's after the other's.
#[must_use]
pub fn tail(ran: &Ran) -> String {
    let (out, err) = (text(&ran.stdout), text(&ran.stderr));
    let of_err = err.chars().count().min(MOST_SHOWN / 2);
    let out = truncate_start(&out, MOST_SHOWN - of_err);
    let err = truncate_start(&err, MOST_SHOWN - out.chars().count().min(MOST_SHOWN / 2));
    match (out.is_empty(), err.is_empty()) {
        (true, true) => String::from("it printed nothing"),
        (false, true) => out.into_owned(),
        (true, false) => err.into_owned(),
        (false, false) => format!("{out}\n{err}"),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::world::sandbox::{Confinement, End};

    fn of(stdout: &[u8], stderr: &[u8]) -> String {
        tail(&Ran {
            end: End::Exited(1),
            stdout: stdout.to_vec(),
            stderr: stderr.to_vec(),
            reports: BTreeMap::new(),
            confinement: Confinement::default(),
            millis: 0,
        })
    }

    #[test]
    fn shows_the_end_of_both() {
        assert_eq!(of(b"", b" \n"), "it printed nothing");
        assert_eq!(of(b"out\n", b""), "out");
        assert_eq!(of(b"", b"err\n"), "err");
        assert_eq!(of(b"out\n", b"err\n"), "out\nerr");
        assert_eq!(of(b"a\xffb", b""), "a\u{fffd}b");
        let long = "가".repeat(5_000);
        let shown = of(long.as_bytes(), b"");
        assert_eq!(shown.chars().count(), 2_001);
        assert!(shown.starts_with('…'));
        for (out, err) in [(5_000, 5_000), (5_000, 3), (3, 5_000), (1_000, 1_000)] {
            let shown = of("a".repeat(out).as_bytes(), "b".repeat(err).as_bytes());
            assert!(shown.chars().count() <= 2_003, "{out} {err}");
            let least = (out + err).min(1_990);
            assert!(shown.chars().count() >= least, "{out} {err}");
            assert!(shown.ends_with('b') && shown.contains('a'));
        }
    }
}
