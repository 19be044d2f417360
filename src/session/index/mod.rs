//! `index.sqlite`: a projection of the ledger, so that no command need read it whole.
//!
//! Disposable: whoever deletes it gets it back from the ledger. Format 6, an `SQLite` database
//! whose `application_id` and `user_version` say so, with these tables:
//!
//! | table | what |
//! |---|---|
//! | `checkpoint` | one row: the session, the ledger's length and head at which the index is true, and what it adds up to, as JSON |
//! | `quest` | where each quest stands, and where its lines lie in the ledger |
//! | `submission` | what was submitted for each quest, by digest |
//! | `mark`, `bucket` | what PASSes have taken, such as addresses, and what that adds up to |
//! | `claim` | who holds which quest |
//!
//! Rows carry a seal, a digest of what they say. A quest's covers the seal of its claim, and its
//! number of attempts tells how many submissions it has: so a row that is gone is missed where it
//! is asked for, and so is a mark, by the sum of its bucket. Seals keep a slip
//! of somebody's hand from being taken for the truth, and a row of another session from being
//! taken for one of this; they are no protection against somebody who computes them.

mod build;
mod query;
mod rows;
mod schema;
#[cfg(test)]
mod tests;

pub(super) use build::{Batches, NobodyListens, Read};
pub(super) use build::{Index, Plan, RecordError};
pub use query::{Prefix, ReadOnlyIndex, Sought};
pub(super) use schema::Checkpoint;
pub(super) use schema::IndexError;
