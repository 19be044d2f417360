//! Chromium's remote debugging protocol over two pipes: JSON messages that end with a zero byte.
//!
//! Some twenty commands are needed. The types of the whole protocol (`chromiumoxide_cdp`) would be
//! 100,000 generated lines to compile for them.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, Permissions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde::Deserialize;
use serde_json::{Value, json};

/// A page that a browser has serialised, and then some.
const MAX_MESSAGE_BYTES: u64 = 64 << 20;

/// How soon whoever waits notices that the browser has ended.
const LOOK_UP: Duration = Duration::from_millis(500);

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

/// The talk with one browser, in which any number of tabs have lines.
#[derive(Debug)]
pub(super) struct Connection {
    to: Mutex<File>,
    from: PathBuf,
    last: AtomicU64,
    routes: Arc<Mutex<Routes>>,
}

/// Who waits for what comes.
#[derive(Debug, Default)]
struct Routes {
    answers: HashMap<u64, Sender<Message>>,
    /// By session: what happens in a tab.
    tabs: HashMap<String, Sender<Message>>,
    /// Why nothing comes any more.
    gone: Option<String>,
}

impl Routes {
    fn pass_on(&mut self, message: Message) {
        let line = match (message.id, &message.session_id) {
            (Some(id), _) => self.answers.remove(&id),
            (None, Some(session)) => self.tabs.get(session).cloned(),
            (None, None) => None,
        };
        if let Some(line) = line {
            // Nobody may wait for it any more.
            let _ = line.send(message);
        }
    }
}

fn locked(routes: &Mutex<Routes>) -> MutexGuard<'_, Routes> {
    routes.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    /// Talks over two pipes, `to` and `from`, which are made where the browser finds them.
    pub(super) fn new(dir: &Path) -> io::Result<Self> {
        let [to, from] = ["to", "from"].map(|name| dir.join(name));
        for path in [&to, &from] {
            mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?;
            // The browser may be another user; nobody else can enter the directory.
            fs::set_permissions(path, Permissions::from_mode(0o666))?;
        }
        // Opening one end of a pipe waits for the other, unless the same file is both.
        let mut options = File::options();
        options.read(true).write(true);
        let to = options.custom_flags(OFlag::O_NONBLOCK.bits()).open(to)?;
        let routes = Arc::<Mutex<Routes>>::default();
        let (read_from, read_for) = (from.clone(), Arc::clone(&routes));
        thread::spawn(move || {
            let why = match read(&read_from, &read_for) {
                Ok(()) => "its pipe is closed".to_owned(),
                Err(error) => error.to_string(),
            };
            locked(&read_for).gone.get_or_insert(why);
        });
        Ok(Self {
            to: Mutex::new(to),
            from,
            last: AtomicU64::new(0),
            routes,
        })
    }

    pub(super) fn line(&self) -> Line<'_> {
        let (sender, receiver) = channel();
        Line {
            connection: self,
            session: None,
            sender,
            receiver,
            inbox: VecDeque::new(),
        }
    }

    /// The error says why it has ended, if it has.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let gone = locked(&self.routes).gone.clone();
        gone.map_or(Ok(()), |why| Err(Failure::Gone(why)))
    }

    fn write(&self, mut bytes: &[u8], until: Instant) -> Result<(), Failure> {
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        while !bytes.is_empty() {
            self.check()?;
            let why = match to.write(bytes) {
                Ok(count) => {
                    bytes = &bytes[count..];
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let left = until.saturating_duration_since(Instant::now());
                    if !left.is_zero() {
                        wait_to_write(&to, left.min(LOOK_UP));
                        continue;
                    }
                    "it does not read".to_owned()
                }
                Err(error) => error.to_string(),
            };
            // Half a message cannot be taken back.
            locked(&self.routes).gone.get_or_insert(why);
        }
        Ok(())
    }
}

impl Drop for Connection {
    /// Wakes the reading thread if no browser ever opened the pipe.
    fn drop(&mut self) {
        let mut options = File::options();
        options.write(true).custom_flags(OFlag::O_NONBLOCK.bits());
        drop(options.open(&self.from));
    }
}

/// Passes on what comes, until the browser ends.
fn read(from: &Path, routes: &Mutex<Routes>) -> io::Result<()> {
    let mut from = BufReader::new(File::open(from)?);
    loop {
        let mut bytes = Vec::new();
        let count = from
            .by_ref()
            .take(MAX_MESSAGE_BYTES)
            .read_until(0, &mut bytes)?;
        if count == 0 {
            return Ok(());
        }
        if bytes.pop() != Some(0) {
            return Err(io::Error::other("it sent a message that does not end"));
        }
        locked(routes).pass_on(serde_json::from_slice(&bytes)?);
    }
}

fn wait_to_write(file: &File, within: Duration) {
    let timeout = PollTimeout::try_from(within).unwrap_or(PollTimeout::MAX);
    // Whatever happens, the next write tells.
    let _ = poll(
        &mut [PollFd::new(file.as_fd(), PollFlags::POLLOUT)],
        timeout,
    );
}

/// What one tab says and hears, or the browser as a whole.
pub(super) struct Line<'a> {
    connection: &'a Connection,
    session: Option<String>,
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    inbox: VecDeque<Message>,
}

impl Line<'_> {
    /// Speaks with a tab from now on, and hears what happens in it.
    pub(super) fn attach(&mut self, session: String) {
        let mut routes = locked(&self.connection.routes);
        routes.tabs.insert(session.clone(), self.sender.clone());
        self.session = Some(session);
    }

    /// Sends a command whose answer does not matter.
    pub(super) fn tell(&self, method: &str, params: Value, until: Instant) -> Result<(), Failure> {
        let id = self.connection.last.fetch_add(1, Ordering::Relaxed);
        self.send(id, method, params, until)
    }

    /// Sends a command, and gives the number that its answer will have.
    pub(super) fn ask(&self, method: &str, params: Value, until: Instant) -> Result<u64, Failure> {
        let id = self.connection.last.fetch_add(1, Ordering::Relaxed);
        let mut routes = locked(&self.connection.routes);
        routes.answers.insert(id, self.sender.clone());
        drop(routes);
        self.send(id, method, params, until)?;
        Ok(id)
    }

    fn send(&self, id: u64, method: &str, params: Value, until: Instant) -> Result<(), Failure> {
        let mut message = json!({"id": id, "method": method});
        message["params"] = params;
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.connection.write(&bytes, until)
    }

    /// Sends a command, and waits for its answer; what else comes is dropped.
    pub(super) fn call(
        &mut self,
        method: &str,
        params: Value,
        until: Instant,
    ) -> Result<Value, Failure> {
        let id = self.ask(method, params, until)?;
        loop {
            match self.receive(until)? {
                None => return Err(Failure::Late),
                Some(message) if message.id == Some(id) => return message.into_result(method),
                Some(_) => {}
            }
        }
    }

    /// The next message; none if there is none by then.
    pub(super) fn receive(&mut self, until: Instant) -> Result<Option<Message>, Failure> {
        if let Some(message) = self.inbox.pop_front() {
            return Ok(Some(message));
        }
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if let Ok(message) = self.receiver.recv_timeout(left.min(LOOK_UP)) {
                return Ok(Some(message));
            }
            self.connection.check()?;
            if left <= LOOK_UP {
                return Ok(None);
            }
        }
    }

    pub(super) fn put_back(&mut self, message: Message) {
        self.inbox.push_back(message);
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if let Some(session) = &self.session {
            locked(&self.connection.routes).tabs.remove(session);
        }
    }
}
