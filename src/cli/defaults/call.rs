//! The files that hold for one call of a command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgMatches;

use super::apply::{Applied, apply};
use super::file::BadFile;
use super::key::{Key, SESSION, has_session, heeds};
use super::places::Surroundings;
use super::settings::Settings;
use crate::cli::context::SESSION_VARIABLE;

/// The command line with what the configuration files say, of a command that heeds them. Any other
/// takes of the user's file which session is meant, and looks at no project's.
pub(in crate::cli) fn of_call(
    root: &dyn Fn() -> clap::Command,
    args: &[OsString],
    matches: ArgMatches,
) -> Result<Applied, BadFile> {
    let settings = match matches.subcommand_name() {
        Some(name) if heeds(name) => match here() {
            Ok(settings) => settings,
            // Who has a file that does not read is sent here.
            Err(_) if is_example(&matches) => {
                let notes = Vec::new();
                return Ok(Applied { matches, notes });
            }
            Err(error) => return Err(error),
        },
        Some(name) if has_session(name) => {
            let surroundings = Surroundings::of_process().map_err(BadFile::Nowhere)?;
            Settings::session_alone(&surroundings)?
        }
        _ => {
            let notes = Vec::new();
            return Ok(Applied { matches, notes });
        }
    };
    if settings.is_empty() {
        let notes = settings.notes().collect();
        return Ok(Applied { matches, notes });
    }
    let mut applied = match apply(root, args, matches.clone(), &settings, &variable_of) {
        Err(_) if is_example(&matches) => {
            let notes = Vec::new();
            Applied { matches, notes }
        }
        applied => applied?,
    };
    applied.notes.extend(settings.notes());
    Ok(applied)
}

/// Whether an example of a file is asked for, whatever the files say.
fn is_example(matches: &ArgMatches) -> bool {
    let config = matches.subcommand_matches("config");
    config.is_some_and(|config| config.get_flag("example"))
}

/// What the files say for a call from here.
pub(in crate::cli) fn here() -> Result<Settings, BadFile> {
    let surroundings = Surroundings::of_process().map_err(BadFile::Nowhere)?;
    Settings::read(&surroundings)
}

/// The session that the user's file names; none where that cannot be told.
pub(in crate::cli) fn session_of_user() -> Option<PathBuf> {
    let surroundings = Surroundings::of_process().ok()?;
    let settings = Settings::session_alone(&surroundings).ok()?;
    let named = settings.of_key(Key::named(None, SESSION)?)?;
    named.values.first().map(PathBuf::from)
}

/// Where the user's file lies, if there is a place for it.
pub(in crate::cli) fn file_of_user() -> Option<PathBuf> {
    let surroundings = Surroundings::of_process().ok()?;
    surroundings.of_user().map(|place| place.path)
}

/// What the environment says of a default.
pub(in crate::cli) fn variable_of(key: &Key) -> Option<(&'static str, String)> {
    let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    match key.flag {
        SESSION => {
            let dir = value(SESSION_VARIABLE)?.to_string_lossy().into_owned();
            Some((SESSION_VARIABLE, dir))
        }
        "color" => value("NO_COLOR").map(|_| ("NO_COLOR", "never".to_owned())),
        _ => None,
    }
}
