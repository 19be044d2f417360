//! What of a source has to survive, and what has not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::text::fold;
use crate::gate::checks::anchors::{Glossary, Numbers, has_ending, names_of, says};
use crate::gate::checks::spec::{Flaw, Source};

/// A sort of what has to survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Keep {
    /// Numbers, however they are written.
    Numbers,
    /// Names.
    Names,
    /// Dates in full, however they are written.
    Dates,
    /// Terms.
    Terms,
}

/// What has to survive.
#[derive(Debug)]
pub(super) struct Kept {
    keep: Vec<Keep>,
    /// The names; none: those that capitals tell.
    names: Option<Glossary>,
    terms: Glossary,
}

/// What has not survived.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) what: String,
    /// The line of the source, from 1.
    pub(super) line: usize,
}

impl Kept {
    pub(super) fn build(
        keep: &[Keep],
        names: &[String],
        names_list: Option<&str>,
        terms: Option<&str>,
        source: &Source<'_>,
    ) -> Result<Self, Flaw> {
        if keep.is_empty() {
            return Err(Flaw::new("keep", "it is empty: everything would pass"));
        }
        let needs = |sort, key: &'static str, is_there: bool| {
            let what = format!("`keep` names no {key}, and there is a list of them");
            if is_there && !keep.contains(&sort) {
                Err(Flaw::new("keep", what))
            } else {
                Ok(())
            }
        };
        needs(
            Keep::Names,
            "names",
            !names.is_empty() || names_list.is_some(),
        )?;
        needs(Keep::Terms, "terms", terms.is_some())?;
        if keep.contains(&Keep::Terms) && terms.is_none() {
            return Err(Flaw::new("terms", "`keep` names terms: say which"));
        }
        let list = names_list.map(|name| source.beside("names_list", name));
        let list = list.transpose()?;
        let listed = list.iter().flat_map(|text| text.lines());
        let listed = listed.chain(names.iter().map(String::as_str));
        let names = Glossary::of_terms(listed);
        Ok(Self {
            keep: keep.to_vec(),
            names: (!names.is_empty()).then_some(names),
            terms: terms
                .map(|name| read_terms(name, source))
                .transpose()?
                .unwrap_or_default(),
        })
    }

    /// What the source says of it that `printed` does not; in the order of the source.
    pub(super) fn lost(&self, source: &str, printed: &str) -> Vec<Lost> {
        let has = |keep| self.keep.contains(&keep);
        let said = fold(printed);
        let mut lost = Vec::new();
        let (theirs, ours) = (Numbers::of(source), Numbers::of(printed));
        if has(Keep::Numbers) {
            let numbers = theirs.not_in(&ours);
            let numbers = numbers.filter(|it| !(it.is_date() && has(Keep::Dates)));
            lost.extend(numbers.map(|it| Lost::new("number", &it.text, it.line)));
        }
        if has(Keep::Dates) {
            let dates = theirs.all.iter().filter(|it| it.is_date());
            let dates = dates.filter(|it| !ours.have_date(it));
            lost.extend(dates.map(|it| Lost::new("date", &it.text, it.line)));
        }
        match &self.names {
            _ if !has(Keep::Names) => {}
            Some(names) => lost.extend(lost_terms(names, "name", source, &said)),
            None => {
                let names = names_of(source).into_iter();
                let names = names.filter(|name| !says(&said, &name.folded));
                lost.extend(names.map(|it| Lost::new("name", &it.text, it.line)));
            }
        }
        lost.extend(lost_terms(&self.terms, "term", source, &said));
        lost.sort_by_key(|it| it.line);
        lost
    }
}

impl Lost {
    fn new(sort: &str, text: &str, line: usize) -> Self {
        Self {
            what: format!("the {sort} {text}"),
            line,
        }
    }
}

fn lost_terms(terms: &Glossary, sort: &str, source: &str, said: &str) -> Vec<Lost> {
    let meant = terms.said_in(source).into_iter();
    let lost = meant.filter(|(entry, _)| !says(said, &entry.term));
    lost.map(|(entry, line)| Lost::new(sort, &entry.term, line))
        .collect()
}

fn read_terms(name: &str, source: &Source<'_>) -> Result<Glossary, Flaw> {
    let text = source.beside("terms", name)?;
    if ["csv", "toml"].iter().any(|it| has_ending(name, it)) {
        let read = Glossary::read(name, &text);
        return read.map_err(|why| Flaw::new("terms", format!("{name}: {why}")));
    }
    let terms = Glossary::of_terms(text.lines());
    if terms.is_empty() {
        return Err(Flaw::new(
            "terms",
            format!("{name}: there is no term in it"),
        ));
    }
    Ok(terms)
}
