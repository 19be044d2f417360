//! Which quest of an earlier list is which of a newer one.

use std::collections::HashMap;

use super::NotCarried;
use crate::quest::{Anchor, FoldedKey, Quest, QuestId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) old: QuestId,
    pub(super) new: QuestId,
}

/// Pairs in the making.
///
/// Two quests are the same when key and anchor are, as lists compare them. A name without an
/// anchor means nobody in particular once either side knows several quests of that name.
#[derive(Debug)]
pub(super) struct Pairs {
    names: HashMap<FoldedKey, Namesakes>,
    gone: u32,
}

#[derive(Debug, Default)]
struct Namesakes {
    new: Vec<Side>,
    old: Vec<Side>,
}

#[derive(Debug)]
struct Side {
    id: QuestId,
    anchor: Option<String>,
    passed: bool,
}

impl Side {
    fn of(quest: &Quest, passed: bool) -> Self {
        let anchor = quest.anchor.as_ref();
        Self {
            id: quest.id,
            anchor: anchor.map(Anchor::folded),
            passed,
        }
    }
}

impl Pairs {
    /// The pairs of these new quests with none as yet.
    pub(super) fn of(quests: &[Quest]) -> Self {
        let mut names: HashMap<FoldedKey, Namesakes> = HashMap::new();
        for quest in quests {
            let namesakes = names.entry(quest.key.folded()).or_default();
            namesakes.new.push(Side::of(quest, false));
        }
        Self { names, gone: 0 }
    }

    pub(super) fn add(&mut self, quest: &Quest, passed: bool) {
        match self.names.get_mut(&quest.key.folded()) {
            Some(namesakes) => namesakes.old.push(Side::of(quest, passed)),
            None => self.gone += u32::from(passed),
        }
    }

    /// Every PASS that belongs to a new quest, in the order of the new quests, and why the
    /// others do not.
    pub(super) fn finish(self) -> (Vec<Pair>, Vec<NotCarried>) {
        let mut left = vec![NotCarried::Gone; self.gone as usize];
        let mut pairs = Vec::new();
        for namesakes in self.names.values() {
            for old in namesakes.old.iter().filter(|old| old.passed) {
                match namesakes.partner(old) {
                    Ok(new) => pairs.push(Pair { old: old.id, new }),
                    Err(why) => left.push(why),
                }
            }
        }
        pairs.sort_unstable_by_key(|pair| pair.new);
        (pairs, left)
    }
}

impl Namesakes {
    fn partner(&self, old: &Side) -> Result<QuestId, NotCarried> {
        let same = |side: &&Side| side.anchor == old.anchor;
        let mut new = self.new.iter().filter(same);
        let partner = new.next().ok_or(NotCarried::OtherAnchor)?;
        let alone = new.next().is_none() && self.old.iter().filter(same).count() == 1;
        let named = old.anchor.is_some() || (self.new.len() == 1 && self.old.len() == 1);
        if alone && named {
            Ok(partner.id)
        } else {
            Err(NotCarried::Namesake)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::Key;

    fn quests(rows: &[(&str, &str)]) -> Vec<Quest> {
        let quest = |(index, (key, site)): (usize, &(&str, &str))| Quest {
            id: QuestId::from_index(index).unwrap(),
            key: Key::new(key).unwrap(),
            anchor: (!site.is_empty()).then(|| Anchor::Site((*site).to_owned())),
            shown: Vec::new(),
            known: Vec::new(),
            after: Vec::new(),
            rows: Vec::new(),
        };
        rows.iter().enumerate().map(quest).collect()
    }

    fn paired(old: &[(&str, &str)], new: &[(&str, &str)]) -> (Vec<(u32, u32)>, Vec<NotCarried>) {
        let mut pairs = Pairs::of(&quests(new));
        for quest in quests(old) {
            pairs.add(&quest, true);
        }
        let (pairs, left) = pairs.finish();
        let number = |id: QuestId| u32::try_from(id.index()).unwrap() + 1;
        let pairs = pairs
            .iter()
            .map(|pair| (number(pair.old), number(pair.new)))
            .collect();
        (pairs, left)
    }

    #[test]
    fn keys_and_anchors_are_compared_as_lists_compare_them() {
        let old = [("Acme", "https://www.acme.kr/"), ("㈜한빛", "")];
        let new = [("(주)한빛", ""), ("Ａcme ", "ACME.kr")];
        assert_eq!(paired(&old, &new), (vec![(2, 1), (1, 2)], vec![]));
    }

    #[test]
    fn another_anchor_or_none_is_another_company() {
        let why = vec![NotCarried::OtherAnchor];
        for (old, new) in [("acme.kr", "acme.de"), ("acme.kr", ""), ("", "acme.kr")] {
            assert_eq!(
                paired(&[("Acme", old)], &[("Acme", new)]),
                (vec![], why.clone())
            );
        }
    }

    #[test]
    fn anchors_tell_namesakes_apart_and_a_bare_name_does_not() {
        let both = [("Acme", "acme.kr"), ("Acme", "acme.de")];
        assert_eq!(paired(&both, &both).0, [(1, 1), (2, 2)]);
        assert_eq!(paired(&both, &both[1..]).0, [(2, 1)]);
        let mixed = [("Acme", ""), ("Acme", "acme.de")];
        let bare = [("Acme", "")];
        let why = NotCarried::Namesake;
        assert_eq!(paired(&mixed, &mixed), (vec![(2, 2)], vec![why]));
        assert_eq!(
            paired(&mixed, &bare),
            (vec![], vec![why, NotCarried::OtherAnchor])
        );
        assert_eq!(paired(&bare, &mixed), (vec![], vec![why]));
        // No list makes two of the same, and an edited session might.
        let twice = [("Acme", "acme.kr"), ("Acme", "acme.kr")];
        assert_eq!(paired(&twice, &twice[1..]), (vec![], vec![why, why]));
        assert_eq!(paired(&twice[1..], &twice), (vec![], vec![why]));
    }

    #[test]
    fn what_has_not_passed_is_no_pair_and_still_a_namesake() {
        let new = quests(&[("Acme", ""), ("Beta", "")]);
        let mut pairs = Pairs::of(&new);
        for (quest, passed) in quests(&[("Acme", ""), ("Acme", "acme.de"), ("Beta", ""), ("C", "")])
            .iter()
            .zip([true, false, false, false])
        {
            pairs.add(quest, passed);
        }
        assert_eq!(pairs.finish(), (vec![], vec![NotCarried::Namesake]));
        assert_eq!(
            paired(&[("Gone", "")], &[("Acme", "")]).1,
            [NotCarried::Gone]
        );
    }
}
