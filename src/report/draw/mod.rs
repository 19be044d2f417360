//! Draws the picture of a session: its ledger is folded line by line, once.
//!
//! [`picture()`] brings together what each part makes of the lines: [`burn_down`], [`funnel`],
//! [`clock`] with [`spread`], [`workers`] and, of the quests that [`choose`] picks, [`steps`] and
//! [`row`], as far as there is [`room`]. What was forgotten is in none of it.

mod burn_down;
mod choose;
mod clip;
mod clock;
mod facts;
mod funnel;
mod reading;
mod room;
mod row;
mod spread;
mod steps;
mod thin;
mod whole;
mod workers;

#[cfg(test)]
mod bench;

pub use whole::{Asked, MOST_QUESTS, picture};
