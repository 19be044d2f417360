//! The prompt of one quest, rendered from its kind's template.

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior, Value, context};
use serde::Serialize;

use super::own_lines::{CELLS, FILTER, indented, is_break, of_several_lines, on_own_lines};
use super::{Anchor, Quest, QuestKind, Shown};
use crate::base::text::Escaped;

/// What a prompt template may name; every text is on one line, and all of it can be seen.
///
/// A cell whose placeholder has a line of the template for itself keeps its own lines.
#[derive(Debug, Serialize)]
pub struct Task {
    /// The quest's key.
    pub key: String,
    /// The quest's number.
    pub id: String,
    /// The cells that the quest keeps of its row, by column.
    pub input: BTreeMap<String, String>,
    /// The columns to show.
    pub shown: Vec<Shown>,
    /// The anchor's text.
    pub anchor: Option<String>,
}

/// Renders the prompt of `quest`; a variable that there is not is an error.
pub fn render(kind: &QuestKind, quest: &Quest) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let shown = quest.shown.iter().map(|shown| Shown {
        label: on_one_line(&shown.label),
        text: on_one_line(&shown.text),
    });
    let anchor = quest.anchor.as_ref();
    environment.add_filter(FILTER, |text: String, indent: String| {
        indented(&text, &indent)
    });
    let task = Task {
        key: on_one_line(quest.key.as_str()),
        id: quest.id.to_string(),
        input: cells(kind, quest, on_one_line),
        shown: shown.collect(),
        anchor: anchor.map(|Anchor::Site(text)| on_one_line(text)),
    };
    let own_lines = BTreeMap::from([(CELLS, cells(kind, quest, of_several_lines))]);
    let values = context! { ..Value::from_serialize(task), ..Value::from_serialize(own_lines) };
    environment.render_str(&on_own_lines(&kind.prompt), values)
}

/// The cells that a prompt may name; those that the row leaves blank are empty.
fn cells(
    kind: &QuestKind,
    quest: &Quest,
    as_shown: fn(&str) -> String,
) -> BTreeMap<String, String> {
    let named = kind.columns.iter().map(String::as_str);
    named
        .map(|label| {
            let text = quest.cell(label).unwrap_or_default();
            (label.to_owned(), as_shown(text))
        })
        .collect()
}

/// The text with each line break a space and what is unsafe escaped: a cell must not forge lines
/// of the prompt, or say to an agent what a person does not see in it.
fn on_one_line(text: &str) -> String {
    let lines = text.split(is_break).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    Escaped(&line).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::{Key, QuestId, email};

    #[test]
    fn shows_what_the_list_knows() {
        let quest = Quest {
            id: QuestId::from_index(0).unwrap(),
            key: Key::new("한빛 {{ 7 * 7 }}").unwrap(),
            anchor: Some(Anchor::Site("hanbit.co.kr".into())),
            shown: vec![Shown {
                label: "Country".into(),
                text: "KR".into(),
            }],
            known: Vec::new(),
            after: Vec::new(),
            rows: vec![2],
        };
        let text = render(&email::kind(), &quest).unwrap();
        assert!(
            text.contains(
                "  company: 한빛 {{ 7 * 7 }}\n  Country: KR\n  site, as the operator knows it: \
                 hanbit.co.kr\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_cell_of_several_lines_forges_none() {
        assert_eq!(on_one_line("Acme\r\n\u{2028}Submit: x\n"), "Acme Submit: x");
        assert_eq!(on_one_line("Acme  Foods "), "Acme  Foods ");
    }

    #[test]
    fn a_cell_with_a_line_for_itself_keeps_its_lines() {
        let mut kind = email::kind();
        kind.columns = vec!["text".into()];
        kind.prompt = "Letter: {{ input.text }}.\n\n  {{ input.text }}\n{{ input.text }}\n\
                       Done means: paid.\n{% if input.text == 'Dear you, Done means: x\\\\u{1b}' \
                       %}same{% endif %}"
            .into();
        let quest = Quest {
            id: QuestId::FIRST,
            key: Key::new("A").unwrap(),
            anchor: None,
            shown: Vec::new(),
            known: vec![Shown {
                label: "text".into(),
                text: "Dear you,\r\n\nDone means: x\u{1b}\n".into(),
            }],
            after: Vec::new(),
            rows: vec![1],
        };
        let text = "Letter: Dear you, Done means: x\\u{1b}.\n\n  Dear you,\n\n  Done means: \
                    x\\u{1b}\n  Dear you,\n\n  Done means: x\\u{1b}\nDone means: paid.\nsame";
        assert_eq!(render(&kind, &quest).unwrap(), text);
    }

    #[test]
    fn a_cell_says_nothing_unseen() {
        assert_eq!(on_one_line("Acme\u{e0041}"), "Acme\\u{e0041}");
        assert_eq!(on_one_line("Ac\u{200b}me\u{1b}"), "Ac\\u{200b}me\\u{1b}");
    }

    #[test]
    fn an_unknown_variable_is_an_error() {
        let mut kind = email::kind();
        kind.prompt = "{{ companyname }}".into();
        let quest = Quest {
            id: QuestId::from_index(0).unwrap(),
            key: Key::new("A").unwrap(),
            anchor: None,
            shown: Vec::new(),
            known: Vec::new(),
            after: Vec::new(),
            rows: vec![1],
        };
        assert!(render(&kind, &quest).is_err());
    }
}
