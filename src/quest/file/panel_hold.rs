//! Whether reviewers hold together: what no table of theirs can tell by itself.

use std::collections::BTreeSet;

use super::document::is_kebab;
use super::mistake::{Mistake, unknown_name};
use super::panel::Panel;
use super::panel_ways::asked;
use super::read::{RawTable, Spot};
use crate::base::text::fold;
use crate::quest::Sight;

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
    ) -> Result<Vec<Sight>, Mistake> {
        let mut known = Vec::new();
        for name in names {
            let wrong = match name.parse::<Sight>() {
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
        let differs = |text: &String| text.parse::<Sight>().is_ok_and(|it| it.differs());
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
                    .parse::<Sight>()
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
