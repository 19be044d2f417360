//! Choosing a sheet of a workbook.

use std::path::Path;

use super::read_error::ReadError;

/// A sheet that holds cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SheetName {
    /// Its name, as its tab shows it.
    pub name: String,
    /// Whether its tab is shown.
    pub visible: bool,
}

/// Chooses the sheet called `wanted`, or the first whose tab is shown, or the first.
pub(super) fn choose_sheet(
    path: &Path,
    wanted: Option<&str>,
    sheets: &[SheetName],
) -> Result<String, ReadError> {
    let chosen = match wanted {
        Some(name) => sheets
            .iter()
            .find(|sheet| sheet.name == name)
            .or_else(|| sheets.iter().find(|sheet| sheet.name.trim() == name.trim())),
        None => sheets
            .iter()
            .find(|sheet| sheet.visible)
            .or_else(|| sheets.first()),
    };
    match (chosen, wanted) {
        (Some(sheet), _) => Ok(sheet.name.clone()),
        (None, Some(name)) => Err(ReadError::NoSuchSheet {
            path: path.to_path_buf(),
            sheet: name.to_owned(),
            sheets: sheets
                .iter()
                .map(|sheet| format!("`{}`", sheet.name))
                .collect(),
        }),
        (None, None) => Err(ReadError::damaged(path, "it has no sheet of cells")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_shown_is_read() {
        let sheets =
            [("Old", false), ("Companies", true), ("Notes", true)].map(|(name, visible)| {
                SheetName {
                    name: name.to_owned(),
                    visible,
                }
            });
        let chosen = |wanted| choose_sheet(Path::new("a.xlsx"), wanted, &sheets);
        assert_eq!(chosen(None).unwrap(), "Companies");
        assert_eq!(chosen(Some("Old")).unwrap(), "Old");
        assert_eq!(chosen(Some(" Notes")).unwrap(), "Notes");
        let error = chosen(Some("notes")).unwrap_err().to_string();
        assert!(error.contains("`Old`, `Companies`, `Notes`"), "{error}");
    }
}
