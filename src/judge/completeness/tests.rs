//! Each condition with its negative control.

use super::*;
use crate::base::Digest;
use crate::base::rows;
use crate::gate::RuleId;
use crate::judge::audit::{Place, SeenFile, Silent};

fn id(number: usize) -> QuestId {
    QuestId::from_index(number - 1).unwrap()
}

/// A complete session of ten quests.
fn good() -> Survey {
    Survey {
        tally: Tally {
            pass: 8,
            review: 1,
            done: 1,
            ..Tally::default()
        },
        tree: Some(Ok(vec![change("in/a", true)])),
        last: said(FinalWord::Passed, &[]),
        min_pass: Some("80%".parse().unwrap()),
        ..Survey::default()
    }
}

fn said(word: FinalWord, details: &[&str]) -> FinalResult {
    FinalResult {
        word,
        details: details.iter().map(|text| (*text).to_owned()).collect(),
        suspects: Vec::new(),
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

/// What judging again came to: findings of these kinds, and so many REVIEWs without an answer.
fn lost(drift: &[FindingKind], unanswered: usize) -> Live {
    let fact = Fact {
        rule: RuleId::known("runs"),
        ..Fact::wrong("0", "1")
    };
    let drift = drift.iter().map(|kind| Finding {
        facts: vec![fact.clone()],
        ..finding(*kind)
    });
    let silent = Silent {
        place: finding(FindingKind::Drift).place,
        facts: vec![fact.clone()],
    };
    Live {
        drift: drift.collect(),
        unanswered: vec![silent; unanswered],
        ..Live::default()
    }
}

#[test]
fn reports_whether_judging_again_is_done() {
    use AgainStatus::{Done, LeftOut, Unfinished};
    let proven = Proven {
        line: 9,
        quest: id(4),
        by_others: false,
        on_machine: true,
    };
    let left = Live {
        left: 1,
        ..Live::default()
    };
    let failed = Live {
        failed: vec![(id(4), String::new())],
        ..Live::default()
    };
    for (passes, again, is_wanted, expected) in [
        (0, None, true, Done),
        (0, None, false, Done),
        (1, None, false, LeftOut),
        // Such as where the tree cannot be read.
        (1, None, true, Unfinished),
        (1, Some(Live::default()), true, Done),
        (1, Some(left), true, Unfinished),
        (1, Some(failed), true, Unfinished),
    ] {
        let seen = Survey {
            on_machine: vec![proven; passes],
            again,
            ..good()
        };
        let found = JudgedAgain::of(&seen, is_wanted);
        assert_eq!((found.status, found.passes), (expected, passes), "{seen:?}");
    }
}

#[test]
fn unproven_quests_are_a_shortfall_unless_accepted() {
    let seen = Survey {
        not_proven: vec![id(9), id(10)],
        ..good()
    };
    let [shortfall] = &decide(&seen)[..] else {
        panic!("one shortfall");
    };
    assert_eq!(shortfall.kind, ShortfallKind::NotProven);
    assert_eq!(shortfall.quests, [id(9), id(10)]);
    assert_eq!(shortfall.what, "settled, not proven: 1 REVIEW open, 1 DONE");
    let accepted = Survey {
        accept_unproven: true,
        ..seen.clone()
    };
    assert!(decide(&accepted).is_empty());
    // Before everything is settled, only the rest of the work counts.
    let todo = Survey {
        todo: vec![id(1)],
        ..seen
    };
    let kinds: Vec<_> = decide(&todo).into_iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [ShortfallKind::Todo]);
}

#[test]
fn a_session_without_a_shortfall_is_complete() {
    assert!(decide(&good()).is_empty());
    let nothing_asked = Survey {
        tree: None,
        last: FinalResult::default(),
        min_pass: None,
        tally: Tally {
            done: 9,
            ..Tally::default()
        },
        ..good()
    };
    assert!(decide(&nothing_asked).is_empty());
    // What was not there, or is as it was, is no change.
    for (then, now) in [(Some("old"), Some("old")), (None, Some("new"))] {
        let files = vec![file(5, 1, then, now)];
        assert!(decide(&Survey { files, ..good() }).is_empty(), "{then:?}");
    }
    // Of PASSes that saw the same file, the last one counts.
    let files = shared(Some("new"));
    assert!(decide(&Survey { files, ..good() }).is_empty());
}

fn shared(now: Option<&str>) -> Vec<FileThenAndNow> {
    vec![file(9, 2, Some("new"), now), file(5, 1, Some("old"), now)]
}

#[test]
fn each_condition_is_a_shortfall_with_its_quests() {
    type Spoil = fn(&mut Survey);
    // Each row: the kind, the quests, the details and the sentence, or its beginning.
    let cases: [(Spoil, &str); 16] = rows! {
        |it| it.todo = vec![id(2), id(5)] => "todo 2 5: 2 quests are TODO";
        |it| (it.todo, it.blocked) = (vec![id(2)], 1)
            => "todo 2: 1 quest is TODO; 1 of them can never…";
        |it| it.orphaned = vec![id(3)] => "orphaned-claims 3: 1 quest…";
        |it| it.tree = Some(Ok(vec![change("in/a", true), change("own/b", false)]))
            => "tree-changed (own/b: added): the working tree…";
        |it| it.tree = Some(Err("gone".to_owned()))
            => "tree-unread: cannot read the working tree: gone";
        |it| it.files = vec![file(5, 1, Some("old"), Some("new"))]
            => "pass-changed 1 (quest 1: in/a: changed): files…";
        |it| it.files = vec![file(5, 1, Some("old"), None)]
            => "pass-changed 1 (quest 1: in/a: gone): files…";
        |it| it.files = shared(Some("old")) => "pass-changed 2 (quest 2: in/a: changed): files…";
        |it| it.again = Some(lost(&[FindingKind::Drift], 0))
            => "no-longer-holds 4 (quest 4: runs: expected 0, found 1): 1 PASS no longer holds";
        |it| it.again = Some(lost(&[], 1))
            => "no-longer-holds 4 (quest 4: runs: expected 0, found 1): 1 PASS no longer holds";
        |it| it.again = Some(Live {
            failed: vec![(id(4), "quest 4: no launcher".to_owned())],
            ..Live::default()
        }) => "unchecked 4 (quest 4: no launcher): 1 quest is PASS but could not be judged again";
        |it| it.unchecked = vec![id(1)] => "unchecked 1: 1 quest is PASS…";
        |it| it.stopped = true => "unchecked: the check was stopped…";
        |it| it.last = said(FinalWord::Refused, &["no build"])
            => "final-gate (no build): the checks over the whole result…";
        |it| it.last = FinalResult::unjudged("no make")
            => "final-gate: the whole result was not judged: no make";
        |it| (it.tally.pass, it.tally.review) = (7, 2)
            => "min-pass: 7 of 10 quests are PASS, and at least 80 % are required";
    };
    for (spoil, expected) in cases {
        let mut seen = good();
        spoil(&mut seen);
        let found = decide(&seen);
        let [found] = found.as_slice() else {
            panic!("{expected}: {found:?}");
        };
        let quests = found.quests.iter().map(|id| format!(" {id}"));
        let details = found.details.iter().map(|text| format!(" ({text})"));
        let named: String = quests.chain(details).collect();
        let said = format!("{}{named}: {}", found.kind, found.what);
        match expected.strip_suffix('…') {
            Some(start) => assert!(said.starts_with(start), "{expected}: {said}"),
            None => assert_eq!(said, expected),
        }
    }
}

#[test]
fn maps_each_finding_to_a_shortfall() {
    for (kind, expected) in [
        (FindingKind::Ledger, Some(ShortfallKind::Ledger)),
        (FindingKind::Source, Some(ShortfallKind::Ledger)),
        (FindingKind::Evidence, Some(ShortfallKind::NotReplayed)),
        (FindingKind::Replay, Some(ShortfallKind::NotReplayed)),
        (FindingKind::OtherLists, Some(ShortfallKind::NotReplayed)),
        (FindingKind::Field, Some(ShortfallKind::Record)),
        (FindingKind::Seal, Some(ShortfallKind::Record)),
        (FindingKind::Index, None),
    ] {
        let findings = vec![finding(kind)];
        let found = decide(&Survey { findings, ..good() });
        let kinds: Vec<ShortfallKind> = found.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, Vec::from_iter(expected), "{kind:?}");
        for shortfall in found {
            assert_eq!(shortfall.quests, [id(4)]);
            assert_eq!(shortfall.details, ["line 9, quest 4: why"]);
        }
    }
    for kind in [FindingKind::Ledger, FindingKind::Settings] {
        let kinds = of_damage(&finding(kind));
        let kinds: Vec<ShortfallKind> = kinds.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [ShortfallKind::Ledger]);
    }
}

#[test]
fn parses_shares_within_bounds() {
    for (text, shown) in [
        ("80%", "80 %"),
        ("80", "80 %"),
        ("99.5%", "99.5 %"),
        ("0.05%", "0.05 %"),
        ("100.00%", "100 %"),
        ("0", "0 %"),
    ] {
        assert_eq!(text.parse::<MinPass>().unwrap().to_string(), shown);
    }
    for bad in [
        "", "%", "-1", "100.01", "101%", "8e1", "1.234", ".5", "5.", "80 %", "+5", "0.8", "0.05",
    ] {
        assert!(bad.parse::<MinPass>().is_err(), "{bad}");
    }
}

#[test]
fn compares_a_share_exactly() {
    let least: MinPass = "80%".parse().unwrap();
    let tally = |pass, review| Tally {
        pass,
        review,
        ..Tally::default()
    };
    assert!(least.holds(&tally(8, 2)));
    assert!(!least.holds(&tally(7, 3)));
    assert!(!least.holds(&tally(799_999_999, 200_000_001)));
    assert!(least.holds(&tally(0, 0)), "of nothing");
    let all: MinPass = "100".parse().unwrap();
    assert!(all.holds(&tally(1, 0)) && !all.holds(&tally(99_999, 1)));
}
