//! A command that goes on while others talk to it.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use nix::unistd::Pid;
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use super::order::{Confinement, End, Order};
use super::run::{Keep, Launcher, Running, how_it_ended};
use super::service;
use crate::base::process::descendants;

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
        service::is_of(port, self.running.process.pid())
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

/// How long one look at a service may take.
const LOOK: Duration = Duration::from_secs(2);

/// No status line is longer.
const LINE_BYTES: u64 = 1024;

/// What shows that a service is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// It accepts connections at this port of 127.0.0.1.
    Tcp {
        /// The port.
        port: u16,
    },
    /// It answers a GET with a status of 200 to 299.
    Http {
        /// The port, of 127.0.0.1.
        port: u16,
        /// The path, with a query if there is one.
        path: String,
    },
    /// It has written a line to stdout in which this regular expression is found.
    Line {
        /// The expression.
        pattern: String,
    },
}

/// What is looked at, again and again.
#[derive(Debug)]
pub(super) enum Probe {
    /// A port.
    Tcp(u16),
    /// A port, and the request for it.
    Http(u16, String),
    /// What is written.
    Line(Regex),
}

impl Probe {
    /// The way to see that a service is ready.
    pub(super) fn new(ready: &Ready) -> Result<Self, regex::Error> {
        Ok(match ready {
            Ready::Tcp { port } => Self::Tcp(*port),
            Ready::Http { port, path } => Self::Http(*port, get(*port, path)),
            Ready::Line { pattern } => Self::Line(Regex::new(pattern)?),
        })
    }

    /// The port that is looked at.
    pub(super) fn port(&self) -> Option<u16> {
        match self {
            Self::Tcp(port) | Self::Http(port, _) => Some(*port),
            Self::Line(_) => None,
        }
    }

    /// Whether the service that has written this is ready.
    pub(super) fn sees(&self, stdout: impl FnOnce() -> Vec<u8>) -> bool {
        match self {
            Self::Tcp(port) => connect(*port).is_some(),
            Self::Http(port, request) => answers_well(*port, request).unwrap_or(false),
            Self::Line(pattern) => {
                let written = stdout();
                let whole = written.split_inclusive(|byte| *byte == b'\n');
                whole
                    .filter_map(|line| line.strip_suffix(b"\n"))
                    .any(|line| pattern.is_match(line))
            }
        }
    }
}

fn get(port: u16, path: &str) -> String {
    let path: String = path
        .chars()
        .filter(|c| !c.is_whitespace() && !c.is_control())
        .collect();
    format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")
}

fn connect(port: u16) -> Option<TcpStream> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let stream = TcpStream::connect_timeout(&address, LOOK).ok()?;
    // A port that nobody listens at may be given to the very connection that asks for it.
    let itself = stream.local_addr().ok() == stream.peer_addr().ok();
    (!itself).then_some(stream)
}

fn answers_well(port: u16, request: &str) -> Option<bool> {
    let mut stream = connect(port)?;
    stream.set_read_timeout(Some(LOOK)).ok()?;
    stream.set_write_timeout(Some(LOOK)).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut line = Vec::new();
    let mut answer = BufReader::new(stream).take(LINE_BYTES);
    answer.read_until(b'\n', &mut line).ok()?;
    Some(is_success(&line))
}

/// Whether a status line tells of success.
fn is_success(line: &[u8]) -> bool {
    let mut words = line.split(|byte| *byte == b' ');
    let protocol = words
        .next()
        .is_some_and(|word| word.starts_with(b"HTTP/1."));
    protocol && matches!(words.next(), Some([b'2', b'0'..=b'9', b'0'..=b'9', ..]))
}

/// The tables of sockets, and the addresses at which one is reached as 127.0.0.1.
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

/// The state of a socket that listens.
const LISTENS: &str = "0A";

/// Whether those alone listen at `port` of 127.0.0.1 who are `first` or descend from it.
///
/// Where the kernel does not tell, nobody is known to; on systems without such tables all are
/// taken at their word.
pub(super) fn is_of(port: u16, first: Pid) -> bool {
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

/// The sockets of a table that listen at `port` of one of these addresses.
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

/// The sockets that a process has open, as far as we may look.
fn sockets(pid: Pid) -> Vec<String> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"));
    let open = open.into_iter().flatten().flatten();
    let socket = |link: std::path::PathBuf| {
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
    fn a_port_is_taken_while_somebody_listens_there() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_taken(port));
        drop(listener);
        assert!(!is_taken(port));
    }

    #[test]
    fn success_is_two_hundred_and_something() {
        assert!(is_success(b"HTTP/1.1 204 No Content\r\n"));
        assert!(!is_success(b"HTTP/1.1 404 Not Found\r\n"));
        assert!(!is_success(b"HTTP/1.1 2\r\n"));
        assert!(!is_success(b"SSH-2.0-OpenSSH 200\r\n"));
        assert!(!is_success(b""));
    }

    #[test]
    fn a_line_counts_once_it_is_whole() {
        let ready = Ready::Line {
            pattern: "^ready$".to_owned(),
        };
        let probe = Probe::new(&ready).unwrap();
        assert!(probe.sees(|| b"one\nready\n".to_vec()));
        assert!(!probe.sees(|| b"one\nready".to_vec()));
        assert!(!probe.sees(|| b"already\n".to_vec()));
    }

    #[test]
    fn a_path_is_one_line_of_a_request() {
        let request = get(80, "/a b\r\nX: y");
        assert!(request.starts_with("GET /abX:y HTTP/1.0\r\n"), "{request}");
    }

    #[test]
    fn a_table_tells_who_listens_where() {
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
    fn a_port_is_of_whoever_listens_there() {
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
