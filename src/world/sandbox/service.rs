//! A command that goes on while others talk to it.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::{Duration, Instant};

use super::confinement::Confinement;
use super::launch::{Launcher, Running};
use super::listener;
use super::order::Order;
use super::ran::End;
use super::ready::{Probe, Ready};
use super::told::{Keep, how_it_ended};

/// How long is waited between two looks at a service that is not ready.
const AGAIN: Duration = Duration::from_millis(10);

/// How long one that ends may take from its last word to its end.
const LAST_BREATH: Duration = Duration::from_millis(300);

/// A command that goes on until it is stopped or dropped.
#[derive(Debug)]
pub struct Service {
    name: String,
    running: Running,
}

/// The end of what a service wrote, at most half of what its order allows to each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// The end of what it wrote to stdout.
    pub stdout: Vec<u8>,
    /// The end of what it wrote to stderr.
    pub stderr: Vec<u8>,
}

/// Why a service is not there; nothing of it is left running.
#[derive(Debug, thiserror::Error)]
pub enum ServiceFailed {
    /// It could not be started.
    #[error("the service {name} could not be started: {why}")]
    NotStarted {
        /// The service.
        name: String,
        /// Why not.
        why: String,
    },
    /// It ended before it was ready.
    #[error("the service {name} ended before it was ready: {end:?}")]
    Died {
        /// The service.
        name: String,
        /// How it ended.
        end: End,
        /// What it wrote.
        output: Output,
    },
    /// Its time was over before it was ready.
    #[error("the service {name} was not ready within {} ms", .within.as_millis())]
    NotReady {
        /// The service.
        name: String,
        /// The time it had.
        within: Duration,
        /// What it wrote.
        output: Output,
    },
    /// What shows that it is ready is not a regular expression.
    #[error("the service {name} cannot be seen to be ready")]
    BadPattern {
        /// The service.
        name: String,
        /// What is wrong with it.
        source: regex::Error,
    },
}

impl Service {
    /// Starts a service and waits, at most as long as the order says, until it is ready.
    pub fn start(
        order: &Order,
        scratch: &Path,
        ready: &Ready,
        launcher: &Launcher,
    ) -> Result<Self, ServiceFailed> {
        let name = order.name.clone();
        let end = Instant::now().checked_add(order.timeout());
        let probe = match Probe::new(ready) {
            Ok(probe) => probe,
            Err(source) => return Err(ServiceFailed::BadPattern { name, source }),
        };
        let keep = Keep::Tail(order.output_bytes);
        let running = match Running::start(launcher, order, scratch, keep) {
            Ok(running) => running,
            Err(error) => {
                let why = error.to_string();
                return Err(ServiceFailed::NotStarted { name, why });
            }
        };
        let mut service = Self { name, running };
        match service.wait_until_ready(&probe, end) {
            Waited::Ready => Ok(service),
            waited => Err(service.failed(waited, order.timeout())),
        }
    }

    fn wait_until_ready(&self, probe: &Probe, end: Option<Instant>) -> Waited {
        let process = &self.running.process;
        loop {
            let started = process.state().started.is_some();
            let ready = started
                && probe.sees(|| self.output().stdout)
                && probe.port().is_none_or(|port| self.listens(port));
            // Whoever answers for a service that has ended is not the service.
            if let Some(ended) = process.wait(AGAIN, how_it_ended) {
                return Waited::Ended(ended);
            }
            if ready {
                return Waited::Ready;
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                return Waited::Over;
            }
        }
    }

    fn failed(&mut self, waited: Waited, within: Duration) -> ServiceFailed {
        let name = self.name.clone();
        self.running.process.end();
        let output = self.output();
        match waited {
            Waited::Ended(End::NotStarted(why)) => ServiceFailed::NotStarted { name, why },
            Waited::Ended(end) => ServiceFailed::Died { name, end, output },
            Waited::Ready | Waited::Over => ServiceFailed::NotReady {
                name,
                within,
                output,
            },
        }
    }

    /// What was in force.
    #[must_use]
    pub fn confinement(&self) -> Confinement {
        self.running
            .process
            .state()
            .started
            .clone()
            .unwrap_or_default()
    }

    /// How it has ended by itself, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<End> {
        how_it_ended(&self.running.process.state())
    }

    /// Whether it runs, and nobody else listens at its port.
    #[must_use]
    pub fn answers_at(&self, port: u16) -> bool {
        self.ended().is_none() && self.listens(port)
    }

    /// Whether it goes on after it has left a request unanswered: it runs, and takes the next
    /// connection at its port.
    #[must_use]
    pub fn goes_on(&self, port: u16) -> bool {
        // Whoever ends closes its connections first.
        let ended = self.running.process.wait(LAST_BREATH, how_it_ended);
        ended.is_none() && Probe::Tcp(port).sees(Vec::new) && self.answers_at(port)
    }

    fn listens(&self, port: u16) -> bool {
        listener::is_of(port, self.running.process.pid())
    }

    /// What it has written so far.
    #[must_use]
    pub fn output(&self) -> Output {
        let (stdout, stderr) = self.running.process.state().output.kept();
        Output { stdout, stderr }
    }

    /// Ends it with all that it started, and returns what it wrote.
    #[must_use]
    pub fn stop(mut self) -> Output {
        self.running.terminate();
        self.running.process.end();
        self.output()
    }
}

/// What waiting for a service has come to.
enum Waited {
    Ready,
    Over,
    Ended(End),
}

/// Whether somebody listens at this port of 127.0.0.1.
#[must_use]
pub fn is_taken(port: u16) -> bool {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    bound.is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

/// A port of 127.0.0.1 that nobody had a moment ago.
pub fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_taken_while_somebody_listens_there() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_taken(port));
        drop(listener);
        assert!(!is_taken(port));
    }
}
