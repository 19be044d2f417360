//! Writes `runs/RUNID/report.json`, `report.md` and `report.html`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::Report;
use super::markdown::markdown;
use crate::base::files::flush_directory;
use crate::base::text::escape_json;
use crate::session::RunId;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("could not write the report {path}")]
    Own {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the template of the report does not fit its data")]
    Template(#[from] minijinja::Error),
}

/// Writes the report on `run` into the session in `dir`, readable only by its owner.
///
/// Each file is replaced atomically.
pub fn write_report(dir: &Path, run: RunId, report: &Report) -> Result<PathBuf, WriteError> {
    write_own(dir, run, "report.json", &json_text(report)?)?;
    write_own(dir, run, "report.md", &markdown(report)?)
}

pub fn write_page(dir: &Path, run: RunId, html: &str) -> Result<PathBuf, WriteError> {
    write_own(dir, run, "report.html", html)
}

fn write_own(dir: &Path, run: RunId, name: &str, text: &str) -> Result<PathBuf, WriteError> {
    let folder = dir.join("runs").join(run.to_string());
    let path = folder.join(name);
    let written = create_own(&folder).and_then(|()| replace(&path, text));
    match written {
        Ok(()) => Ok(path),
        Err(source) => Err(WriteError::Own { path, source }),
    }
}

fn json_text(report: &Report) -> Result<String, io::Error> {
    let json = serde_json::to_string(report)?;
    Ok(escape_json(&json) + "\n")
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut builder = tempfile::Builder::new();
    let mut file = builder
        .prefix(".report-")
        .suffix(".part")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    if path.is_dir() {
        // An agent that knows its run could have put a directory there.
        let mut aside = path.as_os_str().to_owned();
        aside.push(format!(".aside-{}", std::process::id()));
        fs::rename(path, aside)?;
    }
    file.persist(path).map_err(|refused| refused.error)?;
    flush_directory(folder)
}

fn create_own(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;

    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::report::run::fixtures::report;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_report_is_private_and_replaces_the_previous_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut report = report();
        let run = RunId::new(8);
        let people = write_report(dir.path(), run, &report).unwrap();
        let folder = dir.path().join("runs/00000008");
        assert_eq!(people, folder.join("report.md"));
        assert!(fs::read_to_string(&people).unwrap().starts_with("# NOT"));
        // A file that others could read is replaced by a private one.
        fs::set_permissions(&people, fs::Permissions::from_mode(0o666)).unwrap();
        report.complete = true;
        write_report(dir.path(), run, &report).unwrap();
        assert_eq!(names(&folder), ["report.json", "report.md"]);
        assert!(fs::read_to_string(&people).unwrap().starts_with("# COMP"));
        for name in names(&folder) {
            assert_eq!(mode(&folder.join(&name)), 0o600, "{name}");
        }
        assert_eq!(mode(&folder), 0o700);
        let json = fs::read_to_string(folder.join("report.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json, serde_json::to_value(&report).unwrap());
        assert_eq!(json["format"], 1);
    }
}
