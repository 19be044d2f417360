//! The instruction block for an agent: what it runs, what it answers, and the rules of the house.

use clap::Command;
use schemars::JsonSchema;
use serde::Serialize;

use super::agent_words::{self, IDEA, NOTHING_FOUND, RULES, STEPS, SUBMIT_YOURS, WHEN, WORKER};
use super::answer_lines::AnswerLines;
use super::context::Reaching;
use super::exit::Exit;
use super::exit_codes::{self, Meaning};
use crate::base::text::Escaped;
use crate::base::text::wrap;
use crate::quest::QuestKind;

/// The widest line, in characters; what is to be typed is never broken.
const WIDTH: usize = 80;

/// The exits of commands that are not an agent's.
const OTHERS: [Exit; 2] = [Exit::Finding, Exit::Interrupted];

/// All that an agent is told.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AgentBlock {
    idea: &'static str,
    commands: Vec<Told>,
    steps: [&'static str; 4],
    /// What is known of the session, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<OfSession>,
    exit_codes: Vec<Meaning>,
    rules: [&'static str; 8],
    worker: &'static str,
    /// All of it, as it is printed.
    text: String,
}

/// A command, and what it does.
#[derive(Debug, Serialize, JsonSchema)]
struct Told {
    command: String,
    about: String,
}

/// What a session asks for.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OfSession {
    kind: String,
    unit: String,
    max_tries: u32,
    fields: Vec<FieldTold>,
    submit: String,
    submit_none: String,
    example: String,
    #[serde(skip)]
    would_look_right: String,
}

/// A field, and what belongs in it.
#[derive(Debug, Serialize, JsonSchema)]
struct FieldTold {
    name: String,
    help: String,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
    #[serde(skip)]
    line: String,
}

impl OfSession {
    /// What a session of this kind asks for.
    pub(super) fn new(kind: &QuestKind, max_tries: u32, reaching: &Reaching) -> Self {
        let lines = AnswerLines::of_any(kind, reaching);
        let fields = kind.fields.iter().map(|field| FieldTold {
            name: field.name.to_string(),
            help: field.help.to_string(),
            required: field.required,
            example: field.has_example().then(|| field.example.to_string()),
            line: agent_words::field(field),
        });
        Self {
            kind: kind.name.to_string(),
            unit: kind.unit.to_string(),
            max_tries,
            fields: fields.collect(),
            submit: lines.submit(),
            submit_none: lines.none(),
            example: lines.example(),
            would_look_right: agent_words::would_look_right(kind),
        }
    }

    fn lines(&self) -> Vec<String> {
        let unit = Escaped(&self.unit);
        let tries = self.max_tries;
        let mut lines = wrap(
            &format!(
                "Each quest is one {unit}, and has {tries} tries. An answer has these fields:"
            ),
            WIDTH,
        );
        lines.push(String::new());
        for field in &self.fields {
            lines.push(format!("- {}", field.line));
        }
        let shown = [
            (SUBMIT_YOURS, &self.submit),
            (NOTHING_FOUND, &self.submit_none),
            (&self.would_look_right, &self.example),
        ];
        for (words, line) in shown {
            let line = format!("    {}", Escaped(line));
            lines.extend([String::new(), words.to_owned(), String::new(), line]);
        }
        lines
    }
}

impl AgentBlock {
    /// The block; `parser` says what the commands do.
    pub(super) fn new(parser: &Command, session: Option<OfSession>) -> Self {
        let commands = ["next", "submit", "status", "rules"].map(|name| {
            let about = parser.find_subcommand(name).and_then(Command::get_about);
            Told {
                command: format!("comail {name}"),
                about: about.map(ToString::to_string).unwrap_or_default(),
            }
        });
        let agents = |code: &Meaning| OTHERS.iter().all(|other| other.code() != code.code);
        let mut block = Self {
            idea: IDEA,
            commands: commands.into(),
            steps: STEPS,
            session,
            exit_codes: exit_codes::meanings().filter(agents).collect(),
            rules: RULES,
            worker: WORKER,
            text: String::new(),
        };
        block.text = block.lines().join("\n") + "\n";
        block
    }

    /// The same, with the head that a SKILL.md has.
    pub(super) fn into_skill(mut self) -> Self {
        let head = format!("---\nname: comail\ndescription: {WHEN}\n---\n\n");
        self.text.insert_str(0, &head);
        self
    }

    /// All of it, as it is printed.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec!["# Working at a comail session".to_owned(), String::new()];
        lines.extend(wrap(self.idea, WIDTH));
        let commands = self.commands.iter();
        let commands = commands.map(|it| format!("    {:13}  {}", it.command, it.about));
        lines.extend(part("Commands", commands));
        let steps = (1..).zip(self.steps);
        lines.extend(part(
            "The work",
            steps.flat_map(|(at, step)| item(&format!("{at}. "), step)),
        ));
        if let Some(session) = &self.session {
            lines.extend(part("The answer", session.lines()));
        }
        let codes = self.exit_codes.iter();
        let codes = codes.flat_map(|it| item(&format!("- {}: ", it.code), it.meaning));
        lines.extend(part("Exit codes", codes));
        let rules = self.rules.into_iter();
        lines.extend(part(
            "Rules of the house",
            rules.flat_map(|rule| item("- ", rule)),
        ));
        lines.push(String::new());
        lines.extend(wrap(self.worker, WIDTH));
        lines
    }
}

/// A heading with what stands below it.
fn part(heading: &str, lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let head = [String::new(), format!("## {heading}"), String::new()];
    head.into_iter().chain(lines).collect()
}

/// An item of a list, whose further lines stand below its first.
fn item(mark: &str, text: &str) -> Vec<String> {
    let indent = " ".repeat(mark.len());
    let lines = wrap(text, WIDTH - mark.len()).into_iter();
    let marks = std::iter::once(mark).chain(std::iter::repeat(indent.as_str()));
    marks
        .zip(lines)
        .map(|(mark, line)| format!("{mark}{line}"))
        .collect()
}
