//! Which files an agent may change: those in the write zone, never the session or the settings that
//! hold the hooks.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use super::protocol::{Permission, ToolReply};
use crate::judge::JudgeError;
use crate::judge::quest_file::Definition;
use crate::session::Manifest;
use crate::world::tree::{Ignored, TreePath, Zones};

const MAX_LINKS: u32 = 40;

/// Files from which an agent could remove the hooks.
const AGENT_SETTINGS: [&str; 5] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
];

/// Decides about paths. Symbolic links are resolved first, so that a link cannot lead out of the
/// write zone.
#[derive(Debug)]
pub struct PathPolicy {
    pub cwd: PathBuf,
    pub home: Option<PathBuf>,
    /// The session directory, resolved.
    pub session: PathBuf,
    /// Where files may be changed; none if the quest kind has no tree.
    pub zone: Option<WriteZone>,
    /// Further files that configure comail, resolved: the rules and the user's defaults.
    pub configuration: Vec<PathBuf>,
}

#[derive(Debug)]
pub struct WriteZone {
    root: PathBuf,
    globs: Zones,
    ignored: Ignored,
}

impl WriteZone {
    /// The zone that a session froze when it was made.
    pub fn of(manifest: &Manifest) -> Result<Option<Self>, JudgeError> {
        let Some(tree) = Definition::of(manifest)?.and_then(|definition| definition.tree) else {
            return Ok(None);
        };
        let globs = Zones::new(&tree.write)?;
        let ignored = tree.ignored()?;
        // The tree may be gone since. Then there is nothing in the zone to change.
        let root = real_path(&tree.root).unwrap_or(tree.root);
        Ok(Some(Self {
            root,
            globs,
            ignored,
        }))
    }

    /// The same zone of a worktree.
    #[must_use]
    pub fn at(self, worktree: &Path) -> Self {
        Self {
            root: real_path(worktree).unwrap_or_else(|_| worktree.to_owned()),
            ..self
        }
    }

    /// The path in the tree, if it is in the zone.
    fn inside(&self, real: &Path) -> Option<TreePath> {
        let inside = real.strip_prefix(&self.root).ok()?.to_str()?;
        let path = TreePath::parse(inside).ok()?;
        self.globs.contains(&path).then_some(path)
    }
}

impl PathPolicy {
    pub(super) fn edit(&self, path: &str) -> ToolReply {
        if path.is_empty() || path.contains('\0') {
            return Permission::Deny.because("it names no file");
        }
        let reply = self.edit_at(path, &self.cwd.join(path));
        if !path.starts_with('~') {
            return reply;
        }
        // Some tools expand `~` and some do not, so both places must be allowed.
        match self.in_home(path) {
            Some(place) => reply.stricter(self.edit_at(path, &place)),
            None => Permission::Deny.because(format!("{path}: the home directory is unknown")),
        }
    }

    fn edit_at(&self, path: &str, place: &Path) -> ToolReply {
        let real = match real_path(place) {
            Ok(real) => real,
            Err(error) => return Permission::Deny.because(format!("{path}: {error}")),
        };
        if self.is_in_session(&real) {
            return Permission::Deny.because(format!("{path} is in the session directory"));
        }
        if self.is_configuration(&real) {
            return Permission::Deny.because(format!("{path} configures the agent or comail"));
        }
        let Some(zone) = &self.zone else {
            return Permission::Defer.because("the session has no write zone");
        };
        let Some(inside) = zone.inside(&real) else {
            let globs = zone.globs.texts().join(", ");
            let root = zone.root.display();
            return Permission::Deny.because(format!(
                "{path} is outside the write zone ({globs} in {root}); no check looks at it there"
            ));
        };
        if let Some(rule) = zone.ignored.rule_of_file(&inside) {
            return Permission::Deny
                .because(format!("{rule} ignores {path}; no check looks at it there"));
        }
        if has_hard_links(&real) {
            return Permission::Ask.because(format!(
                "{path} has another hard link, which may be outside the write zone"
            ));
        }
        Permission::Allow.because(format!("{path} is in the write zone"))
    }

    /// The objection to a word of a command, if it names the session or a file of settings.
    pub(super) fn object_to_word(&self, word: &str) -> Option<ToolReply> {
        let value = word.split_once('=').map(|(_, value)| value);
        [Some(word), value]
            .into_iter()
            .flatten()
            .find_map(|path| self.object_to_path(path))
    }

    fn object_to_path(&self, path: &str) -> Option<ToolReply> {
        let places = [Some(self.cwd.join(path)), self.in_home(path)];
        let places = places.into_iter().flatten();
        let real: Vec<PathBuf> = places.filter_map(|place| real_path(&place).ok()).collect();
        // The name alone is enough: after `cd`, a relative path does not start where we think.
        if self.has_session_name(path) || real.iter().any(|real| self.is_in_session(real)) {
            let why = format!("`{path}` is in the session directory");
            return Some(Permission::Deny.because(why));
        }
        let settings = real.iter().any(|real| self.is_configuration(real));
        settings
            .then(|| Permission::Ask.because(format!("`{path}` configures the agent or comail")))
    }

    fn has_session_name(&self, path: &str) -> bool {
        let session = lower(&self.session);
        let name = session.file_name().and_then(|name| name.to_str());
        // A name like `session` is too common to object to.
        let name = name.filter(|name| name.starts_with('.') && name.len() > 1);
        name.is_some_and(|name| path.to_lowercase().split('/').any(|part| part == name))
    }

    pub(super) fn is_in_session(&self, real: &Path) -> bool {
        lower(real).starts_with(lower(&self.session))
    }

    fn is_configuration(&self, real: &Path) -> bool {
        let real = lower(real);
        AGENT_SETTINGS.iter().any(|name| real.ends_with(name))
            || self.configuration.iter().any(|file| lower(file) == real)
    }

    fn in_home(&self, path: &str) -> Option<PathBuf> {
        let rest = path.strip_prefix('~')?.trim_start_matches('/');
        self.home.as_ref().map(|home| home.join(rest))
    }
}

/// The path in lower case, because some file systems ignore case.
fn lower(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => text.to_lowercase().into(),
        None => path.to_owned(),
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PathError {
    #[error("the path is not absolute")]
    Relative,
    #[error("the path has too many symbolic links")]
    Links,
    #[error("the path cannot be resolved: {0}")]
    Io(#[from] io::Error),
}

/// Resolves every symbolic link of an absolute path. Unlike `canonicalize`, it accepts paths whose
/// last parts do not exist yet: a file that is about to be written has to be checked too.
pub fn real_path(path: &Path) -> Result<PathBuf, PathError> {
    if !path.is_absolute() {
        return Err(PathError::Relative);
    }
    let mut current = PathBuf::new();
    let mut rest = path.to_owned();
    let mut links = 0;
    while let Some(step) = rest.components().next() {
        let after: PathBuf = rest.components().skip(1).collect();
        let next = match step {
            Component::CurDir => current.clone(),
            Component::ParentDir => current.parent().unwrap_or(&current).to_owned(),
            step => current.join(step),
        };
        let found = match std::fs::symlink_metadata(&next) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        if found.is_some_and(|found| found.is_symlink()) {
            links += 1;
            if links > MAX_LINKS {
                return Err(PathError::Links);
            }
            // If the target is absolute, joining its root replaces `current`.
            rest = std::fs::read_link(&next)?.join(after);
        } else {
            current = next;
            rest = after;
        }
    }
    Ok(current)
}

fn has_hard_links(path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path);
    found.is_ok_and(|found| found.is_file() && found.nlink() > 1)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    impl PathPolicy {
        /// A policy for `root/work`, whose session is in `.comail` and whose write zone is `in/**`.
        pub(in crate::hook) fn sample(root: &Path) -> Self {
            let cwd = root.join("work");
            Self {
                session: cwd.join(".comail"),
                home: Some(root.join("home")),
                zone: Some(WriteZone {
                    root: cwd.clone(),
                    globs: Zones::new(&["in/**".to_owned()]).unwrap(),
                    ignored: Ignored::new(&["in/built/**".to_owned()]).unwrap(),
                }),
                configuration: vec![cwd.join("rules.toml")],
                cwd,
            }
        }
    }

    fn home() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().canonicalize().unwrap();
        (home, path)
    }

    #[test]
    fn an_agent_with_a_worktree_edits_there_and_not_in_the_working_tree() {
        let (_home, root) = home();
        fs::create_dir_all(root.join("tree/in")).unwrap();
        fs::create_dir_all(root.join("work/in")).unwrap();
        let sample = PathPolicy::sample(&root);
        let policy = PathPolicy {
            cwd: root.join("tree"),
            zone: sample.zone.map(|zone| zone.at(&root.join("tree"))),
            ..PathPolicy::sample(&root)
        };
        let there = policy.edit("in/a").permission;
        let here = policy.edit(&root.join("work/in/a").display().to_string());
        assert_eq!(
            (there, here.permission),
            (Permission::Allow, Permission::Deny)
        );
    }

    #[test]
    fn edits_are_allowed_in_the_write_zone_only() {
        let (_home, root) = home();
        fs::create_dir_all(root.join("work/in")).unwrap();
        fs::create_dir_all(root.join("work/.comail")).unwrap();
        symlink("../.comail", root.join("work/in/session")).unwrap();
        symlink("..", root.join("work/in/up")).unwrap();
        symlink("../new", root.join("work/in/dangling")).unwrap();
        symlink("here", root.join("work/in/fine")).unwrap();
        fs::write(root.join("work/outside"), "").unwrap();
        fs::hard_link(root.join("work/outside"), root.join("work/in/hard")).unwrap();
        let policy = PathPolicy::sample(&root);
        let absolute = root.join("work/in/a").display().to_string();
        for (path, permission) in [
            ("in/new", Permission::Allow),
            ("in/../in/a/b", Permission::Allow),
            (&absolute, Permission::Allow),
            ("in/fine", Permission::Allow),
            ("in/hard", Permission::Ask),
            ("out", Permission::Deny),
            ("in/../out", Permission::Deny),
            ("IN/x", Permission::Deny),
            ("/etc/passwd", Permission::Deny),
            ("~/x", Permission::Deny),
            ("in/session/x", Permission::Deny),
            ("in/up/x", Permission::Deny),
            ("in/dangling", Permission::Deny),
            ("in/built/a", Permission::Deny),
            ("in/.claude/settings.json", Permission::Deny),
            ("in/.CLAUDE/settings.json", Permission::Deny),
            (".comail/ledger.jsonl", Permission::Deny),
            ("rules.toml", Permission::Deny),
            ("", Permission::Deny),
            ("in/a\0b", Permission::Deny),
        ] {
            assert_eq!(policy.edit(path).permission, permission, "{path}");
        }
        let free = PathPolicy {
            zone: None,
            ..policy
        };
        assert_eq!(free.edit("out").permission, Permission::Defer);
        assert_eq!(free.edit(".comail/x").permission, Permission::Deny);
        assert_eq!(free.edit("in/session/x").permission, Permission::Deny);
        assert_eq!(free.edit("rules.toml").permission, Permission::Deny);
    }

    #[test]
    fn words_that_name_the_session_or_settings_are_objected_to() {
        let (_home, root) = home();
        fs::create_dir_all(root.join("work/.comail")).unwrap();
        symlink(".comail", root.join("work/link")).unwrap();
        let policy = PathPolicy::sample(&root);
        let absolute = root.join("work/.comail/x").display().to_string();
        for (word, permission) in [
            (".comail", Some(Permission::Deny)),
            (".COMAIL/x", Some(Permission::Deny)),
            ("../other/.comail", Some(Permission::Deny)),
            ("link/ledger.jsonl", Some(Permission::Deny)),
            ("--file=link/x", Some(Permission::Deny)),
            (&absolute, Some(Permission::Deny)),
            ("rules.toml", Some(Permission::Ask)),
            ("a/.codex/config.toml", Some(Permission::Ask)),
            (".comails", None),
            ("explain .comail in words", None),
            ("in/a", None),
            ("settings.json", None),
        ] {
            let reply = policy.object_to_word(word);
            assert_eq!(reply.map(|it| it.permission), permission, "{word}");
        }
    }

    #[test]
    fn links_are_resolved_anywhere_in_a_path() {
        let (_home, home) = home();
        fs::create_dir_all(home.join("a/b")).unwrap();
        symlink("a/b", home.join("in")).unwrap();
        symlink(home.join("in"), home.join("twice")).unwrap();
        symlink("a/nowhere", home.join("dangling")).unwrap();
        symlink("round", home.join("round")).unwrap();
        for (path, expected) in [
            ("a/b/c", "a/b/c"),
            ("in/c", "a/b/c"),
            ("in/../c", "a/c"),
            ("twice/./x/../c", "a/b/c"),
            ("dangling", "a/nowhere"),
            ("not/../c", "c"),
        ] {
            let real = real_path(&home.join(path)).unwrap();
            assert_eq!(real, home.join(expected), "{path}");
        }
        let round = real_path(&home.join("round"));
        assert!(matches!(round, Err(PathError::Links)));
        let relative = real_path(Path::new("a"));
        assert!(matches!(relative, Err(PathError::Relative)));
        fs::write(home.join("file"), "").unwrap();
        assert!(real_path(&home.join("file/x")).is_err());
    }
}
