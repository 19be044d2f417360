//! All that a gate may look at outside its input, behind three small traits.
//!
//! The live implementations are in [`fetch`]. [`evidence`] records every answer, answers from the
//! record without a network, and reads worlds that were written by hand.

pub mod browser;
pub(crate) mod client;
pub mod domain;
pub mod email_text;
pub mod evidence;
pub mod fetch;
pub mod git;
pub mod mailbox;
pub mod page;
pub mod sandbox;
pub mod tree;

mod uniqueness;

pub use fetch::{
    Fetched, Fetcher, Looked, MxHost, RecordKind, Records, Rendered, RenderedFrame, RenderedPage,
    Request, Resolver, Response, Unanswered, UnansweredKind,
};
pub use uniqueness::{EarlierDoubt, UniqueValue, UniquenessIndex};

use sandbox::Sandbox;

#[cfg(test)]
pub use fetch::{MockFetcher, MockResolver};
#[cfg(test)]
pub use uniqueness::MockUniquenessIndex;

/// What a gate is given to look at.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Pages.
    pub fetcher: &'a dyn Fetcher,
    /// DNS.
    pub resolver: &'a dyn Resolver,
    /// What this session has passed before.
    pub accepted: &'a dyn UniquenessIndex,
    /// Files of the tree, and commands over copies of it.
    pub sandbox: &'a dyn Sandbox,
}
