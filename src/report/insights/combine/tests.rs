//! What several sessions add up to.

use jiff::Timestamp;

use super::*;
use crate::session::Spent;

fn tally(name: &str, last: &str, who: &Who, counts: Counts) -> SessionTally {
    let mut tally = SessionTally::new(name.to_owned(), "email".to_owned());
    tally.last = Some(last.parse::<Timestamp>().unwrap());
    tally.counts.insert(who.clone(), counts);
    tally
}

/// One quest, submitted for so often; passed at the first try or at the last.
fn tries(submissions: u32) -> Counts {
    Counts {
        quests: 1,
        submissions,
        failed: submissions - 1,
        passed: 1,
        first: 1,
        first_passed: u32::from(submissions == 1),
        rules: [("mx-null".to_owned(), submissions - 1)].into(),
        ..Counts::default()
    }
}

fn close(one: Option<f64>, two: f64) -> bool {
    one.is_some_and(|one| (one - two).abs() < 1e-9)
}

#[test]
fn a_session_a_half_life_ago_counts_half() {
    let nobody = Who::default();
    let tallies = vec![
        tally("old", "2026-01-01T00:00:00Z", &nobody, tries(4)),
        tally("new", "2026-01-31T00:00:00Z", &nobody, tries(1)),
    ];
    let insights = combine(tallies, HalfLife::default());
    let names: Vec<_> = insights.sessions.iter().map(|it| &it.session).collect();
    assert_eq!(names, ["new", "old"]);
    assert!(close(Some(insights.sessions[1].weight), 0.5));
    // (1 + 4 / 2) submissions for (1 + 1 / 2) quests.
    assert!(close(insights.all.tries_per_quest, 2.0));
    assert!(close(insights.all.first_try.share, 0.667));
    assert_eq!(
        (insights.all.first_try.part, insights.all.first_try.of),
        (1, 2)
    );
    assert_eq!(insights.all.submissions, 5);
    assert_eq!(insights.rules[0].tries, 3);
    assert!(close(Some(insights.rules[0].weighted), 1.5));
}

#[test]
fn tokens_and_time_are_those_of_driven_agents_alone() {
    let agent = Who {
        agent: Some("claude".to_owned()),
        model: None,
    };
    let driven = Counts {
        starts: 2,
        milliseconds: 3_000,
        spent: Some(Spent {
            tokens: 600,
            cost: None,
            told: false,
        }),
        ..tries(1)
    };
    let mut session = tally("one", "2026-01-01T00:00:00Z", &agent, driven);
    session.counts.insert(Who::default(), tries(2));
    let insights = combine(vec![session], HalfLife::default());
    assert_eq!(insights.all.passed, 2);
    assert!(
        close(insights.all.tokens_per_pass, 600.0),
        "by hand costs none"
    );
    assert!(close(insights.all.seconds_per_pass, 3.0));
    assert!(insights.all.tokens_estimated);
    let [by_hand, claude] = &insights.agents[..] else {
        panic!("{insights:?}");
    };
    assert_eq!(by_hand.work.tokens_per_pass, None);
    assert_eq!(claude.who, agent);
    assert_eq!(claude.work.first_try.part, 1);
}

#[test]
fn of_nothing_there_are_no_averages() {
    let empty = SessionTally::new("empty".to_owned(), "email".to_owned());
    let insights = combine(vec![empty], HalfLife::default());
    assert_eq!(insights.all, Work::default());
    assert!(insights.rules.is_empty() && insights.facts.is_empty());
}
