//! Indexes that are lost, cut, stale, foreign, in the way or edited by hand.
//!
//! The ledger is the truth. Whatever lies in the place of the index, commands say what the
//! ledger says, nothing that cannot have happened gets into the ledger, and `export` leaves an
//! index behind that fits.

use std::fs;
use std::path::Path;

use comail::session::Session;
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::harness::EmailNet;
use crate::harness::case::copy;
use crate::harness::email_net::ACME;

const NAMES: [&str; 5] = [
    ACME,
    "Bolt Toys",
    "Cargo Ring",
    "Delta Works",
    "Ember Glass",
];

/// A session with a PASS, a FAIL and two claims, and an older copy of its index.
///
/// Quest 1 is passed, 2 failed once and is held by `b`, 3 is held by `c`, 4 and 5 are free.
struct Worked {
    world: EmailNet,
    /// The session's files as they were left.
    kept: TempDir,
    /// What commands say of them.
    truth: Truth,
}

type Truth = (Value, Vec<(Value, Value)>);

impl Worked {
    fn new() -> Self {
        let world = worked();
        let kept = tempfile::tempdir().expect("a temporary directory");
        copy(&world.place.at(".comail"), kept.path());
        let truth = truth(&world);
        Self { world, kept, truth }
    }

    /// Puts the session back as it was, with this done to its index.
    fn edited(&self, sql: &str) -> &EmailNet {
        let session = self.world.place.at(".comail");
        fs::remove_dir_all(&session).expect("a session");
        copy(self.kept.path(), &session);
        edit(&self.world, sql);
        &self.world
    }

    /// Does something to the index, and looks at what commands say of it.
    #[track_caller]
    fn faulty(&self, what: &str, spoil: impl Fn(&Path)) {
        let Self { world, truth, .. } = self;
        let index = world.place.at(".comail/index.sqlite");
        let before = world.place.ledger();
        let spoil = |index: &Path| {
            clear(index);
            fs::copy(world.place.at("index.copy"), index).expect("an index");
            spoil(index);
        };
        spoil(&index);
        assert_eq!(self::truth(world), *truth, "{what}");
        spoil(&index);
        assert_eq!(give(world, "c"), Some(3), "{what}");
        spoil(&index);
        // Each quest is where it was: settled, held by another, free.
        assert_eq!(world.place.give_up(1), 7, "{what}");
        spoil(&index);
        assert_eq!(world.place.give_up(3), 7, "{what}");
        assert_eq!(world.place.ledger(), before, "{what}");
        spoil(&index);
        world.place.run(["export", "--force"]).ok();
        assert_eq!(world.place.ledger(), before, "{what}");
    }
}

fn worked() -> EmailNet {
    let world = EmailNet::with(&NAMES, &[]);
    assert_eq!(give(&world, "a"), Some(1));
    keep(&world, "older.sqlite");
    let mut right = world.acme().args(1);
    right.push("--worker=a".to_owned());
    assert_eq!(world.place.json(right).1["verdict"], "PASS");
    assert_eq!(give(&world, "b"), Some(2));
    let tried = ["submit", "--id=2", "--worker=b", "--none=x"];
    assert_eq!(world.place.run(tried).code, 5);
    assert_eq!(give(&world, "c"), Some(3));
    keep(&world, "index.copy");
    world
}

fn give(world: &EmailNet, worker: &str) -> Option<u64> {
    let (_, answer) = world.place.json(["next", "--worker", worker]);
    answer["quest"]["id"].as_u64()
}

fn keep(world: &EmailNet, name: &str) {
    fs::copy(world.place.at(".comail/index.sqlite"), world.place.at(name)).expect("an index");
}

fn edit(world: &EmailNet, sql: &str) {
    let index = Connection::open(world.place.at(".comail/index.sqlite")).expect("an index");
    index
        .execute_batch(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Status and claims, without what the clock changes.
fn truth(world: &EmailNet) -> Truth {
    let (code, mut status) = world.place.json(["status"]);
    assert_eq!(code, 0, "{status}");
    for of_the_clock in ["claims", "pace"] {
        status[of_the_clock].take();
    }
    let (code, claims) = world.place.json(["claims"]);
    assert_eq!(code, 0, "{claims}");
    let claims = claims["claims"].as_array().expect("claims");
    let claims = claims
        .iter()
        .map(|claim| (claim["quest"].clone(), claim["worker"].clone()));
    (status, claims.collect())
}

/// Folds the ledger twice: the second time the index must fit it.
#[track_caller]
fn assert_heals(world: &EmailNet, what: &str) {
    let fold = || {
        let mut session = Session::open(&world.place.at(".comail"))
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let projection = session
            .fold()
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        (projection.remaining(), session.repairs())
    };
    fold();
    assert_eq!(fold().1, [], "{what}");
}

fn clear(index: &Path) {
    if index.is_dir() && !index.is_symlink() {
        fs::remove_dir_all(index).expect("a directory");
    } else {
        fs::remove_file(index).ok();
    }
}

#[test]
fn an_index_that_is_lost_cut_or_rubbish_is_made_anew() {
    let worked = Worked::new();
    let world = &worked.world;
    let whole = fs::read(world.place.at("index.copy")).expect("an index");
    worked.faulty("deleted", |index| {
        fs::remove_file(index).expect("an index");
    });
    let half = whole.len() / 2;
    for length in [
        0,
        1,
        99,
        100,
        4_095,
        4_096,
        8_192,
        half,
        whole.len() - 4_096,
        whole.len() - 1,
    ] {
        worked.faulty(&format!("cut to {length} bytes"), |index| {
            fs::write(index, &whole[..length]).expect("an index");
        });
    }
    for (what, bytes) in [
        ("text", b"SELECT * FROM quest".to_vec()),
        ("rubbish", (0..=255).cycle().take(20_000).collect()),
        (
            "a head and rubbish",
            [&whole[..100], &[0xa5; 12_188]].concat(),
        ),
    ] {
        worked.faulty(what, |index| {
            fs::write(index, &bytes).expect("an index");
        });
    }
    assert_heals(world, "cut");
}

#[test]
fn an_index_of_another_format_session_or_time_is_not_believed() {
    let worked = Worked::new();
    let world = &worked.world;
    for sql in [
        "PRAGMA user_version = 0",
        "PRAGMA user_version = 1",
        "PRAGMA user_version = 6",
        "PRAGMA application_id = 1",
        "DROP TABLE mark",
        "DROP INDEX quest_todo; DROP INDEX quest_worker",
        "ALTER TABLE quest ADD COLUMN more TEXT",
        "ALTER TABLE quest RENAME COLUMN state TO was",
    ] {
        worked.faulty(sql, |_| edit(world, sql));
    }
    let other = self::worked();
    for (what, from) in [
        ("another session's", other.place.at("index.copy")),
        ("older", world.place.at("older.sqlite")),
    ] {
        worked.faulty(what, |index| {
            fs::copy(&from, index).expect("an index");
        });
    }
    // Newer than the ledger: what it knows beyond is not the truth any more.
    let before = world.place.ledger();
    assert_eq!(world.place.give_up(4), 5);
    assert_eq!(give(world, "d"), Some(4));
    keep(world, "newer.sqlite");
    fs::write(world.place.at(".comail/ledger.jsonl"), before).expect("a ledger");
    let newer = world.place.at("newer.sqlite");
    fs::copy(&newer, world.place.at(".comail/index.sqlite")).expect("an index");
    let run = world.place.run(["status"]);
    run.says("which now has fewer");
    worked.faulty("newer", |index| {
        fs::copy(&newer, index).expect("an index");
    });
    assert_heals(world, "newer");
}

/// A journal that a process left behind which died while it wrote, with the index beside it.
fn torn(world: &EmailNet, from: &str) -> [Vec<u8>; 2] {
    let path = world.place.at("torn.sqlite");
    fs::copy(world.place.at(from), &path).expect("an index");
    let index = Connection::open(&path).expect("an index");
    let half = "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE; \
         UPDATE quest SET state = 'DONE'; DELETE FROM checkpoint; \
         CREATE TABLE more (x); INSERT INTO more VALUES (zeroblob(100000));";
    index.execute_batch(half).expect("room");
    let journal = world.place.at("torn.sqlite-journal");
    [path, journal].map(|path| fs::read(path).expect("what it wrote so far"))
}

#[test]
fn a_write_that_was_cut_off_is_not_believed_whatever_it_belongs_to() {
    let worked = Worked::new();
    let world = &worked.world;
    let now = fs::read(world.place.at("index.copy")).expect("an index");
    let older = fs::read(world.place.at("older.sqlite")).expect("an index");
    let [torn_now, journal_now] = torn(world, "index.copy");
    let [torn_older, journal_older] = torn(world, "older.sqlite");
    let journal = world.place.at(".comail/index.sqlite-journal");
    for (what, index_bytes, journal_bytes) in [
        ("its own", &torn_now, &journal_now),
        ("older with its own", &torn_older, &journal_older),
        ("older with a newer journal", &older, &journal_now),
        ("newer with an older journal", &now, &journal_older),
        ("torn without its journal", &torn_now, &Vec::new()),
        ("older, torn, without its journal", &torn_older, &Vec::new()),
        (
            "cut journal",
            &torn_now,
            &journal_now[..journal_now.len() / 2].to_vec(),
        ),
    ] {
        worked.faulty(what, |index| {
            clear(index);
            fs::write(index, index_bytes).expect("an index");
            fs::write(&journal, journal_bytes).expect("a journal");
        });
    }
    assert_heals(world, "torn");
}

#[test]
fn what_lies_in_the_way_of_an_index_stops_no_command() {
    let worked = Worked::new();
    let world = &worked.world;
    let other = self::worked();
    let foreign = other.place.at(".comail/index.sqlite");
    let kept = fs::read(&foreign).expect("an index");
    let session = world.place.at(".comail");
    let link = |to: &Path, index: &Path| {
        clear(index);
        std::os::unix::fs::symlink(to, index).expect("a link");
    };
    worked.faulty("a link to itself", |index| link(index, index));
    worked.faulty("a link to nothing", |index| {
        link(Path::new("nothing"), index);
    });
    worked.faulty("a link to a directory", |index| {
        link(Path::new("/"), index);
    });
    worked.faulty("a link to the ledger", |index| {
        link(&session.join("ledger.jsonl"), index);
    });
    worked.faulty("a link to another session's", |index| {
        link(&foreign, index);
    });
    assert_eq!(fs::read(&foreign).expect("an index"), kept);
    let full = |place: &Path| {
        clear(place);
        fs::create_dir(place).expect("a directory");
        fs::write(place.join("file"), "in the way").expect("a file");
    };
    let draft = session.join("index.sqlite-new");
    worked.faulty("a draft left behind", |index| {
        fs::write(&draft, "half").expect("a draft");
        clear(index);
    });
    worked.faulty("a directory as the draft", |index| {
        full(&draft);
        clear(index);
    });
    clear(&draft);
    worked.faulty("a directory as the journal", |index| {
        full(&session.join("index.sqlite-journal"));
        clear(index);
    });
    clear(&session.join("index.sqlite-journal"));
    worked.faulty("a directory", full);
    // What is judged then is judged all the same.
    full(&session.join("index.sqlite"));
    assert_eq!(world.place.give_up(2), 7);
    assert_eq!(world.place.give_up(5), 5);
    assert_eq!(give(world, "d"), Some(4));
    clear(&session.join("index.sqlite"));
    assert_heals(world, "in the way");
}

/// Commands after each edit: what they say is so, and no line gets into the ledger that cannot
/// have happened, which the fold at the end finds.
#[test]
fn an_edited_row_changes_no_answer() {
    let worked = Worked::new();
    // Rows that the program itself once wrote.
    let set_back = format!(
        "ATTACH '{}' AS older; DELETE FROM quest WHERE id IN (1, 2); \
         INSERT INTO quest SELECT * FROM older.quest WHERE id IN (1, 2);",
        worked.world.place.at("older.sqlite").display()
    );
    for sql in [
        &set_back,
        // All is complete, or a part of it is hidden.
        "UPDATE quest SET state = 'PASS'",
        "UPDATE checkpoint SET body = replace(body, '\"todo\":4', '\"todo\":0')",
        "UPDATE checkpoint SET body = replace(body, '\"pass\":1', '\"pass\":5')",
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

#[test]
fn what_is_searched_for_is_found_whatever_the_index_says() {
    let worked = Worked::new();
    let again = |world: &EmailNet| {
        let (code, answer) = world.submit(5, &world.acme().email("ceo@acme.co.kr"));
        (code, answer["facts"][0]["rule"].clone())
    };
    // An answer that was submitted before.
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
    // A key of the list, which is not added twice.
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
    // An address that another quest has.
    for sql in [
        "DELETE FROM mark WHERE mark LIKE 'mailbox%'",
        "UPDATE mark SET mark = 'mailbox x@y.kr' WHERE mark LIKE 'mailbox%'",
        "UPDATE mark SET body = '5'",
        "INSERT INTO mark VALUES ('mailbox info@bolt.kr', '2', 0)",
    ] {
        let world = worked.edited(sql);
        let run = world.place.run(["export", "--force"]);
        run.says("another program wrote to it");
        run.ok();
        assert_heals(world, sql);
        edit(world, sql);
        let (_, answer) = world.submit(5, &world.acme());
        assert_eq!(answer["verdict"], "REVIEW", "{sql}: {answer}");
        assert_heals(world, sql);
    }
    fs::remove_file(worked.world.place.at("companies.comail.csv")).expect("an export");
}
