//! The one integration binary: every file of tests is a module of it.

mod demo;
mod first_quest;
mod harness;
#[cfg(unix)]
mod readme;
mod servers;
mod world_dns;
mod world_http;
mod world_limits;
