//! Lists that are no file of their own: what a directory holds, or what a command printed.

use std::fs::File;
use std::io;
use std::io::{BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Serialize;
use tempfile::{Builder, NamedTempFile};
use walkdir::WalkDir;

use super::read_error::ReadError;
use super::read_text::Members;
use super::source::FormatWish;

/// A list that was made, in a file that lasts as long as this does.
///
/// It is opened, digested and copied as any list is; the record of where it comes from names the
/// directory or the command instead.
#[derive(Debug)]
pub struct MadeList {
    file: NamedTempFile,
    format: FormatWish,
}

impl MadeList {
    /// Puts `bytes` down as a list of this format.
    pub fn new(bytes: &[u8], format: FormatWish) -> io::Result<Self> {
        let mut file = Builder::new()
            .prefix("comail-list-")
            .suffix(&format!(".{}", format.extension()))
            .tempfile()?;
        file.write_all(bytes)?;
        file.flush()?;
        Ok(Self { file, format })
    }

    /// The files under `root` that match `glob` and none of `ignore`; one at least.
    pub fn of_dir(root: &Path, glob: &str, ignore: &[String]) -> Result<Self, ReadError> {
        let files = list_dir(root, glob, ignore)?;
        if files.is_empty() {
            return Err(ReadError::NoFile {
                path: root.to_path_buf(),
                glob: glob.to_owned(),
            });
        }
        let lines = dir_as_jsonl(root, &files)?;
        Self::new(&lines, FormatWish::Jsonl).map_err(|error| ReadError::opening(root, error))
    }

    pub fn of_lines(bytes: &[u8]) -> io::Result<Self> {
        Self::new(bytes, lines_format(bytes))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    #[must_use]
    pub fn format(&self) -> FormatWish {
        self.format
    }
}

/// How lines are read: as objects where every one is, blank ones aside, else as they are.
#[must_use]
pub fn lines_format(bytes: &[u8]) -> FormatWish {
    let lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut filled = lines.filter(|line| !line.is_empty()).peekable();
    let is_object =
        |line: &[u8]| std::str::from_utf8(line).is_ok_and(|line| Members::of(line).is_ok());
    if filled.peek().is_some() && filled.all(is_object) {
        FormatWish::Jsonl
    } else {
        FormatWish::Lines
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    pub path: String,
}

#[derive(Serialize)]
struct FileLine<'a> {
    path: &'a str,
    name: &'a str,
    stem: &'a str,
    bytes: u64,
    lines: u64,
}

/// The regular files under `root` whose paths match `glob` and none of `ignore`, in the order of
/// the bytes of their paths.
///
/// `*` stays within one name and `**` goes through several. No symlink is followed, and a
/// directory that is ignored is not read.
pub fn list_dir(root: &Path, glob: &str, ignore: &[String]) -> Result<Vec<DirEntry>, ReadError> {
    let wanted = patterns(root, [glob])?;
    let ignored = patterns(root, ignore.iter().map(String::as_str))?;
    // What is ignored with all that is in it need not be read.
    let whole = ignore
        .iter()
        .map(|text| text.strip_suffix("/**").unwrap_or(text));
    let pruned = patterns(root, whole)?;
    if !std::fs::metadata(root)
        .map_err(|error| ReadError::opening(root, error))?
        .is_dir()
    {
        let path = root.to_path_buf();
        return Err(ReadError::NotADirectory { path });
    }
    let walk = WalkDir::new(root)
        .follow_links(false)
        .follow_root_links(true);
    let walk = walk.into_iter().filter_entry(|entry| {
        let path = relative(root, entry.path());
        !(entry.file_type().is_dir() && pruned.is_match(path))
    });
    let mut found = Vec::new();
    for entry in walk {
        let entry = entry.map_err(|error| unreadable(root, error))?;
        let path = relative(root, entry.path());
        let is_wanted = entry.file_type().is_file() && wanted.is_match(path);
        if is_wanted && !ignored.is_match(path) {
            let path = slashed(path).ok_or_else(|| ReadError::NameNotText {
                path: entry.path().to_path_buf(),
            })?;
            found.push(DirEntry { path });
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// These files of `root` as JSON Lines, each with `path`, `name`, `stem`, `bytes` and `lines`.
pub fn dir_as_jsonl(root: &Path, files: &[DirEntry]) -> Result<Vec<u8>, ReadError> {
    let mut list = String::new();
    for DirEntry { path } in files {
        let place = root.join(path);
        let size = measure(&place).map_err(|error| ReadError::opening(&place, error))?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
        let line = serde_json::to_string(&FileLine {
            path,
            name,
            stem: stem.unwrap_or(name),
            bytes: size.0,
            lines: size.1,
        });
        // Texts and numbers are always JSON.
        list.push_str(&line.unwrap_or_default());
        list.push('\n');
    }
    Ok(list.into_bytes())
}

/// How many bytes and lines a file has; one that does not end in a line feed has one line more
/// than those.
fn measure(path: &Path) -> std::io::Result<(u64, u64)> {
    let mut file = BufReader::new(File::open(path)?);
    let mut chunk = vec![0; 64 * 1024];
    let (mut bytes, mut lines, mut last) = (0, 0, b'\n');
    loop {
        let read = file.read(&mut chunk)?;
        let Some(end) = read.checked_sub(1) else {
            break;
        };
        bytes += read as u64;
        lines += chunk[..read].split(|&byte| byte == b'\n').skip(1).count() as u64;
        last = chunk[end];
    }
    Ok((bytes, lines + u64::from(last != b'\n')))
}

fn patterns<'a>(
    root: &Path,
    texts: impl IntoIterator<Item = &'a str>,
) -> Result<GlobSet, ReadError> {
    let bad = |source| ReadError::BadGlob {
        path: root.to_path_buf(),
        source,
    };
    let mut set = GlobSetBuilder::new();
    for text in texts {
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        set.add(glob.map_err(bad)?);
    }
    set.build().map_err(bad)
}

fn relative<'a>(root: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}

/// The path with `/` between its names, where all of them are text.
fn slashed(path: &Path) -> Option<String> {
    let names: Option<Vec<_>> = path.iter().map(|name| name.to_str()).collect();
    Some(names?.join("/"))
}

fn unreadable(root: &Path, error: walkdir::Error) -> ReadError {
    let path = error
        .path()
        .map_or_else(|| root.to_path_buf(), PathBuf::from);
    let source = error
        .into_io_error()
        .unwrap_or_else(|| std::io::Error::other("its links lead in a circle"));
    ReadError::opening(&path, source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{List, ReadOptions};

    #[test]
    fn lines_are_objects_where_every_one_is() {
        for (lines, expected) in [
            ("{\"a\":1}\r\n\n  {\"b\":2}", FormatWish::Jsonl),
            ("{\"a\":1}\n[2]\n", FormatWish::Lines),
            ("{\"a\":1}\nplain\n", FormatWish::Lines),
            ("a\nb\n", FormatWish::Lines),
            ("\n \n", FormatWish::Lines),
        ] {
            assert_eq!(lines_format(lines.as_bytes()), expected, "{lines:?}");
        }
        assert_eq!(lines_format(b"{\"a\":\"\xff\"}"), FormatWish::Lines);
    }

    #[test]
    fn a_made_list_is_read_as_any_other() {
        let made = MadeList::of_lines(b"src/a.py\nsrc/b.py\n").unwrap();
        let mut list = List::open(made.path(), &ReadOptions::default()).unwrap();
        let mut rows = Vec::new();
        let column = ["A".parse().unwrap()];
        list.rows(&column, |row, cells| {
            rows.push((row, cells[0].clone()));
            Ok::<_, ReadError>(())
        })
        .unwrap();
        assert_eq!(rows, [(1, "src/a.py".into()), (2, "src/b.py".into())]);
        let path = made.path().to_owned();
        drop((list, made));
        assert!(!path.exists());
    }

    #[test]
    fn a_directory_without_such_a_file_is_no_list() {
        let dir = tempfile::tempdir().unwrap();
        let refused = MadeList::of_dir(dir.path(), "*.py", &[]).unwrap_err();
        assert!(
            refused.to_string().contains("no file in it matches `*.py`"),
            "{refused}"
        );
        std::fs::write(dir.path().join("a.py"), "x").unwrap();
        let made = MadeList::of_dir(dir.path(), "*.py", &[]).unwrap();
        let list = List::open(made.path(), &ReadOptions::default()).unwrap();
        assert_eq!(list.label(list.column("stem").unwrap()), "stem");
    }

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("src/b.py", "one\ntwo"),
            ("src/a.py", "one\n"),
            ("src/Z.py", ""),
            ("src/deep/er/c.tar.py", "\n\n"),
            ("src/notes.txt", "x"),
            (".venv/lib/d.py", "x"),
            ("src/__pycache__/e.py", "x"),
            ("top.py", "x"),
        ] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    fn found(dir: &Path, glob: &str, ignore: &[&str]) -> Vec<String> {
        let ignore: Vec<_> = ignore.iter().map(ToString::to_string).collect();
        let files = list_dir(dir, glob, &ignore).unwrap();
        files.into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn a_glob_tells_which_files_and_their_bytes_the_order() {
        let tree = tree();
        let ignore = [".venv/**", "**/__pycache__/**"];
        let all = [
            "src/Z.py",
            "src/a.py",
            "src/b.py",
            "src/deep/er/c.tar.py",
            "top.py",
        ];
        assert_eq!(found(tree.path(), "**/*.py", &ignore), all);
        assert_eq!(found(tree.path(), "src/*.py", &[]), all[..3]);
        assert_eq!(found(tree.path(), "*.py", &[]), ["top.py"]);
        assert_eq!(found(tree.path(), "**", &["src", ".venv/**"]), ["top.py"]);
        assert_eq!(
            found(tree.path(), "src/**/*.py", &["**/c.*", "src/__*/**"]),
            all[..3]
        );
    }

    #[test]
    fn each_file_is_a_line_with_its_size() {
        let tree = tree();
        let files = list_dir(tree.path(), "src/**/*.py", &["**/__*/**".into()]).unwrap();
        let list = dir_as_jsonl(tree.path(), &files).unwrap();
        let expected = [
            r#"{"path":"src/Z.py","name":"Z.py","stem":"Z","bytes":0,"lines":0}"#,
            r#"{"path":"src/a.py","name":"a.py","stem":"a","bytes":4,"lines":1}"#,
            r#"{"path":"src/b.py","name":"b.py","stem":"b","bytes":7,"lines":2}"#,
            r#"{"path":"src/deep/er/c.tar.py","name":"c.tar.py","stem":"c.tar","bytes":2,"lines":2}"#,
        ];
        assert_eq!(
            String::from_utf8(list).unwrap().trim_end(),
            expected.join("\n")
        );
    }

    #[test]
    fn what_cannot_be_listed_is_refused() {
        let tree = tree();
        let refused = |root: &Path, glob: &str| list_dir(root, glob, &[]).unwrap_err().to_string();
        assert!(refused(tree.path(), "src/[a").contains("src/[a"));
        assert!(refused(&tree.path().join("nowhere"), "*").contains("there is no such file"));
        assert!(refused(&tree.path().join("top.py"), "*").contains("this is not a directory"));
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed_and_no_pipe_is_a_file() {
        use std::os::unix::ffi::OsStrExt as _;

        let tree = tree();
        let link = |from: &str, to: &str| std::os::unix::fs::symlink(from, tree.path().join(to));
        link("/etc", "etc.py").unwrap();
        link("top.py", "link.py").unwrap();
        link("..", "src/up").unwrap();
        assert_eq!(found(tree.path(), "*.py", &[]), ["top.py"]);
        assert_eq!(found(tree.path(), "**/top.py", &[]), ["top.py"]);
        let odd = std::ffi::OsStr::from_bytes(b"odd\xff.py");
        std::fs::write(tree.path().join(odd), "").unwrap();
        let refused = list_dir(tree.path(), "*.py", &[]);
        assert!(
            matches!(refused, Err(ReadError::NameNotText { .. })),
            "{refused:?}"
        );
        assert_eq!(found(tree.path(), "src/a*", &[]), ["src/a.py"]);
    }
}
