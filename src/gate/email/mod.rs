//! The e-mail gate: is this the address of that company, published by its own site?
//!
//! Seven steps, a file each: [`format`](mod@format), [`placeholder`], [`freemail`], [`domain`],
//! [`source`], [`mail`], [`identity`]. Steps 1 to 4 look nothing up.
//!
//! [`context`] holds what the steps share, [`web_url`] reads URLs exactly as written, [`site`]
//! decides whose site a page belongs to, and [`lists`] holds the data.
//!
//! The gate is the one that the built-in quest file defines, which names the steps as any quest
//! file may. `controls.json` is the recorded world of its controls.

pub mod context;
pub mod domain;
pub mod format;
pub mod freemail;
pub mod identity;
pub mod lists;
pub mod mail;
pub mod placeholder;
pub mod source;
pub mod step;
pub mod web_url;

mod gate;

#[cfg(test)]
mod local_steps;
pub mod site;
#[cfg(test)]
mod testing;

pub use context::EmailSettings;
pub use gate::email_gate;
pub use lists::list_digests;
