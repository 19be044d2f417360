//! Which quest a command means: by id or by key.

use anyhow::Result;

use super::exit::UsageError;
use crate::quest::{Key, Lookup, QuestId, find};
use crate::session::Board;

/// Finds the quest that `id` or `key` names.
///
/// # Errors
///
/// A usage error that names the nearest keys, or the ids that share the key.
pub fn choose(
    board: &Board,
    id: Option<QuestId>,
    key: Option<&str>,
    unit: &str,
) -> Result<QuestId> {
    let usage = |text: String| anyhow::Error::new(UsageError(text));
    match (id, key) {
        (Some(id), None) => match board.get(id) {
            Some(_) => Ok(id),
            None => Err(usage(format!(
                "there is no quest {id}: they are numbered 1 to {}",
                board.tally().total()
            ))),
        },
        (None, Some(key)) => by_key(board, key).map_err(usage),
        (None, None) => Err(usage(format!(
            "which quest? Name it by --{unit} KEY or --id N"
        ))),
        (Some(_), Some(_)) => Err(usage(format!(
            "name the quest once: by --{unit} KEY or by --id N"
        ))),
    }
}

fn by_key(board: &Board, text: &str) -> Result<QuestId, String> {
    let key = Key::new(text).map_err(|error| error.to_string())?;
    let quests = board.quests().iter().map(|quest| (quest.id, &quest.key));
    match find(&key, quests) {
        Lookup::One(id) => Ok(id),
        Lookup::Several(ids) => {
            let ids: Vec<_> = ids.iter().map(|id| format!("--id {id}")).collect();
            Err(format!(
                "several quests have the key {text:?}: name one by {}",
                ids.join(" or ")
            ))
        }
        Lookup::None(near) if near.is_empty() => Err(format!("there is no quest {text:?}")),
        Lookup::None(near) => {
            let near: Vec<_> = near.iter().map(|key| format!("{key:?}")).collect();
            Err(format!(
                "there is no quest {text:?}: did you mean {}?",
                near.join(", ")
            ))
        }
    }
}
