//! What an agent may change under `comail until`.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::super::exit::{Hinted, UsageError};
use crate::world::tree::{Ignored, TreePath, Zones, read_gitignores};

/// One glob a line; `#` begins a comment.
const PROTECTED: &str = include_str!("protected.txt");

/// Where the agent may write.
#[derive(Debug)]
pub(super) struct Zone {
    /// For the `write` of a quest file: the last one that matches a file decides.
    pub(super) globs: Vec<String>,
    /// The files and folders at the top of the tree that the agent may change.
    work: Vec<String>,
    /// The files that the commands name.
    named: Vec<String>,
    may_edit: Vec<String>,
}

impl Zone {
    /// The zone of `tree`, as it is now. New names at its top are no part of it: many tools look for
    /// their settings and their programs there.
    pub(super) fn of(
        tree: &Path,
        session: &Path,
        commands: &[String],
        may_edit: &[String],
    ) -> Result<Self> {
        Zones::without_exceptions(may_edit)
            .map_err(|bad| UsageError(format!("--may-edit: {bad}")))?;
        let protected: Vec<String> = PROTECTED
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|glob| format!("!{glob}"))
            .collect();
        let named = named_files(tree, commands);
        let taken = named
            .iter()
            .map(|name| format!("!{}", globset::escape(name)));
        let top = top(tree, session)?;
        let mut globs: Vec<String> = top.iter().map(|place| place.glob.clone()).collect();
        globs.extend(protected);
        globs.extend(taken);
        let mut work = Vec::new();
        if !top.is_empty() {
            let zones = Zones::new(&globs)?;
            let open = top
                .into_iter()
                .filter(|place| zones.contains(&place.sample));
            work.extend(open.map(|place| place.glob));
        }
        if work.is_empty() && may_edit.is_empty() {
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
        globs.extend(may_edit.iter().cloned());
        Ok(Self {
            globs,
            work,
            named,
            may_edit: may_edit.to_vec(),
        })
    }
}

impl Zone {
    /// Whether the agent may add a file that the command names and that is missing.
    pub(super) fn may_add_files_of(&self, command: &str, tree: &Path) -> bool {
        let zones = Zones::new(&self.globs);
        let mut paths = paths_in(command);
        zones.is_ok_and(|zones| {
            paths.any(|path| zones.contains(&path) && !path.join_to(tree).exists())
        })
    }
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
        if !self.named.is_empty() {
            write!(
                f,
                ", and the files that commands name: {}",
                self.named.join(", ")
            )?;
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

/// Each file and folder at the top of the tree that is part of it.
fn top(tree: &Path, session: &Path) -> Result<Vec<Place>> {
    let failed = || format!("the tree {}", tree.display());
    let ignored = Ignored::default().and_folder(session);
    let rules = read_gitignores(tree, &ignored).with_context(failed)?;
    let ignored = ignored.and_gitignores(&rules);
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

/// The files of the tree that commands name.
fn named_files(tree: &Path, commands: &[String]) -> Vec<String> {
    let paths = commands.iter().flat_map(|command| paths_in(command));
    let paths = paths.filter_map(|path| {
        let found = fs::symlink_metadata(path.join_to(tree));
        found
            .is_ok_and(|found| found.is_file())
            .then(|| path.to_string())
    });
    let mut named: Vec<String> = paths.collect();
    named.sort_unstable();
    named.dedup();
    named
}

/// The words of a command that can be paths in the tree.
fn paths_in(command: &str) -> impl Iterator<Item = TreePath> {
    let part_of_path = |c: char| c.is_alphanumeric() || "_-+=./:,@%~".contains(c);
    let words = command.split(move |c| !part_of_path(c));
    words.filter_map(|word| TreePath::parse(word.trim_start_matches("./")).ok())
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
        Zone::of(tree.path(), &session, &[command.to_owned()], &may_edit)
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
        ] {
            assert!(!allows(&zone, protected), "{protected}");
        }
        let said = zone.to_string();
        assert!(
            said.starts_with("The agent may change main.go, src/**, except "),
            "{said}"
        );
        assert!(
            said.ends_with("and the files that commands name: judge"),
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
