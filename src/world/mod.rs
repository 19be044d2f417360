//! All that a gate may look at outside its input, behind three small traits.
//!
//! The live implementations ([`http`], [`dns`]) stand at the edge; [`record`] keeps every
//! answer as [`evidence`], and [`replay`] answers from it without a network. [`recorded`] is a
//! world written by hand.

pub mod address_guard;
pub mod budget;
pub mod dns;
pub mod domain;
pub mod evidence;
pub mod http;
pub mod live;
pub mod lookalike;
pub mod mailbox;
pub mod page;
pub mod politeness;
pub mod prune;
pub mod record;
pub mod recorded;
pub mod replay;
pub mod robots;
pub mod settings;
pub mod tree;
pub mod visit;
pub mod workshop;

mod accepted;
mod backoff;
mod fetcher;
mod resolver;
mod told;
mod unanswered;

pub use accepted::{Accepted, EarlierDoubt, Taken};
pub use fetcher::{Fetched, Fetcher, Request, Response, ResponseHead};
pub use resolver::{Looked, MxHost, RecordKind, Records, Resolver};
pub use unanswered::{Silence, Unanswered};

use self::workshop::Workshop;

#[cfg(test)]
pub use {accepted::MockAccepted, fetcher::MockFetcher, resolver::MockResolver};

/// What a gate is given to look at.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Pages.
    pub fetcher: &'a dyn Fetcher,
    /// DNS.
    pub resolver: &'a dyn Resolver,
    /// What this session has passed before.
    pub accepted: &'a dyn Accepted,
    /// Files of the tree, and commands over copies of it.
    pub workshop: &'a dyn Workshop,
}
