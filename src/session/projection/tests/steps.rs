//! After any steps in any order, index and projection agree.

use super::*;

/// What is done to a quest, by a worker, after so many seconds.
fn any_step() -> impl Strategy<Value = (u8, usize, u8, i64)> {
    (0u8..18, 0usize..4, 0u8..3, -1_000i64..1_000)
}

/// Which of four quests come after which; circles too, that no list makes.
fn any_order() -> impl Strategy<Value = Vec<Vec<usize>>> {
    let before = prop::collection::btree_set(0usize..4, 0..2);
    prop::collection::vec(before, 4).prop_map(|after| {
        let others = after.into_iter().enumerate().map(|(quest, before)| {
            let others = before.into_iter().filter(|other| *other != quest);
            others.collect()
        });
        others.collect()
    })
}

/// The first quest in TODO that nobody holds and that waits for none.
fn free_of(folded: &Projection, now: Timestamp) -> Option<QuestRecord> {
    let live = |quest: &QuestRecord| quest.claim.as_ref().is_some_and(|it| it.is_live(now));
    let passed = |id: &QuestId| Effective::of(&folded.get(*id).unwrap().unwrap()).holds();
    folded.quests().map(Result::unwrap).find(|quest| {
        let todo = quest.progress.state == State::Todo;
        todo && !live(quest) && quest.after.iter().all(passed)
    })
}

fn do_step(
    session: &mut Session,
    (what, quest, who, _): (u8, usize, u8, i64),
    later: SignedDuration,
) {
    let todo = session.quest_record(id(quest)).unwrap().unwrap().progress;
    let todo = todo.state == State::Todo;
    let event = match what {
        0 => pass(
            session,
            quest % 4,
            if todo { "mailbox a@b.kr" } else { return },
        ),
        1 if todo => attempt(session, quest, Verdict::Review, VerdictBasis::Unanswered),
        2 | 3 if todo => attempt(session, quest, Verdict::Fail, VerdictBasis::World),
        4 => resolution(session, quest),
        5 => match session.claim_on(id(quest)).unwrap() {
            Some(claim) => Event::Released(Released {
                quest: claim.quest,
                worker: claim.worker,
            }),
            None => Event::Resumed(Resumed { streak: 0 }),
        },
        6 if todo => carried(session, quest),
        8..=10 => {
            let decision = [Decision::Accepted, Decision::Rejected, Decision::Reopened];
            let decided = settlement(session, &[quest], decision[usize::from(what - 8)]);
            // One in three is forged.
            Event::Settled(Box::new(if who == 0 {
                decided
            } else {
                sealed(session, decided)
            }))
        }
        11 => Event::Disputed(Box::new(sealed(session, contradiction(quest)))),
        12 => Event::Disputed(Box::new(contradiction(quest))),
        13 if todo => asked(session, quest, who == 0),
        14 => Event::Fixed(Fixed {
            quest: id(quest),
            attempt: u32::from(who),
            fix: Fix::Changed,
        }),
        16 => regressed(session, quest),
        17 if who == 0 => Event::Reopened(Box::new(reopened(session, quest))),
        17 => Event::Reopened(Box::new(sealed(session, reopened(session, quest)))),
        15 if who == 0 => sampled(&[quest]),
        15 => Event::Sampled(Box::new(sealed(session, drawn(&[quest])))),
        _ => claim(quest, &format!("w{who}")),
    };
    // What cannot happen is refused, and leaves both as they were.
    append_after(session, later, event);
}

/// What the rows say, but for the count of changes, which is the file's own.
fn rows(index: &Projection) -> Vec<(String, Vec<Value>)> {
    let mut dumped = dump(index);
    for (table, values) in &mut dumped {
        if table == "checkpoint" {
            values.retain(|value| matches!(value, Value::Text(_)));
        }
    }
    dumped
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_incremental_index_equals_a_rebuilt_one(
        after in any_order(),
        steps in prop::collection::vec(any_step(), 1..24),
        keyed in any::<bool>(),
    ) {
        let made = if keyed { made_under_key(&after) } else { made_in_order(&after) };
        let older = std::fs::read(made.dir.join("index.sqlite")).unwrap();
        let mut session = Session::open(&made.dir).unwrap();
        let mut later = SignedDuration::ZERO;
        for step in steps {
            later += SignedDuration::from_secs(step.3);
            do_step(&mut session, step, later);
        }
        let recorded = rows(&open(&session).unwrap());
        drop(session);
        // One line at a time, all at once, and from nothing.
        std::fs::write(made.dir.join("index.sqlite"), older).unwrap();
        let session = Session::open(&made.dir).unwrap();
        prop_assert_eq!(session.repairs(), []);
        let followed = rows(&open(&session).unwrap());
        let (_, rebuilt) = Projection::rebuild(&made.dir, session.config(), &Unwatched).unwrap();
        prop_assert_eq!(&followed, &recorded);
        prop_assert_eq!(&rows(&rebuilt), &recorded);
        let folded = session.projection().unwrap();
        prop_assert!(rebuilt.fits(&folded).is_ok());
        let quests: Vec<_> = folded.quests().map(Result::unwrap).collect();
        for &effective in Effective::ALL {
            let counted = quests.iter().filter(|quest| Effective::of(quest) == effective);
            prop_assert_eq!(counted.count(), folded.totals().effective.of(effective) as usize);
        }
        for state in State::ALL {
            let counted = quests.iter().filter(|quest| quest.progress.state == state);
            prop_assert_eq!(counted.count(), folded.totals().tally.of(state) as usize);
        }
        let free = first_free(&rebuilt, at() + later);
        prop_assert_eq!(free, free_of(&folded, at() + later));
        prop_assert!(ledger(&made).exists());
    }
}
