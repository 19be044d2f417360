//! A picture of a session as the page about it shows it: of every state, with names of many kinds.

mod quests;

use std::collections::BTreeMap;

use comail::base::Digest;
use comail::report::picture::{
    Bar, FunnelStep, Marks, Picture, QuestRow, Remaining, RuleRow, Spread, Word, WorkerRow,
};
use comail::report::run::{RunReport, Took};
use comail::report::{Overview, Resolutions};
use comail::session::{Reason, State, Tally};
use jiff::{SignedDuration, Timestamp};

use quests::quest;

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
        completeness: Some(Word {
            complete: false,
            shortfalls: vec![
                format!("{todo} quests are TODO"),
                format!("{review} REVIEWs are open or refuted"),
            ],
        }),
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
        completeness: None,
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
        tally,
        total: tally.total() + left_out,
        blocked: tally.done / 2,
        first_blocked: Vec::new(),
        unanchored: tally.pass / 3,
        carried: tally.pass / 5,
        resolutions: Resolutions {
            confirmed: 0,
            refuted: 1,
            open: 0,
        },
        effective,
        disputed: tally.review / 2,
        forgotten: 0,
        unsealed: 0,
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
