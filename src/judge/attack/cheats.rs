//! The cheats: for each kind, a pure function from a control that must pass to controls that must not.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::{empty, once, repeat_n};

use itertools::Itertools as _;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::languages::Language;
use crate::judge::prove::Edits;
use crate::quest::field::FieldKind;
use crate::quest::file::{ControlTable, QuestFile, RawTable};
use crate::quest::template::{Template, Values};
use crate::quest::{Field, FieldName};
use crate::world::tree::TreePath;

/// A control that must pass, and what an agent could change of it.
pub(super) struct Target<'a> {
    pub(super) file: &'a QuestFile<'a>,
    pub(super) control: &'a ControlTable,
    /// The files that its agent wrote.
    pub(super) work: BTreeMap<TreePath, String>,
    /// Other files in which its agent may write.
    pub(super) writable: Vec<TreePath>,
    /// Files in which its agent must not write.
    pub(super) protected: Vec<TreePath>,
    /// The files that `mutation` checks change.
    pub(super) sources: BTreeMap<TreePath, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cheat {
    pub(super) kind: CheatKind,
    /// What it does, in a few words.
    pub(super) what: String,
    pub(super) control: ControlTable,
    pub(super) edits: Edits,
}

/// What a cheat does instead of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheatKind {
    BlankField,
    SwappedField,
    HugeValue,
    OtherScript,
    DeletedFile,
    ExpectedValue,
    ExitZero,
    ForgedReport,
    WeakAssertions,
    HashedSource,
    EditedTests,
    RenamedSymbol,
}

impl CheatKind {
    /// What would close the hole.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::BlankField => "set `min`, `pattern` or `choices` of the field, or check it",
            Self::SwappedField => {
                "compare the field with a column of the list, as `{{ input.COLUMN }}`, or with what \
                 the quest is about"
            }
            Self::HugeValue => "set `max` of the field, and a `pattern` if it has one line",
            Self::OtherScript => "compare the field with its source, or set a `pattern`",
            Self::DeletedFile => "add a check that needs the file, or leave it out of the control",
            Self::ExpectedValue => "check more than the value: run the file, or count its words",
            Self::ExitZero => {
                "add `canary` to the command that runs the tests, and count them, with `facts`; or \
                 refuse code that ends the process, with a check of kind `script` that reads it"
            }
            Self::ForgedReport => {
                "add `canary` to the command that runs the tests: code that runs in their process \
                 can write their report; or refuse code that writes files, with a check of kind \
                 `script` that reads it"
            }
            Self::WeakAssertions => {
                "add a check of kind `mutation`: the tests must fail when the code does something \
                 else"
            }
            Self::HashedSource => {
                "refuse tests that read files, with a check of kind `script` that reads them"
            }
            Self::EditedTests => "take these files out of `write` in [tree]",
            Self::RenamedSymbol => "add a check that uses the work by the name in the list",
        }
    }
}

/// Every cheat that applies, without those that change nothing.
pub(super) fn cheats(target: &Target<'_>) -> Vec<Cheat> {
    let kinds: [fn(&Target<'_>) -> Vec<Cheat>; 12] = [
        blank_fields,
        swapped_fields,
        huge_values,
        other_scripts,
        deleted_files,
        expected_values,
        exits,
        forged_reports,
        weak_assertions,
        hashed_sources,
        edited_tests,
        renamed_symbols,
    ];
    let cheats = kinds.into_iter().flat_map(|kind| kind(target));
    let changes = |cheat: &Cheat| {
        let mut edits = cheat.edits.iter();
        let is_other =
            |(path, text): (&TreePath, &Option<String>)| text.as_ref() != target.work.get(path);
        cheat.control != *target.control || edits.any(is_other)
    };
    let named = |mut cheat: Cheat| {
        cheat.control.name = format!("{}, but {}", target.control.name, cheat.what);
        cheat
    };
    cheats.filter(changes).map(named).collect()
}

impl Target<'_> {
    /// The fields that checks look at, with their values.
    fn fields(&self) -> impl Iterator<Item = (&Field, &str)> {
        let checked = self.file.fields.iter().filter(|field| !field.unchecked);
        checked.filter_map(|field| {
            Some((
                field,
                self.control.submit.get(field.name.as_str())?.as_str(),
            ))
        })
    }

    fn with_field(&self, kind: CheatKind, name: &FieldName, value: String, what: &str) -> Cheat {
        let mut cheat = self.with_edits(kind, format!("the field `{name}` {what}"), Edits::new());
        cheat.control.submit.insert(name.to_string(), value);
        cheat
    }

    fn with_edits(&self, kind: CheatKind, what: String, edits: Edits) -> Cheat {
        Cheat {
            kind,
            what,
            control: self.control.clone(),
            edits,
        }
    }

    /// A cheat for each file of the work that `change` changes.
    fn each_file(
        &self,
        kind: CheatKind,
        what: &str,
        change: impl Fn(&TreePath, &str) -> Option<String>,
    ) -> Vec<Cheat> {
        let changed = self.work.iter().filter_map(|(path, text)| {
            let edits = once((path.clone(), Some(change(path, text)?))).collect();
            Some(self.with_edits(kind, format!("{path} {what}"), edits))
        });
        changed.collect()
    }

    fn languages(&self) -> impl Iterator<Item = (&TreePath, &str, &'static Language)> {
        let work = self.work.iter();
        work.filter_map(|(path, text)| {
            Some((path, text.as_str(), Language::of(path.as_str(), text)?))
        })
    }

    fn checks(&self, kind: &str) -> impl Iterator<Item = &RawTable<'_>> {
        let checks = self.file.checks.iter();
        checks.filter(move |raw| raw.text_of("kind") == Some(kind))
    }

    /// What the quest gives, and what was submitted.
    fn values(&self) -> impl Iterator<Item = &str> {
        let cells = self
            .control
            .input
            .values()
            .chain(self.control.submit.values());
        once(&self.control.key).chain(cells).map(String::as_str)
    }
}

/// The text of a key of a check, rendered for a control.
pub(super) fn rendered(
    file: &QuestFile<'_>,
    control: &ControlTable,
    raw: &RawTable<'_>,
    key: &str,
) -> Option<String> {
    let template = Template::parse(raw.text_of(key)?, &file.names()).ok()?;
    let submission = ControlTable::submission(&control.submit);
    let fields = file.fields.iter().map(|field| field.name.as_str());
    let values = Values::of(
        &control.quest().ok()?,
        &submission,
        fields,
        file.input.columns(),
    );
    template.render(&values).ok()
}

fn blank_fields(target: &Target<'_>) -> Vec<Cheat> {
    let values = target.fields().cartesian_product(["", "n/a"]);
    // An optional field may be blank.
    let values = values.filter(|((field, _), text)| field.required || !text.is_empty());
    let cheats = values.map(|((field, _), text)| {
        target.with_field(
            CheatKind::BlankField,
            &field.name,
            text.to_owned(),
            &format!("is {text:?}"),
        )
    });
    cheats.collect()
}

fn swapped_fields(target: &Target<'_>) -> Vec<Cheat> {
    let row = |control: &ControlTable| (control.key.clone(), control.input.clone());
    let others = target.file.controls.iter().map(|control| &control.table);
    let others = others.filter(|other| row(other) != row(target.control));
    let cheats = others.cartesian_product(target.fields().collect_vec());
    let cheats = cheats.filter_map(|(other, (field, _))| {
        let value = other.submit.get(field.name.as_str())?.clone();
        let what = format!("has the value of another row, `{}`", other.key);
        Some(target.with_field(CheatKind::SwappedField, &field.name, value, &what))
    });
    cheats.collect()
}

/// Less than the system allows in one argument.
const HUGE: usize = 64 * 1024;

fn huge_values(target: &Target<'_>) -> Vec<Cheat> {
    let cheats = target.fields().map(|(field, value)| {
        let value = match field.shape.kind() {
            FieldKind::Integer | FieldKind::Number => "999999999999999".to_owned(),
            _ => repeat_n(value, 2 + HUGE / (value.len() + 1)).join("\n"),
        };
        target.with_field(CheatKind::HugeValue, &field.name, value, "is huge")
    });
    cheats.collect()
}

fn other_scripts(target: &Target<'_>) -> Vec<Cheat> {
    let cyrillic = |c: char| {
        let other = char::from_u32(0x430 + u32::from(c) % 32);
        other.filter(|_| c.is_alphabetic()).unwrap_or(c)
    };
    let cheats = target.fields().map(|(field, value)| {
        let value = value.chars().map(cyrillic).collect();
        target.with_field(
            CheatKind::OtherScript,
            &field.name,
            value,
            "has letters of another script",
        )
    });
    cheats.collect()
}

fn deleted_files(target: &Target<'_>) -> Vec<Cheat> {
    let kind = CheatKind::DeletedFile;
    let deleted = target.work.keys().map(|path| {
        target.with_edits(
            kind,
            format!("{path} is missing"),
            once((path.clone(), None)).collect(),
        )
    });
    let mut cheats: Vec<_> = deleted.collect();
    cheats.extend(undone(target, kind, "none of the work is done", empty()));
    cheats
}

/// The tree as it was before the agent, with these files replaced by programs that exit with 0.
fn undone<'a>(
    target: &Target<'_>,
    kind: CheatKind,
    what: &str,
    replaced: impl Iterator<Item = &'a TreePath>,
) -> Option<Cheat> {
    let writes = target.control.writes.as_ref();
    let edits = replaced.filter_map(|path| {
        let language = Language::of(path.as_str(), "")?;
        Some((path.clone(), Some(language.exit("", &[]))))
    });
    writes.map(|_| {
        let mut cheat = target.with_edits(kind, what.to_owned(), edits.collect());
        cheat.control.writes = None;
        cheat
    })
}

fn edited_tests(target: &Target<'_>) -> Vec<Cheat> {
    let sets = [("inside", &target.writable), ("outside", &target.protected)];
    let cheats = sets.into_iter().filter_map(|(side, paths)| {
        let what = format!("instead of the work, all programs {side} the write zones exit with 0");
        undone(target, CheatKind::EditedTests, &what, paths.iter())
    });
    cheats.filter(|cheat| !cheat.edits.is_empty()).collect()
}

fn expected_values(target: &Target<'_>) -> Vec<Cheat> {
    let values = target.values().join("\n") + "\n";
    target.each_file(
        CheatKind::ExpectedValue,
        "has only the values of the quest",
        |_, _| Some(values.clone()),
    )
}

fn exits(target: &Target<'_>) -> Vec<Cheat> {
    target.each_file(CheatKind::ExitZero, "exits with 0 at once", |path, text| {
        Some(Language::of(path.as_str(), text)?.exit(text, &[]))
    })
}

/// Where a command reports.
#[derive(Deserialize)]
struct Reports {
    #[serde(default)]
    reports: Vec<String>,
    facts: Option<Facts>,
}

#[derive(Deserialize)]
struct Facts {
    adapter: String,
}

/// As libtest prints it for one test. Tests that print do so before its own lines.
const LIBTEST: &str = "test ends ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

const STDOUT: &str = "/dev/stdout";

fn forged_reports(target: &Target<'_>) -> Vec<Cheat> {
    let commands = target.checks("command");
    let tables = commands.filter_map(|raw| raw.read::<Reports>(target.file.text()).ok());
    let prints = |facts: Facts| (facts.adapter == "libtest").then(|| STDOUT.to_owned());
    let paths = tables.flat_map(|table| {
        let printed = table.facts.and_then(prints);
        table.reports.into_iter().chain(printed)
    });
    let paths: BTreeSet<String> = paths.collect();
    let reports = paths
        .into_iter()
        .map(|path| (path.clone(), forged(target, &path)));
    let reports: Vec<_> = reports.collect();
    if reports.is_empty() {
        return Vec::new();
    }
    target.each_file(
        CheatKind::ForgedReport,
        "writes the reports itself",
        |path, text| Some(Language::of(path.as_str(), text)?.exit(text, &reports)),
    )
}

/// A report in which everything is well: of lines if a check reads it so, or else of tests.
fn forged(target: &Target<'_>, path: &str) -> String {
    if path == STDOUT {
        return LIBTEST.to_owned();
    }
    let mut coverage = target
        .checks("coverage")
        .filter(|raw| raw.text_of("report") == Some(path));
    let lines = coverage.find_map(|raw| {
        let of = |key| rendered(target.file, target.control, raw, key);
        let (first, last): (u32, u32) = (of("first")?.parse().ok()?, of("last")?.parse().ok()?);
        let lines = (first..=last).map(|line| format!("DA:{line},1\n"));
        Some(format!(
            "SF:{}\n{}end_of_record\n",
            of("file")?,
            lines.collect::<String>()
        ))
    });
    lines.unwrap_or_else(|| {
        let tests = (1..100).map(|test| format!("<testcase classname=\"tests\" name=\"test{test}\"/>"));
        format!("<testsuites><testsuite name=\"tests\" tests=\"99\" failures=\"0\" errors=\"0\" skipped=\"0\">{}</testsuite></testsuites>\n", tests.collect::<String>())
    })
}

fn weak(target: &Target<'_>) -> Edits {
    let files = target.languages();
    let files = files.map(|(path, text, language)| (path.clone(), Some(language.weakened(text))));
    files.collect()
}

fn weak_assertions(target: &Target<'_>) -> Vec<Cheat> {
    let what = "the assertions of the work never fail".to_owned();
    vec![target.with_edits(CheatKind::WeakAssertions, what, weak(target))]
}

fn hashed_sources(target: &Target<'_>) -> Vec<Cheat> {
    let tests = target.languages().cartesian_product(&target.sources);
    let cheats = tests.filter_map(|((path, text, language), (source, content))| {
        let test = language.hash(source.as_str(), content)?;
        let mut edits = weak(target);
        edits.insert(path.clone(), Some(language.weakened(text) + &test));
        let what = format!("{path} has no assertion but one of the digest of {source}");
        Some(target.with_edits(CheatKind::HashedSource, what, edits))
    });
    cheats.collect()
}

fn renamed_symbols(target: &Target<'_>) -> Vec<Cheat> {
    let cells = once(&target.control.key)
        .chain(target.control.input.values())
        .unique();
    let cheats = cells.filter_map(|name| {
        // Only a call or a definition shows that the name is one of code.
        let used = Regex::new(&format!(r"\b{}\s*\(", regex::escape(name))).ok()?;
        let all = Regex::new(&format!(r"\b{}\b", regex::escape(name))).ok()?;
        let files = target
            .languages()
            .filter(|(_, text, _)| used.is_match(text));
        let edits: Edits = files
            .map(|(path, text, _)| {
                (
                    path.clone(),
                    Some(all.replace_all(text, "renamed").into_owned()),
                )
            })
            .collect();
        let what = format!("`{name}` has another name in the work");
        Some(target.with_edits(CheatKind::RenamedSymbol, what, edits))
    });
    cheats.collect()
}

#[cfg(test)]
mod tests;
