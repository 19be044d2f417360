//! Fetches pages by HTTP and looks up names in DNS, politely and within limits.

pub mod address_guard;
pub mod budget;
pub mod dns;
pub mod http;
pub mod live;
mod log;
mod lookup;
pub mod politeness;
pub mod robots;
mod route;
pub mod settings;
pub mod visit;

pub use lookup::{Fetched, Fetcher, Rendered, RenderedFrame, RenderedPage, Request, Response};
pub use lookup::{Looked, MxHost, RecordKind, Records, Resolver};
pub use lookup::{Unanswered, UnansweredKind};

#[cfg(test)]
pub use lookup::{MockFetcher, MockResolver};
