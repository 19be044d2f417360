//! What a person looks at: the terminal's size, colours and characters.

use super::{Check, Finding};

/// What is known of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// Its columns and rows; none where stdout is no terminal.
    pub size: Option<(u16, u16)>,
    /// Whether stdout is one.
    pub is_terminal: bool,
    /// `TERM`.
    pub term: Option<String>,
    /// The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set.
    pub locale: Option<String>,
    /// Whether `NO_COLOR` is set.
    pub no_colour: bool,
}

/// The least that the review and the status need to be read with ease.
const LEAST: (u16, u16) = (60, 16);

/// Looks at the terminal of stdout, and at what `variable` says of it.
#[must_use]
pub fn look(is_terminal: bool, variable: &dyn Fn(&str) -> Option<String>) -> Observed {
    let size = is_terminal.then(crossterm::terminal::size);
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"];
    Observed {
        size: size.and_then(Result::ok),
        is_terminal,
        term: variable("TERM"),
        locale: locale.into_iter().find_map(variable),
        no_colour: variable("NO_COLOR").is_some(),
    }
}

/// What is to be said of the terminal.
#[must_use]
pub fn judge(seen: &Observed) -> Vec<Finding> {
    let it = Check::Terminal;
    if !seen.is_terminal {
        return vec![it.ok("stdout is none: no colours, bars or screens")];
    }
    let mut findings = Vec::new();
    let dumb = seen.term.as_deref().is_none_or(|term| term == "dumb");
    if dumb {
        let mend = "export TERM=xterm-256color, or what your terminal is";
        findings.push(it.note("TERM names none that shows screens", mend));
    }
    match seen.size {
        Some((columns, rows)) if columns < LEAST.0 || rows < LEAST.1 => {
            let found = format!("it has {columns} columns and {rows} rows");
            let mend = format!("make it {} by {} or larger", LEAST.0, LEAST.1);
            findings.push(it.note(found, mend));
        }
        Some(_) => {}
        None => findings.push(it.note("its size cannot be told", "resize it once, or `reset`")),
    }
    if !seen.locale.as_deref().is_some_and(is_utf8) {
        let found = "the locale is not one of UTF-8: other scripts may be shown wrongly";
        findings.push(it.note(found, "export LC_ALL=C.UTF-8"));
    }
    if findings.is_empty() {
        let colour = if seen.no_colour { "without" } else { "with" };
        let (columns, rows) = seen.size.unwrap_or_default();
        findings.push(it.ok(format!("{columns} by {rows}, UTF-8, {colour} colours")));
    }
    findings
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase().replace('-', "");
    locale.contains(".utf8")
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn good() -> Observed {
        Observed {
            size: Some((80, 24)),
            is_terminal: true,
            term: Some("xterm-256color".into()),
            locale: Some("ko_KR.UTF-8".into()),
            no_colour: false,
        }
    }

    fn notes(seen: &Observed) -> usize {
        let findings = judge(seen);
        assert!(
            findings
                .iter()
                .all(|finding| finding.level < Level::Trouble)
        );
        let notes = findings
            .iter()
            .filter(|finding| finding.level == Level::Note);
        notes.count()
    }

    #[test]
    fn each_hindrance_is_a_note() {
        assert_eq!(notes(&good()), 0);
        assert_eq!(notes(&Observed::default()), 0);
        for size in [Some((59, 24)), Some((80, 15)), None] {
            assert_eq!(notes(&Observed { size, ..good() }), 1);
        }
        for term in [None, Some("dumb".to_owned())] {
            assert_eq!(notes(&Observed { term, ..good() }), 1);
        }
        for locale in [
            None,
            Some("C".to_owned()),
            Some("de_DE.ISO-8859-1".to_owned()),
        ] {
            assert_eq!(notes(&Observed { locale, ..good() }), 1);
        }
        let locale = Some("C.utf8".to_owned());
        assert_eq!(notes(&Observed { locale, ..good() }), 0);
    }
}
