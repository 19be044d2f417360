//! A command that goes on printing, such as `log --follow`, and the lines that it prints.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{Place, Run};

/// How long an output is waited for that must come.
const PATIENCE: Duration = Duration::from_mins(1);

pub struct Follower {
    child: Child,
    lines: Receiver<String>,
}

fn spawned(place: &Place, args: &[&str]) -> Child {
    piped(place.command().args(args))
}

fn piped(command: &mut Command) -> Child {
    let piped = command.stdout(Stdio::piped());
    let piped = piped.stderr(Stdio::piped());
    piped.spawn().expect("the program starts")
}

impl Follower {
    pub fn start(place: &Place, args: &[&str]) -> Self {
        Self::of(place.command().args(args))
    }

    /// The same with any command that ends up as the program.
    pub fn of(command: &mut Command) -> Self {
        let mut child = piped(command);
        let stdout = child.stdout.take().expect("a pipe");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n') {
                let line = String::from_utf8(line.expect("a pipe")).expect("UTF-8");
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    #[track_caller]
    pub fn next(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line")
    }

    #[track_caller]
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.next()).expect("one document a line")
    }

    /// Presses Ctrl-C.
    pub fn interrupt(&self) {
        let mut kill = Command::new("kill");
        let kill = kill.args(["-INT", &self.child.id().to_string()]);
        assert!(kill.status().expect("kill runs").success());
    }

    /// Expects the program to print nothing more and to end by itself.
    #[track_caller]
    pub fn end(mut self) -> Run {
        let rest = self.lines.recv_timeout(PATIENCE);
        assert_eq!(rest, Err(RecvTimeoutError::Disconnected));
        let mut stderr = String::new();
        let mut pipe = self.child.stderr.take().expect("a pipe");
        pipe.read_to_string(&mut stderr).expect("UTF-8");
        let status = self.child.wait().expect("it ends");
        Run {
            code: status.code().unwrap_or(-1),
            stdout: String::new(),
            stderr,
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A reader who takes the first line and goes away: the line, and how the program ends.
pub fn taken_one(place: &Place, args: &[&str]) -> (String, Run) {
    let mut child = spawned(place, args);
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("a pipe");
    let ended = child.wait_with_output().expect("the program ends");
    (line, Run::from(ended))
}
