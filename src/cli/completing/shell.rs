//! The shells: the script for each, and the form in which each takes what it is offered.

use std::ffi::OsString;
use std::io;

use clap::ValueEnum;
use clap_complete::CompletionCandidate;
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Zsh};

use super::bash;
use super::quoting::for_powershell;
use super::request::VARIABLE;

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Shell {
    /// GNU Bash
    Bash,
    /// Z shell
    Zsh,
    /// The friendly interactive shell
    Fish,
    /// `PowerShell`
    Powershell,
    /// Elvish
    Elvish,
}

impl Shell {
    /// The shell that a script names.
    pub(super) fn named(name: &str) -> Option<Self> {
        let mut all = Self::value_variants().iter().copied();
        all.find(|shell| shell.name() == name)
    }

    /// Its name, as its script spells it.
    pub(in crate::cli) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => Zsh.name(),
            Self::Fish => Fish.name(),
            Self::Powershell => Powershell.name(),
            Self::Elvish => Elvish.name(),
        }
    }

    /// The script that has the shell ask `completer`.
    pub(in crate::cli) fn script(self, completer: &str) -> io::Result<String> {
        let Some(library) = self.library() else {
            return Ok(bash::script(completer));
        };
        let mut script = Vec::new();
        library.write_registration(VARIABLE, "comail", "comail", completer, &mut script)?;
        String::from_utf8(script).map_err(io::Error::other)
    }

    /// What the library's own form answers for `words`.
    pub(super) fn answer(
        self,
        parser: &mut clap::Command,
        words: Vec<OsString>,
    ) -> Option<Vec<u8>> {
        let here = std::env::current_dir().ok();
        let mut answer = Vec::new();
        let library = self.library()?;
        let written = library.write_complete(parser, words, here.as_deref(), &mut answer);
        written.ok().map(|()| answer)
    }

    /// What the library knows of it; bash's script there leaves what it is offered unquoted.
    fn library(self) -> Option<&'static dyn EnvCompleter> {
        match self {
            Self::Bash => None,
            Self::Zsh => Some(&Zsh),
            Self::Fish => Some(&Fish),
            Self::Powershell => Some(&Powershell),
            Self::Elvish => Some(&Elvish),
        }
    }
}

/// What can stand for the last of `words`.
pub(super) fn candidates(
    parser: &mut clap::Command,
    words: Vec<OsString>,
) -> Option<Vec<CompletionCandidate>> {
    let last = words.len().checked_sub(1)?;
    let here = std::env::current_dir().ok();
    clap_complete::engine::complete(parser, words, last, here.as_deref()).ok()
}

/// What `PowerShell` is answered: it takes what it is offered into the line as it stands.
pub(super) fn powershell(offers: Vec<CompletionCandidate>) -> Vec<u8> {
    let mut lines = String::new();
    for offer in offers {
        let Some(value) = offer.get_value().to_str().and_then(for_powershell) else {
            continue;
        };
        let help = offer.get_help().map(ToString::to_string);
        let help = help.as_deref().and_then(|help| help.lines().next());
        lines.push_str(&value);
        if let Some(help) = help.filter(|help| !help.is_empty()) {
            lines.push('\t');
            lines.push_str(help);
        }
        lines.push('\n');
    }
    lines.into_bytes()
}
