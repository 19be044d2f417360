//! A command that runs in the background and answers requests.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::unistd::Pid;
use regex::bytes::Regex;

use super::api::{Call, Called};
use super::api::{CommandSpec, Confinement, End};
use super::http::call;
use super::run::{Files, Keep, Launcher, Running, how_it_ended};
use crate::base::process::descendants;

const POLL: Duration = Duration::from_millis(10);

// How long a service may take to exit after it has closed its connections.
const EXIT_WITHIN: Duration = Duration::from_millis(300);

const SHOWN_OUTPUT_BYTES: usize = 500;

const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// A command that runs until it is dropped.
#[derive(Debug)]
pub struct Service {
    running: Running,
    pub(super) port: u16,
}

/// The end of a service's output: half of the allowed bytes for each stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Output {
    fn tail(&self) -> String {
        let printed = [self.stdout.as_slice(), self.stderr.as_slice()].concat();
        let start = printed.len().saturating_sub(SHOWN_OUTPUT_BYTES);
        let tail = String::from_utf8_lossy(&printed[start..]);
        format!("; it printed: {}", tail.trim())
    }
}

/// Why a service is not available. Nothing of it is left running.
#[derive(Debug, thiserror::Error)]
pub enum ServiceFailed {
    #[error("the service {name} could not be started: {why}")]
    NotStarted { name: String, why: String },
    #[error("the service {name} ended before it was ready: {end:?}{}", .output.tail())]
    Died {
        name: String,
        end: End,
        output: Output,
    },
    #[error("the service {name} was not ready within {} ms{}", .within.as_millis(), .output.tail())]
    NotReady {
        name: String,
        within: Duration,
        output: Output,
    },
}

/// The condition under which a service is ready.
#[derive(Debug, Clone)]
pub enum Ready {
    /// It runs.
    Started,
    /// It accepts connections on its port.
    Port,
    /// It answers a GET of this path and query with a status of 2xx.
    Path(String),
    /// It has printed a whole line to stdout that matches.
    Line(Regex),
}

impl Service {
    /// Starts a service that listens on `port` of 127.0.0.1, and waits until it is ready, but no longer
    /// than the order's timeout.
    pub fn start(
        order: &CommandSpec,
        files: &Files,
        ready: &Ready,
        port: u16,
        launcher: &Launcher,
    ) -> Result<Self, ServiceFailed> {
        let name = order.name.clone();
        let deadline = Instant::now().checked_add(order.timeout());
        let keep = Keep::Tail(order.output_bytes);
        let running = match Running::start(launcher, order, files, keep) {
            Ok(running) => running,
            Err(error) => {
                let why = error.to_string();
                return Err(ServiceFailed::NotStarted { name, why });
            }
        };
        let mut service = Self { running, port };
        let ended = loop {
            let is_ready = service.is_ready(ready);
            // If the service has ended, the answer came from another process.
            if let Some(end) = service.running.process.wait(POLL, how_it_ended) {
                break Some(end);
            }
            if is_ready {
                return Ok(service);
            }
            let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if is_late || launcher.stop.is_asked() {
                break None;
            }
        };
        service.running.process.end();
        let output = service.output();
        Err(match ended {
            Some(End::NotStarted(why)) => ServiceFailed::NotStarted { name, why },
            Some(end) => ServiceFailed::Died { name, end, output },
            None => ServiceFailed::NotReady {
                name,
                within: order.timeout(),
                output,
            },
        })
    }

    fn is_ready(&self, ready: &Ready) -> bool {
        if self.running.process.state().started.is_none() {
            return false;
        }
        match ready {
            Ready::Started => true,
            Ready::Port => connect(self.port).is_some() && self.listens(),
            Ready::Path(path) => answers_well(self.port, path) && self.listens(),
            Ready::Line(pattern) => has_line(&self.output().stdout, pattern),
        }
    }

    pub fn confinement(&self) -> Confinement {
        let state = self.running.process.state();
        state.started.clone().unwrap_or_default()
    }

    pub fn ended(&self) -> Option<End> {
        how_it_ended(&self.running.process.state())
    }

    /// Whether it runs, and nothing else listens on its port.
    pub fn answers(&self) -> bool {
        self.ended().is_none() && self.listens()
    }

    /// Whether it still runs and accepts connections after it left a request without an answer.
    pub fn goes_on(&self) -> bool {
        // A process that exits closes its connections first.
        let ended = self.running.process.wait(EXIT_WITHIN, how_it_ended);
        ended.is_none() && connect(self.port).is_some() && self.answers()
    }

    fn listens(&self) -> bool {
        is_of(self.port, self.running.process.pid())
    }

    pub fn output(&self) -> Output {
        let (stdout, stderr) = self.running.process.state().output.kept();
        Output { stdout, stderr }
    }

    /// Ends it with all its processes, and returns its output.
    pub fn stop(mut self) -> Output {
        self.running.terminate();
        self.running.process.end();
        self.output()
    }
}

pub fn is_taken(port: u16) -> bool {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    bound.is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

/// A port of 127.0.0.1 that was free a moment ago.
pub fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

fn has_line(printed: &[u8], pattern: &Regex) -> bool {
    // The text after the last line feed may be incomplete.
    let mut lines = printed.split_inclusive(|byte| *byte == b'\n');
    lines.any(|line| {
        line.strip_suffix(b"\n")
            .is_some_and(|line| pattern.is_match(line))
    })
}

fn connect(port: u16) -> Option<TcpStream> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let stream = TcpStream::connect_timeout(&address, PROBE_TIMEOUT).ok()?;
    // If nothing listens, the kernel may choose that same port for the connection, which then reaches
    // itself.
    let itself = stream.local_addr().ok() == stream.peer_addr().ok();
    (!itself).then_some(stream)
}

/// Whether a GET of this path and query is answered with a status of 2xx.
fn answers_well(port: u16, path: &str) -> bool {
    // While nothing listens, no request is prepared.
    if connect(port).is_none() {
        return false;
    }
    let get = Call {
        service: String::new(),
        method: "GET".to_owned(),
        path: path.to_owned(),
        headers: Vec::new(),
        body: None,
        timeout_ms: u64::try_from(PROBE_TIMEOUT.as_millis()).unwrap_or(u64::MAX),
    };
    matches!(call(&get, port), Called::Answered(answer) if (200..300).contains(&answer.status))
}

// The kernel's tables of sockets, and the addresses of sockets that can be reached as 127.0.0.1.
const TABLES: [(&str, &[&str]); 2] = [
    ("/proc/net/tcp", &["0100007F", "00000000"]),
    (
        "/proc/net/tcp6",
        &[
            "00000000000000000000000000000000",
            "0000000000000000FFFF00000100007F",
        ],
    ),
];

// TCP_LISTEN of the kernel.
const LISTENS: &str = "0A";

/// Whether only `first` and its descendants listen on `port` of 127.0.0.1. On systems without these
/// tables, every listener is accepted.
fn is_of(port: u16, first: Pid) -> bool {
    if cfg!(not(target_os = "linux")) {
        return true;
    }
    let listening: BTreeSet<String> = TABLES
        .iter()
        .filter_map(|(table, reached)| Some((fs::read_to_string(table).ok()?, *reached)))
        .flat_map(|(table, reached)| listening(&table, reached, port))
        .collect();
    if listening.is_empty() {
        return false;
    }
    let mut own = descendants(first);
    own.push(first);
    let held: BTreeSet<String> = own.into_iter().flat_map(sockets).collect();
    listening.is_subset(&held)
}

/// The inodes of the sockets in a table that listen on `port` of one of these addresses.
fn listening(table: &str, reached: &[&str], port: u16) -> Vec<String> {
    let port = format!("{port:04X}");
    let socket = |line: &str| {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let (address, at) = words.get(1)?.split_once(':')?;
        let here = at == port && reached.contains(&address) && *words.get(3)? == LISTENS;
        here.then(|| words.get(9).map(|&socket| socket.to_owned()))?
    };
    table.lines().filter_map(socket).collect()
}

/// The inodes of a process's open sockets, if they can be read.
fn sockets(pid: Pid) -> Vec<String> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"));
    let open = open.into_iter().flatten().flatten();
    let socket = |link: PathBuf| {
        let target = fs::read_link(link).ok()?;
        let socket = target.to_str()?.strip_prefix("socket:[")?;
        Some(socket.strip_suffix(']')?.to_owned())
    };
    open.filter_map(|entry| socket(entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::process::{Command, Stdio};

    #[test]
    fn a_port_is_taken_while_something_listens() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_taken(port));
        drop(listener);
        assert!(!is_taken(port));
    }

    #[test]
    fn a_line_counts_once_it_is_whole() {
        let ready = Regex::new("^ready$").unwrap();
        assert!(has_line(b"one\nready\n", &ready));
        assert!(!has_line(b"one\nready", &ready));
        assert!(!has_line(b"already\n", &ready));
    }

    #[test]
    fn reads_listening_sockets_from_a_table() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
         0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1\n\
         1: 0100007F:1F90 0100007F:D000 01 00000000:00000000 00:00000000 00000000  1000        0 12 1\n\
         2: 0200007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 13 1\n\
         3: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 14 1\n\
         4: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 15 1\n";
        assert_eq!(listening(table, TABLES[0].1, 8_080), ["11", "14"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_port_belongs_to_the_process_that_listens() {
        let mut other = Command::new("cat");
        let mut other = other.stdin(Stdio::piped()).spawn().unwrap();
        let stranger = Pid::from_raw(other.id().cast_signed());
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let port = listener.local_addr().unwrap().port();
            assert!(is_of(port, Pid::this()), "{address}");
            assert!(!is_of(port, stranger), "{address}");
            drop(listener);
            assert!(!is_of(port, Pid::this()), "{address}");
        }
        drop(other.stdin.take());
        other.wait().unwrap();
    }
}
