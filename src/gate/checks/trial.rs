//! A command of tests, run again over changed code.

use super::command::CommandConfig;
use super::command_plan::tail;
use super::context::{Context, Run};
use crate::world::sandbox::{CommandResult, CommandSpec, Edit, End};
use crate::world::tree::TreePath;

/// The tests of one submission, to be run over changed code.
pub struct Trial<'a> {
    /// The check that runs them.
    pub name: &'a str,
    pub command: &'a CommandConfig,
    /// The exit codes that alone are red, where there are any.
    pub red_exit: &'a [i32],
    pub context: &'a Context<'a>,
    /// The run over the code as it is.
    pub run: &'a Run,
    pub file: &'a TreePath,
}

impl Trial<'_> {
    /// What comes of the tests when their file has this text, in a round of its own each time.
    pub fn run_over(&self, text: &str, round: u32) -> CommandResult {
        let order = &self.run.order;
        let mut edits = order.edits.clone();
        edits.push(Edit {
            path: self.file.to_string(),
            text: text.to_owned(),
        });
        let order = CommandSpec {
            name: self.name.to_owned(),
            edits,
            round,
            timeout_ms: order.timeout_ms.min(self.patience()),
            ..order.clone()
        };
        self.context.world.sandbox.run(&order)
    }

    pub fn at(&self, line: u32) -> String {
        format!("{}:{line}", self.file)
    }

    /// Code may loop for ever once it is changed, and should not take a minute each time.
    fn patience(&self) -> u64 {
        self.run.ran.millis.saturating_mul(10).saturating_add(5_000)
    }

    /// Whether a run took so much longer than the code as it is that the change made it hang.
    pub fn hangs(&self, ran: &CommandResult) -> bool {
        ran.end == End::TimedOut && self.run.order.timeout_ms >= self.patience()
    }

    /// Whether the tests failed; an error says why that is not clear.
    pub fn is_red(&self, ran: &CommandResult) -> Result<bool, String> {
        let unclear = |why: String| Err(format!("{why}: {}", tail(ran)));
        let code = match &ran.end {
            End::Exited(code) => *code,
            End::TimedOut => return unclear(String::from("they ran into their timeout")),
            End::Signalled(signal) => {
                return unclear(format!("they were killed by signal {signal}"));
            }
            End::TooMuchOutput => return unclear(String::from("they printed too much")),
            End::NotStarted(why) | End::Withheld(why) => return Err(why.clone()),
        };
        if self.command.exit.contains(&code) {
            return Ok(false);
        }
        let ended = format!("they exited with the code {code}");
        let other = !self.red_exit.is_empty() && !self.red_exit.contains(&code);
        if other || self.command.unconfirmed_exit.contains(&code) {
            return unclear(ended);
        }
        match self.command.test_report(ran) {
            None => Ok(true),
            Some(Ok(report)) if report.failed > 0 => Ok(true),
            Some(Ok(_)) => unclear(format!("{ended}, and none failed")),
            Some(Err(why)) => unclear(format!("{ended}, and reported no test ({why})")),
        }
    }
}
