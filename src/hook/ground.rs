//! Where a call stands: its directory, the session, and where files may be changed.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use super::real_path::Unresolved;
use super::ruling::{Ruled, Ruling};
use crate::world::tree::{TreePath, Zones};

/// Says where a path leads.
pub type Leads<'a> = &'a dyn Fn(&Path) -> Result<PathBuf, Unresolved>;

/// Says whether a file has further names.
pub type Shared<'a> = &'a dyn Fn(&Path) -> bool;

/// Where a call stands.
pub struct Ground<'a> {
    /// The directory in which the agent calls; absolute.
    pub here: PathBuf,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The session directory, every link followed.
    pub session: PathBuf,
    /// Where files may be changed, of a kind with a tree.
    pub zone: Option<WriteZone>,
    /// The worker as which the agent works, where it has a name.
    pub worker: Option<String>,
    /// Files that steer the hooks themselves, every link followed.
    pub steering: Vec<PathBuf>,
    /// How paths are followed.
    pub leads: Leads<'a>,
    /// How it is told that a file has further names.
    pub shared: Shared<'a>,
}

/// Where files may be changed.
pub struct WriteZone {
    /// The tree's directory, every link followed.
    pub root: PathBuf,
    /// The zones in it.
    pub zones: Zones,
}

/// Files that hold an agent's own settings, from which it could take the hooks.
const SETTINGS: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
];

/// Files that hold a project's defaults for this program.
const DEFAULTS: &[&str] = &["comail.toml"];

/// The words of a text that are looked at as files.
const MOST_WORDS: usize = 4096;

impl Ground<'_> {
    /// Whether the file at `path` may be changed, where `here` is the directory.
    pub(super) fn edit(&self, path: &str, here: &Path) -> Ruled {
        if path.is_empty() || path.contains('\0') {
            return Ruled::forbid("it names no file");
        }
        // A shell that hands it on puts the home directory there, others do not.
        let read = self.edit_at(path, &here.join(path));
        match self.at_home(path) {
            Some(own) => read.stricter(self.edit_at(path, &own)),
            None if path.starts_with('~') => {
                Ruled::forbid(format!("{path}: the home directory is not known"))
            }
            None => read,
        }
    }

    /// Whether the file there may be changed, which a call names `path`.
    fn edit_at(&self, path: &str, place: &Path) -> Ruled {
        let real = match (self.leads)(place) {
            Ok(real) => real,
            Err(why) => return Ruled::forbid(format!("{path}: {why}")),
        };
        if self.reach(&real) == Reach::Inside {
            return Ruled::forbid(format!("{path} lies in the session directory"));
        }
        if self.steers(&real) {
            return Ruled::forbid(format!("{path} decides what the agent may do"));
        }
        let Some(zone) = &self.zone else {
            return Ruled::new(Ruling::Leave, "it lies outside the session directory");
        };
        if zone.contains(&real) && (self.shared)(&real) {
            let why = format!("{path} has a further name, which may lie outside the write zone");
            return Ruled::new(Ruling::Prompt, why);
        }
        if zone.contains(&real) {
            return Ruled::new(Ruling::Allow, "it lies in the write zone");
        }
        let globs = zone.zones.texts().join(", ");
        let root = zone.root.display();
        Ruled::forbid(format!(
            "{path} lies outside the write zone ({globs} in {root}); what is changed there reaches no check"
        ))
    }

    /// Whether this file decides what the agent may do.
    pub(super) fn steers(&self, real: &Path) -> bool {
        let real = lower(real);
        let mut named = SETTINGS.iter().chain(DEFAULTS);
        named.any(|name| real.ends_with(name))
            || self.steering.iter().any(|file| lower(file) == real)
    }

    /// Whether a file in this directory, or this file itself, decides what the agent may do.
    pub(super) fn steers_in(&self, real: &Path) -> bool {
        let low = lower(real);
        let mut settings = SETTINGS.iter().filter_map(|name| Path::new(name).parent());
        let mut files = self.steering.iter().map(|file| lower(file));
        self.steers(real)
            || settings.any(|folder| low.ends_with(folder))
            || files.any(|file| file.starts_with(&low))
    }

    /// Whether a pattern may stand for a file that decides what the agent may do, or for its
    /// directory, where `here` is the directory.
    pub(super) fn pattern_steers(&self, pattern: &str, here: &Path) -> bool {
        let text = here.join(pattern);
        let Some(text) = text.to_str().map(str::to_lowercase) else {
            return true;
        };
        let fits = |part: Option<&str>, path: Option<&Path>| {
            let name = path
                .and_then(Path::file_name)
                .and_then(|name| name.to_str());
            part.is_some_and(|part| {
                name.is_some_and(|name| part == name || matches(part, Some(name)))
            })
        };
        let mut parts = text
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".");
        let (last, before) = (parts.next_back(), parts.next_back());
        let holds = |file: &Path| fits(last, Some(file)) && fits(before, file.parent());
        // Who means every file there is means none of these.
        let says = last.is_some_and(|last| last.contains(char::is_alphanumeric));
        if says
            && DEFAULTS
                .iter()
                .any(|name| fits(last, Some(Path::new(name))))
        {
            return true;
        }
        let mut files = self.steering.iter().map(|file| lower(file));
        let mut settings = SETTINGS.iter().map(Path::new);
        files.any(|file| holds(&file))
            || settings.any(|file| holds(file) || fits(last, file.parent()))
    }

    /// Whether a text names a file that decides what the agent may do, or the directory of one,
    /// by itself or among others.
    pub(super) fn names_steering(&self, text: &str) -> bool {
        let settings = |real: &Path| {
            let mut folders = SETTINGS.iter().filter_map(|name| Path::new(name).parent());
            folders.any(|folder| lower(real).ends_with(folder))
        };
        let named = |word: &str| {
            let places = self.places(word, &self.here);
            places
                .iter()
                .any(|real| self.steers(real) || settings(real))
        };
        let words = text.split(|c: char| c.is_whitespace() || "'\"`;|&<>(),=".contains(c));
        let words = words.filter(|word| !word.is_empty());
        named(text) || words.take(MOST_WORDS).any(named)
    }

    /// The place that a `~` at the beginning may stand for.
    fn at_home(&self, text: &str) -> Option<PathBuf> {
        let rest = text.strip_prefix('~')?.trim_start_matches('/');
        self.home.as_ref().map(|home| home.join(rest))
    }

    /// The places that `text` may name, where `here` is the directory.
    pub(super) fn places(&self, text: &str, here: &Path) -> Vec<PathBuf> {
        let own = self.at_home(text);
        let value = text.split_once('=').map(|(_, value)| here.join(value));
        let all = [Some(here.join(text)), own, value];
        let all = all.into_iter().flatten();
        all.filter_map(|path| (self.leads)(&path).ok()).collect()
    }

    /// Whether the session's name or place stands in `text`.
    pub(super) fn is_written_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let whole = lower(&self.session);
        let name = whole.file_name().and_then(|name| name.to_str());
        let name = name.filter(|name| name.starts_with('.') && name.len() > 1);
        let all = whole.to_str().into_iter().chain(name);
        all.into_iter().any(|name| stands_in(name, &text))
    }

    /// Whether a text names the session directory, or a place in it.
    pub(super) fn is_inside(&self, text: &str, here: &Path) -> bool {
        let places = self.places(text, here);
        self.is_written_in(text) || places.iter().any(|real| self.reach(real) == Reach::Inside)
    }

    /// How near the files that a pattern may stand for come to the session directory.
    pub(super) fn pattern_reach(&self, pattern: &str, here: &Path) -> Reach {
        let is_glob = |name: &&str| name.contains(['*', '?', '[']);
        // A link on the way may lead back to where the session is.
        let whole = lower(&self.session);
        let name = whole.file_name().and_then(|name| name.to_str());
        let again = |part: &str| {
            is_glob(&part) && !part.starts_with(['*', '?', '[']) && matches(part, name)
        };
        if pattern.to_lowercase().split('/').skip(1).any(again) {
            return Reach::Inside;
        }
        let fixed = pattern.split('/').take_while(|name| !is_glob(name));
        let fixed = fixed.collect::<Vec<_>>().join("/");
        let fixed = if pattern.starts_with('/') {
            format!("/{fixed}")
        } else {
            fixed
        };
        let Ok(base) = (self.leads)(&here.join(fixed)) else {
            return Reach::Inside;
        };
        let (base, session) = (lower(&base), lower(&self.session));
        let Ok(way) = session.strip_prefix(&base) else {
            return self.reach(&base);
        };
        let pattern = pattern.to_lowercase();
        let globs: Vec<_> = pattern
            .split('/')
            .skip_while(|name| !is_glob(name))
            .collect();
        let names: Vec<_> = way.iter().collect();
        let mut pairs = globs.iter().zip(&names);
        if globs.contains(&"..") {
            Reach::Inside
        } else if !pairs.all(|(glob, name)| matches(glob, name.to_str())) {
            Reach::Nothing
        } else if globs.len() < names.len() {
            Reach::Around
        } else {
            Reach::Inside
        }
    }

    /// How near this place, every link followed, comes to the session directory.
    pub(super) fn reach(&self, real: &Path) -> Reach {
        let (real, session) = (lower(real), lower(&self.session));
        if real.starts_with(&session) {
            Reach::Inside
        } else if session.starts_with(&real) {
            Reach::Around
        } else {
            Reach::Nothing
        }
    }
}

/// How near a place comes to the session directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// It has nothing to do with it.
    Nothing,
    /// It has it in it.
    Around,
    /// It is it, or lies in it.
    Inside,
}

impl WriteZone {
    fn contains(&self, real: &Path) -> bool {
        let inside = real.strip_prefix(&self.root).ok().and_then(Path::to_str);
        let path = inside.and_then(|path| TreePath::parse(path).ok());
        path.is_some_and(|path| self.zones.contains(&path))
    }
}

/// Whether a name fits one part of a pattern, as a shell has it.
fn matches(glob: &str, name: Option<&str>) -> bool {
    let Some(name) = name else {
        return true;
    };
    if name.starts_with('.') && glob.starts_with(['*', '?', '[']) {
        return false;
    }
    // What stands in brackets differs from shell to shell: it may be anything.
    let glob = glob
        .split_once('[')
        .map_or_else(|| glob.to_owned(), |(begin, _)| format!("{begin}*"));
    let built = GlobBuilder::new(&glob).literal_separator(true).build();
    built.map_or(true, |glob| glob.compile_matcher().is_match(name))
}

/// Whether `name` stands in `text` and does not go on there.
fn stands_in(name: &str, text: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let behind = text[at + name.len()..].chars().next();
        behind.is_none_or(|c| !c.is_alphanumeric() && !"-_.".contains(c))
    })
}

/// The path in small letters: where file names are compared without case, it is the same.
fn lower(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => text.to_lowercase().into(),
        None => path.to_owned(),
    }
}
