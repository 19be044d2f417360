//! `comail prompt`: instructions for an agent.

use anyhow::Result;
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use super::answer_form::{AnswerForm, field_line};
use super::context::Context;
use super::exit::Exit;
use crate::base::text::{Escaped, EscapedLines};
use crate::base::wrap::wrap;
use crate::judge;
use crate::session::{SessionError, read_manifest};

/// Print instructions for an agent: commands, exit codes and rules
///
/// For a session, the instructions also list its fields and the command line that submits an answer.
/// `comail run` instructs its agents by itself.
#[derive(Debug, Args)]
pub struct PromptArgs {
    /// The form of the instructions
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Plain text, for a file such as AGENTS.md
    Text,
    /// A SKILL.md with front matter
    Skill,
}

pub(super) const INSTRUCTIONS: &str = include_str!("help/prompt.md");

/// The front matter of a SKILL.md; an agent decides by it when to use the skill.
pub(super) const FRONT_MATTER: &str = "---\nname: comail\ndescription: Works through the quests of \
     a comail session. Gets one quest at a time from `comail next` and answers it with `comail \
     submit` until the work is complete. Use it in a directory with a .comail session, or when \
     asked to work with comail.\n---\n\n";

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Instructions {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionFields>,
    /// The complete text, as printed.
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SessionFields {
    kind: String,
    unit: String,
    max_tries: u32,
    #[serde(flatten)]
    form: AnswerForm,
}

pub(super) fn run(context: &mut Context, args: &PromptArgs) -> Result<Exit> {
    let (session, answer) = match read_manifest(&context.dir) {
        Ok((manifest, _)) => {
            let kind = judge::kind_of(&manifest)?;
            let max_tries = manifest.frozen.max_tries.get();
            let form = AnswerForm::new(&kind, None, &context.reaching(None));
            let unit = Escaped(&kind.unit);
            let intro = format!(
                "Each quest is one {unit} and has {max_tries} tries. An answer has these fields:"
            );
            let mut text = format!("## Answer\n\n{}\n\n", wrap(&intro, 80).join("\n"));
            for field in &kind.fields {
                text.extend(["- ", &field_line(field), "\n"]);
            }
            for (heading, lines) in form.parts() {
                text.extend(["\n", &heading, "\n\n"]);
                for line in lines {
                    text.extend(["    ", &Escaped(line).to_string(), "\n"]);
                }
            }
            text.push('\n');
            let session = SessionFields {
                kind: kind.name.to_string(),
                unit: kind.unit.to_string(),
                max_tries,
                form,
            };
            (Some(session), text)
        }
        Err(SessionError::Missing(_)) if context.named_session.is_none() => (None, String::new()),
        Err(error) => return Err(error.into()),
    };
    let front = match args.format {
        Format::Text => "",
        Format::Skill => FRONT_MATTER,
    };
    let instructions = Instructions {
        session,
        text: front.to_owned() + &INSTRUCTIONS.replace("{answer}", &answer),
    };
    context.output.show(&instructions, |out, instructions| {
        out.line(EscapedLines(instructions.text.trim_end()).to_string());
    })?;
    Ok(Exit::Done)
}
