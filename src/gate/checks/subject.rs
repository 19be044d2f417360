//! The text that a check looks at: a field's, or that of a file in the tree.

use unicode_normalization::char::is_combining_mark;

use super::context::Context;
use super::kind::{Flaw, Source};
use crate::gate::{Cost, Fact};
use crate::quest::FieldName;
use crate::quest::template::Template;
use crate::world::page::is_unspaced;
use crate::world::sandbox::FileSeen;
use crate::world::tree::TreePath;

#[derive(Debug)]
pub(super) enum Subject {
    Field(FieldName),
    File(Place),
}

#[derive(Debug)]
pub(super) struct Place(Template);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// What is judged: with what the agent wrote in its zones.
    Judged,
    /// As it was at scan.
    Pinned,
}

/// A text, and how facts name its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) said: String,
    field: Option<FieldName>,
    path: Option<String>,
}

impl Subject {
    pub(super) fn new(
        source: &Source<'_>,
        field: Option<&String>,
        path: Option<&String>,
    ) -> Result<Self, Flaw> {
        match (field, path) {
            (Some(field), None) => Ok(Self::Field(source.field("field", field)?.name)),
            (None, Some(path)) => Ok(Self::File(Place::path(source, path)?)),
            _ => Err(Flaw::new("field", "say either `field` or `path`")),
        }
    }

    pub(super) fn cost(&self) -> Cost {
        match self {
            Self::Field(_) => Cost::Local,
            Self::File(_) => Cost::Tree,
        }
    }

    /// The text; none where the field was left out.
    pub(super) fn read(&self, context: &Context<'_>) -> Result<Option<Text>, Fact> {
        match self {
            Self::Field(name) => Ok(context.field(name).map(|text| Text {
                said: text.to_owned(),
                field: Some(name.clone()),
                path: None,
            })),
            Self::File(place) => {
                file_text(context, &place.resolve(context)?, State::Judged).map(Some)
            }
        }
    }
}

impl Place {
    pub(super) fn path(source: &Source<'_>, path: &str) -> Result<Self, Flaw> {
        source.needs_tree("path", "the file must belong to a tree: add [tree]")?;
        let template = source.template("path", path)?;
        if template.is_fixed() {
            TreePath::parse(path).map_err(|bad| Flaw::new("path", bad.to_string()))?;
        }
        Ok(Self(template))
    }

    pub(super) fn resolve(&self, context: &Context<'_>) -> Result<TreePath, Fact> {
        TreePath::parse(&rendered(context, &self.0)?)
            .map_err(|bad| Fact::wrong("a path inside the tree", bad.to_string()))
    }
}

impl Text {
    /// The detail, with the place that `within` names inside the text.
    pub(super) fn detail(&self, detail: Fact, within: &str) -> Fact {
        let location = match (&self.path, within) {
            (None, "") => None,
            (None, within) => Some(within.into()),
            (Some(path), "") => Some(path.as_str().into()),
            (Some(path), within) => Some(format!("{path}:{within}").into()),
        };
        Fact {
            field: self.field.clone(),
            location,
            ..detail
        }
    }
}

pub(super) fn file_text(
    context: &Context<'_>,
    path: &TreePath,
    state: State,
) -> Result<Text, Fact> {
    let sandbox = context.world.sandbox;
    let (seen, expected) = match state {
        State::Judged => (sandbox.file(path), "a file"),
        State::Pinned => (sandbox.pinned(path), "a file that was there at the scan"),
    };
    let wrong = |actual: String| Fact::wrong(expected, actual).at(path.as_str());
    let bytes = match (seen, state) {
        (FileSeen::File(bytes), _) => bytes,
        (FileSeen::Absent, _) => return Err(wrong("nothing".to_owned())),
        (FileSeen::Other(what), State::Judged) => return Err(wrong(what)),
        // Nobody but the operator could have made it so.
        (FileSeen::Other(what), State::Pinned) => return Err(wrong(what).unconfirmed()),
    };
    let text = String::from_utf8(bytes).map_err(|bad| {
        let before = &bad.as_bytes()[..bad.utf8_error().valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        Fact::wrong("a text in UTF-8", "bytes that are not UTF-8").at(format!("{path}:{line}"))
    })?;
    Ok(Text {
        said: text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned(),
        field: None,
        path: Some(path.to_string()),
    })
}

/// The template with its values.
///
/// Where other values of the fields would have rendered, the submission is at fault; otherwise the
/// quest file or its list is.
pub(super) fn rendered(context: &Context<'_>, template: &Template) -> Result<String, Fact> {
    context.render(template).map_err(|bad| {
        let mut read = context.kind.fields.clone();
        read.retain(|field| template.reads_field(field.name.as_str()));
        // An example may be a text where the template wants a number.
        let renders_with = |stand_in: Option<&str>| {
            let mut values = context.values.clone();
            for field in &read {
                let text = stand_in.unwrap_or(&field.example).to_owned();
                values.field.insert(field.name.as_str().to_owned(), text);
            }
            template.render(&values).is_ok()
        };
        let fact = Fact::wrong("a text that can be rendered", bad.to_string());
        let of_fields = !template.reads_others();
        if read.is_empty() || !(of_fields || renders_with(None) || renders_with(Some("1"))) {
            return fact.unconfirmed();
        }
        match read.as_slice() {
            [only] => fact.on(&only.name),
            _ => fact,
        }
    })
}

/// The fact, which is wrong where an agent could have caused it by what it submits.
pub(super) fn by_values(template: &Template, fact: Fact) -> Fact {
    if template.reads_fields() {
        fact
    } else {
        fact.unconfirmed()
    }
}

/// The offsets at which `text` contains `quote` as whole words.
pub(super) fn whole_words<'t>(text: &'t str, quote: &'t str) -> impl Iterator<Item = usize> + 't {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = text.get(from..).filter(|_| !quote.is_empty())?.find(quote) {
            let start = from + found;
            let end = start + quote.len();
            if !is_inside(text, start) && !is_inside(text, end) {
                from = end;
                return Some(start);
            }
            from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
        None
    })
}

/// Whether byte `at` is inside a word or a number.
fn is_inside(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let mut left = before.chars().rev();
    let mut right = after.chars();
    let (Some(one), Some(other)) = (left.next(), right.next()) else {
        return false;
    };
    let digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let point = |c: char| matches!(c, '.' | ',' | '٫' | '٬' | '\'' | '’');
    if is_combining_mark(other) {
        return true;
    }
    if is_word(one) && is_word(other) {
        // Scripts without spaces put particles and units right after a name or a number.
        return !(is_unspaced(one) || is_unspaced(other));
    }
    let decimal = (one.is_numeric() && point(other) && digit(right.next()))
        || (point(one) && other.is_numeric() && digit(left.clone().next()));
    let signed = matches!(one, '-' | '−' | '+' | '±' | '.' | ',')
        && other.is_numeric()
        && !left.next().is_some_and(is_word);
    decimal || signed
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_of(text: &str, quote: &str) -> usize {
        whole_words(text, quote).count()
    }

    #[test]
    fn a_quotation_that_ends_inside_a_word_or_a_number_is_not_there() {
        for (text, quote) in [
            ("123", "12"),
            ("1.25", "1.2"),
            ("1.25", "25"),
            ("1.25", "1"),
            ("1,234", "1"),
            ("1,234", "234"),
            ("it is -5 here", "5"),
            ("it is .5 here", "5"),
            ("1.25", "1."),
            ("unable", "able"),
            ("snake_case", "case"),
            ("cafe\u{301}", "cafe"),
            ("", "x"),
            ("x", ""),
        ] {
            assert_eq!(count_of(text, quote), 0, "{text} {quote}");
        }
    }

    #[test]
    fn a_whole_one_is() {
        for (text, quote) in [
            ("12", "12"),
            ("it costs 12.", "12"),
            ("12, 13", "12"),
            ("(1.2)", "1.2"),
            ("2024-05", "05"),
            ("서울은 12개", "서울"),
            ("12개", "12"),
            ("Acme's", "Acme"),
            ("123 12", "12"),
            ("1212 1 12", "12"),
            ("x-5", "5"),
        ] {
            assert_eq!(count_of(text, quote), 1, "{text} {quote}");
        }
        assert_eq!(count_of("ab ab ab", "ab"), 3);
    }
}
