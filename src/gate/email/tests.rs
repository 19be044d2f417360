//! Cases for the steps of the gate, and the form of its catalogue.

use std::collections::HashSet;

use proptest::prelude::*;
use url::Url;

use super::email_gate;
use super::step::{Context, EMAIL, Places, SITE, SOURCE, Step};
use super::{domain, format, freemail, identity, mail, placeholder, source};
use crate::gate::checks::context::Context as CheckContext;
use crate::gate::tests::FakeWorld;
use crate::gate::{Case, Cost, Fact, Gate as _, GateSettings};
use crate::quest::{
    Anchor, FieldName, Fields, Key, Quest, QuestId, Submission, Verdict, email as kind,
};
use crate::world::fetch::visit::{self, End, Hop, Visit};
use crate::world::page::Page;

/// One submission and its world, built from a good one.
#[derive(Debug, Clone)]
pub struct EmailCase {
    quest: Quest,
    submission: Submission,
    settings: GateSettings,
    pub world: FakeWorld,
}

impl EmailCase {
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
            settings: GateSettings::default(),
            world: FakeWorld::default(),
        }
    }

    pub fn key(mut self, key: &str) -> Self {
        self.quest.key = Key::new(key).unwrap();
        self
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

    /// The operator wants role mailboxes alone.
    pub fn role_only(mut self) -> Self {
        self.settings.role_only = true;
        self
    }

    /// The network is reachable although it is not public.
    pub fn allowing(mut self, net: &str) -> Self {
        self.settings.allow_net.push(net.parse().unwrap());
        self
    }

    fn with(mut self, name: FieldName, text: &str) -> Self {
        if let Submission::Fields(fields) = &mut self.submission {
            fields.insert(name, text.to_owned());
        }
        self
    }

    fn case(&self) -> Case<'_> {
        Case::new(&self.quest, &self.submission)
    }

    /// What `step` finds. Where it is a local one, it looks nothing up.
    pub fn run(&self, step: &Step) -> Vec<Fact> {
        let (world, kind) = (self.world.world(), kind::kind());
        let base = CheckContext::new(self.case(), &world, &self.settings, &kind);
        let places = Places {
            site: SITE,
            email: EMAIL,
            source: SOURCE,
            anchor: None,
        };
        let facts = step.facts(&Context::new(&base, &places, false));
        if step.cost == Cost::Local {
            assert_eq!(self.world.asked(), [""; 0]);
        }
        facts
    }

    /// The rules that `step` fires.
    pub fn fired(&self, step: &Step) -> Vec<String> {
        let facts = self.run(step);
        rules(&facts).into_iter().map(str::to_owned).collect()
    }
}

pub fn rules(facts: &[Fact]) -> Vec<&str> {
    facts.iter().map(|fact| fact.rule.as_str()).collect()
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

#[test]
fn the_catalogue_has_every_rule_of_every_step_once_in_kebab_case() {
    let steps = [
        &format::STEP,
        &placeholder::STEP,
        &freemail::STEP,
        &domain::STEP,
        &source::STEP,
        &mail::STEP,
        &identity::STEP,
    ];
    let counts = steps.map(|step| step.rules().len());
    assert_eq!(counts, [3, 4, 2, 4, 13, 4, 10]);
    let rules = email_gate(GateSettings::default()).rules();
    assert_eq!(rules.len(), counts.iter().sum::<usize>());
    let ids: HashSet<_> = rules.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(ids.len(), rules.len());
    for rule in &rules {
        let id = rule.id.as_str();
        let is_plain = id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        assert!(is_plain && !id.split('-').any(str::is_empty), "{id}");
        for line in [&rule.meaning, &rule.remedy] {
            assert!(!line.is_empty() && !line.contains('\n'), "{id}");
        }
    }
}

/// The verdict of the steps that look nothing up.
fn local_verdict(case: &EmailCase) -> Verdict {
    let gate = email_gate(case.settings.clone());
    let verdict = gate.judge_up_to(case.case(), &case.world.world(), Cost::Local);
    assert_eq!(case.world.asked(), [""; 0]);
    verdict.verdict
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(site in ".*", email in ".*", source in ".*", anchor in ".*") {
        local_verdict(&EmailCase::of(&site, &email, &source).anchor(&anchor).role_only());
        let email = format!("{email}@{site}");
        local_verdict(&EmailCase::good().email(&email).role_only());
    }

    #[test]
    fn what_has_no_format_never_passes(text in "[ -~]{0,20}", field in 0..3) {
        let case = match field {
            0 => EmailCase::good().site(&text),
            1 => EmailCase::good().email(&text),
            _ => EmailCase::good().source(&text),
        };
        if !case.fired(&format::STEP).is_empty() {
            prop_assert_eq!(local_verdict(&case), Verdict::Fail);
        }
    }
}
