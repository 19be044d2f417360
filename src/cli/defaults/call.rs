//! The files that hold for one call of a command.

use std::ffi::OsString;

use clap::ArgMatches;

use super::apply::{Applied, apply};
use super::file::BadFile;
use super::key::{Key, heeds};
use super::places::Surroundings;
use super::settings::Settings;
use crate::cli::context::SESSION_VARIABLE;

/// The command line with what the configuration files say, of a command that heeds them; for any
/// other no file is so much as looked for.
pub(in crate::cli) fn of_call(
    root: &dyn Fn() -> clap::Command,
    args: &[OsString],
    matches: ArgMatches,
) -> Result<Applied, BadFile> {
    if !matches.subcommand_name().is_some_and(heeds) {
        let notes = Vec::new();
        return Ok(Applied { matches, notes });
    }
    let settings = here()?;
    if settings.is_empty() {
        let notes = settings.notes().collect();
        return Ok(Applied { matches, notes });
    }
    let mut applied = apply(root, args, matches, &settings, &variable_of)?;
    applied.notes.extend(settings.notes());
    Ok(applied)
}

/// What the files say for a call from here.
pub(in crate::cli) fn here() -> Result<Settings, BadFile> {
    let surroundings = Surroundings::of_process().map_err(BadFile::Nowhere)?;
    Settings::read(&surroundings)
}

/// What the environment says of a default.
pub(in crate::cli) fn variable_of(key: &Key) -> Option<(&'static str, String)> {
    let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    match key.flag {
        "session" => {
            let dir = value(SESSION_VARIABLE)?.to_string_lossy().into_owned();
            Some((SESSION_VARIABLE, dir))
        }
        "color" => value("NO_COLOR").map(|_| ("NO_COLOR", "never".to_owned())),
        _ => None,
    }
}
