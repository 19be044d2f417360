//! The terminal of commands that show screens: held, painted, and given back on every way out.

mod held;
mod painter;
mod tty;

pub(super) use painter::{lines, painted, tinted};
pub(super) use tty::{Happened, Terminal, is_possible};
