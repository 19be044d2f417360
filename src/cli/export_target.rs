//! Where results are written and in which format, decided from names alone.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::exit::UsageError;

/// A format that results can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A workbook.
    Xlsx,
    /// Comma-separated values, UTF-8 with a byte order mark.
    Csv,
    /// JSON Lines.
    Jsonl,
    /// A page to look at, which needs nothing beside it.
    Html,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish<'a> {
    /// The file to write, where one was named.
    pub(super) path: Option<&'a Path>,
    /// The format, where one was named.
    pub(super) format: Option<Format>,
    /// Whether rows are left out, which no copy of a workbook can do.
    pub(super) filtered: bool,
}

/// The list, by its names.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListNames<'a> {
    /// Its path when it was scanned.
    pub(super) path: &'a Path,
    /// The session's copy of it, whose ending tells its format.
    pub(super) copy: &'a Path,
}

/// Where results are written, and how.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    /// Whether the workbook is copied whole.
    pub(super) in_place: bool,
}

/// Decides where and how. A file's name never promises another format than its content has.
pub(super) fn target(wish: Wish<'_>, list: ListNames<'_>) -> Result<Target, UsageError> {
    let list_ending = ending(list.copy);
    let named = wish.path.map(ending).unwrap_or_default();
    let format = match (wish.format, by_ending(&named)) {
        (Some(format), Some(other)) if format != other => {
            return Err(UsageError(format!(
                "--format says {}, and {} is the name of another format; change one of them",
                format.ending(),
                shown(wish.path)
            )));
        }
        (Some(format), _) | (None, Some(format)) => format,
        (None, None) if named.is_empty() => by_list(&list_ending),
        (None, None) => {
            return Err(UsageError(format!(
                "{}: results are not written as .{named}; name it .xlsx, .csv, .jsonl or .html, or \
                 say --format",
                shown(wish.path)
            )));
        }
    };
    let workbook = matches!(list_ending.as_str(), "xlsx" | "xlsm");
    let in_place = format == Format::Xlsx && !wish.filtered && workbook;
    let right = if in_place {
        list_ending.as_str()
    } else {
        format.ending()
    };
    if by_ending(&named).is_some_and(|by_name| by_name == Format::Xlsx) && named != right {
        let macros = if right == "xlsm" { "has" } else { "has no" };
        return Err(UsageError(format!(
            "{}: this workbook {macros} macros; name it .{right}, or take another --format",
            shown(wish.path)
        )));
    }
    let path = wish.path.map_or_else(
        || {
            let stem = list.path.file_stem().unwrap_or_default();
            PathBuf::from(format!("{}.comail.{right}", stem.to_string_lossy()))
        },
        Path::to_owned,
    );
    Ok(Target {
        path,
        format,
        in_place,
    })
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Self::Xlsx => "xlsx",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Html => "html",
        }
    }
}

fn shown(path: Option<&Path>) -> String {
    path.unwrap_or(Path::new("")).display().to_string()
}

fn ending(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_ascii_lowercase()
}

fn by_ending(ending: &str) -> Option<Format> {
    match ending {
        "xlsx" | "xlsm" => Some(Format::Xlsx),
        "csv" => Some(Format::Csv),
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        "html" | "htm" => Some(Format::Html),
        _ => None,
    }
}

/// The format that stays closest to the list's own.
fn by_list(ending: &str) -> Format {
    match ending {
        "xlsx" | "xlsm" | "xls" | "ods" => Format::Xlsx,
        "jsonl" => Format::Jsonl,
        _ => Format::Csv,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome for a list of this ending: path, format, whether it is a whole copy.
    fn decided(
        list: &str,
        path: Option<&str>,
        format: Option<Format>,
        filtered: bool,
    ) -> Result<(String, Format, bool), String> {
        let list_path = format!("/lists/업체.v2.{list}");
        let copy = format!("source.{list}");
        let names = ListNames {
            path: Path::new(&list_path),
            copy: Path::new(&copy),
        };
        let wish = Wish {
            path: path.map(Path::new),
            format,
            filtered,
        };
        let target = target(wish, names).map_err(|refused| refused.to_string())?;
        let path = target.path.display().to_string();
        Ok((path, target.format, target.in_place))
    }

    #[test]
    fn without_a_name_it_stays_closest_to_the_list() {
        for (list, name, format, in_place) in [
            ("xlsx", "업체.v2.comail.xlsx", Format::Xlsx, true),
            ("xlsm", "업체.v2.comail.xlsm", Format::Xlsx, true),
            ("xls", "업체.v2.comail.xlsx", Format::Xlsx, false),
            ("ods", "업체.v2.comail.xlsx", Format::Xlsx, false),
            ("tsv", "업체.v2.comail.csv", Format::Csv, false),
            ("txt", "업체.v2.comail.csv", Format::Csv, false),
            ("jsonl", "업체.v2.comail.jsonl", Format::Jsonl, false),
        ] {
            let expected = Ok((name.to_owned(), format, in_place));
            assert_eq!(decided(list, None, None, false), expected);
        }
        let filtered = decided("xlsm", None, None, true).unwrap();
        assert_eq!(
            filtered,
            ("업체.v2.comail.xlsx".into(), Format::Xlsx, false)
        );
    }

    #[test]
    fn a_name_or_a_flag_decides() {
        let format = |path, flag| decided("xlsx", path, flag, false).map(|(_, format, _)| format);
        assert_eq!(format(Some("a.CSV"), None), Ok(Format::Csv));
        assert_eq!(format(Some("a.ndjson"), None), Ok(Format::Jsonl));
        assert_eq!(format(Some("a.dat"), Some(Format::Csv)), Ok(Format::Csv));
        assert_eq!(format(Some("a"), None), Ok(Format::Xlsx));
        assert_eq!(format(None, Some(Format::Jsonl)), Ok(Format::Jsonl));
        for page in ["a.html", "a.HTM"] {
            assert_eq!(format(Some(page), None), Ok(Format::Html));
        }
        let page = decided("xlsx", None, Some(Format::Html), false).unwrap();
        assert_eq!(page, ("업체.v2.comail.html".into(), Format::Html, false));
    }

    #[test]
    fn no_name_promises_what_is_not_in_the_file() {
        let refused = |list, path, flag, filtered| {
            decided(list, Some(path), flag, filtered)
                .expect_err("a refusal")
                .contains(path)
        };
        assert!(refused("xlsx", "a.pdf", None, false));
        assert!(refused("xlsx", "a.html", Some(Format::Csv), false));
        assert!(refused("xlsx", "a.csv", Some(Format::Html), false));
        assert!(refused("xlsx", "a.xlsx", Some(Format::Csv), false));
        assert!(refused("xlsm", "a.xlsx", None, false));
        assert!(refused("xlsx", "a.xlsm", None, false));
        assert!(refused("xlsm", "a.xlsm", None, true));
        assert!(refused("csv", "a.xlsm", None, false));
    }
}
