//! `comail report` on what runs left: whole ones, and one that was killed.

use std::fs::{self, File};

use comail::quest::QuestId;
use comail::session::{
    Appended, Began, Claimed, DrivenAttempt, DrivenQuest, Event, Reason, RunId, RunLine, RunStep,
    Salt, Session, Spent, Worker,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::harness::letters::{LETTERS, Letters};

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
fn append(letters: &Letters, events: Vec<Event>) {
    let mut session = Session::open(&letters.place.at(".comail")).expect("a session");
    let appended = session.append(&mut (|| Timestamp::now(), || Salt([7; 16])), |_, _| {
        Ok::<_, ()>(events)
    });
    assert!(matches!(appended, Ok(Appended::Done)), "{appended:?}");
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
    append(&letters, vec![began(FIRST, "codex"), claim(FIRST, 1, 1)]);
    assert_eq!(answer(&letters, 1, "pay 10", &worker(FIRST, 1)), 0);
    append(
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
    append(
        letters,
        vec![released, began(SECOND, "claude"), claim(SECOND, 1, 2)],
    );
    assert_eq!(answer(letters, 2, "is due", &worker(SECOND, 1)), 0);
    append(
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
