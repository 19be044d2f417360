//! One press of the key: the words that a shell hands over, and what it is answered.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use super::attach::with_offers;
use super::quoting::{Dialect, unquoted};
use super::shell::Shell;
use super::{bash, shell};
use crate::cli::exit::Exit;
use crate::cli::{command, session_kind};

/// The variable by which a shell asks; its value is the shell's name.
pub(super) const VARIABLE: &str = "COMAIL_COMPLETE";

/// How long a shell waits at most, whatever lies where the session is looked for.
const PATIENCE: Duration = Duration::from_millis(800);

/// What the parser may need, as the main thread has it.
const STACK_BYTES: usize = 8 << 20;

/// Answers `args` where they are what a shell asks, as `COMAIL_COMPLETE=SHELL comail -- WORDS…`.
///
/// Whatever goes wrong, a shell is answered nothing, and nobody is told: the line that is being
/// typed stays as it is.
pub(in crate::cli) fn answered(args: &[OsString]) -> Option<Exit> {
    let name = std::env::var_os(VARIABLE)?;
    let asked = args.get(1).is_some_and(|arg| arg == "--");
    let shell = Shell::named(&name.to_string_lossy()).filter(|_| asked)?;
    let words = args.get(2..).unwrap_or_default().to_vec();
    if let Some(text) = in_time(PATIENCE, move || answer(shell, &words)).flatten() {
        let _ = std::io::stdout().write_all(&text);
    }
    Some(Exit::Done)
}

/// What `work` comes to, if it does so in time; else it goes on until the process ends.
fn in_time<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = channel();
    let begun = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || sender.send(work()));
    begun.ok()?;
    receiver.recv_timeout(patience).ok()
}

fn answer(shell: Shell, words: &[OsString]) -> Option<Vec<u8>> {
    let home = std::env::var("HOME").ok();
    let typed = match shell {
        Shell::Bash => bash::Typed::of(words, home.as_deref())?.words,
        Shell::Zsh => raw_words(words, home.as_deref())?,
        Shell::Fish => last_raw(words)?,
        // These hand over what the words say.
        Shell::Elvish | Shell::Powershell => words.to_vec(),
    };
    let kind = session_kind::of(&typed);
    let session = session_kind::dir(&typed);
    let mut parser = with_offers(command::parser(&kind), &session, &typed);
    match shell {
        Shell::Bash => {
            let line = bash::Typed::of(words, home.as_deref())?;
            bash::answer(&line, shell::candidates(&mut parser, typed)?)
        }
        Shell::Powershell => Some(shell::powershell(shell::candidates(&mut parser, typed)?)),
        other => other.answer(&mut parser, typed),
    }
}

/// What words say that are handed over as they were typed; the last as far as it goes.
fn raw_words(words: &[OsString], home: Option<&str>) -> Option<Vec<OsString>> {
    let said = words.iter().map(|word| said(word, home, Dialect::Posix));
    said.collect()
}

/// The same, where only the last is as it was typed.
fn last_raw(words: &[OsString]) -> Option<Vec<OsString>> {
    let (last, whole) = words.split_last()?;
    let last = said(last, None, Dialect::Fish)?;
    Some(whole.iter().cloned().chain([last]).collect())
}

fn said(word: &OsStr, home: Option<&str>, dialect: Dialect) -> Option<OsString> {
    let (text, _) = unquoted(word.to_str()?, home, dialect)?;
    Some(text.into())
}
