//! Which bound ends what, and which comes first.

use std::time::Duration;

use super::*;

fn bill(tokens: u64, cost: u64) -> Bill {
    Bill {
        tokens,
        cost: Money::billionths(cost),
        ..Bill::default()
    }
}

fn little() -> UsedByQuest {
    UsedByQuest {
        starts: 1,
        bill: bill(10, 10),
        time: Duration::from_secs(1),
    }
}

fn strict() -> Limits {
    let mut limits = Limits::default();
    limits.quest.cost = Some(Money::billionths(1_000));
    limits.run = OfRun {
        starts: Some(Times::new(5)),
        quests: Some(Times::new(2)),
        tokens: Some(Tokens::new(1_000)),
        time: Some(Period::seconds(60)),
        cost: Some(Money::billionths(5_000)),
    };
    limits
}

#[test]
fn a_quest_is_bounded_unless_it_is_said_how() {
    let limits = Limits::default();
    let of = |used: UsedByQuest| limits.of_quest(&used);
    assert_eq!(of(little()), None);
    let starts = |starts| UsedByQuest { starts, ..little() };
    assert_eq!(of(starts(29)), None);
    assert_eq!(of(starts(30)), Some(Reason::Attempts));
    let tokens = |tokens| UsedByQuest {
        bill: bill(tokens, 0),
        ..little()
    };
    assert_eq!(of(tokens(99_999)), None);
    assert_eq!(of(tokens(100_000)), Some(Reason::Tokens));
    let time = |seconds| UsedByQuest {
        time: Duration::from_secs(seconds),
        ..little()
    };
    assert_eq!(of(time(599)), None);
    assert_eq!(of(time(600)), Some(Reason::QuestTimeout));
    let dear = UsedByQuest {
        bill: bill(0, u64::MAX),
        ..little()
    };
    assert_eq!(of(dear), None, "money is bounded only where that is said");
    assert_eq!(strict().of_quest(&dear), Some(Reason::Cost));
}

#[test]
fn the_last_start_is_not_stopped_for_being_the_last() {
    let limits = strict();
    let last = UsedByQuest {
        starts: 30,
        ..little()
    };
    assert_eq!(limits.quest_under_way(&last), None);
    assert_eq!(limits.of_quest(&last), Some(Reason::Attempts));
    let last = Used {
        starts: 5,
        quests: 2,
        ..Used::default()
    };
    assert_eq!(limits.run_under_way(&last), None);
    assert_eq!(limits.of_run(&last), Some(Reason::Attempts));
}

#[test]
fn the_last_quest_is_driven_on() {
    let limits = strict();
    let last = Used {
        quests: 2,
        ..Used::default()
    };
    assert_eq!(limits.of_run(&last), None);
    assert_eq!(limits.another_quest(&last), Some(Reason::Quests));
    assert_eq!(limits.another_quest(&Used::default()), None);
}

#[test]
fn a_run_is_bounded_only_as_is_said() {
    let all = Used {
        starts: u32::MAX,
        quests: u32::MAX,
        bill: bill(u64::MAX, u64::MAX),
        time: Duration::MAX,
    };
    assert_eq!(Limits::default().another_quest(&all), None);
    let over = |change: fn(&mut Used)| {
        let mut used = Used::default();
        change(&mut used);
        strict().of_run(&used)
    };
    assert_eq!(over(|_| ()), None);
    assert_eq!(over(|used| used.bill.tokens = 1_000), Some(Reason::Tokens));
    let cost = |used: &mut Used| used.bill.cost = Money::billionths(5_000);
    assert_eq!(over(cost), Some(Reason::Cost));
    let time = |used: &mut Used| used.time = Duration::from_secs(60);
    assert_eq!(over(time), Some(Reason::WallClock));
}

#[test]
fn where_all_are_used_up_one_reason_is_given() {
    let limits = strict();
    let quest = UsedByQuest {
        starts: u32::MAX,
        bill: bill(u64::MAX, u64::MAX),
        time: Duration::MAX,
    };
    assert_eq!(limits.of_quest(&quest), Some(Reason::Cost));
    let mut unpriced = limits;
    unpriced.quest.cost = None;
    assert_eq!(unpriced.of_quest(&quest), Some(Reason::QuestTimeout));
    let run = Used {
        starts: u32::MAX,
        quests: u32::MAX,
        bill: quest.bill,
        time: Duration::MAX,
    };
    assert_eq!(limits.another_quest(&run), Some(Reason::WallClock));
}

#[test]
fn an_estimated_price_counts_like_one_that_was_told() {
    let limits = strict();
    let told = Spent {
        tokens: 1,
        cost: Some(999),
        told: true,
    };
    let mut used = little();
    used.bill = limits.bill(&told);
    assert_eq!(limits.of_quest(&used), None);
    used.bill = limits.bill(&Spent { cost: None, ..told });
    assert_eq!(limits.of_quest(&used), Some(Reason::Cost));
}
