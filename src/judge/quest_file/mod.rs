//! A quest file on its way into a session, and out of it.

mod bench;
mod confinement;
mod definition;
mod fixer;
mod freeze;
mod gathering;
mod services;

pub use bench::{BenchError, bench_of};
pub(crate) use confinement::confinement;
pub use definition::{Definition, Faulty, FrozenTree};
pub use fixer::FixerPlan;
pub use freeze::{FreezeError, Freezing, Frozen};
pub use gathering::Gathering;
