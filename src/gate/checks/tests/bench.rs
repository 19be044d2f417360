//! A quest file of one check, a submission and a small world, for the tests of single kinds; what
//! its gate says is replayed.

use std::collections::BTreeMap;

use super::workbench::judged;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::gate::checks::settings::FileSettings;
use crate::gate::{Case, Fact, Judgement};
use crate::quest::file::QuestFile;
use crate::quest::{Fields, Key, Quest, QuestId, Shown, Submission};
use crate::world::sandbox::{Call, CallAnswer, Called, FileSeen, MockWorkshop, Started};
use crate::world::{
    Fetched, MockFetcher, MockResolver, MockUniquenessIndex, Request, Response, Unanswered,
    UnansweredKind, UniqueValue, World,
};

/// One case: what its world is not told does not exist.
#[derive(Debug, Clone, Default)]
pub struct Bench {
    check: String,
    fields: Fields,
    cell: String,
    outside: Gathered,
    files: BTreeMap<String, FileSeen>,
    pinned: BTreeMap<String, FileSeen>,
    pages: BTreeMap<String, Fetched>,
    taken: BTreeMap<UniqueValue, String>,
    answers: BTreeMap<(String, String), Called>,
    started: Option<Started>,
    closed: bool,
}

const HEAD: &str = r#"
name = "bench"
unit = "thing"
open = true
[input]
anchor = ["cell"]
[tree]
write = ["out/**"]
[prompt]
text = "{{ key }}"
[[field]]
name = "value"
kind = "text"
unchecked = true
required = false
[[field]]
name = "other"
kind = "text"
unchecked = true
required = false
[[service]]
name = "api"
argv = ["server"]
[[check]]
name = "it"
"#;

impl Bench {
    /// The check of this table, without its name: `it`. There are the fields `value` and `other`,
    /// the column `cell` and the service `api`.
    pub fn of(check: &str) -> Self {
        Self {
            check: check.to_owned(),
            ..Self::default()
        }
    }

    pub fn submit(mut self, field: &str, text: &str) -> Self {
        self.fields.insert(field.to_owned().into(), text.to_owned());
        self
    }

    pub fn cell(mut self, text: &str) -> Self {
        text.clone_into(&mut self.cell);
        self
    }

    pub fn asset(mut self, name: &str, text: &str) -> Self {
        self.outside.assets.insert(name.to_owned(), text.to_owned());
        self
    }

    pub fn file(self, path: &str, text: &str) -> Self {
        self.seen(path, FileSeen::File(text.into()))
    }

    pub fn seen(mut self, path: &str, seen: FileSeen) -> Self {
        self.files.insert(path.to_owned(), seen);
        self
    }

    /// A file as it was at scan.
    pub fn pinned(self, path: &str, text: &str) -> Self {
        self.pinned_as(path, FileSeen::File(text.into()))
    }

    /// What stood at a path at scan.
    pub fn pinned_as(mut self, path: &str, seen: FileSeen) -> Self {
        self.pinned.insert(path.to_owned(), seen);
        self
    }

    /// The page at `url` is this HTML.
    pub fn page(self, url: &str, html: &str) -> Self {
        self.answer(url, 200, None, "text/html; charset=utf-8", html)
    }

    /// The page at `url` redirects.
    pub fn redirect(self, url: &str, to: &str) -> Self {
        self.answer(url, 302, Some(to), "text/html", "")
    }

    /// What answers at `url` is of this content type.
    pub fn media(self, url: &str, content_type: &str, body: &str) -> Self {
        self.answer(url, 200, None, content_type, body)
    }

    /// The page at `url` is answered in no way.
    pub fn silent(self, url: &str) -> Self {
        let why = Unanswered::new(UnansweredKind::Timeout, "no answer in time");
        self.fetched(url, Fetched::Unanswered(why))
    }

    /// What comes of asking for `url`.
    pub fn fetched(mut self, url: &str, fetched: Fetched) -> Self {
        self.pages.insert(url.to_owned(), fetched);
        self
    }

    fn answer(self, url: &str, status: u16, to: Option<&str>, kind: &str, body: &str) -> Self {
        let response = Response {
            status,
            content_type: Some(kind.to_owned()),
            location: to.map(str::to_owned),
            refresh: None,
            body: body.as_bytes().to_vec(),
        };
        self.fetched(url, Fetched::Response(response))
    }

    pub fn taken(mut self, taken: UniqueValue, holder: &str) -> Self {
        self.taken.insert(taken, holder.to_owned());
        self
    }

    pub fn answers(mut self, method: &str, path: &str, status: u16, body: &str) -> Self {
        let answer = CallAnswer {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.into(),
        };
        let asked = (method.to_owned(), path.to_owned());
        self.answers.insert(asked, Called::Answered(answer));
        self
    }

    pub fn unanswered(mut self, method: &str, path: &str, called: Called) -> Self {
        let asked = (method.to_owned(), path.to_owned());
        self.answers.insert(asked, called);
        self
    }

    pub fn started(mut self, started: Started) -> Self {
        self.started = Some(started);
        self
    }

    /// The quest file does not leave anything to a person by itself.
    pub fn closed(mut self) -> Self {
        self.closed = true;
        self
    }

    fn quest_file(&self) -> String {
        let head = if self.closed {
            let closed = HEAD.replace("open = true\n", "");
            closed.replacen("required = false\n", "", 1)
        } else {
            HEAD.to_owned()
        };
        format!("{head}{}", self.check)
    }

    pub fn mistake(&self) -> String {
        let text = self.quest_file();
        let file = QuestFile::parse(&text).unwrap();
        match FileGate::new(&file, &self.outside, FileSettings::default()) {
            Ok(_) => panic!("{text} is a gate"),
            Err(mistake) => mistake.to_string(),
        }
    }

    pub fn judge(&self) -> Judgement {
        let text = self.quest_file();
        let file = QuestFile::parse(&text).unwrap();
        let gate = FileGate::new(&file, &self.outside, FileSettings::default());
        let gate = gate.unwrap_or_else(|mistake| panic!("{mistake}"));
        let cell = Shown {
            label: "cell".to_owned(),
            text: self.cell.clone(),
        };
        let quest = Quest {
            id: QuestId::from_index(0).unwrap(),
            key: Key::new("k").unwrap(),
            anchor: None,
            shown: Vec::new(),
            known: vec![cell],
            after: Vec::new(),
            rows: vec![1],
        };
        let submission = Submission::Fields(self.fields.clone());
        let case = Case {
            quest: &quest,
            submission: &submission,
        };
        let (fetcher, resolver, accepted, workshop) = (
            self.fetcher(),
            MockResolver::new(),
            self.accepted(),
            self.workshop(),
        );
        let world = World {
            fetcher: &fetcher,
            resolver: &resolver,
            accepted: &accepted,
            workshop: &workshop,
        };
        judged(&gate, case, world)
    }

    pub fn facts(&self) -> Vec<Fact> {
        let facts = self.judge().facts.into_iter();
        facts
            .filter(|it| it.rule.as_str() != "open-ended")
            .collect()
    }

    pub fn fired(&self) -> Vec<String> {
        let facts = self.facts().into_iter();
        facts.map(|fact| fact.rule.as_str().to_owned()).collect()
    }

    pub fn only_fact(&self) -> Fact {
        match <[Fact; 1]>::try_from(self.facts()) {
            Ok([fact]) => fact,
            Err(facts) => panic!("{facts:?}"),
        }
    }

    fn fetcher(&self) -> MockFetcher {
        let pages = self.pages.clone();
        let mut fetcher = MockFetcher::new();
        fetcher.expect_get().returning(move |Request { url, .. }| {
            let missing = Fetched::Response(Response {
                status: 404,
                content_type: None,
                location: None,
                refresh: None,
                body: Vec::new(),
            });
            pages.get(url.as_str()).cloned().unwrap_or(missing)
        });
        fetcher
    }

    fn accepted(&self) -> MockUniquenessIndex {
        let taken = self.taken.clone();
        let mut accepted = MockUniquenessIndex::new();
        let holder = move |asked: &UniqueValue| Key::new(taken.get(asked)?).ok();
        accepted.expect_holder().returning(holder);
        accepted
    }

    fn workshop(&self) -> MockWorkshop {
        let (files, pinned) = (self.files.clone(), self.pinned.clone());
        let (answers, started) = (self.answers.clone(), self.started.clone());
        let at = |files: &BTreeMap<String, FileSeen>, path: &str| {
            files.get(path).cloned().unwrap_or(FileSeen::Absent)
        };
        let mut workshop = MockWorkshop::new();
        let file = workshop.expect_file();
        file.returning(move |path| at(&files, path.as_str()));
        let before = workshop.expect_pinned();
        before.returning(move |path| at(&pinned, path.as_str()));
        let service = workshop.expect_service();
        service.returning(move |_| started.clone().unwrap_or(Started::Listening { port: 1 }));
        workshop.expect_call().returning(move |call: &Call| {
            let asked = (call.method.clone(), call.path.clone());
            let silent = || Called::Unanswered("no answer".to_owned());
            answers.get(&asked).cloned().unwrap_or_else(silent)
        });
        workshop
    }
}
