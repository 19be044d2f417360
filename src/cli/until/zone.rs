//! What an agent may change under `comail until`.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use itertools::Itertools as _;
use regex::RegexBuilder;

use super::super::exit::UsageError;
use super::command::is_started_directly;
use crate::world::tree::{Ignored, TreePath, Zones, list_paths, read_gitignores};

/// One glob a line; `#` begins a comment.
const PROTECTED: &str = include_str!("protected.txt");

/// What a person says about a zone.
pub(super) struct Terms<'a> {
    pub(super) commands: &'a [String],
    pub(super) work: &'a [String],
    pub(super) may_edit: &'a [String],
    pub(super) protect: &'a [String],
    /// Whether ignored files are part of the tree.
    pub(super) with_ignored: bool,
}

/// Where the agent may write.
#[derive(Debug)]
pub(super) struct Zone {
    /// For the `write` of a quest file: the last one that matches a file decides.
    pub(super) globs: Vec<String>,
    /// Flags whose glob matches no file.
    pub(super) unused: Vec<String>,
    /// The files that commands name, by themselves or through a link, and that the agent may change.
    pub(super) named: BTreeSet<String>,
    work: Vec<String>,
    may_edit: Vec<String>,
    protect: Vec<String>,
}

impl Zone {
    /// The zone of `tree`, as it is now.
    pub(super) fn of(tree: &Path, session: &Path, terms: &Terms<'_>) -> Result<Self> {
        let flags = [
            ("--work", terms.work),
            ("--may-edit", terms.may_edit),
            ("--protect", terms.protect),
        ];
        for (flag, globs) in flags {
            check(tree, flag, globs)?;
        }
        refuse_absolute(tree, terms.commands)?;
        let session = Ignored::default().and_folder(session);
        let rules = read_gitignores(tree, &session).with_context(|| of_tree(tree))?;
        let ignored = session.clone().and_gitignores(&rules);
        let usual = usual_names();
        let work = if terms.work.is_empty() {
            work_by_names(top(tree, &ignored)?, &usual, terms)?
        } else {
            terms.work.to_vec()
        };
        let mut files = list_paths(tree, &ignored).with_context(|| of_tree(tree))?;
        let links = files.iter().filter(|path| is_link(tree, path)).cloned();
        let mut forbidden = with_targets(tree, links.collect(), usual)?;
        if terms.with_ignored {
            files = list_paths(tree, &session).with_context(|| of_tree(tree))?;
            let parts = files.iter().filter_map(|path| ignored_part(path, &ignored));
            forbidden.extend(parts.unique());
        }
        let mut globs = work.clone();
        // The first glob of a zone allows something.
        if !work.is_empty() {
            globs.extend(forbidden);
        }
        globs.extend_from_slice(terms.may_edit);
        globs.extend(terms.protect.iter().map(forbid));
        let zones = Zones::new(&globs)?;
        refuse_protected(terms, &zones, &files)?;
        let flags = flags.iter().filter(|(flag, _)| *flag != "--may-edit");
        let given = flags.flat_map(|(flag, globs)| globs.iter().map(move |glob| (flag, glob)));
        let unused = given.filter(|(_, glob)| matched(glob, &files).next().is_none());
        Ok(Self {
            globs,
            unused: unused
                .map(|(flag, glob)| format!("{flag} '{glob}'"))
                .collect(),
            named: open_files(tree, terms, &zones),
            work,
            may_edit: terms.may_edit.to_vec(),
            protect: terms.protect.to_vec(),
        })
    }
}

fn check(tree: &Path, flag: &str, globs: &[String]) -> Result<()> {
    Zones::without_exceptions(globs).map_err(|bad| UsageError(format!("{flag}: {bad}")))?;
    let Some(folder) = globs.iter().find(|glob| tree.join(glob).is_dir()) else {
        return Ok(());
    };
    Err(UsageError(format!(
        "{flag}: {folder:?} is a folder; nothing was started"
    ))
    .hint(format!("for all that is in it, write {flag} '{folder}/**'"))
    .into())
}

/// The paths that one glob matches.
fn matched<'a>(glob: &str, paths: &'a BTreeSet<TreePath>) -> impl Iterator<Item = &'a TreePath> {
    let zones = Zones::new(&[glob.to_owned()]).unwrap_or_default();
    paths.iter().filter(move |path| zones.contains(path))
}

/// The files that commands name and that the agent may change, unless a person allowed that one by one.
fn open_files(tree: &Path, terms: &Terms<'_>, zones: &Zones) -> BTreeSet<String> {
    let is_of_path = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let words = terms.commands.iter();
    let words = words.flat_map(|command| command.split(|c| !is_of_path(c)));
    let paths = words.filter_map(|word| TreePath::parse(word.trim_start_matches("./")).ok());
    let paths = paths.filter(|path| tree.join(path.as_str()).is_file());
    let places = paths.flat_map(|path| places_behind(tree, &path));
    let is_open = |place: &String| {
        let path = TreePath::parse(place);
        path.is_ok_and(|path| zones.contains(&path)) && !terms.may_edit.contains(place)
    };
    places.filter(is_open).collect()
}

fn refuse_protected(terms: &Terms<'_>, zones: &Zones, files: &BTreeSet<TreePath>) -> Result<()> {
    let is_protected = |glob: &&String| {
        let mut named = matched(glob, files).peekable();
        named.peek().is_some() && !named.any(|path| zones.contains(path))
    };
    let Some(glob) = terms.work.iter().find(is_protected) else {
        return Ok(());
    };
    Err(UsageError(format!(
        "--work '{glob}': every file that it names is protected; nothing was started"
    ))
    .hint(if terms.protect.is_empty() {
        format!("allow what the agent is to change, such as --may-edit '{glob}'")
    } else {
        "allow what the agent is to change with --may-edit, and leave it out of --protect"
            .to_owned()
    })
    .into())
}

/// The commands run in a copy of the tree, and such a path leads past it.
fn refuse_absolute(tree: &Path, commands: &[String]) -> Result<()> {
    let Some(command) = commands.iter().find(|it| names_absolutely(it, tree)) else {
        return Ok(());
    };
    Err(UsageError(format!(
        "`{command}` names a place in the tree by its absolute path: it would not be run in the copy of \
         the tree that is judged; nothing was started"
    ))
    .hint("write the path from the tree's root, such as checks/run.py")
    .into())
}

/// Whether a command has the path of the tree as a path, and not as the end of another one. It may
/// follow a flag, as in `-I/srv/tree`.
fn names_absolutely(command: &str, tree: &Path) -> bool {
    let root = tree.display().to_string();
    let is_of_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    command.match_indices(&root).any(|(at, _)| {
        let word = command[..at].rsplit(char::is_whitespace).next();
        let word = word.unwrap_or_default();
        let begins = word.starts_with('-') || !word.ends_with(|c| is_of_name(c) || c == '/');
        begins && !command[at + root.len()..].starts_with(is_of_name)
    })
}

/// Forbids the usual names of tests, settings and build scripts.
fn usual_names() -> Vec<String> {
    let lines = PROTECTED.lines();
    let globs = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    globs
        .flat_map(in_usual_cases)
        .map(|glob| forbid(&glob))
        .collect()
}

/// The work where a person does not say what it is: what is at the top of the tree and has no usual
/// name. New names at the top are no part of it, because many tools look for their settings and their
/// programs there.
///
/// This is refused if a command may run other files than those with usual names.
fn work_by_names(places: Vec<Place>, usual: &[String], terms: &Terms<'_>) -> Result<Vec<String>> {
    let all = places.iter().map(|place| place.glob.clone());
    let protect = terms.protect.iter().map(forbid);
    let globs: Vec<_> = all.chain(usual.iter().cloned()).chain(protect).collect();
    let zones = if places.is_empty() {
        Zones::default()
    } else {
        Zones::new(&globs)?
    };
    let mut open = places;
    open.retain(|place| zones.contains(&place.sample));
    let work = open.iter().filter(|place| !place.is_link);
    let work: Vec<_> = work.map(|place| place.glob.clone()).collect();
    if work.is_empty() && terms.may_edit.is_empty() {
        return Err(UsageError(
            "every file in the tree is protected, so that the agent could not work; nothing was started"
                .to_owned(),
        )
        .hint("name what it may change, such as --may-edit 'src/**'")
        .into());
    }
    let mut commands = terms.commands.iter();
    let Some(why) = commands.find_map(|command| why_unclear(command, &open)) else {
        return Ok(work);
    };
    Err(UsageError(format!(
        "{why}, so it is unclear which files are the work and which ones judge it; nothing was started"
    ))
    .hint(format!(
        "name the work with --work GLOB; at the top of the tree are {}",
        work.iter().take(MAX_NAMED).join(", ")
    ))
    .into())
}

/// How many places a hint names.
const MAX_NAMED: usize = 8;

/// Why a command may run files whose names are not protected.
fn why_unclear(command: &str, open: &[Place]) -> Option<String> {
    if !is_started_directly(command) {
        return Some(format!("`{command}` is run by a shell"));
    }
    let named = open.iter().find(|place| place.is_named_in(command))?;
    Some(format!("`{command}` names {}", named.name))
}

/// What makes a path ignored: a folder with all in it, or itself.
fn ignored_part(path: &TreePath, ignored: &Ignored) -> Option<String> {
    let ends = path.as_str().match_indices('/');
    let mut folders = ends.filter_map(|(end, _)| TreePath::parse(&path.as_str()[..end]).ok());
    if let Some(folder) = folders.find(|folder| ignored.rule_of_folder(folder).is_some()) {
        return Some(format!("!{}/**", globset::escape(folder.as_str())));
    }
    let is_ignored = ignored.rule_of_file(path).is_some();
    is_ignored.then(|| format!("!{}", globset::escape(path.as_str())))
}

fn is_link(tree: &Path, path: &TreePath) -> bool {
    fs::read_link(tree.join(path.as_str())).is_ok()
}

/// The forbidden globs, and those of what the links lead to that they forbid: who changes the target of
/// a link changes what is found under its name.
fn with_targets(
    tree: &Path,
    mut links: Vec<TreePath>,
    mut forbidden: Vec<String>,
) -> Result<Vec<String>> {
    loop {
        let all = std::iter::once("**".to_owned()).chain(forbidden.iter().cloned());
        let zones = Zones::new(&all.collect::<Vec<_>>())?;
        let (open, protected): (Vec<_>, Vec<_>) =
            links.into_iter().partition(|link| zones.contains(link));
        if protected.is_empty() {
            return Ok(forbidden);
        }
        let places = protected.iter().flat_map(|link| places_behind(tree, link));
        let globs = places.map(|place| format!("!{}", globset::escape(&place)));
        forbidden.extend(globs.flat_map(|glob| [format!("{glob}/**"), glob]));
        links = open;
    }
}

/// What a link leads to in the tree, and the links on the way there.
fn places_behind(tree: &Path, link: &TreePath) -> Vec<String> {
    let mut here = PathBuf::from(link.as_str());
    let mut rest: Vec<OsString> = Vec::new();
    let mut places = Vec::new();
    for _ in 0..MAX_STEPS {
        if let Ok(target) = fs::read_link(tree.join(&here)) {
            places.push(here.clone());
            here.pop();
            let target = match target.strip_prefix(tree) {
                Ok(within) => {
                    here = PathBuf::new();
                    within.to_owned()
                }
                Err(_) if target.is_absolute() => break,
                Err(_) => target,
            };
            rest.extend(target.iter().rev().map(OsStr::to_owned));
        }
        match rest.pop() {
            None => {
                places.push(here);
                break;
            }
            Some(part) if part == ".." => {
                // It leads out of the tree.
                if !here.pop() {
                    break;
                }
            }
            Some(part) if part == "." => {}
            Some(part) => here.push(part),
        }
    }
    let places = places
        .into_iter()
        .filter_map(|it| it.into_os_string().into_string().ok());
    places.filter(|place| !place.is_empty()).collect()
}

/// More than any path takes that a system opens.
const MAX_STEPS: usize = 4096;

fn forbid(glob: &String) -> String {
    format!("!{glob}")
}

/// A glob without capital letters, and the same capitalised and in capitals. Classes such as `[tT]`
/// would mean any case, but make a set of globs a hundred times slower to build.
fn in_usual_cases(glob: &str) -> Vec<String> {
    if glob.contains(|c: char| c.is_ascii_uppercase()) {
        return vec![glob.to_owned()];
    }
    let mut before = '/';
    let capitalise = |c: char| {
        let starts = !before.is_ascii_alphanumeric();
        before = c;
        if starts { c.to_ascii_uppercase() } else { c }
    };
    let capitalised = glob.chars().map(capitalise).collect();
    let capitals = glob.to_ascii_uppercase();
    [glob.to_owned(), capitalised, capitals]
        .into_iter()
        .unique()
        .collect()
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work = (!self.work.is_empty()).then(|| {
            let work = self.work.join(", ");
            format!("{work}, except tests, hidden files, settings, lock files and build scripts")
        });
        let more = (!self.may_edit.is_empty()).then(|| self.may_edit.join(", "));
        let all = work.into_iter().chain(more).join("; and ");
        write!(f, "The agent may change {all}")?;
        if !self.protect.is_empty() {
            write!(f, "; but not {}", self.protect.join(", "))?;
        }
        Ok(())
    }
}

/// A file or folder at the top of the tree.
#[derive(Debug)]
struct Place {
    /// Without what follows the first full stop: a program may complete it.
    name: String,
    /// It can be named, but the agent cannot change it.
    is_link: bool,
    glob: String,
    /// The file, or one in the folder that no glob of a name matches.
    sample: TreePath,
}

impl Place {
    /// Whether an argument has this name as a word of its own, or right after the letters of a flag.
    fn is_named_in(&self, command: &str) -> bool {
        let name = regex::escape(&self.name);
        let pattern = format!(r"(?:\W|\s-\w+){name}(?:\W|$)");
        let pattern = RegexBuilder::new(&pattern).case_insensitive(true).build();
        // A name that makes no pattern may be anywhere.
        pattern.map_or(true, |pattern| pattern.is_match(command))
    }
}

fn of_tree(tree: &Path) -> String {
    format!("the tree {}", tree.display())
}

/// Each file and folder at the top of the tree that is part of it.
fn top(tree: &Path, ignored: &Ignored) -> Result<Vec<Place>> {
    let failed = || of_tree(tree);
    let mut places = Vec::new();
    for entry in fs::read_dir(tree).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let kind = entry.file_type().with_context(failed)?;
        let name = entry.file_name();
        let Some(path) = name.to_str().and_then(|name| TreePath::parse(name).ok()) else {
            continue;
        };
        let stem = path.as_str().split('.').find(|it| !it.is_empty());
        let stem = stem.unwrap_or(path.as_str()).to_owned();
        let name = globset::escape(path.as_str());
        // A name that no glob can say is not part of the work.
        if Zones::without_exceptions(std::slice::from_ref(&name)).is_err() {
            continue;
        }
        let is_link = kind.is_symlink();
        let (glob, sample) = if kind.is_dir() {
            if ignored.rule_of_folder(&path).is_some() {
                continue;
            }
            let Ok(sample) = TreePath::parse(&format!("{path}/comail")) else {
                continue;
            };
            (format!("{name}/**"), sample)
        } else if (kind.is_file() || is_link) && ignored.rule_of_file(&path).is_none() {
            (name, path)
        } else {
            continue;
        };
        places.push(Place {
            name: stem,
            is_link,
            glob,
            sample,
        });
    }
    places.sort_unstable_by(|one, other| one.glob.cmp(&other.glob));
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    /// The zone of a tree of empty files.
    fn zone(files: &[&str], command: &str, flags: &[(&str, &str)]) -> Result<Zone> {
        let tree = tempfile::tempdir().unwrap();
        for file in files {
            let path = tree.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::create_dir(tree.path().join(".comail")).unwrap();
        let globs = |wanted: &str| -> Vec<String> {
            let given = flags.iter().filter(|(flag, _)| *flag == wanted);
            given.map(|(_, glob)| (*glob).to_owned()).collect()
        };
        let session = tree.path().join(".comail");
        let terms = Terms {
            commands: &[command.to_owned()],
            work: &globs("--work"),
            may_edit: &globs("--may-edit"),
            protect: &globs("--protect"),
            with_ignored: false,
        };
        Zone::of(tree.path(), &session, &terms)
    }

    fn allows(zone: &Zone, path: &str) -> bool {
        let zones = Zones::new(&zone.globs).unwrap();
        zones.contains(&TreePath::parse(path).unwrap())
    }

    #[test]
    fn the_work_is_what_decides_nothing_about_the_commands() {
        let files = ["src/lib.rs", "main.go", "Makefile", "tests/a.rs"];
        let zone = zone(&files, "make", &[]).unwrap();
        for work in [
            "src/lib.rs",
            "src/new/deep.py",
            "src/Profile.tsx",
            "src/latest.rs",
            "src/features/a.ts",
            "src/project.ts",
            "main.go",
        ] {
            assert!(allows(&zone, work), "{work}");
        }
        for protected in [
            "Makefile",
            "new.go",
            "conftest.py",
            "new/lib.rs",
            "tests/a.rs",
            "src/tests.rs",
            "src/TestMain.java",
            "src/MainTest.java",
            "src/MainTests/A.swift",
            "src/main_test.go",
            "src/a.spec.ts",
            "src/t/a.t",
            "src/conftest.py",
            "src/build.rs",
            "src/Cargo.toml",
            "src/package.json",
            "src/package-lock.json",
            "src/jest.config.js",
            "src/Gruntfile.js",
            "src/Makefile",
            "src/.cargo/config.toml",
            "src/.github/a",
            "src/setup.cfg",
            "src/go.mod",
            "src/run.sh",
            "src/node_modules/a/index.js",
            "src/meson.build",
            "src/Build.PL",
            "src/Setup.hs",
            "src/MAKEFILE",
            "src/TEST_MAIN.c",
            "src/settings.py",
        ] {
            assert!(!allows(&zone, protected), "{protected}");
        }
        let said = zone.to_string();
        assert!(
            said.starts_with("The agent may change main.go, src/**, except "),
            "{said}"
        );
    }

    #[test]
    fn a_command_that_may_run_the_work_needs_to_be_told_what_that_is() {
        let files = [
            "checks/run.py",
            "d/e/R.pm",
            "run.py",
            "src/a",
            "src-b/a",
            "tests/a.rs",
        ];
        for (command, why) in rows! {
            "sh -c 'make'" => "is run by a shell";
            "make && true" => "is run by a shell";
            "sh $1.$2" => "is run by a shell";
            "X=1 make" => "is run by a shell";
            "./tool" => "is run by a shell";
            "python3 checks/run.py" => "names checks";
            "python3 -m checks.run" => "names checks";
            "python3 -mchecks.run" => "names checks";
            "python3 -m run" => "names run";
            "perl -Id/e -MR" => "names d";
            "node d/e/R" => "names d";
            "tool --config=src/a" => "names src";
            "tool @SRC/a" => "names src";
            "make -C src-b" => "names src-b";
        } {
            let refused = zone(&files, command, &[]).unwrap_err().to_string();
            let expected = format!("`{command}` {why}, so it is unclear");
            assert!(refused.starts_with(&expected), "{command}: {refused}");
            let zone = zone(&files, command, &[("--work", "src/**")]).unwrap();
            assert!(allows(&zone, "src/new") && !allows(&zone, "checks/run.py"));
            assert!(!allows(&zone, "src/conftest.py"), "{command}");
        }
        for command in [
            "cargo test",
            "npm test",
            "pytest -q",
            "pytest tests/a.rs",
            "python3 -m pytest",
            "go test ./...",
            "make -j4 check",
            "dune build",
            "mysrc",
        ] {
            let zone = zone(&files, command, &[]).unwrap();
            assert!(allows(&zone, "checks/run.py"), "{command}");
        }
    }

    #[test]
    fn the_path_of_the_tree_is_told_from_the_end_of_another_path() {
        let names = |command: &str| names_absolutely(command, Path::new("/app"));
        for command in [
            "sh /app/x",
            "cd /app",
            "cc -I/app/x a.c",
            "X=/app make",
            "sh '/app'",
        ] {
            assert!(names(command), "{command}");
        }
        for command in [
            "go test ./cmd/app/...",
            "pytest src/app",
            "sh /app2/x",
            "cargo test",
        ] {
            assert!(!names(command), "{command}");
        }
    }

    #[test]
    fn work_that_is_protected_is_refused() {
        let files = ["tests/a.rs", "src/a.rs"];
        let refused = zone(&files, "cargo test", &[("--work", "tests/**")]);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("every file that it names is protected"));
        let both = [("--work", "tests/**"), ("--may-edit", "tests/a.rs")];
        let zone = zone(&files, "cargo test", &both).unwrap();
        assert!(allows(&zone, "tests/a.rs") && !allows(&zone, "src/a.rs"));
    }

    #[test]
    fn a_file_that_a_command_names_and_the_agent_may_change_is_noted() {
        let files = ["src/tool.py", "src/main.py", "tests/a.py"];
        for (command, flag, noted) in rows! {
            "python3 src/tool.py test", ("--protect", "none") => vec!["src/tool.py"];
            "cd . && ./src/main.py", ("--protect", "none") => vec!["src/main.py"];
            "python3 src/main.py", ("--protect", "src/main.py") => vec![];
            "python3 src/main.py", ("--may-edit", "src/main.py") => vec![];
            "python3 tests/a.py", ("--protect", "none") => vec![];
            "python3 -m unittest", ("--protect", "none") => vec![];
        } {
            let zone = zone(&files, command, &[("--work", "src/**"), flag]).unwrap();
            let named: Vec<_> = zone.named.iter().map(String::as_str).collect();
            assert_eq!(named, noted, "{command} {flag:?}");
        }
    }

    #[test]
    fn a_person_can_allow_what_is_protected() {
        let flags = [("--may-edit", "tests/a.rs")];
        let zone = zone(&["tests/a.rs"], "cargo test", &flags).unwrap();
        assert!(allows(&zone, "tests/a.rs"));
        assert!(!allows(&zone, "tests/b.rs"));
    }

    #[test]
    fn a_tree_without_work_is_refused() {
        let refused = zone(&["tests/a.rs"], "cargo test", &[]).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("every file in the tree is protected")
        );
    }

    #[test]
    fn a_name_that_reads_as_a_glob_names_itself() {
        let zone = zone(&["!src", "[ab]", "src/a"], "make", &[]).unwrap();
        assert!(allows(&zone, "src/a") && allows(&zone, "[ab]"));
        assert!(!allows(&zone, "a") && !allows(&zone, "!src"));
    }
}
