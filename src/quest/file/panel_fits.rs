//! Whether reviewers fit the quest file whose answers they are asked about.

use super::document::QuestFile;
use super::mistake::{Mistake, unknown_name};
use super::panel::Panel;
use super::panel_hold::model_name;
use crate::quest::Sight;
use crate::quest::field::FieldKind;
use crate::world::tree::{TreePath, Zones};

impl Panel<'_> {
    /// That every input is one of `file`'s, and that its tries are enough for the revisions.
    pub fn fits(&self, file: &QuestFile<'_>) -> Result<(), Mistake> {
        if let Some(tries) = file.max_tries {
            self.revisions_below(tries.get(), || {
                format!("expected fewer than `max_tries`, which is {tries}: each is a try")
            })?;
        }
        for (reviewer, raw) in self.placed_reviewers() {
            for name in &reviewer.sees {
                fits_one(name, file).map_err(|what| {
                    Mistake::at(self.text, &raw.spot_of_text("sees", name), what)
                })?;
            }
        }
        self.pinned_arguments(file)?;
        for (plant, raw) in self.plants.iter().zip(&self.plant_tables) {
            for name in plant.sees.keys() {
                fits_one(name, file)
                    .map_err(|what| Mistake::at(self.text, &raw.spot_within("sees", name), what))?;
            }
        }
        Ok(())
    }

    fn pinned_arguments(&self, file: &QuestFile<'_>) -> Result<(), Mistake> {
        // Globs that cannot be read are refused where they stand.
        let zones = file
            .tree
            .as_ref()
            .and_then(|tree| Zones::new(&tree.write).ok());
        let Some(zones) = zones else {
            return Ok(());
        };
        for (reviewer, raw) in self.placed_reviewers() {
            let written = |argument: &&String| is_in(argument, &zones);
            if let Some(argument) = reviewer.argv.iter().find(written) {
                let what =
                    format!("`{argument}` is in a write zone: the agent could answer in its place");
                return Err(Mistake::at(
                    self.text,
                    &raw.spot_of_text("argv", argument),
                    what,
                ));
            }
        }
        Ok(())
    }

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

fn is_in(argument: &str, zones: &Zones) -> bool {
    let value = argument.split_once('=').map(|(_, value)| value);
    [Some(argument), value].into_iter().flatten().any(|text| {
        let parts = text.split('/').filter(|part| !matches!(*part, "" | "."));
        let path = TreePath::parse(&parts.collect::<Vec<_>>().join("/"));
        !text.starts_with('/') && path.is_ok_and(|path| zones.contains(&path))
    })
}

fn fits_one(name: &str, file: &QuestFile<'_>) -> Result<(), String> {
    let sight = name.parse::<Sight>().map_err(|bad| bad.to_string())?;
    match &sight {
        Sight::Key => Ok(()),
        Sight::Submission(field) => known_field(file, field.as_str()),
        Sight::Evidence(field) => {
            let kinds = [FieldKind::Url, FieldKind::Text];
            field_of(file, field.as_str(), &kinds, "the URL of a page")
        }
        Sight::File(field) => {
            has_tree(file, name)?;
            let kinds = [FieldKind::File, FieldKind::Path];
            field_of(file, field.as_str(), &kinds, "the path of a file")
        }
        Sight::Input(column) => {
            let known: Vec<_> = file.input.columns().collect();
            let there = known.contains(&column.as_str());
            there
                .then_some(())
                .ok_or_else(|| unknown_name("column", column, &known))
        }
        Sight::TreeDiff => has_tree(file, name),
        Sight::Transform(check) => {
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
