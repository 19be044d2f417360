//! `comail completions`: the script that has a shell ask for what can be typed.

use std::ffi::OsString;
use std::path::{MAIN_SEPARATOR, Path};

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::completing::Shell;
use super::context::Context;
use super::exit::Exit;

/// Print the script by which a shell completes comail's command lines
///
/// Commands, flags and values are completed and, from the session that the line names, the keys
/// and numbers of quests, the fields of its kind, rules, workers and runs. The session is only
/// looked at: nothing is written, and what is not found in a moment is not offered.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  comail completions bash > ~/.local/share/bash-completion/completions/comail
  comail completions fish > ~/.config/fish/completions/comail.fish

Where it goes; a script fits the version that printed it, so the others ask for it anew:
  bash        the file above (with the package bash-completion), or in ~/.bashrc
                source <(comail completions bash)
  zsh         in ~/.zshrc, below compinit
                source <(comail completions zsh)
  fish        the file above
  PowerShell  in the file that $PROFILE names
                comail completions powershell | Out-String | Invoke-Expression
  Elvish      in ~/.config/elvish/rc.elv
                eval (comail completions elvish | slurp)";

/// The JSON form: `{"shell":"bash","script":"…"}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Script {
    shell: &'static str,
    script: String,
}

pub(super) fn run(context: &mut Context, args: &CompletionsArgs) -> Result<Exit> {
    let here = std::env::current_dir().ok();
    let completer = completer(std::env::args_os().next(), here.as_deref());
    let script = Script {
        shell: args.shell.name(),
        script: args.shell.script(&completer)?,
    };
    context.output.show(&script, |paper, script| {
        paper.line(script.script.trim_end());
    })?;
    Ok(Exit::Done)
}

/// How a script calls the program that was called as `called`: by its name where the search path
/// finds it, else by its whole path.
fn completer(called: Option<OsString>, here: Option<&Path>) -> String {
    let called = called.map(|called| called.to_string_lossy().into_owned());
    let called = called.filter(|called| !called.is_empty());
    let called = called.unwrap_or_else(|| "comail".to_owned());
    match here {
        Some(here) if called.contains(MAIN_SEPARATOR) => {
            here.join(&called).to_string_lossy().into_owned()
        }
        _ => called,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_calls_the_program_as_it_was_called() {
        let called = |called: &str| completer(Some(called.into()), Some(Path::new("/w")));
        assert_eq!(called("comail"), "comail");
        assert_eq!(called("/opt/my bin/comail"), "/opt/my bin/comail");
        assert_eq!(called("target/comail"), "/w/target/comail");
        assert_eq!(completer(None, None), "comail");
    }
}
