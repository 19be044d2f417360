//! A quest file as a session freezes it, in `session.json` as `kind.definition`.
//!
//! ```text
//! {"text":"name = \"unit-tests\"…","path":"/…/unit-tests.toml","sha256":"…",
//!  "gathered":{"assets":{"schema.json":"…"},"programs":{"python3":{"path":…,"target":…,"sha256":…}},
//!              "variables":{"PATH":"…"}},
//!  "tree":{"root":"/…","write":["tests/**"],"ignore":["*.log"],
//!          "gitignore":{".gitignore":"target/\n"},"listing":"<sha-256>","control":"<sha-256>",
//!          "repository":{"program":"/usr/bin/git","dir":"/…/.git","head":"…","changed":["a.py"],…}},
//!  "runtime":"<sha-256>","scratch":"/tmp","confinement":{"landlock":6,"namespaces":["pid",…]}}
//! ```
//!
//! The whole text is frozen, and `scan` is the last command to read the file. `listing` is the digest
//! of the tree's listing, which is in `evidence/` with the contents of the files. `control` is the
//! same for the tree of the passing control, if a check runs its script on it. `runtime` is the digest
//! of a list, in `evidence/` too, of the files that the programs load from outside the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, io};

use serde::{Deserialize, Serialize};

use crate::base::{Digest, files};
use crate::gate::GateSettings;
use crate::gate::checks::kind::Flaw;
use crate::gate::checks::outside::{Gathered, Missing, Outside};
use crate::gate::checks::{FileGate, nobodys};
use crate::gate::email::list_digests;
use crate::judge::error::{Faulty, JudgeError, settings};
use crate::quest::file::{
    Mistake, Placed, QuestFile, RawTable, ReadyTable, ReviewerNetwork, ServiceTable, is_kebab,
};
use crate::quest::template::{Names, Template};
use crate::quest::{QuestKind, email};
use crate::session::{EvidenceStore, KindRecord, Manifest, SessionError};
use crate::world::evidence::unpack;
use crate::world::git::Repository;
use crate::world::sandbox::{
    Base, CommandSpec, Confinement, Contents, Files, Launcher, Network, Ready, Runtime,
    SandboxConfig, ServicePlan, run,
};
use crate::world::tree::{BOUNDS, BadGlob, Gitignores, Ignored, Listing, Zones};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub text: String,
    pub path: String,
    /// The command line of `until` that made it. Then there is no file at this path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    pub sha256: Digest,
    /// Everything that it refers to: assets, programs, variables.
    pub gathered: Gathered,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<FrozenTree>,
    /// The digest of what its programs load from outside the tree, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Digest>,
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
    /// What to leave out, as globs.
    pub ignore: Vec<String>,
    /// The rules of its `.gitignore` files; `None` if they are not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gitignore: Option<Gitignores>,
    pub listing: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Digest>,
    /// The repository in which it was, in a session with worktrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<Repository>,
}

impl FrozenTree {
    /// What is left out, apart from the session.
    pub fn ignored(&self) -> Result<Ignored, BadGlob> {
        let ignored = Ignored::new(&self.ignore)?;
        Ok(match &self.gitignore {
            Some(files) => ignored.and_gitignores(files),
            None => ignored,
        })
    }
}

impl Definition {
    /// The definition that a session froze; `None` for the built-in kind.
    pub fn of(manifest: &Manifest) -> Result<Option<Self>, JudgeError> {
        let value = manifest.kind.definition.as_ref();
        value.map(|it| settings("quest file", it)).transpose()
    }

    /// The command line of `until`, if it made the session. Then the results are in the tree.
    pub fn command_of(manifest: &Manifest) -> Option<&str> {
        manifest.kind.definition.as_ref()?.get("command")?.as_str()
    }

    /// The programs that the gate runs, except those in the tree, which is compared anyway.
    pub fn programs(&self) -> Vec<PathBuf> {
        let root = self.tree.as_ref().map(|tree| &tree.root);
        let programs = self.gathered.programs.values().map(|it| it.path.clone());
        programs
            .filter(|path| root.is_none_or(|root| !path.starts_with(root)))
            .collect()
    }

    pub fn file(&self) -> Result<QuestFile<'_>, Faulty> {
        QuestFile::parse(&self.text).map_err(|mistake| self.faulty(mistake))
    }

    pub fn kind(&self) -> Result<QuestKind, Faulty> {
        Ok(self.file()?.kind())
    }

    pub fn gate(&self, settings: GateSettings) -> Result<FileGate, Faulty> {
        let gate = FileGate::new(&self.file()?, &self.gathered, settings);
        gate.map_err(|mistake| self.faulty(mistake))
    }

    pub fn record(&self) -> Result<KindRecord, JudgeError> {
        Ok(KindRecord {
            name: self.kind()?.name.into_owned(),
            definition: Some(serde_json::to_value(self)?),
            ..email_record()
        })
    }

    pub fn here(&self) -> &Path {
        let path = Path::new(&self.path);
        path.parent().unwrap_or(path)
    }

    /// The mistake with the file's path.
    pub fn faulty(&self, mistake: Mistake) -> Faulty {
        Faulty {
            path: self.path.clone(),
            mistake,
        }
    }

    /// A sandbox with this baseline. `session` is left out of the tree, and commands cannot read it.
    pub fn sandbox_config(
        &self,
        services: BTreeMap<String, ServicePlan>,
        baseline: Listing,
        load: Box<Contents>,
        session: &Path,
    ) -> Result<SandboxConfig, JudgeError> {
        let mut config = SandboxConfig {
            baseline,
            load,
            programs: self.gathered.programs.values().cloned().collect(),
            services,
            ..bare_sandbox(&self.scratch, &self.confinement, vec![session.to_owned()])?
        };
        let variables = self.gathered.variables.iter();
        let passed = variables.filter(|(name, _)| *name != "PATH");
        let passed = passed.flat_map(|(_, value)| env::split_paths(value));
        config.launcher.readable = passed.filter(|path| path.is_absolute()).collect();
        if let Some(tree) = &self.tree {
            config.launcher.untrusted.push(tree.root.clone());
            config.root = Some(tree.root.clone());
            config.zones = Zones::new(&tree.write)?;
            config.ignored = tree.ignored()?.and_folder(session);
        }
        Ok(config)
    }
}

pub fn email_record() -> KindRecord {
    let lists = list_digests().into_iter();
    KindRecord {
        name: email::NAME.to_owned(),
        lists: lists
            .map(|(name, digest)| (name.to_owned(), digest))
            .collect(),
        definition: None,
        reviewers: None,
    }
}

/// A sandbox without a tree, whose commands cannot read the `hidden` paths.
pub(in crate::judge) fn bare_sandbox(
    scratch: &Path,
    confinement: &Confinement,
    hidden: Vec<PathBuf>,
) -> Result<SandboxConfig, JudgeError> {
    let launcher = Launcher::this().map_err(JudgeError::Launcher)?;
    let launcher = Launcher { hidden, ..launcher };
    Ok(SandboxConfig {
        confinement: confinement.clone(),
        ..SandboxConfig::without_tree(scratch.to_owned(), launcher)
    })
}

const MAX_LISTING_BYTES: u64 = 256 * 1024 * 1024;

/// The tree's listing that a session froze, and a function that loads the contents of its files.
pub(in crate::judge) fn frozen_listing(
    definition: &Definition,
    store: EvidenceStore,
) -> Result<(Listing, Box<Contents>), JudgeError> {
    let tree = definition.tree.as_ref();
    let baseline = tree.map(|tree| stocked_listing(&store, tree.listing));
    let baseline = baseline.transpose()?.unwrap_or_default();
    let load = move |digest| {
        let packed = store.load(digest).map_err(io::Error::other)?;
        Ok(packed.and_then(|packed| unpack(&packed, BOUNDS.file_bytes).ok()))
    };
    Ok((baseline, Box::new(load)))
}

/// The frozen tree of the passing control; `None` if no check uses it.
pub(in crate::judge) fn frozen_control(
    definition: &Definition,
    store: &EvidenceStore,
) -> Result<Option<Listing>, JudgeError> {
    match &definition.tree {
        None => Ok(Some(Listing::default())),
        Some(tree) => Ok(tree
            .control
            .map(|digest| stocked_listing(store, digest))
            .transpose()?),
    }
}

/// What the programs loaded from outside the tree when the session was made.
pub(in crate::judge) fn frozen_runtime(
    definition: &Definition,
    store: &EvidenceStore,
) -> Result<Runtime, SessionError> {
    let Some(digest) = definition.runtime else {
        return Ok(Runtime::default());
    };
    let text = stocked_text(store, digest)?;
    let read = text.filter(|text| Digest::of(text) == digest);
    let read = read.and_then(|text| serde_json::from_slice(&text).ok());
    let lost = "the list of the programs' files in evidence/ is missing or was changed; restore it \
                from a backup";
    read.ok_or_else(|| SessionError::Stock(lost.to_owned()))
}

fn stocked_text(store: &EvidenceStore, digest: Digest) -> Result<Option<Vec<u8>>, SessionError> {
    let packed = store.load(digest)?;
    Ok(packed.and_then(|packed| unpack(&packed, MAX_LISTING_BYTES).ok()))
}

fn stocked_listing(store: &EvidenceStore, digest: Digest) -> Result<Listing, SessionError> {
    let text = stocked_text(store, digest)?;
    let read = text.and_then(|text| serde_json::from_slice::<Listing>(&text).ok());
    let lost =
        "the tree's listing in evidence/ is missing or was changed; restore it from a backup";
    read.filter(|listing| listing.digest() == digest)
        .ok_or_else(|| SessionError::Stock(lost.to_owned()))
}

const TRIAL_MS: u64 = 30_000;

/// The confinement that works here, found by running this program confined; none if that fails.
pub(crate) fn confinement(scratch: &Path) -> Confinement {
    let tried = || -> io::Result<Confinement> {
        let [place, base, work] = [(); 3].map(|()| files::private_dir("comail-", scratch));
        let (place, base, work) = (place?, base?, work?);
        let files = Files {
            dir: place.path().to_owned(),
            base: Some(Base {
                dir: base.path().to_owned(),
                work: work.path().to_owned(),
            }),
        };
        let program = std::env::current_exe()?.to_string_lossy().into_owned();
        let order = CommandSpec {
            timeout_ms: TRIAL_MS,
            output_bytes: 4096,
            name: String::from("confinement"),
            argv: vec![program, "--version".into()],
            ..CommandSpec::default()
        };
        Ok(run(&order, &files, &Launcher::this()?).confinement)
    };
    tried().unwrap_or_default()
}

#[derive(Debug, Clone)]
pub struct FixerPlan {
    /// How to start it. Its standard input is filled in later.
    pub order: CommandSpec,
    pub max_fixes: u32,
    pub rules: BTreeSet<String>,
}

/// The command of a fixer or a reviewer. Its program is pinned, and its environment has PATH and the
/// variables that its table sets. Passed variables are read when it starts, so that no key is frozen.
pub(in crate::judge) fn confined_order(
    name: String,
    argv: &[String],
    (pass, set): (&[String], &BTreeMap<String, String>),
    network: ReviewerNetwork,
    outside: &dyn Outside,
) -> Result<CommandSpec, Flaw> {
    let bad = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
    let wrong = [
        ("pass", pass.iter().find(bad)),
        ("env", set.keys().find(bad)),
    ];
    if let Some((key, name)) = wrong.into_iter().find_map(|(key, bad)| Some((key, bad?))) {
        return Err(Flaw::new(key, format!("{name:?} cannot name a variable")));
    }
    let (program, arguments) = pinned(argv, outside)?;
    let mut env = nobodys(outside);
    env.extend(set.clone());
    env.retain(|name, _| !pass.contains(name));
    let argv = std::iter::once(program).chain(arguments.iter().cloned());
    Ok(CommandSpec {
        name,
        env,
        pass: pass.to_vec(),
        network: match network {
            ReviewerNetwork::None => Network::None,
            ReviewerNetwork::Full => Network::Any,
        },
        argv: argv.collect(),
        ..CommandSpec::default()
    })
}

fn pinned<'a>(argv: &'a [String], outside: &dyn Outside) -> Result<(String, &'a [String]), Flaw> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(Flaw::new("argv", "it is empty: name a program"));
    };
    let pinned = outside.program(program);
    let pinned = pinned.map_err(|missing| Flaw::new("argv", missing.to_string()))?;
    match pinned.path.to_str() {
        Some(path) => Ok((path.to_owned(), arguments)),
        None => Err(Flaw::new(
            "argv",
            format!("the path of `{program}` is not UTF-8"),
        )),
    }
}

/// The fixer of `file`, if it has one.
///
/// # Errors
///
/// If there is a fixer without a check that uses it, or such a check without a fixer.
pub(in crate::judge) fn fixer(
    file: &QuestFile<'_>,
    outside: &dyn Outside,
) -> Result<Option<FixerPlan>, Mistake> {
    let asks = |raw: &&RawTable<'_>| raw.text_of("on_fail") == Some("fix");
    let wrong =
        |raw: &RawTable<'_>, what| Err(Mistake::at(file.text(), &raw.spot_of("on_fail"), what));
    let mut rules = BTreeSet::new();
    for raw in file.checks.iter().filter(asks) {
        if file.fixer.is_none() {
            return wrong(raw, "the file has no [fixer]");
        }
        if raw.text_of("level") == Some("review") {
            return wrong(raw, "the check never fails: its level is `review`");
        }
        rules.extend(raw.text_of("name").map(str::to_owned));
    }
    let mut of_final = file.final_part.iter().flat_map(|part| &part.checks);
    if let Some(raw) = of_final.find(asks) {
        return wrong(raw, "the fixer does not run for checks of [final]");
    }
    let Some(table) = &file.fixer else {
        return Ok(None);
    };
    let tree = file.tree.as_ref();
    let needless = if rules.is_empty() {
        Some("no check uses it: set `on_fail = \"fix\"` in one")
    } else if tree.is_some_and(|tree| tree.worktrees) {
        Some("it does not run in worktrees: remove it, or `worktrees` in [tree]")
    } else if tree.is_none_or(|tree| tree.write.is_empty()) {
        Some("it repairs files of the tree: set `write` in [tree]")
    } else {
        None
    };
    if let Some(what) = needless {
        return Err(Mistake::at(file.text(), &file.spot_of("fixer"), what));
    }
    let flawed =
        |Flaw { key, what }: Flaw| Mistake::at(file.text(), &file.spot_in("fixer", key), what);
    let is_fixed = |text: &&String| {
        let template = Template::parse(text, &Names::of_final(std::iter::empty()));
        template.is_ok_and(|template| template.is_fixed())
    };
    let mut arguments = table.argv.iter().skip(1);
    if let Some(text) = arguments.find(|text| !is_fixed(text)) {
        let what = "it is no template: the fixer reads what to fix on its standard input";
        return Err(flawed(Flaw::new("argv", format!("`{text}`: {what}"))));
    }
    let relative = |path: &&String| !path.starts_with('/') || path.split('/').any(|it| it == "..");
    if let Some(path) = table.writable.iter().find(relative) {
        let what = format!("`{path}`: expected an absolute path without `..`");
        return Err(flawed(Flaw::new("writable", what)));
    }
    let order = confined_order(
        "fixer".to_owned(),
        &table.argv,
        (&table.pass, &table.env),
        table.network.unwrap_or_default(),
        outside,
    );
    Ok(Some(FixerPlan {
        order: CommandSpec {
            timeout_ms: table.timeout.millis().into(),
            output_bytes: table.output_cap.bytes(),
            writable: table.writable.clone(),
            ..order.map_err(flawed)?
        },
        max_fixes: table.max_fixes.get(),
        rules,
    }))
}

pub(in crate::judge) fn services(
    file: &QuestFile<'_>,
    outside: &dyn Outside,
) -> Result<BTreeMap<String, ServicePlan>, Mistake> {
    let mut plans = BTreeMap::new();
    for Placed { table, raw } in &file.services {
        let wrong = |Flaw { key, what }: Flaw| Mistake::at(file.text(), &raw.spot_of(key), what);
        let plan = service(table, outside).map_err(wrong)?;
        if plans.insert(table.name.clone(), plan).is_some() {
            let what = format!("there are two services `{}`", table.name);
            return Err(wrong(Flaw::new("name", what)));
        }
    }
    Ok(plans)
}

fn service(table: &ServiceTable, outside: &dyn Outside) -> Result<ServicePlan, Flaw> {
    if !is_kebab(&table.name) {
        let what = format!("`{}`: expected kebab-case, such as `api`", table.name);
        return Err(Flaw::new("name", what));
    }
    let names = Names::of_service();
    let template = |key, text: &str| {
        Template::parse(text, &names).map_err(|bad| Flaw::new(key, bad.to_string()))
    };
    let (program, arguments) = pinned(&table.argv, outside)?;
    let argv = std::iter::once(Ok(Template::fixed(&program)))
        .chain(arguments.iter().map(|text| template("argv", text)));
    let nobodys = nobodys(outside).into_iter();
    let mut env: BTreeMap<_, _> = nobodys
        .map(|(name, value)| (name, Template::fixed(&value)))
        .collect();
    for name in table.pass_env.iter().map(String::as_str).chain(["PATH"]) {
        let missing = |missing: Missing| Flaw::new("pass_env", missing.to_string());
        let value = outside.variable(name).map_err(missing)?;
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
    use crate::world::tree::TreePath;

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
    fn a_service_gets_only_its_own_variables() {
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

    #[test]
    fn a_session_without_gitignore_rules_ignores_nothing() {
        let tree = |gitignore: &str| -> FrozenTree {
            let listing = Digest::of(b"");
            let text = format!(
                r#"{{"root":"/t","write":[],"ignore":["a/**"],{gitignore}"listing":"{listing}"}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        let rules = r#""gitignore":{".gitignore":"target/\n"},"#;
        for (tree, is_ignored) in [(tree(""), false), (tree(rules), true)] {
            let ignored = tree.ignored().unwrap();
            let path = |text| TreePath::parse(text).unwrap();
            let rule = ignored.rule_of_file(&path("target/a"));
            assert_eq!(rule.is_some(), is_ignored);
            assert!(ignored.rule_of_file(&path("a/b")).is_some());
        }
    }
}
