//! The one integration binary: every file of tests is a module of it.

mod cheese_domains;
mod cheese_environment;
mod cheese_names;
mod cheese_pages;
mod cheese_wording;
mod first_quest;
mod harness;
mod servers;
mod world_dns;
mod world_http;
mod world_limits;
