//! What the checks that run commands have in common: from the keys of a table to an order, and
//! from what came of it to facts.

mod argv;
mod environment;
mod facts_table;
mod keys;
mod limits;
mod plan;
mod tail;
mod tool_facts;

pub use environment::{field_variable, nobodys};
pub use facts_table::FactsTable;
pub use keys::{NetworkName, OnTimeout, RunKeys, a_minute, ten_mebibytes};
pub use plan::{OrderPlan, cut_short, names, too_much};
pub use tail::tail;
pub use tool_facts::{ToolFacts, ToolKeys, capped, with_meaning, wrong_code};
