//! The quest kind of a new session: the built-in one, or that of a quest file.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::Value;

use super::context::Context;
use super::exit::{UsageError, refuse};
use super::gate_args::{GateArgs, NetworkArgs};
use super::progress::WorkBar;
use super::prove::refuse_unproven;
use crate::gate::Gate as _;
use crate::gate::checks::settings::FileSettings;
use crate::gate::email::{EmailSettings, email_gate};
use crate::judge::prove::{Proof, ProveError};
use crate::judge::quest_file::{Definition, Faulty, FreezeError, Freezing, Frozen};
use crate::judge::{self, FreezingPanel, prove};
use crate::quest::file::Mistake;
use crate::quest::{QuestKind, Quests, prompt};
use crate::session::KindRecord;

/// The flags of `scan` that choose the quest kind.
#[derive(Debug, Args)]
#[command(next_help_heading = "Quest kind, frozen for the session")]
pub struct KindArgs {
    /// The quest file that defines the quests [default: find e-mail addresses]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["update", "carry", "role_only"])]
    pub(super) quest: Option<PathBuf>,

    /// The directory tree that the quests are about [default: set by the quest file, or the working
    /// directory]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, requires = "quest")]
    pub(super) tree: Option<PathBuf>,

    /// The file that defines the reviewing models, which can only raise doubts [default: set by the
    /// quest file]
    #[arg(long, value_name = "FILE", conflicts_with = "update")]
    reviewers: Option<PathBuf>,

    /// The model that answers the quests; it must not review them
    #[arg(long, value_name = "NAME", conflicts_with = "update")]
    generator_model: Option<String>,
}

impl KindArgs {
    /// What `scan` froze of the quest file, after its controls were run; none without a quest file.
    pub(super) fn freeze(&self, context: &Context) -> Result<Option<Frozen>> {
        let Some(path) = &self.quest else {
            return Ok(None);
        };
        let frozen = freeze(path, self.tree.as_deref(), context.session_dir())?;
        refuse_unproven(&proof_of(&frozen)?, &frozen.definition.path)?;
        Ok(Some(frozen))
    }

    /// What the session records of the kind, with the reviewers of what passes.
    pub(super) fn record(&self, definition: Option<&Definition>) -> Result<KindRecord> {
        let path = self.reviewers.as_deref().map(std::path::absolute);
        let path = path.transpose()?;
        let text = path.as_deref().map(reviewers).transpose()?;
        let seating = FreezingPanel {
            file: path.as_deref().zip(text),
            generator_model: self.generator_model.clone(),
            definition,
            scratch: std::env::temp_dir(),
            variables: &|name| std::env::var_os(name),
        };
        let panel = seating.freeze();
        let panel = panel.map_err(|faulty| UsageError(faulty.to_string()))?;
        if panel.is_none() && self.generator_model.is_some() {
            return refuse("--generator-model says who may not review, and there are no reviewers");
        }
        Ok(KindRecord {
            reviewers: panel.map(serde_json::to_value).transpose()?,
            ..match definition {
                None => judge::email_record(),
                Some(definition) => definition.record()?,
            }
        })
    }
}

fn reviewers(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path)
        .with_context(|| format!("cannot read the reviewers {}", path.display()))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let start = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
        let mistake = Mistake::at(&start, &(good..good), "it is not UTF-8");
        UsageError(format!("{}:{mistake}", path.display())).into()
    })
}

pub(super) fn freeze(path: &Path, tree: Option<&Path>, session: &Path) -> Result<Frozen> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the quest file {}", path.display()))?;
    let here = std::env::current_dir().context("the working directory is unknown")?;
    let freezing = Freezing {
        path: &here.join(path),
        text,
        tree: tree.map(Path::to_owned),
        here,
        session: session.to_owned(),
        scratch: std::env::temp_dir(),
        variables: &|name| std::env::var_os(name),
    };
    let frozen = freezing.freeze(&FileSettings::default());
    frozen.map_err(|error| match error {
        FreezeError::Faulty(Faulty { mistake, .. }) => {
            UsageError(format!("{}:{mistake}", path.display())).into()
        }
        FreezeError::Tree { .. } => error.into(),
    })
}

pub(super) fn proof_of(frozen: &Frozen) -> Result<Proof> {
    let proof = prove::prove(&frozen.definition);
    proof.map_err(|error| match error {
        ProveError::Control { .. } => {
            let path = frozen.definition.path.clone();
            let error = anyhow::Error::new(error);
            UsageError(format!("{path}: {error:#}")).into()
        }
        other => other.into(),
    })
}

/// The settings of the gate that `scan` freezes.
pub(super) fn gate_settings(
    definition: Option<&Definition>,
    args: &GateArgs,
    network: &NetworkArgs,
) -> Result<Value> {
    let Some(definition) = definition else {
        let levels = args.known_levels(&email_gate(EmailSettings::default()).rules())?;
        return Ok(serde_json::to_value(args.email(network, levels))?);
    };
    let rules = definition.gate(FileSettings::default())?.rules();
    Ok(serde_json::to_value(FileSettings {
        robots: network.robots(),
        allow_net: network.allow_net().to_vec(),
        levels: args.known_levels(&rules)?,
        ..FileSettings::default()
    })?)
}

/// Renders the prompt of every quest once, so that none fails only when it is handed out.
pub(super) fn made_up(kind: &QuestKind, quests: &dyn Quests) -> Result<()> {
    let bar = WorkBar::of("rendering the prompts", quests.count() as u64);
    let mut rendered = Ok(());
    quests.each(&mut |quest| {
        rendered = bar.step().map_err(anyhow::Error::from).and_then(|()| {
            prompt::render(kind, &quest).map_err(|error| {
                let row = quest.rows.first().copied().unwrap_or_default();
                let key = &quest.key;
                let text = format!("row {row} ({key}): the prompt cannot be rendered: {error}");
                UsageError(text)
            })?;
            Ok(())
        });
        match rendered {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    rendered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::{Key, Quest, QuestId, email};

    #[test]
    fn a_prompt_that_cannot_be_rendered_is_named_with_its_row_and_key() {
        let quest = Quest {
            id: QuestId::FIRST,
            key: Key::new("acme").unwrap(),
            anchor: None,
            shown: Vec::new(),
            known: Vec::new(),
            after: Vec::new(),
            rows: vec![7],
        };
        let mut kind = email::kind();
        assert!(made_up(&kind, &vec![quest.clone()]).is_ok());
        kind.prompt = "{{ key | nothing_known }}".into();
        let wrong = made_up(&kind, &vec![quest]).unwrap_err().to_string();
        assert!(wrong.starts_with("row 7 (acme): "), "{wrong}");
        assert!(wrong.contains("nothing_known"), "{wrong}");
    }
}
