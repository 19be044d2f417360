//! The next steps for a person once no quest is TODO.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::output::TextOutput;
use super::shell_line::ShellLine;
use crate::judge::Branch;
use crate::judge::quest_file::Definition;
use crate::session::{NotProven, Session, Tally, Totals};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Closing {
    total: u32,
    tally: Tally,
    not_proven: NotProven,
    /// What a person can do next.
    steps: Vec<Step>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Step {
    purpose: &'static str,
    command: String,
}

/// Where the results of a session are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Results {
    /// `export` writes them to a copy of the list.
    List,
    /// The same, and the accepted files are on this branch.
    Branch(String),
    /// The work of `until` is in the tree, and there is no list.
    Tree,
}

impl Results {
    pub(super) fn of(session: &Session) -> Self {
        match Definition::command_of(session.manifest()) {
            Some(_) => Self::Tree,
            None => match Branch::of(session) {
                Ok(Some(branch)) => Self::Branch(branch.name),
                Ok(None) | Err(_) => Self::List,
            },
        }
    }

    /// How to get the accepted files; none if there are none.
    pub(super) fn take_files(&self, totals: &Totals, session: Option<&Path>) -> Vec<Step> {
        if totals.accepted.is_none() {
            return Vec::new();
        }
        let apply = Step {
            purpose: "write the accepted files to the tree",
            command: ShellLine::comail("tree apply", session).into_text(),
        };
        let other = match self {
            Self::Branch(name) => Step {
                purpose: "or merge the branch with a commit for each accepted answer",
                command: format!("git merge {name}"),
            },
            Self::List | Self::Tree => Step {
                purpose: "or write them as a patch",
                command: ShellLine::comail("tree patch FILE", session).into_text(),
            },
        };
        vec![apply, other]
    }
}

impl Closing {
    /// None while quests are TODO.
    pub(super) fn of(totals: &Totals, results: &Results, session: Option<&Path>) -> Option<Self> {
        (totals.tally.todo == 0).then(|| Self::new(totals, results, session))
    }

    /// `session` is the value of `--session`, which is repeated in the commands.
    pub(super) fn new(totals: &Totals, results: &Results, session: Option<&Path>) -> Self {
        let not_proven = totals.not_proven();
        let steps = [
            (not_proven.open > 0, "settle the open REVIEWs", "review"),
            (
                not_proven.done > 0,
                "see why answers failed",
                "list --state done",
            ),
            (*results != Results::Tree, "write the results", "export"),
            (true, "check that nothing is missing", "report"),
        ];
        let steps = steps.into_iter().filter(|(applies, ..)| *applies);
        let steps = steps.map(|(_, purpose, command)| Step {
            purpose,
            command: ShellLine::comail(command, session).into_text(),
        });
        let mut steps: Vec<Step> = steps.collect();
        let last = steps.len() - 1;
        steps.splice(last..last, results.take_files(totals, session));
        Self {
            total: totals.tally.total(),
            tally: totals.tally,
            not_proven,
            steps,
        }
    }

    pub(super) fn write(&self, out: &mut TextOutput) {
        let left = self.not_proven;
        let left = (left != NotProven::default()).then(|| left.to_string());
        let values = minijinja::context! { closing => self, left };
        out.template(include_str!("text/closing.txt"), values);
    }

    pub(super) fn hints(&self) -> Vec<String> {
        self.steps.iter().map(Step::hint).collect()
    }
}

impl Step {
    pub(super) fn hint(&self) -> String {
        let Self { purpose, command } = self;
        format!("{purpose}: `{command}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_fully_proven_session_is_called_complete() {
        let closing = |tally| {
            let totals = Totals {
                tally,
                ..Totals::default()
            };
            let closing = Closing::of(&totals, &Results::List, Some(Path::new("two")))?;
            let mut out = TextOutput::plain();
            closing.write(&mut out);
            Some(out.into_text())
        };
        let tally = Tally {
            pass: 3,
            ..Tally::default()
        };
        let complete = "complete: all 3 quests are settled\n  \
             write the results: `comail export --session two`\n  \
             check that nothing is missing: `comail report --session two`\n";
        assert_eq!(closing(tally).as_deref(), Some(complete));
        let settled = closing(Tally { done: 1, ..tally }).unwrap();
        let told = "settled: all 4 quests are settled, but not all are proven: \
             1 DONE\n  see why answers failed: ";
        assert!(settled.starts_with(told), "{settled}");
        assert_eq!(closing(Tally { todo: 1, ..tally }), None);
        let hints = |results: Results| Closing::new(&Totals::default(), &results, None).hints();
        let exports = |results: Results| hints(results).iter().any(|hint| hint.contains("export"));
        assert!(exports(Results::List) && !exports(Results::Tree));
    }
}
