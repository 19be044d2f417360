//! The command lines that answer a quest.

use super::context::Reaching;
use super::shell_line::ShellLine;
use crate::base::text::Escaped;
use crate::quest::{Quest, QuestKind};

/// The command lines that are offered for one quest, or for any.
pub(super) struct AnswerLines<'a> {
    kind: &'a QuestKind,
    named: ShellLine,
    blank: ShellLine,
}

impl<'a> AnswerLines<'a> {
    /// The lines for `quest`; `namesakes` quests have a key like its own.
    pub(super) fn of_quest(
        kind: &'a QuestKind,
        quest: &Quest,
        namesakes: usize,
        reaching: &Reaching,
    ) -> Self {
        let blank = blank(reaching);
        // A key that cannot be shown as it is would be another one when it is typed.
        let shown = Escaped(quest.key.as_str()).to_string();
        let named = if namesakes > 1 || shown != quest.key.as_str() {
            blank.clone().flag("id", &quest.id.to_string())
        } else {
            blank.clone().flag(&kind.unit, quest.key.as_str())
        };
        Self { kind, named, blank }
    }

    /// The lines for a quest that is not known yet.
    pub(super) fn of_any(kind: &'a QuestKind, reaching: &Reaching) -> Self {
        let blank = blank(reaching);
        Self {
            kind,
            named: blank.clone().flag("id", "N"),
            blank,
        }
    }

    /// The line with the required fields left to be filled in.
    pub(super) fn submit(&self) -> String {
        let fields = self.kind.fields.iter();
        let line = fields.fold(self.named.clone(), |line, field| {
            if field.required {
                line.blank(field.name.as_str())
            } else {
                line
            }
        });
        line.into_text()
    }

    /// The fields that may be added, as flags with what belongs in them.
    pub(super) fn optional(&self) -> Vec<String> {
        let fields = self.kind.fields.iter().filter(|field| !field.required);
        let flags = fields.map(|field| {
            let flag = format!("--{} {}", field.name, field.shape.placeholder());
            match &*field.help {
                "" => flag,
                help => format!("{flag}  {help}"),
            }
        });
        flags.collect()
    }

    /// The line that says that nothing was found.
    pub(super) fn none(&self) -> String {
        let line = self.named.clone().flag("none", "what you tried");
        line.into_text()
    }

    /// A line that would look right, for another quest.
    pub(super) fn example(&self) -> String {
        let start = self.blank.clone();
        let start = start.flag(&self.kind.unit, &self.kind.example_key);
        let fields = self.kind.fields.iter();
        let fields = fields.filter(|field| field.required || field.has_example());
        let line = fields.fold(start, |line, field| {
            line.flag(field.name.as_str(), &field.example)
        });
        line.into_text()
    }
}

fn blank(reaching: &Reaching) -> ShellLine {
    let blank = ShellLine::comail("submit", reaching.session.as_deref());
    match &reaching.worker {
        Some(worker) => blank.flag("worker", worker.as_str()),
        None => blank,
    }
}
