//! A web server that answers by host and path, well or badly, and remembers what was asked.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Barrier, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::listen;

/// The longest that a server stays silent, so that no thread outlives its test for long.
const HANG: Duration = Duration::from_secs(30);

pub struct WebServer {
    address: SocketAddr,
    scheme: &'static str,
    state: Arc<Mutex<State>>,
}

#[derive(Clone)]
pub enum Reply {
    /// A status, headers and a body; `Content-Length` is added.
    Whole(Whole),
    /// These bytes, whatever they are, and the end of the connection.
    Raw(Vec<u8>),
    /// The connection is reset without a byte (in the clear; cut off with TLS).
    Reset,
    Hang,
    /// A page whose body comes byte by byte, a pause after each, and never ends.
    Drip(Duration),
    /// A page without a `Content-Length` that has this many bytes.
    Huge(u64),
    /// A gzipped page that unpacks to this many bytes.
    GzipBomb(u64),
    /// This page, once as many have asked as the barrier waits for.
    Meet(Arc<Barrier>, String),
    Late(Duration, String),
}

#[derive(Clone)]
pub struct Whole {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

#[derive(Debug, Clone)]
pub struct Seen {
    /// The `Host` header, without its port.
    pub host: String,
    pub path: String,
    pub line: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    pub at: Instant,
}

type Fallback = Arc<dyn Fn(&str) -> Reply + Send + Sync>;

#[derive(Default)]
struct State {
    replies: HashMap<(String, String), Vec<Reply>>,
    /// By host: what answers a path of which nothing is said.
    fallbacks: HashMap<String, Fallback>,
    seen: Vec<Seen>,
    connections: usize,
    /// By host: how many requests are under way, and the most that ever were.
    busy: HashMap<String, (usize, usize)>,
}

impl Reply {
    pub fn html(body: impl Into<Vec<u8>>) -> Self {
        Self::status(200)
            .with("Content-Type", "text/html; charset=utf-8")
            .body(body)
    }

    pub fn status(status: u16) -> Self {
        Self::Whole(Whole {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        })
    }

    pub fn redirect(status: u16, to: &str) -> Self {
        Self::status(status).with("Location", to)
    }

    pub fn with(self, name: &str, value: &str) -> Self {
        self.map(|whole| whole.headers.push((name.to_owned(), value.to_owned())))
    }

    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        self.map(|whole| whole.body = body.into())
    }

    /// The reply with another text in place of one in its body.
    pub fn replaced(self, text: &str, other: &str) -> Self {
        self.map(|whole| {
            let body = String::from_utf8_lossy(&whole.body);
            whole.body = body.replace(text, other).into_bytes();
        })
    }

    pub fn gzipped(self) -> Self {
        let with_header = self.with("Content-Encoding", "gzip");
        with_header.map(|whole| whole.body = gzip(&whole.body))
    }

    fn map(mut self, change: impl FnOnce(&mut Whole)) -> Self {
        match &mut self {
            Self::Whole(whole) => change(whole),
            _ => panic!("only a whole reply has headers and a body"),
        }
        self
    }
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl WebServer {
    pub fn start() -> Self {
        Self::serve("http", converse)
    }

    pub fn start_tls(config: ServerConfig) -> Self {
        let config = Arc::new(config);
        Self::serve("https", move |stream, state| {
            let connection =
                ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
            let mut stream = StreamOwned::new(connection, stream);
            converse(&mut stream, state)?;
            stream.conn.send_close_notify();
            stream.flush()
        })
    }

    fn serve(
        scheme: &'static str,
        talk: impl Fn(TcpStream, &Mutex<State>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let (listener, address) = listen();
        let state = Arc::new(Mutex::new(State::default()));
        let (shared, talk) = (Arc::clone(&state), Arc::new(talk));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, talk) = (Arc::clone(&shared), Arc::clone(&talk));
                lock(&shared).connections += 1;
                // A client that hangs up in the middle is part of many tests.
                thread::spawn(move || talk(stream, &shared).ok());
            }
        });
        Self {
            address,
            scheme,
            state,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path of a host that this server plays.
    pub fn url(&self, host: &str, path: &str) -> String {
        format!("{}://{host}:{}{path}", self.scheme, self.address.port())
    }

    pub fn page(&self, host: &str, path: &str, html: &str) {
        self.reply(host, path, Reply::html(html));
    }

    /// Says what a host answers at a path (with its query); what is not said is 404.
    pub fn reply(&self, host: &str, path: &str, reply: Reply) {
        self.replies(host, path, vec![reply]);
    }

    /// Says what it answers the first time, the second time …; the last one stays.
    pub fn replies(&self, host: &str, path: &str, replies: Vec<Reply>) {
        let key = (host.to_owned(), path.to_owned());
        lock(&self.state).replies.insert(key, replies);
    }

    /// Says how a host answers paths of which nothing is said.
    pub fn fallback(&self, host: &str, answer: impl Fn(&str) -> Reply + Send + Sync + 'static) {
        let fallbacks = &mut lock(&self.state).fallbacks;
        fallbacks.insert(host.to_owned(), Arc::new(answer));
    }

    pub fn forget(&self) {
        *lock(&self.state) = State::default();
    }

    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.state).seen.clone()
    }

    pub fn count(&self, host: &str, path: &str) -> usize {
        let of_it = |seen: &&Seen| seen.host == host && seen.path == path;
        lock(&self.state).seen.iter().filter(of_it).count()
    }

    /// The most requests to a host that were under way at the same time.
    pub fn busiest(&self, host: &str) -> usize {
        lock(&self.state)
            .busy
            .get(host)
            .map_or(0, |(_, most)| *most)
    }

    pub fn connections(&self) -> usize {
        lock(&self.state).connections
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state
        .lock()
        .expect("no server thread panics while it holds the state")
}

fn converse<S: Read + Write>(mut stream: S, state: &Mutex<State>) -> io::Result<()> {
    let seen = read_head(&mut stream)?;
    let host = seen.host.clone();
    let reply = lock(state).arrive(seen);
    if let Reply::Late(pause, _) = &reply {
        thread::sleep(*pause);
    }
    // The client may ask for more as soon as it has the last byte.
    lock(state).leave(&host);
    if matches!(reply, Reply::Reset) {
        // Closing a socket with an unread byte resets the connection.
        return Ok(());
    }
    stream.read_exact(&mut [0])?;
    write_reply(&mut stream, reply)
}

impl State {
    fn arrive(&mut self, seen: Seen) -> Reply {
        let (now, most) = self.busy.entry(seen.host.clone()).or_default();
        *now += 1;
        *most = (*most).max(*now);
        let reply = self.next_reply(&seen);
        self.seen.push(seen);
        reply
    }

    fn leave(&mut self, host: &str) {
        if let Some((now, _)) = self.busy.get_mut(host) {
            *now -= 1;
        }
    }

    fn next_reply(&mut self, seen: &Seen) -> Reply {
        let key = (seen.host.clone(), seen.path.clone());
        match self.replies.get_mut(&key) {
            Some(replies) if replies.len() > 1 => replies.remove(0),
            Some(replies) => replies.first().cloned().expect("a path has a reply"),
            None => match self.fallbacks.get(&seen.host) {
                Some(answer) if seen.path != "/robots.txt" => answer(&seen.path),
                _ => Reply::status(404),
            },
        }
    }
}

/// Reads a request's head but for its last byte.
fn read_head(stream: &mut impl Read) -> io::Result<Seen> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    let text = String::from_utf8_lossy(&head);
    let mut lines = text.lines().map(str::trim_end);
    let line = lines.next().unwrap_or_default().to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let host = headers.iter().find(|(name, _)| name == "host");
    let host = host.map_or("", |(_, host)| {
        host.rsplit_once(':').map_or(host, |(host, _)| host)
    });
    // A proxy is sent the whole URL.
    let target = line.split(' ').nth(1).unwrap_or_default();
    let path = match target.split_once("://") {
        _ if target.starts_with('/') => target,
        Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => target,
    };
    Ok(Seen {
        host: host.to_owned(),
        path: path.to_owned(),
        line: line.clone(),
        headers,
        at: Instant::now(),
    })
}

fn write_reply(stream: &mut impl Write, reply: Reply) -> io::Result<()> {
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n";
    match reply {
        Reply::Whole(whole) => write_whole(stream, &whole)?,
        Reply::Raw(bytes) => stream.write_all(&bytes)?,
        Reply::Reset => {}
        Reply::Hang => thread::sleep(HANG),
        Reply::Drip(pause) => {
            write!(stream, "{page}\r\n")?;
            let end = Instant::now() + HANG;
            while Instant::now() < end {
                stream.write_all(b"x")?;
                stream.flush()?;
                thread::sleep(pause);
            }
        }
        Reply::Huge(bytes) => {
            write!(stream, "{page}\r\n")?;
            io::copy(&mut io::repeat(b'x').take(bytes), stream)?;
        }
        Reply::GzipBomb(bytes) => {
            write!(stream, "{page}Content-Encoding: gzip\r\n\r\n")?;
            let mut encoder = GzEncoder::new(&mut *stream, Compression::fast());
            io::copy(&mut io::repeat(b'x').take(bytes), &mut encoder)?;
            encoder.finish()?;
        }
        Reply::Meet(barrier, html) => {
            barrier.wait();
            write_html(stream, html)?;
        }
        Reply::Late(_, html) => write_html(stream, html)?,
    }
    stream.flush()
}

fn write_html(stream: &mut impl Write, html: String) -> io::Result<()> {
    match Reply::html(html) {
        Reply::Whole(whole) => write_whole(stream, &whole),
        _ => Ok(()),
    }
}

fn write_whole(stream: &mut impl Write, whole: &Whole) -> io::Result<()> {
    write!(stream, "HTTP/1.1 {} Status\r\n", whole.status)?;
    for (name, value) in &whole.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    let length = whole.body.len();
    write!(
        stream,
        "Content-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(&whole.body)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory can be written to");
    encoder.finish().expect("memory can be written to")
}
