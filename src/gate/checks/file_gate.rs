//! The gate that a quest file makes.

use std::rc::Rc;

use super::context::Context;
use super::fields::Fields;
use super::kinds::{self, KINDS};
use super::open_ended::OpenEnded;
use super::outside::Outside;
use super::quest_check::{CheckHead, QuestCheck};
use super::settings::FileSettings;
use super::spec::{Shows, Source};
use super::unique::taken;
use crate::gate::{Cascade, Case, Check, Cost, Finding, Gate, Judgement, Rule};
use crate::quest::file::{Mistake, QuestFile, RawTable, is_kebab, unknown_name};
use crate::quest::{FieldName, QuestKind};
use crate::world::{Taken, World};

/// A check that serves every judgement of its gate.
type AnyCheck = Rc<dyn for<'a> Check<Context<'a>>>;

/// The gate of a quest file.
pub struct FileGate {
    kind: QuestKind,
    settings: FileSettings,
    checks: Vec<AnyCheck>,
    /// The names of the checks that show a fact.
    showing: Vec<String>,
    /// The fields of which no two quests may have the same value.
    unique: Vec<FieldName>,
    /// Whether the quests are about files of a tree.
    has_tree: bool,
}

/// The part of a gate that one cascade takes.
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
        let mut gate = Self {
            kind: file.kind(),
            settings,
            checks: vec![Rc::new(Fields {
                has_tree: file.tree.is_some(),
            })],
            showing: Vec::new(),
            unique: Vec::new(),
            has_tree: file.tree.is_some(),
        };
        for raw in &file.checks {
            gate.add(file, raw, outside)?;
        }
        if file.open {
            gate.checks.push(Rc::new(OpenEnded));
        } else if gate.showing.is_empty() {
            return Err(Mistake::at(file.text(), &(0..0), NOTHING_SHOWN));
        }
        let placed = Cascade::ordered(gate.shared(), gate.settings.levels.clone());
        if let Err(bad) = placed {
            let raw = file
                .checks
                .iter()
                .find(|raw| raw.text_of("name") == Some(&bad.check));
            let spot = raw.map(|raw| raw.spot_of("needs")).unwrap_or_default();
            return Err(Mistake::at(file.text(), &spot, bad.to_string()));
        }
        Ok(gate)
    }

    fn add(
        &mut self,
        file: &QuestFile<'_>,
        raw: &RawTable<'_>,
        outside: &dyn Outside,
    ) -> Result<(), Mistake> {
        let text = file.text();
        let (ours, rest) = raw.part(CheckHead::KEYS);
        let head: CheckHead = ours.read(text)?;
        let wrong = |key: &str, what: String| Err(Mistake::at(text, &raw.spot_of(key), what));
        if !is_kebab(&head.name) {
            let what = format!("`{}`: expected kebab-case, such as `tests-pass`", head.name);
            return wrong("name", what);
        }
        if self.checks.iter().any(|check| check.name() == head.name) {
            return wrong("name", format!("there are two checks `{}`", head.name));
        }
        let Some(kind) = kinds::named(&head.kind) else {
            let known: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
            return wrong("kind", unknown_name("check kind", &head.kind, &known));
        };
        let source = Source {
            file,
            name: &head.name,
            names: &file.names(),
            outside,
        };
        let probe = (kind.build)(&rest, &source)?;
        self.unique.extend(probe.unique().cloned());
        if kind.shows == Shows::Fact {
            self.showing.push(head.name.clone());
        }
        self.checks.push(Rc::new(QuestCheck::new(head, probe)));
        Ok(())
    }

    fn shared<'a>(&self) -> Vec<Box<dyn Check<Context<'a>>>> {
        let checks = self.checks.iter().cloned();
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

/// Why a file is refused whose checks look at the submission's form alone.
const NOTHING_SHOWN: &str = "every check looks at the submission's form alone, and an agent can \
     give a made-up answer any form. How would an agent cheese this quest? Add a check that \
     re-verifies a fact (command, script, contains, http, coverage, mutation, …), or say \
     `open = true` to leave every answer to a person";

impl Gate for FileGate {
    fn rules(&self) -> Vec<Rule> {
        self.cascade().rules()
    }

    fn judge(&self, case: Case<'_>, world: &World<'_>) -> Judgement {
        let context = Context::new(case, world, &self.settings, &self.kind);
        self.cascade().run(&context)
    }

    fn takes(&self, case: Case<'_>) -> Vec<Taken> {
        let unique = self.unique.iter();
        unique
            .filter_map(|field| {
                let text = case.submission.field(field.as_str())?;
                taken(field, text)
            })
            .collect()
    }

    fn judges_anew(&self) -> bool {
        self.has_tree
    }

    fn confirming(&self) -> Vec<&str> {
        self.showing.iter().map(String::as_str).collect()
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

    fn run(&self, context: &Context<'a>) -> Vec<Finding> {
        self.0.run(context)
    }
}
