//! A check as its table makes it, with what its gate has to know of it.

use std::rc::Rc;

use super::context::Context;
use super::shaped::Shaped;
use super::spec::Shows;
use super::unique::taken;
use crate::gate::Check;
use crate::gate::email::taken_by;
use crate::quest::{Field, FieldName, Submission};
use crate::world::Taken;

/// A check that serves every judgement of its gate.
pub type AnyCheck = Rc<dyn for<'a> Check<Context<'a>>>;

/// A check, and what its gate has to know of it.
pub struct Built {
    /// The check.
    pub check: AnyCheck,
    /// What passing it shows.
    pub shows: Shows,
    /// What a PASS takes for its quest alone.
    pub takes: Option<Takes>,
    /// The fields at whose shape it looks itself.
    pub shapes: Vec<Shaped>,
    /// What it says nothing of where it is not so, so that another check must look.
    pub trusts: Vec<Shaped>,
}

/// What a PASS takes for its quest alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Takes {
    /// The value of a field.
    Value(Field),
    /// The address in a field, and its domain.
    Mailbox(FieldName),
}

impl Built {
    /// A check of which a gate has to know nothing more.
    #[must_use]
    pub fn plain(check: AnyCheck, shows: Shows) -> Self {
        Self {
            check,
            shows,
            takes: None,
            shapes: Vec::new(),
            trusts: Vec::new(),
        }
    }
}

impl Takes {
    /// What a PASS on `submission` takes.
    #[must_use]
    pub fn of(&self, submission: &Submission) -> Vec<Taken> {
        let text = |field: &FieldName| submission.field(field.as_str()).unwrap_or_default();
        match self {
            Self::Value(field) => taken(field, text(&field.name)).into_iter().collect(),
            Self::Mailbox(field) => taken_by(text(field)),
        }
    }
}
