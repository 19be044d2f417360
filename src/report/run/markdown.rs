//! The report as Markdown.
//!
//! Tables are bounded, but the numbers of all quests that are not PASS are always there.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::fmt::Write as _;

use jiff::SignedDuration;

use crate::base::text::{Escaped, plural, truncate};
use crate::judge::completeness::{FinalWord, Shortfall, ShortfallKind};
use crate::quest::QuestId;
use crate::report::run::history::RunReport;
use crate::report::run::{QuestReport, Report, Shares, ids};
use crate::session::{Effective, Reason, State};

/// The report as Markdown.
///
/// What came from outside (keys, names of agents, facts) can neither form anything in it nor steer a
/// terminal.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let parts = [
        head(report),
        shortfall_section(report),
        share_section(report),
        run_section(report),
        quest_section(report),
        foot(report),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn head(report: &Report) -> String {
    let title = if report.complete {
        "COMPLETE"
    } else {
        "NOT COMPLETE"
    };
    let last = report.final_gate.map(final_gate);
    format!(
        "# {title}\n\n{}{}\n",
        share_sentence(report),
        last.unwrap_or_default()
    )
}

fn final_gate(word: FinalWord) -> &'static str {
    match word {
        FinalWord::None => " Final gate: none.",
        FinalWord::Passed => " Final gate: passed, without a negative control.",
        FinalWord::Proven => " Final gate: passed, and its negative control failed as it must.",
        FinalWord::Refused => " Final gate: not passed.",
        FinalWord::Unjudged => " Final gate: not judged.",
    }
}

fn foot(report: &Report) -> String {
    let head = report.head.map(|head| format!(", ledger head {head}"));
    format!(
        "Made by comail {} at {}{}.\n",
        escaped(&report.comail),
        report.at,
        head.unwrap_or_default()
    )
}

const MOST_DETAILS: usize = 20;

/// The shortfalls, each with its quests; nothing where there are none.
#[must_use]
pub fn shortfall_section(report: &Report) -> String {
    if report.shortfalls.is_empty() {
        return String::new();
    }
    let mut lines = vec!["## What stands against it".to_owned(), String::new()];
    for shortfall in &report.shortfalls {
        tell(&mut lines, shortfall);
    }
    let kinds = || report.shortfalls.iter().map(|it| it.kind);
    // What is TODO comes first; much else follows from it.
    if kinds().all(|kind| kind != ShortfallKind::Todo) {
        lines.extend(["", "To go on:", ""].map(str::to_owned));
        lines.extend(kinds().map(|kind| format!("- **{}**: {}", kind.name(), step(kind))));
    }
    lines.join("\n") + "\n"
}

fn step(kind: ShortfallKind) -> &'static str {
    match kind {
        ShortfallKind::Todo => "`comail next`, or `comail run` with an agent.",
        ShortfallKind::OrphanedClaims => "`comail release` takes the claims back.",
        ShortfallKind::TreeChanged => "undo the changes in the working tree.",
        ShortfallKind::TreeUnread => "put the working tree back where it was.",
        ShortfallKind::PassChanged => {
            "put the files back as the PASS saw them, or scan a new session for these quests."
        }
        ShortfallKind::Ledger | ShortfallKind::NotReplayed | ShortfallKind::Record => {
            "`comail audit` says more; put back what was changed from a copy, or scan a new session."
        }
        ShortfallKind::Unchecked => "`comail report` once more, to its end.",
        ShortfallKind::FinalGate => {
            "mend what the facts name, then `comail report` once more; where a file of a PASS must \
             change for it, scan a new session for its quest."
        }
        ShortfallKind::MinPass => {
            "no quest is left to do: scan a new session for those that are not PASS, or ask for \
             less."
        }
    }
}

fn tell(lines: &mut Vec<String>, shortfall: &Shortfall) {
    let quests = match shortfall.quests.as_slice() {
        [] => String::new(),
        [quest] => format!(" (quest {quest})"),
        quests => format!(" (quests {})", ids(quests)),
    };
    let (kind, what) = (shortfall.kind.name(), escaped_sentence(&shortfall.what));
    lines.push(format!("- **{kind}**: {what}{quests}"));
    let details = shortfall.details.iter();
    let shown = details.take(MOST_DETAILS).map(|it| escaped_sentence(it));
    lines.extend(shown.map(|detail| format!("  - {detail}")));
    let more = shortfall.details.len().saturating_sub(MOST_DETAILS);
    if more > 0 {
        lines.push(format!("  - and {more} more; the report's JSON has all"));
    }
}

const MOST_QUESTS: usize = 200;

const MOST_RULES: usize = 3;

/// The quests that are not PASS, and then the others, as far as there is room.
#[must_use]
pub fn quest_section(report: &Report) -> String {
    if report.quests.is_empty() {
        return String::new();
    }
    let mut quests: Vec<&QuestReport> = report.quests.iter().collect();
    // Of equals the order stays.
    quests.sort_by_key(|quest| rank(quest.state));
    let rows: Vec<Vec<String>> = quests.iter().take(MOST_QUESTS).map(|it| row(it)).collect();
    let heads = [
        "-:quest",
        "key",
        "state",
        "-:FAILs",
        "rules that fired",
        "-:starts",
        "-:time",
        "-:tokens",
        "-:cost",
        "reason",
    ];
    let table = table(&heads, &rows);
    let hidden = quests.len().saturating_sub(MOST_QUESTS);
    let more = match hidden {
        0 => String::new(),
        hidden => format!("\nand {hidden} more, which are in the report's JSON\n"),
    };
    format!("## Quests\n\n{table}{more}")
}

fn rank(state: State) -> u8 {
    match state {
        State::Todo => 0,
        State::Done => 1,
        State::Review => 2,
        State::Pass => 3,
    }
}

fn row(quest: &QuestReport) -> Vec<String> {
    let mut row = vec![
        quest.quest.to_string(),
        escaped(quest.key.as_str()),
        state(quest),
        quest.tries.to_string(),
        rules(quest),
    ];
    match quest.took() {
        None => row.extend(vec![String::new(); 5]),
        Some(took) => row.extend([
            took.starts.to_string(),
            duration(took.milliseconds),
            took.used.tokens_text(),
            took.used.cost_text(),
            quest
                .driven
                .last()
                .map_or("", |last| reason(last.reason))
                .to_owned(),
        ]),
    }
    row
}

fn state(quest: &QuestReport) -> String {
    let said = match quest.effective {
        Effective::Pass | Effective::Done | Effective::Todo => String::new(),
        effective => format!(" ({})", effective.name()),
    };
    let unproven = if quest.unproven { ", unproven" } else { "" };
    format!("{}{said}{unproven}", quest.state)
}

/// The rules that fired, the most frequent first.
fn rules(quest: &QuestReport) -> String {
    let mut rules: Vec<(&String, &u32)> = quest.rules.iter().collect();
    rules.sort_by_key(|(_, count)| Reverse(**count));
    let more = rules.len().saturating_sub(MOST_RULES);
    let shown = rules.iter().take(MOST_RULES).map(|(rule, count)| {
        let rule = escaped(rule);
        match count {
            1 => rule,
            count => format!("{rule} ×{count}"),
        }
    });
    let more = (more > 0).then(|| format!("{more} more"));
    let texts: Vec<String> = shown.chain(more).collect();
    texts.join(", ")
}

const MOST_RUNS: usize = 20;

/// The run, and the others; nothing where none ever began.
#[must_use]
pub fn run_section(report: &Report) -> String {
    let Some(run) = &report.run else {
        return String::new();
    };
    let section = format!("## Run {}\n\n{}", run.run, facts(run));
    if report.others.is_empty() {
        return section;
    }
    let hidden = report.others.len().saturating_sub(MOST_RUNS);
    let rows: Vec<Vec<String>> = report.others.iter().skip(hidden).map(short).collect();
    let heads = [
        "run",
        "began",
        "reason",
        "-:quests",
        "-:settled",
        "-:starts",
        "-:tokens",
        "-:cost",
    ];
    let table = table(&heads, &rows);
    let more = match hidden {
        0 => String::new(),
        hidden => format!("\n{hidden} earlier ones are in the report's JSON.\n"),
    };
    format!("{section}\n## Other runs of this session\n\n{table}{more}")
}

#[must_use]
pub fn reason(reason: Option<Reason>) -> &'static str {
    reason.map_or("goes on", Reason::label)
}

fn facts(run: &RunReport) -> String {
    let model = run
        .model
        .as_ref()
        .map(|model| format!(", model {}", escaped(model)));
    let ended = run
        .ended
        .map_or_else(|| "not yet".to_owned(), |at| at.to_string());
    let facts = [
        ("ended for", reason(run.reason).to_owned()),
        ("agent", escaped(&run.agent) + &model.unwrap_or_default()),
        ("workers", run.workers.to_string()),
        ("began", run.began.to_string()),
        ("ended", ended),
        (
            "quests driven",
            format!("{}, {} settled", run.quests, run.settled),
        ),
        ("starts of the agent", starts(run)),
        ("its time in all", duration(run.milliseconds)),
        ("tokens", run.used.tokens_text()),
        ("cost", run.used.cost_text()),
        (
            "logs of the agent",
            format!("runs/{} in the session's directory", run.run),
        ),
    ];
    let rows: Vec<Vec<String>> = facts
        .into_iter()
        .map(|(name, value)| vec![name.to_owned(), value])
        .collect();
    let notes = notes(run).into_iter().map(|note| format!("\n{note}\n"));
    let table = table(&["", ""], &rows);
    table + &notes.collect::<String>()
}

fn starts(run: &RunReport) -> String {
    match run.lost {
        0 => run.starts.to_string(),
        lost => format!("{}, {lost} without an end", run.starts),
    }
}

fn notes(run: &RunReport) -> Vec<String> {
    let (estimated, unpriced) = match run.used.cost {
        Some(_) => ("tokens and cost are", "`+` and `?`"),
        None => ("tokens are", "`?`"),
    };
    let open = [
        (
            run.used.estimated,
            format!("`~`: {estimated} estimated, for the agent did not tell, in"),
        ),
        (
            run.used.unpriced,
            format!("{unpriced}: no cost is known for"),
        ),
        (
            run.lost,
            "What was used up without an end comes on top, and is not known:".to_owned(),
        ),
    ];
    let open = open.into_iter().filter(|(starts, _)| *starts > 0);
    open.map(|(starts, what)| format!("{what} {}.", plural(starts, "start")))
        .collect()
}

fn short(run: &RunReport) -> Vec<String> {
    vec![
        run.run.to_string(),
        run.began.to_string(),
        reason(run.reason).to_owned(),
        run.quests.to_string(),
        run.settled.to_string(),
        starts(run),
        run.used.tokens_text(),
        run.used.cost_text(),
    ]
}

const MOST_NUMBERS: usize = 200;

/// How many passed and how many did not, in one sentence that stands under the headline.
#[must_use]
pub fn share_sentence(report: &Report) -> String {
    let Some(shares) = &report.shares else {
        return "The ledger cannot be believed, and nothing can be told of its quests.".to_owned();
    };
    let (pass, unproven) = (shares.pass, shares.unproven.quests);
    let forgotten = match report.forgotten.len() {
        0 => String::new(),
        count => format!(
            " Proof blotted out, and not judged again: {count} (numbers {}).",
            ids(&report.forgotten)
        ),
    };
    format!(
        "PASS: {pass} of {} ({:.1} %). Ended with nothing proven: {unproven} ({:.1} \
         %).{forgotten}",
        shares.quests,
        shares.percent(pass),
        shares.percent(unproven)
    )
}

/// The shares, and the numbers of all quests that are not PASS.
#[must_use]
pub fn share_section(report: &Report) -> String {
    let Some(shares) = &report.shares else {
        return String::new();
    };
    let unproven = quests_where(report, |quest| quest.unproven);
    let rows = [
        share_row(shares, "PASS", shares.pass, String::new(), &passed(report)),
        share_row(
            shares,
            "REVIEW",
            shares.review,
            reviews(shares),
            &ids(&in_state(report, State::Review)),
        ),
        share_row(
            shares,
            "DONE",
            shares.done,
            String::new(),
            &ids(&in_state(report, State::Done)),
        ),
        share_row(
            shares,
            "TODO",
            shares.todo,
            String::new(),
            &ids(&in_state(report, State::Todo)),
        ),
        share_row(
            shares,
            "ended unproven",
            shares.unproven.quests,
            why_unproven(shares),
            &ids(&unproven),
        ),
    ];
    let table = table(
        &["state", "-:quests", "-:share", "of which", "numbers"],
        &rows,
    );
    format!(
        "## Shares\n\n{table}\n`ended unproven`: ended with nothing proven, given up or for lookups \
         that were not answered.\n"
    )
}

fn share_row(shares: &Shares, name: &str, count: u32, which: String, numbers: &str) -> Vec<String> {
    vec![
        name.to_owned(),
        count.to_string(),
        format!("{:.1} %", shares.percent(count)),
        which,
        if count == 0 { "" } else { numbers }.to_owned(),
    ]
}

fn passed(report: &Report) -> String {
    let numbers = ids(&in_state(report, State::Pass));
    if numbers.len() > MOST_NUMBERS {
        return "all others".to_owned();
    }
    numbers
}

fn in_state(report: &Report, state: State) -> Vec<QuestId> {
    quests_where(report, |quest| quest.state == state)
}

fn quests_where(report: &Report, is: impl Fn(&QuestReport) -> bool) -> Vec<QuestId> {
    let quests = report.quests.iter().filter(|quest| is(quest));
    quests.map(|quest| quest.quest).collect()
}

fn reviews(shares: &Shares) -> String {
    let reviews = shares.reviews;
    counted(&[
        (reviews.accepted, Effective::Accepted.name()),
        (reviews.confirmed, Effective::Confirmed.name()),
        (reviews.open, Effective::Open.name()),
        (reviews.refuted, Effective::Refuted.name()),
        (reviews.rejected, Effective::Rejected.name()),
    ])
}

fn why_unproven(shares: &Shares) -> String {
    let unproven = shares.unproven;
    counted(&[
        (unproven.no_result, "given up"),
        (unproven.silence, "for lookups that were not answered"),
    ])
}

fn counted(counts: &[(u32, &str)]) -> String {
    let some = counts.iter().filter(|(count, _)| *count > 0);
    let texts: Vec<String> = some
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    texts.join(", ")
}

const MOST_OF_NAME: usize = 120;

const MOST_OF_SENTENCE: usize = 600;

#[must_use]
pub fn escaped(name: &str) -> String {
    safe(name, MOST_OF_NAME)
}

#[must_use]
pub fn escaped_sentence(text: &str) -> String {
    safe(text, MOST_OF_SENTENCE)
}

fn safe(text: &str, most: usize) -> String {
    let plain = Escaped(&truncate(text, most)).to_string();
    let mut safe = String::with_capacity(plain.len());
    for (at, c) in plain.char_indices() {
        push(&mut safe, c, &plain[..at], &plain[at..]);
    }
    safe
}

fn push(safe: &mut String, c: char, before: &str, rest: &str) {
    match c {
        '<' => safe.push_str("&lt;"),
        '>' => safe.push_str("&gt;"),
        '&' => safe.push_str("&amp;"),
        // Some readers make links of what only looks like an address.
        ':' if rest.starts_with("://") => safe.push_str("&#58;"),
        '.' if ends_in_www(before) => safe.push_str("&#46;"),
        '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '$' => {
            safe.push('\\');
            safe.push(c);
        }
        _ => safe.push(c),
    }
}

fn ends_in_www(text: &str) -> bool {
    let mut last = text.chars().rev().take(3);
    text.len() >= 3 && last.all(|c| c.eq_ignore_ascii_case(&'w'))
}

/// How long it took, to the second; less than that in milliseconds.
#[must_use]
pub fn duration(milliseconds: u64) -> String {
    if milliseconds < 1000 {
        return format!("{milliseconds}ms");
    }
    let seconds = i64::try_from(milliseconds / 1000).unwrap_or(i64::MAX);
    format!("{:#}", SignedDuration::from_secs(seconds))
}

/// A table of these heads and rows; `-:` in front of a head puts its column to the right.
///
/// What is in the cells is Markdown already.
#[must_use]
pub fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = String::new();
    let names = heads.iter().map(|head| head.trim_start_matches("-:"));
    line(&mut table, names);
    let rules = heads.iter().map(|head| {
        if head.starts_with("-:") {
            "---:"
        } else {
            "---"
        }
    });
    line(&mut table, rules);
    for row in rows {
        line(&mut table, row.iter().map(String::as_str));
    }
    table
}

fn line<'a>(table: &mut String, cells: impl Iterator<Item = &'a str>) {
    table.push('|');
    for cell in cells {
        // Writing to a string cannot fail.
        let _ = write!(table, " {cell} |");
    }
    table.push('\n');
}

#[cfg(test)]
mod escape_tests {
    use super::*;

    #[test]
    fn nothing_from_outside_forms_anything() {
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
            assert_eq!(escaped(text), safe, "{text:?}");
        }
    }

    #[test]
    fn what_is_long_is_cut() {
        assert_eq!(escaped(&"x".repeat(120)).chars().count(), 120);
        let cut = escaped(&"ü".repeat(500));
        assert_eq!(cut.chars().count(), 121);
        assert!(cut.ends_with('…'));
        assert_eq!(escaped_sentence(&"x".repeat(999)).chars().count(), 601);
    }

    #[test]
    fn durations_are_told_as_people_say_them() {
        for (milliseconds, told) in [
            (0, "0ms"),
            (999, "999ms"),
            (1999, "1s"),
            (3_661_000, "1h 1m 1s"),
        ] {
            assert_eq!(duration(milliseconds), told);
        }
    }

    #[test]
    fn a_table_has_its_rows_and_columns() {
        let rows = [vec!["x".to_owned(), "1".to_owned()]];
        assert_eq!(
            table(&["key", "-:count"], &rows),
            "| key | count |\n| --- | ---: |\n| x | 1 |\n"
        );
    }
}
