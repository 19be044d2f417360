//! A session that is served, and a client that has nothing but a token.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use serde_json::Value;

use super::follower::Follower;
use super::letters::{LETTERS, Letters};
use super::{Place, Run};

pub struct Served {
    /// Where the session is.
    pub place: Place,
    /// An empty directory for the client.
    pub client: Place,
    pub server: Follower,
    pub url: String,
}

impl Served {
    /// A session of letters.
    pub fn start(flags: &[&str]) -> Self {
        Self::of(Letters::scanned(LETTERS).place, flags)
    }

    pub fn of(place: Place, flags: &[&str]) -> Self {
        Self::with(place, flags, &[])
    }

    /// The same with these variables of the environment.
    pub fn with(place: Place, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = place.command();
        command.args(["serve", "--json"]).args(flags);
        let server = Follower::of(command.envs(variables.iter().copied()));
        let serving = server.document();
        Self {
            url: serving["server"].as_str().expect("a URL").to_owned(),
            client: Place::new(),
            place,
            server,
        }
    }

    pub fn token(&self, flags: &[&str]) -> String {
        let (code, made) = self.place.json([&["token", "new"], flags].concat());
        assert_eq!(code, 0, "{made}");
        made["token"].as_str().expect("a token").to_owned()
    }

    /// The address of a server on TCP.
    pub fn address(&self) -> &str {
        self.url.strip_prefix("http://").expect("HTTP")
    }

    /// A connection on which this was sent: a line such as `GET /`, headers, and a body.
    pub fn sent(&self, line: &str, headers: &[&str], body: &str) -> TcpStream {
        sent(self.address(), line, headers, body)
    }

    /// What the server replies to it.
    pub fn asked(&self, line: &str, headers: &[&str], body: &str) -> Exchange {
        Exchange::of(self.sent(line, headers, body))
    }

    /// A command of the client, who sees no session.
    pub fn command(&self, token: &str, args: &[&str]) -> Command {
        let mut command = self.client.command();
        command.env("COMAIL_SERVER", &self.url);
        command.env("COMAIL_TOKEN", token).args(args);
        command
    }

    pub fn run(&self, token: &str, args: &[&str]) -> Run {
        Run::of(&mut self.command(token, args))
    }

    pub fn json(&self, token: &str, args: &[&str]) -> (i32, Value) {
        Run::of(self.command(token, args).arg("--json")).json()
    }
}

/// What a server replied by HTTP.
#[derive(Debug)]
pub struct Exchange {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// A token of the same form and the same public name, with another secret.
pub fn forged(token: &str) -> String {
    let (rest, last) = token.split_at(token.len() - 1);
    let other = if last == "A" { "E" } else { "A" };
    format!("{rest}{other}")
}

/// The secret part of a token, which may contain an underscore.
pub fn secret_of(token: &str) -> &str {
    token.splitn(3, '_').nth(2).expect("an id and a secret")
}

/// Headers as lines.
pub fn lines(headers: &[&str]) -> String {
    headers.iter().flat_map(|it| [it, "\r\n"]).collect()
}

/// A connection on which this was sent to an address.
pub fn sent(host: &str, line: &str, headers: &[&str], body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(host).expect("a connection");
    let length = body.len();
    let headers = lines(headers);
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
         Content-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("it is sent");
    stream
}

impl Exchange {
    pub fn of(mut stream: TcpStream) -> Self {
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("a reply");
        let (head, body) = reply.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
        Self {
            status: status.expect("a status"),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

/// The header that hands over a token.
pub fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}
