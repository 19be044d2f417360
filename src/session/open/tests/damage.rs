//! What was edited, cut, torn or flipped.

use std::fs;

use proptest::prelude::*;

use super::{judge, ledger, made, tally};
use crate::quest::Verdict;
use crate::session::{Repair, Session, SessionError};

#[test]
fn a_torn_last_line_heals_at_every_byte() {
    let made = made(2);
    let before = fs::read(ledger(&made)).unwrap();
    let mut session = Session::open(&made.dir).unwrap();
    let head = session.head();
    judge(&mut session, 0, Verdict::Pass).unwrap();
    let after = fs::read(ledger(&made)).unwrap();
    for cut in before.len()..after.len() {
        fs::write(ledger(&made), &after[..cut]).unwrap();
        let mut healed = Session::open(&made.dir).unwrap();
        let mended = healed.mended();
        let torn = mended
            .iter()
            .any(|mended| matches!(mended, Repair::Tail { .. }));
        assert_eq!(torn, cut > before.len(), "{cut}");
        assert_eq!(healed.head(), head);
        assert_eq!(fs::read(ledger(&made)).unwrap(), before);
        assert_eq!(tally(&healed).todo, 2);
        // The ledger is the same whatever was cut off: to go on from some of them shows it.
        if cut % 16 == 0 || cut + 1 == after.len() {
            judge(&mut healed, 1, Verdict::Review).unwrap();
            assert_eq!(tally(&Session::open(&made.dir).unwrap()).review, 1);
        }
    }
}

#[test]
fn a_ledger_that_was_cut_is_found_by_who_has_it_open() {
    let made = made(2);
    let mut session = Session::open(&made.dir).unwrap();
    let before = fs::read(ledger(&made)).unwrap();
    judge(&mut session, 0, Verdict::Pass).unwrap();
    fs::write(ledger(&made), before).unwrap();
    assert!(matches!(
        judge(&mut session, 1, Verdict::Pass),
        Err(SessionError::Damaged { .. })
    ));
}

#[test]
fn nothing_is_appended_beside_somebody_who_writes_without_the_lock() {
    let made = made(1);
    let whole = fs::read(ledger(&made)).unwrap();
    let longer = [&whole[..], b"a line of another"].concat();
    let others: [&dyn Fn(); 2] = [&|| drop(fs::remove_file(made.dir.join("lock"))), &|| {
        fs::write(ledger(&made), &longer).unwrap();
    }];
    for (other, left) in others.into_iter().zip([&whole, &longer]) {
        let mut session = Session::open(&made.dir).unwrap();
        let appended = session.append(&mut (super::at, super::salt), |session| {
            other();
            let grounds = crate::session::VerdictBasis::NoResult;
            let event = super::attempt(session, 0, Verdict::Fail, grounds);
            Ok::<_, ()>(vec![event])
        });
        assert!(matches!(appended, Err(SessionError::Illegal(_))));
        assert_eq!(fs::read(ledger(&made)).unwrap(), *left);
    }
}

#[test]
fn an_edited_index_is_told_of_also_where_nothing_can_be_locked() {
    let made = made(2);
    let index = rusqlite::Connection::open(made.dir.join("index.sqlite")).unwrap();
    let edit = "UPDATE quest SET key = 'another' WHERE id = 2";
    index.execute_batch(edit).unwrap();
    let lock = made.dir.join("lock");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    let mut session = Session::open(&made.dir).unwrap();
    assert_eq!(session.fold().unwrap().count(), 2);
    let mended = session.mended();
    assert!(
        matches!(mended.as_slice(), [Repair::Left { .. }]),
        "{mended:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_bytes_as_a_ledger_are_refused_and_kept(bytes in prop::collection::vec(any::<u8>(), 1..200)) {
        let made = made(1);
        let mut bytes = bytes;
        bytes.push(b'\n');
        fs::write(ledger(&made), &bytes).unwrap();
        prop_assert!(Session::open(&made.dir).is_err());
        prop_assert_eq!(fs::read(ledger(&made)).unwrap(), bytes);
    }
}
