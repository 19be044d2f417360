//! The prompts of `comail run`: what `next` prints, how to answer, and what is known besides.

use std::error::Error;

use anyhow::Result;
use serde_json::{Map, Value};

use super::context::Reaching;
use super::escape::Plain;
use super::handed::Handed;
use super::output::Paper;
use crate::drive;
use crate::drive::run::{Answers, Desk, NONE, Past, Situation};
use crate::quest::{Field, QuestKind};
use crate::session::Session;

/// The longest that is shown of an earlier submission, in characters.
const LONGEST_SUBMISSION: usize = 500;

/// Where the prompts of a run are written.
#[derive(Debug)]
pub(super) struct RunDesk;

impl Desk for RunDesk {
    fn prompt(
        &self,
        session: &Session,
        situation: &Situation<'_>,
    ) -> Result<String, Box<dyn Error + Send + Sync>> {
        Ok(write(session, situation)?)
    }
}

fn write(session: &Session, situation: &Situation<'_>) -> Result<String> {
    let mut paper = Paper::plain();
    let claim = Some(situation.claim.clone());
    // The environment names session and worker.
    let handed = Handed::of(session, situation.standing, claim, &Reaching::default())?;
    match situation.answers {
        Answers::Submit => handed.write(&mut paper),
        Answers::Stdout => {
            handed.write_task(&mut paper);
            write_printing(&mut paper, &drive::kind_of(session.manifest())?);
        }
        Answers::World => {
            handed.write_task(&mut paper);
            paper.gap();
            paper.line(
                "There is nothing to submit: do what is asked. The gate looks by itself, and \
                 ends your work once it is so.",
            );
        }
    }
    write_history(&mut paper, situation.history);
    if !situation.facts.is_empty() {
        paper.gap();
        paper.line("Mind:");
        for fact in situation.facts {
            paper.line(format!("  {}", Plain(fact)));
        }
    }
    if let Some(reason) = situation.last_call {
        paper.gap();
        paper.line(format!(
            "This is the last call for this quest, whose budget has ended ({reason}): answer with \
             the best that you have now. Before that say in a few lines where you stand, for \
             whoever takes the quest next."
        ));
    }
    Ok(paper.into_text())
}

/// How it is answered by printing.
fn write_printing(paper: &mut Paper, kind: &QuestKind) {
    let form = |text: fn(&Field) -> String| {
        let required = kind.fields.iter().filter(|field| field.required);
        let members = required.map(|field| (field.name.to_string(), Value::String(text(field))));
        Value::Object(members.collect::<Map<_, _>>()).to_string()
    };
    let blank = form(|field| field.name.as_str().to_uppercase());
    let example = form(|field| field.example.to_string());
    paper.gap();
    paper.line("Answer by printing one JSON object, after all else that you print:");
    paper.line(format!("  {}", Plain(&blank)));
    for field in &kind.fields {
        let name = Plain(field.name.as_str());
        let may = if field.required {
            ""
        } else {
            ", may be left out"
        };
        paper.line(format!("    {name}: {}{may}", Plain(&field.help)));
    }
    paper.line(format!(
        "One that would look right, for another {}:",
        Plain(&kind.unit)
    ));
    paper.line(format!("  {}", Plain(&example)));
    paper.line("Nothing to be found (costs a try):");
    paper.line(format!("  {{\"{NONE}\":\"what you tried\"}}"));
}

/// What the starts before this one came to.
fn write_history(paper: &mut Paper, history: &[Past]) {
    if history.is_empty() {
        return;
    }
    paper.gap();
    paper.line("Agents that were started for this quest before:");
    for past in history {
        paper.line(format!("  start {} ended: {}", past.start, past.reason));
        for submitted in &past.submitted {
            let text: String = submitted.text.chars().take(LONGEST_SUBMISSION).collect();
            let rules = submitted.rules.join(", ");
            paper.line(format!("    submitted {}", Plain(&text)));
            paper.line(format!("    which fired {}", Plain(&rules)));
        }
    }
}
