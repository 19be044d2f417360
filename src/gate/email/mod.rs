//! The e-mail gate: is this the address of that company, published by its own site?
//!
//! Seven steps, a file each: [`format`](mod@format), [`placeholder`], [`freemail`], [`domain`],
//! [`source`], [`mail`], [`identity`]. Steps 1 to 4 look nothing up.
//!
//! [`step`] holds what the steps share, [`web_url`] reads URLs exactly as written, [`site`]
//! decides whose site a page belongs to, and [`lists`] holds the data.
//!
//! The gate is the one that the built-in quest file defines, which names the steps as any quest
//! file may. `controls.json` is the recorded world of its controls.

pub mod domain;
pub mod format;
pub mod freemail;
pub mod identity;
pub mod lists;
pub mod mail;
pub mod placeholder;
pub mod site;
pub mod source;
pub mod step;
pub mod web_url;

#[cfg(test)]
mod tests;

pub use lists::list_digests;

use super::checks::FileGate;
use super::checks::outside::{GateSettings, Gathered};
use crate::quest::email;

thread_local! {
    /// Made once a thread: a gate's checks stay on the thread that made them.
    static GATE: FileGate = built_in();
}

fn built_in() -> FileGate {
    let gate = FileGate::new(email::file(), &Gathered::default(), GateSettings::default());
    gate.unwrap_or_else(|mistake| unreachable!("the built-in quest file: {mistake}"))
}

/// The e-mail gate under the operator's settings.
pub fn email_gate(settings: GateSettings) -> FileGate {
    GATE.with(|gate| gate.under(settings))
}
