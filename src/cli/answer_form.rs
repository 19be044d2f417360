//! How an answer is given: the flags of `submit` that the fields of a quest kind make, and the
//! command lines and JSON objects that prompts and help show.

use std::fmt::Write as _;

use clap::{Arg, ArgMatches};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::context::Reaching;
use super::shell_line::{ShellLine, words};
use crate::base::text::Escaped;
use crate::quest::{Field, Fields, Quest, QuestKind};

pub(super) const QUEST: &str = "Which quest";
pub(super) const ANSWER: &str = "The answer";

/// The flag of the unit, by the name that the parser knows it by: no field can have it.
pub(super) const UNIT: &str = "unit:";

pub(super) const SUBMIT_YOURS: &str = "Submit yours:";
pub(super) const NOTHING_FOUND: &str = "If you found nothing (uses a try):";

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AnswerForm {
    /// An answer that would look right, to no quest of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) example: Option<String>,
    submit: String,
    /// The optional fields, as flags with their help.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    optional: Vec<String>,
    submit_none: String,
    #[serde(skip)]
    unit: String,
}

impl AnswerForm {
    /// The lines for a quest, which shares its key with `namesakes` others; without a quest, the
    /// lines for any.
    pub(super) fn new(
        kind: &QuestKind,
        quest: Option<(&Quest, usize)>,
        reaching: &Reaching,
    ) -> Self {
        let (program, session) = (reaching.program.as_deref(), reaching.session.as_deref());
        let line = ShellLine::of(program, "submit", session);
        let line = match &reaching.worker {
            Some(worker) => line.flag("worker", worker.as_str()),
            None => line,
        };
        let line = match &reaching.worktree {
            Some(dir) => line.flag("worktree", &dir.display().to_string()),
            None => line,
        };
        let named = match quest {
            None => line.clone().flag("id", "N"),
            // A key with escaped characters would name another quest when it is typed.
            Some((quest, namesakes))
                if namesakes > 1
                    || Escaped(quest.key.as_str()).to_string() != quest.key.as_str() =>
            {
                line.clone().flag("id", &quest.id.to_string())
            }
            Some((quest, _)) => line.clone().flag(&kind.unit, quest.key.as_str()),
        };
        let (mut example, mut submit) = (line.flag(&kind.unit, &kind.example_key), named.clone());
        let mut optional = Vec::new();
        for field in &kind.fields {
            let name = field.name.as_str();
            if field.required || field.has_example() {
                example = example.flag(name, &field.example);
            }
            if field.required {
                submit = submit.blank(name);
            } else {
                let flag = format!("--{name} {}  {}", field.shape.placeholder(), field.help);
                optional.push(flag.trim_end().to_owned());
            }
        }
        Self {
            example: Some(example.into_text()),
            submit: submit.into_text(),
            optional,
            submit_none: named.flag("none", "what you tried").into_text(),
            unit: kind.unit.to_string(),
        }
    }

    pub(super) fn parts(&self) -> Vec<(String, Vec<&str>)> {
        let unit = Escaped(&self.unit);
        let look_right = format!("A plausible answer, for another {unit}:");
        let optional = self.optional.iter().map(String::as_str);
        let mut parts: Vec<(String, Vec<&str>)> = vec![
            (look_right, self.example.as_deref().into_iter().collect()),
            (SUBMIT_YOURS.to_owned(), vec![&self.submit]),
            ("Optional fields:".to_owned(), optional.collect()),
            (NOTHING_FOUND.to_owned(), vec![&self.submit_none]),
        ];
        parts.retain(|(_, lines)| !lines.is_empty());
        parts
    }
}

pub(super) fn json_form(kind: &QuestKind, text: fn(&Field) -> String) -> String {
    let required = kind.fields.iter().filter(|field| field.required);
    let members = required.map(|field| (field.name.to_string(), Value::String(text(field))));
    Value::Object(members.collect()).to_string()
}

pub(super) fn field_line(field: &Field) -> String {
    let name = Escaped(field.name.as_str());
    let optional = if field.required { "" } else { " (optional)" };
    format!("{name}: {}{optional}", Escaped(&field.help))
}

pub(super) fn with_fields(command: clap::Command, kind: &QuestKind) -> clap::Command {
    let unit = Arg::new(UNIT)
        .long(kind.unit.to_string())
        .value_name("KEY")
        .help(format!("The {} by its name in the list", kind.unit))
        .help_heading(QUEST)
        .display_order(0)
        .allow_hyphen_values(true);
    let fields = kind.fields.iter().map(|field| {
        Arg::new(field_id(field.name.as_str()))
            .long(field.name.to_string())
            .value_name(field.shape.placeholder().into_owned())
            .help(field_help(field))
            .help_heading(ANSWER)
            .display_order(1)
            .allow_hyphen_values(true)
            .conflicts_with_all(["none", "input"])
    });
    let mut usage = format!("comail submit --{} KEY", kind.unit);
    for field in kind.fields.iter().filter(|field| field.required) {
        let _ = write!(usage, " --{} {}", field.name, field.shape.placeholder());
    }
    command
        .arg(unit)
        .args(fields)
        // No flag is required by itself: --in and --none replace the fields.
        .override_usage(usage + " [OPTIONS]")
        .after_long_help(examples(kind))
}

/// The name that the parser knows a field's flag by: a flag of its own may have the field's name.
fn field_id(field: &str) -> String {
    format!("field:{field}")
}

fn field_help(field: &Field) -> String {
    let help = match &*field.help {
        "" => &format!("The {}", field.name),
        help => help,
    };
    let optional = if field.required { "" } else { " (optional)" };
    let example = if field.has_example() {
        format!(", such as {}", field.example)
    } else {
        String::new()
    };
    format!("{help}{optional}{example}")
}

fn examples(kind: &QuestKind) -> String {
    let mut line = "  comail submit --id 17".to_owned();
    let mut object = Map::new();
    for field in kind.fields.iter().filter(|field| field.required) {
        let value = field.shape.placeholder().into_owned();
        let quoted = words(std::slice::from_ref(&value));
        let _ = write!(line, " \\\n    --{}={quoted}", field.name);
        object.insert(field.name.to_string(), Value::String(value));
    }
    let object = format!("{:#}", Value::Object(object)).replace('\n', "\n  ");
    let unit = &kind.unit;
    format!(
        "Examples:\n{line}\n  comail submit --{unit} KEY --in answer.json\n  comail submit --{unit} KEY \
         \\\n    --none \"looked for it everywhere, and it is not there\"\n\nWhere answer.json holds:\n  \
         {object}"
    )
}

pub(super) fn unit_flag(matches: Option<&ArgMatches>) -> Option<String> {
    flag(matches, UNIT)
}

pub(super) fn field_flags(kind: &QuestKind, matches: Option<&ArgMatches>) -> Fields {
    let names = kind.fields.iter().map(|field| field.name.clone());
    names
        .filter_map(|name| Some((name.clone(), flag(matches, &field_id(name.as_str()))?)))
        .collect()
}

fn flag(matches: Option<&ArgMatches>, id: &str) -> Option<String> {
    // If the flags were made for another session, the parser does not know this one.
    matches?.try_get_one::<String>(id).ok().flatten().cloned()
}
