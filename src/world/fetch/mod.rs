//! Asking the world: pages by HTTP, names by DNS, politely and within bounds.

pub mod address_guard;
pub mod budget;
pub mod dns;
pub mod http;
pub mod live;
pub mod politeness;
pub mod robots;
pub mod settings;
pub mod visit;

mod backoff;
mod fetcher;
mod resolver;
mod unanswered;

pub use fetcher::{Fetched, Fetcher, Request, Response, ResponseHead};
pub use resolver::{Looked, MxHost, RecordKind, Records, Resolver};
pub use unanswered::{Silence, Unanswered};

#[cfg(test)]
pub use {fetcher::MockFetcher, resolver::MockResolver};
