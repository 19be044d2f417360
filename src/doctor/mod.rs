//! What the surroundings of a session are like, and how to mend what ails them.
//!
//! Each check looks ([`Finding`]s come later): what is seen is a value, and a pure function makes
//! of it what is told. Nothing is changed by a look but for files of its own that are gone when
//! it is over, and each ends in bounded time.

pub mod agents;
pub mod clock;
pub mod confinement;
pub mod disk;
pub mod names;
pub mod programs;
pub mod session;
pub mod terminal;
pub mod web;

mod finding;
mod within;

pub use finding::{Check, Finding, Level, is_sound};
