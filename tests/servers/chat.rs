//! A server that speaks the chat protocol, says what a script makes it say, and remembers what it
//! was asked.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::listen;

/// The longest that a server stays silent, so that no thread outlives its test for long.
const HANG: Duration = Duration::from_secs(30);

pub struct ChatServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

#[derive(Debug, Clone)]
pub struct Asked {
    pub line: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub bytes: Vec<u8>,
    /// How often this model was asked before.
    pub before: usize,
}

/// What a server does with a request.
#[derive(Debug, Clone)]
pub enum Say {
    Words(String),
    /// A status with headers and a body.
    Status(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// The connection ends without a byte.
    Nothing,
    /// The connection ends in the middle of an answer.
    Half,
    Hang,
}

impl Say {
    pub fn words(words: impl Into<String>) -> Self {
        Self::Words(words.into())
    }

    pub fn status(status: u16) -> Self {
        Self::Status(status, Vec::new(), Vec::new())
    }

    pub fn with(self, name: &'static str, value: impl Into<String>) -> Self {
        match self {
            Self::Status(status, mut headers, body) => {
                headers.push((name, value.into()));
                Self::Status(status, headers, body)
            }
            other => panic!("{other:?} has no headers"),
        }
    }

    pub fn body(body: impl Into<Vec<u8>>) -> Self {
        Self::Status(200, Vec::new(), body.into())
    }
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    pub fn prompt(&self) -> &str {
        self.body["messages"][1]["content"]
            .as_str()
            .unwrap_or_default()
    }
}

impl ChatServer {
    /// A server that does what `script` says.
    pub fn start(script: impl Fn(&Asked) -> Say + Send + Sync + 'static) -> Self {
        let (listener, address) = listen();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (shared, script) = (Arc::clone(&asked), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, script) = (Arc::clone(&shared), Arc::clone(&script));
                // A client that hangs up in the middle is part of some tests.
                thread::spawn(move || converse(&stream, &shared, &*script).ok());
            }
        });
        Self { address, asked }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked
            .lock()
            .expect("no script panics in the lock")
            .clone()
    }

    pub fn count(&self, model: &str) -> usize {
        self.asked().iter().filter(|it| it.model() == model).count()
    }
}

fn converse(
    stream: &TcpStream,
    known: &Mutex<Vec<Asked>>,
    script: &(dyn Fn(&Asked) -> Say + Send + Sync),
) -> io::Result<()> {
    let mut asked = read(stream)?;
    {
        let mut known = known.lock().expect("no script panics in the lock");
        asked.before = known
            .iter()
            .filter(|it| it.model() == asked.model())
            .count();
        known.push(asked.clone());
    }
    answer(stream, script(&asked))
}

fn read(stream: &TcpStream) -> io::Result<Asked> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        stream.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().expect("a length"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Asked {
        line: line.trim_end().to_owned(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        bytes: body,
        before: 0,
    })
}

fn answer(mut stream: &TcpStream, say: Say) -> io::Result<()> {
    let (status, headers, body) = match say {
        Say::Nothing => return Ok(()),
        Say::Half => return stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
        Say::Hang => {
            thread::sleep(HANG);
            return Ok(());
        }
        Say::Words(words) => (200, Vec::new(), said(&words).into_bytes()),
        Say::Status(status, headers, body) => (status, headers, body),
    };
    write!(stream, "HTTP/1.1 {status} Status\r\n")?;
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    let length = body.len();
    write!(
        stream,
        "Content-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(&body)
}

pub fn said(words: &str) -> String {
    let answer = json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": words},
            "finish_reason": "stop",
        }],
        "usage": {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
    });
    answer.to_string()
}
