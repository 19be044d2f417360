//! The report as Markdown.
//!
//! Tables are bounded, but the numbers of all quests that are not PASS are always there.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use itertools::Itertools as _;
use minijinja::Error;
use minijinja::value::Value;
use serde::Deserialize as _;

use super::{QuestReport, Report, Shares, Took, left_out, numbers, ranges};
use crate::base::text::Escaped;
use crate::judge::says_unproven;
use crate::quest::QuestId;
use crate::report::template::{environment, trusted};
use crate::session::{Effective, State};

const MAX_DETAILS: usize = 20;
const MAX_QUESTS: usize = 200;
const MAX_RULES: usize = 3;
const MAX_RUNS: usize = 20;

/// The longest list of passed quests, in characters. A longer one is of no use.
const MAX_NUMBERS: usize = 200;

/// The report as Markdown.
///
/// Text from outside (keys, names of agents, facts) cannot add markup or terminal codes.
pub fn markdown(report: &Report) -> Result<String, Error> {
    let mut environment = environment(escape);
    environment.add_filter("cost", |took: Value| -> Result<Value, Error> {
        Ok(trusted(Took::deserialize(took)?.cost_text()))
    });
    let hidden = report.others.len().saturating_sub(MAX_RUNS);
    let mut quests: Vec<&QuestReport> = report.quests.iter().collect();
    // Stable, so that quests of one state stay in order.
    quests.sort_by_key(|quest| Reverse(State::ALL.iter().position(|it| *it == quest.state)));
    let shown = quests.iter().take(MAX_QUESTS).map(|it| quest_row(it));
    let text = environment.render_str(
        include_str!("report.md"),
        minijinja::context! {
            complete => report.complete,
            settled => report.settled(),
            left_out => left_out(report),
            judged_again => report.judged_again,
            world => report.world,
            shares => report.shares,
            total => report.shares.map_or(1, |shares| shares.quests.max(1)),
            rows => report.shares.map(|shares| share_rows(report, &shares)),
            forgotten => ranges(&report.forgotten),
            unproven => says_unproven(&report.unproven_changes),
            sample => report.sample.as_ref().map(|sample| &sample.text),
            forgotten_count => report.forgotten.len(),
            final_gate => report.final_gate,
            shortfalls => shortfalls(report),
            run => report.run,
            others => &report.others[hidden..],
            more_runs => hidden,
            quests => shown.collect::<Vec<_>>(),
            more_quests => quests.len().saturating_sub(MAX_QUESTS),
            comail => report.comail,
            at => report.at,
            head => report.head,
        },
    )?;
    Ok(text + "\n")
}

fn shortfalls(report: &Report) -> Vec<Value> {
    let shortfalls = report.shortfalls.iter().map(|shortfall| {
        minijinja::context! {
            kind => shortfall.kind,
            what => shortfall.what,
            numbers => numbers(&shortfall.quests),
            details => shortfall.details.iter().take(MAX_DETAILS).collect::<Vec<_>>(),
            more => shortfall.details.len().saturating_sub(MAX_DETAILS),
        }
    });
    shortfalls.collect()
}

/// The rows of the table of shares: name, number of quests, which of them, and their numbers.
fn share_rows(report: &Report, shares: &Shares) -> [(&'static str, u32, String, String); 5] {
    let numbers = |is: &dyn Fn(&QuestReport) -> bool| {
        let quests = report.quests.iter().filter(|quest| is(quest));
        ranges(&quests.map(|quest| quest.quest).collect::<Vec<QuestId>>())
    };
    let of = |state| numbers(&move |quest: &QuestReport| quest.state == state);
    let passed = Some(of(State::Pass)).filter(|it| it.len() <= MAX_NUMBERS);
    let passed = passed.unwrap_or_else(|| "all others".to_owned());
    let (reviews, without) = (shares.reviews, shares.without_result);
    let which_reviews = counted(&[
        (reviews.accepted, Effective::Accepted.name()),
        (reviews.confirmed, Effective::Confirmed.name()),
        (reviews.open, Effective::Open.name()),
        (reviews.refuted, Effective::Refuted.name()),
        (reviews.rejected, Effective::Rejected.name()),
    ]);
    let why = counted(&[
        (without.given_up, "given up"),
        (without.unanswered, "without an answer to a lookup"),
    ]);
    let without_numbers = numbers(&|quest| quest.without_result);
    [
        ("PASS", shares.pass, String::new(), passed),
        ("REVIEW", shares.review, which_reviews, of(State::Review)),
        (
            "DONE (tries used up)",
            shares.done,
            String::new(),
            of(State::Done),
        ),
        ("TODO", shares.todo, String::new(), of(State::Todo)),
        ("without a result", without.quests, why, without_numbers),
    ]
}

fn counted(counts: &[(u32, &str)]) -> String {
    let some = counts.iter().filter(|(count, _)| *count > 0);
    some.map(|(count, name)| format!("{count} {name}"))
        .join(", ")
}

/// A quest, with the rules that fired most often and its usage in all runs.
fn quest_row(quest: &QuestReport) -> Value {
    let mut rules: Vec<(&String, &u32)> = quest.rules.iter().collect();
    rules.sort_by_key(|(_, count)| Reverse(**count));
    minijinja::context! {
        quest => quest,
        rules => &rules[..rules.len().min(MAX_RULES)],
        more_rules => rules.len().saturating_sub(MAX_RULES),
        took => quest.driven.iter().map(|it| it.took).reduce(Took::and),
        reason => quest.driven.last().and_then(|last| last.reason),
    }
}

/// Escapes text so that it adds no markup in Markdown.
fn escape(text: &str) -> String {
    let plain = Escaped(text).to_string();
    let mut safe = String::with_capacity(plain.len());
    for (at, c) in plain.char_indices() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            // Some readers turn text that looks like an address into a link.
            ':' if plain[at..].starts_with("://") => safe.push_str("&#58;"),
            '.' if ends_in_www(&plain[..at]) => safe.push_str("&#46;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '$' => {
                safe.push('\\');
                safe.push(c);
            }
            _ => safe.push(c),
        }
    }
    safe
}

fn ends_in_www(text: &str) -> bool {
    let mut last = text.chars().rev().take(3);
    text.len() >= 3 && last.all(|c| c.eq_ignore_ascii_case(&'w'))
}

#[cfg(test)]
mod escape_tests {
    use super::*;

    #[test]
    fn text_from_outside_forms_no_markdown() {
        let cases = [
            ("a|b", r"a\|b"),
            (r"a\|b", r"a\\\|b"),
            ("a\nb\r\u{1b}[2J", r"a\\u{a}b\\u{d}\\u{1b}\[2J"),
            ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
            ("&lt;", "&amp;lt;"),
            ("`c` *e* _u_ ~s~", r"\`c\` \*e\* \_u\_ \~s\~"),
            ("![i](u)", r"!\[i\](u)"),
            ("https://evil.example", "https&#58;//evil.example"),
            ("WWW.evil.example", "WWW&#46;evil.example"),
            ("own/data: changed (mode)", "own/data: changed (mode)"),
            ("$x$", r"\$x\$"),
            ("Müller & Söhne, 株式会社", "Müller &amp; Söhne, 株式会社"),
        ];
        for (text, safe) in cases {
            assert_eq!(escape(text), safe, "{text:?}");
        }
    }
}
