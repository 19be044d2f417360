//! Confirmation by a person: the operator's key or, without one, a word typed on a terminal.
//!
//! A terminal stops a careless program but proves nothing, because a program can open one itself. A key
//! proves that a person decided, as long as no agent can read it.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use super::exit::refuse;
use super::output::write_to_stderr;
use crate::base::text::Escaped;
use crate::session::{Session, SigningKey};

#[derive(Debug, Args)]
pub(super) struct PersonArgs {
    /// Your name, for the ledger [default: the user name]
    #[arg(long, value_name = "NAME")]
    pub(super) by: Option<String>,

    /// The key file that was passed to `scan --operator-key`
    #[arg(long, value_name = "FILE")]
    pub(super) operator_key: Option<PathBuf>,
}

impl PersonArgs {
    pub(super) fn is_named(&self) -> bool {
        self.by.is_some() || self.operator_key.is_some()
    }

    pub(super) fn name(&self) -> String {
        let named = self.by.clone().filter(|name| !name.trim().is_empty());
        named.unwrap_or_else(user_name)
    }

    pub(super) fn authorise(
        &self,
        session: &Session,
        what: &str,
        word: Option<&str>,
    ) -> Result<Option<SigningKey>> {
        authorise(session, self.operator_key.as_deref(), what, word)
    }

    /// Authorises several decisions at once. Even with a key, a person must type `word` on a terminal,
    /// unless `yes` was passed.
    pub(super) fn authorise_many(
        &self,
        session: &Session,
        what: &str,
        word: &str,
        yes: bool,
    ) -> Result<Option<SigningKey>> {
        let key = self.authorise(session, what, Some(word))?;
        if key.is_some() && !yes {
            if !is_on_terminal() {
                return refuse(
                    "confirm several decisions on a terminal, or with --yes and --operator-key",
                );
            }
            ask(what, word)?;
        }
        Ok(key)
    }
}

/// Authorises `what` by the session's key or, without one, on a terminal, where the person must type
/// `word` if there is one.
pub(super) fn authorise(
    session: &Session,
    key: Option<&Path>,
    what: &str,
    word: Option<&str>,
) -> Result<Option<SigningKey>> {
    let key = authority(session, key)?;
    if key.is_some() {
        return Ok(key);
    }
    confirm(what, word)?;
    Ok(None)
}

/// Asks a person at a terminal to confirm `what`, by typing `word` if there is one.
pub(super) fn confirm(what: &str, word: Option<&str>) -> Result<()> {
    if !is_on_terminal() {
        return refuse(
            "only a person can decide this: run it on a terminal (or scan with \
                    --operator-key, and pass that key file)",
        );
    }
    word.map_or(Ok(()), |word| ask(what, word))
}

pub(super) fn refuse_bare_yes(yes: bool, person: &PersonArgs) -> Result<()> {
    if yes && person.operator_key.is_none() {
        return refuse(
            "--yes requires --operator-key: without a key, only the word typed on a \
                    terminal keeps a program from deciding",
        );
    }
    Ok(())
}

pub(super) fn nonempty_note(note: &str) -> Result<&str> {
    if note.trim().is_empty() {
        return refuse("--note must not be empty: say what you looked at and what it shows");
    }
    Ok(note)
}

pub(super) fn is_on_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

pub(super) fn ask(what: &str, word: &str) -> Result<()> {
    let asked = format!("{}\nType `{word}` to continue: ", Escaped(what));
    write_to_stderr(&asked);
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if answer.trim() == word {
        return Ok(());
    }
    bail!("not confirmed; nothing changed")
}

pub(super) fn user_name() -> String {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid());
    let name = user.ok().flatten().map(|user| user.name);
    name.unwrap_or_else(|| "somebody".to_owned())
}

/// The operator's key, if the session has one; then `key` must be its file.
pub(super) fn authority(session: &Session, key: Option<&Path>) -> Result<Option<SigningKey>> {
    let key = key.map(signing_key).transpose()?;
    let wrong = match (&key, session.operator_key()?) {
        (None, None) => return Ok(None),
        (Some(key_given), Some(frozen)) if key_given.public() == frozen => return Ok(key),
        (Some(_), Some(_)) => "this is not the key file that was passed to `scan --operator-key`",
        (Some(_), None) => {
            "the session has no operator's key; `comail scan --update --operator-key FILE` adds one before anything is judged"
        }
        (None, Some(_)) => {
            "only the operator can do this: pass the key file of `scan` with --operator-key FILE"
        }
    };
    refuse(wrong)
}

pub(super) fn signing_key(path: &Path) -> Result<SigningKey> {
    let bytes = std::fs::read(path)
        .with_context(|| format!("cannot read the operator's key {}", path.display()))?;
    SigningKey::read(&bytes).with_context(|| path.display().to_string())
}
