//! What a quest file goes by that lies elsewhere, held against what the session froze of it.
//!
//! Programs are run where they are, so one that changed is a finding: no judgement is made by it.
//! The quest file and what lies beside it are frozen as texts and never read again, so that an
//! edit is worth a note alone.

use std::fs;
use std::path::Path;

use super::finding::{Finding, Kind, Place};
use crate::base::Digest;
use crate::judge::quest_file::Definition;

/// A finding for each program that is no longer what it was.
#[must_use]
pub fn programs(definition: &Definition) -> Vec<Finding> {
    let programs = definition.gathered.programs.iter();
    let changed = programs.filter_map(|(name, pinned)| {
        let change = pinned.changed()?;
        let path = pinned.path.display();
        let what = format!(
            "the program `{name}` ({path}) is not what it was at the scan: {change}; checks that \
             run it leave every answer to a person"
        );
        Some(Finding::new(Kind::Program, Place::default(), what))
    });
    changed.collect()
}

/// A note for each text that is not what it was, where it lay.
#[must_use]
pub fn edits(definition: &Definition) -> Vec<String> {
    let here = definition.here();
    let assets = definition.gathered.assets.iter();
    let assets = assets.map(|(name, text)| (here.join(name), Digest::of(text.as_bytes())));
    let file = (Path::new(&definition.path).to_owned(), definition.sha256);
    let texts = std::iter::once(file).chain(assets);
    texts
        .filter_map(|(path, frozen)| {
            let now = match fs::read(&path) {
                Ok(bytes) if Digest::of(&bytes) == frozen => return None,
                Ok(_) => "was edited",
                Err(_) => "cannot be read any more",
            };
            let path = path.display();
            Some(format!(
                "{path} {now} since the scan; the session goes by what it froze"
            ))
        })
        .collect()
}
