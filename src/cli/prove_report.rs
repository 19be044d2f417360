//! How what the controls show is told.

use anyhow::Result;

use super::exit::UsageError;
use super::output::{Paper, Tone};
use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::judge::prove::{Outcome, Proof};

/// Writes what came of each control, and what is lacking.
pub(super) fn text(paper: &mut Paper, proof: &Proof) {
    for outcome in &proof.controls {
        let (tone, word) = if outcome.fits {
            (Tone::Good, "as it must")
        } else {
            (Tone::Bad, "NOT as it must")
        };
        let word = paper.tint(tone, word);
        paper.line(format!(
            "{:6}  {word}  {}",
            outcome.judgement.verdict,
            Escaped(&outcome.name)
        ));
        if !outcome.fits {
            for line in complaint(outcome) {
                paper.line(format!("        {line}"));
            }
        }
    }
    for lacking in &proof.lacking {
        let word = paper.tint(Tone::Bad, "lacking");
        paper.line(format!("{word}: {lacking}"));
    }
    if !proof.unfired.is_empty() {
        let rules = proof.unfired.join(", ");
        paper.line(format!("never fired, of level REVIEW: {rules}"));
    }
    let fitting = proof.controls.iter().filter(|it| it.fits).count();
    let controls = plural(proof.controls.len() as u64, "control");
    paper.line(if proof.holds() {
        format!("the gate can say yes and no: {controls}, each as it must")
    } else {
        format!("the gate is not proven: {fitting} of {controls} as they must")
    });
}

/// Says that the reviewers were not asked, where there are any.
pub(super) fn unasked(paper: &mut Paper, are_there: bool) {
    if are_there {
        paper.line(
            "the reviewers were not asked: in a session, `comail prove --reviewers` asks them \
             about every plant",
        );
    }
}

fn complaint(outcome: &Outcome) -> Vec<String> {
    let fires = match &outcome.fires {
        Some(rules) if rules.is_empty() => String::from(" and no rule"),
        Some(rules) => format!(" by {}", rules.join(", ")),
        None => String::new(),
    };
    let mut lines = vec![format!("must be {}{fires}; these facts:", outcome.expected)];
    let facts = outcome.judgement.facts.iter();
    lines.extend(facts.map(|fact| {
        let line = format!(
            "{}: expected {}; actual {}",
            fact.rule, fact.expected, fact.actual
        );
        Escaped(&line).to_string()
    }));
    lines
}

/// Refuses a gate that its controls do not prove.
pub(super) fn refuse_unproven(proof: &Proof, path: &str) -> Result<()> {
    if proof.holds() {
        return Ok(());
    }
    let failed = proof.controls.iter().filter(|outcome| !outcome.fits);
    let failed = failed.map(|outcome| {
        format!(
            "control `{}` must be {} and is {}",
            outcome.name, outcome.expected, outcome.judgement.verdict
        )
    });
    let lacking = proof.lacking.iter().map(ToString::to_string);
    let why: Vec<_> = failed.chain(lacking).collect();
    let text = format!(
        "{path}: the gate is not proven, and no session is made: {}; `comail quest check` says more",
        why.join("; ")
    );
    Err(UsageError(text).into())
}
