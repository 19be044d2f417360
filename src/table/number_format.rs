//! Numbers as a sheet shows them.

use calamine::Style;
use ssfmt::{DateSystem, FormatOptions, NumberFormat};

/// Integers below this are exact, and are shown with all their digits.
const EXACT: f64 = 1e15;

/// The number formats of a workbook, by style.
pub struct NumberFormats {
    styles: Vec<Shown>,
    options: FormatOptions,
}

enum Shown {
    General,
    Code { format: NumberFormat, texts: bool },
}

impl NumberFormats {
    /// Compiles the formats of `styles`; a code that cannot be read counts as General.
    #[must_use]
    pub fn new(styles: &[Style], date_1904: bool) -> Self {
        let shown = styles.iter().map(|style| match &style.number_format {
            Some(format) => Shown::new(format.format_id, &format.format_code),
            None => Shown::General,
        });
        Self {
            styles: shown.collect(),
            options: options(date_1904),
        }
    }

    /// Compiles formats given by their ids and codes; a style is the place of its format here.
    #[must_use]
    pub fn of_codes<'a>(codes: impl Iterator<Item = (u32, &'a str)>, date_1904: bool) -> Self {
        Self {
            styles: codes.map(|(id, code)| Shown::new(Some(id), code)).collect(),
            options: options(date_1904),
        }
    }

    /// Whether numbers of `style` are shown as in the format General.
    #[must_use]
    pub fn is_general(&self, style: usize) -> bool {
        !matches!(self.styles.get(style), Some(Shown::Code { .. }))
    }

    /// Writes `value` at the end of `text` as a cell of `style` shows it.
    pub fn number(&self, style: usize, value: f64, text: &mut String) {
        match self.styles.get(style) {
            Some(Shown::Code { format, .. }) => match format.try_format(value, &self.options) {
                Ok(shown) => text.push_str(shown.trim()),
                Err(_) => text.push_str(&general(value)),
            },
            Some(Shown::General) | None => text.push_str(&general(value)),
        }
    }

    /// Writes the text `value` at the end of `text` as a cell of `style` shows it.
    pub fn text(&self, style: usize, value: &str, text: &mut String) {
        match self.styles.get(style) {
            Some(Shown::Code {
                format,
                texts: true,
            }) => text.push_str(&format.format_text(value, &self.options)),
            _ => text.push_str(value),
        }
    }
}

impl Shown {
    fn new(id: Option<u32>, code: &str) -> Self {
        let code = built_in(id, code);
        if code.eq_ignore_ascii_case("general") || code == "@" || code.is_empty() {
            return Self::General;
        }
        match NumberFormat::parse(code) {
            Ok(format) => Self::Code {
                texts: format
                    .sections()
                    .iter()
                    .any(ssfmt::Section::has_text_placeholder),
                format,
            },
            Err(_) => Self::General,
        }
    }
}

/// The code of a built-in format where the file names it by its number alone.
///
/// ECMA-376 part 1, §18.8.30 leaves some to the reader's language; here dates without a code
/// are shown as Excel in English shows 14 and 22, those of the East Asian numbers by ISO 8601.
fn built_in(id: Option<u32>, code: &str) -> &str {
    match (id, code) {
        (Some(14), "mm-dd-yy") => "m/d/yyyy",
        (Some(22), "m/d/yy h:mm") => "m/d/yyyy h:mm",
        (Some(5), "General") => "\"$\"#,##0_);(\"$\"#,##0)",
        (Some(6), "General") => "\"$\"#,##0_);[Red](\"$\"#,##0)",
        (Some(7), "General") => "\"$\"#,##0.00_);(\"$\"#,##0.00)",
        (Some(8), "General") => "\"$\"#,##0.00_);[Red](\"$\"#,##0.00)",
        (Some(32), "General") => "h:mm",
        (Some(33), "General") => "h:mm:ss",
        (Some(27..=31 | 34..=36 | 50..=58), "General") => "yyyy-mm-dd",
        _ => code,
    }
}

fn options(date_1904: bool) -> FormatOptions {
    FormatOptions {
        date_system: if date_1904 {
            DateSystem::Date1904
        } else {
            DateSystem::Date1900
        },
        ..FormatOptions::default()
    }
}

/// `value` in the format General.
///
/// As Excel shows it in a cell that is wide enough, with one difference: an integer of 12 to 15
/// digits keeps them all, as the formula bar does, since `1.23457E+12` names no company.
#[must_use]
pub fn general(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < EXACT {
        // Adding zero turns -0 into 0.
        return format!("{:.0}", value + 0.0);
    }
    ssfmt::format_default(value, "General").unwrap_or_else(|_| value.to_string())
}

/// The serial number `value` as a date or time by ISO 8601, for formats whose codes are
/// unknown: the date, the time of day if there is no date, or both.
#[must_use]
pub fn iso_date(value: f64, date_1904: bool) -> String {
    let code = match (value.trunc() > 0.0, value.fract() > 0.0) {
        (true, false) => "yyyy-mm-dd",
        (true, true) => "yyyy-mm-dd hh:mm:ss",
        (false, _) => "hh:mm:ss",
    };
    shown_as(value, code, date_1904)
}

/// The serial number `value` as hours, minutes and seconds.
#[must_use]
pub fn duration(value: f64) -> String {
    shown_as(value, "[h]:mm:ss", false)
}

fn shown_as(value: f64, code: &str, date_1904: bool) -> String {
    NumberFormat::parse(code)
        .ok()
        .and_then(|format| format.try_format(value, &options(date_1904)).ok())
        .unwrap_or_else(|| general(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(id: u32, code: &str, value: f64) -> String {
        let formats = NumberFormats {
            styles: vec![Shown::new(Some(id), code)],
            options: options(false),
        };
        let mut text = String::new();
        formats.number(0, value, &mut text);
        text
    }

    #[test]
    fn general_shows_what_excel_shows() {
        for (value, text) in [
            (123_456.0, "123456"),
            (0.1 + 0.2, "0.3"),
            (-0.0, "0"),
            (1.5, "1.5"),
            (1.0 / 3.0, "0.333333333"),
            (1_234_567_890_123.0, "1234567890123"),
            (-12.0, "-12"),
            (1e20, "1E+20"),
        ] {
            assert_eq!(general(value), text);
        }
    }

    #[test]
    fn codes_show_what_excel_shows() {
        for (id, code, value, text) in [
            (164, "#,##0", 1_234_567.0, "1,234,567"),
            (164, "000-00-00000", 1_234_567_890.0, "123-45-67890"),
            (
                164,
                "yyyy\"년\" m\"월\" d\"일\"",
                45_356.0,
                "2024년 3월 5일",
            ),
            (164, "yyyy-mm-dd", 45_356.0, "2024-03-05"),
            (164, "0.0%", 0.125, "12.5%"),
            (164, "[h]:mm", 1.5, "36:00"),
            (14, "mm-dd-yy", 45_356.0, "3/5/2024"),
            (14, "dd.mm.yyyy", 45_356.0, "05.03.2024"),
            (31, "General", 45_356.0, "2024-03-05"),
            (49, "@", 7.0, "7"),
            (164, "_-* #,##0_-", 5.0, "5"),
        ] {
            assert_eq!(shown(id, code, value), text, "{code}");
        }
    }

    #[test]
    fn the_date_system_counts() {
        assert_eq!(iso_date(45_356.0, false), "2024-03-05");
        assert_eq!(iso_date(43_894.0, true), "2024-03-05");
        assert_eq!(iso_date(45_356.5, false), "2024-03-05 12:00:00");
        assert_eq!(iso_date(0.25, false), "06:00:00");
        assert_eq!(duration(1.25), "30:00:00");
    }

    #[test]
    fn text_sections_show_texts() {
        let formats = NumberFormats {
            styles: vec![
                Shown::new(Some(164), "0;0;0;\"Co. \"@"),
                Shown::new(Some(49), "@"),
            ],
            options: options(false),
        };
        let mut text = String::new();
        formats.text(0, "Acme", &mut text);
        formats.text(1, "|Acme", &mut text);
        formats.text(9, "|Acme", &mut text);
        assert_eq!(text, "Co. Acme|Acme|Acme");
    }

    proptest! {
        #[test]
        fn any_code_and_number_are_shown(
            code in "[#0?,.;%Eedmyhsg@*_\"\\[\\]$A/P +\\-가\\\\<>=1-9]{0,24}",
            value in any::<f64>(),
        ) {
            prop_assert!(shown(164, &code, value).len() < 5_000);
        }
    }
}
