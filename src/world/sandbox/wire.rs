//! What the program and its confined child say to each other, as frames on a socket.
//!
//! The child is sent a [`Setting`] and then [`Instructions`]; two frames, since two processes read
//! one each. It answers with what it has to [tell](Tell). A byte [`TERMINATE`] asks it to end the
//! command; the end of the stream, which the death of the program is too, makes it kill all.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::confinement::{Confinement, Namespace};
use super::order::Network;
use super::ran::End;

/// Asks politely that the command end.
pub(super) const TERMINATE: u8 = b'T';

/// No frame is longer.
const LONGEST: u32 = 256 << 20;

/// What must be known before anything else is done.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Setting {
    /// The namespaces to enter where the kernel lets us.
    pub namespaces: BTreeSet<Namespace>,
    /// Directories that are to look empty.
    pub hidden: Vec<PathBuf>,
    /// Directories that must not be hidden.
    pub visible: Vec<PathBuf>,
    /// The scratch copy.
    pub scratch: PathBuf,
}

/// What was entered of what was wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Entered {
    /// The namespaces.
    pub namespaces: BTreeSet<Namespace>,
    /// Where the command sees its scratch copy, if elsewhere.
    pub moved: Option<Moved>,
    /// Whether all but its own places is mounted read-only.
    pub read_only: bool,
}

/// A directory that a command sees at another place than others do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Moved {
    /// Where others see it.
    pub from: PathBuf,
    /// Where the command does.
    pub to: PathBuf,
}

impl Moved {
    /// Where the command sees what others see at `path`.
    pub fn seen(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.from) {
            // An empty rest would leave a slash at the end.
            Ok(rest) if rest.as_os_str().is_empty() => self.to.clone(),
            Ok(rest) => self.to.join(rest),
            Err(_) => path.to_owned(),
        }
    }
}

/// What is to be run, and what it may do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Instructions {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its environment.
    pub env: BTreeMap<String, String>,
    /// Its working directory.
    pub dir: PathBuf,
    /// What it reads.
    pub stdin: String,
    /// What it may write.
    pub writable: Vec<PathBuf>,
    /// What it may reach.
    pub network: Network,
    /// Whether Landlock may be used.
    pub landlock: bool,
    /// How long a file may become.
    pub file_bytes: u64,
}

/// What the confined child tells.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Tell {
    /// The command is started, with this in force.
    Started(Confinement),
    /// It does not run after all, for this reason.
    NotStarted(String),
    /// It ended by itself, or by a signal.
    Ended(End),
}

/// Sends one value.
pub(crate) fn send(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(value)?;
    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    to.write_all(&length.to_be_bytes())?;
    to.write_all(&text)?;
    to.flush()
}

/// Receives one value, and reads no byte beyond it.
pub(crate) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = Vec::new();
    let read = from.take(u64::from(length)).read_to_end(&mut text)?;
    if read as u64 != u64::from(length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_no_byte_beyond_a_frame() {
        let mut bytes = Vec::new();
        send(&mut bytes, &"one").unwrap();
        send(&mut bytes, &2).unwrap();
        let mut rest = bytes.as_slice();
        assert_eq!(receive::<String>(&mut rest).unwrap(), "one");
        assert_eq!(receive::<u8>(&mut rest).unwrap(), 2);
        assert!(rest.is_empty());
    }

    #[test]
    fn what_is_moved_is_seen_elsewhere() {
        let moved = Moved {
            from: PathBuf::from("/tmp/a"),
            to: PathBuf::from("/srv/tree"),
        };
        for (path, seen) in [
            ("/tmp/a", "/srv/tree"),
            ("/tmp/a/b", "/srv/tree/b"),
            ("/tmp/ab", "/tmp/ab"),
        ] {
            assert_eq!(moved.seen(Path::new(path)).as_os_str(), seen);
        }
    }

    #[test]
    fn refuses_what_is_no_frame() {
        assert!(receive::<u8>(&mut b"\xff\xff\xff\xff1".as_slice()).is_err());
        assert!(receive::<u8>(&mut b"\0\0\0\x021".as_slice()).is_err());
        assert!(receive::<u8>(&mut b"\0\0\0\x01x".as_slice()).is_err());
        assert!(receive::<u8>(&mut b"\0".as_slice()).is_err());
    }
}
