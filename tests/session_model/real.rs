//! The session itself, before a world that was written down.

use std::cell::{Cell, RefCell};

use comail::judge::{self, Answer, Assignment, Claimant, JudgeError, Refusal, SessionKind};
use comail::quest::{FieldName, Submission};
use comail::session::{Event, Lease, Mark, Released, Resumed, Session, SessionError, Worker};
use comail::world::World;
use comail::world::evidence::recorded::RecordedWorld;
use comail::world::{Fetched, Fetcher, Request};
use jiff::Timestamp;
use serde_json::{Map, json};

use super::{KEYS, Order, PAUSE_AFTER, Said, Seen, Sent, Step, Who};
use crate::harness::email_net::{CONTACT_LINK, of_all, page};
use crate::harness::made::{Made, at, id, salt};
use crate::harness::postgres::{self, Cluster};
use crate::harness::replayed::assert_replays;

const DOMAINS: [&str; 3] = ["acme.co.kr", "bolt.co.kr", "cargo.co.kr"];

pub struct Real {
    made: Made,
    world: RecordedWorld,
    now: Cell<i64>,
}

/// The world, in which something happens when it is first asked.
struct Midway<'a> {
    real: &'a Real,
    during: Cell<&'a [Step]>,
    said: RefCell<Vec<Said>>,
}

impl Fetcher for Midway<'_> {
    fn get(&self, request: &Request) -> Fetched {
        for step in self.during.take() {
            let said = self.real.take(step);
            self.said.borrow_mut().extend(said);
        }
        self.real.world.get(request)
    }
}

impl Real {
    pub fn new(order: Order) -> Self {
        let mut made = Made::in_order(&KEYS, &order, PAUSE_AFTER);
        if postgres::holds_all_sessions() {
            made = made.into_database(&Cluster::shared());
        }
        Self {
            made,
            world: RecordedWorld::from_json(&world()).expect("a world"),
            now: Cell::new(at().as_millisecond()),
        }
    }

    /// What each command of a step says, those in the middle of another before it.
    pub fn take(&self, step: &Step) -> Vec<Said> {
        vec![match step {
            Step::Next(who, lease) => self.next(*who, *lease),
            Step::Submit(who, quest, sent, during) => {
                return self.submit(*who, *quest, *sent, during);
            }
            Step::Release(quest) => self.release(*quest),
            Step::Resume => self.resume(),
            Step::Pass(milliseconds) => {
                self.now.set(self.now.get() + milliseconds);
                self.made.set_time(self.time());
                Said::Done
            }
            Step::LoseIndex => {
                // It may be gone already: nobody has asked for it since.
                std::fs::remove_file(self.made.at("index.sqlite")).ok();
                Said::Nothing
            }
            Step::Fold => {
                self.assert_clean();
                Said::Nothing
            }
        }]
    }

    pub fn seen(&self) -> Seen {
        let session = self.made.open();
        assert_eq!(session.repairs(), []);
        let totals = session.totals();
        let records = (0..KEYS.len()).map(|index| {
            let record = session.quest_record(id(index)).expect("an answer");
            let record = record.expect("a quest");
            let progress = record.progress;
            (progress.state.name(), progress.tries, record.attempts)
        });
        let claims = session.claims().expect("claims").into_iter();
        let sharer = Mark("mailbox info@holding.co.kr".to_owned());
        let free = session.first_free(self.time()).expect("an answer");
        Seen {
            quests: records.collect(),
            claims: claims
                .map(|claim| {
                    let (at, lease) = (claim.at.as_millisecond(), claim.lease.seconds());
                    (claim.quest.index(), number(&claim.worker), at, lease)
                })
                .collect(),
            tally: {
                let tally = totals.tally;
                [tally.todo, tally.pass, tally.review, tally.done]
            },
            streak: totals.streak,
            paused: session.paused(),
            sharer: session
                .holder(&sharer)
                .expect("an answer")
                .map(|s| s.id.index()),
            free: free.map(|record| record.id.index()),
        }
    }

    /// Holds the index against the ledger, and judges every attempt again.
    pub fn close(&self) {
        self.assert_clean();
        assert_replays(&self.made.dir());
    }

    fn assert_clean(&self) {
        let mut session = self.made.open();
        session.fold().expect("a sound ledger");
        assert_eq!(session.repairs(), []);
    }

    fn time(&self) -> Timestamp {
        Timestamp::from_millisecond(self.now.get()).expect("a time")
    }

    fn next(&self, who: Who, lease: Option<u32>) -> Said {
        let claimant = who.map(|who| Claimant {
            worker: worker(who),
            lease: lease.map(|seconds| Lease::try_from(seconds).expect("a lease")),
        });
        let mut session = self.made.open();
        let clock = &mut || self.time();
        match judge::assign(&mut session, claimant.as_ref(), &mut (clock, salt)).expect("a quest") {
            Assignment::Quest(record, claim) => {
                let claim = claim.map(|claim| {
                    assert_eq!(claim.quest, record.id);
                    let (at, lease) = (claim.at.as_millisecond(), claim.lease.seconds());
                    (number(&claim.worker), at, lease)
                });
                Said::Given(record.id.index(), claim)
            }
            Assignment::Driven => panic!("no run goes on"),
            Assignment::AllClaimed => Said::AllClaimed,
            Assignment::Waiting(waiting) => Said::Waiting(
                waiting.quests.len(),
                waiting
                    .blocked
                    .iter()
                    .map(|found| found.quest.index())
                    .collect(),
            ),
            Assignment::Complete => Said::Complete,
            Assignment::Paused { streak } => Said::Paused(streak),
        }
    }

    fn submit(&self, who: Who, quest: usize, sent: Sent, during: &[Step]) -> Vec<Said> {
        let worker = who.map(worker);
        let submission = submission(quest, sent);
        let answer = Answer {
            quest: id(quest),
            worker: worker.as_ref(),
            key: judge::CallKey::None,
            submission: &submission,
            files: judge::AnswerFiles::WorkingTree,
        };
        let midway = Midway {
            real: self,
            during: Cell::new(during),
            said: RefCell::default(),
        };
        let mut session = self.made.open();
        let kind = SessionKind::load(session.manifest()).expect("a kind");
        let world = World {
            fetcher: &midway,
            resolver: &self.world,
            accepted: &judge::NothingAccepted,
            sandbox: &comail::world::sandbox::NoSandbox,
        };
        let clock = &mut || self.time();
        let outcome = judge::submit(&mut session, answer, &kind, world, &mut (clock, salt));
        let mut said = midway.said.into_inner();
        let refusal = match outcome {
            Ok(judged) => {
                let verdict = judged.judgement.verdict.to_string();
                let verdicts = ["PASS", "FAIL", "REVIEW"];
                let verdict = verdicts.into_iter().find(|known| *known == verdict);
                let (state, left) = (judged.state.name(), judged.tally.todo);
                let verdict = verdict.expect("a verdict");
                said.push(Said::Judged(
                    verdict,
                    state,
                    judged.tries,
                    judged.attempt,
                    left,
                ));
                return said;
            }
            Err(JudgeError::Refused(refusal)) => refusal,
            Err(error) => panic!("{error:?}"),
        };
        said.push(match refusal {
            Refusal::Locked { state } => Said::Locked(state.name()),
            Refusal::Claimed { worker } => Said::Claimed(number(&worker)),
            Refusal::Waits { quest, .. } => Said::Waits(quest.index()),
            Refusal::Overtaken => Said::Overtaken,
            Refusal::Paused { streak } => Said::Paused(streak),
        });
        said
    }

    fn append(&self, session: &mut Session, event: Event) {
        let appended = session.append(&mut (|| self.time(), salt), |_, _| {
            Ok::<_, SessionError>((vec![event], ()))
        });
        assert!(appended.is_ok(), "{appended:?}");
    }

    fn release(&self, quest: usize) -> Said {
        let mut session = self.made.open();
        let Some(claim) = session.claim_on(id(quest)).expect("an answer") else {
            return Said::Nothing;
        };
        let (quest, worker) = (claim.quest, claim.worker);
        let who = number(&worker);
        self.append(&mut session, Event::Released(Released { quest, worker }));
        Said::Released(who)
    }

    fn resume(&self) -> Said {
        let mut session = self.made.open();
        if !session.paused() {
            return Said::Nothing;
        }
        let streak = session.totals().streak;
        self.append(&mut session, Event::Resumed(Resumed { streak }));
        Said::Done
    }
}

fn worker(who: u8) -> Worker {
    format!("worker-{who}").parse().expect("a name")
}

fn number(worker: &Worker) -> u8 {
    let digits = worker.as_str().strip_prefix("worker-").expect("a worker");
    digits.parse().expect("a number")
}

fn submission(quest: usize, sent: Sent) -> Submission {
    let domain = DOMAINS[quest];
    let page = |path: &str| format!("https://{domain}/{path}");
    let [site, email, source] = match sent {
        Sent::Nothing(why) => return Submission::None(format!("tried {why} ways")),
        Sent::Right => [page(""), format!("info@{domain}"), page("contact")],
        Sent::MadeUp(n) => [page(""), format!("ceo{n}@{domain}"), page("contact")],
        Sent::Freemail => [page(""), format!("office.{quest}@gmail.com"), page("free")],
        Sent::Silent => [page(""), format!("info@{domain}"), page("slow")],
        Sent::SilentAndWrong => [page(""), format!("info@nomail.{domain}"), page("slow")],
        Sent::Shared => {
            let page = |path| format!("https://holding.co.kr/{path}");
            [page(""), "info@holding.co.kr".to_owned(), page("contact")]
        }
    };
    let fields = [("site", site), ("email", email), ("source", source)];
    Submission::Fields(
        fields
            .map(|(name, text)| (FieldName::known(name), text))
            .into(),
    )
}

const HOLDING: &str = "holding.co.kr";

/// The companies, and a holding that names them all.
fn world() -> String {
    let (mut pages, mut names) = (Map::new(), Map::new());
    let (_, notice) = of_all(&KEYS, "");
    pages.insert(format!("https://{HOLDING}/legal"), json!({"body": notice}));
    let companies = DOMAINS.into_iter().zip(KEYS);
    let companies = companies.chain([(HOLDING, KEYS[0])]);
    for (index, (domain, name)) in companies.enumerate() {
        for (path, text) in [
            ("", format!("{CONTACT_LINK} <a href=/free>Contact</a>")),
            ("contact", format!("info@{domain}")),
            ("free", format!("office.{index}@gmail.com")),
        ] {
            let body = match domain {
                HOLDING => of_all(&KEYS, &text).0,
                _ => page(name, &text),
            };
            pages.insert(format!("https://{domain}/{path}"), json!({"body": body}));
        }
        let slow = json!({"silence": "timeout"});
        pages.insert(format!("https://{domain}/slow"), slow);
        names.insert(domain.to_owned(), json!({"MX": [[10, "mx.kr"]]}));
        names.insert(format!("nomail.{domain}"), json!({"MX": [[0, "."]]}));
    }
    names.insert("gmail.com".to_owned(), json!({"MX": [[10, "mx.kr"]]}));
    names.insert("mx.kr".to_owned(), json!({"A": ["93.184.215.14"]}));
    json!({"pages": pages, "dns": names}).to_string()
}
