//! `comail scan --update`: adds the new rows of a list and, before anything is judged, the settings
//! that `scan` was not given.

use std::path::Path;

use anyhow::Result;

use super::super::context::{self, Context};
use super::super::exit::{UsageError, refuse};
use super::super::person;
use super::super::source_list::{ListArgs, ListFile, ListPlan, known_quests};
use super::reply::{Scanned, check_sites, first_keys};
use super::{check_prompts, nothing_forgotten};
use crate::base::text::plural;
use crate::judge;
use crate::judge::quest_file::Definition;
use crate::quest::{Listed, Quest};
use crate::session::{
    self, AddedAnchor, Amended, Extension, OperatorKey, Projection, Session, SigningKey,
};
use crate::table::digest;

/// Adds the new rows of the list. If the session has an operator's key, that key is required.
pub(super) fn run(
    context: &mut Context,
    args: &ListArgs,
    operator_key: Option<&Path>,
) -> Result<Scanned> {
    let mut session = context.open_session()?;
    let before = ListPlan::of(&session.source())?;
    let amendment = Amendment::of(&session, args.adds_site(&before), operator_key)?;
    let definition = Definition::of(session.manifest())?;
    let unit = judge::kind_of(session.manifest())?.unit;
    let last = session.source().path;
    let file = ListFile::find(args, Some(last.as_ref()), definition.as_ref(), &context.dir)?;
    let sha256 = digest(file.path())?;
    nothing_forgotten(&session.forgetting(), file.path())?;
    let plan = args.plan(&file, Some(&before), None, &unit)?;
    amendment.confirm(&session)?;
    let place = context.place().to_owned();
    let mut update = |context: &mut Context, confirmed: Option<&Replacement>| {
        let mut planned = plan.open(file.path())?;
        if let Some(own) = &before.site {
            planned.refuse_other_site(own)?;
        }
        let decide = |session: &Session| -> Result<_> {
            let projection = session.projection()?;
            let mut listing = known_quests(session, &projection)?;
            planned.read_into(&mut listing)?;
            let quests = listing.finish()?;
            let new = quests.added();
            if amendment.site {
                check_sites(context, &quests.quests, planned.site_label())?;
            } else if args.renames_site(&before) && !new.is_empty() {
                // Only the new quests, because the known ones would hide a column without sites.
                check_sites(context, new, planned.site_label())?;
            }
            if let Some(definition) = &definition {
                check_prompts(definition, new)?;
            }
            if amendment.signer.is_none() {
                let replacement = Replacement::of(session, &quests, new)?;
                if let Some(replacement) = replacement.filter(|it| Some(it) != confirmed) {
                    return Err(replacement.into());
                }
            }
            let lists = projection.totals().extensions.len() + 1;
            let record = plan.record(&file.place, sha256, planned.list.format(), lists + 1)?;
            let sites = &quests.newly_anchored;
            let late = if amendment.site { 0 } else { sites.len() };
            let sites = sites.iter().map(|(quest, anchor)| AddedAnchor {
                quest: *quest,
                anchor: anchor.clone(),
            });
            let amended = amendment.event(&projection, sites.collect())?;
            let scanned = Scanned {
                counts: quests.counts,
                quests: quests.quests.len(),
                added: new.len(),
                first_keys: first_keys(new),
                gone: quests.without_row(),
                updated: true,
                sites_added: amended.as_ref().map_or(0, |it| it.anchors.len()),
                key_added: amended.as_ref().is_some_and(|it| it.operator_key.is_some()),
                world: session.manifest().frozen.world_kind(),
                ..Scanned::new(&place, &record, &planned, unit.to_string())
            };
            let extension = Extension {
                source: record,
                quests: new.to_vec(),
                amended,
            };
            Ok((extension, (scanned, late)))
        };
        session::extend(&mut session, file.path(), &mut context::clock(), decide)
    };
    let extended = update(context, None).or_else(|error| {
        // The question is asked without the session's lock, so the list is read again afterwards.
        let replacement = error.downcast::<Replacement>()?;
        if !person::is_on_terminal() {
            return Err(
                UsageError(format!("{replacement}; only a person can accept that"))
                    .hint("run it on a terminal")
                    .into(),
            );
        }
        person::ask(&replacement.to_string(), "update")?;
        update(context, Some(&replacement))
    });
    context.report_repairs(&session);
    let (scanned, late) = extended?;
    if late > 0 {
        let late = u32::try_from(late).unwrap_or(u32::MAX);
        context.output.note(&format!(
            "the list now names a site for {} scanned without a site; the gate still \
             judges without it",
            plural(late, "quest")
        ));
    }
    Ok(scanned)
}

/// An update that takes rows away from quests of the session. Without a key, an agent could use it to
/// replace a quest with one of the same name and a site of its choice.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the list leaves {} of the session without a row and adds {} with the key of another",
    plural(*without_row, "quest"),
    plural(*namesakes, "quest")
)]
struct Replacement {
    without_row: u32,
    namesakes: u32,
}

impl Replacement {
    fn of(session: &Session, quests: &Listed, new: &[Quest]) -> Result<Option<Self>> {
        let mut namesakes: u32 = 0;
        for quest in new {
            namesakes += u32::from(!session.named(&quest.key.folded())?.is_empty());
        }
        let without_row = u32::try_from(quests.without_row()).unwrap_or(u32::MAX);
        Ok((without_row + namesakes > 0).then_some(Self {
            without_row,
            namesakes,
        }))
    }
}

/// The settings that are added to a session, and whose key signs that.
struct Amendment {
    site: bool,
    key: Option<OperatorKey>,
    signer: Option<SigningKey>,
}

impl Amendment {
    fn of(session: &Session, site: bool, operator_key: Option<&Path>) -> Result<Self> {
        let (key, signer) = match (operator_key, session.operator_key()?) {
            (Some(path), None) => (Some(person::signing_key(path)?.public()), None),
            _ => (None, person::authority(session, operator_key)?),
        };
        Ok(Self { site, key, signer })
    }

    /// The additions, for people; none if there are none.
    fn what(&self) -> Option<&'static str> {
        match (self.site, self.key) {
            (false, None) => None,
            (true, None) => Some("a column of known sites"),
            (false, Some(_)) => Some("an operator's key"),
            (true, Some(_)) => Some("a column of known sites and an operator's key"),
        }
    }

    /// Asks a person to confirm the additions. Without a key, an agent could otherwise add one, or choose
    /// the sites that its answers are compared with.
    fn confirm(&self, session: &Session) -> Result<()> {
        let Some(what) = self.what() else {
            return Ok(());
        };
        refuse_judged(&session.projection()?, what)?;
        if self.signer.is_some() {
            return Ok(());
        }
        let what = format!("add {what} to the session, which cannot be undone");
        person::confirm(&what, Some("add"))
    }

    /// The event, made under the session's lock; none if nothing is added.
    fn event(&self, projection: &Projection, anchors: Vec<AddedAnchor>) -> Result<Option<Amended>> {
        let Some(what) = self.what() else {
            return Ok(None);
        };
        // An agent may have submitted while the person typed.
        refuse_judged(projection, what)?;
        let amended = Amended {
            anchors: if self.site { anchors } else { Vec::new() },
            operator_key: self.key,
            by: person::user_name(),
            seal: None,
        };
        if amended.is_empty() {
            return Ok(None);
        }
        let (policy, after) = (projection.policy(), projection.tip().head);
        match policy.sealed(amended, after, self.signer.as_ref())? {
            Some(amended) => Ok(Some(amended)),
            None => refuse("another process has just added an operator's key to the session"),
        }
    }
}

fn refuse_judged(projection: &Projection, what: &str) -> Result<()> {
    if !projection.totals().has_judged() {
        return Ok(());
    }
    let hint = "make another session with the setting and take over what this one has proven: \
                `comail scan LIST … --session NEW --carry OLD`";
    let text = format!("{what} can only be added before the first submission is judged");
    Err(UsageError(text).hint(hint).into())
}
