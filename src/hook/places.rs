//! The write zone that a session froze, and a call held against it and the rules.

use super::call::{Act, ToolCall};
use super::command::judge_line;
use super::ground::{Ground, Leads, WriteZone};
use super::net;
use super::rules::Rules;
use super::ruling::{Ruled, Ruling};
use crate::judge::JudgeError;
use crate::judge::quest_file::{BenchError, Definition};
use crate::session::Manifest;
use crate::world::tree::Zones;

/// Where files may be changed in a session; none where its kind has no tree.
pub fn zone_of(manifest: &Manifest, leads: Leads<'_>) -> Result<Option<WriteZone>, JudgeError> {
    let Some(tree) = Definition::of(manifest)?.and_then(|definition| definition.tree) else {
        return Ok(None);
    };
    let zones = Zones::new(&tree.write).map_err(BenchError::from)?;
    // A root that is not there any more has nothing in it that could be changed.
    let root = leads(&tree.root).unwrap_or(tree.root);
    Ok(Some(WriteZone { root, zones }))
}

/// What becomes of a call.
#[must_use]
pub fn judge_call(call: &ToolCall, rules: &Rules, ground: &Ground<'_>) -> Ruled {
    match &call.act {
        Act::Run(_) if ground.is_inside("", &ground.here) => {
            Ruled::forbid("it runs in the session directory")
        }
        Act::Run(line) => judge_line(line, rules, ground),
        Act::Edit(paths) => {
            let found = paths.iter().map(|path| ground.edit(path, &ground.here));
            found
                .reduce(Ruled::stricter)
                .unwrap_or_else(|| Ruled::forbid("it names no file"))
        }
        Act::Other(texts) if texts.iter().any(|text| net::calls_as_person(text)) => {
            Ruled::forbid("it has this program do what is a person's")
        }
        Act::Other(texts)
            if texts
                .iter()
                .any(|text| ground.is_inside(text, &ground.here)) =>
        {
            Ruled::forbid("it names the session directory")
        }
        Act::Other(texts) if texts.iter().any(|text| ground.names_steering(text)) => Ruled::new(
            Ruling::Prompt,
            "it names what decides what the agent may do",
        ),
        Act::Other(_) => Ruled::new(Ruling::Leave, "it is no tool that is judged"),
    }
}
