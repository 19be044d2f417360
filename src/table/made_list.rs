//! Lists that are no file of their own: what a directory holds, or what a command printed.

use std::io::{self, Write as _};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use super::directory::{dir_as_jsonl, list_dir};
use super::json_line::Members;
use super::read_error::ReadError;
use super::source_format::FormatWish;

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

    /// What a command printed, one item a line.
    pub fn of_lines(bytes: &[u8]) -> io::Result<Self> {
        Self::new(bytes, lines_format(bytes))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// How it is read, whatever its plan says.
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
}
