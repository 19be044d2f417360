//! A quest file as a session freezes it, in `session.json` as `kind.definition`.
//!
//! ```text
//! {"text":"name = \"unit-tests\"…","path":"/…/unit-tests.toml","sha256":"…",
//!  "gathered":{"assets":{"schema.json":"…"},"programs":{"python3":{"path":…,"target":…,"sha256":…}},
//!              "variables":{"PATH":"…"}},
//!  "tree":{"root":"/…","write":["tests/**"],"ignore":[],"listing":"<sha-256>"},
//!  "scratch":"/tmp","confinement":{"landlock":6,"namespaces":["pid",…]}}
//! ```
//!
//! The whole text stands there: after `scan` the file itself is never read again. `listing` is
//! the digest of the tree's listing, which lies in `evidence/` with the files' contents.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::Digest;
use crate::gate::checks::kind::Flaw;
use crate::gate::checks::outside::{Gathered, Missing, Outside};
use crate::gate::checks::settings::FileSettings;
use crate::gate::checks::{FileGate, nobodys};
use crate::judge::JudgeError;
use crate::quest::QuestKind;
use crate::quest::file::{
    FixerTable, Mistake, Placed, QuestFile, RawTable, ReadyTable, ReviewerNetwork, ServiceTable,
    is_kebab,
};
use crate::quest::template::{Names, Template};
use crate::session::{EvidenceStore, KindRecord, Manifest, SessionError};
use crate::world::evidence::unpack;
use crate::world::sandbox::{
    Bench, Confinement, Contents, Launcher, Network, Order, Ready, ServicePlan, run,
};
use crate::world::tree::BOUNDS;
use crate::world::tree::{BadGlob, Ignored, Listing, Zones};

/// A quest file as a session freezes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub text: String,
    pub path: String,
    pub sha256: Digest,
    /// What it goes by that does not stand in it.
    pub gathered: Gathered,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<FrozenTree>,
    pub scratch: PathBuf,
    #[serde(default)]
    pub confinement: Confinement,
}

/// The files that quests are about, as the session found them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrozenTree {
    pub root: PathBuf,
    pub write: Vec<String>,
    /// What does not belong to it, as globs.
    pub ignore: Vec<String>,
    pub listing: Digest,
}

/// A quest file with a mistake in it.
#[derive(Debug, thiserror::Error)]
#[error("{path}:{mistake}")]
pub struct Faulty {
    pub path: String,
    pub mistake: Mistake,
}

impl Definition {
    /// The definition that a session froze; none when its kind is built in.
    pub fn of(manifest: &Manifest) -> Result<Option<Self>, JudgeError> {
        let Some(value) = &manifest.kind.definition else {
            return Ok(None);
        };
        let read = serde_json::from_value(value.clone());
        read.map(Some).map_err(|source| JudgeError::Settings {
            part: "quest file",
            source,
        })
    }

    pub fn file(&self) -> Result<QuestFile<'_>, Faulty> {
        QuestFile::parse(&self.text).map_err(|mistake| self.faulty(mistake))
    }

    pub fn kind(&self) -> Result<QuestKind, Faulty> {
        Ok(self.file()?.kind())
    }

    pub fn gate(&self, settings: FileSettings) -> Result<FileGate, Faulty> {
        let file = self.file()?;
        FileGate::new(&file, &self.gathered, settings).map_err(|mistake| self.faulty(mistake))
    }

    pub fn final_gate(&self, settings: FileSettings) -> Result<Option<FileGate>, Faulty> {
        let file = self.file()?;
        FileGate::of_final(&file, &self.gathered, settings).map_err(|mistake| self.faulty(mistake))
    }

    pub(in crate::judge) fn services(&self) -> Result<BTreeMap<String, ServicePlan>, Faulty> {
        let file = self.file()?;
        services(&file, &self.gathered).map_err(|mistake| self.faulty(mistake))
    }

    pub fn record(&self) -> Result<KindRecord, JudgeError> {
        Ok(KindRecord {
            name: self.kind()?.name.into_owned(),
            lists: crate::judge::email_record().lists,
            definition: Some(serde_json::to_value(self)?),
            reviewers: None,
        })
    }

    #[must_use]
    pub fn here(&self) -> &Path {
        let path = Path::new(&self.path);
        path.parent().unwrap_or(path)
    }

    pub(in crate::judge) fn faulty(&self, mistake: Mistake) -> Faulty {
        Faulty {
            path: self.path.clone(),
            mistake,
        }
    }
}

const MAX_LISTING_BYTES: u64 = 256 * 1024 * 1024;

/// Why a bench cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error(transparent)]
    Faulty(#[from] Faulty),
    /// A glob of the tree's is none.
    #[error(transparent)]
    Glob(#[from] BadGlob),
    /// This program cannot tell where it is, to start itself.
    #[error("cannot find the comail program, which confines commands")]
    Launcher(#[source] io::Error),
}

/// The tree's listing that a session froze, and how the contents of its files are loaded.
pub(in crate::judge) fn frozen_listing(
    definition: &Definition,
    store: EvidenceStore,
) -> Result<(Listing, Box<Contents>), JudgeError> {
    let baseline = match &definition.tree {
        Some(tree) => {
            let listing = listing(&store, tree.listing)?;
            let lost = "the tree's listing in evidence/ is missing or was changed; restore it \
                        from a backup";
            listing.ok_or_else(|| SessionError::Stock(lost.to_owned()))?
        }
        None => Listing::default(),
    };
    let load = move |digest| {
        let packed = store.load(digest).map_err(io::Error::other)?;
        Ok(packed.and_then(|packed| unpack(&packed, BOUNDS.file_bytes).ok()))
    };
    Ok((baseline, Box::new(load)))
}

fn listing(
    store: &EvidenceStore,
    digest: crate::base::Digest,
) -> Result<Option<Listing>, SessionError> {
    let packed = store.load(digest)?;
    let text = packed.and_then(|packed| unpack(&packed, MAX_LISTING_BYTES).ok());
    let read = text.and_then(|text| serde_json::from_slice::<Listing>(&text).ok());
    Ok(read.filter(|listing| listing.digest() == digest))
}

impl Definition {
    /// A bench with this baseline, whose commands cannot read what is `hidden`.
    pub fn bench(
        &self,
        services: BTreeMap<String, ServicePlan>,
        baseline: Listing,
        load: Box<Contents>,
        hidden: Vec<PathBuf>,
    ) -> Result<Bench, BenchError> {
        let globs = |of: fn(&super::FrozenTree) -> &Vec<String>| {
            self.tree.as_ref().map(of).cloned().unwrap_or_default()
        };
        Ok(Bench {
            root: self.tree.as_ref().map(|tree| tree.root.clone()),
            baseline,
            zones: Zones::new(&globs(|tree| &tree.write))?,
            ignored: Ignored::new(&globs(|tree| &tree.ignore))?,
            load,
            scratch: self.scratch.clone(),
            programs: self.gathered.programs.values().cloned().collect(),
            services,
            launcher: Launcher::this()
                .map_err(BenchError::Launcher)?
                .hiding(hidden),
            confinement: self.confinement.clone(),
        })
    }
}

const PATIENCE_MS: u64 = 30_000;

/// What was in force while this program told its version; nothing where it could not be run.
pub(crate) fn confinement(scratch: &Path) -> Confinement {
    tried(scratch).unwrap_or_default()
}

fn tried(scratch: &Path) -> io::Result<Confinement> {
    let place = tempfile::Builder::new()
        .prefix("comail-")
        .tempdir_in(scratch)?;
    let program = std::env::current_exe()?;
    let order = Order {
        name: "confinement".to_owned(),
        argv: vec![program.to_string_lossy().into_owned(), "--version".into()],
        env: BTreeMap::new(),
        pass: Vec::new(),
        dir: String::new(),
        stdin: String::new(),
        timeout_ms: PATIENCE_MS,
        output_bytes: 4096,
        writable: Vec::new(),
        network: Network::None,
        reports: Vec::new(),
        edits: Vec::new(),
        round: 0,
    };
    Ok(run(&order, place.path(), &Launcher::this()?).confinement)
}

const NAME: &str = "fixer";

/// A fixer, ready to be started.
#[derive(Debug, Clone)]
pub struct FixerPlan {
    /// How it is started; what it reads is still to come.
    pub order: Order,
    pub max_fixes: u32,
    pub rules: BTreeSet<String>,
}

/// The fixer of `file`; none where it has none.
///
/// # Errors
///
/// A fixer for no check, or a check for no fixer, is a mistake.
pub(in crate::judge) fn fixer(
    file: &QuestFile<'_>,
    outside: &dyn Outside,
) -> Result<Option<FixerPlan>, Mistake> {
    let mut rules = BTreeSet::new();
    for raw in file.checks.iter().filter(|raw| asks(raw)) {
        if let Some((key, what)) = unfit(file, raw) {
            return Err(Mistake::at(file.text(), &raw.spot_of(key), what));
        }
        rules.extend(raw.text_of("name").map(str::to_owned));
    }
    let mut of_final = file.final_part.iter().flat_map(|part| &part.checks);
    if let Some(raw) = of_final.find(|raw| asks(raw)) {
        let what = "a check of [final] is told of, and nothing is fixed for it";
        return Err(Mistake::at(file.text(), &raw.spot_of("on_fail"), what));
    }
    let Some(table) = &file.fixer else {
        return Ok(None);
    };
    let writes = file
        .tree
        .as_ref()
        .is_some_and(|tree| !tree.write.is_empty());
    let needless = match (rules.is_empty(), writes) {
        (true, _) => Some("it is there for no check: say `on_fail = \"fix\"` in one"),
        (false, false) => Some("it mends files of the tree: say `write` in [tree]"),
        (false, true) => None,
    };
    if let Some(what) = needless {
        return Err(Mistake::at(file.text(), &file.spot_of("fixer"), what));
    }
    let order = order(table, outside).map_err(|Flaw { key, what }| {
        Mistake::at(file.text(), &file.spot_in("fixer", key), what)
    })?;
    Ok(Some(FixerPlan {
        order,
        max_fixes: table.max_fixes.get(),
        rules,
    }))
}

fn asks(raw: &RawTable<'_>) -> bool {
    raw.text_of("on_fail") == Some("fix")
}

/// Why nothing can be fixed for a check that asks for it.
fn unfit(file: &QuestFile<'_>, raw: &RawTable<'_>) -> Option<(&'static str, &'static str)> {
    if file.fixer.is_none() {
        return Some(("on_fail", "there is no [fixer] to be started"));
    }
    let reviewed = raw.text_of("level") == Some("review");
    reviewed.then_some(("on_fail", "the check never fails: its level is `review`"))
}

fn order(table: &FixerTable, outside: &dyn Outside) -> Result<Order, Flaw> {
    let missing = |key| move |missing: Missing| Flaw::new(key, missing.to_string());
    let fixed = |text: &String| {
        let what = "it is no template: what it is to fix it reads on its standard input";
        match Template::parse(text, &Names::of_final(std::iter::empty())) {
            Ok(template) if template.is_fixed() => Ok(text.clone()),
            _ => Err(Flaw::new("argv", format!("`{text}`: {what}"))),
        }
    };
    let Some((program, arguments)) = table.argv.split_first() else {
        return Err(Flaw::new("argv", "it is empty: name a program"));
    };
    let pinned = outside.program(program).map_err(missing("argv"))?;
    let path = pinned.path.to_string_lossy().into_owned();
    let arguments = arguments.iter().map(fixed);
    let relative = |path: &&String| !path.starts_with('/') || path.split('/').any(|it| it == "..");
    if let Some(path) = table.writable.iter().find(relative) {
        let what = format!("`{path}`: expected an absolute path without `..`");
        return Err(Flaw::new("writable", what));
    }
    Ok(Order {
        name: NAME.to_owned(),
        argv: std::iter::once(Ok(path))
            .chain(arguments)
            .collect::<Result<_, _>>()?,
        env: frozen_env(&table.pass, &table.env, outside)
            .map_err(|(key, what)| Flaw::new(key, what))?,
        pass: table.pass.clone(),
        dir: String::new(),
        stdin: String::new(),
        timeout_ms: table.timeout.millis().into(),
        output_bytes: table.output_cap.bytes(),
        writable: table.writable.clone(),
        network: match table.network.unwrap_or_default() {
            ReviewerNetwork::None => Network::None,
            ReviewerNetwork::Full => Network::Any,
        },
        reports: Vec::new(),
        edits: Vec::new(),
        round: 0,
    })
}

/// The environment of a fixer or a reviewer: PATH, and what its table sets. Variables that it passes
/// on are read when it starts, so that no key is frozen. An error names the key of the table.
pub(in crate::judge) fn frozen_env(
    pass: &[String],
    set: &BTreeMap<String, String>,
    outside: &dyn Outside,
) -> Result<BTreeMap<String, String>, (&'static str, String)> {
    let bad = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
    let wrong = [
        ("pass", pass.iter().find(bad)),
        ("env", set.keys().find(bad)),
    ];
    if let Some((key, name)) = wrong.into_iter().find_map(|(key, bad)| Some((key, bad?))) {
        return Err((key, format!("{name:?} cannot name a variable")));
    }
    let mut env: BTreeMap<_, _> = nobodys().collect();
    if let Ok(path) = outside.variable("PATH") {
        let kept: Vec<_> = path.split(':').filter(|dir| dir.starts_with('/')).collect();
        env.insert(String::from("PATH"), kept.join(":"));
    }
    env.extend(set.clone());
    env.retain(|name, _| !pass.contains(name));
    Ok(env)
}

pub(in crate::judge) fn services(
    file: &QuestFile<'_>,
    outside: &dyn Outside,
) -> Result<BTreeMap<String, ServicePlan>, Mistake> {
    let mut plans = BTreeMap::new();
    for Placed { table, raw } in &file.services {
        let wrong = |Flaw { key, what }: Flaw| Mistake::at(file.text(), &raw.spot_of(key), what);
        let plan = plan(table, outside).map_err(wrong)?;
        if plans.insert(table.name.clone(), plan).is_some() {
            let what = format!("there are two services `{}`", table.name);
            return Err(wrong(Flaw::new("name", what)));
        }
    }
    Ok(plans)
}

fn plan(table: &ServiceTable, outside: &dyn Outside) -> Result<ServicePlan, Flaw> {
    if !is_kebab(&table.name) {
        let what = format!("`{}`: expected kebab-case, such as `api`", table.name);
        return Err(Flaw::new("name", what));
    }
    let names = Names::of_service();
    let template = |key, text: &str| {
        Template::parse(text, &names).map_err(|bad| Flaw::new(key, bad.to_string()))
    };
    let missing = |key| move |missing: Missing| Flaw::new(key, missing.to_string());
    let Some((program, arguments)) = table.argv.split_first() else {
        return Err(Flaw::new("argv", "it is empty: name a program"));
    };
    let pinned = outside.program(program).map_err(missing("argv"))?;
    let path = pinned.path.to_string_lossy();
    let argv = std::iter::once(Ok(Template::fixed(&path)))
        .chain(arguments.iter().map(|text| template("argv", text)));
    let nobodys = nobodys().map(|(name, value)| (name, Template::fixed(&value)));
    let mut env: BTreeMap<_, _> = nobodys.collect();
    for name in table.pass_env.iter().map(String::as_str).chain(["PATH"]) {
        let value = outside.variable(name).map_err(missing("pass_env"))?;
        env.insert(name.to_owned(), Template::fixed(&value));
    }
    for (name, text) in &table.env {
        env.insert(name.clone(), template("env", text)?);
    }
    Ok(ServicePlan {
        argv: argv.collect::<Result<_, _>>()?,
        env,
        ready: readiness(&table.ready)?,
        within: table.start_within,
    })
}

fn readiness(ready: &ReadyTable) -> Result<Ready, Flaw> {
    match (&ready.path, &ready.line) {
        (None, None) => Ok(Ready::Port),
        (Some(path), None) => Ok(Ready::Path(path.clone())),
        (None, Some(line)) => match regex::bytes::Regex::new(line) {
            Ok(pattern) => Ok(Ready::Line(pattern)),
            Err(_) => Err(Flaw::new("ready", format!("`line`: not a pattern: {line}"))),
        },
        (Some(_), Some(_)) => Err(Flaw::new("ready", "expected one of `path` and `line`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Digest;
    use crate::gate::checks::outside::Gathered;
    use crate::world::sandbox::Pinned;

    const FILE: &str = r#"
name = "served"
unit = "thing"
[input]
format = "lines"
[prompt]
text = "{{ key }}"
[[field]]
name = "value"
kind = "text"
[[service]]
name = "api"
argv = ["serve"]
"#;

    fn environment(more: &str) -> BTreeMap<String, String> {
        #[derive(serde::Serialize)]
        struct Port {
            port: String,
        }
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let variables = [("PATH", "/usr/bin"), ("LANG", "C"), ("HOME", "/home/me")];
        let serve = Pinned {
            path: "/usr/bin/serve".into(),
            target: "/usr/bin/serve".into(),
            sha256: Digest::of(b"serve"),
        };
        let outside = Gathered {
            programs: [("serve".to_owned(), serve)].into(),
            variables: variables.map(pair).into(),
            ..Gathered::default()
        };
        let text = format!("{FILE}{more}");
        let plans = services(&QuestFile::parse(&text).unwrap(), &outside).unwrap();
        let port = Port { port: "81".into() };
        let env = plans["api"].env.iter();
        env.map(|(name, value)| (name.clone(), value.render(&port).unwrap()))
            .collect()
    }

    #[test]
    fn a_service_finds_nobodys_home_and_nothing_that_it_is_not_given() {
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let nobodys = [
            ("HOME", "/nonexistent"),
            ("PATH", "/usr/bin"),
            ("PYTHONNOUSERSITE", "1"),
        ];
        let mut expected: BTreeMap<_, _> = nobodys.map(pair).into();
        assert_eq!(environment(""), expected);
        expected.extend([("LANG", "C"), ("PORT", "81"), ("HOME", "data")].map(pair));
        let given = "pass_env = [\"LANG\"]\nenv = { PORT = \"{{ port }}\", HOME = \"data\" }";
        assert_eq!(environment(given), expected);
    }
}
