//! Calls through files, for an agent whose sandbox allows no socket.
//!
//! A client writes a call as `NAME.call` into a directory that it shares with the server, and waits
//! for `NAME.reply`. Both files appear whole, by a rename. The client may put anything there, so the
//! server works below its own handle of the directory, follows no link, and reads regular files of
//! bounded size that have no other name.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt as _, OpenOptions};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde::{Deserialize, Serialize};

use super::http::MAX_BODY_BYTES;
use super::reply::EXIT_HEADER;

pub const CALL: &str = "call";
pub const REPLY: &str = "reply";

const PAUSE: Duration = Duration::from_millis(50);

/// A body as JSON text, with what is escaped in it.
const MAX_CALL_BYTES: u64 = 3 * MAX_BODY_BYTES as u64;

/// Of more files at a time, some wait.
const MAX_FILES: usize = 256;

/// The same as a request by HTTP.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpooledCall {
    pub token: String,
    /// Such as `v1/next`.
    pub path: String,
    pub accept: String,
    /// A call without a body only reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SpooledReply {
    pub status: u16,
    pub exit: Option<u8>,
    pub body: String,
}

/// The directory of one client.
pub struct Spool(Dir);

impl Spool {
    pub fn open(dir: &Path) -> io::Result<Self> {
        Dir::open_ambient_dir(dir, ambient_authority()).map(Self)
    }

    /// Answers calls until the task is dropped.
    pub async fn serve(self, router: Router) {
        loop {
            // An error is one of the client, who may do anything to the directory.
            for name in self.calls().unwrap_or_default() {
                let call = self.take(&name);
                let reply = match call {
                    Ok(call) => answer(&router, call).await,
                    Err(_) => None,
                };
                if let Some(reply) = reply {
                    let _ = self.put(&name, &reply);
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The names of the calls.
    fn calls(&self) -> io::Result<Vec<String>> {
        let entries = self.0.entries()?.take(MAX_FILES);
        let names = entries.filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let name = name.strip_suffix(CALL)?.strip_suffix('.')?;
            (!name.is_empty()).then(|| name.to_owned())
        });
        Ok(names.collect())
    }

    /// Reads a call and removes its file.
    fn take(&self, name: &str) -> io::Result<SpooledCall> {
        let file = format!("{name}.{CALL}");
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let opened = self.0.open_with(&file, &options);
        self.0.remove_file(&file)?;
        let opened = opened?;
        let about = opened.metadata()?;
        // The name that was just removed was the only one.
        if !about.is_file() || about.nlink() != 0 || about.len() > MAX_CALL_BYTES {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut bytes = Vec::new();
        opened.take(MAX_CALL_BYTES).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    fn put(&self, name: &str, reply: &SpooledReply) -> io::Result<()> {
        let (part, whole) = (format!("{name}.part"), format!("{name}.{REPLY}"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = self.0.open_with(&part, &options)?;
        file.write_all(&serde_json::to_vec(reply)?)?;
        self.0.rename(&part, &self.0, &whole)
    }
}

async fn answer(router: &Router, call: SpooledCall) -> Option<SpooledReply> {
    let method = match call.body {
        Some(_) => Method::POST,
        None => Method::GET,
    };
    let request = Request::builder()
        .method(method)
        .uri(format!("/{}", call.path))
        .header(header::AUTHORIZATION, format!("Bearer {}", call.token))
        .header(header::ACCEPT, call.accept)
        .body(Body::from(call.body.unwrap_or_default()))
        .ok()?;
    let service = TowerToHyperService::new(router.clone());
    let Ok(response) = service.call(request).await;
    let exit = response.headers().get(EXIT_HEADER);
    let exit = exit.and_then(|exit| exit.to_str().ok()?.parse().ok());
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.ok()?;
    Some(SpooledReply {
        status,
        exit,
        body: String::from_utf8(body.into()).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const CALLED: &str = r#"{"token":"t","path":"v1/next","accept":"text/plain"}"#;

    #[test]
    fn only_a_regular_file_of_one_name_and_of_bounded_size_is_a_call() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (at, elsewhere) = (|name| dir.path().join(name), other.path().join("call"));
        fs::write(&elsewhere, CALLED).unwrap();
        fs::write(at("good.call"), CALLED).unwrap();
        fs::write(at("one.call"), CALLED).unwrap();
        fs::hard_link(at("one.call"), at("another")).unwrap();
        symlink(&elsewhere, at("link.call")).unwrap();
        nix::unistd::mkfifo(&at("pipe.call"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let long = format!("{CALLED}{}", " ".repeat(3 << 20));
        fs::write(at("long.call"), long).unwrap();
        fs::create_dir(at("dir.call")).unwrap();
        fs::write(at("half.call"), &CALLED[..9]).unwrap();
        fs::write(at(".call"), CALLED).unwrap();
        let spool = Spool::open(dir.path()).unwrap();
        let mut calls = spool.calls().unwrap();
        calls.sort();
        let all = ["dir", "good", "half", "link", "long", "one", "pipe"];
        assert_eq!(calls, all);
        calls.retain(|name| spool.take(name).is_ok());
        assert_eq!(calls, ["good"]);
        assert!(elsewhere.exists());
        // Each was removed, so that none is read again.
        assert_eq!(spool.calls().unwrap(), ["dir"]);
    }

    #[test]
    fn a_reply_replaces_no_file_outside_the_directory() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let spooled = dir.path().join("spool");
        fs::create_dir(&spooled).unwrap();
        let spool = Spool::open(&spooled).unwrap();
        let reply = SpooledReply {
            status: 200,
            exit: Some(0),
            body: "text".to_owned(),
        };
        let kept = other.path().join("a.reply");
        fs::write(&kept, "kept").unwrap();
        symlink(&kept, spooled.join("a.reply")).unwrap();
        symlink(other.path().join("new"), spooled.join("b.part")).unwrap();
        spool.put("a", &reply).unwrap();
        assert!(spool.put("b", &reply).is_err());
        // The directory that was opened counts, whatever its path leads to now.
        fs::rename(&spooled, dir.path().join("away")).unwrap();
        symlink(other.path(), &spooled).unwrap();
        spool.put("c", &reply).unwrap();
        assert!(dir.path().join("away/c.reply").exists());
        let left: Vec<_> = fs::read_dir(other.path()).unwrap().collect();
        assert_eq!(left.len(), 1);
        assert_eq!(fs::read_to_string(kept).unwrap(), "kept");
    }
}
