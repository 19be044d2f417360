//! Random commands of several workers, against a model in memory that knows no ledger.
//!
//! Every answer is compared, and after each command all that a session can be asked. Some
//! commands fall into the middle of another worker's lookup, where time passes too, also
//! backwards. `COMAIL_TEST_KILLS` asks for many more sequences, and `COMAIL_TEST_STORE=postgres` for
//! sessions in a database.

mod plain;
mod real;

use proptest::prelude::*;

use crate::harness::scale::pick;
use plain::Plain;
use real::Real;

pub const KEYS: [&str; 3] = ["Acme Foods", "Bolt Toys", "Cargo Ring"];

/// Which quests come after which, in order: those before each.
pub type Order = [&'static [usize]; 3];

const ORDERS: [Order; 5] = [
    [&[], &[], &[]],
    [&[], &[0], &[1]],
    [&[2], &[0], &[]],
    [&[1, 2], &[], &[]],
    [&[], &[0], &[0]],
];

pub const PAUSE_AFTER: u32 = 2;

/// Somebody's worker; none is one who names none.
pub type Who = Option<u8>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The company's own address.
    Right,
    Shared,
    /// An address that its page does not show.
    MadeUp(u8),
    Freemail,
    Silent,
    /// A page that does not answer, and a domain that takes no mail.
    SilentAndWrong,
    Nothing(u8),
}

/// A command, or something that happens.
#[derive(Debug, Clone)]
pub enum Step {
    Next(Who, Option<u32>),
    Submit(Who, usize, Sent, Vec<Step>),
    Release(usize),
    Resume,
    /// So many milliseconds pass; less than none when somebody sets the clock back.
    Pass(i64),
    LoseIndex,
    Fold,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A quest, and for how many seconds from when it is claimed.
    Given(usize, Option<(u8, i64, u32)>),
    AllClaimed,
    /// So many wait for others, and these in vain.
    Waiting(usize, Vec<usize>),
    Waits(usize),
    Complete,
    Paused(u32),
    /// Verdict, state, tries, number and what is left.
    Judged(&'static str, &'static str, u32, u32, u32),
    Locked(&'static str),
    Claimed(u8),
    Overtaken,
    Released(u8),
    Nothing,
    Done,
}

/// Everything that a session can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// State, tries and attempts of each quest.
    pub quests: Vec<(&'static str, u32, u32)>,
    /// Quest, worker, time and lease of each claim.
    pub claims: Vec<(usize, u8, i64, u32)>,
    pub tally: [u32; 4],
    pub streak: u32,
    pub paused: bool,
    pub sharer: Option<usize>,
    pub free: Option<usize>,
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![1 => Just(None), 4 => (0u8..3).prop_map(Some)]
}

fn sent() -> impl Strategy<Value = Sent> {
    prop_oneof![
        2 => Just(Sent::Right),
        2 => Just(Sent::Shared),
        4 => (0u8..3).prop_map(Sent::MadeUp),
        1 => Just(Sent::Freemail),
        1 => Just(Sent::Silent),
        2 => Just(Sent::SilentAndWrong),
        3 => (0u8..3).prop_map(Sent::Nothing),
    ]
}

/// Times around the leases that are asked for, to the millisecond.
fn passing() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => 0i64..2_000,
        2 => prop::sample::select(vec![499, 500, 501, 999, 1_000, 1_001]),
        2 => -2_500i64..0,
        1 => prop::sample::select(vec![449_999, 450_001, 899_999, 900_000, -900_000, -899_999]),
    ]
}

fn simple() -> impl Strategy<Value = Step> {
    let lease = prop::option::of(prop::sample::select(vec![1u32, 2, 900]));
    prop_oneof![
        5 => (who(), lease).prop_map(|(who, lease)| Step::Next(who, lease)),
        5 => (who(), 0..KEYS.len(), sent())
            .prop_map(|(who, quest, sent)| Step::Submit(who, quest, sent, Vec::new())),
        1 => (0..KEYS.len()).prop_map(Step::Release),
        2 => Just(Step::Resume),
        4 => passing().prop_map(Step::Pass),
        1 => Just(Step::LoseIndex),
        1 => Just(Step::Fold),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let during = prop::collection::vec(simple(), 0..4);
    let slow = (who(), 0..KEYS.len(), sent(), during)
        .prop_map(|(who, quest, sent, during)| Step::Submit(who, quest, sent, during));
    prop_oneof![2 => simple(), 1 => slow]
}

/// Runs the steps against both, and compares all that is said and seen.
fn compare(order: Order, steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut plain, real) = (Plain::new(order), Real::new(order));
    let mut remaining = KEYS.len();
    for step in steps {
        let expected = plain.take(step);
        let said = real.take(step);
        prop_assert_eq!(&said, &expected, "{:?}", step);
        let seen = real.seen();
        prop_assert_eq!(&seen, &plain.seen(), "after {:?}", step);
        let left = seen.tally[0] as usize;
        prop_assert!(left <= remaining);
        remaining = left;
    }
    real.close();
    Ok(())
}

#[test]
fn every_kind_of_answer_is_judged_as_the_model_has_it() {
    let every = [
        Sent::Right,
        Sent::Shared,
        Sent::MadeUp(0),
        Sent::Freemail,
        Sent::Silent,
        Sent::SilentAndWrong,
        Sent::Nothing(0),
    ];
    for sent in every {
        let one = |quest| Step::Submit(None, quest, sent, Vec::new());
        let steps = [0, 0, 0, 0, 1, 2].map(one);
        for order in ORDERS {
            compare(order, &steps).unwrap_or_else(|error| panic!("{sent:?}: {error}"));
        }
    }
}

#[test]
fn a_quest_is_handed_out_once_all_before_it_have_passed() {
    let next = Step::Next(None, None);
    let one = |quest, sent| Step::Submit(None, quest, sent, Vec::new());
    let later = [
        next.clone(),
        one(2, Sent::Right),
        next.clone(),
        one(1, Sent::Right),
        next,
    ];
    for first in [Sent::Right, Sent::Freemail, Sent::MadeUp(0)] {
        for order in ORDERS {
            let mut steps = vec![one(0, first)];
            steps.extend(later.clone());
            compare(order, &steps).unwrap_or_else(|error| panic!("{order:?}: {error}"));
        }
    }
}

#[test]
fn a_quest_is_taken_settled_and_freed_in_the_middle_of_a_lookup() {
    let claim = |who| Step::Next(Some(who), Some(1));
    let other = |sent| Step::Submit(Some(1), 0, sent, Vec::new());
    let during: [Vec<Step>; 6] = [
        vec![Step::Pass(1_000), claim(1)],
        vec![Step::Pass(-1_000), claim(1)],
        vec![Step::Pass(1_000), claim(1), Step::Pass(1_000)],
        vec![Step::Pass(1_000), other(Sent::MadeUp(1))],
        vec![Step::Pass(1_000), claim(1), Step::Release(0)],
        vec![Step::Submit(None, 1, Sent::Shared, Vec::new())],
    ];
    for during in during {
        for sent in [Sent::Right, Sent::Shared, Sent::MadeUp(0)] {
            let late = Step::Submit(Some(0), 0, sent, during.clone());
            let steps = [claim(0), late, claim(0), claim(1), Step::LoseIndex];
            let order = ORDERS[0];
            compare(order, &steps).unwrap_or_else(|error| panic!("{steps:?}: {error}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: pick(20, 2_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_answer_is_the_models(
        order in prop::sample::select(ORDERS.to_vec()),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        compare(order, &steps)?;
    }
}
