//! Gathers what reviewers are shown of a case.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::gate::Case;
use crate::gate::email::web_url::web_url;
use crate::judge::recorded::named_mailboxes;
use crate::quest::ReviewInput;
use crate::world::evidence::prune::masked;
use crate::world::fetch::settings::RobotsPolicy;
use crate::world::fetch::visit::{End, visit};
use crate::world::sandbox::{FileSeen, Sandbox};
use crate::world::tree::TreePath;
use crate::world::{Fetcher, World};

/// The most bytes of one input. It is not cut, because nobody would see what was cut.
const MAX_BYTES: usize = 512 * 1024;

/// The inputs by name, or the first that is not to be had, and why.
pub(super) type Gathered = Result<BTreeMap<ReviewInput, String>, (ReviewInput, String)>;

pub(super) fn gather<'s>(
    wanted: impl IntoIterator<Item = &'s ReviewInput>,
    case: Case<'_>,
    world: &World<'_>,
    robots: RobotsPolicy,
) -> Gathered {
    let submitted = |field: &str| case.submission.field(field).unwrap_or_default();
    let mut inputs = BTreeMap::new();
    for input in wanted {
        if inputs.contains_key(input) {
            continue;
        }
        let text = match input {
            ReviewInput::Key => Ok(case.quest.key.as_str().to_owned()),
            ReviewInput::Input(column) => {
                Ok(case.quest.cell(column).unwrap_or_default().to_owned())
            }
            ReviewInput::Submission(field) => Ok(submitted(field.as_str()).to_owned()),
            ReviewInput::Evidence(field) => page(submitted(field.as_str()), world.fetcher, robots),
            ReviewInput::File(field) => file(submitted(field.as_str()), world.sandbox),
            ReviewInput::TreeDiff => diff(world.sandbox),
            ReviewInput::Transform(check) => {
                let none = || String::from("its command failed");
                let ran = world.sandbox.last_run(check);
                let ran = ran.filter(|ran| ran.end.is_success());
                ran.ok_or_else(none).and_then(|ran| text_of(ran.stdout))
            }
        };
        let text = text.and_then(|text| match text.len() {
            0..=MAX_BYTES => Ok(text),
            more => Err(format!("it has {more} bytes, more than {MAX_BYTES}")),
        });
        let text = text.map_err(|why| (input.clone(), why))?;
        inputs.insert(input.clone(), text);
    }
    Ok(inputs)
}

/// The inputs without the mailboxes of people whom the submission does not name: the model that
/// reviews, and its provider, need not learn of them.
pub(super) fn without_others(
    case: Case<'_>,
    whole: &BTreeMap<ReviewInput, String>,
) -> BTreeMap<ReviewInput, String> {
    let named = named_mailboxes(case, &[]);
    let shown = whole.iter().map(|(input, text)| {
        let text = match input {
            ReviewInput::Evidence(_) => masked(text, &named),
            _ => text.clone(),
        };
        (input.clone(), text)
    });
    shown.collect()
}

fn page(text: &str, fetcher: &dyn Fetcher, robots: RobotsPolicy) -> Result<String, String> {
    let url = web_url(text).map_err(|bad| bad.to_string())?;
    match visit(fetcher, &url, robots).end {
        End::Pages(pages) => {
            let lines = pages.iter().flat_map(|page| &page.visible);
            Ok(lines.map(String::as_str).collect::<Vec<_>>().join("\n"))
        }
        End::Missing { .. } => Err(String::from("there is no such page")),
        End::Unanswered { why, .. } => Err(why.to_string()),
        End::Forbidden { .. } => Err(String::from("robots.txt forbids fetching it")),
        End::Unreadable { why, .. } => Err(why),
    }
}

fn file(path: &str, sandbox: &dyn Sandbox) -> Result<String, String> {
    let path = TreePath::parse(path).map_err(|bad| bad.to_string())?;
    match sandbox.file(&path) {
        FileSeen::File(bytes) => text_of(bytes),
        FileSeen::Absent => Err(String::from("nothing is there")),
        FileSeen::Other(what) => Err(what),
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|_| String::from("it is not UTF-8"))
}

/// The difference between the tree as it was and as it is judged; empty if there is no difference.
///
/// There is no such text where a changed file is no UTF-8: a program may well read what is then
/// shown to nobody.
pub(super) fn diff(sandbox: &dyn Sandbox) -> Result<String, String> {
    let mut text = String::new();
    let changes = sandbox.changes()?;
    for change in changes.iter().filter(|change| change.inside) {
        let Ok(path) = TreePath::parse(&change.path) else {
            let _ = writeln!(text, "{:?}: {}", change.path, change.how);
            continue;
        };
        let (before, after) = (sandbox.pinned(&path), sandbox.file(&path));
        // Writing to a text cannot fail.
        let _ = write!(text, "--- a/{path} ({})\n+++ b/{path}\n", change.how);
        if before == after {
            continue;
        }
        match (lines(before, &path)?, lines(after, &path)?) {
            (Ok(before), Ok(after)) => {
                let hunks = diffy::create_patch(&before, &after).to_string();
                text.extend(hunks.split_inclusive('\n').skip(2));
            }
            (Err(what), _) | (_, Err(what)) => {
                let _ = writeln!(text, "{what}");
            }
        }
    }
    Ok(text)
}

/// The text of a file, empty if it does not exist; otherwise what is there instead of a file.
fn lines(seen: FileSeen, path: &TreePath) -> Result<Result<String, String>, String> {
    match seen {
        FileSeen::Absent => Ok(Ok(String::new())),
        FileSeen::Other(what) => Ok(Err(what)),
        FileSeen::File(bytes) => {
            let text = String::from_utf8(bytes);
            text.map(Ok)
                .map_err(|_| format!("{path} is not UTF-8 text"))
        }
    }
}
