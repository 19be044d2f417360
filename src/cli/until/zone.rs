//! What an agent may change under `comail until`.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use itertools::Itertools as _;
use regex::RegexBuilder;

use super::super::exit::UsageError;
use super::command::{is_plain, is_started_directly};
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
    pub(super) idle: Vec<String>,
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
            let places = top(tree, &ignored)?;
            told_by_names(places, &usual, terms)?
        } else {
            terms.work.to_vec()
        };
        let files = list_paths(tree, &ignored).with_context(|| of_tree(tree))?;
        let mut globs = work.clone();
        // The first glob of a zone allows something.
        if !work.is_empty() {
            globs.extend(usual);
            if terms.with_ignored {
                let all = list_paths(tree, &session).with_context(|| of_tree(tree))?;
                globs.extend(
                    all.iter()
                        .filter_map(|path| ignored_part(path, &ignored))
                        .unique(),
                );
            }
            let links = files.iter().filter_map(|path| Link::at(tree, path));
            protect_targets(links.collect(), &mut globs)?;
        }
        globs.extend_from_slice(terms.may_edit);
        globs.extend(terms.protect.iter().map(forbid));
        Ok(Self {
            globs,
            idle: [("--work", terms.work), ("--protect", terms.protect)]
                .into_iter()
                .flat_map(|(flag, globs)| globs.iter().map(move |glob| (flag, glob)))
                .filter(|(_, glob)| !matches_any(glob, files.iter()))
                .map(|(flag, glob)| format!("{flag} '{glob}'"))
                .collect(),
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

fn matches_any<'a>(glob: &str, mut paths: impl Iterator<Item = &'a TreePath>) -> bool {
    let zones = Zones::new(&[glob.to_owned()]);
    zones.is_ok_and(|zones| paths.any(|path| zones.contains(path)))
}

/// The commands run in a copy of the tree, and such a path leads past it.
fn refuse_absolute(tree: &Path, commands: &[String]) -> Result<()> {
    let root = tree.display().to_string();
    let Some(command) = commands.iter().find(|command| command.contains(&root)) else {
        return Ok(());
    };
    Err(UsageError(format!(
        "`{command}` names a place in the tree by its absolute path: it would not be run in the copy of \
         the tree that is judged; nothing was started"
    ))
    .hint("write the path from the tree's root, such as checks/run.py")
    .into())
}

/// What has a usual name of tests, settings and build scripts is no work.
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
fn told_by_names(places: Vec<Place>, usual: &[String], terms: &Terms<'_>) -> Result<Vec<String>> {
    let all = places.iter().map(|place| place.glob.clone());
    let protect = terms.protect.iter().map(forbid);
    let globs: Vec<_> = all.chain(usual.iter().cloned()).chain(protect).collect();
    let zones = if places.is_empty() {
        Zones::default()
    } else {
        Zones::new(&globs)?
    };
    let mut work = places;
    work.retain(|place| zones.contains(&place.sample));
    if work.is_empty() && terms.may_edit.is_empty() {
        return Err(UsageError(
            "every file in the tree is protected, so that the agent could not work; nothing was started"
                .to_owned(),
        )
        .hint("name what it may change, such as --may-edit 'src/**'")
        .into());
    }
    for command in terms.commands {
        let Some(why) = why_unclear(command, &work) else {
            continue;
        };
        let named = work.iter().find(|place| !place.is_named_in(command));
        let example = named.map_or("src/**", |place| &place.glob);
        return Err(UsageError(format!(
            "{why}, so it is unclear which files are the work and which ones judge it; nothing was \
             started"
        ))
        .hint(format!("name the work, such as --work '{example}'"))
        .into());
    }
    Ok(work.into_iter().map(|place| place.glob).collect())
}

/// Why the work cannot be told from what a command runs, if so.
fn why_unclear(command: &str, work: &[Place]) -> Option<String> {
    if !is_started_directly(command) {
        let what = if command.chars().all(is_plain) {
            "names a program by its path"
        } else {
            "is run by a shell"
        };
        return Some(format!("`{command}` {what}"));
    }
    let named = work.iter().find(|place| place.is_named_in(command))?;
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

/// A link in the tree, and what it names there.
struct Link {
    path: TreePath,
    target: String,
}

impl Link {
    fn at(tree: &Path, path: &TreePath) -> Option<Self> {
        let place = tree.join(path.as_str());
        let target = place.parent()?.join(fs::read_link(&place).ok()?);
        // Only its last part may be another link, which is looked at by itself.
        let real = match target.file_name() {
            Some(name) => fs::canonicalize(target.parent()?).ok()?.join(name),
            None => fs::canonicalize(target).ok()?,
        };
        let target = real.strip_prefix(tree).ok()?.to_str()?;
        (!target.is_empty()).then(|| Self {
            path: path.clone(),
            target: globset::escape(target),
        })
    }
}

/// Who changes what a protected link names changes what is found by its name.
fn protect_targets(mut links: Vec<Link>, globs: &mut Vec<String>) -> Result<()> {
    loop {
        let zones = Zones::new(globs)?;
        let (of_work, protected): (Vec<_>, Vec<_>) = links
            .into_iter()
            .partition(|link| zones.contains(&link.path));
        if protected.is_empty() {
            return Ok(());
        }
        for Link { target, .. } in protected {
            globs.extend([format!("!{target}"), format!("!{target}/**")]);
        }
        links = of_work;
    }
}

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
        let all: Vec<&str> = self
            .work
            .iter()
            .chain(&self.may_edit)
            .map(String::as_str)
            .collect();
        write!(f, "The agent may change {}", all.join(", "))?;
        if !self.work.is_empty() {
            write!(
                f,
                ", except tests, hidden files, settings, lock files and build scripts"
            )?;
        }
        if !self.protect.is_empty() {
            let protect = self.protect.iter().join(", ");
            write!(f, ", and what --protect names: {protect}")?;
        }
        Ok(())
    }
}

/// A file or folder at the top of the tree.
#[derive(Debug)]
struct Place {
    /// Without what follows the first full stop: a program may complete it.
    name: String,
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
        if kind.is_file() && ignored.rule_of_file(&path).is_none() {
            let glob = name;
            places.push(Place {
                name: stem,
                glob,
                sample: path,
            });
        } else if kind.is_dir() && ignored.rule_of_folder(&path).is_none() {
            let glob = format!("{name}/**");
            if let Ok(sample) = TreePath::parse(&format!("{path}/comail")) {
                places.push(Place {
                    name: stem,
                    glob,
                    sample,
                });
            }
        }
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
            "X=1 make" => "names a program by its path";
            "./tool" => "names a program by its path";
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
