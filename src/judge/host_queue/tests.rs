//! Queues whose threads die or have nothing to do.

use super::*;
use crate::base::Digest;
use crate::gate::GateSettings;
use crate::judge::quest_file::email_record;
use crate::quest::{FieldName, Key, QuestId};
use crate::session::{FORMAT, Frozen, Lease, SourceRecord};
use crate::world::{
    Fetched, Fetcher, Looked as Answer, RecordKind, Request, Resolver, Unanswered, UnansweredKind,
};

fn manifest() -> Manifest {
    Manifest {
        format: FORMAT,
        comail: "0.1.0".into(),
        created: "2026-01-02T03:04:05Z".parse().unwrap(),
        kind: email_record(),
        source: SourceRecord {
            path: "list.txt".into(),
            sha256: Digest::of(b""),
            copy: "source.txt".into(),
            list: serde_json::Value::Null,
        },
        forgotten: Vec::new(),
        frozen: Frozen {
            max_tries: std::num::NonZeroU32::MIN,
            pause_after: 0,
            lease: Lease::DEFAULT,
            operator_key: None,
            gate: serde_json::to_value(GateSettings::default()).unwrap(),
            network: serde_json::Value::Null,
            world: None,
        },
    }
}

fn job(index: usize, domain: &str) -> Job {
    let fields = [
        ("site", format!("https://{domain}/")),
        ("email", format!("info@{domain}")),
        ("source", format!("https://www.{domain}/contact")),
    ];
    let fields = fields.map(|(name, text)| (FieldName::known(name), text));
    Job {
        quest: Quest {
            rows: vec![1],
            ..Quest::new(
                QuestId::from_index(index).unwrap(),
                Key::new("Acme Foods").unwrap(),
            )
        },
        submission: Submission::Fields(fields.into()),
        offline: None,
    }
}

/// A world in which nothing answers; `asked` is called with the host of each page.
struct Mute<F>(F);

impl<F: Fn(&str)> Fetcher for Mute<F> {
    fn get(&self, request: &Request) -> Fetched {
        (self.0)(request.url.host_str().unwrap_or_default());
        Fetched::Unanswered(Unanswered::new(UnansweredKind::Timeout, "mute"))
    }
}

impl<F> Resolver for Mute<F> {
    fn lookup(&self, _name: &HostName, _kind: RecordKind) -> Answer {
        Answer::Unanswered(Unanswered::new(UnansweredKind::Dns, "mute"))
    }
}

fn start(
    jobs: Vec<Job>,
    world: Mute<impl Fn(&str) + Send + Sync + 'static>,
) -> Result<HostQueue, JudgeError> {
    HostQueue::start(
        jobs,
        &manifest(),
        Arc::new(JudgeWorld::recorded(Arc::new(world), None)),
    )
}

fn never() -> bool {
    false
}

#[test]
fn reports_a_dead_thread() {
    let world = Mute(|host: &str| assert_ne!(host, "www.cursed.com", "as the test means it"));
    let jobs = vec![job(0, "acme.co.kr"), job(1, "cursed.com")];
    let mut queue = start(jobs, world).unwrap();
    assert!(matches!(queue.next(&never).unwrap(), Next::Judged(_)));
    let ended = queue.next(&never);
    assert!(matches!(ended, Err(JudgeError::Deserted(1))), "{ended:?}");
    assert!(matches!(queue.next(&never).unwrap(), Next::Done));
    let mut nothing = start(Vec::new(), Mute(|_: &str| ())).unwrap();
    assert!(matches!(nothing.next(&never).unwrap(), Next::Done));
}

#[test]
fn groups_pages_by_registrable_domain() {
    let site = |source: &str| {
        let fields = [(email::SOURCE, source.to_owned())];
        site_of(&Submission::Fields(fields.into()))
    };
    assert_eq!(
        site("https://www.acme.co.kr/a"),
        site("http://acme.co.kr:81/")
    );
    assert_ne!(site("https://a.github.io/"), site("https://b.github.io/"));
    assert_ne!(site("http://10.0.0.1/"), site("http://10.0.0.2/"));
    assert_eq!(site("no URL"), None);
    assert_eq!(site_of(&Submission::None("why".into())), None);
}
