//! Numbers of quests, in few words.

use crate::quest::QuestId;

/// The ids, which are in order, as `1-3, 7`.
#[must_use]
pub fn ids(quests: &[QuestId]) -> String {
    let mut spans: Vec<(QuestId, QuestId)> = Vec::new();
    for quest in quests {
        match spans.last_mut() {
            Some((_, end)) if end.index() + 1 == quest.index() => *end = *quest,
            _ => spans.push((*quest, *quest)),
        }
    }
    let texts: Vec<String> = spans.into_iter().map(span).collect();
    texts.join(", ")
}

fn span((first, last): (QuestId, QuestId)) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first}-{last}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_told_as_one() {
        let told = |numbers: &[usize]| {
            let quests = numbers
                .iter()
                .map(|it| QuestId::from_index(it - 1).unwrap());
            ids(&quests.collect::<Vec<_>>())
        };
        assert_eq!(told(&[]), "");
        assert_eq!(told(&[4]), "4");
        assert_eq!(told(&[1, 2, 3, 7, 9, 10]), "1-3, 7, 9-10");
    }
}
