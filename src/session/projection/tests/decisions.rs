//! What a person decides, folded.

use super::*;

fn with_review(made: &Made) -> Session {
    let mut session = Session::open(&made.dir).unwrap();
    let review = attempt(&session, 0, Verdict::Review, VerdictBasis::World);
    assert!(append(&mut session, review));
    let passed = pass(&session, 1, "mailbox a@b.kr");
    assert!(append(&mut session, passed));
    session
}

fn order() -> Vec<Vec<usize>> {
    vec![vec![], vec![], vec![0], vec![]]
}

fn effective(session: &Session, quest: usize) -> Effective {
    Effective::of(&session.standing(id(quest)).unwrap().unwrap())
}

fn counts(session: &Session) -> [u32; 8] {
    let totals = session.totals();
    assert_eq!(session.projection().unwrap().totals(), &totals);
    Effective::ALL.map(|effective| totals.effective.of(effective))
}

#[test]
fn the_last_decision_counts_and_the_state_stays() {
    let made = made_in_order(&order());
    let mut session = with_review(&made);
    assert_eq!(counts(&session), [1, 0, 0, 1, 0, 0, 0, 2]);
    let tally = session.totals().tally;
    for (decision, expected) in [
        (Decision::Accepted, Effective::Accepted),
        (Decision::Rejected, Effective::Rejected),
        (Decision::Reopened, Effective::Open),
        (Decision::Accepted, Effective::Accepted),
    ] {
        let event = settled(&session, 0, decision);
        assert!(append(&mut session, event), "{decision:?}");
        assert_eq!(effective(&session, 0), expected);
        assert_eq!(session.totals().tally, tally);
        let standing = session.standing(id(0)).unwrap().unwrap();
        let told = session
            .reader()
            .unwrap()
            .settlement(&standing)
            .unwrap()
            .unwrap();
        assert_eq!(told.value.decision, decision);
    }
    assert_eq!(counts(&session), [1, 1, 0, 0, 0, 0, 0, 2]);
    session.fold().unwrap();
    assert_eq!(session.mended(), []);
}

#[test]
fn an_accepted_review_frees_what_comes_after_and_a_rejected_one_does_not() {
    let made = made_in_order(&order());
    let mut session = with_review(&made);
    let rejected = settled(&session, 0, Decision::Rejected);
    assert!(append(&mut session, rejected));
    assert!(session.waiting().unwrap().blocks(id(2)));
    assert!(!append(&mut session, claim(2, "w1")), "before its turn");
    let accepted = settled(&session, 0, Decision::Accepted);
    assert!(append(&mut session, accepted));
    assert_eq!(
        session.waiting().unwrap(),
        crate::session::Waiting::default()
    );
    let free = session.first_free(at()).unwrap().unwrap();
    assert_eq!(free.id, id(2));
    assert!(append(&mut session, claim(2, "w1")));
}

#[test]
fn what_cannot_be_decided_is_refused() {
    let made = made_in_order(&order());
    let mut session = with_review(&made);
    let before = session.head();
    for (quest, decision) in [
        (1, Decision::Accepted),
        (2, Decision::Rejected),
        (0, Decision::Reopened),
    ] {
        let event = settled(&session, quest, decision);
        assert!(!append(&mut session, event), "{quest} {decision:?}");
    }
    let another = Settlement {
        quests: vec![SettledQuest {
            quest: id(0),
            attempt: 2,
        }],
        ..settlement(&session, &[0], Decision::Accepted)
    };
    assert!(!append(&mut session, Event::Settled(Box::new(another))));
    for quests in [&[][..], &[0, 0]] {
        let odd = settlement(&session, quests, Decision::Accepted);
        assert!(!append(&mut session, Event::Settled(Box::new(odd))));
    }
    // All or none.
    let both = settlement(&session, &[0, 1], Decision::Accepted);
    assert!(!append(&mut session, Event::Settled(Box::new(both))));
    for open in [0, 2] {
        let event = Event::Disputed(Box::new(contradiction(open)));
        assert!(!append(&mut session, event));
    }
    assert_eq!(session.head(), before);
    assert_eq!(effective(&session, 0), Effective::Open);
    assert_eq!(counts(&session), [1, 0, 0, 1, 0, 0, 0, 2]);
}

#[test]
fn a_disputed_quest_keeps_its_state_and_is_counted_once() {
    let made = made_in_order(&order());
    let mut session = with_review(&made);
    for _ in 0..2 {
        let event = Event::Disputed(Box::new(contradiction(1)));
        assert!(append(&mut session, event));
    }
    assert_eq!(session.totals().counts.disputed, 1);
    assert_eq!(effective(&session, 1), Effective::Pass);
    let standing = session.standing(id(1)).unwrap().unwrap();
    let told = session
        .reader()
        .unwrap()
        .dispute(&standing)
        .unwrap()
        .unwrap();
    assert_eq!(told.value.note, "bounced");
}

#[test]
fn under_a_key_only_what_it_sealed_here_counts() {
    let made = made_under_key(&order());
    let mut session = with_review(&made);
    let early = sealed(&session, settlement(&session, &[0], Decision::Accepted));
    for (forged, _) in [
        (settlement(&session, &[0], Decision::Accepted), "unsealed"),
        (
            Settlement {
                note: "another".into(),
                ..early.clone()
            },
            "changed",
        ),
        (early.clone(), "for an earlier line"),
    ] {
        assert!(append(&mut session, Event::Settled(Box::new(forged))));
        assert_eq!(effective(&session, 0), Effective::Open);
    }
    let dispute = Event::Disputed(Box::new(contradiction(1)));
    assert!(append(&mut session, dispute));
    let totals = session.totals();
    assert_eq!((totals.counts.unsealed, totals.counts.disputed), (4, 0));
    assert_eq!(counts(&session), [1, 0, 0, 1, 0, 0, 0, 2]);
    let here = sealed(&session, settlement(&session, &[0], Decision::Accepted));
    assert!(append(&mut session, Event::Settled(Box::new(here))));
    assert_eq!(effective(&session, 0), Effective::Accepted);
    assert_eq!(session.totals().counts.unsealed, 4);
    session.fold().unwrap();
    assert_eq!(session.mended(), []);
}
