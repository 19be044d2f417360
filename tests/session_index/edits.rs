//! Rows that somebody edits, deletes or sets back.

use std::fs;

use super::{Worked, assert_heals, edit, give, truth, worked};
use crate::harness::EmailNet;

/// Commands after each edit: what they say is so, and no line gets into the ledger that cannot
/// have happened, which the fold at the end finds.
#[test]
fn an_edited_row_changes_no_answer() {
    let worked = Worked::new();
    for sql in [
        // All is complete, or a part of it is hidden.
        "UPDATE quest SET state = 'PASS'",
        "UPDATE checkpoint SET body = replace(body, '\"todo\":4', '\"todo\":0')",
        "UPDATE checkpoint SET body = replace(body, '\"pass\":1', '\"pass\":5')",
        "UPDATE checkpoint SET seal = seal + 1",
        "UPDATE quest SET state = 'DONE' WHERE id > 3",
        "DELETE FROM quest WHERE id > 1",
        "DELETE FROM checkpoint",
        "UPDATE checkpoint SET body = '{}'",
        // A settled quest is set back.
        "UPDATE quest SET state = 'TODO' WHERE id = 1",
        "UPDATE quest SET state = 'TODO', body = replace(body, 'PASS', 'TODO') WHERE id = 1",
        "DELETE FROM quest WHERE id = 1",
        "UPDATE quest SET id = 77 WHERE id = 1",
        // Claims are deleted, edited or made up.
        "UPDATE quest SET worker = NULL, held_ms = NULL, lease_s = NULL",
        "UPDATE quest SET worker = 'd' WHERE id = 3",
        "UPDATE quest SET held_ms = 0 WHERE worker IS NOT NULL",
        "UPDATE quest SET lease_s = 1, held_ms = held_ms - 1000 WHERE worker IS NOT NULL",
        "UPDATE quest SET body = json_remove(body, '$.claim')",
        "UPDATE quest SET worker = 'x', held_ms = 9e15, lease_s = 86400 WHERE id = 4",
        "UPDATE quest SET worker = 'x' || id, lease_s = 86400, \
         held_ms = CAST(strftime('%s') AS INTEGER) * 1000 WHERE id > 3",
    ] {
        let world = worked.edited(sql);
        assert_eq!(truth(world), worked.truth, "{sql}");
        edit(world, sql);
        for id in ["--id=1", "--id=2", "--id=3"] {
            let run = world.place.run(["submit", id, "--worker=d", "--none=x"]);
            assert_eq!(run.code, 7, "{sql}: {id}: {run:?}");
        }
        edit(world, sql);
        assert_eq!(give(world, "d"), Some(4), "{sql}");
        assert_eq!(give(world, "e"), Some(5), "{sql}");
        let nothing_free = world.place.run(["next", "--worker=f"]);
        assert_eq!(nothing_free.code, 4, "{sql}");
        assert_heals(world, sql);
        let world = worked.edited(sql);
        let run = world
            .place
            .run(["submit", "--id=4", "--worker=d", "--none=x"]);
        assert_eq!(run.code, 5, "{sql}: {run:?}");
        assert_heals(world, sql);
        world.place.run(["export", "--force"]).ok();
    }
}

/// The row is sealed: it is one that the program once wrote.
#[test]
fn a_row_that_is_set_back_to_an_older_one_gets_no_line_into_the_ledger() {
    let world = worked();
    let older = world.place.at("older.sqlite");
    let set_back = format!(
        "ATTACH '{}' AS older; DELETE FROM quest WHERE id IN (1, 2); \
         INSERT INTO quest SELECT * FROM older.quest WHERE id IN (1, 2);",
        older.display()
    );
    let right = world.acme();
    for args in [
        vec![
            "submit".to_owned(),
            "--id=1".to_owned(),
            "--none=x".to_owned(),
        ],
        right.args(1),
        vec![
            "submit".to_owned(),
            "--id=2".to_owned(),
            "--worker=b".to_owned(),
            "--none=y".to_owned(),
        ],
    ] {
        edit(&world, &set_back);
        let before = world.place.ledger();
        let run = world.place.run(&args);
        assert!(matches!(run.code, 1 | 5 | 7), "{run:?}");
        let after = world.place.ledger();
        assert_eq!(after == before, run.code != 5, "{run:?}");
        // Found once, it is not found again.
        let again = world.place.run(&args);
        assert!(matches!(again.code, 5..=7), "{again:?}");
        assert_eq!(again.stderr, "");
        assert_heals(&world, &set_back);
    }
    world.place.run(["export", "--force"]).ok();
}

#[test]
fn a_repeat_is_known_whatever_the_index_says_of_earlier_answers() {
    let again = |world: &EmailNet| {
        let (code, answer) = world.submit(5, &world.acme().email("ceo@acme.co.kr"));
        (code, answer["facts"][0]["rule"].clone())
    };
    let worked = Worked::new();
    for sql in [
        "UPDATE quest SET body = json_remove(body, '$.submissions')",
        "UPDATE quest SET body = json_set(body, '$.submissions[0][1]', 'unanswered') WHERE id = 5",
        "UPDATE quest SET body = json_set(body, '$.attempts', 7) WHERE id = 5",
    ] {
        let world = worked.edited("");
        assert_eq!(again(world).0, 5);
        edit(world, sql);
        assert_eq!(again(world), (5, "repeated-submission".into()), "{sql}");
        assert_heals(world, sql);
    }
}

#[test]
fn a_key_that_is_edited_adds_no_company_twice() {
    let worked = Worked::new();
    for sql in [
        "UPDATE quest SET key = 'Nobody' WHERE id = 2",
        "DELETE FROM quest WHERE id = 2",
    ] {
        let world = worked.edited(sql);
        let update = world.place.json(["scan", "companies.txt", "--update"]);
        assert_eq!(update.0, 0, "{sql}: {}", update.1);
        let (_, status) = world.place.json(["status"]);
        assert_eq!(status["total"], 5, "{sql}");
        assert_heals(world, sql);
    }
}

#[test]
fn an_address_whose_mark_was_deleted_is_still_taken() {
    let worked = Worked::new();
    for sql in [
        "DELETE FROM mark",
        "UPDATE mark SET mark = 'mailbox x@y.kr' WHERE mark LIKE 'mailbox%'",
    ] {
        let world = worked.edited(sql);
        let (_, answer) = world.submit(5, &world.acme());
        assert_eq!(answer["verdict"], "REVIEW", "{sql}: {answer}");
        assert_heals(world, sql);
    }
}

#[test]
fn an_address_that_is_no_longer_known_as_taken_is_found_by_export() {
    let world = worked();
    for sql in [
        "DELETE FROM mark WHERE mark LIKE 'mailbox%'",
        "UPDATE mark SET mark = 'mailbox x@y.kr' WHERE mark LIKE 'mailbox%'",
        "INSERT INTO mark VALUES ('mailbox info@bolt.kr', '2', 0)",
    ] {
        edit(&world, sql);
        let run = world.place.run(["export", "--force"]);
        assert!(
            run.stderr.contains("another program wrote to it"),
            "{sql}: {run:?}"
        );
        run.ok();
        assert_heals(&world, sql);
    }
    // One that names another quest is found when it is asked for.
    edit(&world, "UPDATE mark SET body = '5'");
    let (_, answer) = world.submit(5, &world.acme());
    assert_eq!(answer["verdict"], "REVIEW", "{answer}");
    assert_heals(&world, "a mark of another quest");
    fs::remove_file(world.place.at("companies.comail.csv")).expect("an export");
}
