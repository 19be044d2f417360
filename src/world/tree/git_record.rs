//! A line of `git ls-tree -r -z`.

use super::path::TreePath;

/// One of a commit's files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: Kind,
    /// git's name for its contents.
    pub(super) id: String,
    /// Its path, or for people what no path names.
    pub(super) path: Result<TreePath, String>,
}

/// What git has at a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File { executable: bool },
    Link,
    Submodule,
}

impl Record {
    /// Reads `MODE TYPE ID<tab>PATH<nul>`.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\0")?;
        let tab = line.iter().position(|&byte| byte == b'\t')?;
        let mut words = str::from_utf8(&line[..tab]).ok()?.split(' ');
        let kind = match (words.next()?, words.next()?) {
            ("100755", "blob") => Kind::File { executable: true },
            ("100644" | "100664", "blob") => Kind::File { executable: false },
            ("120000", "blob") => Kind::Link,
            ("160000", "commit") => Kind::Submodule,
            _ => return None,
        };
        let id = words.next()?.to_owned();
        let path = &line[tab + 1..];
        let path = str::from_utf8(path)
            .ok()
            .and_then(|path| TreePath::parse(path).ok())
            .ok_or_else(|| format!("\"{}\"", path.escape_ascii()));
        Some(Self { kind, id, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_git_writes() {
        let record = Record::parse(b"100755 blob abc\ta b/c\0").unwrap();
        assert_eq!(record.kind, Kind::File { executable: true });
        assert_eq!(record.id, "abc");
        assert_eq!(record.path.unwrap().as_str(), "a b/c");
        let record = Record::parse(b"160000 commit abc\tsub\0").unwrap();
        assert_eq!(record.kind, Kind::Submodule);
    }

    #[test]
    fn a_name_that_is_no_path_is_told_of() {
        for name in [&b"a\nb"[..], b"\xff", b"../a", b"a/.git/config"] {
            let line = [b"100644 blob abc\t", name, b"\0"].concat();
            let path = Record::parse(&line).unwrap().path;
            assert!(path.is_err_and(|place| place.starts_with('"')));
        }
    }

    #[test]
    fn whatever_else_is_not_understood() {
        for line in [
            &b""[..],
            b"\0",
            b"100644 blob abc\tx",
            b"100644 blob\tx\0",
            b"1 blob a\tx\0",
            b"\xff\t\0",
        ] {
            assert!(Record::parse(line).is_none());
        }
    }
}
