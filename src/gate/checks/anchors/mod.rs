//! What of a text has to survive when it is said anew: numbers, dates, names and terms.

mod dates;
mod digits;
mod glossary;
mod names;
mod numbers;
mod readings;

pub(super) use glossary::{Glossary, has_ending, says};
pub(super) use names::names_of;
pub(super) use numbers::Numbers;
