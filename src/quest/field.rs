//! The fields that an agent fills in.

use std::borrow::{Borrow, Cow};
use std::fmt;

use jiff::civil;
use regex::Regex;
use schemars::{JsonSchema, Schema, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use super::json;
use crate::base::text::visible_len;

/// The name of a field, as its flag spells it.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct FieldName(Cow<'static, str>);

impl FieldName {
    pub const fn known(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for FieldName {
    fn from(name: String) -> Self {
        Self(Cow::Owned(name))
    }
}

impl Borrow<str> for FieldName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: FieldName,
    pub help: Cow<'static, str>,
    pub example: Cow<'static, str>,
    pub required: bool,
    pub shape: Shape,
    /// Whether it is accepted without a check.
    pub unchecked: bool,
}

pub const NO_EXAMPLE: &str = "…";

impl Field {
    pub fn has_example(&self) -> bool {
        self.example != NO_EXAMPLE
    }
}

/// The kinds of field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FieldKind {
    /// Any text.
    #[default]
    Text,
    /// A whole number.
    Integer,
    /// A decimal number.
    Number,
    /// `true` or `false`.
    Bool,
    /// A calendar date, as `2026-11-22` (ISO 8601).
    Date,
    /// An e-mail address.
    Email,
    /// An absolute http or https URL.
    Url,
    /// A path in the tree, whether anything is there or not.
    Path,
    /// A path in the tree at which there is a file.
    File,
    /// A JSON text.
    Json,
    /// One of a few values.
    Choice,
}

/// The required form of a field's value.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    kind: FieldKind,
    pattern: Option<Regex>,
    bounds: Bounds,
    choices: Vec<String>,
}

/// Bounds of a number's value, or of another value's length in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Bounds {
    min: Option<i64>,
    max: Option<i64>,
}

/// An invalid shape: the wrong key of its table, and why it is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    pub key: &'static str,
    pub what: String,
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        let pattern = |shape: &Self| shape.pattern.as_ref().map(|it| it.as_str().to_owned());
        self.kind == other.kind
            && self.bounds == other.bounds
            && self.choices == other.choices
            && pattern(self) == pattern(other)
    }
}

impl Eq for Shape {}

impl Shape {
    pub fn new(
        kind: FieldKind,
        pattern: Option<&str>,
        (min, max): (Option<i64>, Option<i64>),
        choices: &[String],
    ) -> Result<Self, Unfit> {
        let unfit = |key, what: &str| Unfit {
            key,
            what: what.to_owned(),
        };
        if (kind == FieldKind::Choice) == choices.is_empty() {
            let what = "a choice, and nothing else, has `choices`";
            return Err(unfit("choices", what));
        }
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            return Err(unfit("min", "`min` is greater than `max`"));
        }
        let pattern = pattern
            .map(|pattern| whole(pattern).map_err(|error| unfit("pattern", &error)))
            .transpose()?;
        Ok(Self {
            kind,
            pattern,
            bounds: Bounds { min, max },
            choices: choices.to_vec(),
        })
    }

    pub fn kind(&self) -> FieldKind {
        self.kind
    }

    pub fn choices(&self) -> &[String] {
        &self.choices
    }

    pub fn placeholder(&self) -> Cow<'static, str> {
        match self.kind {
            FieldKind::Text => "TEXT".into(),
            FieldKind::Integer => "N".into(),
            FieldKind::Number => "NUMBER".into(),
            FieldKind::Bool => "true|false".into(),
            FieldKind::Date => "DATE".into(),
            FieldKind::Email => "ADDRESS".into(),
            FieldKind::Url => "URL".into(),
            FieldKind::Path => "PATH".into(),
            FieldKind::File => "FILE".into(),
            FieldKind::Json => "JSON".into(),
            FieldKind::Choice => self.choices.join("|").into(),
        }
    }

    /// What was expected of `text`; `None` if it fits.
    ///
    /// A file or a path is checked only as text. The gate checks what is there.
    pub fn misfit(&self, text: &str) -> Option<Cow<'static, str>> {
        self.misfit_of_kind(text)
            .or_else(|| self.bounds.misfit(self.kind, text))
            .or_else(|| {
                let pattern = self.pattern.as_ref().filter(|it| !it.is_match(text))?;
                Some(format!("a value that matches {}", shown(pattern)).into())
            })
    }

    fn misfit_of_kind(&self, text: &str) -> Option<Cow<'static, str>> {
        let (fits, expected): (bool, Cow<'static, str>) = match self.kind {
            FieldKind::Text | FieldKind::Path | FieldKind::File | FieldKind::Email => {
                (!text.contains('\0'), "a text without NUL".into())
            }
            FieldKind::Integer => (integer(text).is_some(), "a whole number such as 12".into()),
            FieldKind::Number => (number(text).is_some(), "a number such as 1.5".into()),
            FieldKind::Bool => (matches!(text, "true" | "false"), "true or false".into()),
            FieldKind::Date => (is_date(text), "a date such as 2026-11-22".into()),
            FieldKind::Url => (is_web_url(text), "an absolute http or https URL".into()),
            FieldKind::Json => (
                json::value(text).is_ok(),
                "a JSON text in which no object has a name twice".into(),
            ),
            FieldKind::Choice => (
                self.choices.iter().any(|choice| choice == text),
                format!("one of {}", self.choices.join(", ")).into(),
            ),
        };
        (!fits).then_some(expected)
    }
}

impl Bounds {
    #[expect(
        clippy::cast_precision_loss,
        reason = "bounds beyond 2^53 are not supported"
    )]
    fn misfit(self, kind: FieldKind, text: &str) -> Option<Cow<'static, str>> {
        let (least, most, unit) = match kind {
            FieldKind::Integer | FieldKind::Number => (number(text)?, number(text)?, ""),
            // Invisible characters do not help to reach the minimum, but count towards the maximum.
            _ => (
                visible_len(text) as f64,
                text.chars().count() as f64,
                " characters",
            ),
        };
        let [min, max] = [self.min, self.max].map(|bound| bound.map(|it| it as f64));
        if let Some(min) = min.filter(|min| least < *min) {
            return Some(format!("at least {min}{unit}").into());
        }
        let max = max.filter(|max| most > *max)?;
        Some(format!("at most {max}{unit}").into())
    }
}

pub(crate) fn whole(pattern: &str) -> Result<Regex, String> {
    // Parsed alone first, so that it cannot close the group that is put around it.
    Regex::new(pattern).map_err(|error| plain(&error))?;
    Regex::new(&format!(r"\A(?:{pattern})\z")).map_err(|error| plain(&error))
}

/// The last line of a pattern's error, which names the cause.
pub(crate) fn plain(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or(&text);
    format!("not a pattern: {last}")
}

fn shown(pattern: &Regex) -> &str {
    let text = pattern.as_str();
    let inner = text
        .strip_prefix(r"\A(?:")
        .and_then(|it| it.strip_suffix(r")\z"));
    inner.unwrap_or(text)
}

fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

fn number(text: &str) -> Option<f64> {
    let plain = |byte: u8| byte.is_ascii_digit() || b".-".contains(&byte);
    let found: f64 = text.parse().ok()?;
    (text.bytes().all(plain) && found.is_finite()).then_some(found)
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<civil::Date>().is_ok()
}

fn is_web_url(text: &str) -> bool {
    let scheme = text.starts_with("https://") || text.starts_with("http://");
    scheme && Url::parse(text).is_ok_and(|url| url.host().is_some())
}

impl Shape {
    pub fn schema(&self) -> Schema {
        let mut schema = match self.kind {
            FieldKind::Text | FieldKind::Path | FieldKind::File => json_schema!({"type": "string"}),
            FieldKind::Email => json_schema!({"type": "string", "format": "email"}),
            FieldKind::Url => json_schema!({"type": "string", "format": "uri"}),
            FieldKind::Date => json_schema!({"type": "string", "format": "date"}),
            FieldKind::Integer => {
                json_schema!({"type": ["integer", "string"], "pattern": "^-?[0-9]+$"})
            }
            FieldKind::Number => {
                json_schema!({"type": ["number", "string"], "pattern": "^[-.0-9]+$"})
            }
            FieldKind::Bool => json_schema!({"enum": [true, false, "true", "false"]}),
            FieldKind::Choice => json_schema!({"enum": self.choices}),
            FieldKind::Json => json_schema!({}),
        };
        let Bounds { min, max } = self.bounds;
        let (least, most) = match self.kind {
            FieldKind::Integer | FieldKind::Number => ("minimum", "maximum"),
            _ => ("minLength", "maxLength"),
        };
        for (word, bound) in [(least, min), (most, max)] {
            if let Some(bound) = bound {
                schema.insert(word.to_owned(), json!(bound));
            }
        }
        if let Some(pattern) = &self.pattern {
            // JSON Schema has another regex dialect, so the pattern goes into a comment.
            let told = format!("Matches {}, as Rust's regex reads it.", shown(pattern));
            schema.insert("$comment".to_owned(), json!(told));
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(kind: FieldKind, text: &str) -> bool {
        let shape = Shape::new(kind, None, (None, None), &[]).unwrap();
        shape.misfit(text).is_none()
    }

    #[test]
    fn each_kind_accepts_only_its_values() {
        use FieldKind::{Bool, Date, Integer, Json, Number, Text, Url};
        for (kind, good, bad) in [
            (Text, "a\n--b; $(rm)", "a\0b"),
            (Integer, "-12", "1.0"),
            (Integer, "0", "+1"),
            (Number, "-1.5", "1e999"),
            (Number, "2", "NaN"),
            (Bool, "true", "yes"),
            (Date, "2024-02-29", "2023-02-29"),
            (Date, "2026-11-22", "2026-11-22T10:00"),
            (Url, "https://acme.com/a", "acme.com"),
            (Url, "http://a", "javascript:alert(1)"),
            (Json, r#"{"a":[1]}"#, "{a}"),
            (Json, r#"[{"a":1},{"a":1}]"#, r#"[{"a":1,"a":1}]"#),
        ] {
            assert!(fits(kind, good), "{kind:?} {good}");
            assert!(!fits(kind, bad), "{kind:?} {bad}");
        }
    }

    #[test]
    fn rejects_deep_json_without_overflow() {
        assert!(!fits(FieldKind::Json, &"[".repeat(200_000)));
    }

    #[test]
    fn bounds_limit_values_of_numbers_and_lengths_of_texts() {
        let of = |kind, text: &str| {
            let shape = Shape::new(kind, None, (Some(2), Some(3)), &[]).unwrap();
            shape.misfit(text).map(Cow::into_owned)
        };
        assert_eq!(of(FieldKind::Integer, "3"), None);
        assert_eq!(of(FieldKind::Number, "3.5").as_deref(), Some("at most 3"));
        assert_eq!(of(FieldKind::Text, "한빛"), None);
        let short = of(FieldKind::Text, "한");
        assert_eq!(short.as_deref(), Some("at least 2 characters"));
        let padded = of(FieldKind::Text, "한\u{200b}\u{3164}");
        assert_eq!(padded.as_deref(), Some("at least 2 characters"));
    }

    #[test]
    fn a_pattern_must_match_the_whole_text() {
        let shape = |pattern| Shape::new(FieldKind::Text, Some(pattern), (None, None), &[]);
        let abc = shape("a|bc").unwrap();
        assert_eq!(abc.misfit("bc"), None);
        assert_eq!(abc.misfit("xbc").unwrap(), "a value that matches a|bc");
        assert!(abc.misfit("a\n").is_some());
        assert_eq!(shape("(").unwrap_err().key, "pattern");
        assert_eq!(shape("a)|(b").unwrap_err().key, "pattern");
    }

    #[test]
    fn a_choice_lists_its_values() {
        let values = ["red".to_owned(), "blue".to_owned()];
        let shape = Shape::new(FieldKind::Choice, None, (None, None), &values).unwrap();
        assert_eq!(shape.misfit("red"), None);
        assert_eq!(shape.misfit("Red").unwrap(), "one of red, blue");
        assert!(Shape::new(FieldKind::Choice, None, (None, None), &[]).is_err());
        assert!(Shape::new(FieldKind::Text, None, (None, None), &values).is_err());
        assert!(Shape::new(FieldKind::Text, None, (Some(2), Some(1)), &[]).is_err());
    }

    fn takes(shape: &Shape, value: &serde_json::Value) -> bool {
        crate::quest::json::is_valid(shape.schema().as_value(), value)
    }

    #[test]
    fn schema_accepts_valid_values() {
        let of = |kind, choices: &[&str]| {
            let choices: Vec<String> = choices.iter().map(|it| (*it).to_owned()).collect();
            Shape::new(kind, None, (Some(2), Some(3)), &choices).unwrap()
        };
        let number = of(FieldKind::Integer, &[]);
        assert!(takes(&number, &json!(2)) && takes(&number, &json!("2")));
        assert!(!takes(&number, &json!(4)) && !takes(&number, &json!("two")));
        let text = of(FieldKind::Text, &[]);
        assert!(takes(&text, &json!("한빛")) && !takes(&text, &json!("한빛식품")));
        assert!(!takes(&text, &json!(22)));
        let choice = of(FieldKind::Choice, &["yes", "no"]);
        assert!(takes(&choice, &json!("yes")) && !takes(&choice, &json!("maybe")));
        assert!(takes(&of(FieldKind::Json, &[]), &json!([{"a": 1}])));
    }
}
