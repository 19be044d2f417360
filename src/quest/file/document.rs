//! A quest file, read whole.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use toml::de::DeTable;

use super::control::{ControlTable, FinalPart};
use super::panel::Panel;
use super::read::{Mistake, RawTable, Spot, is_kebab, read_all, take_tables, unknown_name};
use super::tables::{FieldTable, FixerTable, InputTable, ServiceTable, TreeTable};
use crate::quest::field::{FieldKind, NO_EXAMPLE};
use crate::quest::template::{Names, Template};
use crate::quest::{Field, FieldName, QuestKind, ReviewInput};

const TAKEN_UNITS: &[&str] = &[
    "id", "key", "worker", "in", "none", "session", "json", "color", "help", "version",
];

/// Everything in a quest file but what stands in several tables of one name.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadTable {
    /// The kind's name, in kebab-case.
    name: String,
    /// What one quest is about, in the singular; also the flag that names the key.
    unit: String,
    /// What the quests are for: one line or a few.
    #[serde(default)]
    about: String,
    /// How many FAILs end a quest, where `scan` does not say.
    max_tries: Option<NonZeroU32>,
    /// Whether no machine can decide: then the best verdict is REVIEW.
    #[serde(default)]
    open: bool,
    #[serde(default)]
    input: InputTable,
    tree: Option<TreeTable>,
    prompt: Prompt,
    /// The command that mends what checks with `on_fail = "fix"` found wrong.
    fixer: Option<FixerTable>,
    /// A key and a value for each field, as a submission that would look right has them.
    #[serde(default)]
    example: BTreeMap<String, String>,
    /// The field that the quests are about, which results show first: the first where it is not
    /// said.
    answer: Option<String>,
    // Taken out before; named here so that a mistyped name is told of them.
    #[serde(default, rename = "field")]
    _field: (),
    #[serde(default, rename = "check")]
    _check: (),
    #[serde(default, rename = "service")]
    _service: (),
    #[serde(default, rename = "control")]
    _control: (),
    #[serde(default, rename = "final")]
    _final: (),
    #[serde(default, rename = "panel")]
    _panel: (),
    #[serde(default, rename = "reviewer")]
    _reviewer: (),
    #[serde(default, rename = "question")]
    _question: (),
    #[serde(default, rename = "plant")]
    _plant: (),
}

/// `[prompt]`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Prompt {
    /// What the agent is told, as a template.
    text: String,
}

#[derive(Debug, Clone)]
pub struct QuestFile<'t> {
    text: &'t str,
    pub name: String,
    pub unit: String,
    pub about: String,
    pub max_tries: Option<NonZeroU32>,
    pub open: bool,
    pub input: InputTable,
    pub tree: Option<TreeTable>,
    pub prompt: String,
    pub example_key: String,
    pub answer: Option<FieldName>,
    pub fields: Vec<Field>,
    pub checks: Vec<RawTable<'t>>,
    pub services: Vec<ServiceTable>,
    pub controls: Vec<ControlTable>,
    field_tables: Vec<RawTable<'t>>,
    pub fixer: Option<FixerTable>,
    pub final_part: Option<FinalPart<'t>>,
    is_final: bool,
    pub panel: Option<Panel<'t>>,
    service_tables: Vec<RawTable<'t>>,
    control_tables: Vec<RawTable<'t>>,
    top: RawTable<'t>,
}

impl<'t> QuestFile<'t> {
    pub fn parse(text: &'t str) -> Result<Self, Mistake> {
        let document =
            DeTable::parse(text).map_err(|error| Mistake::of_toml(text, &(0..0), &error))?;
        let whole = document.span();
        let top = RawTable::new(document.clone());
        let mut tables = document.into_inner();
        let field_tables = take_tables(&mut tables, "field", text)?;
        let checks = take_tables(&mut tables, "check", text)?;
        let services = take_tables(&mut tables, "service", text)?;
        let controls = take_tables(&mut tables, "control", text)?;
        let final_part = FinalPart::take(&mut tables, text)?;
        let panel = Panel::take(&mut tables, text)?;
        let head: HeadTable = RawTable::new(Spanned::new(whole, tables)).read(text)?;
        let fields = read_fields(&field_tables, &head, text, &top)?;
        let answer = read_answer(&fields, &head, text, &top)?;
        let file = Self {
            text,
            fields,
            field_tables,
            top,
            services: read_all(&services, text)?,
            service_tables: services,
            controls: read_all(&controls, text)?,
            control_tables: controls,
            fixer: head.fixer,
            final_part,
            is_final: false,
            panel,
            checks,
            answer,
            example_key: head
                .example
                .get("key")
                .cloned()
                .unwrap_or_else(|| NO_EXAMPLE.to_owned()),
            name: head.name,
            unit: head.unit,
            about: head.about,
            max_tries: head.max_tries,
            open: head.open,
            input: head.input,
            tree: head.tree,
            prompt: head.prompt.text,
        };
        file.hold_together()?;
        Ok(file)
    }

    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Where the first value of this key stands, at the file's top.
    #[must_use]
    pub fn spot_of(&self, key: &str) -> Spot {
        self.top.spot_of(key)
    }

    #[must_use]
    pub fn spot_in(&self, table: &str, key: &str) -> Spot {
        let inner = self.top.inner(table);
        inner.map_or_else(|| self.spot_of(table), |inner| inner.spot_of(key))
    }

    pub fn placed_fields(&self) -> impl Iterator<Item = (&Field, &RawTable<'t>)> {
        self.fields.iter().zip(&self.field_tables)
    }

    pub fn placed_services(&self) -> impl Iterator<Item = (&ServiceTable, &RawTable<'t>)> {
        self.services.iter().zip(&self.service_tables)
    }

    pub fn placed_controls(&self) -> impl Iterator<Item = (&ControlTable, &RawTable<'t>)> {
        self.controls.iter().zip(&self.control_tables)
    }

    #[must_use]
    pub fn kind(&self) -> QuestKind {
        QuestKind {
            name: self.name.clone().into(),
            unit: self.unit.clone().into(),
            prompt: self.prompt.clone().into(),
            columns: self.input.columns().map(str::to_owned).collect(),
            example_key: self.example_key.clone().into(),
            answer: self.answer.clone(),
            fields: self.fields.clone(),
        }
    }

    /// The final part as a file by itself: its checks, with neither fields nor columns.
    #[must_use]
    pub fn of_final(&self) -> Option<Self> {
        let part = self.final_part.as_ref()?;
        Some(Self {
            checks: part.checks.clone(),
            is_final: true,
            open: false,
            input: InputTable::default(),
            answer: None,
            fields: Vec::new(),
            field_tables: Vec::new(),
            controls: Vec::new(),
            control_tables: Vec::new(),
            panel: None,
            fixer: None,
            final_part: None,
            ..self.clone()
        })
    }

    /// Whether it is the final part of another file by itself, and about no single quest.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    #[must_use]
    pub fn names(&self) -> Names {
        self.names_with(self.services.iter().map(|service| service.name.as_str()))
    }

    #[must_use]
    pub fn names_with<'a>(&'a self, services: impl Iterator<Item = &'a str>) -> Names {
        if self.is_final {
            return Names::of_final(services);
        }
        let fields = self.fields.iter().map(|field| field.name.as_str());
        Names::of_check(self.input.columns(), fields, services)
    }

    #[must_use]
    pub fn field(&self, name: &str) -> Option<&FieldName> {
        let mut names = self.fields.iter().map(|field| &field.name);
        names.find(|field| field.as_str() == name)
    }

    fn hold_together(&self) -> Result<(), Mistake> {
        let spot = |key: &str| self.spot_of(key);
        for (key, name) in [("name", &self.name), ("unit", &self.unit)] {
            if !is_kebab(name) {
                let what = format!("`{name}`: expected kebab-case, such as `unit-tests`");
                return Err(Mistake::at(self.text, &spot(key), what));
            }
        }
        if TAKEN_UNITS.contains(&self.unit.as_str()) {
            let what = format!("`{}` is a flag of `comail submit` already", self.unit);
            return Err(Mistake::at(self.text, &spot("unit"), what));
        }
        let names = Names::of_prompt(self.input.columns());
        Template::parse(&self.prompt, &names).map_err(|wrong| {
            let spot = self.spot_in("prompt", "text");
            Mistake::at(self.text, &spot, wrong.to_string())
        })?;
        self.panel.as_ref().map_or(Ok(()), |panel| self.fits(panel))
    }
}

fn read_fields(
    tables: &[RawTable<'_>],
    head: &HeadTable,
    text: &str,
    top: &RawTable<'_>,
) -> Result<Vec<Field>, Mistake> {
    let mut fields: Vec<Field> = Vec::new();
    for raw in tables {
        let table: FieldTable = raw.read(text)?;
        let example = head
            .example
            .get(&table.name)
            .map_or(NO_EXAMPLE, String::as_str);
        let field = table.field(raw, text, &head.unit, example)?;
        if fields.iter().any(|known| known.name == field.name) {
            let what = format!("there are two fields `{}`", field.name);
            return Err(Mistake::at(text, &raw.spot_of("name"), what));
        }
        fields.push(field);
    }
    let known: Vec<&str> = std::iter::once("key")
        .chain(fields.iter().map(|field| field.name.as_str()))
        .collect();
    let unknown = head
        .example
        .keys()
        .find(|name| !known.contains(&name.as_str()));
    if let Some(name) = unknown {
        let spot = top.spot_within("example", name);
        let what = unknown_name("field", name, &known);
        return Err(Mistake::at(text, &spot, what));
    }
    Ok(fields)
}

/// The field that the quests are about: the one that the file names, or the first.
fn read_answer(
    fields: &[Field],
    head: &HeadTable,
    text: &str,
    top: &RawTable<'_>,
) -> Result<Option<FieldName>, Mistake> {
    let Some(answer) = &head.answer else {
        return Ok(fields.first().map(|field| field.name.clone()));
    };
    let mut names = fields.iter().map(|field| &field.name);
    if let Some(name) = names.find(|name| name.as_str() == answer) {
        return Ok(Some(name.clone()));
    }
    let known: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
    let what = unknown_name("field", answer, &known);
    Err(Mistake::at(text, &top.spot_of("answer"), what))
}

impl QuestFile<'_> {
    /// That every input that a panel sees is one of this file, and that its tries are enough for
    /// the revisions.
    pub fn fits(&self, panel: &Panel<'_>) -> Result<(), Mistake> {
        if let Some(tries) = self.max_tries {
            panel.revisions_below(tries.get(), || {
                format!("expected fewer than `max_tries`, which is {tries}: each is a try")
            })?;
        }
        for (reviewer, raw) in panel.placed_reviewers() {
            for name in &reviewer.sees {
                fits_one(name, self).map_err(|what| {
                    Mistake::at(panel.text, &raw.spot_of_text("sees", name), what)
                })?;
            }
        }
        for (plant, raw) in panel.plants.iter().zip(&panel.plant_tables) {
            for name in plant.sees.keys() {
                fits_one(name, self).map_err(|what| {
                    Mistake::at(panel.text, &raw.spot_within("sees", name), what)
                })?;
            }
        }
        Ok(())
    }
}

/// That `name` is an input that quests of `file` have.
fn fits_one(name: &str, file: &QuestFile<'_>) -> Result<(), String> {
    let sight = name.parse::<ReviewInput>().map_err(|bad| bad.to_string())?;
    match &sight {
        ReviewInput::Key => Ok(()),
        ReviewInput::Submission(field) => known_field(file, field.as_str()),
        ReviewInput::Evidence(field) => {
            let kinds = [FieldKind::Url, FieldKind::Text];
            field_of(file, field.as_str(), &kinds, "the URL of a page")
        }
        ReviewInput::File(field) => {
            has_tree(file, name)?;
            let kinds = [FieldKind::File, FieldKind::Path];
            field_of(file, field.as_str(), &kinds, "the path of a file")
        }
        ReviewInput::Input(column) => {
            let known: Vec<_> = file.input.columns().collect();
            let there = known.contains(&column.as_str());
            there
                .then_some(())
                .ok_or_else(|| unknown_name("column", column, &known))
        }
        ReviewInput::TreeDiff => has_tree(file, name),
        ReviewInput::Transform(check) => {
            let runs = file.checks.iter().filter(|raw| raw.has("argv"));
            let known: Vec<_> = runs.filter_map(|raw| raw.text_of("name")).collect();
            let there = known.contains(&check.as_str());
            there
                .then_some(())
                .ok_or_else(|| unknown_name("check with a command", check, &known))
        }
    }
}

fn known_field(file: &QuestFile<'_>, name: &str) -> Result<(), String> {
    if file.field(name).is_some() {
        return Ok(());
    }
    let known: Vec<_> = file.fields.iter().map(|it| it.name.as_str()).collect();
    Err(unknown_name("field", name, &known))
}

fn field_of(
    file: &QuestFile<'_>,
    name: &str,
    kinds: &[FieldKind],
    what: &str,
) -> Result<(), String> {
    known_field(file, name)?;
    let mut fields = file.fields.iter();
    let Some(field) = fields.find(|field| field.name.as_str() == name) else {
        return Ok(());
    };
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

fn has_tree(file: &QuestFile<'_>, name: &str) -> Result<(), String> {
    let missing = || format!("`{name}` is of a tree: say [tree]");
    file.tree.as_ref().map(drop).ok_or_else(missing)
}
