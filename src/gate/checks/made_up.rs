//! Texts that are made up of templates, and whose fault it is that one cannot be.

use super::context::Context;
use super::probe::{Detail, Found};
use crate::quest::template::{Template, Values};

/// What is put in the place of a value, beside the field's example, to see whether it was to blame.
const STAND_INS: [&str; 3] = ["1", "a", "2026-01-01"];

/// The template with its values.
///
/// Where it has none by what was submitted, the fact is the submission's fault; by anything else,
/// the quest file's or its list's.
pub(super) fn rendered(context: &Context<'_>, template: &Template) -> Result<String, Found> {
    context.render(template).map_err(|bad| {
        let mut detail = Detail::new("a text that can be made up", bad.to_string());
        let values = context.values();
        let blamed = blamed(context, template, values);
        let is_wrong = blamed.is_some()
            || template.reads_fields()
                && (!template.reads_others() || heals(context, template, values, None));
        detail.field = blamed.and_then(|name| {
            let mut fields = context.kind.fields.iter().map(|field| &field.name);
            fields.find(|field| field.as_str() == name).cloned()
        });
        if is_wrong {
            detail.wrong()
        } else {
            detail.unconfirmed()
        }
    })
}

/// The fact, which is wrong where an agent could have brought it about by what it submits.
pub(super) fn by_values(template: &Template, detail: Detail) -> Found {
    if template.reads_fields() {
        detail.wrong()
    } else {
        detail.unconfirmed()
    }
}

/// The one field by which the text cannot be made up.
fn blamed<'a>(context: &'a Context<'_>, template: &Template, values: &Values) -> Option<&'a str> {
    let names = context.kind.fields.iter().map(|field| field.name.as_str());
    let read: Vec<&str> = names.filter(|name| template.reads_field(name)).collect();
    match *read {
        [only] if !template.reads_others() => Some(only),
        _ => read
            .into_iter()
            .find(|name| heals(context, template, values, Some(name))),
    }
}

/// Whether the text can be made up with another value of the field, or with others of all.
fn heals(context: &Context<'_>, template: &Template, values: &Values, field: Option<&str>) -> bool {
    let example = |name: &str| {
        let mut fields = context.kind.fields.iter();
        let known = fields.find(|field| field.name.as_str() == name);
        known.map_or_else(String::new, |field| field.example.to_string())
    };
    let tries = std::iter::once(None).chain(STAND_INS.iter().map(Some));
    let mut tries = tries.map(|stand_in| {
        let mut values = values.clone();
        let of_field = |name: &str| field.is_none_or(|field| field == name);
        for (name, value) in values.field.iter_mut().filter(|(name, _)| of_field(name)) {
            *value = stand_in.map_or_else(|| example(name), |text| (*text).to_owned());
        }
        values
    });
    tries.any(|values| template.render(&values).is_ok())
}
