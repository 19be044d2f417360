//! A list that is made from the files of a directory.

use std::fs::File;
use std::io;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::result;

use globset::GlobBuilder;
use serde::Serialize;
use tempfile::{Builder, NamedTempFile};
use walkdir::{DirEntry, WalkDir};

use super::error::{Fault, ReadError, Result};

/// A list in a temporary file, which is removed when this is dropped.
///
/// It is opened, digested and copied like any list; the record of its origin names the directory
/// instead.
#[derive(Debug)]
pub struct MadeList(NamedTempFile);

impl MadeList {
    fn new(objects: &[u8]) -> io::Result<Self> {
        let mut file = Builder::new()
            .prefix("comail-list-")
            .suffix(".jsonl")
            .tempfile()?;
        file.write_all(objects)?;
        file.flush()?;
        Ok(Self(file))
    }

    /// The regular files under `root` whose paths match `glob`, at least one, in the order of the
    /// bytes of their paths.
    ///
    /// `*` matches within one name, and `**` across several. Symbolic links are not followed, and
    /// files and folders that `keeps` refuses are left out.
    pub fn of_dir(
        root: &Path,
        glob: &str,
        keeps: &dyn Fn(&DirEntry) -> bool,
    ) -> result::Result<Self, ReadError> {
        let made = || -> Result<Self> {
            let files = list_dir(root, glob, keeps)?;
            if files.is_empty() {
                return Err(Fault::Other(format!(
                    "no file in it matches `{glob}`; ignored files do not count"
                )));
            }
            Ok(Self::new(&as_jsonl(root, &files)?)?)
        };
        made().map_err(|fault| fault.at(root))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

fn list_dir(root: &Path, glob: &str, keeps: &dyn Fn(&DirEntry) -> bool) -> Result<Vec<String>> {
    let wanted = GlobBuilder::new(glob)
        .literal_separator(true)
        .build()?
        .compile_matcher();
    if !std::fs::metadata(root)?.is_dir() {
        return Err("this is not a directory; name one whose files are the list".into());
    }
    let mut found = Vec::new();
    for entry in WalkDir::new(root).into_iter().filter_entry(keeps) {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        if !entry.file_type().is_file() || !wanted.is_match(path) {
            continue;
        }
        let names: Option<Vec<_>> = path.iter().map(|name| name.to_str()).collect();
        let names = names.ok_or_else(|| {
            let place = path.display();
            format!("the name of the file {place} is not valid Unicode; rename it")
        })?;
        found.push(names.join("/"));
    }
    found.sort_unstable();
    Ok(found)
}

fn unreadable(error: walkdir::Error) -> Fault {
    let place = error.path().map(PathBuf::from).unwrap_or_default();
    let source = error.into_io_error();
    let source = source.unwrap_or_else(|| io::Error::other("its links form a loop"));
    Fault::Other(format!("cannot read {} in it: {source}", place.display()))
}

#[derive(Serialize)]
struct FileLine<'a> {
    path: &'a str,
    name: &'a str,
    stem: &'a str,
    bytes: u64,
    lines: u64,
}

fn as_jsonl(root: &Path, files: &[String]) -> Result<Vec<u8>> {
    let mut list = Vec::new();
    for path in files {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
        let (bytes, lines) = measure(&root.join(path))?;
        let line = FileLine {
            path,
            name,
            stem: stem.unwrap_or(name),
            bytes,
            lines,
        };
        serde_json::to_writer(&mut list, &line).map_err(io::Error::from)?;
        list.push(b'\n');
    }
    Ok(list)
}

/// How many bytes and lines a file has. A last line without a line feed counts too.
fn measure(path: &Path) -> io::Result<(u64, u64)> {
    let mut file = BufReader::new(File::open(path)?);
    let (mut bytes, mut lines) = (0, 0);
    while let read @ 1.. = file.skip_until(b'\n')? {
        bytes += read as u64;
        lines += 1;
    }
    Ok((bytes, lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{List, ReadOptions};

    #[test]
    fn a_made_list_is_removed_at_the_end() {
        let made = MadeList::new(
            b"{\"path\":\"src/a.py\"}
",
        )
        .unwrap();
        let path = made.path().to_owned();
        assert_eq!(std::fs::read(&path).unwrap(), b"{\"path\":\"src/a.py\"}\n");
        drop(made);
        assert!(!path.exists());
    }

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("src/b.py", "one\ntwo"),
            ("src/a.py", "one\n"),
            ("src/Z.py", ""),
            ("src/deep/er/c.tar.py", "\n\n"),
            ("src/notes.txt", "x"),
            ("top.py", "x"),
        ] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    fn found(dir: &Path, glob: &str) -> Vec<String> {
        list_dir(dir, glob, &|_| true).unwrap()
    }

    #[test]
    fn the_glob_chooses_the_files_and_their_paths_the_order() {
        let tree = tree();
        let all = "src/Z.py src/a.py src/b.py src/deep/er/c.tar.py top.py";
        let all: Vec<_> = all.split(' ').collect();
        assert_eq!(found(tree.path(), "**/*.py"), all);
        assert_eq!(found(tree.path(), "src/*.py"), all[..3]);
        assert_eq!(found(tree.path(), "*.py"), ["top.py"]);
        assert_eq!(found(tree.path(), "**").len(), 6);
    }

    #[test]
    fn each_file_is_a_line_with_its_size() {
        let tree = tree();
        let made = MadeList::of_dir(tree.path(), "src/**/*.py", &|_| true).unwrap();
        let expected = [
            r#"{"path":"src/Z.py","name":"Z.py","stem":"Z","bytes":0,"lines":0}"#,
            r#"{"path":"src/a.py","name":"a.py","stem":"a","bytes":4,"lines":1}"#,
            r#"{"path":"src/b.py","name":"b.py","stem":"b","bytes":7,"lines":2}"#,
            r#"{"path":"src/deep/er/c.tar.py","name":"c.tar.py","stem":"c.tar","bytes":2,"lines":2}"#,
        ];
        let list = std::fs::read_to_string(made.path()).unwrap();
        assert_eq!(list.trim_end(), expected.join("\n"));
        let list = List::open(made.path(), &ReadOptions::default()).unwrap();
        assert_eq!(list.label(list.column("stem").unwrap()), "stem");
    }

    #[test]
    fn directories_that_cannot_be_listed_are_refused() {
        let tree = tree();
        let refused =
            |root: &Path, glob: &str| MadeList::of_dir(root, glob, &|_| true).unwrap_err();
        let refused = |root: &Path, glob: &str| refused(root, glob).to_string();
        assert!(refused(tree.path(), "src/[a").contains("src/[a"));
        assert!(refused(tree.path(), "*.rs").contains("no file in it matches `*.rs`"));
        assert!(refused(&tree.path().join("nowhere"), "*").contains("there is no such file"));
        assert!(refused(&tree.path().join("top.py"), "*").contains("this is not a directory"));
    }

    #[test]
    fn symbolic_links_are_skipped_and_invalid_names_refused() {
        use std::os::unix::ffi::OsStrExt as _;

        let tree = tree();
        let link = |from: &str, to: &str| std::os::unix::fs::symlink(from, tree.path().join(to));
        link("/etc", "etc.py").unwrap();
        link("top.py", "link.py").unwrap();
        link("..", "src/up").unwrap();
        assert_eq!(found(tree.path(), "*.py"), ["top.py"]);
        assert_eq!(found(tree.path(), "**/top.py"), ["top.py"]);
        let odd = std::ffi::OsStr::from_bytes(b"odd\xff.py");
        std::fs::write(tree.path().join(odd), "").unwrap();
        let refused = list_dir(tree.path(), "*.py", &|_| true).unwrap_err();
        assert!(
            refused.to_string().contains("not valid Unicode"),
            "{refused}"
        );
        assert_eq!(found(tree.path(), "src/a*"), ["src/a.py"]);
    }
}
