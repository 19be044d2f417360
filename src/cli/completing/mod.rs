//! What a shell is told that completes a command line of comail.
//!
//! The script that `comail completions` prints calls the program again at each press of the key,
//! as `COMAIL_COMPLETE=SHELL comail -- WORDS…`. What is answered comes from the parser and, by
//! the index as it lies there, from the session; nothing is written, and no error is told.

mod attach;
mod bash;
mod offers;
mod quoting;
mod request;
mod shell;

pub(super) use request::answered;
pub(super) use shell::Shell;
