//! Submissions, a recorded world and pages for the tests of the steps.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;

use url::Url;

use super::context::{Context, EMAIL, EmailSettings, Places, SITE, SOURCE};
use super::step::Step;
use crate::gate::{Case, Fact};
use crate::quest::{Anchor, Fields, Key, Quest, QuestId, Submission};
use crate::world::domain::HostName;
use crate::world::fetch::visit::{self, End, Hop, Visit};
use crate::world::page::{OwnerPlace, OwnerText, Page};
use crate::world::sandbox::NoSandbox;
use crate::world::{
    Fetched, Fetcher, Looked, MockFetcher, MockResolver, MockUniquenessIndex, MxHost, RecordKind,
    Records, Request, Resolver, Response, Unanswered, UnansweredKind, UniqueValue, UniquenessIndex,
    World,
};

/// One case, built from a good one.
#[derive(Debug, Clone)]
pub struct Bench {
    quest: Quest,
    submission: Submission,
    settings: EmailSettings,
}

impl Bench {
    /// A submission that passes every step without a lookup.
    pub fn good() -> Self {
        Self::of(
            "https://acme.co.kr/",
            "info@acme.co.kr",
            "https://acme.co.kr/contact",
        )
    }

    pub fn of(site: &str, email: &str, source: &str) -> Self {
        let fields = [(SITE, site), (EMAIL, email), (SOURCE, source)];
        let fields: Fields = fields.map(|(name, text)| (name, text.to_owned())).into();
        Self::submitting(Submission::Fields(fields))
    }

    pub fn none() -> Self {
        Self::submitting(Submission::None("nothing found".to_owned()))
    }

    fn submitting(submission: Submission) -> Self {
        let quest = Quest {
            id: QuestId::from_index(0).unwrap(),
            key: Key::new("Acme").unwrap(),
            anchor: None,
            shown: Vec::new(),
            known: Vec::new(),
            after: Vec::new(),
            rows: vec![1],
        };
        Self {
            quest,
            submission,
            settings: EmailSettings::default(),
        }
    }

    pub fn site(self, site: &str) -> Self {
        self.with(SITE, site)
    }

    pub fn email(self, email: &str) -> Self {
        self.with(EMAIL, email)
    }

    pub fn source(self, source: &str) -> Self {
        self.with(SOURCE, source)
    }

    pub fn anchor(mut self, text: &str) -> Self {
        self.quest.anchor = Some(Anchor::Site(text.to_owned()));
        self
    }

    /// The same with role mailboxes alone.
    pub fn role_only(mut self) -> Self {
        self.settings.role_only = true;
        self
    }

    fn with(mut self, name: crate::quest::FieldName, text: &str) -> Self {
        if let Submission::Fields(fields) = &mut self.submission {
            fields.insert(name, text.to_owned());
        }
        self
    }

    /// What `check` finds; a lookup fails the test.
    pub fn run(&self, check: &Step) -> Vec<Fact> {
        let world = World {
            fetcher: &MockFetcher::new(),
            resolver: &MockResolver::new(),
            accepted: &MockUniquenessIndex::new(),
            sandbox: &NoSandbox,
        };
        self.run_in(check, &world)
    }

    fn run_in(&self, check: &Step, world: &World<'_>) -> Vec<Fact> {
        let case = Case {
            quest: &self.quest,
            submission: &self.submission,
        };
        let settings = (&self.settings).into();
        (check.run)(&Context::new(case, world, settings, Places::default()))
    }

    /// The rules that `check` fires.
    pub fn fired(&self, check: &Step) -> Vec<String> {
        let findings = self.run(check);
        rules(&findings).into_iter().map(str::to_owned).collect()
    }

    pub fn parts(&self) -> (&Quest, &Submission, &EmailSettings) {
        (&self.quest, &self.submission, &self.settings)
    }
}

pub fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

pub fn page(at: &str) -> Page {
    Page::empty(&url(at))
}

/// A page that shows `text`.
pub fn page_saying(at: &str, text: &str) -> Page {
    Page {
        visible: vec![text.to_owned()],
        ..page(at)
    }
}

/// A page with `text` at an owner's place, and so in its text too.
pub fn page_of(at: &str, place: OwnerPlace, text: &str) -> Page {
    let text = text.to_owned();
    Page {
        owner: vec![OwnerText { place, text }],
        ..page_saying(at, "…")
    }
}

/// A visit that went straight to the first of `pages`, whose frames the others are.
pub fn visit_of(pages: Vec<Page>) -> Visit {
    let steps = std::iter::once(visit::Step::Start).chain(std::iter::repeat(visit::Step::Frame));
    let hops = pages.iter().zip(steps).map(|(page, by)| Hop {
        url: page.url.clone(),
        by,
    });
    Visit {
        hops: hops.collect(),
        end: End::Pages(pages),
        unread: Vec::new(),
    }
}

/// The same visit, begun at `start`, which redirects to where it went.
pub fn begun_at(start: &str, mut visit: Visit) -> Visit {
    if let Some(first) = visit.hops.first_mut() {
        first.by = visit::Step::Redirect;
    }
    let hop = Hop {
        url: url(start),
        by: visit::Step::Start,
    };
    visit.hops.insert(0, hop);
    visit
}

pub fn silence() -> Unanswered {
    Unanswered::new(UnansweredKind::Timeout, "no answer in time")
}

/// One case and all that its world answers: what is not told does not exist.
#[derive(Debug, Default)]
pub struct Canned {
    pages: BTreeMap<String, Fetched>,
    dns: BTreeMap<(String, RecordKind), Looked>,
    taken: Vec<String>,
    settings: EmailSettings,
    asked: RefCell<Vec<String>>,
}

impl Canned {
    /// The page at `at` is this HTML.
    pub fn html(mut self, at: &str, body: &str) -> Self {
        let response = Response {
            status: 200,
            content_type: Some("text/html; charset=utf-8".to_owned()),
            location: None,
            refresh: None,
            body: body.as_bytes().to_vec(),
        };
        self.pages
            .insert(at.to_owned(), Fetched::Response(response));
        self
    }

    /// The name has these MX hosts; `.` is the root.
    pub fn mx(self, name: &str, hosts: &[(u16, &str)]) -> Self {
        let hosts = hosts.iter().map(|(preference, host)| MxHost {
            preference: *preference,
            host: HostName::parse(host).ok(),
        });
        let records = Records::Mx(hosts.collect());
        self.looked(name, RecordKind::Mx, Looked::Found(records))
    }

    pub fn address(self, name: &str, addresses: &[&str]) -> Self {
        let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        let kind = match addresses[0] {
            IpAddr::V4(_) => RecordKind::A,
            IpAddr::V6(_) => RecordKind::Aaaa,
        };
        self.looked(name, kind, Looked::Found(Records::Addresses(addresses)))
    }

    pub fn looked(mut self, name: &str, kind: RecordKind, answer: Looked) -> Self {
        self.dns.insert((name.to_owned(), kind), answer);
        self
    }

    /// The network is reachable although it is not public.
    pub fn allowing(mut self, net: &str) -> Self {
        self.settings.allow_net.push(net.parse().unwrap());
        self
    }

    /// What was asked for, in order, but for robots.txt.
    pub fn asked(&self) -> Vec<String> {
        self.asked.borrow().clone()
    }

    pub fn taken(mut self, what: &str) -> Self {
        self.taken.push(what.to_owned());
        self
    }

    /// What `check` finds of a submission for the company `key`.
    pub fn run(&self, check: &Step, key: &str, [site, email, source]: [&str; 3]) -> Vec<Fact> {
        let mut bench = Bench::of(site, email, source);
        bench.quest.key = Key::new(key).unwrap();
        bench.settings = self.settings.clone();
        let world = World {
            fetcher: self,
            resolver: self,
            accepted: self,
            sandbox: &NoSandbox,
        };
        bench.run_in(check, &world)
    }
}

/// The rules of `findings`, in order.
pub fn rules(findings: &[Fact]) -> Vec<&str> {
    findings
        .iter()
        .map(|finding| finding.rule.as_str())
        .collect()
}

impl Fetcher for Canned {
    fn get(&self, request: &Request) -> Fetched {
        if request.url.path() != "/robots.txt" {
            self.asked.borrow_mut().push(request.url.to_string());
        }
        let missing = || {
            Fetched::Response(Response {
                status: 404,
                content_type: None,
                location: None,
                refresh: None,
                body: Vec::new(),
            })
        };
        self.pages
            .get(request.url.as_str())
            .cloned()
            .unwrap_or_else(missing)
    }
}

impl Resolver for Canned {
    fn lookup(&self, name: &HostName, kind: RecordKind) -> Looked {
        self.asked.borrow_mut().push(format!("{name} {kind:?}"));
        let known = self.dns.get(&(name.to_string(), kind)).cloned();
        known.unwrap_or_else(|| {
            let exists = self.dns.keys().any(|(known, _)| known == name.as_str());
            if exists {
                Looked::NoData
            } else {
                Looked::NoSuchName
            }
        })
    }
}

impl UniquenessIndex for Canned {
    fn holder(&self, taken: &UniqueValue) -> Option<Key> {
        let asked = match taken {
            UniqueValue::Mailbox(mailbox) => mailbox.to_string(),
            UniqueValue::Domain(domain) => domain.to_string(),
            UniqueValue::Value { text, .. } => text.clone(),
        };
        self.taken
            .contains(&asked)
            .then(|| Key::new("Other Company").unwrap())
    }
}
