use std::time::Duration;

use super::*;

fn bill(tokens: u64, cost: u64) -> Bill {
    Bill {
        tokens,
        cost: Cost::from_billionths(cost),
    }
}

fn little() -> Used {
    Used {
        starts: 1,
        bill: bill(10, 10),
        time: Duration::from_secs(1),
        ..Used::default()
    }
}

fn strict() -> Limits {
    let mut limits = Limits::default();
    limits.quest.cost = Some(Cost::from_billionths(1_000));
    limits.run = Budget {
        starts: Some(5),
        quests: Some(2),
        tokens: Some(1_000),
        time: Some(Duration::from_secs(60)),
        cost: Some(Cost::from_billionths(5_000)),
    };
    limits
}

#[test]
fn a_quest_is_bounded_unless_it_is_said_how() {
    let limits = Limits::default();
    let of = |used: Used| limits.quest_ended(&used, Before::Start);
    assert_eq!(of(little()), None);
    let starts = |starts| Used { starts, ..little() };
    assert_eq!(of(starts(29)), None);
    assert_eq!(of(starts(30)), Some(Reason::Attempts));
    let tokens = |tokens| Used {
        bill: bill(tokens, 0),
        ..little()
    };
    assert_eq!(of(tokens(99_999)), None);
    assert_eq!(of(tokens(100_000)), Some(Reason::Tokens));
    let time = |seconds| Used {
        time: Duration::from_secs(seconds),
        ..little()
    };
    assert_eq!(of(time(599)), None);
    assert_eq!(of(time(600)), Some(Reason::QuestTimeout));
    let dear = Used {
        bill: bill(0, u64::MAX),
        ..little()
    };
    assert_eq!(of(dear), None, "money is bounded only where that is said");
    assert_eq!(
        strict().quest_ended(&dear, Before::Start),
        Some(Reason::Cost)
    );
}

#[test]
fn the_last_start_is_not_stopped_for_being_the_last() {
    let limits = strict();
    let last = Used {
        starts: 30,
        ..little()
    };
    assert_eq!(limits.quest_ended(&last, Before::GoingOn), None);
    assert_eq!(
        limits.quest_ended(&last, Before::Start),
        Some(Reason::Attempts)
    );
    let last = Used {
        starts: 5,
        quests: 2,
        ..Used::default()
    };
    assert_eq!(limits.run_ended(&last, Before::GoingOn), None);
    assert_eq!(
        limits.run_ended(&last, Before::Start),
        Some(Reason::Attempts)
    );
}

#[test]
fn the_last_quest_is_driven_on() {
    let limits = strict();
    let last = Used {
        quests: 2,
        ..Used::default()
    };
    assert_eq!(limits.run_ended(&last, Before::Start), None);
    assert_eq!(limits.run_ended(&last, Before::Quest), Some(Reason::Quests));
    assert_eq!(limits.run_ended(&Used::default(), Before::Quest), None);
}

#[test]
fn a_run_is_bounded_only_as_is_said() {
    let all = Used {
        starts: u32::MAX,
        quests: u32::MAX,
        bill: bill(u64::MAX, u64::MAX),
        time: Duration::MAX,
    };
    assert_eq!(Limits::default().run_ended(&all, Before::Quest), None);
    let over = |change: fn(&mut Used)| {
        let mut used = Used::default();
        change(&mut used);
        strict().run_ended(&used, Before::Start)
    };
    assert_eq!(over(|_| ()), None);
    assert_eq!(over(|used| used.bill.tokens = 1_000), Some(Reason::Tokens));
    let cost = |used: &mut Used| used.bill.cost = Cost::from_billionths(5_000);
    assert_eq!(over(cost), Some(Reason::Cost));
    let time = |used: &mut Used| used.time = Duration::from_secs(60);
    assert_eq!(over(time), Some(Reason::WallClock));
}

#[test]
fn where_all_are_used_up_one_reason_is_given() {
    let limits = strict();
    let quest = Used {
        starts: u32::MAX,
        bill: bill(u64::MAX, u64::MAX),
        time: Duration::MAX,
        ..Used::default()
    };
    assert_eq!(
        limits.quest_ended(&quest, Before::Start),
        Some(Reason::Cost)
    );
    let mut unpriced = limits;
    unpriced.quest.cost = None;
    assert_eq!(
        unpriced.quest_ended(&quest, Before::Start),
        Some(Reason::QuestTimeout)
    );
    let run = Used {
        starts: u32::MAX,
        quests: u32::MAX,
        bill: quest.bill,
        time: Duration::MAX,
    };
    assert_eq!(
        limits.run_ended(&run, Before::Quest),
        Some(Reason::WallClock)
    );
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
    assert_eq!(limits.quest_ended(&used, Before::Start), None);
    used.bill = limits.bill(&Spent { cost: None, ..told });
    assert_eq!(limits.quest_ended(&used, Before::Start), Some(Reason::Cost));
}

#[test]
fn reads_amounts_as_people_write_them() {
    assert_eq!(parse_count("30"), Ok(30));
    for (text, tokens) in [("100000", 100_000), ("100k", 100_000), ("2M", 2_000_000)] {
        assert_eq!(parse_tokens(text), Ok(tokens), "{text}");
    }
    assert_eq!(parse_percent("80%"), Ok(80));
    assert_eq!(parse_percent("80"), Ok(80));
    for (text, seconds) in [("90s", 90), ("10m", 600), ("1h30m", 5_400), ("8h", 28_800)] {
        assert_eq!(parse_time(text), Ok(Duration::from_secs(seconds)), "{text}");
    }
    assert_eq!(parse_time("250ms"), Ok(Duration::from_millis(250)));
    for (text, billionths) in [
        ("2.50", 2_500_000_000),
        ("0.10", 100_000_000),
        ("7", 7_000_000_000),
        ("0.000000001", 1),
    ] {
        assert_eq!(
            parse_cost(text),
            Ok(Cost::from_billionths(billionths)),
            "{text}"
        );
    }
}

#[test]
fn refuses_none_and_nonsense() {
    for bad in ["", "0", "-1", "1.5", "many", "99999999999"] {
        assert_eq!(parse_count(bad).ok(), None, "{bad}");
    }
    for bad in ["", "0", "0k", "k", "1kk", "-1", "99999999999999M"] {
        assert_eq!(parse_tokens(bad).ok(), None, "{bad}");
    }
    for bad in ["", "%", "0%", "101%", "80%%", "300"] {
        assert_eq!(parse_percent(bad).ok(), None, "{bad}");
    }
    for bad in [
        "",
        "10",
        "0s",
        "-10m",
        "1 fortnight",
        "400d",
        "9000h",
        "1ns",
    ] {
        assert_eq!(parse_time(bad).ok(), None, "{bad}");
    }
    for bad in [
        "",
        "0",
        "0.00",
        ".5",
        "1.",
        "-1",
        "+1",
        "1,50",
        "$2",
        "1e3",
        "1.0000000001",
        "nan",
        "99999999999999999999",
        "18446744074",
    ] {
        assert_eq!(parse_cost(bad).ok(), None, "{bad}");
    }
}

#[test]
fn a_share_is_reached_at_its_number_and_not_before() {
    let soft = Diminishing::default();
    let of = |tokens, budget| soft.of(tokens, budget, StallBudget::default());
    assert_eq!(of(90_000, 100_000), Some(Reason::Diminishing));
    assert_eq!(of(89_999, 100_000), None);
    assert_eq!(of(u64::MAX, u64::MAX), Some(Reason::Diminishing));
}

#[test]
fn a_price_is_of_a_million() {
    let cost = |tokens| spent(tokens, None, true).cost;
    assert_eq!(cost(1_000_000), PRICE);
    assert_eq!(cost(100), Cost::from_billionths(1_500_000));
    assert_eq!(cost(u64::MAX), Cost::from_billionths(u64::MAX));
}

#[test]
fn what_is_decided_comes_before_what_ran_out() {
    use Reason::{AgentFailed, Diminishing, Interrupted, QuestTimeout, Repeat, Settled, WallClock};
    let order = [
        Settled,
        Interrupted,
        WallClock,
        QuestTimeout,
        Repeat,
        Diminishing,
        AgentFailed,
    ];
    assert!(order.is_sorted());
    assert_eq!(Reason::ALL.into_iter().min(), Some(Settled));
    assert_eq!(Reason::ALL.into_iter().max(), Some(AgentFailed));
}

const PRICE: Cost = Cost::from_billionths(15_000_000_000);

fn spent(tokens: u64, cost: Option<u64>, told: bool) -> Bill {
    let spent = Spent { tokens, cost, told };
    Bill::of(&spent, PRICE)
}

#[test]
fn a_cost_is_what_the_agent_reports_or_an_estimate() {
    for (cost, reported, expected) in [
        (Some(7), true, 7),
        (None, true, 15_000_000),
        // Any program may have printed these: they never lower the estimate.
        (Some(7), false, 15_000_000),
        (Some(16_000_000), false, 16_000_000),
    ] {
        let bill = spent(1_000, cost, reported);
        assert_eq!((bill.tokens, bill.cost.billionths()), (1_000, expected));
    }
}

#[test]
fn bills_add_up() {
    let told = spent(1_000, Some(7), true);
    let sum = told.and(spent(500, None, false)).and(told);
    assert_eq!(
        (sum.tokens, sum.cost.billionths()),
        (2_500, 7 + 7_500_000 + 7)
    );
    assert_eq!(told.and(Bill::default()), told);
}

const BUDGET: u64 = 100_000;

fn after(turns: &[u64]) -> Option<Reason> {
    let settings = Diminishing::default();
    let mut stall = StallBudget::default();
    for tokens in turns {
        stall.turn(*tokens, &settings);
    }
    settings.of(0, BUDGET, stall)
}

#[test]
fn ends_after_three_turns_in_a_row_that_bring_little() {
    assert_eq!(after(&[499, 0, 10]), Some(Reason::Diminishing));
    assert_eq!(after(&[499, 0]), None);
    assert_eq!(after(&[499, 0, 500]), None, "500 is not little");
    assert_eq!(after(&[1, 1, 900, 1, 1]), None, "not in a row");
}

#[test]
fn a_judgement_begins_the_count_anew() {
    let settings = Diminishing::default();
    let mut stall = StallBudget::default();
    for _ in 0..3 {
        stall.turn(1, &settings);
    }
    stall.clear();
    assert_eq!(settings.of(0, BUDGET, stall), None);
}

#[test]
fn the_three_numbers_are_settings() {
    let settings = Diminishing {
        share: 50,
        turns: 1,
        new_tokens: 10,
    };
    let mut stall = StallBudget::default();
    assert!(settings.of(50_000, BUDGET, stall).is_some());
    stall.turn(10, &settings);
    assert_eq!(settings.of(49_999, BUDGET, stall), None);
    stall.turn(9, &settings);
    assert!(settings.of(49_999, BUDGET, stall).is_some());
}
