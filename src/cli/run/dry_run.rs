//! `comail run --dry-run`: what would be started.

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::text::Escaped;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::shell_line::words;
use crate::run::{Answers, Plan, PlannedAgent};

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct DryRun {
    argv: Vec<String>,
    prompt: PromptWay,
    /// The flags that allow the agent to call comail, if it needs some that are not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_flags: Option<&'static str>,
}

/// How the agent gets its prompt.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum PromptWay {
    Stdin,
    Argument,
    File,
}

/// Prints the command line of each agent.
pub(super) fn dry_run(context: &mut Context, plan: &Plan) -> Result<Exit> {
    for agent in plan.agents.all() {
        show_dry_run(&mut context.output, agent)?;
    }
    Ok(Exit::Done)
}

fn show_dry_run(output: &mut Output, agent: &PlannedAgent) -> Result<()> {
    let line = agent.example_line()?;
    let argv = line.argv.iter().map(|word| word.to_string_lossy());
    let dry = DryRun {
        argv: argv.map(std::borrow::Cow::into_owned).collect(),
        prompt: match (line.stdin.is_some(), agent.command.needs_file()) {
            (true, _) => PromptWay::Stdin,
            (false, true) => PromptWay::File,
            (false, false) => PromptWay::Argument,
        },
        missing_flags: agent
            .command
            .missing_flags()
            .filter(|_| agent.answers == Answers::Submit),
    };
    let name = agent.command.name();
    Ok(output.show(&dry, |out, dry| {
        out.line(Escaped(&words(&dry.argv)).to_string());
        out.line(match dry.prompt {
            PromptWay::Stdin => "the prompt is passed on standard input; nothing was started",
            PromptWay::File => {
                "PROMPT_FILE stands for the file with the prompt; nothing was started"
            }
            PromptWay::Argument => "PROMPT stands for the prompt; nothing was started",
        });
        if let Some(flags) = dry.missing_flags {
            out.line(format!(
                "{name} may not run comail by itself; allow it with: -- {flags}"
            ));
        }
    })?)
}
