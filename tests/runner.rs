//! The one integration binary: every file of tests is a module of it.

mod attack_dump;
mod attack_echo;
mod attack_identity;
mod attack_page;
mod attack_session;
mod attack_tools;
mod first_quest;
mod harness;
mod servers;
mod world_dns;
mod world_http;
mod world_limits;
