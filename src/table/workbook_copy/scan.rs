//! The first reading of a sheet: where its columns end, and what its header says.

use std::io::BufRead;

use quick_xml::events::Event;

use super::WorkbookError;
use super::tag;
use super::tokens::{Token, Tokens};
use super::walk::{Step, Walk};
use crate::table::cell_reference::{Area, LAST_COLUMN};

/// What the first reading tells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// The last column that is in use, counted from 1; 0 for an empty sheet. Cells that have
    /// a format and no value are not in use; merged areas from the header row on are.
    pub(super) last_column: u32,
    /// What the header row's cells hold.
    pub(super) headings: Vec<Heading>,
    /// The format of the header row's last cell.
    pub(super) header_style: Option<u32>,
}

/// What a heading's cell holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heading {
    /// Its text.
    Text(String),
    /// The index of its text among the shared strings.
    Shared(usize),
}

/// The cell that is being read.
#[derive(Debug, Default)]
struct Open {
    column: u32,
    style: Option<u32>,
    shared: bool,
    used: bool,
    header: bool,
    text: String,
    within: Within,
}

/// What the text at hand is to the cell.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Within {
    /// White space between elements, or a formula.
    #[default]
    Other,
    /// The cell's value.
    Value,
    /// A reading aid.
    Phonetic,
}

/// Reads a whole sheet.
pub(super) fn scan(
    mut tokens: Tokens<impl BufRead>,
    header_row: Option<u32>,
) -> Result<Scan, WorkbookError> {
    let mut walk = Walk::new(tokens.part());
    let mut scan = Scan::default();
    let mut open = Open::default();
    loop {
        let token = tokens.next()?;
        match walk.step(&token)? {
            Step::Cell { column, empty } => {
                let header = header_row == Some(walk.row());
                open = Open::new(column, header, token.raw);
                if empty {
                    scan.close(std::mem::take(&mut open));
                }
            }
            Step::InCell => open.take_in(&walk, &token),
            Step::CellEnd => scan.close(std::mem::take(&mut open)),
            Step::Merged => scan.merge(token.raw, header_row),
            Step::End => return Ok(scan),
            _ => {}
        }
    }
}

impl Open {
    fn new(column: u32, header: bool, tag: &[u8]) -> Self {
        Self {
            column,
            header,
            style: tag::value(tag, "s").and_then(|style| style.parse().ok()),
            shared: tag::value(tag, "t") == Some("s"),
            ..Self::default()
        }
    }

    fn take_in(&mut self, walk: &Walk, token: &Token<'_>) {
        match &token.event {
            Event::Start(start) => {
                let name = start.name().into_inner();
                self.used |= !walk.is(name, "v");
                if self.within != Within::Phonetic {
                    self.within = if walk.is(name, "rPh") {
                        Within::Phonetic
                    } else if walk.is(name, "v") || walk.is(name, "t") {
                        Within::Value
                    } else {
                        Within::Other
                    };
                }
            }
            Event::Empty(start) => self.used |= !walk.is(start.name().into_inner(), "v"),
            Event::End(end)
                if self.within != Within::Phonetic || walk.is(end.name().into_inner(), "rPh") =>
            {
                self.within = Within::Other;
            }
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                let text = token.text();
                let value = self.within == Within::Value;
                self.used |= value || !text.trim().is_empty();
                if self.header && value {
                    self.text.push_str(&text);
                }
            }
            _ => {}
        }
    }
}

impl Scan {
    fn close(&mut self, cell: Open) {
        if cell.header && (cell.used || self.headings.is_empty()) {
            self.header_style = cell.style;
        }
        if !cell.used {
            return;
        }
        self.last_column = self.last_column.max(cell.column);
        if cell.header {
            self.headings.push(match cell.text.trim().parse() {
                Ok(index) if cell.shared => Heading::Shared(index),
                _ => Heading::Text(cell.text),
            });
        }
    }

    /// A result within a merged area would not be seen. An area that reaches the last column
    /// leaves no room beside it, and so does not count.
    fn merge(&mut self, tag: &[u8], header_row: Option<u32>) {
        let Some(area) = tag::value(tag, "ref").and_then(Area::parse) else {
            return;
        };
        if area.last.row >= header_row.unwrap_or(1) && area.last.column < LAST_COLUMN {
            self.last_column = self.last_column.max(area.last.column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(rows: &str, header: Option<u32>) -> Result<Scan, WorkbookError> {
        let xml = format!(
            "<worksheet><sheetData>{rows}</sheetData><mergeCells><mergeCell ref=\"A1:F1\"/></mergeCells></worksheet>"
        );
        scan(Tokens::new("sheet", xml.as_bytes())?, header)
    }

    #[test]
    fn formats_alone_are_not_use() {
        let rows = "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\" s=\"1\"/><c r=\"C2\"><v/></c><c r=\"D2\"><v></v></c></row>";
        assert_eq!(scanned(rows, Some(2)).unwrap().last_column, 1);
        for used in ["<v>0</v>", "<f>A1</f>", "<f/>", "<is><t/></is>", "<v> </v>"] {
            let rows = format!("<row r=\"2\"><c r=\"G2\">{used}</c></row>");
            assert_eq!(scanned(&rows, Some(2)).unwrap().last_column, 7, "{used}");
        }
    }

    #[test]
    fn a_merged_title_above_the_header_does_not_count() {
        let rows = "<row><c><v>1</v></c></row>";
        assert_eq!(scanned(rows, Some(2)).unwrap().last_column, 1);
        assert_eq!(scanned(rows, Some(1)).unwrap().last_column, 6);
        assert_eq!(scanned(rows, None).unwrap().last_column, 6);
    }

    #[test]
    fn reads_headings_of_every_kind() {
        let rows = "<row r=\"1\"><c t=\"s\" s=\"4\"><v>7</v></c><c t=\"inlineStr\" s=\"5\"><is><r><t>a&amp;</t></r><r><t><![CDATA[<b]]></t></r><rPh sb=\"0\" eb=\"1\"><t>no</t></rPh></is></c><c t=\"str\" s=\"6\"><f>\"x\"</f><v>y</v></c><c s=\"9\"/></row>";
        assert_eq!(
            scanned(rows, Some(1)).unwrap(),
            Scan {
                last_column: 6,
                headings: vec![
                    Heading::Shared(7),
                    Heading::Text("a&<b".into()),
                    Heading::Text("y".into()),
                ],
                header_style: Some(6),
            }
        );
    }

    #[test]
    fn disorder_and_truncation_are_errors() {
        for rows in [
            "<row r=\"2\"/><row r=\"2\"/>",
            "<row r=\"3\"/><row r=\"1\"/>",
            "<row r=\"0\"/>",
            "<row r=\"1048577\"/>",
            "<row r=\"1\"><c r=\"B1\"/><c r=\"A1\"/></row>",
            "<row r=\"1\"><c r=\"A2\"/></row>",
            "<row r=\"1\"><c r=\"XFE1\"/></row>",
            "</sheetData><sheetData>",
            "<row r=\"1048576\"/><row/>",
            "<row r=\"1\"><c r=\"XFD1\"/><c/></row>",
        ] {
            assert!(
                matches!(scanned(rows, None), Err(WorkbookError::Malformed { .. })),
                "{rows}"
            );
        }
        for xml in [
            "<worksheet><sheetData><row>",
            "<worksheet/>",
            "<chartsheet/>",
            "",
        ] {
            let tokens = Tokens::new("sheet", xml.as_bytes()).unwrap();
            assert!(
                matches!(scan(tokens, None), Err(WorkbookError::Malformed { .. })),
                "{xml}"
            );
        }
        for rows in ["<row></c>", "<row", "&x"] {
            assert!(scanned(rows, None).is_err(), "{rows}");
        }
    }
}
