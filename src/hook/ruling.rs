//! What becomes of a call of a tool, and why.

use serde::{Deserialize, Serialize};

/// What becomes of a call, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ruling {
    /// It may run.
    Allow,
    /// The agent's own permissions decide.
    Leave,
    /// A person is asked.
    Prompt,
    /// It does not run.
    Forbid,
}

/// What a rule says of the commands that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// They may run.
    Allow,
    /// A person is asked.
    Prompt,
    /// They do not run.
    Forbid,
}

/// A ruling with its ground.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruled {
    /// What becomes of the call.
    pub ruling: Ruling,
    /// Why.
    pub why: String,
}

impl Ruled {
    pub(super) fn new(ruling: Ruling, why: impl Into<String>) -> Self {
        Self {
            ruling,
            why: why.into(),
        }
    }

    pub(super) fn forbid(why: impl Into<String>) -> Self {
        Self::new(Ruling::Forbid, why)
    }

    /// What a call is that does nothing.
    pub(super) fn nothing() -> Self {
        Self::new(Ruling::Allow, "")
    }

    /// The stricter of both, the first where they are alike.
    pub(super) fn stricter(self, other: Self) -> Self {
        let unsaid = self.ruling == other.ruling && self.why.is_empty();
        if other.ruling > self.ruling || unsaid {
            other
        } else {
            self
        }
    }

    /// The same where nobody can be asked: what would be asked is refused.
    #[must_use]
    pub fn unattended(self) -> Self {
        if self.ruling != Ruling::Prompt {
            return self;
        }
        let why = format!(
            "{}; a person would have to be asked, and none can be",
            self.why
        );
        Self::forbid(why)
    }
}

impl From<Decision> for Ruling {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::Prompt => Self::Prompt,
            Decision::Forbid => Self::Forbid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_wins_and_what_would_be_asked_is_refused_where_nobody_is() {
        let of = |ruling| Ruled::new(ruling, format!("{ruling:?}"));
        let all = [Ruling::Allow, Ruling::Leave, Ruling::Prompt, Ruling::Forbid];
        for (place, ruling) in all.into_iter().enumerate() {
            for other in all.into_iter().take(place + 1) {
                assert_eq!(of(ruling).stricter(of(other)), of(ruling));
                assert_eq!(of(other).stricter(of(ruling)).ruling, ruling);
            }
        }
        assert_eq!(of(Ruling::Prompt).unattended().ruling, Ruling::Forbid);
        assert_eq!(of(Ruling::Leave).unattended(), of(Ruling::Leave));
    }
}
