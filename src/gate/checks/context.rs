//! What the checks of one judgement share: the case, its values, and what was looked at once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use url::Url;

use super::outside::GateSettings;
use crate::base::text::is_blank;
use crate::gate::Case;
use crate::quest::template::{BadTemplate, Template, Values};
use crate::quest::{FieldName, QuestKind, Seen};
use crate::world::World;
use crate::world::fetch::visit::{End, Visit, visit};
use crate::world::sandbox::{CommandResult, CommandSpec, RunPlace};

pub struct Context<'a> {
    pub case: Case<'a>,
    pub world: &'a World<'a>,
    pub settings: &'a GateSettings,
    pub kind: &'a QuestKind,
    pub values: Values,
    /// Where the commands and services of `case` run.
    pub place: RunPlace,
    visits: RefCell<BTreeMap<Url, Rc<Visit>>>,
    runs: RefCell<BTreeMap<String, Rc<Run>>>,
}

#[derive(Debug)]
pub struct Run {
    pub order: CommandSpec,
    pub ran: CommandResult,
}

impl<'a> Context<'a> {
    pub fn new(
        case: Case<'a>,
        world: &'a World<'a>,
        settings: &'a GateSettings,
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
            place: RunPlace::Submission,
            visits: RefCell::default(),
            runs: RefCell::default(),
        }
    }

    /// The same world for the case of the control that passes, over the tree of that control.
    pub fn of_control<'c>(&'c self, case: Case<'c>) -> Context<'c> {
        Context {
            place: RunPlace::Control,
            ..Context::new(case, self.world, self.settings, self.kind)
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

    pub fn visit(&self, url: &Url) -> Rc<Visit> {
        if let Some(known) = self.visits.borrow().get(url) {
            return Rc::clone(known);
        }
        let seen = Rc::new(visit(self.world.fetcher, url, self.settings.robots));
        let mut visits = self.visits.borrow_mut();
        visits.insert(url.clone(), Rc::clone(&seen));
        seen
    }

    /// What decided what a reader of the visited pages sees.
    pub fn seen(&self) -> Option<Seen> {
        let visits = self.visits.borrow();
        let pages = visits.values().filter_map(|visit| match &visit.end {
            End::Pages(pages) => Some(pages),
            _ => None,
        });
        pages.flatten().filter_map(|page| page.seen).max()
    }

    /// Runs a command for the check of this name, and keeps what came of it for others to look at.
    pub fn run(&self, check: &str, order: CommandSpec) -> Rc<Run> {
        let ran = self.world.sandbox.run(&order);
        let run = Rc::new(Run { order, ran });
        let mut runs = self.runs.borrow_mut();
        runs.insert(check.to_owned(), Rc::clone(&run));
        run
    }

    pub fn run_of(&self, check: &str) -> Option<Rc<Run>> {
        self.runs.borrow().get(check).map(Rc::clone)
    }
}
