//! What each exit code means, in words: the one table that all help shows.

use schemars::JsonSchema;
use serde::Serialize;

use super::exit::Exit;
use crate::base::text::wrap;

/// Every exit, and what it means. README.md has the same table.
pub(super) const TABLE: [(Exit, &str); 11] = [
    (
        Exit::Done,
        "done; `next` gave a quest; `submit` locked PASS or REVIEW",
    ),
    (Exit::Error, "error; nothing changed"),
    (Exit::Usage, "bad usage; nothing changed"),
    (Exit::Complete, "`next`: complete, nothing is TODO"),
    (
        Exit::NoneFree,
        "`next`: nothing is free: other workers hold the rest, it waits for other quests, or a \
         run drives the session; ask again later",
    ),
    (
        Exit::Failed,
        "`submit`: FAIL, or doubts sent back; the quest is still TODO",
    ),
    (Exit::FailedAndDone, "`submit`: FAIL, and now DONE"),
    (
        Exit::Locked,
        "`submit`: the quest is locked, waits for another, another worker holds it, or another \
         answer was quicker (`overtaken`); nothing changed",
    ),
    (
        Exit::Finding,
        "`run`, `report`: not complete; `audit`, `doctor`, `export`, `prove`, `quest check`, \
         `scan --carry`: a finding, such as a changed ledger or a control that failed; \
         `review --import`: rows refused",
    ),
    (
        Exit::Paused,
        "`next`, `submit`: the session is paused until a person runs `comail resume`",
    ),
    (
        Exit::Interrupted,
        "ended by Ctrl-C: `audit`, `log --follow`, `recheck`, `report`, `review`, `run`, \
         `status --watch` keep what was done; `export`, `scan` and whatever reads a long ledger \
         change nothing",
    ),
];

/// The widest line of the table, in characters.
const WIDTH: usize = 80;

/// How far the words stand from the left.
const INDENT: usize = 7;

/// An exit code as JSON says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Meaning {
    pub(super) code: u8,
    pub(super) meaning: &'static str,
}

/// Every exit code with its meaning.
pub(super) fn meanings() -> impl Iterator<Item = Meaning> {
    TABLE.into_iter().map(|(exit, meaning)| Meaning {
        code: exit.code(),
        meaning,
    })
}

/// The table in lines.
pub(super) fn lines() -> Vec<String> {
    let rows = meanings().flat_map(|Meaning { code, meaning }| {
        let mut lines = wrap(meaning, WIDTH - INDENT);
        for (at, line) in lines.iter_mut().enumerate() {
            let code = if at == 0 {
                code.to_string()
            } else {
                String::new()
            };
            *line = format!("  {code:<5}{line}");
        }
        lines
    });
    rows.collect()
}

/// What stands at the end of `comail --help`.
pub(super) fn after_help() -> String {
    let table = lines().join("\n").replace('`', "");
    format!(
        "Exit codes:\n{table}\n\nAn agent's loop: while comail next; do …; comail submit …; done"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = include_str!("../../README.md");

    #[test]
    fn every_exit_is_told_once_in_the_order_of_the_codes() {
        let codes: Vec<u8> = meanings().map(|it| it.code).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130]);
    }

    #[test]
    fn the_readme_has_the_same_table() {
        for Meaning { code, meaning } in meanings() {
            let row = format!("| {code} | {meaning} |");
            assert!(README.contains(&row), "README.md lacks the row\n{row}");
        }
    }

    #[test]
    fn what_is_to_be_typed_is_never_parted() {
        let help = after_help();
        assert!(help.lines().all(|line| line.chars().count() <= WIDTH));
        for typed in ["scan --carry", "quest check", "log --follow"] {
            assert!(help.contains(typed), "{help}");
        }
        assert!(
            help.contains("\n  8    run, report: not complete"),
            "{help}"
        );
    }
}
