//! The queue as a person goes through it, one item a screen and one key each: what shows, and
//! what a key does. Nothing here touches a terminal or a session.

mod key;
mod note;
mod source;
mod state;
mod view;

pub use key::Key;
pub use source::source_page;
pub use state::{Extent, Screen, Tally, Wish};
pub use view::{extent, view};

#[cfg(test)]
mod tests;
