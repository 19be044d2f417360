//! `comail scan --update`: the new keys of a list join the session that is there.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::context::{self, Context};
use super::exit::UsageError;
use super::list_args::ListArgs;
use super::list_file::ListFile;
use super::list_plan::{self, ListPlan, known_quests};
use super::person;
use super::scan_kind::made_up;
use super::scan_summary::Scanned;
use crate::base::text::plural;
use crate::judge;
use crate::judge::quest_file::Definition;
use crate::session::{self, Appended, Forgetting, Store as _};

/// Adds what is new in the list; where the session froze an operator's key, only to who has it.
pub(super) fn update(
    context: &mut Context,
    args: &ListArgs,
    operator_key: Option<&Path>,
) -> Result<Scanned> {
    let mut session = context.open_session()?;
    person::authority(&session, operator_key)?;
    let definition = Definition::of(session.manifest())?;
    let input = match &definition {
        Some(definition) => Some(definition.file()?.input),
        None => None,
    };
    let unit = judge::kind_of(session.manifest())?.unit;
    let kind = definition.as_ref().map(Definition::kind).transpose()?;
    let path = definition.as_ref().map(|it| Path::new(&it.path));
    let file = ListFile::find(args, input.as_ref(), path)?;
    let before = ListPlan::of(&session.source())?;
    let sha256 = list_plan::digest(file.path())?;
    nothing_forgotten(&session.forgetting(), file.path())?;
    let plan = args.plan(&file, Some(&before), None, &unit)?;
    let mut planned = plan.open(file.path())?;
    let mut scanned = None;
    let mut sites = 0_u32;
    let dir = context.session_dir().to_owned();
    let appended = session::extend(
        &mut session,
        file.path(),
        &mut context::clock(),
        |session| -> Result<_> {
            let board = session.board()?;
            let mut listing = known_quests(session, &board)?;
            let siteless = listing.without_anchor();
            planned.read_into(&mut listing)?;
            let (mut quests, counts) = listing.finish_linked()?;
            let new = quests.split_off(board.quests().len());
            if let Some(kind) = &kind {
                made_up(kind, &new)?;
            }
            let lists = board.totals().extensions.len() + 1;
            let record = plan.record(file.place(), sha256, planned.format(), lists + 1)?;
            let named = siteless
                .iter()
                .filter(|id| quests[id.index()].anchor.is_some());
            sites = u32::try_from(named.count()).unwrap_or(u32::MAX);
            let mut summary = Scanned::new(&dir, &record, &planned);
            summary.words = file.words().map(str::to_owned);
            summary.counts = counts;
            summary.quests = quests.len() + new.len();
            summary.added = new.len();
            summary.gone = quests.iter().filter(|quest| quest.rows.is_empty()).count();
            summary.updated = true;
            scanned = Some(summary);
            Ok((record, new))
        },
    )?;
    context.report_mended(&session);
    if let Appended::Refused(error) = appended {
        return Err(error);
    }
    if sites > 0 {
        context.output.note(&format!(
            "the list names a site now for {} scanned without one; the gate goes on \
             judging without it",
            plural(sites, "quest")
        ));
    }
    scanned.ok_or_else(|| anyhow::anyhow!("the list was not read"))
}

/// Refuses a list that brings back an address that the session was to forget.
pub(super) fn nothing_forgotten(forgetting: &Forgetting, list: &Path) -> Result<()> {
    if forgetting.is_empty() {
        return Ok(());
    }
    let bytes = std::fs::read(list).with_context(|| list.display().to_string())?;
    if crate::judge::forgotten::brings_back(forgetting, &bytes) {
        let list = list.display();
        let why = format!(
            "{list} holds an address that this session was to forget: take it out of the list first"
        );
        return Err(UsageError(why).into());
    }
    Ok(())
}
