//! The one word of a report, and what stands against it, for a page.

use super::ids::ids;
use super::tell::Report;
use crate::report::picture::Word;

/// Whether the session is complete, and what stands against it, each in a sentence.
#[must_use]
pub fn word(report: &Report) -> Word {
    let shortfalls = report.shortfalls.iter().map(|shortfall| {
        let (kind, what) = (shortfall.kind.name(), &shortfall.what);
        match shortfall.quests.as_slice() {
            [] => format!("{kind}: {what}"),
            [quest] => format!("{kind}: {what} (quest {quest})"),
            quests => format!("{kind}: {what} (quests {})", ids(quests)),
        }
    });
    Word {
        complete: report.complete,
        shortfalls: shortfalls.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::run::bench::report;

    #[test]
    fn what_stands_against_it_is_said_with_its_quests() {
        let word = word(&report());
        assert!(!word.complete);
        let expected = [
            "todo: 1 quest is TODO (quest 2)",
            "tree-changed: the working tree is not clean",
        ];
        assert_eq!(word.shortfalls, expected);
    }
}
