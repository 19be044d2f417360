//! Tokens, by which a client proves who it is.
//!
//! A token reads `comail_ID_SECRET`. Its file `tokens/ID.json` in the session keeps the digest of the
//! whole token and never the token itself, which is printed once. A secret has 256 random bits, so that
//! a plain SHA-256 is enough. Revoking a token removes its file.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use tokio::task::block_in_place;

use crate::base::Digest;
use crate::base::files::{self, AtomicError, Overwrite};
use crate::quest::QuestId;
use crate::session::{Mirror, SessionError, Worker};

const DIRECTORY: &str = "tokens";

const PREFIX: &str = "comail_";

const MAX_FILE_BYTES: u64 = 4096;

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("the operating system gives no randomness, so no token was made")]
    Entropy(#[source] getrandom::Error),
    #[error("cannot {step} {path}")]
    Io {
        step: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(transparent)]
    Write(#[from] AtomicError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("{path} is not the file of a token; remove it")]
    Content {
        path: PathBuf,
        source: serde_json::Error,
    },
}

/// The public name of a token: eight hexadecimal digits.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct TokenId(#[schemars(with = "String", regex(pattern = "^[0-9a-f]{8}$"))] [u8; 4]);

#[derive(Debug, thiserror::Error)]
#[error("expected the eight hexadecimal digits of a token, as `comail token list` prints them")]
pub struct BadTokenId;

impl FromStr for TokenId {
    type Err = BadTokenId;

    fn from_str(text: &str) -> Result<Self, BadTokenId> {
        let mut bytes = [0; 4];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| BadTokenId)?;
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for TokenId {
    type Error = BadTokenId;

    fn try_from(text: String) -> Result<Self, BadTokenId> {
        text.parse()
    }
}

impl From<TokenId> for String {
    fn from(id: TokenId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// A token as its holder has it. It is never written to a log, so it has no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    id: TokenId,
    text: Box<str>,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({})", self.id)
    }
}

impl Token {
    pub fn random() -> Result<Self, TokenError> {
        let (mut id, mut secret) = ([0; 4], [0; 32]);
        getrandom::fill(&mut id).map_err(TokenError::Entropy)?;
        getrandom::fill(&mut secret).map_err(TokenError::Entropy)?;
        let id = TokenId(id);
        let text = format!("{PREFIX}{id}_{}", URL_SAFE_NO_PAD.encode(secret));
        Ok(Self {
            id,
            text: text.into(),
        })
    }

    /// None for a text that no token can have.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let id = id.parse().ok()?;
        (secret.len() == 43).then(|| Self {
            id,
            text: text.into(),
        })
    }

    pub fn id(&self) -> TokenId {
        self.id
    }

    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }

    /// The token itself, to hand to its holder.
    pub fn reveal(&self) -> &str {
        &self.text
    }
}

/// What the holder of a token may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "kebab-case")]
pub enum Grant {
    /// Get quests, submit answers and read the status, as this worker.
    Worker {
        worker: Worker,
        /// The only quest that the token is good for.
        #[serde(skip_serializing_if = "Option::is_none")]
        quest: Option<QuestId>,
    },
    /// Read the status and the page.
    Reader,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenRecord {
    pub id: TokenId,
    #[serde(flatten)]
    pub grant: Grant,
    pub created: Timestamp,
    pub expires: Timestamp,
    /// The SHA-256 of the token.
    pub digest: Digest,
}

impl TokenRecord {
    pub fn new(token: &Token, grant: Grant, created: Timestamp, expires: Timestamp) -> Self {
        Self {
            id: token.id,
            grant,
            created,
            expires,
            digest: token.digest(),
        }
    }

    /// What `token` grants now. How long this takes does not depend on where digests differ.
    pub fn grants(&self, token: &Token, now: Timestamp) -> Option<&Grant> {
        let same = self.digest.as_bytes().ct_eq(token.digest().as_bytes());
        (bool::from(same) && now < self.expires).then_some(&self.grant)
    }
}

/// The tokens of a session, one file each.
///
/// For a session in a database, they are there, so that a token is good at every server, and revoked
/// everywhere at once.
#[derive(Debug, Clone)]
pub struct TokenStore {
    dir: PathBuf,
    session: PathBuf,
}

impl TokenStore {
    pub fn of(session: &Path) -> Self {
        Self {
            dir: session.join(DIRECTORY),
            session: session.to_owned(),
        }
    }

    /// Asks the database, if the session is in one.
    fn shared<T>(
        &self,
        ask: impl FnOnce(&Mirror) -> Result<T, SessionError>,
    ) -> Result<Option<T>, TokenError> {
        // The client of the database blocks, and a server checks tokens on its own threads.
        let asked = block_in_place(|| match Mirror::at(&self.session)? {
            Some(mirror) => ask(&mirror).map(Some),
            None => Ok(None),
        });
        Ok(asked?)
    }

    fn path(&self, id: TokenId) -> PathBuf {
        self.dir.join(format!("{id}.json"))
    }

    pub fn add(&self, record: &TokenRecord) -> Result<(), TokenError> {
        let text = serde_json::to_vec(record).map_err(|source| self.content(record.id, source))?;
        let name = format!("{}.json", record.id);
        if self.shared(|it| it.add_token(&name, &text))?.is_some() {
            return Ok(());
        }
        fs::create_dir_all(&self.dir).map_err(failed("create", &self.dir))?;
        files::write_whole(&self.path(record.id), Overwrite::Never, &[], |file| {
            file.write_all(&text).map_err(failed("write", &self.dir))
        })
    }

    /// What `token` grants now; None for a token that is unknown, expired or revoked.
    pub fn grant(&self, token: &Token, now: Timestamp) -> Result<Option<Grant>, TokenError> {
        let record = self.read(token.id)?;
        Ok(record.and_then(|record| record.grants(token, now).cloned()))
    }

    fn read(&self, id: TokenId) -> Result<Option<TokenRecord>, TokenError> {
        let path = self.path(id);
        let text = match self.shared(|it| it.token(&format!("{id}.json")))? {
            Some(shared) => shared,
            None => match files::read(&path, MAX_FILE_BYTES) {
                Ok(text) => Some(text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(failed("read", &path)(error)),
            },
        };
        let record = text.map(|text| serde_json::from_slice(&text)).transpose();
        record.map_err(|source| self.content(id, source))
    }

    /// The names of the files of all tokens.
    fn names(&self) -> Result<Vec<String>, TokenError> {
        if let Some(names) = self.shared(Mirror::tokens)? {
            return Ok(names);
        }
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed("list", &self.dir)(error)),
        };
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let names: io::Result<Vec<String>> = names.collect();
        names.map_err(failed("list", &self.dir))
    }

    /// Every token, the oldest first.
    pub fn list(&self) -> Result<Vec<TokenRecord>, TokenError> {
        let mut records = Vec::new();
        for name in self.names()? {
            let id = name.strip_suffix(".json");
            if let Some(id) = id.and_then(|id| id.parse().ok()) {
                records.extend(self.read(id)?);
            }
        }
        records.sort_by_key(|record| (record.created, record.id));
        Ok(records)
    }

    /// Whether there was such a token.
    pub fn revoke(&self, id: TokenId) -> Result<bool, TokenError> {
        if let Some(removed) = self.shared(|it| it.remove_token(&format!("{id}.json")))? {
            return Ok(removed);
        }
        let path = self.path(id);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed("remove", &path)(error)),
        }
    }

    fn content(&self, id: TokenId, source: serde_json::Error) -> TokenError {
        TokenError::Content {
            path: self.path(id),
            source,
        }
    }
}

fn failed(step: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TokenError {
    let path = path.to_owned();
    move |source| TokenError::Io { step, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn kim() -> Grant {
        Grant::Worker {
            worker: "kim".parse().unwrap(),
            quest: None,
        }
    }

    #[test]
    fn a_token_grants_until_it_expires_or_is_revoked_and_nobody_elses_does() {
        let dir = tempfile::tempdir().unwrap();
        let store = TokenStore::of(dir.path());
        let token = Token::random().unwrap();
        store
            .add(&TokenRecord::new(&token, kim(), at(0), at(100)))
            .unwrap();
        let read = Token::parse(token.reveal()).unwrap();
        assert_eq!(store.grant(&read, at(99)).unwrap(), Some(kim()));
        assert_eq!(store.grant(&read, at(100)).unwrap(), None);
        let mut forged = token.reveal().to_owned();
        let last = if forged.pop() == Some('A') { 'B' } else { 'A' };
        forged.push(last);
        let forged = Token::parse(&forged).unwrap();
        assert_eq!(forged.id(), token.id());
        assert_eq!(store.grant(&forged, at(0)).unwrap(), None);
        assert_eq!(store.grant(&Token::random().unwrap(), at(0)).unwrap(), None);
        assert!(store.revoke(token.id()).unwrap());
        assert!(!store.revoke(token.id()).unwrap());
        assert_eq!(store.grant(&read, at(0)).unwrap(), None);
    }

    #[test]
    fn the_disk_keeps_no_token() {
        let dir = tempfile::tempdir().unwrap();
        let store = TokenStore::of(dir.path());
        let token = Token::random().unwrap();
        store
            .add(&TokenRecord::new(&token, Grant::Reader, at(0), at(1)))
            .unwrap();
        let listed = store.list().unwrap();
        assert_eq!(listed.len(), 1);
        let text = fs::read_to_string(store.path(token.id())).unwrap();
        // A secret may contain an underscore.
        let secret = token.reveal().splitn(3, '_').nth(2).unwrap();
        assert!(!text.contains(secret), "{text}");
        assert!(!format!("{token:?}").contains(secret));
        assert!(Token::parse("comail_00000000_short").is_none());
        assert!(Token::parse("").is_none());
    }
}
