//! A small world for the tests of gates: what it was not given does not exist.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::quest::Key;
use crate::world::domain::HostName;
use crate::world::sandbox::{
    Call, CallAnswer, Called, Changed, ChatOrder, Chatted, CommandResult, CommandSpec, FileSeen,
    RunPlace, Sandbox, Started,
};
use crate::world::tree::TreePath;
use crate::world::{
    Fetched, Fetcher, Looked, MxHost, RecordKind, Records, Request, Resolver, Response, Unanswered,
    UnansweredKind, UniqueValue, UniquenessIndex, World,
};

#[derive(Debug, Clone, Default)]
pub struct FakeWorld {
    pages: BTreeMap<String, Fetched>,
    dns: BTreeMap<(String, RecordKind), Looked>,
    taken: BTreeMap<UniqueValue, String>,
    files: BTreeMap<String, FileSeen>,
    pinned: BTreeMap<String, FileSeen>,
    answers: BTreeMap<String, Called>,
    service_fails: Option<String>,
    asked: RefCell<Vec<String>>,
}

pub fn no_answer_in_time() -> Unanswered {
    Unanswered::new(UnansweredKind::Timeout, "no answer in time")
}

fn response(status: u16, content_type: &str, location: Option<&str>, body: &str) -> Fetched {
    Fetched::Response(Response {
        status,
        content_type: Some(content_type.to_owned()),
        location: location.map(str::to_owned),
        refresh: None,
        disposition: None,
        body: body.as_bytes().to_vec(),
    })
}

impl FakeWorld {
    pub fn world(&self) -> World<'_> {
        World {
            fetcher: self,
            resolver: self,
            accepted: self,
            sandbox: self,
        }
    }

    /// What pages and DNS were asked for, in order, except robots.txt.
    pub fn asked(&self) -> Vec<String> {
        self.asked.borrow().clone()
    }

    pub fn fetched(&mut self, url: &str, fetched: Fetched) {
        self.pages.insert(url.to_owned(), fetched);
    }

    pub fn page(&mut self, url: &str, content_type: &str, body: &str) {
        self.fetched(url, response(200, content_type, None, body));
    }

    pub fn html(&mut self, url: &str, html: &str) {
        self.page(url, "text/html; charset=utf-8", html);
    }

    pub fn redirect(&mut self, url: &str, to: &str) {
        self.fetched(url, response(302, "text/html", Some(to), ""));
    }

    pub fn looked(&mut self, name: &str, kind: RecordKind, answer: Looked) {
        self.dns.insert((name.to_owned(), kind), answer);
    }

    /// The name has these MX hosts; `.` is the root.
    pub fn mx(&mut self, name: &str, hosts: &[(u16, &str)]) {
        let hosts = hosts.iter().map(|(preference, host)| MxHost {
            preference: *preference,
            host: HostName::parse(host).ok(),
        });
        let records = Records::Mx(hosts.collect());
        self.looked(name, RecordKind::Mx, Looked::Found(records));
    }

    pub fn addresses(&mut self, name: &str, addresses: &[&str]) {
        let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        let kind = match addresses[0] {
            IpAddr::V4(_) => RecordKind::A,
            IpAddr::V6(_) => RecordKind::Aaaa,
        };
        self.looked(name, kind, Looked::Found(Records::Addresses(addresses)));
    }

    pub fn taken(&mut self, taken: UniqueValue, holder: &str) {
        self.taken.insert(taken, holder.to_owned());
    }

    pub fn add_file(&mut self, path: &str, seen: FileSeen) {
        self.files.insert(path.to_owned(), seen);
    }

    pub fn pin(&mut self, path: &str, seen: FileSeen) {
        self.pinned.insert(path.to_owned(), seen);
    }

    /// What a GET of this path comes to.
    pub fn called(&mut self, path: &str, called: Called) {
        self.answers.insert(path.to_owned(), called);
    }

    pub fn answers(&mut self, path: &str, status: u16, body: &str) {
        let answer = CallAnswer {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.into(),
        };
        self.called(path, Called::Answered(answer));
    }

    pub fn no_service(&mut self, why: &str) {
        self.service_fails = Some(why.to_owned());
    }
}

impl Fetcher for FakeWorld {
    fn get(&self, request: &Request) -> Fetched {
        if request.url.path() != "/robots.txt" {
            self.asked.borrow_mut().push(request.url.to_string());
        }
        let page = self.pages.get(request.url.as_str()).cloned();
        page.unwrap_or_else(|| response(404, "text/plain", None, ""))
    }
}

impl Resolver for FakeWorld {
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

impl UniquenessIndex for FakeWorld {
    fn holder(&self, taken: &UniqueValue) -> Option<Key> {
        Key::new(self.taken.get(taken)?).ok()
    }
}

impl Sandbox for FakeWorld {
    fn file(&self, path: &TreePath) -> FileSeen {
        let seen = self.files.get(path.as_str()).cloned();
        seen.unwrap_or(FileSeen::Absent)
    }

    fn pinned(&self, path: &TreePath) -> FileSeen {
        let seen = self.pinned.get(path.as_str()).cloned();
        seen.unwrap_or(FileSeen::Absent)
    }

    fn changes(&self) -> Result<Vec<Changed>, String> {
        Ok(Vec::new())
    }

    fn run(&self, order: &CommandSpec) -> CommandResult {
        panic!("{order:?}");
    }

    fn call(&self, call: &Call) -> Called {
        let known = self.answers.get(&call.path);
        let known = known.filter(|_| call.method == "GET").cloned();
        known.unwrap_or_else(|| Called::Unanswered("no answer".to_owned()))
    }

    fn chat(&self, order: &ChatOrder) -> Chatted {
        panic!("{order:?}");
    }

    fn service(&self, _name: &str, _place: RunPlace) -> Started {
        match &self.service_fails {
            None => Started::Listening { port: 1 },
            Some(why) => Started::Failed(why.clone()),
        }
    }
}
