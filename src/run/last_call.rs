//! The last call for a quest whose budget has ended: submit what there is, and say where it stands.

use super::course::Course;
use super::error::RunError;
use super::worker::{RunWorker, Way};
use crate::session::Reason;

const LONGEST: usize = 4096;

#[derive(Debug)]
pub(super) enum LastCall {
    Settled,
    Left(Option<Box<str>>),
}

impl RunWorker<'_> {
    pub(super) fn last_call(
        &mut self,
        course: &mut Course,
        reason: Reason,
    ) -> Result<LastCall, RunError> {
        if self.pass_on(course)?.is_some() {
            return Ok(LastCall::Left(None));
        }
        let (way, tail) = self.start_once(course, Some(reason))?;
        if way == Way::Ended(Reason::Settled) {
            return Ok(LastCall::Settled);
        }
        Ok(LastCall::Left(note(&tail)))
    }
}

fn note(tail: &str) -> Option<Box<str>> {
    let tail = tail.trim();
    let over = tail.len().saturating_sub(LONGEST);
    let from = (over..=tail.len()).find(|at| tail.is_char_boundary(*at))?;
    let note = tail[from..].trim_start();
    (!note.is_empty()).then(|| note.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_bounded_and_never_blank() {
        assert_eq!(note(" \n"), None);
        assert_eq!(note(" half done \n").as_deref(), Some("half done"));
        let long = note(&"ü".repeat(LONGEST)).unwrap();
        assert!(long.len() <= LONGEST && long.len() > LONGEST - 4);
    }
}
