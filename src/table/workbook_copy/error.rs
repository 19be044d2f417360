//! What can be wrong with a workbook that is copied.

use std::io;

use zip::result::ZipError;

/// Why a workbook cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum WorkbookError {
    /// The file is no zip archive.
    #[error(
        "this is not an .xlsx or .xlsm workbook, or it is damaged or protected by a password; open it in a spreadsheet program and save it as .xlsx without one"
    )]
    NotAPackage(#[source] ZipError),
    /// The archive holds a part that is encrypted.
    #[error("the workbook's part {0:?} is encrypted; save the workbook without a password")]
    Encrypted(String),
    /// Two parts have one name, so programs disagree about what the workbook holds.
    #[error(
        "the workbook holds two parts of one name; open it in a spreadsheet program and save it anew"
    )]
    DuplicateParts,
    /// A part that others refer to is not there.
    #[error("the workbook has no part {0:?}; open it in a spreadsheet program and save it anew")]
    NoPart(String),
    /// The workbook has no sheet of that name, or it is no worksheet.
    #[error("the workbook has no worksheet {name:?}; its worksheets: {found}")]
    NoSheet {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        found: String,
    },
    /// A part's bytes cannot be read.
    #[error("the workbook's part {part:?} cannot be read; it may be damaged")]
    Unreadable {
        /// The part's name.
        part: String,
        /// What was met.
        source: io::Error,
    },
    /// A part is not well-formed XML.
    #[error(
        "the workbook's part {part:?} is not well-formed XML; open it in a spreadsheet program and save it anew"
    )]
    Xml {
        /// The part's name.
        part: String,
        /// What was met.
        source: quick_xml::Error,
    },
    /// A part is XML, but not what its place asks for.
    #[error(
        "the workbook's part {part:?} {what}; open it in a spreadsheet program and save it anew"
    )]
    Malformed {
        /// The part's name.
        part: String,
        /// What is wrong with it.
        what: String,
    },
}
