//! Which index a session goes on with that stays open.

use super::*;

#[test]
fn an_index_is_in_its_place_until_another_is_put_there_or_somebody_dies_at_it() {
    let made = made(2);
    let session = Session::open(&made.dir).unwrap();
    let plan = plan(&session, &made.dir);
    let index = Index::open(&plan).unwrap();
    assert!(index.is_in_place(&made.dir));
    let journal = made.dir.join("index.sqlite-journal");
    std::fs::write(&journal, "half").unwrap();
    assert!(!index.is_in_place(&made.dir));
    std::fs::write(&journal, "").unwrap();
    assert!(index.is_in_place(&made.dir));
    let (anew, _) = Index::rebuild(&plan, &Unwatched).unwrap();
    assert!(anew.is_in_place(&made.dir) && !index.is_in_place(&made.dir));
    std::fs::remove_file(Index::place(&made.dir)).unwrap();
    assert!(!anew.is_in_place(&made.dir));
    let (passing, _) = Index::in_memory(&plan, &Unwatched).unwrap();
    assert!(!passing.is_in_place(&made.dir));
}

#[test]
fn what_is_appended_is_in_the_index_that_others_find() {
    let made = made(3);
    let mut session = Session::open(&made.dir).unwrap();
    assert!(append(&mut session, claim(0, "w1")));
    // Another makes it anew, and goes on with that.
    std::fs::remove_file(Index::place(&made.dir)).unwrap();
    let mut other = Session::open(&made.dir).unwrap();
    assert!(append(&mut other, claim(1, "w2")));
    assert!(append(&mut session, claim(2, "w3")));
    assert_eq!(session.claims().unwrap().len(), 3);
    let index = Index::open(&plan(&session, &made.dir)).unwrap();
    assert_eq!(index.checkpoint().tip(), session.checkpoint().tip());
    assert_eq!(session.mended(), []);
}
