//! The topics of `comail help`: texts that stand beside this file, filled in by the code.

use super::marks::filled;

/// A topic.
#[derive(Debug)]
pub(super) struct Topic {
    /// Its name, in kebab-case; no command is called so.
    pub(super) name: &'static str,
    /// What it is about, in one line.
    pub(super) about: &'static str,
    /// The text as it stands in its file.
    source: &'static str,
}

/// All of them.
pub(super) const TOPICS: &[Topic] = &[
    Topic {
        name: "agents",
        about: "How an agent works at a session, and how one is driven or held to it",
        source: include_str!("agents.md"),
    },
    Topic {
        name: "email-gate",
        about: "What the e-mail gate looks at, and every rule that it can fire",
        source: include_str!("email-gate.md"),
    },
    Topic {
        name: "exit-codes",
        about: "What each exit code means, and how a script goes by it",
        source: include_str!("exit-codes.md"),
    },
    Topic {
        name: "json",
        about: "What --json prints, and what of it stays as it is",
        source: include_str!("json.md"),
    },
    Topic {
        name: "quest-files",
        about: "How a quest file is written, and every kind of check that it can name",
        source: include_str!("quest-files.md"),
    },
    Topic {
        name: "reviews",
        about: "What REVIEW is, who settles it and how",
        source: include_str!("reviews.md"),
    },
    Topic {
        name: "sessions",
        about: "What a session keeps, and what to do when it is damaged, paused or lost",
        source: include_str!("sessions.md"),
    },
    Topic {
        name: "threat-model",
        about: "Whom comail does not trust, what it holds against them, and what it cannot",
        source: include_str!("threat-model.md"),
    },
    Topic {
        name: "workers",
        about: "How several agents share a session: claims, leases, and who is too late",
        source: include_str!("workers.md"),
    },
];

impl Topic {
    /// The text, with what the code knows in its places.
    pub(super) fn text(&self) -> String {
        filled(self.source)
    }

    /// The text as it stands in its file.
    #[cfg(test)]
    pub(super) fn source(&self) -> &'static str {
        self.source
    }
}
