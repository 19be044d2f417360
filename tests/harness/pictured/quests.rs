//! Quests as the page shows them: of every state, with all that is told of each.

use comail::gate::Fact;
use comail::quest::{Key, Shown};
use comail::report::picture::{Excerpt, ExcerptLine, FactRows, QuestRow, Step, Worth};
use comail::session::{Effective, State};

use serde_json::json;

use super::{NAMES, RULES, later, small};
use crate::harness::made::id;

fn labelled(label: &str, text: impl Into<String>) -> Shown {
    let (label, text) = (label.to_owned(), text.into());
    Shown { label, text }
}

/// The quest at this place: of ten seven pass, and one each is REVIEW, DONE and TODO.
pub fn quest(index: usize) -> QuestRow {
    let effective = match (index % 10, index / 10 % 3) {
        (0..7, _) => Effective::Pass,
        (7, 0) => Effective::Open,
        (7, 1) => Effective::Accepted,
        (7, _) => Effective::Refuted,
        (8, _) => Effective::Done,
        _ => Effective::Todo,
    };
    let state = match effective {
        Effective::Pass => State::Pass,
        Effective::Done => State::Done,
        Effective::Todo => State::Todo,
        _ => State::Review,
    };
    let name = NAMES
        .get(index)
        .map_or_else(|| format!("Company {index} Ltd"), |name| (*name).to_owned());
    let settled = state != State::Todo;
    let email = format!("info@company-{index}.example");
    let facts = facts(index, state);
    let worth = match effective {
        Effective::Done | Effective::Refuted => Worth::Refuted,
        _ => Worth::Stands,
    };
    QuestRow {
        id: id(index),
        key: Key::new(&name).expect("a name"),
        state,
        effective,
        disputed: false,
        tries: small(if state == State::Done { 3 } else { index % 3 }),
        last: settled.then(|| later(index * 55 + 40)),
        took: settled.then(|| (index as u64 * 7919) % 400_000 + 900),
        worker: settled.then(|| format!("agent-{}", index % 3 + 1)),
        answer: if settled {
            answer(&name, &email, index)
        } else {
            Vec::new()
        },
        worth: settled.then_some(worth),
        shown: vec![
            labelled("City", "서울 · Seoul"),
            labelled("Phone", "+82 2 555 0100"),
        ],
        fired: fired(&facts, settled),
        facts,
        again: effective == Effective::Refuted,
        excerpts: if settled {
            vec![excerpt(index, &email)]
        } else {
            Vec::new()
        },
        history: history(index, state, effective),
        damage: (index == 11).then(|| "its evidence is not what the ledger says it was".to_owned()),
    }
}

fn answer(name: &str, email: &str, index: usize) -> Vec<Shown> {
    let site = format!("https://www.company-{index}.example");
    vec![
        labelled("company", name),
        labelled("site", &site),
        labelled("email", email),
        labelled(
            "source",
            format!("{site}/about/contact?lang=ko&from=\"home\""),
        ),
    ]
}

/// What fired in the end; what fired before is told by the history.
fn facts(index: usize, state: State) -> FactRows {
    if matches!(state, State::Pass | State::Todo) {
        return FactRows::default();
    }
    let turn = index / 10;
    FactRows {
        shown: [turn, turn + 2, turn + 4].map(|at| fact(index, at)).into(),
        left_out: 0,
    }
}

fn fact(index: usize, at: usize) -> Fact {
    let (rule, meaning, fails, _) = RULES[at % RULES.len()];
    let fact = json!({
        "rule": rule,
        "level": if fails { "FAIL" } else { "REVIEW" },
        "field": "email",
        "location": format!("https://www.company-{index}.example/contact, line 12"),
        "expected": meaning,
        "actual":
            "nowhere; of the site's domain it has\nsales@acme.example\n\t<b>press@acme.example</b>",
        "count": 1,
    });
    serde_json::from_value(fact).expect("a fact")
}

/// The rules of both submissions.
fn fired(facts: &FactRows, settled: bool) -> Vec<String> {
    let first = [RULES[0].0, RULES[4].0].map(str::to_owned);
    let mut fired: Vec<String> = first.into_iter().filter(|_| settled).collect();
    for fact in &facts.shown {
        let rule = fact.rule.as_str().to_owned();
        if !fired.contains(&rule) {
            fired.push(rule);
        }
    }
    fired
}

fn excerpt(index: usize, email: &str) -> Excerpt {
    let line = |text: &str, found| ExcerptLine {
        text: text.to_owned(),
        found,
    };
    Excerpt {
        of: format!("https://www.company-{index}.example/about/contact"),
        first: 112 + index % 900,
        lines: vec![
            line("Contact us · 문의", false),
            line(&format!("E-mail: {email} (weekdays)"), true),
            line(
                "Seoul contact office, <em>12</em> Mapo-daero, a long line that goes on and on so that it has to be broken somewhere before it ends",
                false,
            ),
        ],
    }
}

fn history(index: usize, state: State, effective: Effective) -> Vec<Step> {
    let step = |seconds: usize, what: &str, by: &str, notes: &[&str]| Step {
        at: later(index * 55 + seconds),
        what: what.to_owned(),
        by: Some(by.to_owned()),
        notes: notes.iter().map(|note| (*note).to_owned()).collect(),
        judged: false,
        facts: FactRows::default(),
    };
    let worker = format!("agent-{}", index % 3 + 1);
    let mut steps = vec![step(0, "handed out", &worker, &[])];
    if state != State::Todo {
        let failed = step(
            20,
            "FAIL",
            &worker,
            &["info@made-up.example", RULES[0].0, RULES[4].0],
        );
        let facts = FactRows {
            shown: vec![fact(index, 0)],
            left_out: 1,
        };
        steps.push(Step { facts, ..failed });
        steps.push(step(40, state.name(), &worker, &[]));
    }
    if effective == Effective::Accepted {
        steps.push(step(
            50,
            "accepted",
            "operator",
            &["called them,\nit is theirs"],
        ));
    }
    steps
}
