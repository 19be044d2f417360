//! Whether controls name what there is: the file's columns and fields, and the gate's rules.

use std::collections::BTreeSet;

use crate::gate::Rule;
use crate::quest::Key;
use crate::quest::file::{
    ControlTable, FinalPart, Mistake, Panel, QuestFile, RawTable, ReviewerKind, Spot, unknown_name,
};
use crate::world::sandbox::endpoint;
use crate::world::tree::{TreePath, Zones};

struct Known<'a> {
    columns: Vec<&'a str>,
    fields: Vec<&'a str>,
    rules: Vec<&'a str>,
    reviewers: Vec<&'a str>,
    has_tree: bool,
}

/// Looks at every control of `file`, whose gate has these rules.
pub(super) fn hold(file: &QuestFile<'_>, rules: &[Rule]) -> Result<(), Mistake> {
    let known = Known {
        columns: file.input.columns().collect(),
        fields: file.fields.iter().map(|it| it.name.as_str()).collect(),
        rules: rules.iter().map(|rule| rule.id.as_str()).collect(),
        reviewers: file.panel.iter().flat_map(Panel::names).collect(),
        has_tree: file.tree.is_some(),
    };
    let mut names = BTreeSet::new();
    for (control, raw) in file.placed_controls() {
        let wrong = if names.insert(&control.name) {
            known.wrong_in(control, raw)
        } else {
            let what = format!("there are two controls `{}`", control.name);
            Some((raw.spot_of("name"), what))
        };
        if let Some((spot, what)) = wrong {
            return Err(Mistake::at(file.text(), &spot, what));
        }
    }
    Ok(())
}

/// That each reviewer can be asked, and none by what the agent may write.
pub fn reviewers_hold(panel: &Panel<'_>, file: &QuestFile<'_>) -> Result<(), Mistake> {
    // Globs that cannot be read are refused where they are written.
    let tree = file.tree.as_ref();
    let zones = tree.and_then(|tree| Zones::new(&tree.write).ok());
    for (reviewer, raw) in panel.placed_reviewers() {
        let written = |argument: &&String| zones.as_ref().is_some_and(|it| is_in(argument, it));
        if let Some(argument) = reviewer.argv.iter().find(written) {
            let what =
                format!("`{argument}` is in a write zone: the agent could answer in its place");
            let spot = raw.spot_of_text("argv", argument);
            return Err(Mistake::at(panel.text(), &spot, what));
        }
        if reviewer.kind == ReviewerKind::Chat
            && let Err(wrong) = endpoint(reviewer.base_url.as_deref().unwrap_or_default())
        {
            let what = format!("{wrong}: say `base_url`, such as `http://127.0.0.1:11434/v1`");
            return Err(Mistake::at(panel.text(), &raw.spot_of("base_url"), what));
        }
    }
    Ok(())
}

fn is_in(argument: &str, zones: &Zones) -> bool {
    let value = argument.split_once('=').map(|(_, value)| value);
    [Some(argument), value].into_iter().flatten().any(|text| {
        let parts = text.split('/').filter(|part| !matches!(*part, "" | "."));
        let path = TreePath::parse(&parts.collect::<Vec<_>>().join("/"));
        !text.starts_with('/') && path.is_ok_and(|path| zones.contains(&path))
    })
}

impl Known<'_> {
    fn wrong_in(&self, control: &ControlTable, raw: &RawTable<'_>) -> Option<(Spot, String)> {
        if let Err(error) = Key::new(&control.key) {
            return Some((raw.spot_of("key"), error.to_string()));
        }
        let tables = [
            ("input", &control.input, "column of [input]", &self.columns),
            ("submit", &control.submit, "field", &self.fields),
            ("taken", &control.taken, "field", &self.fields),
        ];
        for (key, table, what, known) in tables {
            let mut names = table.keys().map(String::as_str);
            if let Some(name) = names.find(|name| !known.contains(name)) {
                let spot = raw.spot_within(key, name);
                return Some((spot, unknown_name(what, name, known)));
            }
        }
        let mut fires = control.fires.iter().flatten().map(String::as_str);
        if let Some(rule) = fires.find(|rule| !self.rules.contains(rule)) {
            let spot = raw.spot_of_text("fires", rule);
            return Some((spot, unknown_name("rule", rule, &self.rules)));
        }
        let reviewed = control.reviewed.iter().flatten().map(|(name, _)| name);
        let mut reviewed = reviewed.filter(|name| !self.reviewers.contains(&name.as_str()));
        if let Some(name) = reviewed.next() {
            let spot = raw.spot_within("reviewed", name);
            return Some((spot, unknown_name("reviewer", name, &self.reviewers)));
        }
        let trees = [("tree", &control.tree), ("writes", &control.writes)];
        let mut trees = trees.into_iter().filter(|(_, dir)| dir.is_some());
        let (key, _) = trees.next().filter(|_| !self.has_tree)?;
        let what = format!("`{key}` of a control, and the file has no [tree]");
        Some((raw.spot_of(key), what))
    }
}

/// What is wrong with the name of a check of `[final]`: one of the quests has it already.
pub(super) fn known_name(file: &QuestFile<'_>, raw: &RawTable<'_>) -> Option<(Spot, String)> {
    let name = raw.text_of("name")?;
    let mut names = file.checks.iter().map(|check| check.text_of("name"));
    let what = || format!("a check of the quests is `{name}` already: name it otherwise");
    names
        .any(|known| known == Some(name))
        .then(|| (raw.spot_of("name"), what()))
}

/// What is wrong in the controls of `[final]`, and in the negative one.
pub(super) fn wrong_in_final(
    part: &FinalPart<'_>,
    has_tree: bool,
    rules: &[Rule],
) -> Option<(Spot, String)> {
    let rules: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
    let fires = |fires: &Option<Vec<String>>, raw: &RawTable<'_>| {
        let mut named = fires.iter().flatten().map(String::as_str);
        let rule = named.find(|rule| !rules.contains(rule))?;
        let what = unknown_name("rule", rule, &rules);
        Some((raw.spot_of_text("fires", rule), what))
    };
    let of_controls = part.placed_controls().find_map(|(control, raw)| {
        let trees = [("tree", &control.tree), ("writes", &control.writes)];
        let mut trees = trees.into_iter().filter(|(_, dir)| dir.is_some());
        let homeless = trees.next().filter(|_| !has_tree).map(|(key, _)| {
            let what = format!("`{key}` of a control, and the file has no [tree]");
            (raw.spot_of(key), what)
        });
        homeless.or_else(|| fires(&control.fires, raw))
    });
    let (table, raw) = match (of_controls, part.placed_negative()) {
        (Some(found), _) => return Some(found),
        (None, None) => return None,
        (None, Some(placed)) => placed,
    };
    if !has_tree {
        let what = "it changes files of the tree, and the file has no [tree]";
        return Some((raw.spot(), what.to_owned()));
    }
    let written = table.files.keys();
    let written = written.map(|path| (path, raw.spot_within("files", path)));
    let removed = table.remove.iter();
    let removed = removed.map(|path| (path, raw.spot_of_text("remove", path)));
    let bad = written.chain(removed).find_map(|(path, spot)| {
        let bad = TreePath::parse(path).err()?;
        Some((spot, bad.to_string()))
    });
    bad.or_else(|| fires(&table.fires, raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEST: &str = r#"
name = "summaries"
unit = "text"
[input]
key = ["id"]
anchor = ["text"]
[prompt]
text = "{{ key }}"
[[field]]
name = "summary"
kind = "text"
[[field]]
name = "source"
kind = "url"
[[field]]
name = "more"
kind = "url"
required = false
[[check]]
name = "quoted"
kind = "contains"
field = "summary"
url = "{{ field.source }}"
"#;

    const PANEL: &str = r#"
[panel]
quorum = 2
[[reviewer]]
name = "reader"
kind = "command"
model = "small-1"
argv = ["ask", "-m", "small"]
sees = ["submission.summary", "evidence.source"]
[[reviewer]]
name = "other"
kind = "chat"
model = "large-2"
base_url = "http://127.0.0.1:11434/v1"
sees = ["submission.summary", "input.text"]
[[question]]
id = "faithful"
ask = "Does the summary say what the source does not say?"
[[plant]]
name = "made-up-year"
sees = { "submission.summary" = "It was founded on Mars." }
doubts = ["faithful"]
"#;

    fn refused(text: &str) -> Option<Mistake> {
        let file = QuestFile::parse(text).unwrap();
        reviewers_hold(file.panel.as_ref().unwrap(), &file).err()
    }

    #[test]
    fn nobody_is_asked_by_what_the_agent_writes() {
        for argument in ["in/rev.py", "./in//rev.py", "--rules=in/rules.txt"] {
            let argv = format!("argv = [\"ask\", \"{argument}\"]");
            let panel = PANEL.replacen("argv = [\"ask\", \"-m\", \"small\"]", &argv, 1);
            let whole = format!("{QUEST}{panel}[tree]\nwrite = [\"in/**\"]\n");
            let wrong = refused(&whole).unwrap();
            assert!(wrong.what.contains("is in a write zone"), "{wrong}");
            let line = whole.lines().nth(wrong.line - 1).unwrap();
            let found = &line[wrong.column - 1..];
            assert!(found.starts_with(&format!("\"{argument}")), "{wrong}");
            assert_eq!(
                refused(&whole.replace("in/**", "src/**")),
                None,
                "{argument}"
            );
        }
    }

    #[test]
    fn a_reviewer_that_is_a_service_has_an_address() {
        let whole = format!("{QUEST}{PANEL}");
        assert_eq!(refused(&whole), None);
        for (from, to, why) in [
            ("http://127", "ftp://127", "say `base_url`"),
            ("http://127", "http://me:secret@127", "a user or a password"),
            ("11434/v1", "11434/v1?key=secret", "a query or a fragment"),
        ] {
            let wrong = refused(&whole.replacen(from, to, 1)).unwrap();
            assert!(wrong.what.contains(why), "{wrong}");
        }
    }
}
