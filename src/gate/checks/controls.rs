//! Whether controls name what there is: the file's columns and fields, and the gate's rules.

use std::collections::BTreeSet;

use crate::gate::Rule;
use crate::quest::Key;
use crate::quest::file::{ControlTable, Mistake, Panel, QuestFile, RawTable, Spot, unknown_name};

/// What the controls of one file may name.
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
