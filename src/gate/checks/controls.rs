//! Whether controls name what there is: the file's columns and fields, and the gate's rules.

use std::collections::BTreeSet;

use itertools::Itertools as _;

use crate::gate::Rule;
use crate::quest::Key;
use crate::quest::file::{
    ControlTable, FinalPart, Mistake, Panel, Placed, QuestFile, RawTable, ReviewerKind,
    unknown_name,
};
use crate::world::sandbox::endpoint;
use crate::world::tree::{TreePath, Zones};

pub(super) fn hold(file: &QuestFile<'_>, rules: &[Rule]) -> Result<(), Mistake> {
    let mut names = BTreeSet::new();
    for control in &file.controls {
        if !names.insert(&control.name) {
            let what = format!("there are two controls `{}`", control.name);
            let spot = control.raw.spot_of("name");
            return Err(Mistake::at(file.text(), &spot, what));
        }
        names_what_there_is(control, file)?;
        rules_hold(control.fires.as_ref(), &control.raw, file, rules)?;
        has_tree(&control.raw, file)?;
    }
    Ok(())
}

/// That each reviewer can be asked, and none by what the agent may write.
pub fn reviewers_hold(panel: &Panel<'_>, file: &QuestFile<'_>) -> Result<(), Mistake> {
    // Globs that cannot be read are refused where they are written.
    let tree = file.tree.as_ref();
    let zones = tree.and_then(|tree| Zones::new(&tree.write).ok());
    for Placed { table, raw } in &panel.reviewers {
        let written = |argument: &&String| zones.as_ref().is_some_and(|it| is_in(argument, it));
        if let Some(argument) = table.argv.iter().find(written) {
            let what =
                format!("`{argument}` is in a write zone: the agent could answer in its place");
            let spot = raw.spot_of_text("argv", argument);
            return Err(Mistake::at(panel.text(), &spot, what));
        }
        if table.kind == ReviewerKind::Chat
            && let Err(wrong) = endpoint(table.base_url.as_deref().unwrap_or_default())
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
        let mut parts = text.split('/').filter(|part| !matches!(*part, "" | "."));
        let path = TreePath::parse(&parts.join("/"));
        !text.starts_with('/') && path.is_ok_and(|path| zones.contains(&path))
    })
}

/// That a control has a key, and names columns, fields and reviewers of the file.
fn names_what_there_is(
    control: &Placed<'_, ControlTable>,
    file: &QuestFile<'_>,
) -> Result<(), Mistake> {
    let raw = &control.raw;
    if let Err(error) = Key::new(&control.key) {
        return Err(Mistake::at(
            file.text(),
            &raw.spot_of("key"),
            error.to_string(),
        ));
    }
    let columns: Vec<_> = file.input.columns().collect();
    let fields: Vec<_> = file.fields.iter().map(|it| it.name.as_str()).collect();
    let reviewers: Vec<_> = file.panel.iter().flat_map(Panel::names).collect();
    let reviewed = control.reviewed.clone().unwrap_or_default();
    let tables = [
        ("input", &control.input, "column of [input]", &columns),
        ("submit", &control.submit, "field", &fields),
        ("taken", &control.taken, "field", &fields),
        ("reviewed", &reviewed, "reviewer", &reviewers),
    ];
    for (key, table, what, known) in tables {
        let mut names = table.keys().map(String::as_str);
        if let Some(name) = names.find(|name| !known.contains(name)) {
            let what = unknown_name(what, name, known);
            return Err(Mistake::at(file.text(), &raw.spot_within(key, name), what));
        }
    }
    Ok(())
}

/// That the gate has every rule that a control names.
fn rules_hold(
    fires: Option<&Vec<String>>,
    raw: &RawTable<'_>,
    file: &QuestFile<'_>,
    rules: &[Rule],
) -> Result<(), Mistake> {
    let known: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
    let mut fires = fires.into_iter().flatten().map(String::as_str);
    let Some(rule) = fires.find(|rule| !known.contains(rule)) else {
        return Ok(());
    };
    let what = unknown_name("rule", rule, &known);
    Err(Mistake::at(
        file.text(),
        &raw.spot_of_text("fires", rule),
        what,
    ))
}

/// That a control gives files to no quest file without a tree.
fn has_tree(raw: &RawTable<'_>, file: &QuestFile<'_>) -> Result<(), Mistake> {
    let mut keys = ["tree", "writes"].into_iter();
    let Some(key) = keys.find(|key| raw.has(key) && file.tree.is_none()) else {
        return Ok(());
    };
    let what = format!("`{key}` of a control, and the file has no [tree]");
    Err(Mistake::at(file.text(), &raw.spot_of(key), what))
}

/// Looks at the controls of `[final]` and at the negative one.
pub(super) fn hold_in_final(
    part: &FinalPart<'_>,
    file: &QuestFile<'_>,
    rules: &[Rule],
) -> Result<(), Mistake> {
    for Placed { table, raw } in &part.controls {
        has_tree(raw, file)?;
        rules_hold(table.fires.as_ref(), raw, file, rules)?;
    }
    let Some(Placed { table, raw }) = &part.negative else {
        return Ok(());
    };
    if file.tree.is_none() {
        let what = "it changes files of the tree, and the file has no [tree]";
        return Err(Mistake::at(file.text(), &raw.spot(), what));
    }
    let written = table.files.keys();
    let written = written.map(|path| (path, raw.spot_within("files", path)));
    let removed = table.remove.iter();
    let removed = removed.map(|path| (path, raw.spot_of_text("remove", path)));
    for (path, spot) in written.chain(removed) {
        TreePath::parse(path).map_err(|bad| Mistake::at(file.text(), &spot, bad.to_string()))?;
    }
    rules_hold(table.fires.as_ref(), raw, file, rules)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::file::panel_fixture::{PANEL, QUEST};

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
