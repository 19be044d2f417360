//! `comail scan --carry`: the PASSes of an earlier session go over into the new one.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::{UsageError, found, refuse};
use super::progress;
use super::progress::WorkBar;
use super::scan::nothing_forgotten;
use crate::judge::{self, Carrier, CarryCounts, HostQueue, JudgeWorld, JudgedJob, Next};
use crate::session::{self, Archive, Manifest, NewSession, Suppressed};

/// The flags of `scan` that take over earlier PASSes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Earlier session")]
pub struct CarryArgs {
    /// Carry over the PASSes of this earlier session for quests with the same key and site
    ///
    /// Each is judged again from its evidence, with the new session's settings. Other quests
    /// start with all their tries. The earlier session is not changed.
    #[arg(long, value_name = "SESSION", value_hint = clap::ValueHint::DirPath,
          conflicts_with = "update")]
    carry: Option<PathBuf>,

    /// Judge them by the world as it is now instead of by their evidence
    #[arg(long, requires = "carry")]
    recheck: bool,
}

/// The JSON form of what was carried.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CarriedOver {
    /// The earlier session.
    from: String,
    #[serde(flatten)]
    counts: CarryCounts,
}

pub(super) struct Carry {
    old: Archive,
    recheck: bool,
}

impl CarryArgs {
    /// Refuses an earlier session that would contain the new one, before anything is read.
    pub(super) fn refuse_same(&self, new: &Path) -> Result<()> {
        let old = self.carry.as_deref().map(fs::canonicalize);
        let Some(Ok(old)) = old else {
            return Ok(());
        };
        // The new directory may not exist yet; its nearest ancestor that does decides.
        let new = std::path::absolute(new)?;
        let place = new
            .ancestors()
            .find_map(|place| fs::canonicalize(place).ok());
        if place.is_some_and(|place| place.starts_with(&old)) {
            return refuse(
                "PASSes are carried into another session: name its directory with --session",
            );
        }
        Ok(())
    }

    /// Reads the earlier session, if one is named. Damage in it is a finding.
    pub(super) fn open(&self, context: &Context) -> Result<Option<Carry>> {
        let Some(dir) = &self.carry else {
            return Ok(None);
        };
        Ok(Some(Carry {
            old: found(Archive::open(dir, context.watch().as_ref()))?,
            recheck: self.recheck,
        }))
    }
}

impl Carry {
    /// The addresses that must not come back in the new session either. A list that brings one
    /// back is refused.
    pub(super) fn forgotten(&self, list: &Path) -> Result<Vec<Suppressed>> {
        let forgetting = self.old.forgetting();
        nothing_forgotten(&forgetting, list)?;
        Ok(forgetting.suppressed().to_vec())
    }

    pub(super) fn create(&self, context: &Context, new: &NewSession<'_>) -> Result<CarriedOver> {
        same_kind(self.old.manifest())?;
        if !self.recheck {
            same_world(self.old.manifest(), new.manifest)?;
        }
        let mut carrier = Carrier::new(&self.old, new.quests, new.manifest)?;
        if self.recheck {
            let judged = look(context, &mut carrier, new.manifest)?;
            carrier.by_world(judged);
        }
        // Shown only after the quests are written, which have a bar of their own.
        let (bar, left) = (OnceCell::new(), carrier.left());
        let brought = carrier.by_ref().map(|brought| -> Result<_> {
            bar.get_or_init(|| WorkBar::of("judging again", left as u64))
                .count();
            progress::go_on()?;
            Ok(brought?)
        });
        session::create_carrying(context.session_dir(), new, brought, &mut context::clock())?;
        Ok(CarriedOver {
            from: self.old.dir().display().to_string(),
            counts: carrier.counts().clone(),
        })
    }
}

/// Refuses the PASSes of a quest file: they are no proof of addresses.
fn same_kind(old: &Manifest) -> Result<()> {
    if old.kind.definition.is_none() {
        return Ok(());
    }
    Err(UsageError(format!(
        "the earlier session's quests are `{}`, of a quest file, and only PASSes of the e-mail \
         quest can be carried",
        old.kind.name
    ))
    .into())
}

/// Refuses evidence that came through another resolver or proxy: it proves nothing about those that
/// this session uses.
fn same_world(old: &Manifest, new: &Manifest) -> Result<()> {
    let (old, new) = (judge::network_of(old)?, judge::network_of(new)?);
    if old.asks_as(&new) {
        return Ok(());
    }
    Err(UsageError(
        "the earlier session asked the world in another way (--dns-server, --proxy, --ca-cert, \
         --allow-net): name the same for this one, or --recheck to judge its PASSes by the world \
         as this one sees it"
            .to_owned(),
    )
    .into())
}

/// Judges the PASSes by the world as it is now. Nothing is on disk yet, so an interrupt leaves
/// nothing behind.
fn look(
    context: &Context,
    carrier: &mut Carrier<'_>,
    manifest: &Manifest,
) -> Result<Vec<JudgedJob>> {
    let jobs = carrier.jobs()?;
    let mut judged = Vec::with_capacity(jobs.len());
    let bar = WorkBar::of("judging again", jobs.len() as u64);
    let world = JudgeWorld::without_session(manifest, context.recorded_world())?;
    let mut queue = HostQueue::start(jobs, manifest, Arc::new(world))?;
    while let Next::Judged(one) = queue.next(&progress::is_asked)? {
        judged.push(*one);
        bar.count();
    }
    progress::go_on()?;
    Ok(judged)
}
