//! What a screen shows, as values: nothing here touches a terminal.

mod change;
mod frame;
mod line;

pub use change::{Change, changes};
pub use frame::{Frame, Size};
pub use line::{Line, Span};
