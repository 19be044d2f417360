//! Texts that are rendered from templates, and whose fault it is that one cannot be.

use super::context::Context;
use crate::gate::Fact;
use crate::quest::template::Template;

/// The template with its values.
///
/// Where the template renders with the examples of the fields but not with what was submitted, the
/// submission is at fault; otherwise the quest file or its list is.
pub(super) fn rendered(context: &Context<'_>, template: &Template) -> Result<String, Fact> {
    context.render(template).map_err(|bad| {
        let mut values = context.values().clone();
        let fields = || context.kind.fields.iter();
        for field in fields() {
            let name = field.name.as_str().to_owned();
            values.field.insert(name, field.example.to_string());
        }
        let read: Vec<_> = fields()
            .filter(|it| template.reads_field(it.name.as_str()))
            .collect();
        let mut fact = Fact::wrong("a text that can be rendered", bad.to_string());
        if let [only] = *read {
            fact = fact.on(&only.name);
        }
        let heals = !template.reads_others() || template.render(&values).is_ok();
        if !read.is_empty() && heals {
            fact
        } else {
            fact.unconfirmed()
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
