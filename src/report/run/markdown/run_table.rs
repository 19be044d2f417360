//! The run that the report is about, and the others in short.

use super::text;
use crate::base::text::plural;
use crate::report::run::runs::RunReport;
use crate::report::run::tell::Report;
use crate::session::Reason;

/// The most other runs that are shown, the last ones.
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
    let table = text::table(&heads, &rows);
    let more = match hidden {
        0 => String::new(),
        hidden => format!("\n{hidden} earlier ones are in the report's JSON.\n"),
    };
    format!("{section}\n## Other runs of this session\n\n{table}{more}")
}

/// Why it ended, as people read it.
#[must_use]
pub fn reason(reason: Option<Reason>) -> &'static str {
    reason.map_or("goes on", Reason::label)
}

fn facts(run: &RunReport) -> String {
    let model = run
        .model
        .as_ref()
        .map(|model| format!(", model {}", text::escaped(model)));
    let ended = run
        .ended
        .map_or_else(|| "not yet".to_owned(), |at| at.to_string());
    let facts = [
        ("ended for", reason(run.reason).to_owned()),
        (
            "agent",
            text::escaped(&run.agent) + &model.unwrap_or_default(),
        ),
        ("workers", run.workers.to_string()),
        ("began", run.began.to_string()),
        ("ended", ended),
        (
            "quests driven",
            format!("{}, {} settled", run.quests, run.settled),
        ),
        ("starts of the agent", starts(run)),
        ("its time in all", text::duration(run.milliseconds)),
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
    let table = text::table(&["", ""], &rows);
    table + &notes.collect::<String>()
}

fn starts(run: &RunReport) -> String {
    match run.lost {
        0 => run.starts.to_string(),
        lost => format!("{}, {lost} without an end", run.starts),
    }
}

/// What the numbers leave open.
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
