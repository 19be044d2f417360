//! A session in PostgreSQL, and several machines that work on it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use postgres::error::SqlState;
use serde_json::Value;

use crate::harness::email_net::{ACME, WWW};
use crate::harness::postgres::{Clock, Cluster, Machine};
use crate::harness::served::{Served, bearer};
use crate::harness::{EmailNet, Place, Run, until};
use crate::servers::http::Reply;

const NAMES: &str = "Acme\nBolt\nCorp\nDyne\n";

/// A session of four quests, as the machine that scanned it sees it.
fn scanned(cluster: &Cluster, name: &str) -> Machine {
    let machine = Machine::of(cluster, name);
    machine.place.write("names.txt", NAMES);
    machine.run(&["scan", "names.txt"]).ok();
    machine
}

fn given_up(machine: &Machine, id: &str) -> i32 {
    machine
        .run(&["submit", "--id", id, "--none", "looked everywhere"])
        .code
}

#[test]
fn two_machines_work_on_one_session_and_see_the_same_ledger() {
    let cluster = Cluster::shared();
    let one = scanned(&cluster, "two-machines");
    let other = Machine::of(&cluster, "two-machines");
    let quest = |machine: &Machine, worker: &str| {
        let (code, next) = machine.json(&["next", "--worker", worker]);
        assert_eq!(code, 0, "{next}");
        next["quest"]["id"].as_u64().expect("a number")
    };
    let held: BTreeSet<u64> = [
        quest(&one, "a"),
        quest(&other, "b"),
        quest(&one, "c"),
        quest(&other, "d"),
    ]
    .into();
    assert_eq!(held.len(), 4, "a quest was handed out twice");
    assert_eq!(other.run(&["next", "--worker", "e"]).code, 4);
    // An answer on one machine is known on the other at once.
    let answer = [
        "submit",
        "--id=1",
        "--none=looked",
        "--worker=a",
        "--idempotency-key=k1",
    ];
    assert_eq!(one.run(&answer).code, 5);
    assert_eq!(other.run(&answer).code, 5);
    let (_, status) = other.json(&["status"]);
    assert_eq!(
        (&status["attempts"], &status["tries"]),
        (&1.into(), &1.into()),
        "{status}"
    );
    assert_eq!(
        one.json(&["status"]).1["head"],
        other.json(&["status"]).1["head"]
    );
    assert_eq!(one.ledger(), other.ledger());
    for machine in [&one, &other] {
        machine.run(&["audit"]).ok();
    }
}

#[test]
fn a_mirror_that_is_lost_cut_or_forged_is_made_again() {
    let cluster = Cluster::shared();
    let machine = scanned(&cluster, "lost-mirror");
    given_up(&machine, "1");
    let ledger = machine.ledger();
    let path = machine.mirror().join("ledger.jsonl");
    let half = &ledger[..ledger.len() - 7];
    std::fs::write(&path, half).expect("a file of ours");
    machine.run(&["audit"]).ok();
    assert_eq!(machine.ledger(), ledger);

    std::fs::remove_dir_all(machine.mirror()).expect("a directory of ours");
    machine.run(&["audit"]).ok();
    assert_eq!(machine.ledger(), ledger);

    // What was written here alone is no line of the session.
    let forged = ledger.replace("looked", "hooked");
    assert_ne!(forged, ledger);
    std::fs::write(&path, forged).expect("a file of ours");
    machine.run(&["audit"]).ok();
    assert_eq!(machine.ledger(), ledger);
    let mut lines: Vec<&str> = ledger.lines().collect();
    let moved = lines.remove(2);
    lines.insert(1, moved);
    std::fs::write(&path, format!("{}\n", lines.join("\n"))).expect("a file of ours");
    assert_eq!(machine.run(&["audit"]).code, 8);
}

#[test]
fn a_session_is_made_once() {
    let cluster = Cluster::shared();
    let machine = Machine::of(&cluster, "made-once");
    machine.place.write("names.txt", NAMES);
    let (_, scan) = machine.json(&["scan", "names.txt"]);
    assert_eq!(scan["session"], cluster.address("made-once"), "{scan}");
    let again = machine.run(&["scan", "names.txt"]);
    assert_eq!(again.code, 1);
    again.says("already exists");
    let other = Machine::of(&cluster, "made-once");
    other.place.write("names.txt", NAMES);
    other.run(&["scan", "names.txt"]).says("already exists");
    let missing = Machine::of(&cluster, "made-never").run(&["status"]);
    assert_eq!(missing.code, 1);
    missing.says("no session found at postgres:///");
}

#[test]
fn an_acknowledged_answer_outlives_a_crash_of_the_database() {
    // Its own cluster, because others use the shared one meanwhile.
    let cluster = Cluster::start();
    let machine = scanned(&cluster, "crash");
    let answer = [
        "submit",
        "--id",
        "1",
        "--none",
        "looked",
        "--idempotency-key",
        "k1",
    ];
    assert_eq!(machine.run(&answer).code, 5);
    cluster.stop();
    let down = machine.run(&[
        "submit",
        "--id",
        "2",
        "--none",
        "looked",
        "--idempotency-key",
        "k2",
    ]);
    assert_eq!(down.code, 1);
    down.says("run the command again");
    let (_, error) = machine.json(&["next"]);
    assert_eq!(error["error"]["kind"], "database", "{error}");
    cluster.serve();
    assert_eq!(
        machine.run(&answer).code,
        5,
        "the key finds the recorded answer"
    );
    let (_, status) = machine.json(&["status"]);
    assert_eq!(status["attempts"], 1, "{status}");
    machine.run(&["audit"]).ok();
}

#[test]
fn a_database_without_space_records_nothing_and_the_answer_can_be_sent_again() {
    let cluster = Cluster::start();
    let machine = scanned(&cluster, "full");
    let mut client = cluster.client();
    // What the server says when it cannot extend a table (class 53 of PostgreSQL's error codes).
    let full = "CREATE FUNCTION public.full() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
        END $$";
    client.batch_execute(full).expect("a function");
    let answer = "submit --id 1 --none looked --worker w1 --idempotency-key k1";
    let answer: Vec<&str> = answer.split(' ').collect();
    for table in ["session", "ledger"] {
        let trigger = format!(
            "CREATE TRIGGER is_full BEFORE INSERT OR UPDATE ON comail.{table}
             FOR EACH ROW EXECUTE FUNCTION public.full()"
        );
        client.batch_execute(&trigger).expect("a trigger");
        let refused = machine.run(&answer);
        assert_eq!(refused.code, 1, "{refused:?}");
        refused.says("No space left on device");
        refused.says("run the command again");
        let (_, status) = machine.json(&["status"]);
        assert_eq!(status["attempts"], 0, "{status}");
        let drop = format!("DROP TRIGGER is_full ON comail.{table}");
        client.batch_execute(&drop).expect("no trigger");
    }
    assert_eq!(machine.run(&answer).code, 5);
    assert_eq!(machine.run(&answer).code, 5);
    let (_, status) = machine.json(&["status"]);
    assert_eq!(status["attempts"], 1, "{status}");
    machine.run(&["audit"]).ok();
}

#[test]
fn the_clock_of_the_database_decides_whose_claim_is_over() {
    let cluster = Cluster::shared();
    let one = scanned(&cluster, "clocks");
    let other = Machine::of(&cluster, "clocks");
    let clock = Clock::of(&cluster, "clocks");
    let claimed = |machine: &Machine, worker: &str| {
        let (code, next) = machine.json(&["next", "--worker", worker, "--lease", "10m"]);
        assert_eq!(code, 0, "{next}");
        next["quest"]["id"].as_u64().expect("a number")
    };
    // Both machines are minutes or years away from it.
    let start: Timestamp = "2031-01-02T03:04:05Z".parse().expect("a time");
    let after = |seconds| clock.set(start + SignedDuration::from_secs(seconds));
    after(0);
    assert_eq!(claimed(&one, "a"), 1);
    after(599);
    assert_eq!(claimed(&other, "b"), 2);
    after(600);
    assert_eq!(claimed(&other, "c"), 1);
    let late = other.run(&["submit", "--id", "1", "--none", "looked", "--worker", "a"]);
    assert_eq!(late.code, 7, "{late:?}");
    let ledger = one.ledger();
    assert!(ledger.contains("\"at\":\"2031-01-02T03:04:05"), "{ledger}");
    other.run(&["audit"]).ok();
}

#[test]
fn a_judge_may_append_but_neither_change_nor_remove_lines_and_a_reader_only_reads() {
    let cluster = Cluster::shared();
    scanned(&cluster, "rights");
    let mut client = cluster.client();
    for role in ["judge", "reader"] {
        // Another test may have made it.
        let _ = client.batch_execute(&format!(
            "CREATE ROLE {role} LOGIN; GRANT comail_{role} TO {role}"
        ));
    }
    let judge = Machine::at(cluster.address_for("judge", "rights"));
    assert_eq!(given_up(&judge, "1"), 5);
    let reader = Machine::at(cluster.address_for("reader", "rights"));
    assert_eq!(reader.json(&["status"]).1["attempts"], 1);
    reader.run(&["audit"]).ok();
    let refused = reader.run(&["submit", "--id", "2", "--none", "looked"]);
    assert_eq!(refused.code, 1);
    refused.says("permission denied");
    for (role, may) in [("judge", true), ("reader", false)] {
        client
            .batch_execute(&format!("SET ROLE {role}"))
            .expect("a role");
        for statement in [
            "UPDATE comail.ledger SET line = ''",
            "DELETE FROM comail.ledger",
            "TRUNCATE comail.ledger",
            "INSERT INTO comail.ledger VALUES (1, 99, '')",
            "UPDATE comail.session SET lines = 0",
            "UPDATE comail.evidence SET body = ''",
            "DELETE FROM comail.evidence",
            "UPDATE comail.file SET body = ''",
            "SELECT comail.redact(1, 0, '{}', '{}', '{}', '{}', '{}', '', '', '')",
        ] {
            let refused = client.batch_execute(statement).expect_err(statement);
            assert_eq!(
                refused.code().map(SqlState::code),
                Some("42501"),
                "{statement}"
            );
        }
        let hold = client.batch_execute("SELECT * FROM comail.hold('rights')");
        assert_eq!(hold.is_ok(), may, "{role}: {hold:?}");
        client.batch_execute("RESET ROLE").expect("the own role");
    }
}

#[test]
fn the_owner_forgets_for_all_machines() {
    let cluster = Cluster::shared();
    let one = Machine::of(&cluster, "forget");
    one.place
        .write("names.csv", "name,note\nAcme,jo@acme.com\nBolt,\n");
    one.place.write("key", [7; 32]);
    let key = "--operator-key=key";
    one.run(&["scan", "names.csv", "--col=name", "--show=note", key])
        .ok();
    let other = Machine::of(&cluster, "forget");
    let note = "asked jo@acme.com by phone";
    let submit = other.run(&["submit", "--id", "1", "--none", note]);
    assert_eq!(submit.code, 5, "{submit:?}");
    let holds = |machine: &Machine| {
        let list = std::fs::read_to_string(machine.mirror().join("source.csv")).expect("a list");
        let ledger = machine.ledger();
        [ledger, list].map(|text| text.contains("jo@acme.com"))
    };
    assert_eq!(holds(&other), [true, true]);
    // What a killed command left there.
    let left = other.mirror().join(".tmpLeft");
    std::fs::write(&left, "jo@acme.com").expect("a file of ours");
    let forget = [
        "forget",
        "jo@acme.com",
        "--note=on request",
        "--by=kim",
        key,
    ];
    one.run(&forget).ok();
    assert_eq!(holds(&one), [false, false]);
    other.run(&["audit"]).ok();
    assert_eq!(holds(&other), [false, false]);
    assert!(!left.exists());
    let left = "SELECT count(*) FROM comail.ledger WHERE line LIKE '%jo@acme.com%'";
    let left: i64 = cluster
        .client()
        .query_one(left, &[])
        .expect("a count")
        .get(0);
    assert_eq!(left, 0);
    let again = other.run(&["submit", "--id", "2", "--none", note]);
    assert!(!other.ledger().contains("jo@acme.com"), "{again:?}");
    for machine in [&one, &other] {
        machine.run(&["audit"]).ok();
    }
}

/// A place whose default session is this one of the cluster.
fn place_of(cluster: &Cluster, session: &str) -> Place {
    let place = Place::on_disk();
    cluster.link(place.path(), session);
    place
}

#[test]
fn a_session_moves_to_a_database_and_back_with_the_same_head() {
    let cluster = Cluster::shared();
    let place = Place::on_disk();
    place.scan(&["Acme", "Bolt"], &[]);
    assert_eq!(place.give_up(1), 5);
    let address = cluster.address("moved");
    let copy = |from: &str, to: &str| {
        let mut command = place.command();
        command
            .env("HOME", place.path())
            .args(["session", "copy", from, to]);
        Run::of(&mut command)
    };
    copy(".comail", &address).ok();
    copy(".comail", &address).says("already exists");
    let machine = Machine::of(&cluster, "moved");
    let before = place.run(["audit"]);
    let there = machine.run(&["audit"]);
    assert_eq!((before.code, there.code), (0, 0), "{there:?}");
    assert_eq!(before.stdout, there.stdout);

    assert_eq!(machine.run(&["submit", "--id=2", "--none=looked"]).code, 5);
    copy(&address, "back").ok();
    let back = place.run(["audit", "--session", "back"]);
    assert_eq!(back.code, 0, "{back:?}");
    assert_eq!(machine.run(&["audit"]).stdout, back.stdout);
    let ledger = std::fs::read_to_string(place.at("back/ledger.jsonl")).expect("a ledger");
    assert_eq!(ledger, machine.ledger());
    assert!(!place.at("back/database.json").exists());
    copy(".comail", "back").says("already exists");
}

#[test]
fn two_servers_share_tokens_and_a_revoked_one_is_good_at_neither() {
    let cluster = Cluster::shared();
    let place = place_of(&cluster, "two-servers");
    place.scan(&["Acme", "Bolt"], &[]);
    let one = Served::of(place, &["--listen=127.0.0.1:0"]);
    let other = Served::of(place_of(&cluster, "two-servers"), &["--listen=127.0.0.1:0"]);
    let kim = one.token(&["--worker=kim"]);
    let next = |served: &Served| served.json(&kim, &["next"]);
    let (code, first) = next(&one);
    assert_eq!(code, 0, "{first}");
    assert_eq!(next(&other).1["quest"]["id"], first["quest"]["id"]);
    let submit = ["submit", "--id=1", "--none=looked", "--idempotency-key=k"];
    assert_eq!(other.run(&kim, &submit).code, 5);
    assert_eq!(one.run(&kim, &submit).code, 5);
    assert_eq!(one.place.json(["status"]).1["attempts"], 1);
    let id = kim.split('_').nth(1).expect("an id");
    other.place.run(["token", "revoke", id]).ok();
    for served in [&one, &other] {
        served.run(&kim, &["status"]).says("valid token");
    }
}

#[test]
fn a_server_says_whether_it_is_ready_and_what_it_does() {
    let cluster = Cluster::start();
    let place = place_of(&cluster, "watched");
    place.scan(&["Acme", "Bolt"], &[]);
    let served = Served::of(place, &["--listen=127.0.0.1:0"]);
    let (reader, kim) = (served.token(&["--reader"]), served.token(&["--worker=kim"]));
    let probe = |path: &str| {
        served
            .asked(&format!("GET {path}"), &["Host: 10.1.2.3"], "")
            .status
    };
    assert_eq!((probe("/healthz"), probe("/readyz")), (200, 200));
    assert_eq!(
        served
            .run(&kim, &["submit", "--id=1", "--none=looked"])
            .code,
        5
    );
    let metrics = |token: &str| served.asked("GET /metrics", &[&bearer(token)], "");
    let shown = metrics(&reader);
    for line in [
        "comail_quests{state=\"TODO\"} 2",
        "comail_attempts 1",
        "comail_answers_total{verdict=\"FAIL\"} 1",
        "comail_calls_answering 1",
    ] {
        assert!(
            shown.body.lines().any(|it| it == line),
            "{line} in {}",
            shown.body
        );
    }
    assert!(
        shown.body.contains("comail_database_seconds_count "),
        "{}",
        shown.body
    );
    assert!(shown.head.contains("openmetrics-text"), "{}", shown.head);
    assert_eq!(metrics(&kim).status, 403);
    assert_eq!(served.asked("GET /metrics", &[], "").status, 401);

    cluster.stop();
    until("the server is not ready", || probe("/readyz") == 503);
    assert_eq!(probe("/healthz"), 200);
    let refused = served.asked(
        "POST /v1/submit",
        &[&bearer(&kim)],
        r#"{"id":2,"none":"looked","idempotency_key":"k2"}"#,
    );
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.head.contains("retry-after: "), "{refused:?}");
    cluster.serve();
    until("the server is ready", || probe("/readyz") == 200);
    let again = served.run(&kim, &["submit", "--id=2", "--none=looked"]);
    assert_eq!(again.code, 5, "{again:?}");
    served.place.run(["audit"]).ok();
}

#[test]
fn a_server_whose_database_hangs_says_so_and_recovers() {
    let cluster = Cluster::start();
    let place = place_of(&cluster, "hanging");
    place.scan(&["Acme"], &[]);
    let served = Served::of(place, &["--listen=127.0.0.1:0"]);
    let probe = |path: &str| served.asked(&format!("GET {path}"), &[], "").status;
    until("the server is ready", || probe("/readyz") == 200);
    let mut client = cluster.client();
    let mut holding = client.transaction().expect("the server is up");
    holding
        .batch_execute("LOCK TABLE comail.session IN ACCESS EXCLUSIVE MODE")
        .expect("nobody else has it for long");
    for _ in 0..2 {
        until("the server is not ready", || probe("/readyz") == 503);
    }
    assert_eq!(probe("/healthz"), 200);
    // The database has not given up yet, and is asked once.
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    let waiting = cluster.client().query_one(waiting, &[]).expect("a count");
    assert_eq!(waiting.get::<_, i64>(0), 1);
    holding.rollback().expect("the server is up");
    until("the server is ready", || probe("/readyz") == 200);
}

/// The pause of a host, in milliseconds.
const PAUSE: u64 = 200;

#[test]
fn judges_on_two_machines_take_turns_at_a_host() {
    let cluster = Cluster::shared();
    let net = EmailNet::unscanned();
    let one = place_of(&cluster, "turns");
    let rate = format!("--set=network.rate={}", 1000 / PAUSE);
    one.scan(&[ACME, "Bolt"], &net.flags_with(&[&rate]));
    let other = place_of(&cluster, "turns");
    let children = [(&one, 1), (&other, 2)].map(|(place, quest)| {
        let answer = net.acme().args(quest);
        place.start(answer)
    });
    for child in children {
        // Whatever the verdicts are, the pages were asked for.
        let _ = Run::of_child(child);
    }
    let mut seen = net.net.web.seen();
    seen.retain(|it| it.host == WWW);
    seen.sort_by_key(|it| it.at);
    assert!(seen.len() >= 3, "{seen:?}");
    for pair in seen.windows(2) {
        let gap = pair[1].at - pair[0].at;
        // Clocks of the database and of this test differ by the time of a connection.
        assert!(
            gap + Duration::from_millis(40) >= Duration::from_millis(PAUSE),
            "{seen:?}"
        );
    }
}

#[test]
fn a_judge_that_is_killed_keeps_no_host() {
    let cluster = Cluster::shared();
    let net = EmailNet::unscanned();
    let silent = net.answers(Reply::Hang);
    let place = place_of(&cluster, "kept");
    place.scan(&[ACME], &net.flags());
    let mut judge = place.start(silent.args(1));
    until("the page is asked for", || {
        net.net.web.count(WWW, "/contact") == 1
    });
    let mut client = cluster.client();
    let id = "SELECT id FROM comail.session WHERE name = 'kept'";
    let id: i64 = client.query_one(id, &[]).expect("a session").get(0);
    // Long after this test, so that the turn does not end by itself.
    let later =
        "UPDATE comail.host SET busy = clock_timestamp() + interval '1 day' WHERE session = $1";
    client.execute(later, &[&id]).expect("it may be changed");
    let mut wait = || {
        let wait = "SELECT wait FROM comail.turn($1, $2, 0, 0)";
        let wait = client.query_one(wait, &[&id, &WWW]).expect("a wait");
        wait.get::<_, f64>(0)
    };
    assert!(wait() > 3600.0);
    judge.kill().expect("it is ours");
    judge.wait().expect("it ends");
    until("the host is free", || wait() <= 0.0);
}

#[test]
fn acknowledged_answers_outlive_judges_that_are_killed() {
    const QUESTS: usize = 24;
    let cluster = Cluster::shared();
    let place = place_of(&cluster, "killed");
    let names: Vec<String> = (0..QUESTS).map(|at| format!("Firm {at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    place.scan(&names, &[]);
    let other = place_of(&cluster, "killed");
    let mut acknowledged = BTreeSet::new();
    for quest in 1..=QUESTS {
        let judge = if quest % 2 == 0 { &place } else { &other };
        let (id, key) = (
            format!("--id={quest}"),
            format!("--idempotency-key=k{quest}"),
        );
        let answer = ["submit", &id, "--none=looked", &key];
        let mut child = judge.start(answer);
        // From before it opens the session to after it has recorded the answer.
        let wait = Duration::from_millis(2 * quest as u64);
        let ended = until_ended(&mut child, wait);
        child.kill().expect("it is ours");
        if ended {
            acknowledged.insert(quest as u64);
        }
        child.wait().expect("it ends");
    }
    let recorded: Vec<u64> = other.json(["status"]).1["attempts"]
        .as_u64()
        .into_iter()
        .collect();
    let attempts = other.attempts();
    assert_eq!(recorded, [attempts.len() as u64]);
    let quests: BTreeSet<u64> = attempts.iter().map(|(quest, _)| *quest).collect();
    assert_eq!(
        quests.len(),
        attempts.len(),
        "an answer counts twice: {attempts:?}"
    );
    assert!(
        acknowledged.is_subset(&quests),
        "{acknowledged:?} {quests:?}"
    );
    // Whatever became of it, the same call again ends with one answer.
    for quest in 1..=QUESTS {
        let (id, key) = (
            format!("--id={quest}"),
            format!("--idempotency-key=k{quest}"),
        );
        let answer = ["submit", &id, "--none=looked", &key];
        assert_eq!(place.run(answer).code, 5);
    }
    assert_eq!(place.json(["status"]).1["attempts"], QUESTS);
    for place in [&place, &other] {
        place.run(["audit"]).ok();
    }
}

/// Whether a child ends within this time.
fn until_ended(child: &mut std::process::Child, wait: Duration) -> bool {
    let began = Instant::now();
    while began.elapsed() < wait {
        if child.try_wait().expect("it is ours").is_some() {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

#[test]
fn a_database_that_was_set_back_is_reported() {
    let cluster = Cluster::shared();
    let machine = scanned(&cluster, "set-back");
    set_back(&mut cluster.client(), "set-back", || {
        assert_eq!(given_up(&machine, "1"), 5);
    });
    let status = machine.run(&["status"]);
    assert_eq!(status.code, 1, "{status:?}");
    status.says("it has lines that the database does not have");
}

/// The rows of a session, to put back what the database had.
fn set_back(client: &mut postgres::Client, session: &str, change: impl FnOnce()) {
    let keep = format!(
        "CREATE TEMP TABLE was AS SELECT lines, head, id FROM comail.session WHERE name = '{session}'"
    );
    client.batch_execute(&keep).expect("a copy");
    change();
    let put_back = "
        DELETE FROM comail.ledger l USING was WHERE l.session = was.id AND l.seq >= was.lines;
        UPDATE comail.session s SET lines = was.lines, head = was.head FROM was WHERE s.id = was.id;
        DROP TABLE was";
    client.batch_execute(put_back).expect("the older rows");
}

#[test]
fn a_mirror_of_another_history_never_reaches_the_database() {
    let cluster = Cluster::shared();
    let one = scanned(&cluster, "other-history");
    let two = Machine::of(&cluster, "other-history");
    set_back(&mut cluster.client(), "other-history", || {
        assert_eq!(given_up(&one, "2"), 5);
    });
    // As long as the one that was lost, so that the number of lines tells nothing.
    assert_eq!(given_up(&two, "3"), 5);
    for args in [
        &["status"][..],
        &["submit", "--id", "4", "--none", "looked"],
    ] {
        let refused = one.run(args);
        assert_eq!(refused.code, 1, "{refused:?}");
        refused.says("the database was set back to an earlier state");
    }
    // Nor is a longer database appended to the lost line.
    assert_eq!(given_up(&two, "4"), 5);
    let audit = one.run(&["audit"]);
    assert_eq!(audit.code, 8, "{audit:?}");
    two.run(&["audit"]).ok();
    std::fs::remove_dir_all(one.mirror()).expect("a directory of ours");
    one.run(&["audit"]).ok();
    assert_eq!(one.ledger(), two.ledger());

    // The mirror of another session of the same length.
    let other = scanned(&cluster, "other-history-too");
    assert_eq!(given_up(&other, "1"), 5);
    assert_eq!(given_up(&other, "2"), 5);
    for file in ["ledger.jsonl", "session.json"] {
        std::fs::copy(other.mirror().join(file), one.mirror().join(file)).expect("a copy");
    }
    assert_eq!(
        one.run(&["submit", "--id", "1", "--none", "looked"]).code,
        1
    );
    two.run(&["audit"]).ok();
}

#[test]
fn an_address_is_forgotten_in_lines_and_lists_at_once_or_not_at_all() {
    let cluster = Cluster::start();
    let one = Machine::of(&cluster, "at-once");
    one.place
        .write("names.csv", "name,note\nAcme,jo@acme.com\nBolt,\n");
    one.place.write("key", [7; 32]);
    one.run(&["scan", "names.csv", "--col=name", "--operator-key=key"])
        .ok();
    assert_eq!(one.run(&["submit", "--id=1", "--none=jo@acme.com"]).code, 5);
    let mut client = cluster.client();
    let left = || -> (i64, i64) {
        let count = "SELECT
            (SELECT count(*) FROM comail.ledger WHERE line LIKE '%jo@acme.com%'),
            (SELECT count(*) FROM comail.file
             WHERE position('jo@acme.com'::bytea IN body) > 0)";
        let row = cluster.client().query_one(count, &[]).expect("two counts");
        (row.get(0), row.get(1))
    };
    assert_eq!(left(), (1, 1));
    let breaks = "CREATE FUNCTION public.breaks() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'it ends here';
        END $$;
        CREATE TRIGGER breaks BEFORE UPDATE ON comail.file
            FOR EACH ROW EXECUTE FUNCTION public.breaks()";
    client.batch_execute(breaks).expect("a trigger");
    let forget = "forget jo@acme.com --note=asked --by=kim --operator-key=key";
    let forget: Vec<&str> = forget.split(' ').collect();
    assert_eq!(one.run(&forget).code, 1);
    assert_eq!(left(), (1, 1));
    one.run(&["audit"]).ok();
    client
        .batch_execute("DROP TRIGGER breaks ON comail.file")
        .expect("no trigger");

    // Whatever is in the mirror never becomes the list of the session.
    let list = one.mirror().join("source.csv");
    let kept = std::fs::read(&list).expect("a list");
    std::fs::write(&list, "name,note\nEvil,jo@acme.com\n").expect("a file of ours");
    let refused = one.run(&forget);
    assert_eq!(refused.code, 1, "{refused:?}");
    refused.says("it is not the list that was scanned");
    std::fs::write(&list, kept).expect("a file of ours");

    // A list that was sent, and whose line was never recorded.
    let sent =
        "INSERT INTO comail.file SELECT id, 'source-2.csv', 'jo@acme.com' FROM comail.session";
    client.batch_execute(sent).expect("a file");
    one.run(&forget).ok();
    assert_eq!(left(), (0, 0));
    one.run(&["audit"]).ok();

    // A database that was set back to a time before it.
    let back = "UPDATE comail.session SET redactions = redactions - 1";
    client.batch_execute(back).expect("a number");
    one.run(&["status"])
        .says("redacted more often than the database");
}

#[test]
fn a_list_of_a_failed_update_is_replaced_by_the_recorded_one() {
    let cluster = Cluster::start();
    let one = scanned(&cluster, "lists");
    let two = Machine::of(&cluster, "lists");
    let mut client = cluster.client();
    let breaks = "CREATE FUNCTION public.breaks() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'it ends here';
        END $$;
        CREATE TRIGGER breaks BEFORE INSERT ON comail.ledger
            FOR EACH ROW EXECUTE FUNCTION public.breaks()";
    client.batch_execute(breaks).expect("a trigger");
    one.place.write("names.txt", format!("{NAMES}Echo\n"));
    assert_eq!(one.run(&["scan", "--update", "names.txt"]).code, 1);
    client
        .batch_execute("DROP TRIGGER breaks ON comail.ledger")
        .expect("no trigger");
    two.place.write("names.txt", format!("{NAMES}Fox\nGolf\n"));
    two.run(&["scan", "--update", "names.txt"]).ok();
    for machine in [&one, &two] {
        machine.run(&["audit"]).ok();
    }
    let lists = [&one, &two].map(|machine| {
        let list = std::fs::read_to_string(machine.mirror().join("source-2.txt"));
        list.expect("a list")
    });
    assert_eq!(lists[0], lists[1]);
    assert!(lists[0].contains("Golf"), "{lists:?}");
}

#[test]
fn a_judge_changes_no_file_that_is_recorded_and_chooses_none_of_a_mirror() {
    let cluster = Cluster::start();
    scanned(&cluster, "files");
    let mut client = cluster.client();
    let login = "CREATE ROLE judge LOGIN; GRANT comail_judge TO judge; SET ROLE judge";
    client.batch_execute(login).expect("a login");
    for name in ["session.json", "source.txt"] {
        let delete = format!("DELETE FROM comail.file WHERE name = '{name}'");
        assert_eq!(client.execute(&delete, &[]).expect("no error"), 0, "{name}");
    }
    for (name, code) in [
        ("session.json", "42501"),
        ("lock", "23514"),
        ("index.sqlite", "23514"),
        (".", "23514"),
        ("source/../../x", "23514"),
        ("tokens/../x", "23514"),
    ] {
        let insert = "INSERT INTO comail.file SELECT id, $1, '' FROM comail.session";
        let refused = client.execute(insert, &[&name]).expect_err(name);
        assert_eq!(refused.code().map(SqlState::code), Some(code), "{name}");
    }
    for line in ["garbage", "{\"seq\":5,\"at\":\n}"] {
        let append = "SELECT comail.append(id, lines, head, ARRAY[$1], head) FROM comail.session";
        client.execute(append, &[&line]).expect_err(line);
    }
}

#[test]
fn tables_of_another_format_and_mirrors_of_another_address_are_refused() {
    let cluster = Cluster::start();
    let machine = scanned(&cluster, "format");
    let mirror = machine.place.at("mirror");
    let address =
        |session: &str| format!("{}&mirror={}", cluster.address(session), mirror.display());
    let one = Machine::at(address("format"));
    one.run(&["status"]).ok();
    std::fs::write(mirror.join("kept"), "").expect("a file of ours");
    let other = Machine::at(address("other"));
    other.place.write("names.txt", NAMES);
    let refused = other.run(&["scan", "names.txt"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    refused.says("name another directory with `mirror=DIR`");
    assert!(mirror.join("kept").exists());
    one.run(&["status"]).ok();

    let newer = "UPDATE comail.format SET version = 99";
    cluster.client().batch_execute(newer).expect("a number");
    for args in [&["status"][..], &["submit", "--id=1", "--none=looked"]] {
        let refused = one.run(args);
        assert_eq!(refused.code, 1, "{refused:?}");
        refused.says("of format 99");
    }
}

#[test]
fn the_address_never_carries_a_password() {
    let machine = Machine::at("postgres://jo:secret@localhost/db?session=x".to_owned());
    let refused = machine.run(&["status"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    refused.says("PGPASSWORD");
    assert!(!refused.stderr.contains("secret"), "{refused:?}");
    let nameless = Machine::at("postgres://localhost/db".to_owned()).run(&["next"]);
    assert_eq!(nameless.code, 2, "{nameless:?}");
    nameless.says("it names no session");
}

#[test]
fn a_directory_stays_a_directory() {
    let place = Place::on_disk();
    place.write("names.txt", NAMES);
    place.run(["scan", "names.txt"]).ok();
    assert!(!place.at(".comail/database.json").exists());
    let (code, status): (i32, Value) = Run::of(place.command().args(["status", "--json"])).json();
    assert_eq!(
        (code, &status["attempts"]),
        (0, &Value::from(0)),
        "{status}"
    );
}
