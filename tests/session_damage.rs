//! Ledgers, settings, copies and indexes that were torn, edited, lost or flipped in a bit, and
//! commands that are killed at any moment.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{fs, thread};

use comail::base::Digest;
use comail::judge::{self, Answer, Claimant, Judged, SessionKind};
use comail::quest::{FieldName, Submission};
use comail::session::{Repair, Session, SessionError, Worker};
use comail::world::World;
use comail::world::evidence::recorded::RecordedWorld;
use serde_json::Value;

use crate::harness::EmailNet;
use crate::harness::email_net::ACME;
use crate::harness::made::{Made, at, id, salt};
use crate::harness::scale::{self, pick};

/// A session with one failed attempt, and its ledger.
fn tried() -> (EmailNet, PathBuf, Vec<u8>) {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    assert_eq!(world.place.give_up(1), 5);
    let path = world.place.at(".comail/ledger.jsonl");
    let bytes = fs::read(&path).expect("a ledger");
    (world, path, bytes)
}

#[test]
fn a_torn_last_line_is_cut_off_with_a_note() {
    let (world, path, whole) = tried();
    let last = whole.iter().rposition(|byte| *byte == b'{').unwrap();
    for (torn, command) in [
        (whole[..whole.len() - 1].to_vec(), "next"),
        (whole[..last].to_vec(), "status"),
        ([&whole[..], b"{\"seq\":4,\"at\":"].concat(), "export"),
        ([&whole[..], &[0; 4096]].concat(), "status"),
    ] {
        fs::write(&path, &torn).unwrap();
        let run = world.place.run([command]);
        run.says("incomplete last line");
        let note = format!("note: {}", ".comail/ledger.jsonl");
        run.says(&note);
        assert!(!run.stdout.contains("torn"), "{run:?}");
        run.exits(0);
        let healed = fs::read(&path).unwrap();
        assert!(healed.ends_with(b"\n") && whole.starts_with(&healed));
        let again = world.place.run([command, "--json"]);
        assert!(!again.stderr.contains("torn"), "{again:?}");
        fs::remove_file(world.place.at("companies.comail.csv")).ok();
    }
}

#[test]
fn a_submit_goes_on_behind_a_torn_line() {
    let (world, path, whole) = tried();
    fs::write(&path, [&whole[..], b"{\"seq\":4"].concat()).unwrap();
    let run = world.place.run(["submit", "--id=1", "--none=again"]);
    assert_eq!(
        run.stderr.matches("incomplete last line").count(),
        1,
        "{run:?}"
    );
    run.exits(5);
    assert_eq!(world.place.attempts(), [(1, 1), (1, 2)]);
    assert!(world.place.ledger().starts_with(&whole));
}

#[test]
fn damage_elsewhere_is_refused_by_every_command_and_nothing_is_written() {
    let (world, path, whole) = tried();
    world.spoils();
    assert_eq!(world.place.give_up(1), 5);
    let good = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    let join = |lines: &[&str]| (lines.join("\n") + "\n").into_bytes();
    let mut swapped = lines.clone();
    swapped.swap(3, 4);
    let mut early = lines.clone();
    let half = &lines[2][..lines[2].len() / 2];
    early[2] = half;
    let mut latin1 = good.clone().into_bytes();
    latin1[whole.len() + 5] = 0xff;
    let edited = |from: &str, to: &str| {
        let edited = good.replacen(from, to, 1);
        assert_ne!(edited, good, "{from}");
        edited.into_bytes()
    };
    let damage = [
        (Vec::new(), 1),
        (join(&lines[1..]), 1),
        (join(&[&lines[..2], &lines[3..]].concat()), 3),
        (join(&swapped), 4),
        (join(&early), 3),
        (join(&[&lines[..], &[lines[4]]].concat()), 6),
        (good.replace("looked", "locked").into_bytes(), 4),
        (latin1, 5),
        ([good.as_bytes(), b"\n"].concat(), 6),
    ];
    let edits = [
        (edited("\"verdict\":\"FAIL\"", "\"verdict\":\"PASS\""), 4),
        (edited("\"state\":\"TODO\"", "\"state\":\"PASS\""), 4),
        (edited("\"tries\":1", "\"tries\":0"), 4),
        (edited(ACME, "Evil Foods"), 2),
    ];
    // With the index gone the whole ledger is read, and with it what lies before the last line.
    let lost = damage.iter().chain(&edits).map(|bad| (bad, true));
    for ((bad, line), lost) in damage.iter().map(|bad| (bad, false)).chain(lost) {
        fs::write(&path, bad).unwrap();
        if lost {
            fs::remove_file(world.place.at(".comail/index.sqlite")).ok();
        }
        for (args, code) in [
            (&["next"][..], 1),
            (&["submit", "--id=1", "--none=x"], 1),
            (&["status"], 1),
            (&["resume"], 1),
            (&["export"], 8),
            (&["scan", "companies.txt", "--update"], 1),
        ] {
            let run = world.place.run(args);
            let place = format!("ledger.jsonl, line {line}: ");
            assert!(run.stderr.contains(&place), "{args:?} {place}: {run:?}");
            assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{args:?}");
            assert_eq!(fs::read(&path).unwrap(), *bad, "{args:?}");
        }
    }
    assert!(!world.place.at("companies.comail.csv").exists());
}

#[test]
fn a_lost_ledger_is_not_begun_anew() {
    let (world, path, _) = tried();
    world.spoils();
    fs::remove_file(&path).unwrap();
    for command in ["next", "status", "export"] {
        let run = world.place.run([command]);
        run.says("ledger.jsonl");
        run.exits(1);
    }
    assert_eq!(world.place.give_up(1), 1);
    assert!(!path.exists());
}

#[test]
fn a_copy_of_the_list_that_was_edited_is_not_exported() {
    let (world, _, _) = tried();
    let copy = world.place.at(".comail/source.txt");
    let good = fs::read(&copy).unwrap();
    fs::write(&copy, "Evil Foods\nBolt Toys\n").unwrap();
    let run = world.place.run(["export"]);
    run.says("source.txt was changed");
    run.exits(8);
    assert!(!world.place.at("companies.comail.csv").exists());
    fs::remove_file(&copy).unwrap();
    let run = world.place.run(["export"]);
    run.says("source.txt");
    run.exits(1);
    fs::write(&copy, good).unwrap();
    world.place.write("companies.txt", "Evil Foods\n");
    let run = world.place.run(["export"]);
    run.says("has changed since it was scanned");
    run.ok();
    let out = fs::read_to_string(world.place.at("companies.comail.csv")).unwrap();
    assert!(out.contains(ACME) && !out.contains("Evil"), "{out}");
}

#[test]
fn settings_that_do_not_read_are_refused_with_their_name() {
    let (world, _, _) = tried();
    world.spoils();
    let path = world.place.at(".comail/session.json");
    let good = fs::read_to_string(&path).unwrap();
    for bad in [
        String::new(),
        "{}".to_owned(),
        "[".repeat(100_000),
        "\u{0}".to_owned(),
        good.replace("\"format\": 1", "\"format\": 2"),
        good.replace("\"format\": 1", "\"format\": -1"),
        good.replace("\"created\"", "\"created\": 1, \"created\""),
    ] {
        fs::write(&path, &bad).unwrap();
        for command in ["next", "status", "export"] {
            let run = world.place.run([command]);
            run.says("session.json");
            run.exits(1);
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), bad);
    }
    let newer = good.replace("\"format\": 1", "\"format\": 2");
    fs::write(&path, newer).unwrap();
    let run = world.place.run(["next"]);
    run.says("is of format 2");
}

const KEYS: [&str; 4] = ["Acme Foods", "Bolt Toys", "Cargo Ring", "Delta Works"];

/// Everything that a session is asked here, written out.
type Seen = String;

fn seen(session: &Session) -> Result<Seen, SessionError> {
    let mut text = format!("{:?} {}", session.totals(), session.head());
    for (index, key) in KEYS.into_iter().enumerate() {
        let record = session.quest_record(id(index))?.expect("a quest");
        let last = session.reader()?.last_attempt(&record)?;
        // Its time is vouched for by the line behind it: who shows it reads the chain.
        let last = last.map(|last| (last.value.number, last.value.submitted));
        let quest = session.reader()?.quest(&record)?;
        let claim = session.claim_on(record.id)?;
        let repeats = session.repeats(record.id, wrong().digest())?;
        let said = format!("\n{key}: {record:?} {quest:?} {last:?} {claim:?} {repeats:?}");
        text.push_str(&said);
    }
    session.each_key(&mut |key| text += key.as_str())?;
    let claims = format!("{:?} {:?}", session.claims()?, session.first_free(at())?);
    Ok(text + &claims)
}

fn wrong() -> Submission {
    let fields = [
        ("site", "https://acme.co.kr/"),
        ("email", "info@acme.co.kr"),
        ("source", "https://acme.co.kr/contact"),
    ];
    Submission::Fields(
        fields
            .map(|(name, text)| (FieldName::known(name), text.into()))
            .into(),
    )
}

fn submit(
    session: &mut Session,
    quest: usize,
    worker: Option<&Worker>,
    what: &Submission,
) -> Judged {
    let nothing = RecordedWorld::from_json("{\"pages\": {}}").expect("a world");
    let kind = SessionKind::load(session.manifest()).expect("a kind");
    let world = World {
        fetcher: &nothing,
        resolver: &nothing,
        accepted: &judge::NothingAccepted,
        sandbox: &comail::world::sandbox::NoSandbox,
    };
    let answer = Answer {
        quest: id(quest),
        worker,
        key: judge::CallKey::None,
        submission: what,
        files: judge::AnswerFiles::WorkingTree,
    };
    judge::submit(session, answer, &kind, world, &mut (at, salt)).expect("an outcome")
}

fn claim(session: &mut Session, name: &str) -> Worker {
    let worker: Worker = name.parse().expect("a name");
    let claimant = Claimant {
        worker: worker.clone(),
        lease: None,
    };
    judge::assign(session, Some(&claimant), &mut (at, salt)).expect("a quest");
    worker
}

/// A session with attempts and claims, as its files lie there.
struct Files {
    made: Made,
    ledger: Vec<u8>,
    index: Vec<u8>,
}

impl Files {
    fn new(work: impl Fn(&mut Session)) -> Self {
        let made = Made::new(&KEYS, 0);
        work(&mut made.open());
        let [ledger, index] = ["ledger.jsonl", "index.sqlite"]
            .map(|name| fs::read(made.at(name)).expect("a file of the session"));
        Self {
            made,
            ledger,
            index,
        }
    }

    fn worked() -> Self {
        Self::new(|session| {
            let worker = claim(session, "w1");
            submit(session, 0, Some(&worker), &wrong());
            submit(session, 1, None, &Submission::None("tried".into()));
            claim(session, "w2");
        })
    }

    /// Puts these files in place; without an index where there is none.
    fn put(&self, ledger: &[u8], index: Option<&[u8]>) {
        fs::write(self.made.at("ledger.jsonl"), ledger).expect("a ledger");
        let place = self.made.at("index.sqlite");
        match index {
            Some(index) => fs::write(place, index).expect("an index"),
            None => fs::remove_file(place).unwrap_or_default(),
        }
    }

    fn lies(&self) -> Vec<u8> {
        fs::read(self.made.at("ledger.jsonl")).expect("a ledger")
    }

    fn open(&self) -> Result<Session, SessionError> {
        Session::open(&self.made.dir())
    }

    /// The number of the line at this byte, from 1.
    fn line(&self, place: usize) -> u64 {
        let before = self.ledger[..place].iter().filter(|byte| **byte == b'\n');
        before.count() as u64 + 1
    }

    fn lines(&self) -> u64 {
        self.line(self.ledger.len() - 1)
    }
}

/// Some of so many places, or all of them in the long run, each with a bit.
fn places(length: usize, some: usize) -> impl Iterator<Item = (usize, u8)> {
    let count = pick(some, length);
    (0..count).map(move |n| {
        // A step that shares no factor with the length, near enough, meets each part of it.
        let place = if count == length {
            n
        } else {
            (n * (length / some) + n * 7) % length
        };
        (place, 1 << (n % 8))
    })
}

/// The first digits of the numbers in the rows of an index. Each may become another digit, and
/// `SQLite` and JSON see no damage in that.
fn numbers(index: &[u8]) -> impl Iterator<Item = usize> {
    let starts = index.windows(3).enumerate();
    starts
        .filter(|(_, bytes)| bytes.starts_with(b"\":") && bytes[2].is_ascii_digit())
        .map(|(place, _)| place + 2)
}

/// Damage names the line of the flipped bit, or the next, whose chain it breaks.
#[track_caller]
fn assert_named(error: &SessionError, line: u64, what: &str) {
    match error {
        SessionError::Damaged { line: found, .. } => {
            assert!(*found == line || *found == line + 1, "{what}: {error}");
        }
        SessionError::ManifestChanged(_) => assert_eq!(line, 1, "{what}: {error}"),
        other => panic!("{what}: {other}"),
    }
}

#[test]
fn a_bit_that_flips_in_the_ledger_is_never_folded_in_silence() {
    let files = Files::worked();
    let truth = seen(&files.open().expect("a session")).expect("answers");
    let last = files.lines();
    for (place, bit) in places(files.ledger.len(), 120) {
        let line = files.line(place);
        let what = format!("bit {bit} of byte {place}, line {line} of {last}");
        let mut flipped = files.ledger.clone();
        flipped[place] ^= bit;
        files.put(&flipped, Some(&files.index));
        let answers = files
            .open()
            .and_then(|session| Ok((seen(&session)?, session.repairs())));
        match answers {
            Ok((answers, mended)) => {
                assert!(
                    answers == truth || (line == last && !mended.is_empty()),
                    "{what}"
                );
            }
            Err(error) => assert_named(&error, line, &what),
        }
        files.put(&flipped, Some(&files.index));
        let folded = files.open().and_then(|mut session| {
            session.fold()?;
            Ok(session.repairs())
        });
        match folded {
            // The last line has no line behind it that would vouch for its time; the index does.
            Ok(mended) => assert!(line == last && !mended.is_empty(), "{what}: {mended:?}"),
            Err(error) => assert_named(&error, line, &what),
        }
        let lies = files.lies();
        assert!(
            lies == flipped || (line == last && flipped.starts_with(&lies)),
            "{what}"
        );
        files.put(&flipped, None);
        match files.open() {
            Ok(_) => assert_eq!(line, last, "{what}"),
            Err(error) => assert_named(&error, line, &what),
        }
    }
}

#[test]
fn a_bit_that_flips_in_the_index_changes_no_answer_and_spoils_no_ledger() {
    let files = Files::worked();
    let truth = seen(&files.open().expect("a session")).expect("answers");
    let numbers: Vec<_> = numbers(&files.index).map(|place| (place, 1)).collect();
    assert!(numbers.len() > 40, "{}", numbers.len());
    for (place, bit) in places(files.index.len(), 80).chain(numbers) {
        let what = format!("bit {bit} of byte {place}");
        let mut flipped = files.index.clone();
        flipped[place] ^= bit;
        files.put(&files.ledger, Some(&flipped));
        let session = files
            .open()
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let answers = seen(&session).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(answers, truth, "{what}");
        drop(session);
        files.put(&files.ledger, Some(&flipped));
        let mut session = files.open().expect("a session");
        let worker = "w1".parse().expect("a name");
        let again = submit(&mut session, 0, Some(&worker), &wrong());
        let rule = again.judgement.facts[0].rule.as_str();
        assert_eq!((rule, again.attempt), ("repeated-submission", 2), "{what}");
        claim(&mut session, "w3");
        session
            .fold()
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let mut session = files.open().expect("a session");
        session.fold().expect("a sound ledger");
        assert_eq!(session.repairs(), [], "{what}");
    }
}

/// What `SQLite` cannot see in its file is seen all the same: nobody acts on a row that changed.
#[test]
fn a_value_of_the_index_that_changes_on_the_disk_is_never_acted_on() {
    let world = EmailNet::with(&KEYS, &["--set=scan.pause-after=2"]);
    let place = &world.place;
    let files = ["ledger.jsonl", "index.sqlite"].map(|name| place.at(".comail").join(name));
    let said = |args: &[&str]| {
        let (code, mut said) = place.json(args);
        // It is counted up to now.
        said["pace"] = Value::Null;
        (code, said)
    };
    let answers = |index: &[u8]| {
        let ledger = fs::read(&files[0]).expect("a ledger");
        let submit = ["submit", "--id=3", "--none=elsewhere"];
        let answers = [&["next"][..], &["status"], &submit].map(|args| {
            fs::write(&files[1], index).expect("an index");
            said(args)
        });
        fs::write(&files[0], ledger).expect("a ledger");
        answers
    };
    let unseen = |pairs: &[(&str, &str)]| {
        let index = fs::read(&files[1]).expect("an index");
        let truth = answers(&index);
        for (from, to) in pairs {
            let mut changed = index.clone();
            let rows = index.windows(from.len()).enumerate();
            let found: Vec<_> = rows
                .filter(|(_, bytes)| *bytes == from.as_bytes())
                .collect();
            assert!(!found.is_empty() && from.len() == to.len(), "{from}");
            for (start, _) in found {
                changed[start..start + to.len()].copy_from_slice(to.as_bytes());
            }
            assert_eq!(answers(&changed), truth, "{from} became {to}");
        }
        fs::write(&files[1], index).expect("an index");
        truth
    };
    assert_eq!([3, 3, 1, 1].map(|id| place.give_up(id)), [5; 4]);
    let truth = unseen(&[
        (r#""state":"TODO","tries":2"#, r#""state":"TODO","tries":0"#),
        (r#""state":"TODO","tries":2"#, r#""state":"PASS","tries":2"#),
        (r#"TODO{"id":1"#, r#"DONE{"id":1"#),
        (r#""tally":{"todo":4"#, r#""tally":{"todo":0"#),
        (r#""attempts":2"#, r#""attempts":0"#),
    ]);
    assert_eq!(truth.map(|(code, _)| code), [0, 0, 6]);
    assert_eq!([1, 2, 2, 2].map(|id| place.give_up(id)), [6, 5, 5, 6]);
    let truth = unseen(&[
        (r#""streak":2"#, r#""streak":0"#),
        (r#""tally":{"todo":2"#, r#""tally":{"todo":0"#),
        (r#""state":"DONE""#, r#""state":"PASS""#),
    ]);
    assert_eq!(truth.map(|(code, _)| code), [9, 0, 9]);
}

#[test]
fn a_bit_that_flips_in_the_settings_is_found() {
    let files = Files::worked();
    let path = files.made.at("session.json");
    let whole = fs::read(&path).expect("settings");
    for (place, bit) in places(whole.len(), 40) {
        let mut flipped = whole.clone();
        flipped[place] ^= bit;
        fs::write(&path, &flipped).expect("settings");
        assert!(files.open().is_err(), "bit {bit} of byte {place}");
    }
    assert_eq!(files.lies(), files.ledger);
}

/// A ledger is torn behind its last line but one, at each of these bytes.
#[track_caller]
fn torn(what: &str, step: usize, before: impl Fn(&mut Session), last: impl Fn(&mut Session)) {
    let (shorter, files) = {
        let files = Files::new(before);
        let shorter = (files.ledger.clone(), files.index.clone());
        last(&mut files.open().expect("a session"));
        let [ledger, index] = ["ledger.jsonl", "index.sqlite"]
            .map(|name| fs::read(files.made.at(name)).expect("a file"));
        (
            shorter,
            Files {
                ledger,
                index,
                ..files
            },
        )
    };
    let kept = shorter.0.len();
    assert_eq!(files.lines() - files.line(kept) + 1, 1, "{what}");
    files.put(&shorter.0, Some(&shorter.1));
    let truth = seen(&files.open().expect("a session")).expect("answers");
    for cut in (kept..files.ledger.len()).step_by(pick(step, 1)) {
        for index in [Some(&shorter.1), None, Some(&files.index)] {
            files.put(&files.ledger[..cut], index.map(Vec::as_slice));
            let mut session = files
                .open()
                .unwrap_or_else(|error| panic!("{what} {cut}: {error}"));
            let tails = session.repairs().into_iter();
            let tails: Vec<_> = tails
                .filter(|mended| matches!(mended, Repair::Tail { .. }))
                .collect();
            assert_eq!(
                tails.len(),
                usize::from(cut > kept),
                "{what} {cut}: {tails:?}"
            );
            assert_eq!(files.lies(), shorter.0, "{what} {cut}");
            assert_eq!(seen(&session).expect("answers"), truth, "{what} {cut}");
            last(&mut session);
            let folded = files.open().and_then(|mut session| {
                session.fold()?;
                Ok((session.repairs(), session.head()))
            });
            let (mended, head) = folded.unwrap_or_else(|error| panic!("{what} {cut}: {error}"));
            assert_eq!(mended, [], "{what} {cut}");
            // The same happened at the same time, so the ledger is the same.
            assert_eq!(files.lies(), files.ledger, "{what} {cut}");
            assert_ne!(head, Digest::of(b""), "{what} {cut}");
        }
    }
}

#[test]
fn a_torn_tail_heals_whatever_the_line_was() {
    torn(
        "a claim",
        29,
        |_| {},
        |session| {
            claim(session, "w1");
        },
    );
    torn(
        "an attempt",
        83,
        |session| {
            claim(session, "w1");
        },
        |session| {
            let worker = "w1".parse().expect("a name");
            submit(session, 0, Some(&worker), &wrong());
        },
    );
}

#[test]
fn a_torn_quest_is_cut_off_and_no_other_goes_with_it() {
    let files = Files::new(|_| {});
    let end = files.ledger.len() - 1;
    let last = files.ledger[..end]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .expect("lines")
        + 1;
    for cut in (last..=end).step_by(pick(17, 1)) {
        for index in [None, Some(files.index.as_slice())] {
            files.put(&files.ledger[..cut], index);
            let mut session = files.open().expect("a session");
            // Nothing that `scan` has acknowledged can be torn by a crash: whoever did it is told.
            assert_eq!(
                index.is_some() || cut > last,
                !session.repairs().is_empty(),
                "{cut}"
            );
            let projection = session.fold().expect("a sound ledger");
            assert_eq!(projection.count(), KEYS.len() - 1, "{cut}");
            assert_eq!(files.lies(), &files.ledger[..last], "{cut}");
        }
    }
}

/// How many commands of one worker are killed; `COMAIL_TEST_KILLS` asks for more.
const KILLS: u64 = 60;

const WORKERS: u64 = 4;

/// `SplitMix64`: the same moments in every run of the test.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The moments at which commands are killed: before and after their answer, however fast the
/// machine is just now.
struct Moments {
    dice: Dice,
    /// About how long a command takes.
    whole: Duration,
}

impl Moments {
    fn new(seed: u64, whole: Duration) -> Moments {
        let dice = Dice(seed);
        Moments { dice, whole }
    }

    /// A share of the whole, up to one and a quarter.
    fn next(&mut self) -> Duration {
        let share = u32::try_from(self.dice.roll() % 1_250).expect("a small number");
        self.whole * share / 1_000
    }

    /// Moves the whole to where every second answer is heard.
    fn learn(&mut self, heard: bool) {
        self.whole = if heard {
            self.whole * 4 / 5
        } else {
            self.whole * 5 / 4
        };
    }
}

/// Runs a command, kills it at the next moment, and returns what it said until then.
fn cut_short(world: &EmailNet, args: &[String], moments: &mut Moments) -> Option<Value> {
    let mut command = world.place.command();
    let command = command.args(args);
    // A kill in the middle of adding to a shared file of counts would spoil it.
    let command = command.env("LLVM_PROFILE_FILE", "/dev/null");
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().expect("the program starts");
    // The moment is the test's subject; there is nothing to wait for instead.
    thread::sleep(moments.next());
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let mut said = String::new();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_to_string(&mut said).expect("UTF-8");
    let said = serde_json::from_str(&said).ok();
    moments.learn(said.is_some());
    said
}

/// What workers heard before they were killed.
#[derive(Default)]
struct Heard {
    attempts: Vec<(u64, u64)>,
    claims: Vec<(u64, String)>,
    unheard: usize,
}

impl Heard {
    fn take(&mut self, answer: &Value) {
        if let (Some(id), Some(number)) = (answer["id"].as_u64(), answer["attempt"].as_u64()) {
            self.attempts.push((id, number));
        }
        let claim = &answer["claim"];
        if let (Some(quest), Some(worker)) = (claim["quest"].as_u64(), claim["worker"].as_str()) {
            self.claims.push((quest, worker.to_owned()));
        }
    }
}

/// A session with a quest for each kill at least, and about how long a command takes in it.
struct Mill {
    world: EmailNet,
    quests: u64,
    whole: Duration,
    /// How many quests were left when they were counted last.
    left: Mutex<u64>,
}

impl Mill {
    fn new(kills: u64) -> Self {
        let quests = kills.max(24) + WORKERS;
        let names: Vec<String> = (1..=quests).map(|n| format!("{ACME} {n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let world = EmailNet::with(&names, &["--set=scan.pause-after=0"]);
        let began = Instant::now();
        let first = world.right("acme.co.kr").email("first@acme.co.kr");
        assert_eq!(world.submit(1, &first).0, 5);
        Self {
            world,
            quests,
            whole: began.elapsed(),
            left: Mutex::new(quests),
        }
    }

    /// A worker that asks for quests and answers them, and is killed each time.
    fn toil(&self, worker: u64, kills: u64, after_each: impl Fn(&Heard)) -> Heard {
        let world = &self.world;
        let (mut moments, mut heard) = (Moments::new(worker, self.whole), Heard::default());
        let name = format!("--worker=w{worker}");
        let next = ["next", &name, "--lease=1h", "--json"].map(str::to_owned);
        for turn in 0..kills {
            let asked = cut_short(world, &next, &mut moments).unwrap_or_else(|| {
                let (code, answer) = world.place.json(&next[..3]);
                assert!(matches!(code, 0 | 3 | 4), "{answer}");
                answer
            });
            heard.take(&asked);
            let id = asked["quest"]["id"].as_u64().expect("enough quests");
            let id = u32::try_from(id).expect("a short list");
            let right = world.right("acme.co.kr");
            let mut args = match turn % 4 {
                0 => right.args(id),
                1 | 2 => {
                    let email = format!("made.up{worker}.{turn}@acme.co.kr");
                    right.email(&email).args(id)
                }
                _ => vec![
                    "submit".into(),
                    format!("--id={id}"),
                    format!("--none={turn}"),
                ],
            };
            args.extend([name.clone(), "--json".to_owned()]);
            match cut_short(world, &args, &mut moments) {
                Some(answer) => heard.take(&answer),
                None => heard.unheard += 1,
            }
            // Nobody counts twice at once, so that a later count is of a later moment.
            let mut left = self.left.lock().expect("no worker panics");
            let (code, status) = world.place.json(["status"]);
            assert_eq!((code, &status["total"]), (0, &self.quests.into()));
            let now = status["tally"]["todo"].as_u64().expect("a number");
            assert!(now <= *left, "{now} of {left} after kill {turn}");
            *left = now;
            after_each(&heard);
        }
        heard
    }

    /// Everything that was acknowledged is in the ledger, and no attempt is in it twice.
    fn assert_kept(&self, heard: &Heard) {
        let attempts = self.world.place.attempts();
        let once = attempts.iter().collect::<HashSet<_>>();
        assert_eq!(once.len(), attempts.len(), "{attempts:?}");
        for attempt in &heard.attempts {
            assert!(attempts.contains(attempt), "{attempt:?} is lost");
        }
        let text = String::from_utf8(self.world.place.ledger()).expect("UTF-8");
        for (quest, worker) in &heard.claims {
            let claim = format!("\"body\":{{\"quest\":{quest},\"worker\":\"{worker}\"");
            assert!(text.contains(&claim), "{claim} is lost");
        }
    }
}

#[test]
fn no_acknowledged_attempt_is_lost_and_remaining_never_grows() {
    let kills = scale::kills(KILLS);
    let mill = Mill::new(kills);
    let heard = mill.toil(7, kills, |heard| {
        // A process that died is no finding.
        mill.world.place.run(["audit"]).ok();
        mill.assert_kept(heard);
    });
    // Moments on both sides of the acknowledgement were met.
    let (unheard, attempts) = (heard.unheard, heard.attempts.len());
    assert!(unheard > 0 && attempts > 0, "{unheard} unheard of {kills}");
    mill.world.place.run(["export"]).ok();
}

#[test]
fn workers_that_are_killed_together_lose_nothing_and_take_nothing_twice() {
    let kills = scale::kills(KILLS / 2);
    let mill = Mill::new(kills);
    let heard: Vec<Heard> = thread::scope(|scope| {
        let mill = &mill;
        let toil = |worker| scope.spawn(move || mill.toil(worker, kills / WORKERS, |_| {}));
        let workers: Vec<_> = (1..=WORKERS).map(toil).collect();
        let ends = workers.into_iter().map(thread::ScopedJoinHandle::join);
        ends.map(|end| end.expect("no worker panics")).collect()
    });
    for heard in &heard {
        mill.assert_kept(heard);
    }
    assert!(heard.iter().any(|heard| !heard.attempts.is_empty()));
    mill.world.place.run(["audit"]).ok();
    // The fold finds any line that cannot have happened, such as an answer of one who lost its
    // quest; what a killed command left behind is mended by then.
    let open = || Session::open(&mill.world.place.at(".comail")).expect("a session");
    open().fold().expect("a sound ledger");
    let mut again = open();
    again.fold().expect("a sound ledger");
    assert_eq!(again.repairs(), []);
    mill.world.place.run(["export"]).ok();
}
