//! Where prompts are written, and what is known when one is.

use std::error::Error;

use super::plan::Answers;
use crate::session::{Claim, Reason, Session, Standing};

/// What is known when a prompt is written.
#[derive(Debug)]
pub struct Situation<'a> {
    /// Where the quest stands.
    pub standing: &'a Standing,
    /// The claim under which the agent holds it.
    pub claim: &'a Claim,
    /// How the agent answers.
    pub answers: Answers,
    /// What the starts before came to; empty where the agent remembers them itself.
    pub history: &'a [Past],
    /// What the agent should know besides: warnings, and what was wrong with what it printed.
    pub facts: &'a [String],
    /// Why this is the last call for the quest, if it is.
    pub last_call: Option<Reason>,
}

/// What one start of the agent came to.
#[derive(Debug, Clone)]
pub struct Past {
    /// Which start for this quest it was, from 1.
    pub start: u32,
    /// Why it ended.
    pub reason: Reason,
    /// What it submitted, and which rules that failed on.
    pub submitted: Vec<Submitted>,
}

/// A submission that was judged.
#[derive(Debug, Clone)]
pub struct Submitted {
    /// What was submitted, on one line.
    pub text: String,
    /// The rules that fired.
    pub rules: Vec<String>,
}

/// Where prompts are written.
pub trait Desk: Sync {
    /// The prompt of the agent that is started next.
    fn prompt(
        &self,
        session: &Session,
        situation: &Situation<'_>,
    ) -> Result<String, Box<dyn Error + Send + Sync>>;
}
