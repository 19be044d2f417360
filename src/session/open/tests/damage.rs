//! What was edited, cut, torn or flipped.

use std::fs;

use proptest::prelude::*;

use super::{judge, ledger, made, tally};
use crate::quest::Verdict;
use crate::session::{Repair, Session, SessionError};

#[test]
fn a_newer_format_is_refused() {
    let made = made(1);
    let path = made.dir.join("session.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"format\": 1", "\"format\": 2")).unwrap();
    let error = Session::open(&made.dir).unwrap_err();
    assert!(
        matches!(error, SessionError::Newer { format: 2, .. }),
        "{error}"
    );
}

#[test]
fn an_edited_setting_is_found() {
    let made = made(1);
    let path = made.dir.join("session.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"max_tries\": 3", "\"max_tries\": 9")).unwrap();
    let error = Session::open(&made.dir).unwrap_err();
    assert!(
        matches!(error, SessionError::ManifestChanged { .. }),
        "{error}"
    );
}

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
fn damage_anywhere_else_is_refused_by_its_line_and_nothing_is_written() {
    let made = made(2);
    let mut session = Session::open(&made.dir).unwrap();
    judge(&mut session, 0, Verdict::Fail).unwrap();
    judge(&mut session, 0, Verdict::Fail).unwrap();
    let good = fs::read_to_string(ledger(&made)).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    let without = |index: usize| {
        let mut lines = lines.clone();
        lines.remove(index);
        lines.join("\n") + "\n"
    };
    let swapped = {
        let mut lines = lines.clone();
        lines.swap(3, 4);
        lines.join("\n") + "\n"
    };
    for (bad, line) in [
        (without(0), 1),
        (without(1), 2),
        (without(3), 4),
        (swapped, 4),
        (
            good.replace("\"verdict\":\"FAIL\"", "\"verdict\":\"PASS\""),
            4,
        ),
        (good.replace("company 1", "company 9"), 3),
        (good.clone() + "\n", 6),
        (good.clone() + "{}\n", 6),
    ] {
        fs::write(ledger(&made), &bad).unwrap();
        match Session::open(&made.dir).and_then(|mut session| session.fold()) {
            Err(SessionError::Damaged { line: found, .. }) => assert_eq!(found, line, "{bad}"),
            other => panic!("{other:?} of {bad}"),
        }
        assert_eq!(fs::read_to_string(ledger(&made)).unwrap(), bad);
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
