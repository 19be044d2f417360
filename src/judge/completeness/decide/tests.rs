//! Each condition with its negative control.

use super::*;
use crate::base::Digest;
use crate::judge::audit::{Place, SeenFile};

fn id(number: usize) -> QuestId {
    QuestId::from_index(number - 1).unwrap()
}

/// A session of ten quests against which nothing stands.
fn good() -> Survey {
    Survey {
        tally: Tally {
            pass: 8,
            review: 1,
            done: 1,
            ..Tally::default()
        },
        tree: TreeSeen::Seen(vec![change("in/a", true)]),
        last: FinalResult {
            word: FinalWord::Passed,
            details: Vec::new(),
        },
        min_pass: Some("80%".parse().unwrap()),
        ..Survey::default()
    }
}

fn change(path: &str, inside: bool) -> Changed {
    Changed {
        path: path.to_owned(),
        how: "added".to_owned(),
        inside,
    }
}

fn finding(kind: FindingKind) -> Finding {
    let place = Place {
        line: Some(9),
        quest: Some(id(4)),
        key: None,
    };
    Finding::new(kind, place, "why")
}

#[track_caller]
fn only(spoil: impl FnOnce(&mut Survey)) -> Shortfall {
    let mut seen = good();
    spoil(&mut seen);
    let mut found = decide(&seen).shortfalls;
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn a_session_against_which_nothing_stands_is_complete() {
    assert!(decide(&good()).is_complete());
    let nothing_asked = Survey {
        tree: TreeSeen::None,
        last: FinalResult::default(),
        min_pass: None,
        tally: Tally {
            done: 9,
            ..Tally::default()
        },
        ..good()
    };
    assert!(decide(&nothing_asked).is_complete());
}

#[test]
fn what_is_todo_is_named() {
    let found = only(|seen| seen.todo = vec![id(2), id(5)]);
    assert_eq!(found.kind, ShortfallKind::Todo);
    assert_eq!(found.quests, [id(2), id(5)]);
    assert_eq!(found.what, "2 quests are TODO");
    let found = only(|seen| {
        seen.todo = vec![id(2)];
        seen.blocked = 1;
    });
    assert!(
        found
            .what
            .starts_with("1 quest is TODO; 1 of them can never"),
        "{found:?}"
    );
}

#[test]
fn a_claim_that_was_left_behind_is_named() {
    let found = only(|seen| seen.orphaned = vec![id(3)]);
    assert_eq!(found.kind, ShortfallKind::OrphanedClaims);
    assert_eq!(found.quests, [id(3)]);
}

#[test]
fn a_tree_that_is_dirty_or_not_to_be_seen_is_none_that_is_clean() {
    let found = only(|seen| {
        seen.tree = TreeSeen::Seen(vec![change("in/a", true), change("own/b", false)]);
    });
    assert_eq!(found.kind, ShortfallKind::TreeChanged);
    assert_eq!(found.details, ["own/b: added"]);
    let found = only(|seen| seen.tree = TreeSeen::Unread("gone".to_owned()));
    assert_eq!(found.kind, ShortfallKind::TreeUnread);
}

fn file(line: u64, quest: usize, then: Option<&str>, now: Option<&str>) -> FileThenAndNow {
    let digest = |text: &str| Digest::of(text.as_bytes());
    FileThenAndNow {
        then: SeenFile {
            line,
            quest: id(quest),
            path: TreePath::parse("in/a").unwrap(),
            file: then.map(digest),
        },
        now: now.map(digest),
    }
}

#[test]
fn what_a_pass_saw_must_still_be_there() {
    for (now, how) in [(Some("new"), "changed"), (None, "gone")] {
        let found = only(|seen| seen.files = vec![file(5, 1, Some("old"), now)]);
        assert_eq!(found.kind, ShortfallKind::PassChanged);
        assert_eq!(found.quests, [id(1)]);
        assert_eq!(found.details, [format!("quest 1: in/a: {how}")]);
    }
    for (then, now) in [(Some("old"), Some("old")), (None, Some("new"))] {
        let seen = Survey {
            files: vec![file(5, 1, then, now)],
            ..good()
        };
        assert!(decide(&seen).is_complete(), "{then:?} {now:?}");
    }
}

#[test]
fn the_last_pass_over_a_shared_file_is_the_one_that_counts() {
    let shared = |now| vec![file(9, 2, Some("new"), now), file(5, 1, Some("old"), now)];
    let seen = Survey {
        files: shared(Some("new")),
        ..good()
    };
    assert!(decide(&seen).is_complete());
    // What an earlier one saw takes the ground from the later.
    let found = only(|seen| seen.files = shared(Some("old")));
    assert_eq!(found.quests, [id(2)]);
}

#[test]
fn each_finding_counts_as_what_it_is() {
    let cases = [
        (FindingKind::Ledger, Some(ShortfallKind::Ledger)),
        (FindingKind::Source, Some(ShortfallKind::Ledger)),
        (FindingKind::Evidence, Some(ShortfallKind::NotReplayed)),
        (FindingKind::Replay, Some(ShortfallKind::NotReplayed)),
        (FindingKind::OtherLists, Some(ShortfallKind::NotReplayed)),
        (FindingKind::Field, Some(ShortfallKind::Record)),
        (FindingKind::Seal, Some(ShortfallKind::Record)),
        (FindingKind::Index, None),
    ];
    for (kind, expected) in cases {
        let seen = Survey {
            findings: vec![finding(kind)],
            ..good()
        };
        let found = decide(&seen).shortfalls;
        let kinds: Vec<ShortfallKind> = found.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, expected.into_iter().collect::<Vec<_>>(), "{kind:?}");
        for shortfall in found {
            assert_eq!(shortfall.quests, [id(4)]);
            assert_eq!(shortfall.details, ["line 9, quest 4: why"]);
        }
    }
}

#[test]
fn a_pass_that_was_not_judged_again_is_named() {
    let found = only(|seen| seen.unchecked = vec![id(1)]);
    assert_eq!(found.kind, ShortfallKind::Unchecked);
    assert_eq!(found.quests, [id(1)]);
    let found = only(|seen| seen.stopped = true);
    assert_eq!(found.kind, ShortfallKind::Unchecked);
}

#[test]
fn a_whole_that_does_not_pass_is_named() {
    let found = only(|seen| {
        seen.last = FinalResult {
            word: FinalWord::Refused,
            details: vec!["no build".to_owned()],
        }
    });
    assert_eq!(found.kind, ShortfallKind::FinalGate);
    assert_eq!(found.details, ["no build"]);
    let found = only(|seen| seen.last = FinalResult::unjudged("no make"));
    assert!(found.what.ends_with("no make"), "{found:?}");
}

#[test]
fn too_few_passes_are_named() {
    let found = only(|seen| {
        seen.tally.pass -= 1;
        seen.tally.review += 1;
    });
    assert_eq!(found.kind, ShortfallKind::MinPass);
    assert_eq!(
        found.what,
        "7 of 10 quests are PASS, and at least 80 % were asked for"
    );
}

#[test]
fn a_session_that_cannot_be_read_is_not_complete() {
    let found = of_damage(&finding(FindingKind::Ledger));
    assert!(!found.is_complete());
    let found = of_damage(&finding(FindingKind::Settings));
    assert_eq!(found.shortfalls[0].kind, ShortfallKind::Ledger);
}
