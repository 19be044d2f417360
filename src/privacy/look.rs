//! Whether an address stands anywhere in a session, before anybody is asked.

use std::fs;
use std::io::{BufRead as _, BufReader};

use super::json::masked_json;
use super::mention::mentions;
use super::remove::{NotForgotten, sources};
use super::{bodies, copies};
use crate::base::regular;
use crate::session::{Session, Store as _};
use crate::world::mailbox::Mailbox;

/// Whether forgetting `address` would change anything, or did so before.
///
/// # Errors
///
/// What stands where nothing can be changed, or in a list that cannot be written anew.
pub fn is_known(session: &Session, address: &Mailbox) -> Result<bool, NotForgotten> {
    let mailbox = address;
    let normal = mailbox.to_string();
    let wanted = |address: &str| address == normal;
    let dir = session.dir();
    let path = dir.join("session.json");
    let frozen = fs::read_to_string(&path).map_err(NotForgotten::io(&path))?;
    if !mentions(&frozen, &wanted).is_empty() {
        return Err(NotForgotten::Frozen("session.json".to_owned()));
    }
    let forgetting = session.forgetting();
    if forgetting.suppressed().iter().any(|one| one.is(&normal)) {
        return Ok(true);
    }
    let path = dir.join("ledger.jsonl");
    let ledger = regular::open(&path).map_err(NotForgotten::io(&path))?;
    for line in BufReader::new(ledger).lines() {
        let line = line.map_err(NotForgotten::io(&path))?;
        if masked_json(&line, &wanted, "").is_some() {
            return Ok(true);
        }
    }
    for source in sources(session) {
        let path = dir.join(&source.copy);
        let bytes = regular::read(&path, u64::MAX).map_err(NotForgotten::io(&path))?;
        let masked = copies::masked(&bytes, &wanted);
        if masked
            .map_err(|source| NotForgotten::Copy { path, source })?
            .is_some()
        {
            return Ok(true);
        }
    }
    let evidence = dir.join("evidence");
    let held = bodies::holding(&evidence, mailbox, &wanted);
    Ok(!held.map_err(NotForgotten::io(evidence))?.is_empty())
}
