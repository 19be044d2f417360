//! Crowds before worlds that say who is asked at the same time.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;
use crate::base::Digest;
use crate::gate::email::context::EmailSettings;
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
            gate: serde_json::to_value(EmailSettings::default()).unwrap(),
            network: serde_json::Value::Null,
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
            id: QuestId::from_index(index).unwrap(),
            key: Key::new("Acme Foods").unwrap(),
            anchor: None,
            shown: Vec::new(),
            known: Vec::new(),
            after: Vec::new(),
            rows: vec![1],
        },
        submission: Submission::Fields(fields.into()),
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
    HostQueue::start(jobs, &manifest(), Arc::new(JudgeWorld::recorded(world)))
}

fn never() -> bool {
    false
}

fn all(crowd: &mut HostQueue) -> Vec<usize> {
    let mut indices = Vec::new();
    while let Next::Judged(judged) = crowd.next(&never).unwrap() {
        indices.push(judged.job.quest.id.index());
    }
    indices.sort_unstable();
    indices
}

#[test]
fn hosts_are_asked_at_the_same_time() {
    const HOSTS: usize = 5;
    // Each of them waits for all the others.
    let barrier = Barrier::new(HOSTS);
    let met = Mutex::new(BTreeMap::<String, usize>::new());
    let world = Mute(move |host: &str| {
        let count = {
            let mut met = met.lock().unwrap();
            let count = met.entry(host.to_owned()).or_default();
            *count += 1;
            *count
        };
        if count == 1 && host.starts_with("www.") {
            barrier.wait();
        }
    });
    // Twenty of one site come first, and are more than there are threads.
    let first = (0..20).map(|index| job(index, "acme.co.kr"));
    let others = (20..24).map(|index| job(index, &format!("bolt{index}.com")));
    let jobs = first.chain(others).collect();
    let mut crowd = start(jobs, world).unwrap();
    assert!(all(&mut crowd).into_iter().eq(0..24));
    assert_eq!(crowd.left(), 0);
}

#[test]
fn one_site_is_asked_by_one_at_a_time() {
    let (busy, worst) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&worst);
    let world = Mute(move |_: &str| {
        let now = busy.fetch_add(1, Ordering::SeqCst) + 1;
        seen.fetch_max(now, Ordering::SeqCst);
        thread::yield_now();
        busy.fetch_sub(1, Ordering::SeqCst);
    });
    let jobs = (0..40).map(|index| job(index, "acme.co.kr")).collect();
    let mut crowd = start(jobs, world).unwrap();
    assert_eq!(all(&mut crowd).len(), 40);
    assert_eq!(worst.load(Ordering::SeqCst), 1);
}

#[test]
fn whoever_is_asked_to_stop_waits_for_no_lookup_and_keeps_what_is_judged() {
    // The second site answers only when the test is over.
    let over = Arc::new(Barrier::new(2));
    let last = Arc::clone(&over);
    let stuck = Arc::new(AtomicBool::new(false));
    let is_stuck = Arc::clone(&stuck);
    let world = Mute(move |host: &str| {
        if host == "www.slow.com" && !is_stuck.swap(true, Ordering::SeqCst) {
            last.wait();
        }
    });
    let jobs = vec![job(0, "acme.co.kr"), job(1, "slow.com"), job(2, "slow.com")];
    let mut crowd = start(jobs, world).unwrap();
    let next = crowd.next(&never).unwrap();
    assert!(matches!(next, Next::Judged(judged) if judged.job.quest.id.index() == 0));
    let stop = || stuck.load(Ordering::SeqCst);
    let next = crowd.next(&stop).unwrap();
    assert!(matches!(next, Next::Stopped), "{next:?}");
    assert_eq!(crowd.left(), 2);
    over.wait();
}

#[test]
fn a_thread_that_dies_is_told_of() {
    let world = Mute(|host: &str| assert_ne!(host, "www.cursed.com", "as the test means it"));
    let jobs = vec![job(0, "acme.co.kr"), job(1, "cursed.com")];
    let mut crowd = start(jobs, world).unwrap();
    assert!(matches!(crowd.next(&never).unwrap(), Next::Judged(_)));
    let ended = crowd.next(&never);
    assert!(matches!(ended, Err(JudgeError::Deserted(1))), "{ended:?}");
    assert!(matches!(crowd.next(&never).unwrap(), Next::Done));
}

#[test]
fn nothing_to_do_is_done_at_once() {
    let mut crowd = start(Vec::new(), Mute(|_: &str| ())).unwrap();
    assert!(matches!(crowd.next(&never).unwrap(), Next::Done));
}

#[test]
fn pages_of_one_registrable_domain_are_one_site() {
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
