//! What a PASS takes for its quest alone, so that no other quest can pass with it.

use url::Url;

use crate::base::text::{fold, is_blank, is_space};
use crate::quest::field::FieldKind;
use crate::quest::{Field, FieldName, Submission, json};
use crate::world::UniqueValue;
use crate::world::mailbox::Mailbox;

/// What a PASS takes for its quest alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Takes {
    Value(Field),
    Mailbox(FieldName),
}

impl Takes {
    pub fn of(&self, submission: &Submission) -> Vec<UniqueValue> {
        let text = |field: &FieldName| submission.field(field.as_str()).unwrap_or_default();
        match self {
            Self::Value(field) => taken(field, text(&field.name)).into_iter().collect(),
            Self::Mailbox(field) => taken_by(text(field)),
        }
    }
}

/// What a PASS with this value takes; nothing for a blank.
///
/// Values that mean the same of the field's kind take the same.
pub fn taken(field: &Field, text: &str) -> Option<UniqueValue> {
    let text = canonical(field.shape.kind(), text).unwrap_or_else(|| text.to_owned());
    let text = fold(&text.replace(is_space, " "));
    (!is_blank(&text)).then(|| UniqueValue::Value {
        field: field.name.clone(),
        text,
    })
}

fn canonical(kind: FieldKind, text: &str) -> Option<String> {
    match kind {
        FieldKind::Url => {
            let mut url = Url::parse(text.trim()).ok()?;
            url.set_fragment(None);
            Some(url.into())
        }
        FieldKind::Integer | FieldKind::Number => Some(decimal(text.trim())),
        FieldKind::Json => {
            let value = json::value(text).ok()?;
            Some(value.to_string())
        }
        _ => None,
    }
}

fn decimal(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let (whole, part) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
    match (whole, part) {
        ("", "") => String::from("0"),
        ("", part) => format!("{sign}0.{part}"),
        (whole, "") => format!("{sign}{whole}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

/// What a PASS with the address that `text` is takes for its quest alone.
pub fn taken_by(text: &str) -> Vec<UniqueValue> {
    let Ok(mailbox) = Mailbox::parse(text) else {
        return Vec::new();
    };
    let domain = mailbox.domain().registrable().map(UniqueValue::Domain);
    std::iter::once(UniqueValue::Mailbox(mailbox))
        .chain(domain)
        .collect()
}
