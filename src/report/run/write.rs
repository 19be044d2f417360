//! Writes reports: `runs/RUNID/report.json`, `report.md` and `report.html`, and files that a user names.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::Report;
use super::markdown::markdown;
use crate::base::files::{AtomicError, Overwrite, write_whole};
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
    Atomic(#[from] AtomicError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes the report on `run` into the session in `dir`, readable only by its owner.
///
/// Each file is replaced atomically.
pub fn write_report(dir: &Path, run: RunId, report: &Report) -> Result<PathBuf, WriteError> {
    let folder = dir.join("runs").join(run.to_string());
    create_own(&folder).map_err(|source| WriteError::Own {
        path: folder.clone(),
        source,
    })?;
    let json = folder.join("report.json");
    replace(&json, &json_text(report)?)?;
    let people = folder.join("report.md");
    replace(&people, &markdown(report))?;
    Ok(people)
}

pub fn write_page(dir: &Path, run: RunId, html: &str) -> Result<PathBuf, WriteError> {
    let folder = dir.join("runs").join(run.to_string());
    create_own(&folder).map_err(|source| WriteError::Own {
        path: folder.clone(),
        source,
    })?;
    let page = folder.join("report.html");
    replace(&page, html)?;
    Ok(page)
}

/// Writes the report to `path`: as JSON if the name ends in `.json`, otherwise as Markdown.
///
/// It never overwrites files of the session in `dir`.
pub fn write_at(path: &Path, dir: &Path, report: &Report) -> Result<(), WriteError> {
    let is_json = path
        .extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("json"));
    let text = if is_json {
        json_text(report)?
    } else {
        markdown(report)
    };
    let own = ["ledger.jsonl", "session.json", "index.sqlite", "lock"].map(|name| dir.join(name));
    let own: Vec<&Path> = own.iter().map(PathBuf::as_path).collect();
    write_whole(path, Overwrite::Replace, &own, |out| {
        out.write_all(text.as_bytes()).map_err(WriteError::from)
    })
}

fn json_text(report: &Report) -> Result<String, io::Error> {
    let json = serde_json::to_string(report)?;
    Ok(escape_json(&json) + "\n")
}

fn replace(path: &Path, text: &str) -> Result<(), WriteError> {
    replaced(path, text).map_err(|source| WriteError::Own {
        path: path.to_owned(),
        source,
    })
}

fn replaced(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file = own_file(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    if path.is_dir() {
        // An agent that knows its run can put a file there.
        let mut aside = path.as_os_str().to_owned();
        aside.push(format!(".aside-{}", std::process::id()));
        fs::rename(path, aside)?;
    }
    file.persist(path).map_err(|refused| refused.error)?;
    match File::open(folder)?.sync_all() {
        // Some file systems cannot sync a directory and do not need to.
        Err(refused) if refused.kind() == io::ErrorKind::InvalidInput => Ok(()),
        flushed => flushed,
    }
}

fn own_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(".report-")
        .suffix(".part")
        .tempfile_in(folder)
}

fn create_own(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

#[cfg(test)]
#[cfg(unix)]
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
    fn a_report_is_its_owners_alone_and_replaces_the_last() {
        let dir = tempfile::tempdir().unwrap();
        let mut report = report();
        let run = RunId::new(8);
        let people = write_report(dir.path(), run, &report).unwrap();
        let folder = dir.path().join("runs/00000008");
        assert_eq!(people, folder.join("report.md"));
        assert!(fs::read_to_string(&people).unwrap().starts_with("# NOT"));
        // One that others could read does not stay so.
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

    #[test]
    fn a_copy_is_of_the_form_that_its_name_says_and_never_goes_over_the_ledger() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("ledger.jsonl"), "lines").unwrap();
        let report = report();
        write_at(&at("out.JSON"), dir.path(), &report).unwrap();
        assert!(fs::read_to_string(at("out.JSON")).unwrap().starts_with('{'));
        write_at(&at("out.txt"), dir.path(), &report).unwrap();
        assert!(fs::read_to_string(at("out.txt")).unwrap().starts_with("# "));
        let refused = write_at(&at("ledger.jsonl"), dir.path(), &report);
        assert!(matches!(
            refused,
            Err(WriteError::Atomic(AtomicError::Source(_)))
        ));
        assert_eq!(fs::read_to_string(at("ledger.jsonl")).unwrap(), "lines");
    }
}
