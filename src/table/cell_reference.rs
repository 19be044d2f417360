//! Cells and areas of a sheet by their A1 names.

/// The number of the last column of a sheet, XFD.
pub(crate) const LAST_COLUMN: u32 = 16_384;
/// The number of the last row of a sheet.
pub(crate) const LAST_ROW: u32 = 1_048_576;

/// A cell's place: column and row, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellReference {
    pub(crate) column: u32,
    pub(crate) row: u32,
}

/// A rectangle of cells, from its upper left to its lower right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) first: CellReference,
    pub(crate) last: CellReference,
}

/// The letters of a column counted from 1: A, …, Z, AA, …
pub(crate) fn column_letters(column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = column;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or(0)));
        rest /= 26;
    }
    letters.into_iter().rev().collect()
}

impl CellReference {
    /// The place that `B7` names; nothing outside of what a sheet can hold.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let split = text.find(|letter: char| !letter.is_ascii_alphabetic())?;
        let (letters, digits) = text.split_at(split);
        if letters.is_empty() || letters.len() > 3 {
            return None;
        }
        let column = letters.bytes().fold(0, |column, letter| {
            column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1
        });
        let row = parse_row(digits)?;
        (column <= LAST_COLUMN).then_some(Self { column, row })
    }
}

impl Area {
    /// The area that `A1:C3` or a single `A1` names.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once(':').unwrap_or((text, text));
        Some(Self {
            first: CellReference::parse(first)?,
            last: CellReference::parse(last)?,
        })
    }
}

impl std::fmt::Display for CellReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", column_letters(self.column), self.row)
    }
}

/// A row's number; nothing outside of what a sheet can hold.
pub(crate) fn parse_row(digits: &str) -> Option<u32> {
    let row = digits.parse().ok()?;
    (1..=LAST_ROW).contains(&row).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_numbers_agree() {
        for (column, letters) in [
            (1, "A"),
            (26, "Z"),
            (27, "AA"),
            (702, "ZZ"),
            (16_384, "XFD"),
        ] {
            assert_eq!(column_letters(column), letters);
            let expected = CellReference { column, row: 7 };
            assert_eq!(CellReference::parse(&format!("{letters}7")), Some(expected));
            assert_eq!(expected.to_string(), format!("{letters}7"));
        }
    }

    #[test]
    fn refuses_what_no_sheet_holds() {
        for text in [
            "", "A", "7", "A0", "XFE1", "A1048577", "AAAA1", "A-1", "é1", "A1:B2", "A 1",
        ] {
            assert_eq!(CellReference::parse(text), None, "{text}");
        }
        assert!(Area::parse("A1:B2").is_some() && Area::parse("B2").is_some());
        assert!(Area::parse("A1:").is_none());
    }
}
