//! The gate over the whole result, which `[final]` of a quest file makes.

use super::file_gate::FileGate;
use super::outside::Outside;
use super::settings::FileSettings;
use crate::gate::{Gate as _, Rule};
use crate::quest::file::{FinalPart, Mistake, QuestFile, RawTable, Spot, unknown_name};
use crate::world::tree::TreePath;

impl FileGate {
    /// The gate that `[final]` of `file` makes; none where it has none.
    ///
    /// # Errors
    ///
    /// The first mistake in its checks, its controls and its negative control.
    pub fn of_final(
        file: &QuestFile<'_>,
        outside: &dyn Outside,
        settings: FileSettings,
    ) -> Result<Option<Self>, Mistake> {
        let (Some(whole), Some(part)) = (file.of_final(), &file.final_part) else {
            return Ok(None);
        };
        let wrong = |(spot, what): (Spot, String)| Mistake::at(file.text(), &spot, what);
        if let Some(known) = part.checks.iter().find_map(|raw| known_name(file, raw)) {
            return Err(wrong(known));
        }
        let gate = Self::new(&whole, outside, settings)?;
        match wrong_in(part, file.tree.is_some(), &gate.rules()) {
            Some(found) => Err(wrong(found)),
            None => Ok(Some(gate)),
        }
    }
}

/// That a check of the quests has the name of this one already.
fn known_name(file: &QuestFile<'_>, raw: &RawTable<'_>) -> Option<(Spot, String)> {
    let name = raw.text_of("name")?;
    let mut names = file.checks.iter().map(|check| check.text_of("name"));
    let what = || format!("a check of the quests is `{name}` already: name it otherwise");
    names
        .any(|known| known == Some(name))
        .then(|| (raw.spot_of("name"), what()))
}

/// What is wrong in the controls, and in the negative one.
fn wrong_in(part: &FinalPart<'_>, has_tree: bool, rules: &[Rule]) -> Option<(Spot, String)> {
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
