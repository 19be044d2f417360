//! How what labelled cases show of reviewers is told.

use super::output::{Paper, Tone};
use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::judge::panel::{Calibration, Labelled, Said, Score};
use crate::world::sandbox::Usage;

/// Writes how well each reviewer does, and the panel, and where it goes wrong.
pub(super) fn text(paper: &mut Paper, calibration: &Calibration) {
    for scored in &calibration.reviewers {
        let reviewer = &scored.reviewer;
        let title = format!("{} ({})", Escaped(&reviewer.name), Escaped(&reviewer.model));
        score(paper, &title, &scored.score);
        if let Some(took) = took(&reviewer.usage) {
            paper.line(format!("  took         {took}"));
        }
        for error in &reviewer.errors {
            paper.line(format!("  no answer    {}", Escaped(error)));
        }
    }
    score(paper, "the panel", &calibration.panel);
    for case in &calibration.cases {
        if let Some(what) = wrong(case) {
            let word = paper.tint(Tone::Bad, what);
            let (plant, question) = (Escaped(&case.plant), Escaped(&case.question));
            paper.line(format!("  {word}: {plant}, {question}"));
        }
    }
    let cases = plural(calibration.cases.len() as u64, "labelled case");
    paper.line(format!("{cases}; all agree in {}", calibration.agreement));
}

fn score(paper: &mut Paper, title: &str, score: &Score) {
    paper.line(title);
    for (name, share) in [
        ("right", score.right),
        ("false pass", score.false_pass),
        ("false doubt", score.false_doubt),
        ("unanswered", score.unanswered),
    ] {
        paper.line(format!("  {name:11}  {share}"));
    }
}

/// What is wrong with the panel's word on a case, if anything is.
fn wrong(case: &Labelled) -> Option<&'static str> {
    match (case.panel, case.must_doubt) {
        (Said::Doubt, true) | (Said::Clear, false) => None,
        (Said::Doubt, false) => Some("false doubt"),
        (Said::Clear, true) => Some("false pass"),
        (Said::Nothing, _) => Some("unsettled"),
    }
}

fn took(usage: &Usage) -> Option<String> {
    let tokens = |count: Option<u64>, what: &str| Some(format!("{} tokens {what}", count?));
    let parts = [
        tokens(usage.input_tokens, "read"),
        tokens(usage.output_tokens, "written"),
        usage.cost.map(|cost| format!("cost {cost}")),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
