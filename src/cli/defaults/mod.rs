//! Defaults that a person sets in `comail.toml`, and for whom they hold.
//!
//! They stand in for flags that were not given, of a few commands of a person's ([`heeds`]).
//! `next`, `submit`, `audit` and all else that judges look at no project's file, for whoever answers
//! quests controls the directory that they are called in, and take of the user's file but which
//! session is meant: so all commands mean the same one, and say on stderr where that comes from. Since agents may write in a project too, what a
//! project's file may set ([`Author`]) lowers no bar: neither how the world is asked, nor what
//! bounds a run, nor when a session pauses, nor which session is shown, nor what stands in its
//! results. That is for the user's file alone.
//!
//! A flag counts before the environment, that before the project's file, the user's file, and what
//! is built in.

mod apply;
mod call;
mod example;
mod file;
mod key;
mod places;
mod settings;

pub(super) use apply::{Applied, InForce, Origin, in_force};
pub(super) use call::{file_of_user, here, of_call, session_of_user, variable_of};
pub(super) use example::example;
pub(super) use file::BadFile;
pub(super) use places::{Author, Found, PROJECT, State};
