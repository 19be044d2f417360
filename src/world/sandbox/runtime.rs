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
    /// Where it leads.
    Link(PathBuf),
}

#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("cannot read {}, which a check's program may load", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("a check's program may load a file whose path is not UTF-8: {0}")]
    NotUtf8(#[from] serde_json::Error),
    #[error(
        "{} and what else the checks' programs may load have more than {MAX_FILES} files", path.display()
    )]
    TooMany { path: PathBuf },
}

impl Runtime {
    /// The runtime of these programs, and of the declared paths.
    pub fn take<'a>(
        programs: impl IntoIterator<Item = &'a Pinned>,
        declared: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Self, RuntimeError> {
        let loaded = programs.into_iter().flat_map(|it| loaded(&it.path));
        let mut waiting: Vec<_> = loaded.chain(declared).collect();
        let (mut roots, mut files) = (BTreeSet::new(), BTreeMap::new());
        while let Some(root) = waiting.pop() {
            if roots.iter().any(|known| root.starts_with(known)) {
                continue;
            }
            for entry in walk(&root) {
                let (path, found) = entry?;
                if files.len() == MAX_FILES {
                    return Err(RuntimeError::TooMany { path });
                }
                // What a link leads to is loaded too, wherever it is.
                let target = found.is_symlink().then(|| fs::canonicalize(&path));
                waiting.extend(target.and_then(Result::ok));
                let contents = contents(&path, &found)?;
                let stamp = stamp(&found);
                files.insert(path, RuntimeFile { stamp, contents });
            }
            roots.insert(root);
        }
        Ok(Self { roots, files })
    }

    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// The form in which it is stored.
    pub fn to_json(&self) -> Result<Vec<u8>, RuntimeError> {
        Ok(serde_json::to_vec(self)?)
    }

    /// How it has changed, for people.
    pub(super) fn changed(&self) -> Option<String> {
        self.change()
            .unwrap_or_else(|error| Some(error.to_string()))
    }

    fn change(&self) -> Result<Option<String>, RuntimeError> {
        let how = |path: &Path, how| {
            let path = path.display();
            Ok(Some(format!(
                "{path}, which the checks' programs may load, {how} since the session was made"
            )))
        };
        let mut missing: BTreeSet<_> = self.files.keys().collect();
        for entry in self.roots.iter().flat_map(|root| walk(root)) {
            let (path, found) = entry?;
            let Some(known) = self.files.get(&path) else {
                return how(&path, "was added");
            };
            missing.remove(&path);
            if known.stamp != stamp(&found) && known.contents != contents(&path, &found)? {
                return how(&path, "changed");
            }
        }
        match missing.first() {
            Some(path) => how(path, "is gone"),
            None => Ok(None),
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
        let real = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
        let modules = [&file, &real].map(|file| {
            let dirs = file.ancestors().filter(|dir| dir.ends_with("node_modules"));
            dirs.last().map(Path::to_owned)
        });
        modules.into_iter().chain([environment]).flatten()
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
                    source: error
                        .into_io_error()
                        .unwrap_or_else(|| io::Error::other("its links are a loop")),
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
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
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
            assert_eq!(runtime.changed(), None);
            change(place.path()).unwrap();
            let how = runtime.changed().unwrap();
            assert!(how.contains(expected), "{how}");
        }
    }

    #[test]
    fn the_same_contents_are_no_change() {
        let (place, program) = environment();
        let runtime = Runtime::take([&program], []).unwrap();
        let module = place.path().join("lib/a.py");
        fs::remove_file(&module).unwrap();
        fs::write(&module, "#!/bin/sh\n").unwrap();
        assert_eq!(runtime.changed(), None);
    }

    #[test]
    fn what_links_lead_to_is_loaded_too() {
        let (place, program) = environment();
        let elsewhere = tempfile::tempdir().unwrap();
        let module = elsewhere.path().join("b.py");
        fs::write(&module, "").unwrap();
        symlink(elsewhere.path(), place.path().join("lib/linked")).unwrap();
        symlink("none", place.path().join("lib/broken")).unwrap();
        let runtime = Runtime::take([&program], []).unwrap();
        assert_eq!(runtime.changed(), None);
        fs::write(&module, "import os").unwrap();
        let how = runtime.changed().unwrap();
        assert!(how.contains("b.py, which"), "{how}");
    }

    /// Python loads what it compiled before in place of the source.
    #[test]
    fn compiled_files_are_files_too() {
        let (place, program) = environment();
        let runtime = Runtime::take([&program], []).unwrap();
        fs::write(place.path().join("lib/__pycache__/a.pyc"), "a").unwrap();
        assert!(runtime.changed().unwrap().contains("a.pyc, which"));
    }

    #[test]
    fn the_modules_beside_a_linked_package_are_known() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("node_modules/.bin")).unwrap();
        fs::create_dir_all(at("packages/tool")).unwrap();
        fs::write(at("node_modules/dep.js"), "").unwrap();
        fs::write(at("packages/tool/run.js"), "").unwrap();
        fs::set_permissions(
            at("packages/tool/run.js"),
            fs::Permissions::from_mode(0o755),
        )
        .unwrap();
        symlink("../packages/tool", at("node_modules/tool")).unwrap();
        symlink("../tool/run.js", at("node_modules/.bin/tool")).unwrap();
        let program = Pinned::find("node_modules/.bin/tool", "".as_ref(), place.path()).unwrap();
        let runtime = Runtime::take([&program], []).unwrap();
        for file in ["node_modules/dep.js", "packages/tool/run.js"] {
            fs::write(at(file), "x").unwrap();
            assert!(runtime.changed().unwrap().contains(file));
            fs::write(at(file), "").unwrap();
        }
    }

    #[test]
    fn a_path_that_is_not_utf_8_cannot_be_stored() {
        let (place, program) = environment();
        fs::write(place.path().join(OsStr::from_bytes(b"lib/\xff")), "").unwrap();
        let runtime = Runtime::take([&program], []).unwrap();
        assert!(matches!(runtime.to_json(), Err(RuntimeError::NotUtf8(_))));
    }

    #[test]
    fn a_program_elsewhere_loads_nothing_that_is_known() {
        let (place, program) = environment();
        fs::remove_file(place.path().join("pyvenv.cfg")).unwrap();
        assert!(Runtime::take([&program], []).unwrap().is_empty());
        let declared = place.path().join("lib");
        let runtime = Runtime::take([&program], [declared.clone()]).unwrap();
        fs::write(declared.join("b.py"), "").unwrap();
        assert!(runtime.changed().is_some());
        let missing = Runtime::take([&program], [place.path().join("none")]);
        assert!(matches!(missing, Err(RuntimeError::Unreadable { .. })));
    }
}
