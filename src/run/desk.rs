//! Where prompts are written, and what is known when one is.

use std::error::Error;

use super::plan::Answers;
use crate::session::{Claim, Reason, Session, Standing};

#[derive(Debug)]
pub struct Situation<'a> {
    pub standing: &'a Standing,
    pub claim: &'a Claim,
    pub answers: Answers,
    pub history: &'a [Past],
    pub facts: &'a [String],
    pub last_call: Option<Reason>,
}

#[derive(Debug, Clone)]
pub struct Past {
    pub start: u32,
    pub reason: Reason,
    pub submitted: Vec<Submitted>,
}

#[derive(Debug, Clone)]
pub struct Submitted {
    pub text: String,
    pub rules: Vec<String>,
}

pub trait Desk: Sync {
    fn prompt(
        &self,
        session: &Session,
        situation: &Situation<'_>,
    ) -> Result<String, Box<dyn Error + Send + Sync>>;
}
