//! The kinds of checks of quest files, as help shows them: keys by the schema, and an example.

mod keys;

use crate::gate::checks::kind::{KINDS, Kind, Shows, named};
use keys::Keys;

/// What each kind does in one line, and a check of it as short as it gets. Blank lines part them.
pub(super) const EXAMPLES: &str = include_str!("checks.toml");

/// The page about a kind of check.
pub(super) struct CheckPage {
    kind: &'static Kind,
    /// What it does, in one line.
    pub(super) about: String,
    example: String,
}

/// The names of all kinds.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name)
}

/// The page about the kind of this name.
pub(super) fn page(name: &str) -> Option<CheckPage> {
    let kind = named(name)?;
    let marked = format!("kind = \"{name}\"");
    let blocks = EXAMPLES.split("\n\n");
    let block = blocks
        .into_iter()
        .find(|block| block.lines().any(|line| line == marked))?;
    let (about, example) = block.trim_end().split_once('\n')?;
    Some(CheckPage {
        kind,
        about: about.trim_start_matches("# ").to_owned(),
        example: example.to_owned(),
    })
}

/// Every kind in short.
pub(super) fn lines() -> Vec<String> {
    let keys = Keys::of_all();
    let pages = names().filter_map(page);
    let lines = pages.flat_map(|page| {
        let mut lines = vec![format!("## {}", page.kind.name), String::new()];
        lines.push(page.about.clone());
        lines.push(String::new());
        lines.extend(page.example.lines().map(|line| format!("  {line}")));
        lines.push(String::new());
        lines.extend(keys.in_short(page.kind.name));
        lines.push(String::new());
        lines
    });
    let mut lines: Vec<String> = lines.collect();
    lines.pop();
    lines
}

impl CheckPage {
    /// The kind's name.
    pub(super) fn name(&self) -> &'static str {
        self.kind.name
    }

    /// The page, in Markdown.
    pub(super) fn page(&self) -> String {
        let shows = match self.kind.shows {
            Shows::Fact => {
                "Passing it shows a fact: an agent cannot bring it about by wording alone."
            }
            Shows::Form => {
                "Passing it shows a form, which an agent can always give: a quest file needs\n\
                 another check that looks at the world."
            }
        };
        let name = self.kind.name;
        let about = &self.about;
        let example = &self.example;
        let keys = Keys::of_all().in_full(name).join("\n");
        format!(
            "# The check {name}\n\n{about}\n{shows}\n\n```toml\n{example}\n```\n\n## Keys\n\n\
             {keys}\n\nSee also: comail help quest-files, comail quest schema\n"
        )
    }
}
