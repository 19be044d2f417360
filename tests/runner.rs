//! The one integration binary: every file of tests is a module of it.

mod cheese_domains;
mod cheese_environment;
mod cheese_names;
mod cheese_pages;
mod cheese_session;
mod cheese_wording;
mod first_quest;
mod harness;
mod servers;
mod session_damage;
mod session_disk;
mod session_escape;
mod session_exits;
mod session_input;
mod session_kills;
mod session_pause;
mod session_races;
mod world_dns;
mod world_http;
mod world_limits;
