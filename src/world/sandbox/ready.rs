//! When a service is ready.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
