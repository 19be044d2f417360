//! Parses the reviewers of a quest file or of a separate file.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeSet;

use serde::Deserialize;

use super::read::{Mistake, Placed, RawTable, Spot, is_kebab, unknown_name};
use super::tables::{PanelTable, PlantTable, QuestionTable, ReviewerKind, ReviewerTable};
use crate::base::text::fold;
use crate::quest::ReviewInput;

/// A file with only reviewers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PanelFile {
    pub(super) panel: Option<PanelTable>,
    #[serde(default)]
    pub(super) reviewer: Vec<ReviewerTable>,
    #[serde(default)]
    pub(super) question: Vec<QuestionTable>,
    #[serde(default)]
    pub(super) plant: Vec<PlantTable>,
}

#[derive(Debug, Clone)]
pub struct Panel<'t> {
    text: &'t str,
    top: RawTable<'t>,
    pub head: PanelTable,
    pub reviewers: Vec<Placed<'t, ReviewerTable>>,
    pub questions: Vec<Placed<'t, QuestionTable>>,
    pub plants: Vec<Placed<'t, PlantTable>>,
}

/// The fewest reviewers of a panel: nobody could contradict a single one.
const MIN_REVIEWERS: usize = 2;

/// How often the agent can get the doubts at most, because each time reviewers are paid for.
const MAX_REVISIONS: u32 = 10;

impl<'t> Panel<'t> {
    /// Parses a file with only reviewers.
    pub fn parse(text: &'t str) -> Result<Self, Mistake> {
        let top = RawTable::parse(text)?;
        let panel = Self::new(top.read(text)?, text, &top)?;
        panel.ok_or_else(|| Mistake::at(text, &(0..0), "there is no [[reviewer]] in it"))
    }

    /// The panel of these tables; `None` if the file has none of them.
    pub(super) fn new(
        tables: PanelFile,
        text: &'t str,
        top: &RawTable<'t>,
    ) -> Result<Option<Self>, Mistake> {
        let names = ["panel", "reviewer", "question", "plant"];
        if !names.iter().any(|name| top.has(name)) {
            return Ok(None);
        }
        let panel = Self {
            text,
            head: tables.panel.unwrap_or_default(),
            reviewers: top.placed("reviewer", tables.reviewer),
            questions: top.placed("question", tables.question),
            plants: top.placed("plant", tables.plant),
            top: top.clone(),
        };
        panel.check()?;
        Ok(Some(panel))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.reviewers.iter().map(|reviewer| reviewer.name.as_str())
    }

    pub fn text(&self) -> &'t str {
        self.text
    }

    pub fn refuse_generator(&self, model: &str) -> Result<(), Mistake> {
        let taken = model_name(model);
        let mut reviewers = self.reviewers.iter();
        match reviewers.find(|reviewer| model_name(&reviewer.model) == taken) {
            None => Ok(()),
            Some(reviewer) => self.wrong(
                &reviewer.raw.spot_of("model"),
                format!(
                    "`{}` is the model that answers the quests: no model reviews itself",
                    reviewer.model
                ),
            ),
        }
    }

    fn wrong<T>(&self, spot: &Spot, what: impl Into<String>) -> Result<T, Mistake> {
        Err(Mistake::at(self.text, spot, what))
    }

    /// A mistake in the panel as a whole, reported at its first reviewer.
    fn wrong_at_first(&self, what: &str) -> Result<(), Mistake> {
        let first = self.reviewers.first().map(|reviewer| reviewer.raw.spot());
        self.wrong(&first.unwrap_or_default(), what)
    }

    fn wrong_in_head(&self, key: &str, what: String) -> Result<(), Mistake> {
        let head = self.top.inner("panel");
        self.wrong(&head.map(|raw| raw.spot_of(key)).unwrap_or_default(), what)
    }

    fn check(&self) -> Result<(), Mistake> {
        let names = self.reviewers.iter().map(|it| (&it.name, &it.raw));
        self.check_names("reviewer", "name", names)?;
        let names = self.questions.iter().map(|it| (&it.id, &it.raw));
        self.check_names("question", "id", names)?;
        let names = self.plants.iter().map(|it| (&it.name, &it.raw));
        self.check_names("plant", "name", names)?;
        for reviewer in &self.reviewers {
            if let Some((key, what)) = asked(reviewer) {
                return self.wrong(&reviewer.raw.spot_of(key), what);
            }
            let mut known = Vec::new();
            for name in &reviewer.sees {
                let what = match name.parse::<ReviewInput>() {
                    Err(bad) => bad.to_string(),
                    Ok(sight) if known.contains(&sight) => format!("{name:?} appears twice"),
                    Ok(sight) => {
                        known.push(sight);
                        continue;
                    }
                };
                return self.wrong(&reviewer.raw.spot_of_text("sees", name), what);
            }
        }
        self.check_independence()?;
        let quorum = usize::try_from(self.head.quorum).unwrap_or(usize::MAX);
        if !(MIN_REVIEWERS..=self.reviewers.len()).contains(&quorum) {
            let what = format!(
                "expected from 2 to {}, which is how many reviewers there are",
                self.reviewers.len()
            );
            return self.wrong_in_head("quorum", what);
        }
        self.revisions_below(MAX_REVISIONS + 1, || {
            format!("expected at most {MAX_REVISIONS}")
        })?;
        if self.questions.is_empty() {
            let what = "there is no [[question]]: reviewers only answer questions";
            return self.wrong_at_first(what);
        }
        let mut questions = self.questions.iter();
        if let Some(blank) = questions.find(|it| fold(&it.ask).trim().is_empty()) {
            let what = "it is blank: ask a question to which yes is a doubt";
            return self.wrong(&blank.raw.spot_of("ask"), what);
        }
        self.check_plants()
    }

    fn check_names<'n>(
        &self,
        what: &str,
        key: &str,
        names: impl Iterator<Item = (&'n String, &'n RawTable<'t>)>,
    ) -> Result<(), Mistake>
    where
        't: 'n,
    {
        let mut known = BTreeSet::new();
        for (name, raw) in names {
            if !is_kebab(name) {
                let what = format!("`{name}`: expected kebab-case, such as `faithful`");
                return self.wrong(&raw.spot_of(key), what);
            }
            if !known.insert(name) {
                let what = format!("there are two {what}s `{name}`");
                return self.wrong(&raw.spot_of(key), what);
            }
        }
        Ok(())
    }

    /// Checks that the reviewers can disagree with the agent and with each other.
    fn check_independence(&self) -> Result<(), Mistake> {
        if self.reviewers.len() < MIN_REVIEWERS {
            return self.wrong_at_first(
                "a panel has at least two reviewers, of two models: nobody could contradict a \
                 single one",
            );
        }
        let mut models = BTreeSet::new();
        for reviewer in &self.reviewers {
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
            return self.wrong(&reviewer.raw.spot_of("model"), what);
        }
        let mut seen = self.reviewers.iter().flat_map(|it| &it.sees);
        let differs = |text: &String| text.parse::<ReviewInput>().is_ok_and(|it| it.differs());
        if seen.any(differs) {
            return Ok(());
        }
        let first = self.reviewers.first().map(|it| it.raw.spot_of("sees"));
        let what = "no reviewer sees anything that the agent has not written itself: let one see \
                    `evidence.FIELD`, `tree.diff` or `transform.CHECK`";
        self.wrong(&first.unwrap_or_default(), what)
    }

    /// Checks that there are fewer than `limit` revisions.
    pub(super) fn revisions_below(
        &self,
        limit: u32,
        what: impl Fn() -> String,
    ) -> Result<(), Mistake> {
        if self.head.revisions < limit {
            return Ok(());
        }
        self.wrong_in_head("revisions", what())
    }

    fn check_plants(&self) -> Result<(), Mistake> {
        let questions: Vec<_> = self.questions.iter().map(|it| it.id.as_str()).collect();
        for plant in &self.plants {
            let mut doubts = plant.doubts.iter();
            if let Some(id) = doubts.find(|id| !questions.contains(&id.as_str())) {
                let what = unknown_name("question", id, &questions);
                return self.wrong(&plant.raw.spot_of_text("doubts", id), what);
            }
            let mut sights = Vec::new();
            for name in plant.sees.keys() {
                match name.parse::<ReviewInput>() {
                    Ok(sight) => sights.push(sight.to_string()),
                    Err(bad) => {
                        let spot = plant.raw.spot_within("sees", name);
                        return self.wrong(&spot, bad.to_string());
                    }
                }
            }
            self.check_plant_is_seen(plant, &sights)?;
        }
        if self.plants.iter().all(|plant| plant.doubts.is_empty()) {
            return self.wrong_at_first(
                "there is no [[plant]] with `doubts`: without one, a reviewer that never doubts \
                 looks like one that checks",
            );
        }
        Ok(())
    }

    /// Checks that every reviewer sees some input of a plant with a defect, and every input of one
    /// without.
    fn check_plant_is_seen(
        &self,
        plant: &Placed<'_, PlantTable>,
        sights: &[String],
    ) -> Result<(), Mistake> {
        for reviewer in &self.reviewers {
            let given = |seen: &String| sights.contains(seen);
            let what = if plant.doubts.is_empty() {
                let missing = reviewer.sees.iter().find(|seen| !given(seen));
                missing.map(|seen| {
                    format!(
                        "it has no `doubts`, so it must contain every input; `{seen}` is missing"
                    )
                })
            } else {
                (!reviewer.sees.iter().any(given)).then(|| {
                    let name = &reviewer.name;
                    format!("the reviewer `{name}` sees none of it, so it could never find it")
                })
            };
            if let Some(what) = what {
                return self.wrong(&plant.raw.spot_of("sees"), what);
            }
        }
        Ok(())
    }
}

/// A model's name for comparison: folded, and without its provider.
fn model_name(model: &str) -> String {
    let name = fold(model);
    let (_, name) = name.rsplit_once('/').unwrap_or(("", &name));
    name.trim().to_owned()
}

/// Variables that make an interpreter or a loader run other code.
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

/// A mistake in how a reviewer is asked: the key, and what is wrong.
fn asked(reviewer: &ReviewerTable) -> Option<(&'static str, String)> {
    let is_command = reviewer.kind == ReviewerKind::Command;
    let (kind, foreign) = if is_command {
        let chat = [
            ("base_url", reviewer.base_url.is_some()),
            ("key", reviewer.key.is_some()),
        ];
        ("command", chat.to_vec())
    } else {
        let command = [
            ("argv", !reviewer.argv.is_empty()),
            ("env", !reviewer.env.is_empty()),
            ("pass", !reviewer.pass.is_empty()),
            ("network", reviewer.network.is_some()),
        ];
        ("chat", command.to_vec())
    };
    if let Some((key, _)) = foreign.iter().find(|(_, is)| *is) {
        let what = format!("`{key}` means nothing to a reviewer of kind `{kind}`");
        return Some((key, what));
    }
    if reviewer.sees.is_empty() {
        return Some(("sees", String::from("it is empty: say what it is shown")));
    }
    if is_command && reviewer.argv.is_empty() {
        return Some(("kind", String::from("say `argv`: the program to ask")));
    }
    // The environment must not decide which program runs.
    let set = reviewer.env.keys().map(|name| ("env", name));
    let passed = reviewer.pass.iter().map(|name| ("pass", name));
    let (key, name) = set.chain(passed).find(|(_, name)| owns_programs(name))?;
    Some((
        key,
        format!("`{name}` can change which program runs, but the scan has pinned the program"),
    ))
}

fn owns_programs(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    OWNERS.contains(&name.as_str()) || OWNING.iter().any(|start| name.starts_with(start))
}
