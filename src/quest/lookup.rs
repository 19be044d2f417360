//! Finding a quest by the key that somebody typed.

use super::{Key, QuestId};

/// Of the quests whose keys fold to the same as `wanted`, those that it means: the ones that are
/// spelt so, else all.
#[must_use]
pub fn meant(wanted: &Key, same_fold: &[(QuestId, Key)]) -> Vec<QuestId> {
    let ids = |exact: bool| {
        let quests = same_fold
            .iter()
            .filter(move |(_, key)| !exact || key == wanted);
        quests.map(|(id, _)| *id).collect::<Vec<_>>()
    };
    let exact = ids(true);
    if exact.is_empty() { ids(false) } else { exact }
}

/// The keys that are nearest to one that there is none of.
#[derive(Debug)]
pub struct Nearest {
    wanted: String,
    /// Nearest first.
    found: Vec<(f64, Key)>,
}

/// The most keys that an error suggests.
const MOST_SUGGESTED: usize = 3;

/// How alike a key must be to be suggested, by Jaro and Winkler.
const LEAST_LIKENESS: f64 = 0.7;

impl Nearest {
    /// Looks for the keys nearest to `wanted`.
    #[must_use]
    pub fn to(wanted: &Key) -> Self {
        Self {
            wanted: wanted.folded().as_str().to_lowercase(),
            found: Vec::new(),
        }
    }

    /// Looks at one key.
    pub fn offer(&mut self, key: &Key) {
        let likeness = strsim::jaro_winkler(&self.wanted, &key.as_str().to_lowercase());
        if likeness <= LEAST_LIKENESS || self.found.iter().any(|(_, known)| known == key) {
            return;
        }
        let place = self.found.partition_point(|(known, _)| *known >= likeness);
        if place < MOST_SUGGESTED {
            self.found.insert(place, (likeness, key.clone()));
            self.found.truncate(MOST_SUGGESTED);
        }
    }

    /// The nearest of all that were offered, nearest first.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.found.iter().map(|(_, key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        Key::new(text).unwrap()
    }

    fn id(number: usize) -> QuestId {
        QuestId::from_index(number - 1).unwrap()
    }

    #[test]
    fn an_exact_key_wins_over_a_folded_one() {
        let both = [(id(1), key("Acme Co")), (id(2), key("Acme  Co"))];
        assert_eq!(meant(&key("Acme  Co"), &both), [id(2)]);
        assert_eq!(meant(&key("Ａcme Co"), &both[1..]), [id(2)]);
    }

    #[test]
    fn two_of_the_same_key_are_told_apart_by_nobody() {
        let both = [(id(1), key("Acme")), (id(2), key("Acme"))];
        assert_eq!(meant(&key("Acme"), &both), [id(1), id(2)]);
        assert_eq!(meant(&key("Beta"), &[]), []);
    }

    #[test]
    fn a_mistyped_key_brings_the_nearest() {
        let mut nearest = Nearest::to(&key("Amce Inc"));
        for name in [
            "Zebra",
            "Acme Inc",
            "Acme Inc",
            "Amce In",
            "Amc",
            "Acme Incorporated",
        ] {
            nearest.offer(&key(name));
        }
        let names: Vec<_> = nearest.keys().map(Key::as_str).collect();
        assert_eq!(names, ["Amce In", "Acme Inc", "Amc"]);
    }
}
