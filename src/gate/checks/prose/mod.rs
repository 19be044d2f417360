//! Texts as their readers meet them: what of a text in Markdown is prose, and what is its frame.

mod block;
mod fence;
mod inline;
mod markup;
mod unseen;
mod words;

pub(super) use block::Block;
pub(super) use inline::{Inline, InlineKind};
pub(super) use markup::{Markup, Placed};
pub(super) use words::{Word, is_mixed, letters_of, words_of};
