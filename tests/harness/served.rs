//! A session that is served, and a client that has nothing but a token.

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
        let args = [&["serve", "--json"], flags].concat();
        let server = Follower::start(&place, &args);
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
