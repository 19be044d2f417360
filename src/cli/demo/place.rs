//! Where the demo plays: a directory of its own, which it makes and never replaces.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::cli::exit::UsageError;

/// The bundled workbook.
const WORKBOOK: &[u8] = include_bytes!("../../../fixtures/workbooks/companies.xlsx");

/// The name of the directory where none is given.
const DEFAULT_DIR: &str = "comail-demo";

/// The most directories that the demo leaves side by side.
const MOST_DIRS: u32 = 1_000;

/// A directory that holds the bundled workbook.
#[derive(Debug)]
pub(super) struct Place(PathBuf);

impl Place {
    /// Makes `wanted`, or the first default name that is free, and puts the workbook there.
    pub(super) fn make(wanted: Option<&Path>) -> Result<Self> {
        let place = Self(match wanted {
            Some(dir) => make_named(dir)?,
            None => make_free(Path::new(DEFAULT_DIR))?,
        });
        let workbook = place.workbook();
        fs::write(&workbook, WORKBOOK)
            .with_context(|| format!("cannot write {}", workbook.display()))?;
        Ok(place)
    }

    /// The directory.
    pub(super) fn dir(&self) -> &Path {
        &self.0
    }

    /// The list.
    pub(super) fn workbook(&self) -> PathBuf {
        self.0.join("companies.xlsx")
    }

    /// The session.
    pub(super) fn session(&self) -> PathBuf {
        self.0.join("session")
    }

    /// The list with its results.
    pub(super) fn results(&self) -> PathBuf {
        self.0.join("results.xlsx")
    }
}

fn make_named(dir: &Path) -> Result<PathBuf> {
    if dir.to_str().is_none() {
        let text = format!(
            "--dir {}: a command line can only show a name in UTF-8",
            dir.display()
        );
        return Err(UsageError(text).into());
    }
    match fs::create_dir(dir) {
        Ok(()) => Ok(dir.to_owned()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => anyhow::bail!(
            "{} is there already, and nothing is replaced: name another directory with --dir",
            dir.display()
        ),
        Err(error) => Err(error).with_context(|| {
            format!(
                "cannot make the demo's directory {}; name another with --dir",
                dir.display()
            )
        }),
    }
}

/// Makes `name`, or `name-2`, `name-3`, …: making it is the test of whether it is free.
fn make_free(name: &Path) -> Result<PathBuf> {
    let mut dir = name.to_owned();
    for number in 2..=MOST_DIRS {
        match fs::create_dir(&dir) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                dir = format!("{}-{number}", name.display()).into();
            }
            Err(_) => break,
            Ok(()) => return Ok(dir),
        }
    }
    make_named(&dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_first_free_name_and_replaces_nothing() {
        let here = tempfile::tempdir().unwrap();
        let name = here.path().join("demo");
        fs::write(&name, "somebody's").unwrap();
        fs::create_dir(here.path().join("demo-2")).unwrap();
        assert_eq!(make_free(&name).unwrap(), here.path().join("demo-3"));
        assert_eq!(fs::read(&name).unwrap(), b"somebody's");
    }

    #[test]
    fn a_directory_that_is_there_is_refused() {
        let here = tempfile::tempdir().unwrap();
        let error = Place::make(Some(here.path())).unwrap_err();
        assert!(error.to_string().contains("--dir"), "{error:#}");
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
        let error = make_free(&here.path().join("no/such/demo")).unwrap_err();
        assert!(error.to_string().contains("no/such/demo"), "{error:#}");
    }
}
