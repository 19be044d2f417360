use crate::base::rows;
use std::time::Duration;

use super::*;

fn bill(tokens: u64, cost: u64) -> Bill {
    Bill {
        tokens,
        cost: Cost::from_billionths(cost),
    }
}

fn strict() -> Limits {
    let mut limits = Limits::default();
    limits.quest.cost = Some(Cost::from_billionths(1_000));
    limits.run = Budget {
        starts: Some(5),
        quests: Some(2),
        tokens: Some(1_000),
        time: Some(Duration::from_mins(1)),
        cost: Some(Cost::from_billionths(5_000)),
    };
    limits
}

fn used(starts: u32, quests: u32, bill: Bill, seconds: u64) -> Used {
    Used {
        starts,
        quests,
        bill,
        time: Duration::from_secs(seconds),
    }
}

#[test]
fn a_quest_ends_with_the_reason_of_the_used_up_budget() {
    use Before::{GoingOn, Start};
    let little = bill(10, 10);
    let (usual, strict) = (Limits::default(), strict());
    let mut unpriced = strict;
    unpriced.quest.cost = None;
    let dear = bill(0, u64::MAX);
    let all = bill(u64::MAX, u64::MAX);
    for (limits, used, before, expected) in rows! {
        usual, used(29, 0, little, 1), Start => None;
        usual, used(30, 0, little, 1), Start => Some(Reason::Attempts);
        usual, used(1, 0, bill(99_999, 0), 1), Start => None;
        usual, used(1, 0, bill(2_000_000, 0), 1), Start => Some(Reason::Tokens);
        usual, used(1, 0, little, 599), Start => None;
        usual, used(1, 0, little, 600), Start => Some(Reason::QuestTimeout);
        // Money is bounded only where that is said.
        usual, used(1, 0, dear, 1), Start => None;
        strict, used(1, 0, dear, 1), Start => Some(Reason::Cost);
        // The last start is not stopped for being the last.
        strict, used(30, 0, little, 1), GoingOn => None;
        strict, used(30, 0, little, 1), Start => Some(Reason::Attempts);
        // One reason is given where all are used up.
        strict, used(u32::MAX, 0, all, u64::MAX), Start => Some(Reason::Cost);
        unpriced, used(u32::MAX, 0, all, u64::MAX), Start => Some(Reason::QuestTimeout);
    } {
        assert_eq!(limits.quest_ended(&used, before), expected, "{used:?}");
    }
}

#[test]
fn a_run_has_only_the_bounds_that_were_set() {
    use Before::{GoingOn, Quest, Start};
    let nothing = Bill::default();
    let all = used(u32::MAX, u32::MAX, bill(u64::MAX, u64::MAX), u64::MAX);
    assert_eq!(Limits::default().run_ended(&all, Quest), None);
    for (used, before, expected) in [
        (Used::default(), Quest, None),
        (used(0, 0, bill(1_000, 0), 0), Start, Some(Reason::Tokens)),
        (used(0, 0, bill(0, 5_000), 0), Start, Some(Reason::Cost)),
        (used(0, 0, nothing, 60), Start, Some(Reason::WallClock)),
        // The last start and the last quest continue.
        (used(5, 2, nothing, 0), GoingOn, None),
        (used(5, 2, nothing, 0), Start, Some(Reason::Attempts)),
        (used(0, 2, nothing, 0), Start, None),
        (used(0, 2, nothing, 0), Quest, Some(Reason::Quests)),
        (all, Quest, Some(Reason::WallClock)),
    ] {
        assert_eq!(strict().run_ended(&used, before), expected, "{used:?}");
    }
}

#[test]
fn an_estimated_price_counts_like_a_reported_one() {
    let limits = strict();
    let told = Spent {
        tokens: 1,
        cost: Some(999),
        told: true,
    };
    let mut used = used(1, 0, bill(10, 10), 1);
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
fn rejects_zero_and_nonsense() {
    let refused = |parses: fn(&str) -> bool, texts: &str| {
        for bad in texts.split(',').chain([""]) {
            assert!(!parses(bad), "{bad}");
        }
    };
    refused(|it| parse_count(it).is_ok(), "0,-1,1.5,many,99999999999");
    refused(
        |it| parse_tokens(it).is_ok(),
        "0,0k,k,1kk,-1,99999999999999M",
    );
    refused(|it| parse_percent(it).is_ok(), "%,0%,101%,80%%,300");
    refused(
        |it| parse_time(it).is_ok(),
        "10,0s,-10m,1 fortnight,400d,9000h,1ns",
    );
    refused(
        |it| parse_cost(it).is_ok(),
        "0,0.00,.5,1.,-1,+1,$2,1e3,1.0000000001,nan,99999999999999999999,18446744074",
    );
    assert!(parse_cost("1,50").is_err());
}

#[test]
fn a_share_is_reached_at_its_number() {
    let soft = Diminishing::default();
    let of = |tokens, budget| soft.of(tokens, budget, StallBudget::default());
    assert_eq!(of(90_000, 100_000), Some(Reason::Diminishing));
    assert_eq!(of(89_999, 100_000), None);
    assert_eq!(of(u64::MAX, u64::MAX), Some(Reason::Diminishing));
}

#[test]
fn a_price_covers_a_million_tokens() {
    let cost = |tokens| spent(tokens, None, true).cost;
    assert_eq!(cost(1_000_000), PRICE);
    assert_eq!(cost(100), Cost::from_billionths(1_500_000));
    assert_eq!(cost(u64::MAX), Cost::from_billionths(u64::MAX));
}

#[test]
fn a_decision_takes_precedence_over_a_used_up_budget() {
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
fn ends_after_three_turns_in_a_row_with_few_tokens() {
    assert_eq!(after(&[499, 0, 10]), Some(Reason::Diminishing));
    assert_eq!(after(&[499, 0]), None);
    assert_eq!(after(&[499, 0, 500]), None, "500 is not little");
    assert_eq!(after(&[1, 1, 900, 1, 1]), None, "not in a row");
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
    // After a judgement, the count starts again.
    stall.clear();
    assert_eq!(settings.of(49_999, BUDGET, stall), None);
}
