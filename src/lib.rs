//! comail verifies every answer of an agent, and it alone decides when the work is done.
//!
//! The map of the modules. An arrow means "uses". Nothing points back; `tests/arrows.rs` checks that.
//!
//! ```text
//! cli ─► run, hook, review, report, privacy, doctor, table
//!        run ─► report, doctor ─► run
//!        review ─► table
//!        run, hook, review, report, privacy ─► judge
//! judge ─► session, gate
//! gate ─► world
//! gate, world, session, table ─► quest
//! all ─► base
//! ```
//!
//! To follow one submission, read five functions:
//!
//! 1. [`cli`]: `submit::run` parses the answer and prints the reply.
//! 2. [`judge`]: `submit::submit` is the whole procedure, from top to bottom.
//! 3. [`gate`]: `Cascade::run` runs the checks; those of the e-mail gate are in `gate/email`.
//! 4. [`judge`]: `Submitted::attempt_under_lock` makes the attempt, under the session's lock.
//! 5. [`session`]: `Session::append_locked` writes the line of the ledger.
//!
//! `comail audit` judges the line again: `audit_ledger`, `Examiner::examine_attempt`, `judge_from`.
//!
//! * [`base`]: digests, text, the clock, regular files, child processes.
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
//! * [`doctor`]: diagnoses problems of the machine and of the session.
//! * [`cli`]: one file per subcommand, and what they share.

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
pub mod serve;
pub mod session;
pub mod table;
pub mod world;
