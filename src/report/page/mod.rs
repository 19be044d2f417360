//! The page about a session: one HTML file that a person can read anywhere, and a function of its
//! [`Picture`](super::picture::Picture) alone.
//!
//! The file asks the network for nothing and runs without a script: what is in `page.js` sorts,
//! filters and searches a table that is whole without it. Its content security policy allows that
//! one script and that one style sheet, by their hashes, and nothing else. So no element has a
//! `style` of its own: geometry stands in attributes of SVG, colours in classes.
//!
//! Text from outside reaches the page through the formatter of the templates alone, which shows
//! what is unseen and escapes what is markup; nothing that was said by others becomes a link.

mod chart;
mod effort;
mod head;
mod policy;
mod row;
mod templates;
mod words;
mod write;

#[cfg(test)]
mod tests;

pub use write::{PageError, html, write};
