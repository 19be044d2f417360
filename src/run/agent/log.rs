//! The copy of what an agent prints, which stays as small as it is told to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

#[derive(Debug)]
pub(super) struct CappedLog {
    file: Option<File>,
    most: u64,
    left: u64,
}

impl CappedLog {
    // The agent may have created a file of this name; never write into that one.
    pub(super) fn create(path: &Path, most: u64) -> io::Result<Self> {
        const MOST_NAMES: u32 = 100;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut opened = options.open(path);
        for number in 2..MOST_NAMES {
            if !matches!(&opened, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
                break;
            }
            opened = options.open(path.with_extension(format!("{number}.log")));
        }
        let file = opened?;
        Ok(Self {
            file: Some(file),
            most,
            left: most,
        })
    }

    // A full disk must not end the agent: the log stops there.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let room = usize::try_from(self.left).unwrap_or(usize::MAX);
        let taken = &bytes[..bytes.len().min(room)];
        self.left -= taken.len() as u64;
        let mut done = file.write_all(taken);
        let cut = taken.len() < bytes.len();
        if cut && done.is_ok() {
            done = writeln!(file, "\n[cut by comail: the log holds {} bytes]", self.most);
        }
        if cut || done.is_err() {
            self.file = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn written(most: u64, chunks: &[&str]) -> String {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("1.log");
        let mut log = CappedLog::create(&path, most).unwrap();
        for chunk in chunks {
            log.write(chunk.as_bytes());
        }
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn holds_what_fits_and_says_where_it_was_cut() {
        assert_eq!(written(6, &["abc", "def", ""]), "abcdef");
        let cut = "abcd\n[cut by comail: the log holds 4 bytes]\n";
        assert_eq!(written(4, &["abc", "def", "ghi"]), cut);
        assert_eq!(written(4, &["abcd", "e"]), cut);
    }

    #[test]
    fn is_its_owners_and_never_another_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("1.log");
        CappedLog::create(&path, 1).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        CappedLog::create(&path, 9).unwrap().write(b"other");
        assert_eq!(fs::read(&path).unwrap(), b"");
        let other = place.path().join("1.2.log");
        assert_eq!(fs::read(other).unwrap(), b"other");
    }
}
