//! `comail help`: the commands' own help, and topics that no single command can tell.

mod checks;
mod index;
mod marks;
mod offers;
mod page;
mod part;
mod subject;
#[cfg(test)]
mod tests;
mod topic;

use anyhow::Result;
use clap::Args;
use clap::builder::StyledStr;
use schemars::JsonSchema;
use serde::Serialize;

use super::command;
use super::context::Context;
use super::exit::{Exit, UsageError};
use super::output::Paper;
use super::{rules, session_kind};
use crate::quest::email;
use index::{Index, Named};
pub(super) use offers::offers;
use subject::Subject;

/// Print the help of a command, or of a topic that concerns several
///
/// `comail help` alone lists all of both. Of a kind of check, such as `contains`, all its keys are
/// told, and of a rule, such as `freemail`, its meaning and what settles it.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct HelpArgs {
    /// A command such as `review accept`, a topic such as email-gate, a kind of check or a rule
    /// [default: the list of them]
    #[arg(value_name = "COMMAND OR TOPIC")]
    words: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  comail help
  comail help review accept
  comail help email-gate";

/// The JSON form of `help`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(super) enum Told {
    /// What there is help for.
    Index(Index),
    /// The help of a command.
    Command(CommandHelp),
    /// A topic.
    Topic(TopicText),
    /// A kind of check of quest files.
    Check(TopicText),
    /// A rule of the gate.
    Rule(TopicText),
}

/// The help of a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CommandHelp {
    #[serde(flatten)]
    named: Named,
    text: String,
    #[serde(skip)]
    styled: StyledStr,
}

/// A text in Markdown.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TopicText {
    #[serde(flatten)]
    named: Named,
    text: String,
}

pub(super) fn run(context: &mut Context, args: &HelpArgs) -> Result<Exit> {
    let kind = session_kind::kind_in(context.session_dir()).unwrap_or_else(email::kind);
    let mut parser = command::parser(&kind);
    parser.build();
    let rules = rules::known(context.session_dir());
    let told = match Subject::of(&args.words, &parser, &rules).map_err(UsageError)? {
        Subject::All => Told::Index(Index::of(&parser)),
        Subject::Command(found) => {
            let styled = flagged(&parser, &args.words).unwrap_or_default();
            Told::Command(CommandHelp {
                named: Named::of_command(found),
                text: styled.to_string(),
                styled,
            })
        }
        Subject::Topic(topic) => Told::Topic(TopicText {
            named: Named::new(topic.name, topic.about),
            text: topic.text(),
        }),
        Subject::Check(check) => Told::Check(TopicText {
            named: Named::new(check.name(), &check.about),
            text: check.page(),
        }),
        Subject::Rule(rule) => Told::Rule(TopicText {
            named: Named::new(rule.id.as_str(), &rule.meaning),
            text: rules::page(rule),
        }),
    };
    context.output.show(&told, text)?;
    Ok(Exit::Done)
}

/// What `--help` behind these words prints.
fn flagged(parser: &clap::Command, words: &[String]) -> Option<StyledStr> {
    let line = ["comail"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    let told = parser.clone().try_get_matches_from(line.chain(["--help"]));
    told.err().map(|error| error.render())
}

fn text(paper: &mut Paper, told: &Told) {
    match told {
        Told::Index(index) => index.write(paper),
        Told::Command(help) => paper.styled(&help.styled),
        Told::Topic(topic) | Told::Check(topic) | Told::Rule(topic) => {
            page::write(paper, &topic.text);
        }
    }
}
