//! What an agent may change under `comail until`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use itertools::Itertools as _;

use super::super::exit::{Hinted, UsageError};
use super::named::{Named, Paths};
use crate::world::tree::{Ignored, TreePath, Zones, list_paths, read_gitignores};

/// One glob a line; `#` begins a comment.
const PROTECTED: &str = include_str!("protected.txt");

/// What a person and the tree say about a zone.
pub(super) struct Terms<'a> {
    pub(super) commands: &'a [String],
    pub(super) may_edit: &'a [String],
    pub(super) protect: &'a [String],
    /// The home directory of the commands.
    pub(super) home: Option<&'a str>,
}

/// Where the agent may write.
#[derive(Debug)]
pub(super) struct Zone {
    /// For the `write` of a quest file: the last one that matches a file decides.
    pub(super) globs: Vec<String>,
    /// The files and folders at the top of the tree that the agent may change.
    work: Vec<String>,
    /// What the commands name, and what a person protects.
    taken: BTreeSet<String>,
    may_edit: Vec<String>,
    /// What each command names that does not exist.
    missing: BTreeMap<String, BTreeSet<TreePath>>,
}

impl Zone {
    /// The zone of `tree`, as it is now. New names at its top are no part of it: many tools look for
    /// their settings and their programs there.
    pub(super) fn of(tree: &Path, session: &Path, terms: &Terms<'_>) -> Result<Self> {
        for (flag, globs) in [("--may-edit", terms.may_edit), ("--protect", terms.protect)] {
            Zones::without_exceptions(globs).map_err(|bad| UsageError(format!("{flag}: {bad}")))?;
        }
        let ignored = ignored(tree, session)?;
        let files = list_paths(tree, &ignored).with_context(|| of_tree(tree))?;
        let paths = Paths::new(tree.to_owned(), files);
        let mut taken = BTreeSet::new();
        let mut modules = BTreeSet::new();
        let mut missing = BTreeMap::new();
        for command in terms.commands {
            let found = Named::of(command, terms.home, &paths);
            refuse_absolute(command, &found)?;
            taken.extend(found.globs);
            modules.extend(found.modules);
            missing.insert(command.clone(), found.missing);
        }
        let lines = PROTECTED.lines();
        let protected = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let protected = protected.flat_map(in_usual_cases).chain(modules);
        let protected: Vec<String> = protected.collect();
        let forbidden = protected.iter().chain(&taken).map(forbid);
        let top = top(tree, &ignored)?;
        let mut globs: Vec<String> = top.iter().map(|place| place.glob.clone()).collect();
        globs.extend(forbidden);
        let protect = || terms.protect.iter().map(forbid);
        let mut work = Vec::new();
        if !top.is_empty() {
            let zones = Zones::new(&globs.iter().cloned().chain(protect()).collect::<Vec<_>>())?;
            let open = top
                .into_iter()
                .filter(|place| zones.contains(&place.sample));
            work.extend(open.map(|place| place.glob));
        }
        if work.is_empty() && terms.may_edit.is_empty() {
            return Err(Hinted {
                message: "every file in the tree is protected, so that the agent could not work; \
                          nothing was started"
                    .to_owned(),
                hint: "name what it may change, such as --may-edit 'src/**'".to_owned(),
            }
            .into());
        }
        // The first glob of a zone allows something.
        globs.retain(|glob| work.contains(glob) || !work.is_empty() && Zones::forbids(glob));
        globs.extend(terms.may_edit.iter().cloned());
        globs.extend(protect());
        taken.extend(terms.protect.iter().cloned());
        Ok(Self {
            globs,
            work,
            taken,
            may_edit: terms.may_edit.to_vec(),
            missing,
        })
    }

    /// Whether the agent may add a file that the command names and that is missing.
    pub(super) fn may_add_files_of(&self, command: &str) -> bool {
        let missing = self.missing.get(command);
        let zones = Zones::new(&self.globs);
        zones.is_ok_and(|zones| {
            missing
                .into_iter()
                .flatten()
                .any(|path| zones.contains(path))
        })
    }
}

fn refuse_absolute(command: &str, found: &Named) -> Result<()> {
    if found.absolute.is_empty() {
        return Ok(());
    }
    Err(UsageError(format!(
        "`{command}` names a place in the tree by its absolute path, {}: it would not be run in the copy \
         of the tree that is judged; nothing was started",
        found.absolute.iter().join(", ")
    ))
    .hint("write the path from the tree's root, such as checks/run.py")
    .into())
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
        if !self.taken.is_empty() {
            let taken = self.taken.iter().join(", ");
            write!(f, ", and what the commands or --protect name: {taken}")?;
        }
        Ok(())
    }
}

/// A file or folder at the top of the tree.
#[derive(Debug)]
struct Place {
    glob: String,
    /// The file, or one in the folder that no glob of a name matches.
    sample: TreePath,
}

fn of_tree(tree: &Path) -> String {
    format!("the tree {}", tree.display())
}

/// What is not part of the tree.
fn ignored(tree: &Path, session: &Path) -> Result<Ignored> {
    let ignored = Ignored::default().and_folder(session);
    let rules = read_gitignores(tree, &ignored).with_context(|| of_tree(tree))?;
    Ok(ignored.and_gitignores(&rules))
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
        let name = globset::escape(path.as_str());
        // A name that no glob can say is not part of the work.
        if Zones::without_exceptions(std::slice::from_ref(&name)).is_err() {
            continue;
        }
        if kind.is_file() && ignored.rule_of_file(&path).is_none() {
            let glob = name;
            places.push(Place { glob, sample: path });
        } else if kind.is_dir() && ignored.rule_of_folder(&path).is_none() {
            let glob = format!("{name}/**");
            if let Ok(sample) = TreePath::parse(&format!("{path}/comail")) {
                places.push(Place { glob, sample });
            }
        }
    }
    places.sort_unstable_by(|one, other| one.glob.cmp(&other.glob));
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The zone of a tree of empty files.
    fn zone(files: &[&str], command: &str, may_edit: &[&str]) -> Result<Zone> {
        let tree = tempfile::tempdir().unwrap();
        for file in files {
            let path = tree.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::create_dir(tree.path().join(".comail")).unwrap();
        let may_edit: Vec<String> = may_edit.iter().map(ToString::to_string).collect();
        let session = tree.path().join(".comail");
        let terms = Terms {
            commands: &[command.to_owned()],
            may_edit: &may_edit,
            protect: &[],
            home: None,
        };
        Zone::of(tree.path(), &session, &terms)
    }

    fn allows(zone: &Zone, path: &str) -> bool {
        let zones = Zones::new(&zone.globs).unwrap();
        zones.contains(&TreePath::parse(path).unwrap())
    }

    #[test]
    fn the_work_is_what_decides_nothing_about_the_commands() {
        let files = ["src/lib.rs", "main.go", "judge", "Makefile", "tests/a.rs"];
        let zone = zone(&files, "./judge --all && make", &[]).unwrap();
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
            "judge",
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
        assert!(
            said.ends_with("and what the commands or --protect name: judge"),
            "{said}"
        );
    }

    #[test]
    fn a_person_can_allow_what_is_protected() {
        let zone = zone(&["tests/a.rs"], "cargo test", &["tests/a.rs"]).unwrap();
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
