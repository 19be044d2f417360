//! The prompt of one quest, rendered from its kind's template.

use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use super::{Anchor, Quest, QuestKind, Shown};

/// What a prompt template may name.
#[derive(Debug, Serialize)]
pub struct Task<'a> {
    /// The quest's key.
    pub key: &'a str,
    /// The columns to show.
    pub shown: &'a [Shown],
    /// The anchor's text.
    pub anchor: Option<&'a str>,
}

/// Renders the prompt of `quest`; a variable that there is not is an error.
pub fn render(kind: &QuestKind, quest: &Quest) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.render_str(
        &kind.prompt,
        Task {
            key: quest.key.as_str(),
            shown: &quest.shown,
            anchor: quest
                .anchor
                .as_ref()
                .map(|Anchor::Site(text)| text.as_str()),
        },
    )
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
    fn an_unknown_variable_is_an_error() {
        let mut kind = email::kind();
        kind.prompt = "{{ companyname }}".into();
        let quest = Quest {
            id: QuestId::from_index(0).unwrap(),
            key: Key::new("A").unwrap(),
            anchor: None,
            shown: Vec::new(),
            rows: vec![1],
        };
        assert!(render(&kind, &quest).is_err());
    }
}
