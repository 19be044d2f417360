//! Where configuration files lie, and which of them are left aside.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::files;

/// What a project's file is called.
pub(in crate::cli) const PROJECT: &str = "comail.toml";

/// Where the user's file lies in the directory for such files.
const USER: [&str; 2] = ["comail", "config.toml"];

/// The most that a file may hold, in bytes.
const MOST_BYTES: u64 = 64 * 1024;

/// Whose file it is; the later one counts before the earlier one, and may say less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::cli) enum Author {
    /// The user's, in the directory for configuration.
    User,
    /// The project's, in the directory or one above it, up to the root of the repository.
    Project,
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
        })
    }
}

/// A place where a file is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Place {
    pub(in crate::cli) author: Author,
    pub(in crate::cli) path: PathBuf,
}

/// What is found at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum State {
    /// No file.
    Absent,
    /// A file that somebody else could have written, and why that is so.
    LeftAside(&'static str),
    /// A file that is heeded, and its text.
    Read(String),
}

/// A place and what is found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Found {
    pub(in crate::cli) place: Place,
    pub(in crate::cli) state: State,
}

/// What the places depend on.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Surroundings {
    /// The working directory.
    pub(in crate::cli) here: PathBuf,
    /// `XDG_CONFIG_HOME`.
    pub(in crate::cli) config_home: Option<OsString>,
    /// `HOME`.
    pub(in crate::cli) home: Option<OsString>,
    /// `APPDATA`, where there is no home.
    pub(in crate::cli) app_data: Option<OsString>,
}

impl Surroundings {
    /// Those of this process.
    pub(in crate::cli) fn of_process() -> std::io::Result<Self> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Ok(Self {
            here: std::env::current_dir()?,
            config_home: variable("XDG_CONFIG_HOME"),
            home: variable("HOME"),
            app_data: variable("APPDATA"),
        })
    }

    /// The places, the one that counts first before the other.
    pub(super) fn places(&self, is_there: impl Fn(&Path) -> bool) -> Vec<Place> {
        let project = Place {
            author: Author::Project,
            path: project(&self.here, is_there),
        };
        std::iter::once(project).chain(self.of_user()).collect()
    }

    /// The user's place alone.
    pub(super) fn of_user(&self) -> Option<Place> {
        self.user_dir().map(|dir| Place {
            author: Author::User,
            path: USER.iter().fold(dir, |path, name| path.join(name)),
        })
    }

    /// The directory for configuration, by the XDG Base Directory Specification, which knows
    /// absolute paths alone.
    fn user_dir(&self) -> Option<PathBuf> {
        let absolute = |path: &OsString| Some(PathBuf::from(path)).filter(|dir| dir.is_absolute());
        let named = self.config_home.as_ref().and_then(absolute);
        let home = || {
            self.home
                .as_ref()
                .and_then(absolute)
                .map(|home| home.join(".config"))
        };
        named
            .or_else(home)
            .or_else(|| self.app_data.as_ref().and_then(absolute))
    }
}

/// The project's file: the nearest, from here up to the root of the repository; outside of a
/// repository only here.
fn project(here: &Path, is_there: impl Fn(&Path) -> bool) -> PathBuf {
    let root = here.ancestors().find(|dir| is_there(&dir.join(".git")));
    let last = root.unwrap_or(here);
    let within = here.ancestors().take_while(|dir| dir.starts_with(last));
    let mut files = within.map(|dir| dir.join(PROJECT));
    files
        .find(|file| is_there(file))
        .unwrap_or_else(|| here.join(PROJECT))
}

/// What lies at a place.
pub(super) fn look(place: Place) -> std::io::Result<Found> {
    let state = match fs::metadata(&place.path) {
        Ok(metadata) => match stranger(&metadata) {
            Some(why) => State::LeftAside(why),
            None => read(&place.path)?,
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => State::Absent,
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => State::Absent,
        Err(error) => return Err(error),
    };
    Ok(Found { place, state })
}

/// What a file holds, which may have become another since it was looked at.
fn read(path: &Path) -> std::io::Result<State> {
    let file = files::open(path)?;
    if let Some(why) = stranger(&file.metadata()?) {
        return Ok(State::LeftAside(why));
    }
    let bytes = files::whole(file, MOST_BYTES)?;
    let text = String::from_utf8(bytes).map_err(std::io::Error::other)?;
    Ok(State::Read(text))
}

/// Why somebody else may have written a file, if so.
#[cfg(unix)]
fn stranger(metadata: &fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt as _;

    const BY_ANYBODY: u32 = 0o002;
    whose(
        metadata.uid(),
        nix::unistd::geteuid().as_raw(),
        metadata.mode() & BY_ANYBODY != 0,
    )
}

/// Elsewhere nobody is told apart.
#[cfg(not(unix))]
fn stranger(_metadata: &fs::Metadata) -> Option<&'static str> {
    None
}

/// The same, of a file of this owner and for this user.
#[cfg(unix)]
fn whose(owner: u32, user: u32, by_anybody: bool) -> Option<&'static str> {
    if owner != user && owner != 0 {
        Some("it belongs to another user")
    } else if by_anybody {
        Some("anybody may write to it")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(here: &str, there: &[&str]) -> Vec<Place> {
        let surroundings = Surroundings {
            here: here.into(),
            home: Some("/home/kim".into()),
            ..Surroundings::default()
        };
        surroundings.places(|path| there.iter().any(|known| path == Path::new(known)))
    }

    #[test]
    fn the_nearest_counts_up_to_the_root_of_the_repository() {
        let nearest = |there: &[&str]| at("/w/repo/a/b", there).remove(0).path;
        let here = Path::new("/w/repo/a/b/comail.toml");
        for (there, expected) in [
            (&["/w/repo/.git"][..], here),
            (&["/w/repo/comail.toml"], here),
            (&["/w/repo/.git", "/w/comail.toml"], here),
            (
                &["/w/repo/.git", "/w/repo/comail.toml"],
                Path::new("/w/repo/comail.toml"),
            ),
            (
                &[
                    "/w/repo/.git",
                    "/w/repo/comail.toml",
                    "/w/repo/a/comail.toml",
                ],
                Path::new("/w/repo/a/comail.toml"),
            ),
            (
                &["/w/repo/.git", "/w/repo/a/.git", "/w/repo/comail.toml"],
                here,
            ),
        ] {
            assert_eq!(nearest(there), expected, "{there:?}");
        }
    }

    #[test]
    fn the_users_file_lies_where_such_files_do() {
        let user = |config_home: Option<&str>, home: Option<&str>| {
            let surroundings = Surroundings {
                here: "/w".into(),
                config_home: config_home.map(OsString::from),
                home: home.map(OsString::from),
                app_data: None,
            };
            let places = surroundings.places(|_| false);
            places.get(1).map(|place| place.path.display().to_string())
        };
        let usual = Some("/home/kim/.config/comail/config.toml".to_owned());
        assert_eq!(user(None, Some("/home/kim")), usual);
        assert_eq!(user(Some("relative"), Some("/home/kim")), usual);
        let named = Some("/x/comail/config.toml".to_owned());
        assert_eq!(user(Some("/x"), Some("/home/kim")), named);
        assert_eq!(user(None, None), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_others_can_write_is_left_aside() {
        assert_eq!(whose(1000, 1000, false), None);
        assert_eq!(whose(0, 1000, false), None);
        assert!(whose(1001, 1000, false).is_some());
        assert!(whose(1000, 0, false).is_some());
        assert!(whose(1000, 1000, true).is_some());
    }
}
