//! A person's authority: the operator's key or, where none was frozen, a word typed at a terminal.
//!
//! A terminal keeps a careless program out and is no proof of a person: a program can make
//! itself one. The key is proof, as far as it lies out of the agent's reach.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use super::exit::UsageError;
use super::operator::{self, Authority};
use crate::base::text::Escaped;
use crate::session::{Session, SigningKey};

/// Who decides.
#[derive(Debug, Args)]
pub(super) struct PersonArgs {
    /// Who decides [default: the user's name]
    #[arg(long, value_name = "NAME")]
    pub(super) by: Option<String>,

    /// The key file that `scan` was given with --operator-key
    #[arg(long, value_name = "FILE")]
    pub(super) operator_key: Option<PathBuf>,
}

impl PersonArgs {
    /// Whether anybody is named.
    pub(super) fn is_named(&self) -> bool {
        self.by.is_some() || self.operator_key.is_some()
    }

    /// The name of who decides.
    pub(super) fn name(&self) -> String {
        let named = self.by.clone().filter(|name| !name.trim().is_empty());
        named.unwrap_or_else(user_name)
    }

    /// Lets a person through who is about to do `what`.
    ///
    /// With the key where the session froze one; else at a terminal where `word` is typed, if a
    /// word is asked for at all.
    pub(super) fn authorise(
        &self,
        session: &Session,
        what: &str,
        word: Option<&str>,
    ) -> Result<Option<SigningKey>> {
        match operator::authority(session, self.operator_key.as_deref())? {
            Authority::Key(key) => Ok(Some(key)),
            Authority::NoneFrozen if io::stdin().is_terminal() && io::stderr().is_terminal() => {
                word.map_or(Ok(()), |word| ask(what, word))?;
                Ok(None)
            }
            Authority::NoneFrozen => Err(UsageError(
                "this is a person's to decide: run it at a terminal (a session that is scanned \
                 with --operator-key asks for that key file instead)"
                    .to_owned(),
            )
            .into()),
        }
    }
}

/// Refuses a `--yes` that would leave nothing between a program and a decision.
pub(super) fn refuse_bare_yes(yes: bool, person: &PersonArgs) -> Result<()> {
    if yes && person.operator_key.is_none() {
        let text = "--yes goes with --operator-key alone: without a key, the word that is typed \
                    at a terminal is all that keeps a program from deciding";
        return Err(UsageError(text.to_owned()).into());
    }
    Ok(())
}

/// Lets through who types `word` at a terminal.
pub(super) fn confirm(what: &str, word: &str) -> Result<()> {
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        return ask(what, word);
    }
    let text = "several at once are confirmed at a terminal, or with --yes beside --operator-key";
    Err(UsageError(text.to_owned()).into())
}

/// The note, if it says anything.
pub(super) fn noted(note: &str) -> Result<&str> {
    if note.trim().is_empty() {
        let text = "--note says why: what was looked at, and what it shows; nothing changed";
        return Err(UsageError(text.to_owned()).into());
    }
    Ok(note)
}

fn ask(what: &str, word: &str) -> Result<()> {
    let mut terminal = io::stderr();
    write!(terminal, "{}\nType `{word}` to go on: ", Escaped(what))?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if answer.trim() == word {
        return Ok(());
    }
    bail!("nothing was decided")
}

/// The name of the user whose process this is.
fn user_name() -> String {
    #[cfg(unix)]
    if let Ok(Some(user)) = nix::unistd::User::from_uid(nix::unistd::getuid()) {
        return user.name;
    }
    std::env::var("USERNAME").unwrap_or_else(|_| "somebody".to_owned())
}
