//! Text from outside, made safe for a terminal, as it is and within JSON.

pub use crate::quest::plain::{Plain, PlainLines, json};
