//! What the checks of one judgement share: the case, its values, and what was looked at once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use url::Url;

use super::outside::FileSettings;
use crate::base::text::is_blank;
use crate::gate::Case;
use crate::gate::email::context::{Choices, Context as EmailContext, Places};
use crate::quest::template::{BadTemplate, Template, Values};
use crate::quest::{FieldName, QuestKind};
use crate::world::World;
use crate::world::fetch::visit::{Visit, visit};
use crate::world::sandbox::{CommandResult, CommandSpec};

pub struct Context<'a> {
    pub case: Case<'a>,
    pub world: &'a World<'a>,
    pub settings: &'a FileSettings,
    pub kind: &'a QuestKind,
    values: Values,
    visits: RefCell<BTreeMap<Url, Rc<Visit>>>,
    emails: RefCell<Vec<(EmailParts, Rc<EmailContext<'a>>)>>,
    runs: RefCell<BTreeMap<String, Rc<Run>>>,
}

#[derive(Debug)]
pub struct Run {
    pub order: CommandSpec,
    pub ran: CommandResult,
}

type EmailParts = (Places, bool);

impl<'a> Context<'a> {
    pub fn new(
        case: Case<'a>,
        world: &'a World<'a>,
        settings: &'a FileSettings,
        kind: &'a QuestKind,
    ) -> Self {
        let fields = kind.fields.iter().map(|field| field.name.as_str());
        let columns = kind.columns.iter().map(String::as_str);
        Self {
            case,
            world,
            settings,
            kind,
            values: Values::of(case.quest, case.submission, fields, columns),
            visits: RefCell::default(),
            emails: RefCell::default(),
            runs: RefCell::default(),
        }
    }

    /// The field's text; none when it was not submitted, or is blank.
    pub fn field(&self, name: &FieldName) -> Option<&'a str> {
        let text = self.case.submission.field(name.as_str())?;
        (!is_blank(text)).then_some(text)
    }

    pub fn render(&self, template: &Template) -> Result<String, BadTemplate> {
        template.render(&self.values)
    }

    pub fn values(&self) -> &Values {
        &self.values
    }

    pub fn visit(&self, url: &Url) -> Rc<Visit> {
        if let Some(known) = self.visits.borrow().get(url) {
            return Rc::clone(known);
        }
        let seen = Rc::new(visit(self.world.fetcher, url, self.settings.robots));
        self.visits
            .borrow_mut()
            .insert(url.clone(), Rc::clone(&seen));
        seen
    }

    /// What the e-mail steps share that look at these places.
    ///
    /// `role_only`: the check itself says so.
    pub fn email(&self, places: &Places, role_only: bool) -> Rc<EmailContext<'a>> {
        let parts = (places.clone(), role_only);
        let mut known = self.emails.borrow_mut();
        if let Some((_, shared)) = known.iter().find(|(of, _)| *of == parts) {
            return Rc::clone(shared);
        }
        let choices = Choices {
            role_only: role_only || self.settings.role_only,
            robots: self.settings.robots,
            allow_net: &self.settings.allow_net,
        };
        let made = EmailContext::new(self.case, self.world, choices, places.clone());
        let shared = Rc::new(made);
        known.push((parts, Rc::clone(&shared)));
        shared
    }

    /// Runs a command for the check of this name, and keeps what came of it for others to look at.
    pub fn run(&self, check: &str, order: CommandSpec) -> Rc<Run> {
        let ran = self.world.sandbox.run(&order);
        let run = Rc::new(Run { order, ran });
        self.runs
            .borrow_mut()
            .insert(check.to_owned(), Rc::clone(&run));
        run
    }

    pub fn run_of(&self, check: &str) -> Option<Rc<Run>> {
        self.runs.borrow().get(check).map(Rc::clone)
    }
}
