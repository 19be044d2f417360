//! Finding a quest by the key that somebody typed.

use super::{Key, QuestId};

/// What a typed key leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// One quest.
    One(QuestId),
    /// Several quests of this key.
    Several(Vec<QuestId>),
    /// None; the nearest keys, nearest first.
    None(Vec<String>),
}

/// The most keys that an error suggests.
const MOST_SUGGESTED: usize = 3;

/// Finds the quest whose key is `wanted`: exactly, else folded.
pub fn find<'a>(wanted: &Key, quests: impl Iterator<Item = (QuestId, &'a Key)> + Clone) -> Lookup {
    let exact: Vec<_> = matches(quests.clone(), |key| key == wanted);
    let folded = wanted.folded();
    let found = if exact.is_empty() {
        matches(quests.clone(), |key| key.folds_to(&folded))
    } else {
        exact
    };
    match found.as_slice() {
        [] => Lookup::None(nearest(folded.as_str(), quests)),
        [one] => Lookup::One(*one),
        _ => Lookup::Several(found),
    }
}

fn matches<'a>(
    quests: impl Iterator<Item = (QuestId, &'a Key)>,
    same: impl Fn(&Key) -> bool,
) -> Vec<QuestId> {
    quests
        .filter(|(_, key)| same(key))
        .map(|(id, _)| id)
        .collect()
}

fn nearest<'a>(wanted: &str, quests: impl Iterator<Item = (QuestId, &'a Key)>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let mut near: Vec<(f64, &Key)> = quests
        .map(|(_, key)| {
            let likeness = strsim::jaro_winkler(&wanted, &key.as_str().to_lowercase());
            (likeness, key)
        })
        .filter(|(likeness, _)| *likeness > 0.7)
        .collect();
    near.sort_by(|one, two| two.0.total_cmp(&one.0));
    near.dedup_by(|one, two| one.1 == two.1);
    near.into_iter()
        .take(MOST_SUGGESTED)
        .map(|(_, key)| key.to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(wanted: &str, keys: &[&str]) -> Lookup {
        let keys: Vec<_> = keys.iter().map(|key| Key::new(key).unwrap()).collect();
        let quests = keys
            .iter()
            .enumerate()
            .map(|(index, key)| (QuestId::from_index(index).unwrap(), key));
        find(&Key::new(wanted).unwrap(), quests)
    }

    fn id(number: usize) -> QuestId {
        QuestId::from_index(number - 1).unwrap()
    }

    #[test]
    fn an_exact_key_wins_over_a_folded_one() {
        assert_eq!(
            found("Acme  Co", &["Acme Co", "Acme  Co"]),
            Lookup::One(id(2))
        );
        assert_eq!(found("Ａcme Co", &["Beta", "Acme  Co"]), Lookup::One(id(2)));
    }

    #[test]
    fn two_of_the_same_key_are_told_apart_by_nobody() {
        assert_eq!(
            found("Acme", &["Acme", "Acme"]),
            Lookup::Several(vec![id(1), id(2)])
        );
    }

    #[test]
    fn a_mistyped_key_brings_the_nearest() {
        assert_eq!(
            found("Amce Inc", &["Acme Inc", "Zebra"]),
            Lookup::None(vec!["Acme Inc".into()])
        );
    }
}
