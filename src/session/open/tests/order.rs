//! Quests that come after others.

use super::{at, attempt, judge, made_in_order, salt, standing, tally};
use crate::quest::{Quest, QuestId, Verdict};
use crate::session::{Appended, Claimed, Event, Lease, Session, SessionError, VerdictBasis};

fn free(session: &Session) -> Option<usize> {
    let free = session.first_free(at()).unwrap();
    free.map(|standing| standing.id.index())
}

fn waiting(session: &Session) -> (Vec<usize>, Vec<usize>) {
    let waiting = session.waiting().unwrap();
    assert_eq!(session.projection().unwrap().waiting().unwrap(), waiting);
    let blocked = waiting.blocked.iter().map(|found| found.quest.index());
    let quests = waiting.quests.iter().map(|quest| quest.index());
    (quests.collect(), blocked.collect())
}

fn refused(session: &mut Session, event: Event) {
    let tip = session.head();
    let appended = session.append(&mut (at, salt), |_| Ok::<_, ()>(vec![event]));
    assert!(
        matches!(appended, Err(SessionError::Illegal(_))),
        "{appended:?}"
    );
    assert_eq!(session.head(), tip);
}

#[test]
fn what_is_before_it_has_to_pass() {
    let made = made_in_order(&[vec![2], vec![0], vec![]]);
    let mut session = Session::open(&made.dir).unwrap();
    assert_eq!(free(&session), Some(2));
    assert_eq!(waiting(&session), (vec![0, 1], vec![]));
    let awaited = session.awaited(&standing(&session, 0)).unwrap();
    assert_eq!(awaited, Some(standing(&session, 2)));
    judge(&mut session, 2, Verdict::Pass).unwrap();
    assert_eq!(free(&session), Some(0));
    assert_eq!(waiting(&session), (vec![1], vec![]));
    judge(&mut session, 0, Verdict::Pass).unwrap();
    judge(&mut session, 1, Verdict::Fail).unwrap();
    assert_eq!(waiting(&session), (vec![], vec![]));
    assert_eq!(tally(&session).pass, 2);
}

#[test]
fn a_quest_that_ended_otherwise_blocks_all_that_follow() {
    let made = made_in_order(&[vec![], vec![0], vec![1], vec![]]);
    let mut session = Session::open(&made.dir).unwrap();
    judge(&mut session, 0, Verdict::Review).unwrap();
    assert_eq!(free(&session), Some(3));
    assert_eq!(waiting(&session), (vec![1, 2], vec![1, 2]));
    judge(&mut session, 3, Verdict::Pass).unwrap();
    assert_eq!(free(&session), None);
}

#[test]
fn nothing_is_recorded_of_a_quest_before_its_turn() {
    let made = made_in_order(&[vec![], vec![0]]);
    let mut session = Session::open(&made.dir).unwrap();
    let early = attempt(&session, 1, Verdict::Pass, VerdictBasis::World);
    let claim = Event::Claim(Claimed {
        quest: QuestId::from_index(1).unwrap(),
        worker: "w1".parse().unwrap(),
        lease: Lease::DEFAULT,
    });
    refused(&mut session, early.clone());
    refused(&mut session, claim);
    judge(&mut session, 0, Verdict::Pass).unwrap();
    let appended = session.append(&mut (at, salt), |_| Ok::<_, ()>(vec![early]));
    assert!(matches!(appended, Ok(Appended::Done)));
}

#[test]
fn an_order_that_no_list_makes_is_refused() {
    let made = made_in_order(&[vec![]]);
    let mut session = Session::open(&made.dir).unwrap();
    for after in [&[2][..], &[1, 1], &[4, 3]] {
        let after = after
            .iter()
            .map(|number| QuestId::from_index(number - 1).unwrap());
        let quest = session
            .reader()
            .unwrap()
            .quest(&standing(&session, 0))
            .unwrap();
        let event = Event::Quest(Quest {
            id: QuestId::from_index(1).unwrap(),
            after: after.collect(),
            ..quest
        });
        refused(&mut session, event);
    }
}

#[test]
fn an_order_survives_the_index() {
    let made = made_in_order(&[vec![1, 2], vec![], vec![1]]);
    std::fs::remove_file(made.dir.join("index.sqlite")).unwrap();
    let mut session = Session::open(&made.dir).unwrap();
    assert_eq!(
        *standing(&session, 0).after,
        [1, 2].map(|n| QuestId::from_index(n).unwrap())
    );
    session.fold().unwrap();
    assert_eq!(session.mended(), []);
    let appended = session.append(&mut (at, salt), |session| {
        Ok::<_, ()>(vec![attempt(
            session,
            1,
            Verdict::Pass,
            VerdictBasis::World,
        )])
    });
    assert!(matches!(appended, Ok(Appended::Done)));
    assert_eq!(free(&session), Some(2));
}
