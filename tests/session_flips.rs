//! Ledgers that are torn at any byte, and ledgers and indexes in which any bit is flipped.
//!
//! Some bytes in each run, every one where `COMAIL_TEST_KILLS` asks for the long run.

use std::fs;

use comail::base::Digest;
use comail::judge::{self, Answer, Claimant, Judged, SessionKind};
use comail::quest::{FieldName, Submission};
use comail::session::{Repair, Session, SessionError, Worker};
use comail::world::World;
use comail::world::evidence::recorded::RecordedWorld;

use crate::harness::made::{Made, at, id, salt};
use crate::harness::scale::pick;

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
        submission: what,
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

/// Damage names the line of the flipped bit, or the next, whose chain it breaks.
#[track_caller]
fn assert_named(error: &SessionError, line: u64, what: &str) {
    match error {
        SessionError::Damaged { line: found, .. } => {
            assert!(*found == line || *found == line + 1, "{what}: {error}");
        }
        SessionError::ManifestChanged { .. } => assert_eq!(line, 1, "{what}: {error}"),
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
fn a_bit_that_flips_in_the_index_is_healed_by_a_fold_and_spoils_no_ledger() {
    let files = Files::worked();
    let truth = seen(&files.open().expect("a session")).expect("answers");
    for (place, bit) in places(files.index.len(), 80) {
        let what = format!("bit {bit} of byte {place}");
        let mut flipped = files.index.clone();
        flipped[place] ^= bit;
        files.put(&files.ledger, Some(&flipped));
        let folded = files.open().and_then(|mut session| session.fold());
        folded.unwrap_or_else(|error| panic!("{what}: {error}"));
        let mut session = files.open().expect("a session");
        assert_eq!(seen(&session).expect("answers"), truth, "{what}");
        session.fold().expect("a sound ledger");
        assert_eq!(session.repairs(), [], "{what}");
        assert_eq!(files.lies(), files.ledger, "{what}");
    }
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
