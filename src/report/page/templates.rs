//! The templates of the page, and how text gets into them.

use std::borrow::Cow;
use std::fmt::Write as _;

use jiff::Timestamp;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, escape_formatter};

use super::words;
use crate::base::text::is_unsafe;

/// The page's one style sheet.
pub(super) const STYLE: &str = include_str!("page.css");

/// The page's one script.
pub(super) const SCRIPT: &str = include_str!("page.js");

const TEMPLATES: [(&str, &str); 11] = [
    ("top.html", include_str!("html/top.html")),
    ("tally.html", include_str!("html/tally.html")),
    ("burn_down.html", include_str!("html/burn_down.html")),
    ("checks.html", include_str!("html/checks.html")),
    ("spread.html", include_str!("html/spread.html")),
    ("people.html", include_str!("html/people.html")),
    ("quests.html", include_str!("html/quests.html")),
    ("quest.html", include_str!("html/quest.html")),
    ("details.html", include_str!("html/details.html")),
    ("facts.html", include_str!("html/facts.html")),
    ("end.html", include_str!("html/end.html")),
];

/// The templates, into which no text gets but escaped and seen.
pub(super) fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            let seen = seen(text);
            escape_formatter(out, state, &Value::from(seen.as_ref()))
        }
        _ => escape_formatter(out, state, value),
    });
    environment.add_filter("number", words::number);
    environment.add_filter("counted", |count: u64, noun: &str| {
        words::counted(count, noun)
    });
    environment.add_filter("span", words::span);
    environment.add_filter("moment", |at: &str| read(at).map(words::moment));
    environment.add_filter("second", |at: &str| read(at).map(words::second));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// A text of our own, which goes into the page as it is.
pub(super) fn trusted(text: &'static str) -> Value {
    Value::from_safe_string(text.to_owned())
}

/// The text with what a reader would not see as `\u{…}`; lines and tabs stay.
fn seen(text: &str) -> Cow<'_, str> {
    let hides = |c: char| is_unsafe(c) && c != '\n' && c != '\t';
    if !text.contains(hides) {
        return Cow::Borrowed(text);
    }
    let mut seen = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hides(c) {
            // Writing to a string does not fail.
            let _ = write!(seen, "\\u{{{:x}}}", u32::from(c));
        } else {
            seen.push(c);
        }
    }
    Cow::Owned(seen)
}

fn read(at: &str) -> Result<Timestamp, Error> {
    at.parse::<Timestamp>()
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::*;

    fn made(template: &str, text: &str) -> String {
        let environment = environment().unwrap();
        environment.render_str(template, context! { text }).unwrap()
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(
            made("<b>{{ text }}</b>", "<script>\"'&"),
            "<b>&lt;script&gt;&quot;&#x27;&amp;</b>"
        );
    }

    #[test]
    fn an_attribute_is_not_left() {
        assert_eq!(
            made("<i title=\"{{ text }}\">", "\" onclick='x'\u{0}>"),
            "<i title=\"&quot; onclick=&#x27;x&#x27;\\u{0}&gt;\">"
        );
    }

    #[test]
    fn what_is_unseen_is_shown() {
        assert_eq!(
            made("{{ text }}", "a\u{202e}b\u{200b}\u{1b}\u{9b}\r\n\tc"),
            "a\\u{202e}b\\u{200b}\\u{1b}\\u{9b}\\u{d}\n\tc"
        );
        assert_eq!(made("{{ text }}", "한빛 שלום 😀"), "한빛 שלום 😀");
    }

    #[test]
    fn a_filter_does_not_let_text_through() {
        assert_eq!(
            made("{{ text | upper }}", "<b>\u{202e}"),
            "&lt;B&gt;\\u{202e}"
        );
    }

    #[test]
    fn a_name_that_there_is_not_is_an_error() {
        assert!(
            environment()
                .unwrap()
                .render_str("{{ other }}", ())
                .is_err()
        );
    }
}
