//! What can go wrong when a list is read.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::{fmt, result};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an encoding; known are utf-8, utf-16le, utf-16be, cp949, euc-kr, shift_jis, euc-jp, gbk, big5, windows-1252 and the other labels of the WHATWG Encoding standard"
)]
pub struct UnknownEncoding(pub(super) String);

/// A list that cannot be read, and why.
#[derive(Debug)]
pub struct ReadError {
    path: PathBuf,
    fault: Fault,
}

/// What is wrong with a list. The readers do not know its path; [`Fault::at`] adds it.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("{0}")]
    NoFile(&'static str),
    #[error("cannot be read; check its permissions and the disk")]
    Io(#[source] io::Error),
    #[error("the workbook is damaged ({0}); open it in a spreadsheet program and save it again")]
    Damaged(String),
    #[error("{0}")]
    NoSuchSheet(String),
    #[error("{0}")]
    Empty(String),
    #[error("this encoding cannot be used")]
    Encoding(#[from] UnknownEncoding),
    #[error("the file pattern `{}` is not valid", .0.glob().unwrap_or_default())]
    Glob(#[from] globset::Error),
    #[error("{0}")]
    Other(String),
    /// The visitor needs no more rows. [`super::List`] turns it into success.
    #[error("the reading was ended")]
    Enough,
}

pub(super) type Result<T> = result::Result<T, Fault>;

impl ReadError {
    /// Whether the sheet that was asked for does not exist.
    pub fn is_missing_sheet(&self) -> bool {
        matches!(self.fault, Fault::NoSuchSheet(_))
    }

    /// Whether there is no such file, or it is a directory or a device.
    pub fn is_missing_file(&self) -> bool {
        matches!(self.fault, Fault::NoFile(_))
    }

    /// Whether the file could be read, but has wrong content.
    pub fn is_of_content(&self) -> bool {
        !matches!(self.fault, Fault::NoFile(_) | Fault::Io(_))
    }

    pub fn is_empty_list(&self) -> bool {
        matches!(self.fault, Fault::Empty(_))
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.fault)
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.fault.source()
    }
}

impl Fault {
    pub(super) fn at(self, path: &Path) -> ReadError {
        ReadError {
            path: path.to_path_buf(),
            fault: self,
        }
    }

    pub(super) fn damaged(what: impl fmt::Display) -> Self {
        Self::Damaged(what.to_string())
    }

    pub(super) fn encrypted() -> Self {
        "the workbook is encrypted; save a copy without a password".into()
    }

    pub(super) fn too_large(what: &str, limit: u64) -> Self {
        format!("{what} is larger than {limit} bytes; split the list").into()
    }
}

impl From<String> for Fault {
    fn from(what: String) -> Self {
        Self::Other(what)
    }
}

impl From<&str> for Fault {
    fn from(what: &str) -> Self {
        Self::Other(what.to_owned())
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NoFile("there is no such file; check the path"),
            io::ErrorKind::IsADirectory => Self::NoFile("this is a directory; name a file in it"),
            _ => Self::Io(error),
        }
    }
}
