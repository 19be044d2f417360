//! The built-in kind: find the e-mail address of each company.

use std::borrow::Cow;

use super::field_kind::Shape;
use super::{Field, FieldName, QuestKind};

/// The kind's name.
pub const NAME: &str = "email";
/// The field that holds the company's site.
pub const SITE: FieldName = FieldName::known("site");
/// The field that holds the address.
pub const EMAIL: FieldName = FieldName::known("email");
/// The field that holds the page that shows it.
pub const SOURCE: FieldName = FieldName::known("source");

const PROMPT: &str = "\
Find the e-mail address at which this company reads mail, and the page of the company's own
site that shows it.

  company: {{ key }}
{%- for column in shown %}
  {{ column.label }}: {{ column.text }}
{%- endfor %}
{%- if anchor %}
  site, as the operator knows it: {{ anchor }}
{%- endif %}

The machine reads the source page again, asks DNS whether the address takes mail, and looks
for the company's name on its site. What is not so there fails, however it is worded.
Take a role's mailbox (info@, sales@) rather than a person's.
";

/// The e-mail kind.
#[must_use]
pub fn kind() -> QuestKind {
    let field = |name, help, example| Field {
        name,
        help: Cow::Borrowed(help),
        example: Cow::Borrowed(example),
        required: true,
        shape: Shape::default(),
    };
    QuestKind {
        name: NAME.into(),
        unit: "company".into(),
        prompt: PROMPT.into(),
        columns: Vec::new(),
        example_key: "Acme".into(),
        fields: vec![
            field(SITE, "The company's own site", "https://acme.co.kr"),
            field(
                EMAIL,
                "The address at which it reads mail",
                "info@acme.co.kr",
            ),
            field(
                SOURCE,
                "The page of that site that shows the address",
                "https://acme.co.kr/contact",
            ),
        ],
        answer: Some(EMAIL),
    }
}
