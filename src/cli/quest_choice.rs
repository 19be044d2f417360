//! Which quest a command means: by id or by key.

use anyhow::Result;

use super::exit::UsageError;
use crate::quest::{Key, Nearest, QuestId, meant};
use crate::session::{SessionError, Store};

/// Finds the quest that `id` or `key` names.
///
/// # Errors
///
/// A usage error that names the nearest keys, or the ids that share the key.
pub fn choose(
    store: &dyn Store,
    id: Option<QuestId>,
    key: Option<&str>,
    unit: &str,
) -> Result<QuestId> {
    let usage = |text: String| anyhow::Error::new(UsageError(text));
    match (id, key) {
        (Some(id), None) if store.standing(id)?.is_some() => Ok(id),
        (Some(id), None) => Err(usage(format!(
            "there is no quest {id}: they are numbered 1 to {}",
            store.totals().tally.total()
        ))),
        (None, Some(key)) => by_key(store, key)?.map_err(usage),
        (None, None) => Err(usage(which(unit))),
        (Some(_), Some(_)) => Err(usage(format!(
            "name the quest once: by --{unit} KEY or by --id N"
        ))),
    }
}

/// What is asked where no quest was named.
pub fn which(unit: &str) -> String {
    format!("which quest? Name it by --{unit} KEY or --id N")
}

/// The quest that the key means, or why there is no such one.
fn by_key(store: &dyn Store, text: &str) -> Result<Result<QuestId, String>, SessionError> {
    let key = match Key::new(text) {
        Ok(key) => key,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let same_fold = store.named(&key.folded())?;
    let same_fold: Vec<_> = same_fold.into_iter().map(|s| (s.id, s.key)).collect();
    Ok(match meant(&key, &same_fold).as_slice() {
        [one] => Ok(*one),
        [] => Err(unknown(store, &key)?),
        several => {
            let ids: Vec<_> = several.iter().map(|id| format!("--id {id}")).collect();
            Err(format!(
                "several quests have the key {text:?}: name one by {}",
                ids.join(" or ")
            ))
        }
    })
}

fn unknown(store: &dyn Store, key: &Key) -> Result<String, SessionError> {
    let mut nearest = Nearest::to(key);
    store.each_key(&mut |known| nearest.offer(known))?;
    let near: Vec<_> = nearest
        .keys()
        .map(|near| format!("{:?}", near.as_str()))
        .collect();
    let suggestion = if near.is_empty() {
        String::new()
    } else {
        format!(": did you mean {}?", near.join(", "))
    };
    Ok(format!("there is no quest {:?}{suggestion}", key.as_str()))
}
