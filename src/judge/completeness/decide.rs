//! Decides what keeps a session from being complete, from what the survey saw.

use std::collections::{BTreeMap, BTreeSet};

use crate::judge::audit::{Finding, FindingKind};
use crate::judge::completeness::{
    Completeness, FileThenAndNow, MinPass, Shortfall, ShortfallKind, Survey, TreeSeen,
};
use crate::judge::final_gate::{FinalResult, FinalWord};
use crate::quest::QuestId;
use crate::session::Tally;
use crate::world::sandbox::Changed;
use crate::world::tree::TreePath;

pub fn decide(seen: &Survey) -> Completeness {
    let shortfalls = [
        todo(&seen.todo, seen.blocked),
        orphans(&seen.orphaned),
        tree(&seen.tree),
        passed(&seen.files),
        audited(&seen.findings, ShortfallKind::Ledger),
        audited(&seen.findings, ShortfallKind::NotReplayed),
        audited(&seen.findings, ShortfallKind::Record),
        unchecked(&seen.unchecked, seen.stopped),
        last(&seen.last),
        enough(seen.min_pass, &seen.tally),
    ];
    Completeness {
        shortfalls: shortfalls.into_iter().flatten().collect(),
    }
}

/// What stands against a session that cannot be read on: nothing else of it can be told.
pub fn of_damage(finding: &Finding) -> Completeness {
    let shortfall = audited(std::slice::from_ref(finding), ShortfallKind::Ledger);
    Completeness {
        shortfalls: shortfall.into_iter().collect(),
    }
}

fn todo(quests: &[QuestId], blocked: usize) -> Option<Shortfall> {
    if quests.is_empty() {
        return None;
    }
    let what = match blocked {
        0 => format!("{} TODO", are(quests.len())),
        blocked => format!(
            "{} TODO; {blocked} of them can never be handed out as it stands, for they come after \
             others that ended without a PASS",
            are(quests.len())
        ),
    };
    Some(Shortfall::new(ShortfallKind::Todo, what).of(quests.to_vec()))
}

fn orphans(quests: &[QuestId]) -> Option<Shortfall> {
    if quests.is_empty() {
        return None;
    }
    let what = format!("{} claimed by workers that are gone", are(quests.len()));
    Some(Shortfall::new(ShortfallKind::OrphanedClaims, what).of(quests.to_vec()))
}

fn tree(seen: &TreeSeen) -> Option<Shortfall> {
    match seen {
        TreeSeen::None => None,
        TreeSeen::Unread(why) => {
            let what = format!("the working tree cannot be looked at: {why}");
            Some(Shortfall::new(ShortfallKind::TreeUnread, what))
        }
        TreeSeen::Seen(changes) => changed(changes),
    }
}

fn changed(changes: &[Changed]) -> Option<Shortfall> {
    let outside = changes.iter().filter(|change| !change.inside);
    let details: Vec<String> = outside
        .map(|change| format!("{}: {}", change.path, change.how))
        .collect();
    if details.is_empty() {
        return None;
    }
    let what = "the working tree is not clean: it was changed where nobody may write";
    Some(Shortfall::new(ShortfallKind::TreeChanged, what).with(details))
}

/// What PASSes saw in files that hold something else now, or are gone.
///
/// Quests may share a file: what the last PASS that looked at it saw is what must be there.
fn passed(files: &[FileThenAndNow]) -> Option<Shortfall> {
    let mut last: BTreeMap<&TreePath, &FileThenAndNow> = BTreeMap::new();
    for file in files {
        let known = last.entry(&file.then.path).or_insert(file);
        if known.then.line < file.then.line {
            *known = file;
        }
    }
    let changed = last.into_values().filter(|file| {
        // Where it saw no file there is nothing that could be lost.
        file.then.file.is_some() && file.then.file != file.now
    });
    let mut quests = BTreeSet::new();
    let mut details = Vec::new();
    for FileThenAndNow { then, now } in changed {
        let how = now.map_or("gone", |_| "changed");
        quests.insert(then.quest);
        details.push(format!("quest {}: {}: {how}", then.quest, then.path));
    }
    let what = "files in which a PASS was seen are not as they were then";
    let shortfall = Shortfall::new(ShortfallKind::PassChanged, what).with(details);
    (!quests.is_empty()).then(|| shortfall.of(quests.into_iter().collect()))
}

fn counts_as(kind: FindingKind) -> Option<ShortfallKind> {
    match kind {
        FindingKind::Ledger | FindingKind::Settings | FindingKind::Source | FindingKind::Head => {
            Some(ShortfallKind::Ledger)
        }
        FindingKind::Evidence | FindingKind::Replay | FindingKind::OtherLists => {
            Some(ShortfallKind::NotReplayed)
        }
        FindingKind::Answer | FindingKind::Field | FindingKind::Seal | FindingKind::Forgotten => {
            Some(ShortfallKind::Record)
        }
        // Neither says anything of what was judged: the index is made anew, and programs and the
        // world are what they are now.
        FindingKind::Index | FindingKind::Program | FindingKind::Drift => None,
    }
}

fn audited(findings: &[Finding], kind: ShortfallKind) -> Option<Shortfall> {
    let of_kind = |finding: &&Finding| counts_as(finding.kind) == Some(kind);
    let findings: Vec<&Finding> = findings.iter().filter(of_kind).collect();
    if findings.is_empty() {
        return None;
    }
    let quests: BTreeSet<QuestId> = findings.iter().filter_map(|it| it.place.quest).collect();
    let what = match kind {
        ShortfallKind::NotReplayed => "what was judged does not follow from its evidence",
        ShortfallKind::Record => "lines of the ledger say what does not follow",
        _ => "the ledger, or what it is bound to, cannot be believed",
    };
    let details = findings.iter().map(|finding| told(finding));
    let shortfall = Shortfall::new(kind, what).with(details.collect());
    Some(shortfall.of(quests.into_iter().collect()))
}

fn told(finding: &Finding) -> String {
    let line = finding.place.line.map(|line| format!("line {line}"));
    let quest = finding.place.quest.map(|quest| format!("quest {quest}"));
    let place: Vec<String> = line.into_iter().chain(quest).collect();
    match place.as_slice() {
        [] => finding.what.clone(),
        place => format!("{}: {}", place.join(", "), finding.what),
    }
}

fn unchecked(quests: &[QuestId], stopped: bool) -> Option<Shortfall> {
    if quests.is_empty() && !stopped {
        return None;
    }
    let what = if stopped {
        "it was stopped before everything was looked at".to_owned()
    } else {
        format!("{} PASS and not judged again", are(quests.len()))
    };
    Some(Shortfall::new(ShortfallKind::Unchecked, what).of(quests.to_vec()))
}

fn last(said: &FinalResult) -> Option<Shortfall> {
    let what = match said.word {
        FinalWord::None | FinalWord::Passed | FinalWord::Proven => return None,
        FinalWord::Refused => {
            let what = "the checks over the whole result did not pass";
            let shortfall = Shortfall::new(ShortfallKind::FinalGate, what);
            return Some(shortfall.with(said.details.clone()));
        }
        FinalWord::Unjudged => {
            let why = said.details.join("; ");
            format!("the whole result was not judged: {why}")
        }
    };
    Some(Shortfall::new(ShortfallKind::FinalGate, what))
}

fn enough(least: Option<MinPass>, tally: &Tally) -> Option<Shortfall> {
    let least = least.filter(|least| !least.holds(tally))?;
    let (pass, total) = (tally.pass, tally.total());
    let what = format!("{pass} of {total} quests are PASS, and at least {least} were asked for");
    Some(Shortfall::new(ShortfallKind::MinPass, what))
}

fn are(count: usize) -> String {
    match count {
        1 => "1 quest is".to_owned(),
        count => format!("{count} quests are"),
    }
}

#[cfg(test)]
mod tests;
