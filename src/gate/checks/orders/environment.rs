//! The whole environment of a command: what the quest file says, and the submission as variables.

use crate::gate::Fact;
use std::collections::BTreeMap;

use crate::gate::checks::context::Context;
use crate::gate::checks::kind::{Flaw, Source};
use crate::quest::FieldName;
use crate::quest::template::{Names, Template, Values};

use super::limits::{misfit, misfit_of};

/// What begins the names of the variables that hold the quest and its submission.
const OURS: &str = "COMAIL_";

/// The home of nobody, in which no program finds what it would load unasked.
const NOBODYS: [(&str, &str); 2] = [("HOME", "/nonexistent"), ("PYTHONNOUSERSITE", "1")];

/// The environment of a command.
#[derive(Debug)]
pub struct Environment {
    fixed: BTreeMap<String, String>,
    own: BTreeMap<String, Template>,
    fields: Vec<(FieldName, String)>,
    columns: Vec<(String, String)>,
}

impl Environment {
    /// The environment with these variables, and these of the one in which `scan` ran.
    pub fn build(
        env: &BTreeMap<String, String>,
        pass_env: &[String],
        source: &Source<'_>,
        names: &Names,
    ) -> Result<Self, Flaw> {
        let mut fixed: BTreeMap<_, _> = nobodys().collect();
        if let Ok(path) = source.outside.variable("PATH") {
            fixed.insert(String::from("PATH"), absolute(&path));
        }
        for name in pass_env {
            check_name("pass_env", name)?;
            let value = source.outside.variable(name);
            let value = value.map_err(|missing| Flaw::new("pass_env", missing.to_string()))?;
            fixed.insert(name.clone(), value);
        }
        let mut own = BTreeMap::new();
        for (name, text) in env {
            check_name("env", name)?;
            let template = source.template_of("env", text, names)?;
            own.insert(name.clone(), template);
        }
        let fields = source
            .file
            .fields
            .iter()
            .map(|field| (field.name.clone(), field_variable(&field.name)));
        let columns = source.file.input.columns().map(|column| {
            let variable = format!("{OURS}INPUT_{}", as_variable(column));
            (column.to_owned(), variable)
        });
        let environment = Self {
            fixed,
            own,
            fields: fields.collect(),
            columns: columns.collect(),
        };
        environment.tells_apart()?;
        Ok(environment)
    }

    /// The variables with their values.
    pub fn render(
        &self,
        context: &Context<'_>,
        values: &Values,
    ) -> Result<BTreeMap<String, String>, Fact> {
        let mut all = self.fixed.clone();
        for (name, template) in &self.own {
            let text = template.render(values);
            let text = text.map_err(|bad| Fact::wrong("a variable", bad.to_string()));
            let text = text.and_then(|text| misfit(&text).map_or(Ok(text), Err));
            let text = text.map_err(|wrong| wrong.at(format!("env.{name}")))?;
            all.insert(name.clone(), text);
        }
        for (field, variable) in &self.fields {
            let Some(text) = context.field(field) else {
                continue;
            };
            if let Some(wrong) = misfit_of(field, text) {
                return Err(wrong);
            }
            all.insert(variable.clone(), text.to_owned());
        }
        let cells = self.columns.iter().map(|(column, variable)| {
            let text = values.input.get(column).cloned().unwrap_or_default();
            (variable.clone(), text)
        });
        let quest = [("KEY", &values.key), ("ID", &values.id)];
        let quest = quest.map(|(name, text)| (format!("{OURS}{name}"), text.clone()));
        for (variable, text) in cells.chain(quest) {
            if let Some(wrong) = misfit(&text) {
                return Err(wrong.at(variable));
            }
            all.insert(variable, text);
        }
        Ok(all)
    }

    /// That no two fields, and no two columns, are the same variable.
    fn tells_apart(&self) -> Result<(), Flaw> {
        let fields = self.fields.iter().map(|(name, to)| (to, name.as_str()));
        let columns = self.columns.iter().map(|(name, to)| (to, name.as_str()));
        let mut known: BTreeMap<&String, &str> = BTreeMap::new();
        for (variable, name) in fields.chain(columns) {
            if let Some(other) = known.insert(variable, name)
                && other != name
            {
                let what = format!("`{other}` and `{name}` would both be the variable {variable}");
                return Err(Flaw::new("argv", what));
            }
        }
        Ok(())
    }
}

/// What a command finds where the quest file says nothing else.
pub fn nobodys() -> impl Iterator<Item = (String, String)> {
    NOBODYS
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// The variable that holds a field.
pub fn field_variable(field: &FieldName) -> String {
    format!("{OURS}FIELD_{}", as_variable(field.as_str()))
}

/// The name as part of a variable's name.
fn as_variable(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_alphanumeric() {
            letter
        } else {
            '_'
        }
    };
    name.to_uppercase().chars().map(letter).collect()
}

/// The directories of a search path that do not depend on where a program starts.
fn absolute(path: &str) -> String {
    let kept: Vec<_> = path.split(':').filter(|dir| dir.starts_with('/')).collect();
    kept.join(":")
}

fn check_name(key: &'static str, name: &str) -> Result<(), Flaw> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(Flaw::new(key, format!("{name:?} cannot name a variable")));
    }
    if name.starts_with(OURS) {
        let what = format!("`{name}`: variables that begin with {OURS} are set by comail");
        return Err(Flaw::new(key, what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_variables() {
        assert_eq!(as_variable("test_file"), "TEST_FILE");
        assert_eq!(as_variable("first-line"), "FIRST_LINE");
        assert_eq!(as_variable("Zeile = 1\n"), "ZEILE___1_");
        assert_eq!(as_variable("주소"), "주소");
    }

    #[test]
    fn a_search_path_keeps_what_is_absolute() {
        assert_eq!(absolute("/usr/bin:.::bin:/bin"), "/usr/bin:/bin");
        assert_eq!(absolute("."), "");
    }
}
