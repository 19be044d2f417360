//! Long text at a terminal goes through a pager, as git's does.
//!
//! Only commands with output for people use it. An agent with its own terminal would wait in the pager
//! forever.

use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::progress::CtrlCIgnored;
use super::terminal::size;

const PAGER_VARIABLES: [&str; 2] = ["COMAIL_PAGER", "PAGER"];

/// Buffers the output until it is longer than the screen, and then starts the pager.
pub(super) struct Pager {
    /// The shell command that the user names.
    named: Option<String>,
    rows: usize,
    lines: usize,
    /// The text so far, which is printed if the pager does not exist.
    kept: Vec<u8>,
    route: Route,
}

enum Route {
    Undecided,
    Pager(Child, ChildStdin, CtrlCIgnored),
    Stdout,
    /// The user has left the pager.
    Closed,
}

impl Pager {
    /// None if the user wants no pager.
    pub(super) fn of_environment() -> Option<Self> {
        let named = PAGER_VARIABLES.iter().find_map(std::env::var_os);
        let named = named.map(|name| name.to_string_lossy().trim().to_owned());
        (!matches!(named.as_deref(), Some("" | "cat"))).then(|| Self {
            named,
            rows: size().rows,
            lines: 0,
            kept: Vec::new(),
            route: Route::Undecided,
        })
    }

    fn decide(&mut self) -> io::Result<()> {
        let mut pager = match &self.named {
            Some(named) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", named]);
                shell
            }
            None => Command::new("less"),
        };
        if std::env::var_os("LESS").is_none() {
            // Exits at once if the text fits, keeps colours, and leaves the text on the screen.
            pager.env("LESS", "FRX");
        }
        // Ctrl-C also reaches this process, but is meant for the pager.
        let ignored = CtrlCIgnored::begin();
        let started = pager.stdin(Stdio::piped()).spawn().ok();
        let piped = started.and_then(|mut child| {
            let stdin = child.stdin.take()?;
            Some(Route::Pager(child, stdin, ignored))
        });
        self.route = piped.unwrap_or(Route::Stdout);
        let kept = std::mem::take(&mut self.kept);
        self.write_all(&kept)
    }

    /// Waits until the pager has ended. Writes the text to stdout if there was none.
    fn finish(&mut self) -> io::Result<()> {
        let kept = std::mem::take(&mut self.kept);
        let has_read = match std::mem::replace(&mut self.route, Route::Closed) {
            Route::Pager(mut child, stdin, _ignored) => {
                drop(stdin);
                // The exit codes of a shell that cannot run the command.
                !matches!(child.wait()?.code(), Some(126 | 127))
            }
            Route::Closed => true,
            Route::Undecided | Route::Stdout => false,
        };
        if !has_read {
            self.route = Route::Stdout;
            io::stdout().write_all(&kept)?;
        }
        Ok(())
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.route {
            Route::Undecided => {
                self.kept.extend_from_slice(bytes);
                self.lines += bytes.split(|byte| *byte == b'\n').skip(1).count();
                if self.lines >= self.rows {
                    self.decide()?;
                }
                Ok(bytes.len())
            }
            Route::Pager(_, stdin, _) => match stdin.write(bytes) {
                Ok(written) => {
                    if self.named.is_some() {
                        self.kept.extend_from_slice(&bytes[..written]);
                    }
                    Ok(written)
                }
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    self.finish()?;
                    self.write(bytes)
                }
                Err(error) => Err(error),
            },
            Route::Stdout => io::stdout().write(bytes),
            Route::Closed => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.route {
            Route::Undecided | Route::Closed => Ok(()),
            Route::Pager(_, stdin, _) => stdin.flush(),
            Route::Stdout => io::stdout().flush(),
        }
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        // A closed pipe does not change how the command ends.
        let _ = self.finish();
    }
}
