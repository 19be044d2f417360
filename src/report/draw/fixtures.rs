//! Events and quest records for tests.

use jiff::Timestamp;
use serde_json::Value;

use crate::base::Digest;
use crate::gate::{Fact, Judgement, Level};
use crate::quest::{Key, Quest, QuestId, Verdict};
use crate::session::{
    Attempt, Claimed, Event, Extended, Lease, QuestRecord, SourceRecord, Span, State,
};

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

pub(super) fn id(number: usize) -> QuestId {
    QuestId::from_index(number - 1).unwrap()
}

fn plain_quest(number: usize) -> Quest {
    Quest {
        rows: vec![u32::try_from(number).unwrap()],
        ..Quest::new(id(number), Key::new(&format!("quest {number}")).unwrap())
    }
}

pub(super) fn quest(number: usize) -> Event {
    Event::Quest(plain_quest(number))
}

pub(super) fn extended(added: u32) -> Event {
    Event::Extended(Extended {
        source: SourceRecord {
            path: "list.csv".to_owned(),
            sha256: Digest::of(b"list"),
            copy: "source-2.csv".to_owned(),
            list: Value::Null,
        },
        added,
    })
}

pub(super) fn claim(number: usize, worker: &str) -> Event {
    Event::Claim(Claimed {
        quest: id(number),
        worker: worker.parse().unwrap(),
        lease: Lease::DEFAULT,
    })
}

pub(super) fn attempt_by(worker: Option<&str>, verdict: Verdict) -> Attempt {
    Attempt {
        rules: vec!["some-rule".to_owned()],
        worker: worker.map(|name| name.parse().unwrap()),
        ..Attempt::sample(id(1), verdict, State::Todo)
    }
}

pub(super) fn attempt(number: usize, nth: u32, verdict: Verdict, state: State) -> Event {
    Event::Attempt(Box::new(Attempt {
        quest: id(number),
        number: nth,
        state,
        ..attempt_by(None, verdict)
    }))
}

pub(super) fn record(number: usize, state: State) -> QuestRecord {
    let span = Span {
        offset: 0,
        length: 0,
    };
    let mut record = QuestRecord::new(&plain_quest(number), span);
    record.progress.state = state;
    record
}

pub(super) fn fact(rule: &'static str, actual: &str) -> Fact {
    Fact {
        level: Level::Fail,
        count: 1,
        ..Fact::new(rule, "this", actual)
    }
}

pub(super) fn judgement(facts: Vec<Fact>) -> String {
    let judgement = Judgement::from_facts(facts, Vec::new());
    serde_json::to_string(&judgement).unwrap()
}
