//! The Markdown of whole reports.

use super::*;
use crate::base::text::is_unsafe;
use crate::judge::FinalWord;
use crate::judge::completeness::{Shortfall, ShortfallKind};
use crate::report::run::fixtures::{id, quest, report};
use crate::session::Effective;

fn markdown(report: &Report) -> String {
    super::markdown(report).unwrap()
}

#[test]
fn the_whole_report_is_rendered() {
    insta::assert_snapshot!("report", markdown(&report()));
}

#[test]
fn the_headline_is_followed_by_what_matters_most() {
    let mut incomplete = report();
    assert!(!markdown(&incomplete).contains("Next steps:"));
    for (word, told) in [
        (
            FinalWord::None,
            ". No final gate judges all answers together.\n",
        ),
        (FinalWord::Proven, "negative control failed as expected.\n"),
    ] {
        incomplete.final_gate = Some(word);
        assert!(markdown(&incomplete).contains(told), "{word:?}");
    }
    // The next steps are shown if no quest is TODO.
    incomplete.shortfalls.remove(0);
    let text = markdown(&incomplete);
    let told = "\nNext steps:\n\n- **tree-changed**: undo the changes";
    assert!(text.contains(told), "{text}");

    let mut complete = report();
    complete.complete = true;
    complete.shortfalls.clear();
    // Unproven results are never called complete, even if they are accepted.
    let text = markdown(&complete);
    let told = "# Settled, unproven results accepted: 1 REVIEW open, 1 DONE\n\n\
                PASS: 1 of 4 (25.0 %). Ended without a result: 1 (25.0 %).";
    assert!(text.starts_with(told), "{text}");
    assert!(!text.contains("## Why it is not"), "{text}");
    let mut refused = complete.clone();
    refused.complete = false;
    let what = "settled, not proven: 1 REVIEW open, 1 DONE";
    refused.shortfalls = vec![Shortfall::new(ShortfallKind::NotProven, what)];
    let text = markdown(&refused);
    let title = "# Settled, not proven: 1 REVIEW open, 1 DONE\n";
    assert!(text.starts_with(title), "{text}");
    let shares = complete.shares.as_mut().unwrap();
    shares.reviews.open = 0;
    shares.done = 0;
    let text = markdown(&complete);
    assert!(text.starts_with("# COMPLETE\n\nPASS: 1 of 4 "), "{text}");
    complete.complete = false;
    assert!(markdown(&complete).starts_with("# NOT COMPLETE\n"));
}

#[test]
fn a_sign_is_explained_only_if_it_occurs() {
    let mut report = report();
    report.others.clear();
    assert!(markdown(&report).contains("`+` and `?`: the cost of"));
    report.run.as_mut().unwrap().took.cost = None;
    let text = markdown(&report);
    assert!(
        text.contains("\n`?`: the cost of 1 start is unknown."),
        "{text}"
    );
    assert!(text.contains("`~`: tokens are estimated"), "{text}");
}

#[test]
fn a_damaged_ledger_gives_a_report_without_quests() {
    let mut report = report();
    report.shares = None;
    report.head = None;
    report.quests.clear();
    report.shortfalls = vec![Shortfall::new(ShortfallKind::Ledger, "broken")];
    let text = markdown(&report);
    assert!(text.contains("is damaged"), "{text}");
    assert!(
        !text.contains("## Shares") && !text.contains("## Quests"),
        "{text}"
    );
}

#[test]
fn a_large_report_is_bounded_and_names_every_quest_that_is_not_pass() {
    let mut report = report();
    report.quests = (1..=5_000)
        .map(|number| {
            let effective = match number % 10 {
                0 => Effective::Todo,
                _ => Effective::Pass,
            };
            quest(number, "Acme", effective)
        })
        .collect();
    report.shares.as_mut().unwrap().todo = 500;
    let details = (0..999).map(|number| format!("file {number}"));
    report.shortfalls[1].details = details.collect();
    let text = markdown(&report);
    assert!(text.lines().count() < 320, "{}", text.lines().count());
    assert!(text.contains("and 4800 more, which are in the report's JSON"));
    assert!(text.contains("and 979 more, which are in the report's JSON"));
    for number in (10..=5_000).step_by(10) {
        let numbered = format!(" {},", id(number));
        let last = format!(" {} |", id(number));
        assert!(text.contains(&numbered) || text.contains(&last), "{number}");
    }
}

/// The cells of a table's line: bars with a backslash before them separate nothing.
fn cells(line: &str) -> usize {
    let mut cells = 0;
    let mut escaped = false;
    for c in line.chars() {
        cells += usize::from(c == '|' && !escaped);
        escaped = c == '\\' && !escaped;
    }
    cells
}

#[test]
fn hostile_names_break_nothing() {
    let evil = [
        "a | b | c",
        r"a \| b",
        "<script>alert(1)</script>",
        "[x](javascript:alert(1)) ![y](http://evil.example)",
        "`x` **COMPLETE** # COMPLETE",
        "\u{202e}esrever\u{1b}[2J\u{9b}31m",
        "--- | :---:",
    ];
    for evil in evil {
        let mut report = report();
        let run = report.run.as_mut().unwrap();
        run.agent = format!("{evil}\n# COMPLETE");
        run.model = Some(evil.to_owned());
        report.quests[0] = quest(1, evil, Effective::Pass);
        report.quests[0].rules = [(evil.to_owned(), 1)].into();
        report.shortfalls[0].what = format!("{evil}\n\n# COMPLETE");
        report.shortfalls[1].details = vec![format!("{evil}\n- **todo**: none")];
        let text = markdown(&report);
        let shape = |text: &str| -> Vec<(usize, bool)> {
            let lines = text.lines();
            lines
                .map(|line| (cells(line), line.starts_with('#')))
                .collect()
        };
        let plain = markdown(&self::report());
        let tables = |text: &str| -> Vec<usize> {
            let lines = shape(text).into_iter().map(|(cells, _)| cells);
            lines.filter(|cells| *cells > 0).collect()
        };
        let heads = |text: &str| shape(text).iter().filter(|(_, head)| *head).count();
        assert_eq!(heads(&text), heads(&plain), "{text}");
        assert_eq!(text.lines().count(), plain.lines().count(), "{text}");
        let bars = tables(&text).into_iter().filter(|bars| *bars > 1);
        let expected = tables(&plain).into_iter().filter(|bars| *bars > 1);
        assert_eq!(
            bars.collect::<Vec<_>>(),
            expected.collect::<Vec<_>>(),
            "{text}"
        );
        assert!(
            !text.contains("<script")
                && !text.replace("\\](", "").contains("](")
                && !text.contains("http:")
        );
        assert!(
            !text.contains(|c: char| is_unsafe(c) && c != '\n'),
            "{text}"
        );
    }
}
