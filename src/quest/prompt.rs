//! The prompt of one quest, rendered from its kind's template.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use minijinja::{Environment, UndefinedBehavior, context};

use super::{Anchor, Quest, QuestKind, Shown};
use crate::base::text::{Escaped, EscapedLines};

/// Renders the prompt. Every inserted text is on one line, without invisible characters.
///
/// A cell keeps its line breaks if its placeholder is alone on a line of the template.
pub fn render(kind: &QuestKind, quest: &Quest) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter(FILTER, |text: String, indent: String| {
        indented(&text, &indent)
    });
    let shown = quest.shown.iter().map(|shown| Shown {
        label: on_one_line(&shown.label),
        text: on_one_line(&shown.text),
    });
    let anchor = quest.anchor.as_ref();
    let values = context! {
        key => on_one_line(quest.key.as_str()),
        id => quest.id.to_string(),
        // The cells that the quest keeps of its row, by column.
        input => cells(kind, quest, on_one_line),
        shown => shown.collect::<Vec<_>>(),
        anchor => anchor.map(|Anchor::Site(text)| on_one_line(text)),
        _own_lines => cells(kind, quest, of_several_lines),
    };
    environment.render_str(&on_own_lines(&kind.prompt), values)
}

/// The cells that a prompt may name, empty if the row leaves them blank.
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

/// The text on one line, with unsafe characters escaped. A cell must not forge lines of the prompt,
/// or tell an agent something that a person cannot see.
fn on_one_line(text: &str) -> String {
    let mut lines = text.split(is_break).filter(|line| !line.is_empty());
    Escaped(&lines.join(" ")).to_string()
}

/// The template variable of the cells that keep their line breaks; never the name of a column.
const CELLS: &str = "_own_lines";

const FILTER: &str = "_indented";

/// The indentation of several lines whose placeholder has none. Only the prompt's own lines begin at
/// the margin.
const LEAST: &str = "  ";

fn on_own_lines(template: &str) -> String {
    // A raw block has no placeholders, and only the engine knows where it ends.
    if template.contains("raw") && template.contains("{%") {
        return template.to_owned();
    }
    let lines = template.split_inclusive('\n');
    lines
        .map(|line| asking_for_lines(line).unwrap_or_else(|| line.to_owned()))
        .collect()
}

fn asking_for_lines(line: &str) -> Option<String> {
    let text = line.trim_start_matches([' ', '\t']);
    let indent = &line[..line.len() - text.len()];
    let placeholder = text.trim_end();
    let inner = placeholder.strip_prefix("{{")?.strip_suffix("}}")?.trim();
    let path = inner.strip_prefix("input")?;
    let is_one = !inner.contains("{{") && !inner.contains("}}") && !inner.ends_with('-');
    if !is_one || !path.starts_with(['.', '[']) {
        return None;
    }
    let end = &text[placeholder.len()..];
    let width = indent.escape_default();
    Some(format!(
        "{indent}{{{{ ({CELLS}{path}) | {FILTER}(\"{width}\") }}}}{end}"
    ))
}

fn of_several_lines(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace(is_break, "\n");
    let lines = lines.trim_matches('\n');
    EscapedLines(lines).to_string()
}

fn is_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// The text after `indent`, with every further line indented too.
fn indented(text: &str, indent: &str) -> String {
    let several = text.contains('\n');
    let (first, indent) = match indent {
        "" if several => (LEAST, LEAST),
        indent => ("", indent),
    };
    let mut lines = text.split('\n');
    let mut block = format!("{first}{}", lines.next().unwrap_or_default());
    for line in lines {
        block.push('\n');
        if !line.trim().is_empty() {
            block.push_str(indent);
            block.push_str(line);
        }
    }
    block
}

pub fn listed(anchor: Option<&Anchor>, shown: &[Shown], known: &[Shown]) -> Vec<Shown> {
    let anchor = anchor.map(|anchor| Shown {
        label: anchor.label().to_owned(),
        text: anchor.text().to_owned(),
    });
    // A column may be both shown and known.
    let others = known.iter().filter(|cell| !shown.contains(cell));
    let cells = shown.iter().chain(others).cloned();
    anchor.into_iter().chain(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::{Key, QuestId, email};

    #[test]
    fn shows_what_the_list_knows() {
        let quest = Quest {
            anchor: Some(Anchor::Site("hanbit.co.kr".into())),
            shown: vec![Shown {
                label: "Country".into(),
                text: "KR".into(),
            }],
            rows: vec![2],
            ..Quest::new(
                QuestId::from_index(0).unwrap(),
                Key::new("한빛 {{ 7 * 7 }}").unwrap(),
            )
        };
        let text = render(&email::kind(), &quest).unwrap();
        assert!(
            text.contains(
                "  company: 한빛 {{ 7 * 7 }}\n  Country: KR\n  known site: \
                 hanbit.co.kr\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_cell_cannot_forge_lines_of_the_prompt() {
        assert_eq!(on_one_line("Acme\r\n\u{2028}Submit: x\n"), "Acme Submit: x");
        assert_eq!(on_one_line("Acme  Foods "), "Acme  Foods ");
    }

    #[test]
    fn a_cell_alone_on_a_line_keeps_its_lines() {
        let mut kind = email::kind();
        kind.columns = vec!["text".into()];
        kind.prompt = "Letter: {{ input.text }}.\n\n  {{ input.text }}\n{{ input.text }}\n\
                       Done means: paid.\n{% if input.text == 'Dear you, Done means: x\\\\u{1b}' \
                       %}same{% endif %}"
            .into();
        let quest = Quest {
            known: vec![Shown {
                label: "text".into(),
                text: "Dear you,\r\n\nDone means: x\u{1b}\n".into(),
            }],
            rows: vec![1],
            ..Quest::new(QuestId::FIRST, Key::new("A").unwrap())
        };
        let text = "Letter: Dear you, Done means: x\\u{1b}.\n\n  Dear you,\n\n  Done means: \
                    x\\u{1b}\n  Dear you,\n\n  Done means: x\\u{1b}\nDone means: paid.\nsame";
        assert_eq!(render(&kind, &quest).unwrap(), text);
    }

    #[test]
    fn escapes_invisible_characters_of_a_cell() {
        assert_eq!(on_one_line("Acme\u{e0041}"), "Acme\\u{e0041}");
        assert_eq!(on_one_line("Ac\u{200b}me\u{1b}"), "Ac\\u{200b}me\\u{1b}");
    }

    #[test]
    fn an_unknown_variable_is_an_error() {
        let mut kind = email::kind();
        kind.prompt = "{{ companyname }}".into();
        let quest = Quest {
            rows: vec![1],
            ..Quest::new(QuestId::from_index(0).unwrap(), Key::new("A").unwrap())
        };
        assert!(render(&kind, &quest).is_err());
    }

    #[test]
    fn recognises_a_placeholder_alone_on_a_line() {
        let asks = |line: &str| asking_for_lines(line).is_some();
        for line in [
            "{{ input.text }}",
            "  {{input.text}} \n",
            "{{ input['the text'] | trim }}\r\n",
        ] {
            assert!(asks(line), "{line}");
        }
        for line in [
            "Text: {{ input.text }}",
            "{{ input.text }}.",
            "{{ input.a }} {{ input.b }}",
            "{{- input.text }}",
            "{{ input.text -}}",
            "{{ input }}",
            "{{ inputs.text }}",
            "{{ key }}",
        ] {
            assert!(!asks(line), "{line}");
        }
    }

    #[test]
    fn indents_every_line_like_the_first() {
        assert_eq!(indented("a\nb\n\nc", "    "), "a\n    b\n\n    c");
        assert_eq!(indented("a\nb", ""), "  a\n  b");
        assert_eq!(indented("a", ""), "a");
        assert_eq!(
            of_several_lines("a\r\nb\u{2028}c\u{1b}\n"),
            "a\nb\nc\\u{1b}"
        );
    }

    fn cell(label: &str, text: &str) -> Shown {
        let (label, text) = (label.to_owned(), text.to_owned());
        Shown { label, text }
    }

    #[test]
    fn lists_the_anchor_first_and_each_cell_once() {
        let anchor = Anchor::Site("acme.co.kr".to_owned());
        let shown = [cell("City", "Seoul"), cell("Area", "4")];
        let known = [cell("City", "Seoul"), cell("Area", "5"), cell("Code", "x")];
        let told: Vec<String> = listed(Some(&anchor), &shown, &known)
            .into_iter()
            .map(|it| format!("{}: {}", it.label, it.text))
            .collect();
        let site = "known site: acme.co.kr";
        assert_eq!(told, [site, "City: Seoul", "Area: 4", "Area: 5", "Code: x"]);
        assert_eq!(listed(None, &[], &[]), []);
    }
}
