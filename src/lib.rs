//! comail takes the decision "done" away from the agent and gives it to a machine.
//!
//! The map of the modules; arrows point down and inwards:
//!
//! ```text
//! cli ─► drive ─► session ─► quest
//!          │  └─► gate ─► world
//!          └─► table, review, report
//! ```
//!
//! * [`quest`]: what one unit of work is; knows nothing but itself.
//! * [`session`]: the ratchet and its ledger; knows no gate and no network.
//! * [`gate`]: judges a submission; sees the world through traits alone.
//! * [`world`]: pages, DNS and what was recorded of them.
//! * [`table`]: reads lists and writes results.
//! * [`drive`]: brings session, gate and world together for one turn.
//! * [`review`]: what no machine decides: reviewers' doubts, and what a person settles.
//! * [`report`]: counts what the ledger says.
//! * [`regular`]: files that are files, for whoever reads them.
//! * [`doctor`]: what the surroundings are like, and how to mend them.
//! * [`cli`]: one file per subcommand.

pub mod cli;
pub mod doctor;
pub mod drive;
pub mod gate;
pub mod quest;
pub mod regular;
pub mod report;
pub mod review;
pub mod session;
pub mod table;
pub mod world;
