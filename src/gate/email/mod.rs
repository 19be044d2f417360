//! The e-mail gate: is this the address of that company, said by its own site?
//!
//! Seven steps, a file each: [`format`], [`placeholder`], [`freemail`], [`domain`],
//! [`source`], [`mail`], [`identity`]. Steps 1 to 4 look at nothing outside.

pub mod context;
pub mod domain;
pub mod format;
pub mod freemail;
pub mod identity;
pub mod lists;
pub mod mail;
pub mod placeholder;
pub mod settings;
pub mod source;

#[cfg(test)]
mod canned;
mod gate;

pub use gate::EmailGate;
