//! Long text at a terminal goes through a pager, as git's does.
//!
//! Only commands that a person reads use it. An agent at a terminal of its own would wait in the
//! pager for ever.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

use super::progress;

const PAGER_VARIABLES: [&str; 2] = ["COMAIL_PAGER", "PAGER"];

/// Keeps what is written until it is longer than the screen, and then hands it to the pager.
pub(super) struct Pager {
    command: String,
    rows: usize,
    kept: Vec<u8>,
    route: Route,
}

enum Route {
    Undecided,
    Pager(Child),
    Stdout,
}

impl Pager {
    /// None if the user wants no pager.
    pub(super) fn of_environment() -> Option<Self> {
        let named = PAGER_VARIABLES.iter().find_map(std::env::var_os);
        let command =
            named.map_or_else(|| "less".into(), |name| name.to_string_lossy().into_owned());
        let rows = crossterm::terminal::size().map_or(24, |(_, rows)| usize::from(rows));
        (!["", "cat"].contains(&command.trim())).then(|| Self {
            command,
            rows,
            kept: Vec::new(),
            route: Route::Undecided,
        })
    }

    fn decide(&mut self) -> io::Result<()> {
        let mut pager = Command::new("sh");
        pager.args(["-c", &self.command]).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            // Ends at once if the text fits, keeps colours, and leaves the text on the screen.
            pager.env("LESS", "FRX");
        }
        // Ctrl-C also reaches this process, which must outlive the pager.
        progress::heed();
        self.route = pager.spawn().map_or(Route::Stdout, Route::Pager);
        let kept = std::mem::take(&mut self.kept);
        self.write_all(&kept)
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.route {
            Route::Undecided => {
                self.kept.extend_from_slice(bytes);
                if self.kept.split(|&byte| byte == b'\n').count() > self.rows {
                    self.decide()?;
                }
                Ok(bytes.len())
            }
            Route::Pager(child) => match &mut child.stdin {
                Some(stdin) => stdin.write(bytes),
                None => Ok(bytes.len()),
            },
            Route::Stdout => io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.route {
            Route::Undecided => Ok(()),
            Route::Pager(child) => child.stdin.as_mut().map_or(Ok(()), Write::flush),
            Route::Stdout => io::stdout().flush(),
        }
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        // A reader who has gone does not change how the command ends.
        match &mut self.route {
            Route::Pager(child) => {
                drop(child.stdin.take());
                let _ = child.wait();
            }
            Route::Undecided | Route::Stdout => {
                let _ = io::stdout().write_all(&self.kept);
            }
        }
    }
}
