//! The files outside the tree that programs load, as they were at the scan.
//!
//! They are the virtual environment (PEP 405) or the `node_modules` that a program is in, and the
//! paths that the quest file declares. A file with the size, times and inode of the scan is taken as
//! unchanged: the kernel sets the time of a change, and no program can. Otherwise the contents decide.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use walkdir::{DirEntry, WalkDir};

use super::program::Pinned;
use super::reading::{interpreter, prefix};
use crate::base::Digest;

const MAX_FILES: usize = 200_000;

/// Files that Python compiled from others. It loads them instead of these.
const COMPILED: &str = "__pycache__";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    roots: BTreeSet<PathBuf>,
    files: BTreeMap<PathBuf, RuntimeFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuntimeFile {
    stamp: [i64; 6],
    contents: Contents,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Contents {
    File(Digest),
    /// Where it leads; what is there is not part of the runtime.
    Link(PathBuf),
}

#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("cannot read {}, which a check's program may load", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(
        "{} and what else the checks' programs may load have more than {MAX_FILES} files", path.display()
    )]
    TooMany { path: PathBuf },
}

/// How a runtime compares with that of the scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RuntimeState {
    Same,
    /// Python compiled some of its files since, or somebody did in its name.
    Compiled,
    /// For people.
    Changed(String),
}

impl Runtime {
    /// The runtime of these programs, and of the declared paths.
    pub fn take<'a>(
        programs: impl IntoIterator<Item = &'a Pinned>,
        declared: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Self, RuntimeError> {
        let loaded = programs.into_iter().flat_map(|it| loaded(&it.path));
        let roots: BTreeSet<_> = loaded.chain(declared).collect();
        let mut files = BTreeMap::new();
        for entry in roots.iter().flat_map(|root| walk(root)) {
            let (path, found) = entry?;
            let contents = contents(&path, &found)?;
            let stamp = stamp(&found);
            if files.len() == MAX_FILES {
                return Err(RuntimeError::TooMany { path });
            }
            files.insert(path, RuntimeFile { stamp, contents });
        }
        Ok(Self { roots, files })
    }

    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// The form in which it is stored.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn digest(&self) -> Digest {
        Digest::of(&self.to_json())
    }

    pub(super) fn state(&self) -> RuntimeState {
        self.compare()
            .unwrap_or_else(|error| RuntimeState::Changed(error.to_string()))
    }

    fn compare(&self) -> Result<RuntimeState, RuntimeError> {
        let changed = |path: &Path, how| {
            let text = format!(
                "{}, which the checks' programs may load, {how}",
                path.display()
            );
            Ok(RuntimeState::Changed(text))
        };
        let mut missing: BTreeSet<_> = self.files.keys().collect();
        let mut state = RuntimeState::Same;
        for entry in self.roots.iter().flat_map(|root| walk(root)) {
            let (path, found) = entry?;
            let known = self.files.get(&path);
            missing.remove(&path);
            if known.is_some_and(|known| known.stamp == stamp(&found)) {
                continue;
            }
            let is_same = |known: &RuntimeFile| Ok(known.contents == contents(&path, &found)?);
            if known.map(is_same).transpose()? == Some(true) {
                continue;
            }
            if path.components().any(|part| part.as_os_str() == COMPILED) {
                state = RuntimeState::Compiled;
            } else if known.is_some() {
                return changed(&path, "changed");
            } else {
                return changed(&path, "was added");
            }
        }
        let lost = |path: &&&PathBuf| path.components().all(|part| part.as_os_str() != COMPILED);
        match missing.iter().find(lost) {
            Some(path) => changed(path, "is gone"),
            None => Ok(state),
        }
    }
}

/// The directories whose files a program loads, if a marker names them.
fn loaded(program: &Path) -> Vec<PathBuf> {
    let interpreter = interpreter(program);
    let named = [Some(program.to_owned()), interpreter]
        .into_iter()
        .flatten();
    let dirs = named.flat_map(|file| {
        let environment = file.parent().map(prefix);
        let environment = environment.filter(|dir| dir.join("pyvenv.cfg").is_file());
        let real = fs::canonicalize(&file).unwrap_or(file);
        let modules = real.ancestors().filter(|dir| dir.ends_with("node_modules"));
        let modules = modules.last().map(Path::to_owned);
        [environment, modules].into_iter().flatten()
    });
    dirs.collect()
}

type Found = (PathBuf, Metadata);

/// The files and links below a path, or the one that it is.
fn walk(root: &Path) -> impl Iterator<Item = Result<Found, RuntimeError>> {
    let entries = WalkDir::new(root).follow_root_links(true).into_iter();
    let found = |entry: DirEntry| Ok((entry.path().to_owned(), entry.metadata()?));
    entries
        .map(move |entry| {
            entry
                .and_then(found)
                .map_err(|error| RuntimeError::Unreadable {
                    path: error.path().unwrap_or(root).to_owned(),
                    source: error.into(),
                })
        })
        .filter(|found| !matches!(found, Ok((_, metadata)) if metadata.is_dir()))
}

fn stamp(found: &Metadata) -> [i64; 6] {
    let [size, inode] = [found.size(), found.ino()].map(u64::cast_signed);
    let [modified, changed] = [
        [found.mtime(), found.mtime_nsec()],
        [found.ctime(), found.ctime_nsec()],
    ];
    [
        size,
        inode,
        modified[0],
        modified[1],
        changed[0],
        changed[1],
    ]
}

fn contents(path: &Path, found: &Metadata) -> Result<Contents, RuntimeError> {
    let read = || {
        if found.is_symlink() {
            return fs::read_link(path).map(Contents::Link);
        }
        if !found.is_file() {
            return Err(io::Error::other("it is neither a file nor a link"));
        }
        Digest::of_reader(&mut File::open(path)?).map(Contents::File)
    };
    read().map_err(|source| RuntimeError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    type Change = fn(&Path) -> io::Result<()>;

    /// A virtual environment with a program, a module and its compiled form.
    fn environment() -> (tempfile::TempDir, Pinned) {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("bin")).unwrap();
        fs::create_dir_all(at("lib/__pycache__")).unwrap();
        fs::write(at("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
        for file in ["bin/tool", "lib/a.py", "lib/__pycache__/a.pyc"] {
            fs::write(at(file), "#!/bin/sh\n").unwrap();
        }
        fs::set_permissions(at("bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("a.py", at("lib/link.py")).unwrap();
        let program = Pinned::find("bin/tool", "".as_ref(), place.path()).unwrap();
        (place, program)
    }

    #[test]
    fn a_changed_file_of_the_programs_environment_is_named() {
        let changes: [(&str, Change); 5] = [
            (
                "lib/a.py, which the checks' programs may load, changed",
                |at| fs::write(at.join("lib/a.py"), "#!/bin/no\n"),
            ),
            (
                "lib/x.pth, which the checks' programs may load, was added",
                |at| fs::write(at.join("lib/x.pth"), "import x\n"),
            ),
            (
                "lib/a.py, which the checks' programs may load, is gone",
                |at| fs::remove_file(at.join("lib/a.py")),
            ),
            (
                "lib/link.py, which the checks' programs may load, changed",
                |at| {
                    fs::remove_file(at.join("lib/link.py"))?;
                    symlink("b.py", at.join("lib/link.py"))
                },
            ),
            (
                "pyvenv.cfg, which the checks' programs may load, is gone",
                |at| fs::remove_file(at.join("pyvenv.cfg")),
            ),
        ];
        for (expected, change) in changes {
            let (place, program) = environment();
            let runtime = Runtime::take([&program], []).unwrap();
            assert_eq!(runtime.state(), RuntimeState::Same);
            change(place.path()).unwrap();
            let RuntimeState::Changed(how) = runtime.state() else {
                panic!("{expected}");
            };
            assert!(how.ends_with(expected), "{how}");
        }
    }

    #[test]
    fn the_same_contents_are_no_change() {
        let (place, program) = environment();
        let runtime = Runtime::take([&program], []).unwrap();
        let module = place.path().join("lib/a.py");
        fs::remove_file(&module).unwrap();
        fs::write(&module, "#!/bin/sh\n").unwrap();
        assert_eq!(runtime.state(), RuntimeState::Same);
    }

    #[test]
    fn compiled_files_are_told_apart() {
        let (place, program) = environment();
        let runtime = Runtime::take([&program], []).unwrap();
        let compiled = place.path().join("lib/__pycache__/b.pyc");
        fs::write(&compiled, "b").unwrap();
        assert_eq!(runtime.state(), RuntimeState::Compiled);
        fs::remove_file(&compiled).unwrap();
        assert_eq!(runtime.state(), RuntimeState::Same);
        fs::write(place.path().join("lib/__pycache__/a.pyc"), "a").unwrap();
        assert_eq!(runtime.state(), RuntimeState::Compiled);
    }

    #[test]
    fn a_program_elsewhere_loads_nothing_that_is_known() {
        let (place, program) = environment();
        fs::remove_file(place.path().join("pyvenv.cfg")).unwrap();
        assert!(Runtime::take([&program], []).unwrap().is_empty());
        let declared = place.path().join("lib");
        let runtime = Runtime::take([&program], [declared.clone()]).unwrap();
        fs::write(declared.join("b.py"), "").unwrap();
        assert!(matches!(runtime.state(), RuntimeState::Changed(_)));
        let missing = Runtime::take([&program], [place.path().join("none")]);
        assert!(matches!(missing, Err(RuntimeError::Unreadable { .. })));
    }
}
