//! A quest file on its way into a session, and out of it.

mod definition;
mod freeze;

pub use definition::FixerPlan;
pub(crate) use definition::confinement;
pub use definition::{BenchError, bench_of};
pub use definition::{Definition, Faulty, FrozenTree};
pub use freeze::Gathering;
pub use freeze::{FreezeError, Freezing, Frozen};
