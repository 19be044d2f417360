//! A picture of a session as the page about it shows it: of every state, with names of many kinds.

use std::collections::BTreeMap;

use comail::base::Digest;
use comail::gate::Fact;
use comail::quest::{Key, Shown};
use comail::report::picture::{
    Bar, Excerpt, ExcerptLine, FactRows, FunnelStep, Marks, Picture, QuestRow, Remaining, RuleRow,
    Spread, Step, Word, WorkerRow, Worth,
};
use comail::report::run::{RunReport, Took};
use comail::report::{Overview, Rechecked};
use comail::session::{Effective, Reason, State, Tally, WorldKind};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::harness::made::id;

/// The names that come first; those after them are numbered.
pub const NAMES: [&str; 12] = [
    "Acme Foods",
    "한빛상사 주식회사",
    "<script>alert('hello')</script> & \"Sons\"",
    "株式会社アクメ",
    "Ünïcode Bäckerei GmbH & Co. KG",
    "Evil\u{202e}moc.elgoog\u{200b}",
    "' onmouseover='alert(1)",
    "שלום עולם בע״מ",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "Delta Mills",
    "Harbour & Finch Instruments",
    "Zweite Wiese Genossenschaft",
];

/// Rules with what they mean, whether they make a FAIL, and how often in a hundred they fire.
const RULES: [(&str, &str, bool, u32); 6] = [
    ("email-not-on-source", "not on the page", true, 57),
    ("domain-mismatch", "of another domain", true, 31),
    ("email-obfuscated", "only `a [at] b`", false, 17),
    ("company-mentioned-only", "no owner's name", false, 9),
    ("mx-missing", "no mail can be sent", true, 5),
    ("source-unanswered", "no answer", false, 1),
];

/// The moment of the first line.
fn began() -> Timestamp {
    "2026-03-02T08:00:00Z".parse().expect("a time")
}

fn later(seconds: usize) -> Timestamp {
    let seconds = i64::try_from(seconds).expect("a short session");
    began() + SignedDuration::from_secs(seconds)
}

/// The picture of a session of so many quests.
pub fn picture(quests: usize, left_out: u32) -> Picture {
    let rows: Vec<QuestRow> = (0..quests).map(quest).collect();
    let count = |state| rows.iter().filter(|row| row.state == state).count();
    let [pass, review, done, todo] = State::ALL.map(|state| small(count(state)));
    let tally = Tally {
        todo,
        pass,
        review,
        done,
    };
    Picture {
        title: "companies <2026> & partners.xlsx".to_owned(),
        kind: "email".to_owned(),
        unit: "company".to_owned(),
        at: later(quests * 55 + 600),
        comail: "0.1.0".to_owned(),
        completeness: Word {
            unproven: None,
            left_out: 0,
            complete: false,
            settled: None,
            shortfalls: vec![
                format!("{todo} quests are TODO"),
                format!("{review} REVIEWs are open or refuted"),
            ],
        },
        overview: overview(&rows, tally, left_out),
        burn_down: burn_down(&rows),
        funnel: funnel(small(quests)),
        rules: rules(small(quests)),
        times: spread(
            small(quests),
            [900, 127_000, 262_000, 401_000],
            (0, 30_000),
            &[2, 6, 14, 22, 18, 13, 9, 6, 4, 2, 0, 1, 1, 1],
        ),
        tries: spread(small(quests), [1, 1, 3, 3], (1, 1), &[71, 18, 11]),
        workers: workers(),
        runs: vec![
            run("7f3a09c2", Reason::WallClock),
            run("80b11d4e", Reason::Breaker),
        ],
        quests: rows,
        left_out,
        head: Digest::of(b"the last line"),
    }
}

/// The picture of a session in which nothing happened.
pub fn empty() -> Picture {
    Picture {
        completeness: Word {
            unproven: None,
            complete: false,
            settled: None,
            left_out: 0,
            shortfalls: vec!["0 quests are PASS".to_owned()],
        },
        burn_down: Vec::new(),
        funnel: Vec::new(),
        rules: Vec::new(),
        times: Spread::default(),
        tries: Spread::default(),
        workers: Vec::new(),
        runs: Vec::new(),
        ..picture(0, 0)
    }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).expect("a small number")
}

fn overview(rows: &[QuestRow], tally: Tally, left_out: u32) -> Overview {
    let mut effective = BTreeMap::new();
    for row in rows {
        *effective.entry(row.effective).or_insert(0) += 1;
    }
    Overview {
        world: WorldKind::Live,
        tally,
        total: tally.total() + left_out,
        blocked: tally.done / 2,
        first_blocked: Vec::new(),
        unanchored: tally.pass / 3,
        rendered: 0,
        from_markup: 0,
        carried: tally.pass / 5,
        rechecked: Rechecked {
            confirmed: 0,
            refuted: 1,
            undecided: 0,
        },
        effective,
        disputed: tally.review / 2,
        sample: None,
        forgotten: 0,
        unsealed: 0,
        behind: None,
        attempts: tally.total() * 2,
        rules: Vec::new(),
        streak: 0,
        paused: false,
        head: Digest::of(b"the last line"),
    }
}

/// It falls with every quest that was settled, after a night in which nothing happened.
fn burn_down(rows: &[QuestRow]) -> Vec<Remaining> {
    let settled = rows.iter().filter(|row| row.state != State::Todo);
    let first = Remaining {
        at: began(),
        left: small(rows.len()),
        grew: false,
    };
    let night = SignedDuration::from_secs(i64::from(small(rows.len())) * 20);
    let falls = settled.enumerate().map(|(index, row)| Remaining {
        at: row.last.unwrap_or_default() + night * i32::from(index * 2 > rows.len()),
        left: small(rows.len() - index - 1),
        grew: false,
    });
    [first].into_iter().chain(falls).collect()
}

fn funnel(quests: u32) -> Vec<FunnelStep> {
    let steps = [
        ("format", 4),
        ("placeholder", 2),
        ("freemail", 5),
        ("domain", 12),
        ("source", 38),
        ("mail", 6),
        ("identity", 9),
    ];
    let mut reached = quests * 2;
    let steps = steps.into_iter().map(|(name, percent)| {
        let stopped = quests * 2 * percent / 100;
        let step = FunnelStep {
            name: name.to_owned(),
            reached,
            stopped,
        };
        reached -= stopped;
        step
    });
    steps.collect()
}

fn rules(quests: u32) -> Vec<RuleRow> {
    let rules = RULES.map(|(rule, meaning, fails, percent)| RuleRow {
        rule: rule.to_owned(),
        meaning: Some(meaning.to_owned()),
        fails: Some(fails),
        submissions: quests * percent / 100,
    });
    let unknown = RuleRow {
        rule: "<i>old-rule</i>".to_owned(),
        meaning: None,
        fails: None,
        submissions: 1,
    };
    rules.into_iter().chain([unknown]).collect()
}

/// Bars from `first` on, each `step` wide, with these percents of the quests.
fn spread(
    quests: u32,
    [least, median, ninth, most]: [u64; 4],
    (first, step): (u64, u64),
    percents: &[u32],
) -> Spread {
    let bars = (0..).zip(percents).map(|(slot, percent)| Bar {
        from: first + slot * step,
        to: first + (slot + 1) * step - 1,
        quests: quests * percent / 100,
    });
    Spread {
        known: quests * 9 / 10,
        marks: Some(Marks {
            least,
            median,
            ninth,
            most,
        }),
        bars: bars.collect(),
    }
}

fn workers() -> Vec<WorkerRow> {
    let worker = |name: Option<&str>, submissions| WorkerRow {
        name: name.map(str::to_owned),
        submissions,
        pass: submissions * 6 / 10,
        review: submissions / 10,
        fail: submissions * 3 / 10,
    };
    vec![
        worker(Some("agent-1"), 430),
        worker(Some("agent-<2>"), 1310),
        worker(
            Some("agent-with-a-name-that-somebody-made-very-long-indeed"),
            90,
        ),
        worker(None, 10),
    ]
}

fn run(name: &str, reason: Reason) -> RunReport {
    RunReport {
        run: name.parse().expect("a run's name"),
        agent: "claude -p --output-format stream-json".to_owned(),
        model: Some("a-model-5".to_owned()),
        then: Vec::new(),
        workers: 4,
        began: later(60),
        ended: Some(later(4000)),
        reason: Some(reason),
        quests: 84,
        settled: 80,
        took: Took {
            starts: 97,
            lost: u32::from(reason == Reason::Breaker),
            milliseconds: 9_431_000,
            tokens: 1_523_411,
            cost: Some(4_120_000_000),
            estimated: 3,
            unpriced: 0,
        },
    }
}

fn labelled(label: &str, text: impl Into<String>) -> Shown {
    let (label, text) = (label.to_owned(), text.into());
    Shown { label, text }
}

/// The quest at this place: of ten seven pass, and one each is REVIEW, DONE and TODO.
fn quest(index: usize) -> QuestRow {
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
    let email = match index {
        3 => "kontakt@northwind-tools.example".to_owned(),
        _ => format!("info@company-{index}.example"),
    };
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
