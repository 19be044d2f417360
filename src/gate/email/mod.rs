//! The e-mail gate: is this the address of that company, said by its own site?
//!
//! Seven steps, a file each: [`format`](mod@format), [`placeholder`], [`freemail`], [`domain`],
//! [`source`], [`mail`], [`identity`]. Steps 1 to 4 look at nothing outside.
//!
//! What steps ask of a value stands in files of its own: [`web_url`] and [`written_host`]
//! (nothing mended), [`sample`], [`disposable`], [`no_reply`] and [`person`] (what an address
//! is), [`hosted`] and [`on_site`] (whose a page is), [`anchor`] (what the operator knows),
//! [`lists`] (the data).
//!
//! The gate is the one that the built-in quest file makes, which names the steps as any quest
//! file may; `controls.json` is the world of its controls.

pub mod context;
pub mod domain;
pub mod format;
pub mod freemail;
pub mod identity;
pub mod lists;
pub mod mail;
pub mod placeholder;
pub mod quoted;
pub mod source;
pub mod web_url;

mod gate;

#[cfg(test)]
mod local_steps;
#[cfg(test)]
mod remote_steps;
pub mod site;
#[cfg(test)]
mod testing;

pub use gate::EmailGate;
