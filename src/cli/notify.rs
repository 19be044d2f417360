//! `comail notify`, and the command of the user that `run` tells what happened.
//!
//! Only the user's own configuration file names the command, never a project, where agents can
//! write. `submit` sends nothing: agents run it, with an environment of their own.

use std::io::{self, Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use schemars::JsonSchema;
use serde::Serialize;

use super::config;
use super::context::Context;
use super::exit::{Exit, UsageError};
use crate::base::text::{Escaped, escape_json};
use crate::quest::{Key, QuestId};
use crate::session::{Reason, RunId};

/// Test the command that gets the events of runs
///
/// `[notify]` of your configuration file names it. It gets one event as JSON on standard input when a
/// run ends, when the session pauses during a run, and when a REVIEW opens during a run. Only `run`
/// starts it: agents run `submit`, with an environment of their own. A command that fails, or takes
/// longer than 10 seconds, does not affect the run.
#[derive(Debug, Args)]
pub struct NotifyArgs {
    /// Send a test event
    #[arg(long, required = true)]
    test: bool,

    /// The command that gets each event as JSON on standard input
    #[arg(long, value_name = "WORDS", num_args = 1.., allow_hyphen_values = true)]
    command: Vec<String>,
}

/// What the command reads.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Notification<'a> {
    /// The session directory.
    session: String,
    #[serde(flatten)]
    happened: &'a Happened,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Happened {
    RunEnded {
        run: RunId,
        reason: Reason,
        /// Whether the report says COMPLETE.
        complete: bool,
    },
    SessionPaused {
        run: RunId,
    },
    ReviewOpened {
        quest: QuestId,
        key: Key,
    },
    Test,
}

/// How long the command may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);

const POLL: Duration = Duration::from_millis(10);

pub(super) fn run(context: &mut Context, args: &NotifyArgs) -> Result<Exit> {
    if args.command.is_empty() {
        let error = UsageError("no command is set".to_owned());
        let hint = "set `command` in [notify] of your configuration file; `comail config` prints \
                    its path";
        return Err(error.hint(hint).into());
    }
    let session = full(&context.dir);
    let test = Notification {
        session,
        happened: &Happened::Test,
    };
    call(&args.command, &test.text()?, Instant::now() + TIME_LIMIT)?;
    context.output.show(&test, |out, _| {
        out.line(format!(
            "sent a test event to {}",
            Escaped(&args.command.join(" "))
        ));
    })?;
    Ok(Exit::Done)
}

impl Notification<'_> {
    fn text(&self) -> Result<String, serde_json::Error> {
        Ok(escape_json(&serde_json::to_string(self)?) + "\n")
    }
}

/// Sends events to the command of the user, one after the other, without delaying the caller.
pub(super) struct Notifier {
    session: String,
    thread: Option<(Sender<String>, JoinHandle<Option<Problem>>)>,
    deadline: Deadline,
}

/// When the command must have ended, once the run has.
type Deadline = Arc<Mutex<Option<Instant>>>;

impl Notifier {
    /// Reads the user's file now: what it says later, while agents work, does not count.
    pub(super) fn of_user(session: &Path) -> Result<Self> {
        Ok(Self::new(session, config::notify_command()?))
    }

    fn new(session: &Path, words: Vec<String>) -> Self {
        let deadline = Deadline::default();
        let thread = if words.is_empty() {
            None
        } else {
            let (sender, events) = mpsc::channel();
            let deadline = Arc::clone(&deadline);
            let thread = thread::spawn(move || send_all(&words, &events, &deadline));
            Some((sender, thread))
        };
        Self {
            session: full(session),
            thread,
            deadline,
        }
    }

    pub(super) fn send(&self, happened: &Happened) {
        let session = self.session.clone();
        let notification = Notification { session, happened };
        if let (Some((sender, _)), Ok(text)) = (&self.thread, notification.text()) {
            // A thread that has given up takes nothing.
            let _ = sender.send(text);
        }
    }

    /// Waits until all events are sent, within the time limit, and returns the first problem.
    pub(super) fn end(self) -> Option<String> {
        let (sender, thread) = self.thread?;
        *locked(&self.deadline) = Some(Instant::now() + TIME_LIMIT);
        drop(sender);
        let problem = thread.join().ok()??;
        Some(problem.to_string())
    }
}

fn locked(deadline: &Deadline) -> MutexGuard<'_, Option<Instant>> {
    deadline.lock().unwrap_or_else(PoisonError::into_inner)
}

fn full(session: &Path) -> String {
    let full = std::path::absolute(session);
    let full = full.unwrap_or_else(|_| session.to_owned());
    full.display().to_string()
}

fn send_all(words: &[String], events: &Receiver<String>, deadline: &Deadline) -> Option<Problem> {
    let mut first = None;
    for event in events {
        let limit = Instant::now() + TIME_LIMIT;
        let limit = locked(deadline).map_or(limit, |end| end.min(limit));
        if let Err(problem) = call(words, &event, limit) {
            // Every other event would have to wait as long.
            let gives_up = matches!(problem, Problem::TimedOut);
            first.get_or_insert(problem);
            if gives_up {
                break;
            }
        }
    }
    first
}

/// Why the command did not take an event.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("cannot start the notify command {program}: {why}")]
    NotStarted { program: String, why: io::Error },
    #[error("the notify command failed: {0}")]
    Failed(ExitStatus),
    #[error("the notify command took longer than {} seconds and was killed", TIME_LIMIT.as_secs())]
    TimedOut,
}

fn call(words: &[String], event: &str, limit: Instant) -> Result<(), Problem> {
    let not_started = |why| {
        let program = words.first().cloned().unwrap_or_default();
        Problem::NotStarted { program, why }
    };
    let mut child = start(words, event).map_err(not_started)?;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(Problem::Failed(status)),
            Ok(None) if Instant::now() < limit => thread::sleep(POLL),
            Ok(None) | Err(_) => {
                let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
                let _ = child.wait();
                return Err(Problem::TimedOut);
            }
        }
    }
}

fn start(words: &[String], event: &str) -> io::Result<Child> {
    let Some((program, args)) = words.split_first() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // A pipe would hold up the writer where the command does not read.
    let mut stdin = tempfile::tempfile()?;
    stdin.write_all(event.as_bytes())?;
    stdin.rewind()?;
    Command::new(program)
        .args(args)
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C is for the run, which still has to tell that it ended.
        .process_group(0)
        .spawn()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::process::ProcessStat;

    fn shell(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    fn soon(words: &[String]) -> Result<(), Problem> {
        call(words, "{}\n", Instant::now() + TIME_LIMIT)
    }

    #[test]
    fn each_event_is_json_on_standard_input() {
        let dir = tempfile::tempdir().unwrap();
        let seen = dir.path().join("seen");
        let script = format!("cat >> '{}'", seen.display());
        let notifier = Notifier::new(Path::new("/srv/list/.comail"), shell(&script));
        let key = Key::new("kim-17").unwrap();
        let quest = QuestId::FIRST;
        notifier.send(&Happened::ReviewOpened { quest, key });
        let run = RunId::new(7);
        notifier.send(&Happened::SessionPaused { run });
        assert_eq!(notifier.end(), None);
        let seen = std::fs::read_to_string(seen).unwrap();
        let expected = r#"{"session":"/srv/list/.comail","event":"review-opened","quest":1,"key":"kim-17"}
{"session":"/srv/list/.comail","event":"session-paused","run":"00000007"}
"#;
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_command_that_fails_is_a_problem_and_nothing_else() {
        assert!(soon(&shell("true")).is_ok());
        let failed = soon(&shell("exit 3")).unwrap_err().to_string();
        assert!(failed.contains("exit status: 3"), "{failed}");
        let missing = soon(&["/no/such".to_owned()]).unwrap_err().to_string();
        assert!(missing.contains("/no/such"), "{missing}");
        let notifier = Notifier::new(Path::new("x"), shell("exit 3"));
        notifier.send(&Happened::Test);
        notifier.send(&Happened::Test);
        assert!(notifier.end().unwrap().contains("exit status: 3"));
        let silent = Notifier::new(Path::new("x"), Vec::new());
        silent.send(&Happened::Test);
        assert_eq!(silent.end(), None);
    }

    #[test]
    fn a_command_that_hangs_is_killed_with_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let script = format!("sleep 1000 & echo $! > '{}'; wait", pid.display());
        let words = shell(&script);
        let hangs = thread::spawn(move || call(&words, "{}", Instant::now() + POLL * 30));
        assert!(matches!(hangs.join().unwrap(), Err(Problem::TimedOut)));
        // Before its child was started, there is nothing that could be left.
        let child = std::fs::read_to_string(pid).unwrap_or_default();
        if let Ok(child) = child.trim().parse() {
            let state = || ProcessStat::of(child).map(|stat| stat.state);
            let is_gone = || matches!(state(), None | Some('Z' | 'X'));
            // The kernel ends a killed process in its own time.
            let ends = (0..1_000).any(|_| {
                thread::sleep(POLL);
                is_gone()
            });
            assert!(ends, "{:?}", state());
        }
    }
}
