//! `comail notify`, and the user's command that gets the events of `run`.
//!
//! Only the user's configuration file names the command, not a project, because agents can write
//! there. `submit` sends nothing, because agents run it in their own environment.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::config;
use super::context::Context;
use super::exit::{Exit, UsageError};
use crate::base::process::{start_with_input, wait_within};
use crate::base::text::{Escaped, escape_json, plural};
use crate::quest::{Key, QuestId};
use crate::report::run::Report;
use crate::session::{Reason, RunId};

/// Test the command that gets the events of runs
///
/// `[notify]` of your configuration file sets it. It gets one event as JSON on standard input when a
/// run ends, when the session pauses during a run, and when a REVIEW opens during a run. Only `run`
/// starts it: agents run `submit`, with an environment of their own. A command that fails, or takes
/// longer than 10 seconds and is killed, does not affect the run. If the command is too slow, comail
/// skips events and sends the newest one; the end of the run is never skipped.
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
        report: ReportStatus,
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

/// What the report says at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ReportStatus {
    Complete,
    /// No quest is TODO, but results are missing a PASS or a decision.
    Settled,
    NotComplete,
}

impl ReportStatus {
    pub(super) fn of(report: &Report) -> Self {
        if report.complete {
            Self::Complete
        } else if report.settled().is_some() {
            Self::Settled
        } else {
            Self::NotComplete
        }
    }
}

/// How long the command may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);

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
    call(&args.command, &test.text()?, TIME_LIMIT)?;
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

/// Sends events to the user's command, one after the other, without delaying the caller.
pub(super) struct Notifier {
    session: String,
    thread: Option<(Sender<String>, JoinHandle<Vec<Problem>>)>,
    ended: Arc<OnceLock<Instant>>,
}

impl Notifier {
    /// Reads the user's file now, so that changes while agents work do not count.
    pub(super) fn of_user(session: &Path) -> Result<Self> {
        Ok(Self::new(session, config::notify_command()?, TIME_LIMIT))
    }

    fn new(session: &Path, words: Vec<String>, limit: Duration) -> Self {
        let ended = Arc::default();
        let thread = if words.is_empty() {
            None
        } else {
            let (sender, events) = mpsc::channel();
            let ended = Arc::clone(&ended);
            let thread = thread::spawn(move || send_all(&words, &events, limit, &ended));
            Some((sender, thread))
        };
        Self {
            session: full(session),
            thread,
            ended,
        }
    }

    pub(super) fn send(&self, happened: &Happened) {
        let session = self.session.clone();
        let notification = Notification { session, happened };
        if let (Some((sender, _)), Ok(text)) = (&self.thread, notification.text()) {
            // The thread receives until the sender is dropped.
            let _ = sender.send(text);
        }
    }

    /// Waits until the last event is sent, and returns what went wrong.
    pub(super) fn end(self) -> Vec<String> {
        let Some((sender, thread)) = self.thread else {
            return Vec::new();
        };
        let _ = self.ended.set(Instant::now());
        drop(sender);
        let problems = thread.join().unwrap_or_default();
        problems.iter().map(Problem::to_string).collect()
    }
}

fn full(session: &Path) -> String {
    let full = std::path::absolute(session);
    let full = full.unwrap_or_else(|_| session.to_owned());
    full.display().to_string()
}

/// Sends each event. Returns the first problem, and how many events were skipped.
///
/// Once a call has timed out, or the limit has passed since the run `ended`, all waiting events but
/// the newest are skipped.
fn send_all(
    words: &[String],
    events: &Receiver<String>,
    limit: Duration,
    ended: &OnceLock<Instant>,
) -> Vec<Problem> {
    let (mut first, mut skipped, mut timed_out) = (None, 0, false);
    while let Ok(mut event) = events.recv() {
        if timed_out || ended.get().is_some_and(|at| at.elapsed() >= limit) {
            for newer in events.try_iter() {
                event = newer;
                skipped += 1;
            }
        }
        let problem = call(words, &event, limit).err();
        timed_out = matches!(problem, Some(Problem::TimedOut));
        first = first.or(problem);
    }
    let skipped = (skipped > 0).then_some(Problem::Skipped(skipped));
    first.into_iter().chain(skipped).collect()
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
    #[error("{} not sent, because the notify command is too slow", were(*.0))]
    Skipped(u64),
}

fn were(events: u64) -> String {
    let verb = if events == 1 { "was" } else { "were" };
    format!("{} {verb}", plural(events, "event"))
}

fn call(words: &[String], event: &str, limit: Duration) -> Result<(), Problem> {
    let not_started = |why| {
        let program = words.first().cloned().unwrap_or_default();
        Problem::NotStarted { program, why }
    };
    let mut child = start(words, event).map_err(not_started)?;
    match wait_within(&mut child, limit) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Problem::Failed(status)),
        Err(_) => Err(Problem::TimedOut),
    }
}

fn start(words: &[String], event: &str) -> io::Result<Child> {
    let Some((program, args)) = words.split_first() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut command = Command::new(program);
    command
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    start_with_input(&mut command, event.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::process::ProcessStat;

    const POLL: Duration = Duration::from_millis(10);

    fn shell(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    fn soon(words: &[String]) -> Result<(), Problem> {
        call(words, "{}\n", TIME_LIMIT)
    }

    #[test]
    fn each_event_is_json_on_standard_input() {
        let dir = tempfile::tempdir().unwrap();
        let seen = dir.path().join("seen");
        let script = format!("cat >> '{}'", seen.display());
        let notifier = Notifier::new(Path::new("/srv/list/.comail"), shell(&script), TIME_LIMIT);
        let key = Key::new("kim-17").unwrap();
        let quest = QuestId::FIRST;
        notifier.send(&Happened::ReviewOpened { quest, key });
        let run = RunId::new(7);
        notifier.send(&Happened::SessionPaused { run });
        assert_eq!(notifier.end(), Vec::<String>::new());
        let seen = std::fs::read_to_string(seen).unwrap();
        let expected = r#"{"session":"/srv/list/.comail","event":"review-opened","quest":1,"key":"kim-17"}
{"session":"/srv/list/.comail","event":"session-paused","run":"00000007"}
"#;
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_failing_command_is_only_a_problem() {
        assert!(soon(&shell("true")).is_ok());
        let failed = soon(&shell("exit 3")).unwrap_err().to_string();
        assert!(failed.contains("exit status: 3"), "{failed}");
        let missing = soon(&["/no/such".to_owned()]).unwrap_err().to_string();
        assert!(missing.contains("/no/such"), "{missing}");
        let notifier = Notifier::new(Path::new("x"), shell("exit 3"), TIME_LIMIT);
        notifier.send(&Happened::Test);
        notifier.send(&Happened::Test);
        assert_eq!(
            notifier.end(),
            ["the notify command failed: exit status: 3"]
        );
        let silent = Notifier::new(Path::new("x"), Vec::new(), TIME_LIMIT);
        silent.send(&Happened::Test);
        assert_eq!(silent.end(), Vec::<String>::new());
    }

    #[test]
    fn a_hanging_command_is_killed_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let script = format!("sleep 1000 & echo $! > '{}'; wait", pid.display());
        let words = shell(&script);
        let started = || {
            let _ = std::fs::remove_file(&pid);
            let hung = call(&words, "{}", POLL * 30);
            assert!(matches!(hung, Err(Problem::TimedOut)), "{hung:?}");
            let written = std::fs::read_to_string(&pid).unwrap_or_default();
            written.trim().parse().ok()
        };
        // On a busy machine, the shell may be killed before it has started anything.
        let child = (0..100).find_map(|_| started());
        let child = child.expect("the command writes the id of its child");
        let state = || ProcessStat::of(child).map(|stat| stat.state);
        // The kernel ends a killed process in its own time.
        let ends = (0..1_000).any(|_| {
            thread::sleep(POLL);
            matches!(state(), None | Some('Z' | 'X'))
        });
        assert!(ends, "{:?}", state());
    }

    /// Sends `count` events to a slow command. Returns the quests that it read, and the problems.
    fn sent(count: u32, pause: &str) -> (Vec<String>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let seen = dir.path().join("seen");
        let script = format!("cat >> '{}'; sleep {pause}", seen.display());
        let limit = Duration::from_secs(2);
        let notifier = Notifier::new(Path::new("x"), shell(&script), limit);
        for run in 1..=count {
            let run = RunId::new(run);
            notifier.send(&Happened::SessionPaused { run });
        }
        let problems = notifier.end();
        let seen = std::fs::read_to_string(seen).unwrap();
        let runs = seen.lines().map(|line| line.rsplit('"').nth(1).unwrap());
        (runs.map(str::to_owned).collect(), problems)
    }

    #[test]
    fn a_slow_command_gets_the_newest_event_and_the_others_are_counted() {
        let (runs, problems) = sent(40, "0.4");
        assert_eq!(runs.last().unwrap(), "00000028", "{runs:?}");
        assert!(runs.len() < 40, "{runs:?}");
        let skipped = problems.last().unwrap();
        let told = format!(
            "{} events were not sent, because the notify command is too slow",
            40 - runs.len()
        );
        assert_eq!(*skipped, told);
        // One that hangs is killed each time, and gets the first and the newest event.
        let (runs, problems) = sent(3, "1000");
        assert_eq!(runs, ["00000001", "00000003"]);
        assert_eq!(
            problems,
            [
                "the notify command took longer than 10 seconds and was killed",
                "1 event was not sent, because the notify command is too slow"
            ]
        );
    }
}
