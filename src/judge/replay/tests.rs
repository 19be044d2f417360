//! A session of one company in a written world, its attempts judged again.

use std::fs;
use std::num::NonZeroU32;
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::value::to_raw_value;
use tempfile::TempDir;

use super::*;
use crate::gate::email::context::EmailSettings;
use crate::judge::NothingAccepted;
use crate::judge::{Answer, email_record, submit};
use crate::quest::{FieldName, Key};
use crate::session::Session;
use crate::session::{Dated, FORMAT, Frozen, Lease, NewSession, Salt, SourceRecord, create};
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::evidence::{Exchange, pack};
use crate::world::sandbox::NoSandbox;
use crate::world::{Looked, RecordKind, World};

const WORLD: &str = r#"{
    "pages": {
        "https://acme.co.kr/": {"body": "<title>Acme Foods</title>"},
        "https://acme.co.kr/contact": {
            "body": "<p>info@acme.co.kr</p><footer>Acme Foods</footer>"
        },
        "https://acme.co.kr/slow": {"silence": "timeout"}
    },
    "dns": {
        "acme.co.kr": {"MX": [[10, "mx.acme.co.kr"]]},
        "mx.acme.co.kr": {"A": ["93.184.215.14"]}
    }
}"#;

struct Made {
    _home: TempDir,
    session: Session,
}

fn at() -> Timestamp {
    "2026-01-02T03:04:05.678Z".parse().unwrap()
}

fn salt() -> Salt {
    Salt([7; 16])
}

pub(in crate::judge) fn quest() -> Quest {
    Quest {
        id: QuestId::FIRST,
        key: Key::new("Acme Foods").unwrap(),
        anchor: None,
        shown: Vec::new(),
        known: Vec::new(),
        after: Vec::new(),
        rows: vec![1],
    }
}

fn made() -> Made {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("list.txt");
    fs::write(&source, "Acme Foods\n").unwrap();
    let dir = home.path().join("session");
    let manifest = Manifest {
        format: FORMAT,
        comail: "0.1.0".into(),
        created: at(),
        kind: email_record(),
        source: SourceRecord {
            path: source.display().to_string(),
            sha256: Digest::of(&fs::read(&source).unwrap()),
            copy: "source.txt".into(),
            list: serde_json::Value::Null,
        },
        forgotten: Vec::new(),
        frozen: Frozen {
            max_tries: NonZeroU32::new(5).unwrap(),
            pause_after: 0,
            lease: Lease::DEFAULT,
            operator_key: None,
            gate: serde_json::to_value(EmailSettings::default()).unwrap(),
            network: serde_json::Value::Null,
        },
    };
    let new = NewSession {
        stock: &crate::session::nothing_to_stock,
        watch: &crate::session::Unwatched,
        manifest: &manifest,
        source: &source,
        quests: &vec![quest()],
        now: at(),
    };
    create(&dir, &new, &mut (at, salt)).unwrap();
    let session = Session::open(&dir).unwrap();
    Made {
        _home: home,
        session,
    }
}

fn fields(email: &str, source: &str) -> Submission {
    let fields = [
        ("site", "https://acme.co.kr/"),
        ("email", email),
        ("source", source),
    ];
    let fields = fields.map(|(name, text)| (FieldName::known(name), text.to_owned()));
    Submission::Fields(fields.into())
}

const CONTACT: &str = "https://acme.co.kr/contact";

impl Made {
    fn submit(&mut self, submission: &Submission) -> Attempt {
        let world = RecordedWorld::from_json(WORLD).unwrap();
        let kind = SessionKind::load(self.session.manifest()).unwrap();
        let world = World {
            fetcher: &world,
            resolver: &world,
            accepted: &NothingAccepted,
            sandbox: &NoSandbox,
        };
        let id = QuestId::from_index(0).unwrap();
        submit(
            &mut self.session,
            Answer {
                quest: id,
                worker: None,
                submission,
            },
            &kind,
            world,
            &mut (at, salt),
        )
        .unwrap();
        let standing = self.session.standing(id).unwrap().unwrap();
        let Dated { value, .. } = self
            .session
            .reader()
            .unwrap()
            .last_attempt(&standing)
            .unwrap()
            .unwrap();
        *value
    }

    fn passed(&mut self) -> Attempt {
        self.submit(&fields("info@acme.co.kr", CONTACT))
    }

    fn again(&self, attempt: &Attempt) -> Result<String, ReplayError> {
        let earlier = self.session.repeats(attempt.quest, attempt.submitted);
        let earlier = earlier.unwrap().filter(|number| *number < attempt.number);
        let replayer = Replayer::new(self.session.manifest(), self.session.evidence())?;
        let judgement = replayer.replay(&quest(), &attempt.into(), earlier)?;
        Ok(serde_json::to_string(&judgement).unwrap())
    }

    fn longest_body(&self, attempt: &Attempt) -> PathBuf {
        let evidence = evidence(attempt);
        let longest = evidence.bodies().max_by_key(|body| body.bytes).unwrap();
        let name = longest.sha256.to_string();
        let (folder, file) = name.split_at(2);
        let file = format!("{file}.gz");
        self.session.dir().join("evidence").join(folder).join(file)
    }
}

fn evidence(attempt: &Attempt) -> Evidence {
    serde_json::from_str(attempt.evidence.get()).unwrap()
}

#[test]
fn every_kind_of_attempt_is_judged_the_same_again() {
    let mut made = made();
    let none = Submission::None("nobody answers".into());
    let wrong = fields("made.up@acme.co.kr", CONTACT);
    let local = fields("info@bolt.kr", CONTACT);
    for submission in [none, wrong.clone(), wrong, local] {
        let attempt = made.submit(&submission);
        assert_eq!(made.again(&attempt).unwrap(), attempt.judgement.get());
    }
    let attempt = made.submit(&fields("info@acme.co.kr", "https://acme.co.kr/slow"));
    assert_eq!(attempt.grounds, VerdictBasis::Unanswered);
    assert_eq!(made.again(&attempt).unwrap(), attempt.judgement.get());
}

#[test]
fn another_answer_of_the_world_is_another_judgement() {
    let mut made = made();
    let mut attempt = made.passed();
    let mut evidence = evidence(&attempt);
    for exchange in &mut evidence.exchanges {
        if let Exchange::Dns { kind, answer, .. } = exchange
            && *kind == RecordKind::Mx
        {
            *answer = Looked::NoSuchName;
        }
    }
    attempt.evidence = to_raw_value(&evidence).unwrap();
    let again = made.again(&attempt).unwrap();
    assert_ne!(again, attempt.judgement.get());
    assert!(again.contains("mx-missing"), "{again}");
}

#[test]
fn a_body_that_is_missing_changed_or_damaged_is_told_apart() {
    let mut made = made();
    let attempt = made.passed();
    let path = made.longest_body(&attempt);
    let (good, length) = {
        let packed = fs::read(&path).unwrap();
        let length = unpack(&packed, 1_000_000).unwrap().len();
        (packed, length)
    };

    fs::write(&path, pack(&vec![b'x'; length])).unwrap();
    let changed = made.again(&attempt);
    assert!(
        matches!(changed, Err(ReplayError::BodyChanged { .. })),
        "{changed:?}"
    );

    for bad in [&good[..good.len() - 1], &pack(&vec![b'x'; length + 1])] {
        fs::write(&path, bad).unwrap();
        let damaged = made.again(&attempt);
        assert!(
            matches!(damaged, Err(ReplayError::BodyDamaged { .. })),
            "{damaged:?}"
        );
    }

    fs::remove_file(&path).unwrap();
    let missing = made.again(&attempt);
    assert!(
        matches!(missing, Err(ReplayError::BodyMissing { .. })),
        "{missing:?}"
    );
}

#[test]
fn evidence_that_lost_an_answer_is_no_judgement() {
    let mut made = made();
    let mut attempt = made.passed();
    let whole = evidence(&attempt);
    for left_out in 0..whole.exchanges.len() {
        let mut less = whole.clone();
        less.exchanges.remove(left_out);
        attempt.evidence = to_raw_value(&less).unwrap();
        let again = made.again(&attempt);
        assert!(
            matches!(again, Err(ReplayError::Unanswered)),
            "{left_out}: {again:?}"
        );
    }
    attempt.evidence = to_raw_value("no evidence").unwrap();
    let again = made.again(&attempt);
    assert!(matches!(again, Err(ReplayError::Evidence(_))), "{again:?}");
}
