//! Parses a whole quest file.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::num::NonZeroU32;
use std::ops::Deref;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::panel::{Panel, PanelFile};
use super::read::{Mistake, Placed, RawTable, Spot, is_kebab, unknown_name};
use super::tables::{
    AgentTable, ControlTable, FieldTable, FinalControlTable, FinalTable, FixerTable, InputTable,
    NegativeTable, PanelTable, PlantTable, QuestionTable, ReviewerTable, RunTable, ServiceTable,
    TreeTable, checks,
};
use crate::quest::field::{FieldKind, NO_EXAMPLE, Shape};
use crate::quest::template::{Names, Template};
use crate::quest::{Field, FieldName, QuestKind, ReviewInput, Verdict};

/// Names that are flags of `submit` already.
pub(crate) const FLAGS: &[&str] = &[
    "id",
    "key",
    "worker",
    "worktree",
    "in",
    "none",
    "idempotency-key",
    "session",
    "json",
    "color",
    "help",
    "version",
];

/// Names that are columns of `export` already.
const COLUMNS: &[&str] = &[
    "status",
    "rule",
    "facts",
    "tries",
    "judged-at",
    "judged_at",
    "settled-by",
    "settled_by",
    "note",
];

/// A quest file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileTable {
    /// The kind's name, in kebab-case.
    pub name: String,
    /// What one quest is about, in the singular; also the flag that names the key.
    pub unit: String,
    /// What the quests are for: one line or a few.
    #[serde(default)]
    pub about: String,
    /// How many FAILs end a quest. `scan --max-tries` overrides it.
    pub max_tries: Option<NonZeroU32>,
    /// Whether no machine can decide: then the best verdict is REVIEW.
    #[serde(default)]
    pub open: bool,
    #[serde(default)]
    pub input: InputTable,
    pub tree: Option<TreeTable>,
    prompt: Prompt,
    /// The command that repairs what checks with `on_fail = "fix"` found.
    pub fixer: Option<FixerTable>,
    /// The key and fields of a plausible submission.
    #[serde(default)]
    example: BTreeMap<String, String>,
    /// The field that results show first. Default: the first field.
    answer: Option<String>,
    #[serde(default)]
    field: Vec<FieldTable>,
    #[schemars(schema_with = "checks")]
    #[serde(default, rename = "check")]
    _check: Vec<IgnoredAny>,
    #[serde(default)]
    service: Vec<ServiceTable>,
    #[serde(default)]
    control: Vec<ControlTable>,
    #[serde(rename = "final")]
    final_part: Option<FinalTable>,
    #[serde(default)]
    run: RunTable,
    panel: Option<PanelTable>,
    #[serde(default)]
    reviewer: Vec<ReviewerTable>,
    #[serde(default)]
    question: Vec<QuestionTable>,
    #[serde(default)]
    plant: Vec<PlantTable>,
}

/// `[prompt]`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Prompt {
    /// What the agent reads, as a template.
    text: String,
}

/// A quest file with the places of its tables, which messages about mistakes name.
#[derive(Debug, Clone)]
pub struct QuestFile<'t> {
    text: &'t str,
    top: RawTable<'t>,
    table: FileTable,
    pub answer: Option<FieldName>,
    pub fields: Vec<Field>,
    pub checks: Vec<RawTable<'t>>,
    pub services: Vec<Placed<'t, ServiceTable>>,
    pub agents: Vec<Placed<'t, AgentTable>>,
    pub controls: Vec<Placed<'t, ControlTable>>,
    pub final_part: Option<FinalPart<'t>>,
    pub panel: Option<Panel<'t>>,
    is_final: bool,
}

impl Deref for QuestFile<'_> {
    type Target = FileTable;

    fn deref(&self) -> &FileTable {
        &self.table
    }
}

#[derive(Debug, Clone)]
pub struct FinalPart<'t> {
    pub checks: Vec<RawTable<'t>>,
    pub controls: Vec<Placed<'t, FinalControlTable>>,
    pub negative: Option<Placed<'t, NegativeTable>>,
}

impl<'t> QuestFile<'t> {
    pub fn parse(text: &'t str) -> Result<Self, Mistake> {
        let top = RawTable::parse(text)?;
        let mut file: FileTable = top.read(text)?;
        let fields = read_fields(&file, text, &top)?;
        let answer = match &file.answer {
            None => fields.first().map(|field| field.name.clone()),
            Some(answer) => {
                let known = known_field(&fields, answer);
                let known = known.map_err(|what| Mistake::at(text, &top.spot_of("answer"), what));
                Some(known?.name.clone())
            }
        };
        let final_part = file.final_part.take();
        let final_part = final_part.map(|part| read_final(part, text, &top));
        let agents = take(&mut file.run.agents);
        let agents = top.inner("run").map(|run| run.placed("agents", agents));
        let panel = PanelFile {
            panel: file.panel.take(),
            reviewer: take(&mut file.reviewer),
            question: take(&mut file.question),
            plant: take(&mut file.plant),
        };
        let read = Self {
            text,
            fields,
            services: top.placed("service", take(&mut file.service)),
            controls: top.placed("control", take(&mut file.control)),
            checks: top.tables("check"),
            agents: agents.unwrap_or_default(),
            final_part: final_part.transpose()?,
            is_final: false,
            panel: Panel::new(panel, text, &top)?,
            answer,
            table: file,
            top,
        };
        read.check()?;
        Ok(read)
    }

    pub fn text(&self) -> &'t str {
        self.text
    }

    pub fn spot_of(&self, key: &str) -> Spot {
        self.top.spot_of(key)
    }

    pub fn spot_in(&self, table: &str, key: &str) -> Spot {
        let inner = self.top.inner(table);
        inner.map_or_else(|| self.spot_of(table), |inner| inner.spot_of(key))
    }

    pub fn mistake_in_field(&self, name: &FieldName, what: String) -> Mistake {
        let tables = self.top.tables("field");
        let mut tables = tables.iter();
        let raw = tables.find(|raw| raw.text_of("name") == Some(name.as_str()));
        let spot = raw.map(|raw| raw.spot_of("name"));
        Mistake::at(self.text, &spot.unwrap_or_default(), what)
    }

    pub fn kind(&self) -> QuestKind {
        let example = self.example.get("key").map_or(NO_EXAMPLE, String::as_str);
        QuestKind {
            name: self.name.clone().into(),
            unit: self.unit.clone().into(),
            prompt: self.prompt.text.clone().into(),
            columns: self.input.columns().map(str::to_owned).collect(),
            example_key: example.to_owned().into(),
            answer: self.answer.clone(),
            fields: self.fields.clone(),
        }
    }

    /// The final part as a separate file: its checks, without fields and columns.
    pub fn of_final(&self) -> Option<Self> {
        let mut whole = self.clone();
        whole.checks = whole.final_part.take()?.checks;
        whole.is_final = true;
        whole.answer = None;
        whole.fields.clear();
        whole.controls.clear();
        whole.panel = None;
        whole.table.open = false;
        whole.table.input = InputTable::default();
        whole.table.fixer = None;
        Some(whole)
    }

    /// The first control with a correct submission: one that passes, or in an open kind one that gets
    /// REVIEW.
    pub fn passing_control(&self) -> Option<&ControlTable> {
        self.passing_controls().next()
    }

    /// Every control with a correct submission.
    pub fn passing_controls(&self) -> impl Iterator<Item = &ControlTable> {
        let best = if self.open {
            Verdict::Review
        } else {
            Verdict::Pass
        };
        let controls = self.controls.iter().map(|control| &control.table);
        controls.filter(move |control| control.verdict == best)
    }

    /// Whether it is the final part of another file, and so about no single quest.
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    pub fn names(&self) -> Names {
        self.names_with(self.services.iter().map(|service| service.name.as_str()))
    }

    pub fn names_with<'a>(&'a self, services: impl Iterator<Item = &'a str>) -> Names {
        if self.is_final {
            return Names::of_final(services);
        }
        let fields = self.fields.iter().map(|field| field.name.as_str());
        Names::of_check(self.input.columns(), fields, services)
    }

    fn check(&self) -> Result<(), Mistake> {
        let wrong = |key: &str, what: String| Err(Mistake::at(self.text, &self.spot_of(key), what));
        for (key, name) in [("name", &self.name), ("unit", &self.unit)] {
            if !is_kebab(name) {
                let what = format!("`{name}`: expected kebab-case, such as `unit-tests`");
                return wrong(key, what);
            }
        }
        if FLAGS.contains(&self.unit.as_str()) {
            let what = format!("`{}` is already a flag of `comail submit`", self.unit);
            return wrong("unit", what);
        }
        let names = Names::of_prompt(self.input.columns());
        Template::parse(&self.prompt.text, &names).map_err(|wrong| {
            let spot = self.spot_in("prompt", "text");
            Mistake::at(self.text, &spot, wrong.to_string())
        })?;
        self.panel.as_ref().map_or(Ok(()), |panel| self.fits(panel))
    }

    /// Checks that every input of the panel exists in this file, that there are enough tries for its
    /// revisions, and that no reviewer is the model of an agent.
    pub fn fits(&self, panel: &Panel<'_>) -> Result<(), Mistake> {
        for model in self.agents.iter().filter_map(|it| it.model.as_ref()) {
            panel.refuse_generator(model)?;
        }
        if let Some(tries) = self.max_tries {
            panel.revisions_below(tries.get(), || {
                format!("expected fewer than `max_tries`, which is {tries}: each is a try")
            })?;
        }
        for reviewer in &panel.reviewers {
            for name in &reviewer.sees {
                let spot = reviewer.raw.spot_of_text("sees", name);
                let known = self.has_input(name);
                known.map_err(|what| Mistake::at(panel.text(), &spot, what))?;
            }
        }
        for plant in &panel.plants {
            for name in plant.sees.keys() {
                let spot = plant.raw.spot_within("sees", name);
                let known = self.has_input(name);
                known.map_err(|what| Mistake::at(panel.text(), &spot, what))?;
            }
        }
        Ok(())
    }

    /// Checks that quests of this file have the input `name`.
    fn has_input(&self, name: &str) -> Result<(), String> {
        let one_of = |what: &str, wanted: &str, known: Vec<&str>| {
            let there = known.contains(&wanted).then_some(());
            there.ok_or_else(|| unknown_name(what, wanted, &known))
        };
        let in_tree = || {
            let missing = || format!("`{name}` belongs to a tree: add [tree]");
            self.tree.as_ref().map(drop).ok_or_else(missing)
        };
        match name.parse::<ReviewInput>().map_err(|bad| bad.to_string())? {
            ReviewInput::Key => Ok(()),
            ReviewInput::Submission(field) => known_field(&self.fields, field.as_str()).map(drop),
            ReviewInput::Evidence(field) => {
                let kinds = [FieldKind::Url, FieldKind::Text];
                self.has_field(&field, &kinds, "the URL of a page")
            }
            ReviewInput::File(field) => {
                in_tree()?;
                let kinds = [FieldKind::File, FieldKind::Path];
                self.has_field(&field, &kinds, "the path of a file")
            }
            ReviewInput::Input(column) => one_of("column", &column, self.input.columns().collect()),
            ReviewInput::TreeDiff => in_tree(),
            ReviewInput::Transform(check) => {
                let runs = self.checks.iter().filter(|raw| raw.has("argv"));
                let known = runs.filter_map(|raw| raw.text_of("name")).collect();
                one_of("check with a command", check.as_str(), known)
            }
        }
    }

    fn has_field(&self, name: &FieldName, kinds: &[FieldKind], what: &str) -> Result<(), String> {
        let field = known_field(&self.fields, name.as_str())?;
        if !kinds.contains(&field.shape.kind()) {
            return Err(format!("the field `{name}` does not hold {what}"));
        }
        if !field.required {
            return Err(format!(
                "the field `{name}` may be left out, and then there is nothing to see"
            ));
        }
        Ok(())
    }
}

fn known_field<'f>(fields: &'f [Field], name: &str) -> Result<&'f Field, String> {
    let field = fields.iter().find(|field| field.name.as_str() == name);
    field.ok_or_else(|| {
        let known: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
        unknown_name("field", name, &known)
    })
}

fn read_fields(file: &FileTable, text: &str, top: &RawTable<'_>) -> Result<Vec<Field>, Mistake> {
    let mut known = vec!["key"];
    let mut fields: Vec<Field> = Vec::new();
    for (table, raw) in file.field.iter().zip(top.tables("field")) {
        let name = table.name.as_str();
        let wrong = |key: &str, what: String| Err(Mistake::at(text, &raw.spot_of(key), what));
        if !is_field_name(name) {
            let what = format!(
                "`{name}` cannot be a flag: the name of a field consists of a-z, 0-9, `-` and \
                 `_`, and begins with a letter"
            );
            return wrong("name", what);
        }
        if FLAGS.contains(&name) || name == file.unit {
            let what = format!(
                "`{name}` is already a flag of `comail submit`: choose another name for the field"
            );
            return wrong("name", what);
        }
        if COLUMNS.contains(&name) {
            let what = format!(
                "`{name}` is already a column of `comail export`: choose another name for the field"
            );
            return wrong("name", what);
        }
        if fields.iter().any(|known| known.name.as_str() == name) {
            return wrong("name", format!("there are two fields `{name}`"));
        }
        let bounds = (table.min, table.max);
        let shape = Shape::new(table.kind, table.pattern.as_deref(), bounds, &table.choices);
        let example = file.example.get(name).map_or(NO_EXAMPLE, String::as_str);
        known.push(name);
        fields.push(Field {
            name: FieldName::from(table.name.clone()),
            help: table.help.clone().into(),
            example: example.to_owned().into(),
            required: table.required,
            shape: match shape {
                Ok(shape) => shape,
                Err(unfit) => return wrong(unfit.key, unfit.what),
            },
            unchecked: table.unchecked,
        });
    }
    let mut examples = file.example.keys().map(String::as_str);
    if let Some(name) = examples.find(|name| !known.contains(name)) {
        let spot = top.spot_within("example", name);
        return Err(Mistake::at(
            text,
            &spot,
            unknown_name("field", name, &known),
        ));
    }
    Ok(fields)
}

/// Whether `name` can be a field, and so a flag without quotes in a shell.
fn is_field_name(name: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(plain)
}

fn read_final<'t>(
    table: FinalTable,
    text: &str,
    top: &RawTable<'t>,
) -> Result<FinalPart<'t>, Mistake> {
    let wrong = |spot: Spot, what: &str| Err(Mistake::at(text, &spot, what));
    let Some(raw) = top.inner("final") else {
        return wrong(top.spot_of("final"), "`final` is written as [final]");
    };
    let controls = raw.placed("control", table.control);
    let mut names = BTreeSet::new();
    for control in &controls {
        if !names.insert(&control.name) {
            let what = format!("there are two controls `{}` in [final]", control.name);
            return wrong(control.raw.spot_of("name"), &what);
        }
    }
    let negative = table.negative.zip(raw.inner("negative"));
    let negative = negative.map(|(table, raw)| Placed { table, raw });
    let checks = raw.tables("check");
    if checks.is_empty() {
        let what = "[final] without a [[final.check]] would pass anything";
        return wrong(raw.spot(), what);
    }
    match &negative {
        Some(negative) if negative.files.is_empty() && negative.remove.is_empty() => {
            let what = "it changes nothing: name a file in `files` or in `remove`";
            wrong(negative.raw.spot(), what)
        }
        _ => Ok(FinalPart {
            checks,
            controls,
            negative,
        }),
    }
}
