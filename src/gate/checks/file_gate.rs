//! The gate that a quest file makes.

use std::cell::RefCell;
use std::rc::Rc;

use super::context::Context;
use super::controls;
use super::field_usage::{FieldUsage, left_out};
use super::fields::Fields;
use super::fields::OpenEnded;
use super::kind::{AnyCheck, Built, CheckHead, Parsed, Shows, Source};
use super::kinds::{self, KINDS};
use super::outside::Outside;
use super::settings::FileSettings;
use super::takes::Takes;
use crate::gate::doubts;
use crate::gate::{Cascade, Case, Check, Cost, Fact, Gate, Judgement, Rule, RuleId, house};
use crate::quest::QuestKind;
use crate::quest::file::{Mistake, QuestFile, RawTable, Spot, is_kebab, nearest, unknown_name};
use crate::world::{UniqueValue, World};

#[derive(Clone)]
pub struct FileGate {
    made: Rc<Made>,
    settings: FileSettings,
}

#[derive(Clone)]
struct Made {
    kind: QuestKind,
    checks: Vec<AnyCheck>,
    showing: Vec<String>,
    /// What a PASS takes for its quest alone.
    takes: Vec<Takes>,
    has_tree: bool,
}

struct Shared(AnyCheck);

impl FileGate {
    /// The gate that `file` makes.
    ///
    /// # Errors
    ///
    /// The first mistake in its checks. A file of which no check shows a fact is one, unless it
    /// says that it is open.
    pub fn new(
        file: &QuestFile<'_>,
        outside: &dyn Outside,
        settings: FileSettings,
    ) -> Result<Self, Mistake> {
        let made = Made::of(file, outside)?;
        let gate = Self {
            made: Rc::new(made),
            settings,
        };
        let placed = Cascade::ordered(gate.shared(), gate.settings.levels.clone());
        if let Err(bad) = placed {
            let raw = file
                .checks
                .iter()
                .find(|raw| raw.text_of("name") == Some(&bad.check));
            let spot = raw.map(|raw| raw.spot_of_text("needs", &bad.needed));
            let names = gate.made.checks.iter().map(|check| check.name());
            let near = nearest(&bad.needed, names.filter(|_| !bad.there));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let spot = spot.unwrap_or_default();
            return Err(Mistake::at(file.text(), &spot, format!("{bad}{near}")));
        }
        let mut rules = gate.rules();
        if let Some(panel) = &file.panel {
            controls::reviewers_hold(panel, file)?;
            rules.extend(doubts::rules());
        }
        controls::hold(file, &rules)?;
        Ok(gate)
    }

    /// The gate that `[final]` of `file` makes; none where it has none.
    ///
    /// # Errors
    ///
    /// The first mistake in its checks, its controls and its negative control.
    pub fn of_final(
        file: &QuestFile<'_>,
        outside: &dyn Outside,
        settings: FileSettings,
    ) -> Result<Option<Self>, Mistake> {
        let (Some(whole), Some(part)) = (file.of_final(), &file.final_part) else {
            return Ok(None);
        };
        let wrong = |(spot, what): (Spot, String)| Mistake::at(file.text(), &spot, what);
        if let Some(known) = part
            .checks
            .iter()
            .find_map(|raw| controls::known_name(file, raw))
        {
            return Err(wrong(known));
        }
        let gate = Self::new(&whole, outside, settings)?;
        match controls::wrong_in_final(part, file.tree.is_some(), &gate.rules()) {
            Some(found) => Err(wrong(found)),
            None => Ok(Some(gate)),
        }
    }

    #[must_use]
    pub fn under(&self, settings: FileSettings) -> Self {
        Self {
            made: Rc::clone(&self.made),
            settings,
        }
    }

    #[cfg(test)]
    pub(crate) fn silenced(&self, name: &str) -> Self {
        let mut made = Made::clone(&self.made);
        for check in &mut made.checks {
            if check.name() == name {
                *check = Rc::new(tests::Silent(Rc::clone(check)));
            }
        }
        Self {
            made: Rc::new(made),
            settings: self.settings.clone(),
        }
    }

    fn shared<'a>(&self) -> Vec<Box<dyn Check<Context<'a>>>> {
        let checks = self.made.checks.iter().cloned();
        checks
            .map(|check| Box::new(Shared(check)) as Box<dyn Check<Context<'a>>>)
            .collect()
    }

    fn cascade<'a>(&self) -> Cascade<Context<'a>> {
        let levels = self.settings.levels.clone();
        // `new` has found an order; where there is none nothing is run, and nothing passes.
        Cascade::ordered(self.shared(), levels.clone())
            .unwrap_or_else(|_| Cascade::new(vec![Box::new(Shared(Rc::new(OpenEnded)))], levels))
    }
}

impl Made {
    fn of(file: &QuestFile<'_>, outside: &dyn Outside) -> Result<Self, Mistake> {
        let mut made = Self {
            kind: file.kind(),
            checks: Vec::new(),
            showing: Vec::new(),
            takes: Vec::new(),
            has_tree: file.tree.is_some(),
        };
        let mut avoidable = None;
        let mut usage = FieldUsage::default();
        let (mut reported, mut trusted) = (Vec::new(), Vec::new());
        for raw in &file.checks {
            let (built, used) = made.build(file, raw, outside)?;
            if built.shows == Shows::Fact {
                let name = built.check.name().to_owned();
                match used.avoidable(&file.fields) {
                    None => made.showing.push(name),
                    Some(field) => {
                        let what = left_out(&name, field);
                        avoidable = Some(Mistake::at(file.text(), &raw.spot_of("name"), what));
                    }
                }
            }
            if built.reports_unparsed {
                reported.extend(built.parses);
            } else {
                trusted.push((raw, built.parses));
            }
            usage.join(used);
            made.takes.extend(built.takes);
            made.checks.push(built.check);
        }
        for (raw, parses) in trusted {
            let fields = &made.kind.fields;
            let is_known = |it: &Parsed| reported.contains(it) || it.is_demanded_by(fields);
            if let Some(bare) = parses.iter().find(|it| !is_known(it)) {
                let what = unreported(bare);
                return Err(Mistake::at(file.text(), &raw.spot_of("kind"), what));
            }
        }
        let reported = reported.iter().map(|it| it.field().clone()).collect();
        let fields = Fields::without(reported, &made.kind, made.has_tree);
        if let Some(fields) = fields.filter(|_| !file.is_final()) {
            made.checks.insert(0, Rc::new(fields));
        }
        if file.open {
            made.checks.push(Rc::new(OpenEnded));
        } else if made.showing.is_empty() && !file.is_final() {
            let nothing = Mistake::at(file.text(), &(0..0), NOTHING_SHOWN);
            return Err(avoidable.unwrap_or(nothing));
        }
        usage.covers(file)?;
        Ok(made)
    }

    fn build(
        &self,
        file: &QuestFile<'_>,
        raw: &RawTable<'_>,
        outside: &dyn Outside,
    ) -> Result<(Built, FieldUsage), Mistake> {
        let text = file.text();
        let (ours, rest) = raw.part(CheckHead::KEYS);
        let head: CheckHead = ours.read(text)?;
        let wrong = |key: &str, what: String| Err(Mistake::at(text, &raw.spot_of(key), what));
        if !is_kebab(&head.name) {
            let what = format!("`{}`: expected kebab-case, such as `tests-pass`", head.name);
            return wrong("name", what);
        }
        let (name, means) = (head.name.clone(), head.means.clone());
        if let Some(what) = taken_name(&name) {
            return wrong("name", what);
        }
        if self.checks.iter().any(|check| check.name() == name) {
            return wrong("name", format!("there are two checks `{name}`"));
        }
        let Some(kind) = kinds::named(&head.kind) else {
            let known: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
            return wrong("kind", unknown_name("check kind", &head.kind, &known));
        };
        let usage = RefCell::default();
        let source = Source {
            usage: &usage,
            file,
            name: &name,
            means: means.as_deref(),
            names: &file.names(),
            outside,
        };
        let built = kind.build(head, &ours, &rest, &source)?;
        if let Some(rule) = self.rule_of_another(built.check.as_ref()) {
            return wrong("name", format!("another check has the rule `{rule}`"));
        }
        Ok((built, usage.into_inner()))
    }

    /// A rule of `check` that is another's too; one step may stand twice, for other fields.
    fn rule_of_another(&self, check: &dyn for<'a> Check<Context<'a>>) -> Option<RuleId> {
        let known = || self.checks.iter().map(|check| check.rules());
        if known().any(|rules| rules == check.rules()) {
            return None;
        }
        let mut rules = check.rules().iter();
        let rule = rules.find(|rule| known().flatten().any(|known| known.id == rule.id));
        rule.map(|rule| rule.id.clone())
    }
}

fn unreported(bare: &Parsed) -> String {
    let (field, what) = match bare {
        Parsed::Mailbox(field) => (field, "no e-mail address"),
        Parsed::WebUrl(field) => (field, "no URL of a page"),
    };
    format!(
        "it says nothing where the field `{}` holds {what}: add a check of kind `email-format` \
         over the same fields",
        field.as_str()
    )
}

/// Why no check can have this name, where none can.
fn taken_name(name: &str) -> Option<String> {
    let fields = Fields::default();
    let own = [fields.name(), OpenEnded.name(), doubts::PANEL].contains(&name)
        || fields.rules().iter().any(|rule| rule.id.as_str() == name)
        || doubts::rules().iter().any(|rule| rule.id.as_str() == name)
        || house::rules().iter().any(|rule| rule.id.as_str() == name);
    if own {
        return Some(format!(
            "`{name}` is a check or a rule of every gate already"
        ));
    }
    let of = CheckHead::confirmed_name(name)?;
    Some(format!(
        "`{name}` is the rule that fires where a check `{of}` cannot say: name the check otherwise"
    ))
}

/// Why a file is refused whose checks look at the submission's form alone.
const NOTHING_SHOWN: &str = "every check looks at the submission's form alone, and an agent can \
     give a made-up answer any form. How would an agent cheese this quest? Add a check that \
     re-verifies a fact (command, script, contains, http, coverage, mutation, …), or say \
     `open = true` to leave every answer to a person";

impl Gate for FileGate {
    fn rules(&self) -> Vec<Rule> {
        let mut rules: Vec<Rule> = Vec::new();
        for rule in self.cascade().rules() {
            if !rules.iter().any(|known| known.id == rule.id) {
                rules.push(rule);
            }
        }
        rules
    }

    fn judge(&self, case: Case<'_>, world: &World<'_>) -> Judgement {
        let context = Context::new(case, world, &self.settings, &self.made.kind);
        self.cascade().run(&context)
    }

    fn glance(&self, case: Case<'_>, world: &World<'_>, most: Cost) -> Judgement {
        let context = Context::new(case, world, &self.settings, &self.made.kind);
        self.cascade().run_up_to(&context, most)
    }

    fn takes(&self, case: Case<'_>) -> Vec<UniqueValue> {
        let takes = self.made.takes.iter();
        takes.flat_map(|it| it.of(case.submission)).collect()
    }

    fn judges_anew(&self) -> bool {
        self.made.has_tree
    }

    fn confirming(&self) -> Vec<&str> {
        self.made.showing.iter().map(String::as_str).collect()
    }
}

impl<'a> Check<Context<'a>> for Shared {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn cost(&self) -> Cost {
        self.0.cost()
    }

    fn rules(&self) -> &[Rule] {
        self.0.rules()
    }

    fn needs(&self) -> &[String] {
        self.0.needs()
    }

    fn run(&self, context: &Context<'a>) -> Vec<Fact> {
        self.0.run(context)
    }
}

#[cfg(test)]
mod tests;
