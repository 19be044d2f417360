//! The reviewers of a quest file, or of a file of their own, read whole.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use toml::de::DeTable;

use super::panel_tables::{PanelTable, PlantTable, QuestionTable, ReviewerKind, ReviewerTable};
use super::read::{Mistake, RawTable, Spot, is_kebab, read_all, take_tables, unknown_name};
use crate::base::text::fold;
use crate::quest::ReviewInput;

const TABLES: [&str; 4] = ["panel", "reviewer", "question", "plant"];

#[derive(Debug, Clone)]
pub struct Panel<'t> {
    pub(super) text: &'t str,
    pub head: PanelTable,
    pub reviewers: Vec<ReviewerTable>,
    pub questions: Vec<QuestionTable>,
    pub plants: Vec<PlantTable>,
    pub(super) head_table: Option<RawTable<'t>>,
    pub(super) reviewer_tables: Vec<RawTable<'t>>,
    pub(super) question_tables: Vec<RawTable<'t>>,
    pub(super) plant_tables: Vec<RawTable<'t>>,
}

impl<'t> Panel<'t> {
    /// Reads the text of a file that holds reviewers and nothing else.
    pub fn parse(text: &'t str) -> Result<Self, Mistake> {
        let document =
            DeTable::parse(text).map_err(|error| Mistake::of_toml(text, &(0..0), &error))?;
        let mut tables = document.into_inner();
        let panel = Self::take(&mut tables, text)?;
        if let Some((name, _)) = tables.iter().next() {
            let what = unknown_name("table", name.get_ref(), &TABLES);
            return Err(Mistake::at(text, &name.span(), what));
        }
        panel.ok_or_else(|| Mistake::at(text, &(0..0), "there is no [[reviewer]] in it"))
    }

    pub(super) fn take(document: &mut DeTable<'t>, text: &'t str) -> Result<Option<Self>, Mistake> {
        let there = TABLES.iter().any(|name| document.contains_key(*name));
        if !there {
            return Ok(None);
        }
        let head_table = document.remove("panel").map(|found| {
            let spot = found.span();
            let inner = found.get_ref().as_table().cloned();
            let inner = inner.map(|inner| RawTable::new(toml::Spanned::new(spot.clone(), inner)));
            inner.ok_or_else(|| Mistake::at(text, &spot, "`panel` is written as [panel]"))
        });
        let head_table = head_table.transpose()?;
        let reviewer_tables = take_tables(document, "reviewer", text)?;
        let question_tables = take_tables(document, "question", text)?;
        let plant_tables = take_tables(document, "plant", text)?;
        let head = head_table.as_ref().map(|table| table.read(text));
        let panel = Self {
            text,
            head: head.transpose()?.unwrap_or_default(),
            reviewers: read_all(&reviewer_tables, text)?,
            questions: read_all(&question_tables, text)?,
            plants: read_all(&plant_tables, text)?,
            head_table,
            reviewer_tables,
            question_tables,
            plant_tables,
        };
        panel.holds_together()?;
        Ok(Some(panel))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.reviewers.iter().map(|reviewer| reviewer.name.as_str())
    }

    pub fn placed_reviewers(&self) -> impl Iterator<Item = (&ReviewerTable, &RawTable<'t>)> {
        self.reviewers.iter().zip(&self.reviewer_tables)
    }

    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }
}

impl Panel<'_> {
    pub fn refuse_generator(&self, model: &str) -> Result<(), Mistake> {
        let taken = model_name(model);
        let mut same = self.placed_reviewers();
        let same = same.find(|(reviewer, _)| model_name(&reviewer.model) == taken);
        same.map_or(Ok(()), |(reviewer, raw)| {
            let what = format!(
                "`{}` is the model that answers the quests: nobody reviews itself",
                reviewer.model
            );
            Err(Mistake::at(self.text, &raw.spot_of("model"), what))
        })
    }
}

/// The fewest reviewers that are a panel: one alone would be its own judge.
const FEWEST: usize = 2;

/// The most often that an agent is sent the doubts: each time the reviewers are paid for.
const MOST_REVISIONS: u32 = 10;

impl Panel<'_> {
    pub(super) fn holds_together(&self) -> Result<(), Mistake> {
        self.names_are_names()?;
        for (reviewer, raw) in self.placed_reviewers() {
            asked(reviewer)
                .map_or(Ok(()), |(key, what)| Err((raw.spot_of(key), what)))
                .map_err(|(spot, what)| self.mistake(&spot, what))?;
            self.sights(&reviewer.sees, raw, "sees")?;
        }
        self.independent()?;
        self.head_holds()?;
        self.plants_hold()
    }

    fn mistake(&self, spot: &Spot, what: impl Into<String>) -> Mistake {
        Mistake::at(self.text, spot, what)
    }

    fn names_are_names(&self) -> Result<(), Mistake> {
        let reviewers = self.reviewers.iter().map(|it| it.name.as_str());
        let questions = self.questions.iter().map(|it| it.id.as_str());
        let plants = self.plants.iter().map(|it| it.name.as_str());
        self.each_once("reviewer", "name", reviewers, &self.reviewer_tables)?;
        self.each_once("question", "id", questions, &self.question_tables)?;
        self.each_once("plant", "name", plants, &self.plant_tables)
    }

    fn each_once<'n>(
        &self,
        what: &str,
        key: &str,
        names: impl Iterator<Item = &'n str>,
        tables: &[RawTable<'_>],
    ) -> Result<(), Mistake> {
        let mut known = BTreeSet::new();
        for (name, raw) in names.zip(tables) {
            let wrong = if is_kebab(name) {
                (!known.insert(name)).then(|| format!("there are two {what}s `{name}`"))
            } else {
                Some(format!("`{name}`: expected kebab-case, such as `faithful`"))
            };
            if let Some(wrong) = wrong {
                return Err(self.mistake(&raw.spot_of(key), wrong));
            }
        }
        Ok(())
    }

    fn sights<'n>(
        &self,
        names: impl IntoIterator<Item = &'n String>,
        raw: &RawTable<'_>,
        key: &str,
    ) -> Result<Vec<ReviewInput>, Mistake> {
        let mut known = Vec::new();
        for name in names {
            let wrong = match name.parse::<ReviewInput>() {
                Ok(sight) if known.contains(&sight) => format!("{name:?} is there twice"),
                Ok(sight) => {
                    known.push(sight);
                    continue;
                }
                Err(bad) => bad.to_string(),
            };
            return Err(self.mistake(&raw.spot_of_text(key, name), wrong));
        }
        Ok(known)
    }

    /// Whether what the reviewers say can differ from what the agent says, and from each other.
    fn independent(&self) -> Result<(), Mistake> {
        if self.reviewers.len() < FEWEST {
            let spot = self.reviewer_tables.first().map(RawTable::spot);
            let what = "a panel has at least two reviewers, of two models: one alone would be \
                        believed whatever it says";
            return Err(self.mistake(&spot.unwrap_or_default(), what));
        }
        let mut models = BTreeSet::new();
        for (reviewer, raw) in self.placed_reviewers() {
            let model = model_name(&reviewer.model);
            let what = if model.is_empty() {
                String::from("it is blank: name the model, so that no two are the same")
            } else if models.insert(model) {
                continue;
            } else {
                format!(
                    "another reviewer is the model `{}`: the same model makes the same mistakes",
                    reviewer.model
                )
            };
            return Err(self.mistake(&raw.spot_of("model"), what));
        }
        let mut seen = self.reviewers.iter().flat_map(|it| &it.sees);
        let differs = |text: &String| text.parse::<ReviewInput>().is_ok_and(|it| it.differs());
        if !seen.any(differs) {
            let spot = self.reviewer_tables.first().map(|raw| raw.spot_of("sees"));
            let what = "no reviewer sees anything that the agent has not written itself: let one \
                        see `evidence.FIELD`, `tree.diff` or `transform.CHECK`";
            return Err(self.mistake(&spot.unwrap_or_default(), what));
        }
        Ok(())
    }

    fn head_holds(&self) -> Result<(), Mistake> {
        let quorum = usize::try_from(self.head.quorum).unwrap_or(usize::MAX);
        if (FEWEST..=self.reviewers.len()).contains(&quorum) {
            self.revisions_below(MOST_REVISIONS + 1, || {
                format!("expected at most {MOST_REVISIONS}")
            })?;
            return self.questions_hold();
        }
        let spot = self.head_table.as_ref().map(|raw| raw.spot_of("quorum"));
        let what = format!(
            "expected from 2 to {}, which is how many reviewers there are",
            self.reviewers.len()
        );
        Err(self.mistake(&spot.unwrap_or_default(), what))
    }

    fn questions_hold(&self) -> Result<(), Mistake> {
        if self.questions.is_empty() {
            let spot = self.reviewer_tables.first().map(RawTable::spot);
            let what = "there is no [[question]]: reviewers answer questions, and nothing else";
            return Err(self.mistake(&spot.unwrap_or_default(), what));
        }
        let mut placed = self.questions.iter().zip(&self.question_tables);
        let blank = placed.find(|(question, _)| fold(&question.ask).trim().is_empty());
        blank.map_or(Ok(()), |(_, raw)| {
            let what = "it is blank: ask something, to which yes is a doubt";
            Err(self.mistake(&raw.spot_of("ask"), what))
        })
    }

    /// That the agent is sent the doubts less often than `limit`.
    pub(super) fn revisions_below(
        &self,
        limit: u32,
        what: impl Fn() -> String,
    ) -> Result<(), Mistake> {
        if self.head.revisions < limit {
            return Ok(());
        }
        let spot = self.head_table.as_ref().map(|raw| raw.spot_of("revisions"));
        Err(self.mistake(&spot.unwrap_or_default(), what()))
    }

    fn plants_hold(&self) -> Result<(), Mistake> {
        let questions: Vec<_> = self.questions.iter().map(|it| it.id.as_str()).collect();
        for (plant, raw) in self.plants.iter().zip(&self.plant_tables) {
            let mut doubts = plant.doubts.iter();
            if let Some(id) = doubts.find(|id| !questions.contains(&id.as_str())) {
                let what = unknown_name("question", id, &questions);
                return Err(self.mistake(&raw.spot_of_text("doubts", id), what));
            }
            let mut sights = Vec::new();
            for name in plant.sees.keys() {
                let sight = name
                    .parse::<ReviewInput>()
                    .map_err(|bad| self.mistake(&raw.spot_within("sees", name), bad.to_string()))?;
                sights.push(sight.to_string());
            }
            self.plant_is_seen(plant.doubts.is_empty(), &sights, raw)?;
        }
        if self.plants.iter().all(|plant| plant.doubts.is_empty()) {
            let spot = self.reviewer_tables.first().map(RawTable::spot);
            let what = "there is no [[plant]] with `doubts`: a reviewer that never doubts could \
                        not be told from one that looks";
            return Err(self.mistake(&spot.unwrap_or_default(), what));
        }
        Ok(())
    }

    /// Whether every reviewer is shown a plant: of a defect something, of what is clean all.
    fn plant_is_seen(
        &self,
        clean: bool,
        sights: &[String],
        raw: &RawTable<'_>,
    ) -> Result<(), Mistake> {
        for reviewer in &self.reviewers {
            let given = |seen: &String| sights.contains(seen);
            let what = if clean {
                let missing = reviewer.sees.iter().find(|seen| !given(seen));
                missing.map(|seen| {
                    format!("it doubts nothing, so it must give every input; `{seen}` is missing")
                })
            } else {
                (!reviewer.sees.iter().any(given)).then(|| {
                    let name = &reviewer.name;
                    format!("the reviewer `{name}` sees none of it, and could never find it")
                })
            };
            if let Some(what) = what {
                return Err(self.mistake(&raw.spot_of("sees"), what));
            }
        }
        Ok(())
    }
}

/// A model's name as it is compared: as a reader sees it, without who offers it.
pub(super) fn model_name(model: &str) -> String {
    let name = fold(model);
    let (_, name) = name.rsplit_once('/').unwrap_or(("", &name));
    name.trim().to_owned()
}

/// Variables by which an interpreter or a loader runs something else than it was given.
const OWNERS: [&str; 18] = [
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
    "NODE_PATH",
    "BASH_ENV",
    "ENV",
    "IFS",
    "SHELLOPTS",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5DB",
    "PERLLIB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
];

const OWNING: [&str; 4] = ["LD_", "DYLD_", "BASH_FUNC_", "GCONV_"];

pub(super) fn asked(reviewer: &ReviewerTable) -> Option<(&'static str, String)> {
    let there = [
        ("argv", !reviewer.argv.is_empty(), ReviewerKind::Command),
        ("env", !reviewer.env.is_empty(), ReviewerKind::Command),
        ("pass", !reviewer.pass.is_empty(), ReviewerKind::Command),
        ("network", reviewer.network.is_some(), ReviewerKind::Command),
        ("base_url", reviewer.base_url.is_some(), ReviewerKind::Chat),
        ("key", reviewer.key.is_some(), ReviewerKind::Chat),
    ];
    let mut foreign = there
        .iter()
        .filter(|(_, is, of)| *is && *of != reviewer.kind);
    if let Some((key, ..)) = foreign.next() {
        let kind = match reviewer.kind {
            ReviewerKind::Command => "command",
            ReviewerKind::Chat => "chat",
        };
        return Some((
            key,
            format!("`{key}` says nothing to a reviewer of kind `{kind}`"),
        ));
    }
    if reviewer.sees.is_empty() {
        return Some(("sees", String::from("it is empty: say what it is shown")));
    }
    match reviewer.kind {
        ReviewerKind::Command if reviewer.argv.is_empty() => {
            Some(("kind", String::from("say `argv`: the program to ask")))
        }
        ReviewerKind::Command => variables(reviewer),
        ReviewerKind::Chat => None,
    }
}

/// The first variable of a command by which its environment would say what the program is.
fn variables(reviewer: &ReviewerTable) -> Option<(&'static str, String)> {
    let set = reviewer.env.keys().map(|name| ("env", name));
    let passed = reviewer.pass.iter().map(|name| ("pass", name));
    let (key, name) = set.chain(passed).find(|(_, name)| owns_programs(name))?;
    Some((
        key,
        format!("`{name}` says what is run, or in its place: the program pinned at the scan is"),
    ))
}

fn owns_programs(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    OWNERS.contains(&name.as_str()) || OWNING.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests_variables {
    use super::*;

    #[test]
    fn who_owns_the_program_is_told_from_who_tells_it_something() {
        for name in [
            "LD_PRELOAD",
            "DYLD_INSERT_LIBRARIES",
            "PATH",
            "Path",
            "ENV",
            "IFS",
        ] {
            assert!(owns_programs(name), "{name}");
        }
        for name in [
            "MODEL_KEY",
            "HOME",
            "LANG",
            "OLD_PATH",
            "ENVIRONMENT",
            "API_PATH",
        ] {
            assert!(!owns_programs(name), "{name}");
        }
    }
}
