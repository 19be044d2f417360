//! Chromium's remote debugging protocol over two pipes: JSON messages that end with a zero byte.
//!
//! Some twenty commands are needed. The types of the whole protocol (`chromiumoxide_cdp`) would be
//! 100,000 generated lines to compile for them.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Deserialize;
use serde_json::{Value, json};

/// A page that a browser has serialised, and then some.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("it ended: {0}")]
    Gone(String),
    #[error("it took too long")]
    Late,
    #[error("{method}: {why}")]
    Refused { method: String, why: String },
    #[error("the page made it crash")]
    Crashed,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    pub(super) id: Option<u64>,
    #[serde(default)]
    pub(super) method: String,
    #[serde(default)]
    pub(super) params: Value,
    result: Option<Value>,
    error: Option<Refusal>,
    session_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Refusal {
    message: String,
}

impl Message {
    pub(super) fn into_result(self, method: &str) -> Result<Value, Failure> {
        match self.error {
            None => Ok(self.result.unwrap_or_default()),
            Some(Refusal { message }) => Err(Failure::Refused {
                method: method.to_owned(),
                why: message,
            }),
        }
    }
}

#[derive(Debug)]
pub(super) struct Connection {
    to: File,
    from: File,
    received: Vec<u8>,
    /// How many bytes of it hold no zero byte.
    scanned: usize,
    inbox: VecDeque<Message>,
    last: u64,
}

impl Connection {
    /// Talks over files that never block.
    pub(super) fn new(to: File, from: File) -> Self {
        Self {
            to,
            from,
            received: Vec::new(),
            scanned: 0,
            inbox: VecDeque::new(),
            last: 0,
        }
    }

    /// Sends a command, and gives the number that its answer will have.
    pub(super) fn send(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
        until: Instant,
    ) -> Result<u64, Failure> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method});
        message["params"] = params;
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.write(&bytes, until)?;
        Ok(self.last)
    }

    /// Sends a command, and waits for its answer; what else comes is kept.
    pub(super) fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
        until: Instant,
    ) -> Result<Value, Failure> {
        let id = self.send(session, method, params, until)?;
        let mut others = VecDeque::new();
        let answer = loop {
            match self.receive(until)? {
                None => break Err(Failure::Late),
                Some(message) if message.id == Some(id) => break message.into_result(method),
                Some(message) => others.push_back(message),
            }
        };
        others.append(&mut self.inbox);
        self.inbox = others;
        answer
    }

    /// The next message; none if there is none by then.
    pub(super) fn receive(&mut self, until: Instant) -> Result<Option<Message>, Failure> {
        if let Some(message) = self.inbox.pop_front() {
            return Ok(Some(message));
        }
        loop {
            if let Some(message) = self.taken()? {
                return Ok(Some(message));
            }
            if !wait(&self.from, PollFlags::POLLIN, until)? {
                return Ok(None);
            }
            let mut bytes = [0; 16 << 10];
            match self.from.read(&mut bytes) {
                Ok(0) => return Err(Failure::Gone("its pipe is closed".to_owned())),
                Ok(count) => self.received.extend(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(Failure::Gone(error.to_string())),
            }
            if self.received.len() > MAX_MESSAGE_BYTES {
                return Err(Failure::Gone("it sent too long a message".to_owned()));
            }
        }
    }

    pub(super) fn put_back(&mut self, message: Message) {
        self.inbox.push_back(message);
    }

    /// Forgets what came for a tab that is closed.
    pub(super) fn forget(&mut self, session: &str) {
        self.inbox
            .retain(|message| message.session_id.as_deref() != Some(session));
    }

    fn taken(&mut self) -> Result<Option<Message>, Failure> {
        let found = self.received[self.scanned..].iter().position(|b| *b == 0);
        let Some(at) = found.map(|at| at + self.scanned) else {
            self.scanned = self.received.len();
            return Ok(None);
        };
        let message = serde_json::from_slice(&self.received[..at]);
        self.received.drain(..=at);
        self.scanned = 0;
        let message = message.map_err(|error| Failure::Gone(error.to_string()))?;
        Ok(Some(message))
    }

    fn write(&mut self, mut bytes: &[u8], until: Instant) -> Result<(), Failure> {
        while !bytes.is_empty() {
            match self.to.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // It does not read while it waits for somebody to read what it writes.
                    self.read_ahead()?;
                    let soon = Instant::now() + std::time::Duration::from_millis(20);
                    if !wait(&self.to, PollFlags::POLLOUT, soon)? && Instant::now() >= until {
                        return Err(Failure::Late);
                    }
                }
                Err(error) => return Err(Failure::Gone(error.to_string())),
            }
        }
        Ok(())
    }

    fn read_ahead(&mut self) -> Result<(), Failure> {
        let mut bytes = [0; 16 << 10];
        match self.from.read(&mut bytes) {
            Ok(count) => self.received.extend(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(Failure::Gone(error.to_string())),
        }
        Ok(())
    }
}

fn wait(file: &File, flags: PollFlags, until: Instant) -> Result<bool, Failure> {
    let left = until.saturating_duration_since(Instant::now());
    // Rounded up, so that the last millisecond is no busy loop.
    let millis = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
    let mut fds = [PollFd::new(file.as_fd(), flags)];
    let timeout = PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX);
    match poll(&mut fds, timeout) {
        Ok(ready) => Ok(ready > 0),
        Err(nix::errno::Errno::EINTR) => Ok(true),
        Err(error) => Err(Failure::Gone(error.to_string())),
    }
}
