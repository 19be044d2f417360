//! The last line of pytest: `1 failed, 2 passed, 1 skipped in 0.12s`.

use std::sync::LazyLock;

use regex::Regex;

use super::super::complaint::Seen;
use super::super::text::{constant, lines};

static TALLY: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"^(?:=+ )?(?<parts>no tests ran|[0-9]+ [a-z]+(?:, [0-9]+ [a-z]+)*) in [0-9.]+s(?: \([0-9:a-z, ]+\))?(?: =+)?\s*$",
    )
});

/// Reads the tally; where several lines look like one, the worst of each number.
///
/// A test can print such a line, and pytest prints its own beside it.
pub(super) fn read(text: &str) -> Option<Seen> {
    lines(text).filter_map(tally).reduce(|one, other| Seen {
        passed: one.passed.min(other.passed),
        failed: one.failed.max(other.failed),
        skipped: one.skipped.max(other.skipped),
    })
}

fn tally(line: &str) -> Option<Seen> {
    let parts = TALLY.captures(line)?;
    let mut seen = Seen::default();
    for part in parts["parts"].split(", ") {
        let Some((number, word)) = part.split_once(' ') else {
            continue;
        };
        let number = number.parse().unwrap_or(u32::MAX);
        let sum = match word {
            "passed" | "xpassed" => &mut seen.passed,
            "failed" | "error" | "errors" => &mut seen.failed,
            "skipped" | "xfailed" => &mut seen.skipped,
            _ => continue,
        };
        *sum = sum.saturating_add(number);
    }
    Some(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_shape_of_the_line() {
        let read = |text: &str| read(text).map(|seen| (seen.passed, seen.failed, seen.skipped));
        assert_eq!(read("==== 2 passed in 0.02s ===="), Some((2, 0, 0)));
        assert_eq!(
            read(
                "1 failed, 2 passed, 3 skipped, 4 xfailed, 5 xpassed, 6 errors, 7 deselected, 8 warnings in 0.02s"
            ),
            Some((7, 7, 7))
        );
        assert_eq!(read("no tests ran in 0.00s"), Some((0, 0, 0)));
        assert_eq!(read("3 deselected in 0.00s"), Some((0, 0, 0)));
        assert_eq!(read("it took 3 passed in 0.02s"), None);
    }

    #[test]
    fn takes_the_worst_of_several() {
        let text = "1 failed, 1 passed in 0.02s\n900 passed in 0.01s\n";
        assert_eq!(
            read(text),
            Some(Seen {
                passed: 1,
                failed: 1,
                skipped: 0
            })
        );
    }
}
