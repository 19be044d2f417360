//! The gate that a quest file makes.

use std::cell::RefCell;

use super::cascade::Cascade;
use super::context::Context;
use super::controls;
use super::field_usage::{FieldUsage, left_out};
use super::fields;
use super::kind::{Check, CheckHead, Parsed, Source, UNCONFIRMED, Verifies, first_facts};
use super::kinds::{self, KINDS};
use super::outside::{GateSettings, Outside};
use super::takes::Takes;
use crate::gate::{Case, Cost, Fact, Gate, Judgement, Rule, common_rules, doubts};
use crate::quest::field::FieldKind;
use crate::quest::file::{Mistake, QuestFile, RawTable, is_kebab, nearest, unknown_name};
use crate::quest::{Field, QuestKind};
use crate::world::{UniqueValue, World};

#[derive(Clone)]
pub struct FileGate {
    kind: QuestKind,
    cascade: Cascade,
    /// The checks that verify a fact of every submission.
    fact_checks: Vec<String>,
    takes: Vec<Takes>,
    has_tree: bool,
    settings: GateSettings,
}

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
        settings: GateSettings,
    ) -> Result<Self, Mistake> {
        let gate = Self::of_checks(file, outside, settings)?;
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
        settings: GateSettings,
    ) -> Result<Option<Self>, Mistake> {
        let (Some(whole), Some(part)) = (file.of_final(), &file.final_part) else {
            return Ok(None);
        };
        for raw in &part.checks {
            let is_known = |check: &RawTable<'_>| check.text_of("name") == raw.text_of("name");
            if let Some(name) = raw
                .text_of("name")
                .filter(|_| file.checks.iter().any(is_known))
            {
                let what = format!("the quests already have a check `{name}`: choose another name");
                return Err(Mistake::at(file.text(), &raw.spot_of("name"), what));
            }
        }
        let gate = Self::new(&whole, outside, settings)?;
        controls::hold_in_final(part, file, &gate.rules())?;
        Ok(Some(gate))
    }

    pub fn under(&self, settings: GateSettings) -> Self {
        Self {
            settings,
            ..self.clone()
        }
    }

    fn of_checks(
        file: &QuestFile<'_>,
        outside: &dyn Outside,
        settings: GateSettings,
    ) -> Result<Self, Mistake> {
        let mut checks: Vec<Check> = Vec::new();
        let mut fact_checks = Vec::new();
        let mut avoidable = None;
        let mut usage = FieldUsage::default();
        for raw in &file.checks {
            let (check, used) = build(file, raw, &checks, outside)?;
            if check.verifies == Verifies::Fact {
                match used.avoidable(&file.fields) {
                    None => fact_checks.push(check.name.clone()),
                    Some(field) => {
                        let what = left_out(&check.name, field);
                        avoidable = Some(Mistake::at(file.text(), &raw.spot_of("name"), what));
                    }
                }
            }
            usage.named.extend(used.named);
            usage.given.extend(used.given);
            checks.push(check);
        }
        let reporting = checks.iter().filter(|check| check.reports_unparsed);
        let reported: Vec<Parsed> = reporting.flat_map(|check| check.parses.clone()).collect();
        for (raw, check) in file.checks.iter().zip(&checks) {
            let is_reported = |it: &Parsed| reported.contains(it) || is_mailbox(it, &file.fields);
            if let Some(bare) = check.parses.iter().find(|it| !is_reported(it)) {
                let what = unreported(bare);
                return Err(Mistake::at(file.text(), &raw.spot_of("kind"), what));
            }
        }
        let (kind, has_tree) = (file.kind(), file.tree.is_some());
        let takes = checks.iter().filter_map(|check| check.takes.clone());
        let takes = takes.collect();
        let reported = reported.into_iter().map(|it| match it {
            Parsed::Mailbox(field) | Parsed::WebUrl(field) => field,
        });
        let fields = fields::check(reported.collect(), &kind, has_tree);
        if let Some(fields) = fields.filter(|_| !file.is_final()) {
            checks.insert(0, fields);
        }
        if file.open {
            checks.push(fields::open_ended());
        } else if fact_checks.is_empty() && !file.is_final() {
            let nothing = Mistake::at(file.text(), &(0..0), NOTHING_SHOWN);
            return Err(avoidable.unwrap_or(nothing));
        }
        usage.covers(file)?;
        Ok(Self {
            kind,
            cascade: ordered(file, checks)?,
            fact_checks,
            takes,
            has_tree,
            settings,
        })
    }
}

fn ordered(file: &QuestFile<'_>, checks: Vec<Check>) -> Result<Cascade, Mistake> {
    let names: Vec<String> = checks.iter().map(|check| check.name.clone()).collect();
    Cascade::ordered(checks).map_err(|bad| {
        let mut raws = file.checks.iter();
        let raw = raws.find(|raw| raw.text_of("name") == Some(&bad.check));
        let spot = raw.map(|raw| raw.spot_of_text("needs", &bad.needed));
        let known = names.iter().map(String::as_str).filter(|_| !bad.there);
        let near = nearest(&bad.needed, known);
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Mistake::at(
            file.text(),
            &spot.unwrap_or_default(),
            format!("{bad}{near}"),
        )
    })
}

fn build(
    file: &QuestFile<'_>,
    raw: &RawTable<'_>,
    others: &[Check],
    outside: &dyn Outside,
) -> Result<(Check, FieldUsage), Mistake> {
    let text = file.text();
    let (ours, rest) = raw.part(CheckHead::KEYS);
    let head: CheckHead = ours.read(text)?;
    let name = &head.name;
    let wrong = |key: &str, what: String| Err(Mistake::at(text, &raw.spot_of(key), what));
    if !is_kebab(name) {
        let what = format!("`{name}`: expected kebab-case, such as `tests-pass`");
        return wrong("name", what);
    }
    if let Some(what) = taken_name(name) {
        return wrong("name", what);
    }
    if others.iter().any(|check| check.name == *name) {
        return wrong("name", format!("there are two checks `{name}`"));
    }
    let Some(kind) = kinds::named(&head.kind) else {
        let known: Vec<_> = KINDS.iter().map(|kind| kind.name()).collect();
        return wrong("kind", unknown_name("check kind", &head.kind, &known));
    };
    let usage = RefCell::default();
    let source = Source {
        file,
        head: &head,
        verifies: kind.verifies(),
        names: &file.names(),
        outside,
        usage: &usage,
    };
    let check = kind.build(&ours, &rest, &source)?;
    // A rule that is the program's own may be that of several checks.
    let is_other = |one: &Rule, other: &Rule| one.id == other.id && one != other;
    let mut known = others.iter().flat_map(|other| &other.rules);
    if let Some(rule) = known.find(|known| check.rules.iter().any(|it| is_other(it, known))) {
        return wrong("name", format!("another check has the rule `{}`", rule.id));
    }
    Ok((check, usage.into_inner()))
}

/// Whether the kind of a field already demands an e-mail address.
fn is_mailbox(parsed: &Parsed, fields: &[Field]) -> bool {
    let Parsed::Mailbox(name) = parsed else {
        return false;
    };
    let mut fields = fields.iter().filter(|field| field.name == *name);
    fields.any(|field| field.required && field.shape.kind() == FieldKind::Email)
}

fn unreported(bare: &Parsed) -> String {
    let (field, what) = match bare {
        Parsed::Mailbox(field) => (field, "no e-mail address"),
        Parsed::WebUrl(field) => (field, "no URL of a page"),
    };
    format!(
        "it does nothing if the field `{field}` contains {what}: add a check of kind \
         `email-format` over the same fields"
    )
}

/// Why no check can have this name, where none can.
fn taken_name(name: &str) -> Option<String> {
    let names = [fields::NAME, fields::OPEN_ENDED, doubts::PANEL];
    let rules = [
        fields::rules(),
        doubts::rules(),
        common_rules::rules(),
        vec![
            common_rules::TREE_UNJUDGEABLE,
            common_rules::NEUTRAL_CHANGE,
            common_rules::SILENT_CANARY,
        ],
    ];
    let mut rules = rules.iter().flatten();
    if names.contains(&name) || rules.any(|rule| rule.id.as_str() == name) {
        return Some(format!("every gate already has a check or a rule `{name}`"));
    }
    let of = name.strip_suffix(UNCONFIRMED)?;
    Some(format!(
        "`{name}` is the rule that fires if a check `{of}` cannot tell: choose another name"
    ))
}

/// Why a file is refused whose checks look at the submission's form alone.
const NOTHING_SHOWN: &str = "every check looks only at the form of the submission, and a made-up \
     answer can have any form. How could an agent cheat? Add a check that verifies a fact \
     (command, script, contains, http, coverage, mutation, …), or set `open = true` to leave \
     every answer to a person";

/// What changed in the write zones and is in no copy of the tree: no check would see it.
fn unjudgeable(world: &World<'_>) -> Vec<Fact> {
    // Where the tree cannot be read, the checks that need it say so.
    let changes = world.sandbox.changes().unwrap_or_default();
    let facts = changes.iter().filter_map(|change| {
        let actual = format!(
            "in a write zone, cannot be judged: {}",
            change.why_unjudged()?
        );
        let expected = "in the write zones, only files that can be judged";
        Some(Fact::of(&common_rules::TREE_UNJUDGEABLE, expected, actual).at(&*change.path))
    });
    first_facts(facts.collect())
}

impl FileGate {
    /// Whether any check looks at web pages.
    pub fn looks_at_pages(&self) -> bool {
        self.cascade.has(Cost::Page)
    }

    /// Judges by the checks that cost no more than `most`; the others count as not run.
    pub(in crate::gate) fn judge_up_to(
        &self,
        case: Case<'_>,
        world: &World<'_>,
        most: Cost,
    ) -> Judgement {
        let context = Context::new(case, world, &self.settings, &self.kind);
        let levels = &self.settings.levels;
        let before_dearer = || {
            let found = self.has_tree.then(|| unjudgeable(world));
            found.unwrap_or_default()
        };
        let run = |check: &Check| (check.run)(&context);
        let judgement = self.cascade.run(levels, most, before_dearer, run);
        Judgement {
            seen: context.seen(),
            ..judgement
        }
    }
}

impl Gate for FileGate {
    fn rules(&self) -> Vec<Rule> {
        self.cascade.rules(&self.settings.levels)
    }

    fn judge(&self, case: Case<'_>, world: &World<'_>) -> Judgement {
        self.judge_up_to(case, world, Cost::Heavy)
    }

    fn takes(&self, case: Case<'_>) -> Vec<UniqueValue> {
        let takes = self.takes.iter();
        takes.flat_map(|it| it.of(case.submission)).collect()
    }

    fn accepts_repeats(&self) -> bool {
        self.has_tree
    }

    fn fact_checks(&self) -> Vec<&str> {
        self.fact_checks.iter().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests;
