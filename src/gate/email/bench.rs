//! A submission, a quest and a world that answers nothing, for the tests of single steps.

use super::context::{Context, EMAIL, Places, SITE, SOURCE};
use super::settings::EmailSettings;
use crate::gate::{Case, Check, Finding};
use crate::quest::{Anchor, Fields, Key, Quest, QuestId, Submission};
use crate::world::sandbox::NoWorkshop;
use crate::world::{MockAccepted, MockFetcher, MockResolver, World};

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

    /// A submission of these fields.
    pub fn of(site: &str, email: &str, source: &str) -> Self {
        let fields = [(SITE, site), (EMAIL, email), (SOURCE, source)];
        let fields: Fields = fields.map(|(name, text)| (name, text.to_owned())).into();
        Self::submitting(Submission::Fields(fields))
    }

    /// No answer.
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

    /// The same with another site.
    pub fn site(self, site: &str) -> Self {
        self.with(SITE, site)
    }

    /// The same with another address.
    pub fn email(self, email: &str) -> Self {
        self.with(EMAIL, email)
    }

    /// The same with another source.
    pub fn source(self, source: &str) -> Self {
        self.with(SOURCE, source)
    }

    /// The same with an anchor.
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
    pub fn run(&self, check: &impl for<'a> Check<Context<'a>>) -> Vec<Finding> {
        let (fetcher, resolver, accepted) =
            (MockFetcher::new(), MockResolver::new(), MockAccepted::new());
        let world = World {
            fetcher: &fetcher,
            resolver: &resolver,
            accepted: &accepted,
            workshop: &NoWorkshop,
        };
        let case = Case {
            quest: &self.quest,
            submission: &self.submission,
        };
        let settings = (&self.settings).into();
        check.run(&Context::new(case, &world, settings, Places::default()))
    }

    /// The rules of `findings`, in order.
    pub fn rules(findings: &[Finding]) -> Vec<&str> {
        findings
            .iter()
            .map(|finding| finding.rule.as_str())
            .collect()
    }

    /// The rules that `check` fires.
    pub fn fired(&self, check: &impl for<'a> Check<Context<'a>>) -> Vec<String> {
        let findings = self.run(check);
        Self::rules(&findings)
            .into_iter()
            .map(str::to_owned)
            .collect()
    }

    /// The case's quest, submission and settings.
    pub fn parts(&self) -> (&Quest, &Submission, &EmailSettings) {
        (&self.quest, &self.submission, &self.settings)
    }
}
