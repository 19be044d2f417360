//! How long the page about a session takes to write, and how large it is, by the number of quests
//! that were judged. Numbers on the command line are taken for the sizes:
//! `cargo bench --bench page -- 2000`.

use std::fs;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use comail::base::Digest;
use comail::gate::GateSettings;
use comail::gate::{CheckOutcome, CheckReport, Fact, Judgement, Level, RuleId};
use comail::judge;
use comail::quest::{Fields, Key, Quest, QuestId, Submission, Verdict, email};
use comail::session::{
    Attempt, Event, FORMAT, Frozen, Lease, Manifest, NewSession, Salt, Session, SessionError,
    SourceRecord, State, VerdictBasis, create,
};
use comail::world::Response;
use comail::world::evidence::{BodyRef, Evidence, Exchange, PageAnswer, pack};
use jiff::Timestamp;
use serde_json::value::to_raw_value;

/// How often each page is written; the median counts.
const ROUNDS: usize = 3;

/// The checks of the e-mail gate, as judgements name them.
const CHECKS: [&str; 7] = [
    "format",
    "placeholder",
    "freemail",
    "domain",
    "source",
    "mail",
    "identity",
];

fn main() {
    let named: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let benched = std::env::args().any(|arg| arg == "--bench");
    let sizes: &[usize] = match named.as_slice() {
        [] if benched => &[10_000, 100_000],
        [] => &[100],
        named => named,
    };
    let mut out = std::io::stdout().lock();
    let mut say = |line: String| writeln!(out, "{line}").expect("a reader");
    say(format!("{:>10}{:>12}{:>12}", "quests", "ms", "bytes"));
    for size in sizes {
        let home = tempfile::tempdir().expect("a directory");
        let session = session(home.path(), *size);
        let (took, bytes) = exported(home.path(), &session);
        say(format!("{size:>10}{:>12}{bytes:>12}", took.as_millis()));
    }
}

/// The median time of a report as a page, and its size.
fn exported(home: &Path, session: &Path) -> (Duration, u64) {
    let page = home.join("page.html");
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            let mut command = Command::new(env!("CARGO_BIN_EXE_comail"));
            command.arg("--session").arg(session);
            let report = command.args(["report", "--force", "--out"]).arg(&page);
            let ended = report.output().expect("the program starts");
            assert!(matches!(ended.status.code(), Some(0 | 8)), "{ended:?}");
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    let bytes = fs::metadata(&page).expect("a page").len();
    (times[ROUNDS / 2], bytes)
}

fn salt() -> Salt {
    Salt([7; 16])
}

/// A session of `count` quests in `home`, each of which was judged.
fn session(home: &Path, count: usize) -> PathBuf {
    let list = home.join("list.csv");
    fs::write(&list, "company\n").expect("a file");
    let dir = home.join("session");
    let quests: Vec<Quest> = (0..count).map(quest).collect();
    let new = NewSession {
        stock: &comail::session::nothing_to_stock,
        watch: &comail::session::Unwatched,
        manifest: &manifest(&list),
        source: &list,
        quests: &quests,
        now: Timestamp::UNIX_EPOCH,
    };
    create(&dir, &new, &mut (|| new.now, salt)).expect("a session");
    let mut session = Session::open(&dir).expect("a session");
    let store = session.evidence();
    let mut stock = |digest, body: &[u8]| store.stock(digest, &pack(body)).expect("evidence");
    let indexes: Vec<usize> = (0..count).collect();
    for (minute, some) in indexes.chunks(100).enumerate() {
        let attempts = some.iter().flat_map(|index| attempts(*index, &mut stock));
        let attempts: Vec<Event> = attempts.collect();
        let seconds = i64::try_from(minute).expect("few enough") * 60;
        let now = Timestamp::from_second(seconds).expect("a time");
        let decide = |_: &Session, _| Ok::<_, SessionError>((attempts, ()));
        let appended = session.append(&mut (|| now, salt), decide);
        appended.expect("an append");
    }
    dir
}

fn id(index: usize) -> QuestId {
    QuestId::from_index(index).expect("few enough")
}

fn name(index: usize) -> String {
    format!("한빛상사 Trading {index}")
}

fn quest(index: usize) -> Quest {
    Quest {
        rows: vec![u32::try_from(index + 2).expect("few enough")],
        ..Quest::new(id(index), Key::new(&name(index)).expect("not blank"))
    }
}

fn manifest(list: &Path) -> Manifest {
    Manifest {
        forgotten: Vec::new(),
        format: FORMAT,
        comail: "0.1.0".to_owned(),
        created: Timestamp::UNIX_EPOCH,
        kind: judge::email_record(),
        source: SourceRecord {
            path: list.display().to_string(),
            sha256: Digest::of(b"company\n"),
            copy: "source.csv".to_owned(),
            list: serde_json::Value::Null,
        },
        frozen: Frozen {
            max_tries: NonZeroU32::MIN.saturating_add(2),
            pause_after: 0,
            lease: Lease::DEFAULT,
            operator_key: None,
            gate: serde_json::to_value(GateSettings::default()).expect("JSON"),
            network: serde_json::json!({}),
            world: None,
        },
    }
}

/// Of twenty quests two are DONE, one is TODO, three are REVIEW and the rest PASS.
fn attempts(index: usize, stock: &mut dyn FnMut(Digest, &[u8])) -> Vec<Event> {
    use State::{Done, Pass, Review, Todo};
    let of: &[(Verdict, State)] = match index % 20 {
        0 | 1 => &[
            (Verdict::Fail, Todo),
            (Verdict::Fail, Todo),
            (Verdict::Fail, Done),
        ],
        2 => &[(Verdict::Fail, Todo)],
        3..=5 => &[(Verdict::Review, Review)],
        _ => &[(Verdict::Pass, Pass)],
    };
    let (mut tries, mut events) = (0, Vec::new());
    for (number, (verdict, state)) in (1..).zip(of) {
        tries += u32::from(*verdict == Verdict::Fail);
        let submission = submission(index, number);
        let judgement = judgement(*verdict);
        events.push(Event::Attempt(Box::new(Attempt {
            quest: id(index),
            number,
            submitted: submission.digest(),
            submission,
            verdict: *verdict,
            grounds: VerdictBasis::Confirmed,
            state: *state,
            tries,
            rules: judgement
                .facts
                .iter()
                .map(|it| it.rule.to_string())
                .collect(),
            anchored: false,
            seen: None,
            revision: false,
            accepted: None,
            holds: Vec::new(),
            worker: None,
            idempotency_key: None,
            judgement: to_raw_value(&judgement).expect("JSON"),
            evidence: to_raw_value(&evidence(index, stock)).expect("JSON"),
        })));
    }
    events
}

fn submission(index: usize, number: u32) -> Submission {
    let site = format!("https://www.firm{index}.co.kr/");
    let source = format!("{site}contact?{number}");
    let email = format!("info@firm{index}.co.kr");
    let fields = [
        (email::SITE, site),
        (email::EMAIL, email),
        (email::SOURCE, source),
    ];
    Submission::Fields(Fields::from(fields))
}

fn judgement(verdict: Verdict) -> Judgement {
    let (level, outcome) = match verdict {
        Verdict::Pass => (None, CheckOutcome::Passed),
        Verdict::Review => (Some(Level::Review), CheckOutcome::NotConfirmed),
        Verdict::Fail => (Some(Level::Fail), CheckOutcome::Failed),
    };
    let fact = level.map(|level| Fact {
        cause: comail::gate::Cause::Wrong,
        rule: RuleId::given("email-not-on-source".to_owned()),
        level,
        field: Some(email::EMAIL),
        location: None,
        expected: "the whole address on the page".into(),
        actual: "it is not there".into(),
        count: 1,
        remedy: None,
    });
    let checks = CHECKS.map(|check| CheckReport {
        check: check.to_owned(),
        outcome: match check {
            "source" => outcome,
            "mail" | "identity" if outcome == CheckOutcome::Failed => CheckOutcome::NotRun,
            _ => CheckOutcome::Passed,
        },
    });
    Judgement::from_facts(fact.into_iter().collect(), checks.into())
}

/// A page of some 10 KB that shows the address at its end.
fn evidence(index: usize, stock: &mut dyn FnMut(Digest, &[u8])) -> Evidence {
    let name = name(index);
    let lines: Vec<String> = (0..120)
        .map(|line| {
            format!(
                "<p>{name} sells its goods number {line} since {}</p>\n",
                1900 + line
            )
        })
        .collect();
    let lines = lines.concat();
    let html = format!(
        "<!doctype html><title>{name}</title><h1>{name}</h1>{lines}\
         <footer>Write to info@firm{index}.co.kr</footer>"
    );
    let body = BodyRef::of(html.as_bytes());
    stock(body.sha256, html.as_bytes());
    let answer = PageAnswer::Response(Response {
        status: 200,
        content_type: Some("text/html; charset=utf-8".to_owned()),
        location: None,
        refresh: None,
        disposition: None,
        body,
    });
    let url = format!("https://www.firm{index}.co.kr/contact");
    let url = url.parse().expect("a URL");
    Evidence {
        exchanges: vec![Exchange::Get { url, answer }],
    }
}
