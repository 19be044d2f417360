//! The queue as a sheet for the office: written out, and taken back row by row.
//!
//! A row binds the session, the quest, its key, the attempt and when that was judged: what does
//! not fit all of them any more is refused, and settles nothing.

mod columns;
mod decided;
mod filled;
mod fit;
mod form;
mod row;
mod settle;

pub use columns::{Places, SHEET, WrongColumns};
pub use decided::{Decided, Decisions, Refused, Why, decisions};
pub use filled::{Filled, Filling, NotFilled};
pub use fit::{Fitting, check};
pub use form::form;
pub use row::{OfficeRow, Rows, rows};
pub use settle::{Settled, settle_rows};

#[cfg(test)]
mod tests;
