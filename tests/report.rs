//! `comail report` and `comail insights`: COMPLETE only if all holds that must, what runs left, and
//! what costs tries.

use std::fs::{self, File};

use comail::quest::QuestId;
use comail::session::{
    Began, Claimed, DrivenAttempt, DrivenQuest, Event, Reason, RunId, RunLine, RunStep, Salt,
    Session, SessionError, Spent, Worker,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::harness::audited::{bodies, session};
use crate::harness::email_net::ACME;
use crate::harness::forge::{self, append, replaced};
use crate::harness::letters::{LETTERS, Letters};
use crate::harness::{EmailNet, Place};

/// The report's exit code and JSON, by these arguments.
#[track_caller]
pub fn report(world: &EmailNet, args: &[&str]) -> (i32, Value) {
    world.place.json([&["report"], args].concat())
}

/// The shortfalls, each as `kind quests`.
pub fn shortfalls(report: &Value) -> Vec<String> {
    let found = report["shortfalls"].as_array().expect("shortfalls");
    let found = found.iter().map(|it| {
        let kind = it["kind"].as_str().expect("a kind");
        let quests = it["quests"].as_array().cloned().unwrap_or_default();
        format!("{kind} {quests:?}").replace("Number", "")
    });
    found.collect()
}

/// Expects these shortfalls and no other, in JSON, in the text and in the exit code.
#[track_caller]
fn assert_short(world: &EmailNet, args: &[&str], expected: &[&str]) -> Value {
    let args = &[args, &["--accept-unproven"]].concat();
    let (code, report) = report(world, args);
    assert_eq!(
        (code, shortfalls(&report)),
        (8, expected.iter().map(ToString::to_string).collect()),
        "{report:#}"
    );
    assert_eq!(report["complete"], false);
    let text = world.place.run([&["report"], &args[..]].concat()).exits(8);
    assert!(text.starts_with("# NOT COMPLETE\n"), "{text}");
    for shortfall in expected {
        let kind = shortfall.split(' ').next().expect("a kind");
        assert!(text.contains(&format!("- **{kind}**: ")), "{kind}: {text}");
    }
    report
}

#[track_caller]
fn assert_complete(world: &EmailNet, args: &[&str]) -> Value {
    let args = &[args, &["--accept-unproven"]].concat();
    let (code, report) = report(world, args);
    assert_eq!((code, shortfalls(&report)), (0, vec![]), "{report:#}");
    assert_eq!(report["complete"], true);
    let text = world.place.run([&["report"], &args[..]].concat()).ok();
    let accepted = "# Settled, unproven results accepted: ";
    let is_proven = report["shares"]["pass"] == report["shares"]["quests"];
    let title = if is_proven { "# COMPLETE\n" } else { accepted };
    assert!(text.starts_with(title), "{text}");
    report
}

/// A session of four quests: PASS, REVIEW, and two that were given up.
fn settled() -> EmailNet {
    let names = [ACME, "Bolt Toys", "Cargo Ring", "Delta Works"];
    let world = EmailNet::with(&names, &["--set=scan.pause-after=0", "--max-tries=1"]);
    world.expect(1, &world.acme(), "PASS", &[]);
    let (_, answer) = world.submit(2, &world.acme());
    assert_eq!(answer["verdict"], "REVIEW", "{answer:#}");
    for quest in [3, 4] {
        assert_eq!(world.place.give_up(quest), 6);
    }
    world
}

#[test]
fn nothing_is_complete_while_a_quest_is_todo() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &["--max-tries=1"]);
    assert_short(&world, &[], &["todo [(1), (2)]"]);
    world.expect(1, &world.acme(), "PASS", &[]);
    let found = assert_short(&world, &[], &["todo [(2)]"]);
    assert_eq!(found["shares"]["todo"], 1);
    assert_eq!(found["run"], Value::Null, "nobody ran an agent");
    assert_eq!(world.place.give_up(2), 6);
    assert_complete(&world, &[]);
}

#[test]
fn what_is_settled_and_not_proven_is_not_called_complete() {
    let world = settled();
    let (code, found) = report(&world, &[]);
    let expected = vec!["not-proven [(2), (3), (4)]".to_owned()];
    assert_eq!((code, shortfalls(&found)), (8, expected), "{found:#}");
    assert_eq!(found["complete"], false);
    let what = "settled, not proven: 1 REVIEW open, 2 DONE";
    assert_eq!(found["shortfalls"][0]["what"], what);
    let text = world.place.run(["report"]).exits(8);
    let title = "# Settled, not proven: 1 REVIEW open, 2 DONE\n";
    assert!(text.starts_with(title), "{text}");
    assert!(text.contains("run `comail review` to settle"), "{text}");
    let page = ["report", "--out=a.html"];
    world.place.run(page).exits(8);
    let page = fs::read_to_string(world.place.at("a.html")).expect("a page");
    assert!(page.contains("<b>Settled, not proven: 1 REVIEW open, 2 DONE.</b>"));
    assert!(page.contains("quests 2-4") && !page.contains("not-proven: settled"));
    let (code, next) = world.place.json(["next"]);
    assert_eq!((code, &next["status"]), (3, &json!("settled")), "{next}");
    assert_eq!(next["not_proven"], json!({"open": 1, "done": 2}));
    assert_eq!(next["steps"][0]["command"], "comail review");
    let text = world.place.run(["next"]).exits(3);
    let told = "settled: all 4 quests are settled, but not all are proven: 1 REVIEW open, \
                2 DONE\n";
    assert!(text.starts_with(told), "{text}");
    assert_complete(&world, &[]);
}

#[test]
fn what_is_all_proven_is_complete_and_the_last_answer_says_what_is_next() {
    let world = EmailNet::start();
    let last = world.place.run(world.acme().args(1)).ok();
    let told = "\n0 of 1 left\ncomplete: the 1 quest is settled\n  \
                write the results: `comail export`\n  \
                check that nothing is missing: `comail report`\n";
    assert!(last.ends_with(told), "{last}");
    let (code, found) = report(&world, &[]);
    assert_eq!((code, &found["complete"]), (0, &json!(true)), "{found:#}");
    let text = world.place.run(["report"]).ok();
    assert!(text.starts_with("# COMPLETE\n"), "{text}");
    let text = world.place.run(["next"]).exits(3);
    assert!(
        text.starts_with("complete: the 1 quest is settled\n"),
        "{text}"
    );
    let recheck = world.place.run(["recheck"]);
    recheck.says(
        "hint: write the results: `comail export`\nhint: check that nothing is missing: `comail \
         report`\n",
    );
    recheck.ok();
}

#[test]
fn what_is_unproven_is_told_under_complete_and_can_be_a_condition() {
    let world = settled();
    // A lost index is nothing to a report.
    fs::remove_file(session(&world).join("index.sqlite")).expect("an index");
    let found = assert_complete(&world, &[]);
    let quest = &found["quests"][2];
    assert_eq!(
        (&quest["key"], &quest["state"], &quest["tries"]),
        (&json!("Cargo Ring"), &json!("DONE"), &json!(1))
    );
    assert_eq!(quest["rules"], json!({"no-result": 1}), "{found:#}");
    assert_eq!(quest["driven"], json!([]));
    assert_eq!(found["quests"][1]["effective"], "open");
    assert_eq!(found["format"], 1);
    let shares = &found["shares"];
    let counts = ["quests", "pass", "review", "done", "todo"].map(|name| shares[name].clone());
    assert_eq!(counts, [4, 1, 1, 2, 0].map(Value::from));
    assert_eq!(
        shares["without_result"],
        json!({"quests": 3, "given_up": 2, "unanswered": 0}),
        "{found:#}"
    );
    let text = world.place.run(["report"]).exits(8);
    let told = "PASS: 1 of 4 (25.0 %). Ended without a result: 3 (75.0 %).";
    assert!(text.contains(told), "{text}");
    assert_complete(&world, &["--min-pass=25%"]);
    let found = assert_short(&world, &["--min-pass=25.01%"], &["min-pass []"]);
    let what = found["shortfalls"][0]["what"].as_str().expect("a sentence");
    assert!(what.contains("at least 25.01 % are required"), "{what}");
    for bad in ["101%", "-1", "most"] {
        let arg = format!("--min-pass={bad}");
        world.place.run(["report", &arg]).exits(2);
    }
}

#[test]
fn a_pass_whose_evidence_was_damaged_does_not_count() {
    let world = settled();
    world.spoils();
    assert_complete(&world, &[]);
    for body in bodies(&world) {
        let good = fs::read(&body).expect("a body");
        fs::remove_file(&body).expect("a body");
        assert_short(&world, &[], &["not-replayed [(1)]"]);
        fs::write(&body, good).expect("a body");
    }
    assert_complete(&world, &[]);
}

#[test]
fn a_pass_that_was_made_up_does_not_count() {
    let world = EmailNet::with(&[ACME], &["--max-tries=1"]);
    world.spoils();
    let bad = world.acme().email("made.up@acme.co.kr");
    assert_eq!(world.submit(1, &bad).0, 6);
    assert_complete(&world, &[]);
    forge::rewrite(&session(&world), |_, event| {
        if let comail::session::Event::Attempt(attempt) = event {
            attempt.verdict = comail::quest::Verdict::Pass;
            attempt.state = comail::session::State::Pass;
            attempt.tries = 0;
            attempt.judgement = replaced(&attempt.judgement, "\"FAIL\"", "\"PASS\"");
        }
        true
    });
    let (code, found) = report(&world, &["--min-pass=100"]);
    assert_eq!(code, 8, "{found:#}");
    let kinds = shortfalls(&found);
    assert!(
        kinds.contains(&"not-replayed [(1)]".to_owned()),
        "{kinds:?}"
    );
}

#[test]
fn a_broken_chain_is_no_session_that_is_complete() {
    let world = settled();
    world.spoils();
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read_to_string(&path).expect("a ledger");
    let cut: Vec<&str> = good.lines().collect();
    let swapped = [&cut[..6], &[cut[7], cut[6]], &cut[8..]]
        .concat()
        .join("\n")
        + "\n";
    let salted = good.replacen("\"salt\":\"", "\"salt\":\"0", 1);
    for bad in [
        swapped,
        salted,
        good.replacen("\"tries\":1", "\"tries\":0", 1),
    ] {
        fs::write(&path, bad).expect("a ledger");
        let (code, found) = report(&world, &[]);
        assert_eq!((code, &found["shares"]), (8, &Value::Null), "{found:#}");
        assert_eq!(found["shortfalls"][0]["kind"], "ledger", "{found:#}");
        let text = world.place.run(["report"]).exits(8);
        assert!(text.starts_with("# NOT COMPLETE\n"), "{text}");
        assert!(text.contains("line "), "{text}");
    }
    fs::write(&path, good).expect("a ledger");
    assert_complete(&world, &[]);
    // Settings and lists that were edited count as a broken ledger.
    let path = session(&world).join("source.txt");
    let good = fs::read(&path).expect("a copy");
    fs::write(&path, "Evil Foods\n").expect("a copy");
    assert_short(&world, &[], &["ledger []"]);
    fs::write(&path, good).expect("a copy");
    let path = session(&world).join("session.json");
    fs::write(&path, "{}").expect("session.json");
    let (code, found) = report(&world, &[]);
    assert_eq!((code, &found["kind"]), (8, &Value::Null), "{found:#}");
}

#[test]
fn no_session_is_an_error_and_no_report() {
    let world = EmailNet::unscanned();
    let run = world.place.run(["report"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
}

const FIRST: &str = "0000000a";
const SECOND: &str = "0000000b";

fn id(number: usize) -> QuestId {
    QuestId::from_index(number - 1).expect("a number")
}

fn run_id(run: &str) -> RunId {
    run.parse().expect("a run")
}

fn worker(run: &str, start: u32) -> Worker {
    format!("run-{run}.{start}").parse().expect("a worker")
}

fn line(run: &str, step: RunStep) -> Event {
    let run = run_id(run);
    Event::Run(Box::new(RunLine { run, step }))
}

fn began(run: &str, agent: &str) -> Event {
    let began = Began {
        agent: agent.to_owned(),
        model: Some(format!("{agent} | x")),
        then: Vec::new(),
        workers: 2,
        process: None,
    };
    line(run, RunStep::Began(began))
}

fn claim(run: &str, start: u32, quest: usize) -> Event {
    Event::Claim(Claimed {
        quest: id(quest),
        worker: worker(run, start),
        lease: "1h".parse().expect("a lease"),
    })
}

fn attempt(run: &str, start: u32, quest: usize, spent: Spent) -> Event {
    line(
        run,
        RunStep::Attempt(DrivenAttempt {
            quest: id(quest),
            start: 1,
            worker: worker(run, start),
            reason: Reason::Settled,
            milliseconds: 2_000,
            spent,
            exit: Some(0),
        }),
    )
}

fn drive(run: &str, quest: usize, reason: Reason) -> Event {
    line(
        run,
        RunStep::Quest(DrivenQuest {
            quest: id(quest),
            reason,
            starts: 1,
            handover: None,
        }),
    )
}

fn ended(run: &str, reason: Reason) -> Event {
    line(run, RunStep::Ended { reason })
}

/// Appends to the ledger what a run would.
#[track_caller]
fn record(letters: &Letters, events: Vec<Event>) {
    let mut session = Session::open(&letters.place.at(".comail")).expect("a session");
    let appended = session.append(&mut (|| Timestamp::now(), || Salt([7; 16])), |_, _| {
        Ok::<_, SessionError>((events, ()))
    });
    assert!(appended.is_ok(), "{appended:?}");
}

fn answer(letters: &Letters, quest: u32, quote: &str, worker: &Worker) -> i32 {
    let args = [
        "submit".to_owned(),
        format!("--id={quest}"),
        format!("--quote={quote}"),
        format!("--worker={worker}"),
    ];
    letters.run(args).code
}

fn spent(tokens: u64, cost: Option<u64>, told: bool) -> Spent {
    Spent { tokens, cost, told }
}

/// A session with a run that was killed at its second quest, and one that finished.
fn two_runs() -> Letters {
    let letters = Letters::scanned(LETTERS);
    record(&letters, vec![began(FIRST, "codex"), claim(FIRST, 1, 1)]);
    assert_eq!(answer(&letters, 1, "pay 10", &worker(FIRST, 1)), 0);
    record(
        &letters,
        vec![
            attempt(FIRST, 1, 1, spent(1_000, Some(20_000_000), true)),
            drive(FIRST, 1, Reason::Settled),
            claim(FIRST, 2, 2),
        ],
    );
    letters
}

fn resumed(letters: &Letters) {
    let released = Event::Released(comail::session::Released {
        quest: id(2),
        worker: worker(FIRST, 2),
    });
    record(
        letters,
        vec![released, began(SECOND, "claude"), claim(SECOND, 1, 2)],
    );
    assert_eq!(answer(letters, 2, "is due", &worker(SECOND, 1)), 0);
    record(
        letters,
        vec![
            attempt(SECOND, 1, 2, spent(500, None, false)),
            drive(SECOND, 2, Reason::Settled),
            ended(SECOND, Reason::Complete),
        ],
    );
}

fn kinds(report: &Value) -> Vec<&str> {
    let found = report["shortfalls"].as_array().expect("shortfalls");
    found.iter().filter_map(|it| it["kind"].as_str()).collect()
}

#[test]
fn a_claim_of_a_run_that_died_is_orphaned_and_one_of_a_live_run_is_not() {
    let letters = two_runs();
    let (code, report) = letters.json(["report"]);
    assert_eq!((code, kinds(&report)), (8, vec!["todo", "orphaned-claims"]));
    assert_eq!(report["shortfalls"][1]["quests"], json!([2]));
    assert_eq!(report["run"]["reason"], "interrupted");
    assert_eq!(report["run"]["starts"], 2);
    assert_eq!(report["run"]["lost"], 1);
    let driven = &report["quests"][1]["driven"][0];
    assert_eq!(driven["reason"], "interrupted", "{report:#}");
    let runs = letters.place.at(".comail/runs");
    fs::create_dir_all(&runs).expect("a folder");
    let lock = File::create(runs.join(format!("{FIRST}.lock"))).expect("a lock");
    lock.lock().expect("the lock");
    let (code, report) = letters.json(["report"]);
    assert_eq!((code, kinds(&report)), (8, vec!["todo"]));
    assert_eq!(report["run"]["reason"], Value::Null);
    assert_eq!(report["quests"][1]["driven"][0]["reason"], Value::Null);
    let text = letters.run(["report"]).exits(8);
    assert!(
        text.contains("| reason for the end | still running |"),
        "{text}"
    );
    drop(lock);
    let (_, report) = letters.json(["report"]);
    assert_eq!(kinds(&report), ["todo", "orphaned-claims"]);
}

#[test]
fn all_runs_are_told_of_and_what_each_took() {
    let letters = two_runs();
    resumed(&letters);
    let (code, report) = letters.json(["report"]);
    assert_eq!((code, kinds(&report)), (0, vec![]), "{report:#}");
    assert_eq!(report["run"]["run"], SECOND);
    assert_eq!(report["run"]["reason"], "complete");
    assert_eq!(report["others"][0]["run"], FIRST);
    assert_eq!(report["others"][0]["reason"], "interrupted");
    let took = |of: &Value| {
        let names = ["starts", "lost", "tokens", "cost", "estimated", "unpriced"];
        names.map(|name| of[name].clone())
    };
    let second = json!([1, 0, 500, null, 1, 1]);
    assert_eq!(json!(took(&report["run"])), second);
    let first = json!([2, 1, 1000, 20_000_000, 0, 0]);
    assert_eq!(json!(took(&report["others"][0])), first);
    let driven = report["quests"][1]["driven"].as_array().expect("runs");
    let reasons: Vec<&Value> = driven.iter().map(|it| &it["reason"]).collect();
    assert_eq!(reasons, ["interrupted", "settled"]);
    let text = letters.run(["report"]).ok();
    assert!(text.contains(&format!("## Run {SECOND}\n")), "{text}");
    assert!(text.contains("| tokens | ~500 |"), "{text}");
    assert!(text.contains("| cost | ? |"), "{text}");
    assert!(text.contains("$0.0200"), "{text}");
}

#[test]
fn one_run_can_be_asked_for_and_none_that_never_was() {
    let letters = two_runs();
    resumed(&letters);
    let (code, report) = letters.json(["report", "--run", FIRST]);
    assert_eq!((code, &report["run"]["run"]), (0, &json!(FIRST)));
    assert_eq!(report["others"][0]["run"], SECOND);
    let driven = report["quests"][1]["driven"].as_array().expect("runs");
    assert_eq!(driven.len(), 1, "{report:#}");
    letters.run(["report", "--run", "0000000c"]).exits(2);
    letters.run(["report", "--run", "x"]).exits(2);
}

/// A session in which one quest passed at once, one at its second try, and one was given up once.
fn worked() -> EmailNet {
    let world = EmailNet::with(&[ACME, "Bolt Toys", "Cargo Ring"], &[]);
    world.company("bolt.co.kr", "Bolt Toys");
    world.expect(1, &world.acme(), "PASS", &[]);
    let right = world.right("bolt.co.kr");
    let wrong = right.clone().email("sales@bolt.co.kr");
    world.expect(2, &wrong, "FAIL", &["email-not-on-source"]);
    world.expect(2, &right, "PASS", &[]);
    assert_eq!(world.place.give_up(3), 5);
    world
}

/// Adds what a run would have noted of one start of an agent for `quest`.
fn drove(world: &EmailNet, agent: &str, quest: u32, tokens: u64) {
    let run = RunId::new(7);
    let steps = [
        RunStep::Began(Began {
            agent: agent.to_owned(),
            model: Some("m-1".to_owned()),
            then: Vec::new(),
            workers: 1,
            process: None,
        }),
        RunStep::Attempt(DrivenAttempt {
            quest: quest.to_string().parse().expect("a number"),
            start: 1,
            worker: "run-00000007.1".parse().expect("a name"),
            reason: Reason::Settled,
            milliseconds: 1_500,
            spent: Spent {
                tokens,
                cost: None,
                told: true,
            },
            exit: Some(0),
        }),
    ];
    for step in steps {
        let event = Event::Run(Box::new(RunLine { run, step }));
        append(&world.place.at(".comail"), &event);
    }
}

fn insights(place: &Place, args: &[&str]) -> Value {
    let (code, answer) = place.json([&["insights"], args].concat());
    assert_eq!(code, 0, "{answer}");
    answer
}

#[test]
fn people_read_what_costs_tries() {
    let world = worked();
    let before = world.place.ledger();
    let text = world.place.run(["insights"]).ok();
    assert_eq!(world.place.ledger(), before);
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z", "[TIME]");
    settings.add_filter(r":\d{4,5}/", ":[PORT]/");
    settings.bind(|| insta::assert_snapshot!("insights", text));
}

#[test]
fn programs_read_the_figures() {
    let world = worked();
    let answer = insights(&world.place, &[]);
    let all = &answer["all"];
    assert_eq!(
        (&all["quests"], &all["submissions"]),
        (&json!(3), &json!(4))
    );
    assert_eq!(all["passed"], 2);
    assert_eq!(all["tries_per_quest"], 1.333);
    let first = json!({"part": 1, "of": 3, "share": 0.333});
    assert_eq!(all["first_try"], first);
    // Nobody's time was taken: no run drove anything.
    assert_eq!(all["seconds_per_pass"], Value::Null);
    let rules = answer["rules"].as_array().expect("rules");
    let rules: Vec<_> = rules
        .iter()
        .map(|rule| (rule["rule"].as_str(), rule["tries"].as_u64()))
        .collect();
    let once = [Some("email-not-on-source"), Some("no-result")];
    assert_eq!(rules, once.map(|rule| (rule, Some(1))));
    assert_eq!(answer["facts"], json!([]), "none was found twice");
    for _ in 0..2 {
        world.place.give_up(3);
    }
    let answer = insights(&world.place, &[]);
    let [fact] = &answer["facts"].as_array().expect("facts")[..] else {
        panic!("{answer:#}");
    };
    let found = ["rule", "submissions", "quests"].map(|name| fact[name].clone());
    assert_eq!(json!(found), json!(["no-result", 3, 1]));
    assert_eq!(answer["rules"][0]["rule"], "no-result", "the dearest first");
}

#[test]
fn each_agent_is_counted_apart_with_its_time_and_tokens() {
    let world = worked();
    drove(&world, "claude", 3, 4_000);
    let hidden = insights(&world.place, &[]);
    // A PASS under a name that no run gave is not the run's.
    assert_eq!(hidden["all"]["tokens_per_pass"], Value::Null);
    // Nothing came of the start: what it took is told all the same.
    let driven = &hidden["all"]["driven"];
    assert_eq!(
        (&driven["quests"], &driven["unanswered"]),
        (&json!(1), &json!(1))
    );
    let text = world.place.run(["insights"]).ok();
    let told = "1 quest in runs, 0 passed, 1 without an answer (1 start without a submission, 2 s, \
                4000 tokens)\n";
    assert!(text.contains(told), "{text}");
    let worker = "--worker=run-00000007.1";
    world.company("cargo.co.kr", "Cargo Ring");
    let mut args = world.right("cargo.co.kr").args(3);
    args.push(worker.to_owned());
    world.place.run(args).ok();
    let answer = insights(&world.place, &[]);
    let agents = answer["agents"].as_array().expect("agents");
    let claude = agents.iter().find(|it| it["agent"] == "claude");
    let claude = claude.expect("the agent of the run");
    assert_eq!(
        (&claude["model"], &claude["passed"]),
        (&json!("m-1"), &json!(1))
    );
    assert_eq!(claude["tokens_per_pass"], 4_000.0);
    let driven = &claude["driven"];
    assert_eq!(
        (&driven["passed"], &driven["unanswered"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(claude["seconds_per_pass"], 1.5);
    assert_eq!(claude["first_try"]["of"], 0, "another made the first try");
    let by_hand = agents.iter().find(|it| it["agent"].is_null());
    assert_eq!(by_hand.expect("the others")["passed"], 2);
    let text = world.place.run(["insights"]).ok();
    assert!(text.contains("agent claude, model m-1\n"), "{text}");
}

#[test]
fn several_sessions_are_counted_together() {
    let (one, two) = (worked(), EmailNet::start());
    two.expect(1, &two.acme(), "PASS", &[]);
    let other = two.place.at(".comail").display().to_string();
    let answer = insights(&one.place, &[".comail", &other]);
    assert_eq!(answer["sessions"].as_array().expect("sessions").len(), 2);
    assert_eq!(answer["all"]["passed"], 3);
    let alone = insights(&one.place, &[&other]);
    assert_eq!(alone["all"]["passed"], 1);
    assert_eq!(alone["rules"], json!([]));
}

#[test]
fn what_is_no_session_is_said_to_be_none() {
    let world = EmailNet::start();
    let run = world.place.run(["insights", ".comail", "nowhere"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    run.says("nowhere");
    let bad = world.place.run(["insights", "--half-life=0"]);
    assert_eq!(bad.code, 2);
}
