//! What a check takes for granted of a field, since another one looks at it.

use crate::quest::field_kind::FieldKind;
use crate::quest::{Field, FieldName};

/// A field and how it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shaped {
    /// As an e-mail address.
    Mailbox(FieldName),
    /// As the URL of a page.
    WebUrl(FieldName),
}

impl Shaped {
    /// The field.
    #[must_use]
    pub fn field(&self) -> &FieldName {
        match self {
            Self::Mailbox(field) | Self::WebUrl(field) => field,
        }
    }

    /// Whether the shape of one of `fields` says as much by itself.
    #[must_use]
    pub fn is_asked_of(&self, fields: &[Field]) -> bool {
        let Self::Mailbox(name) = self else {
            return false;
        };
        let mut fields = fields.iter().filter(|field| field.name == *name);
        fields.any(|field| field.required && field.shape.kind() == FieldKind::Email)
    }
}
