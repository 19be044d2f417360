//! comail verifies every answer of an agent, and it alone decides when the work is done.
//!
//! The map of the modules. An arrow means "uses"; nothing points back, and a test holds it.
//!
//! ```text
//! cli ─► run, hook, review, report, privacy, doctor, table
//!        run ─► report, doctor ─► run
//!        run, hook, review, report, privacy ─► judge
//! judge ─► session, gate
//! gate ─► world
//! gate, world, session, table ─► quest
//! all ─► base
//! ```
//!
//! * [`base`]: digests, regular files, atomic writes.
//! * [`quest`]: what one unit of work is, and the definition of a quest kind.
//! * [`world`]: what a gate may look at: pages, DNS, trees, commands, and the evidence of each.
//! * [`session`]: the ratchet and its ledger; knows no gate and no network.
//! * [`gate`]: judges a submission; sees the world through traits alone.
//! * [`judge`]: brings session, gate and world together: submit, recheck, audit, prove, carry.
//! * [`privacy`]: forgets an address.
//! * [`review`]: the person's queue, and the workbook that people fill in.
//! * [`run`]: drives an agent until the work is done or a budget ends.
//! * [`hook`]: answers an agent's own hooks: stop, tool, install.
//! * [`table`]: reads lists, writes results, patches a workbook.
//! * [`report`]: counts what the ledger says, and shows it.
//! * [`doctor`]: diagnoses problems of the surroundings.
//! * [`cli`]: one file per subcommand.

pub mod base;
pub mod cli;
pub mod doctor;
pub mod gate;
pub mod hook;
pub mod judge;
pub mod privacy;
pub mod quest;
pub mod report;
pub mod review;
pub mod run;
pub mod session;
pub mod table;
pub mod world;
