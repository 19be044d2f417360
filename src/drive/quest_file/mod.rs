//! A quest file on its way into a session, and out of it.

mod definition;
mod gathering;

pub use definition::{Definition, Faulty, FrozenTree};
pub use gathering::Gathering;
