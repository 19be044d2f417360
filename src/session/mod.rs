//! The ratchet and its record: what was handed out, judged and locked.
//!
//! A session is a directory, readable by its owner alone, format 1:
//!
//! | file | what |
//! |---|---|
//! | `session.json` | the [`Manifest`]: what `scan` froze, written once |
//! | `source.*` | a copy of the list as scanned; `source-2.*`, … after `scan --update` |
//! | `ledger.jsonl` | one [`Event`] a line, hash-chained, append-only: the only truth |
//! | `evidence/` | what pages said, compressed, named by content hash |
//! | `hosts/` | when each host was last asked; disposable |
//! | `lock` | advisory lock, held for appends alone |
//!
//! The session knows no gate and no network: settings of both, judgements and evidence pass
//! through it as JSON that it does not read.

mod board;
mod chain;
mod create;
mod error;
mod event;
mod evidence_store;
mod head;
mod ledger;
mod line_reader;
mod lock;
mod manifest;
mod open;
mod state;
mod streak;

pub use board::{Board, Counts, Standing};
pub use chain::{Line, LineError, Salt};
pub use create::{NewSession, create, extend, refuse_existing};
pub use error::{Damage, SessionError};
pub use event::{Attempt, Dated, Event, EventType, Extended, Grounds, Mark, Resumed, Started};
pub use evidence_store::EvidenceStore;
pub use ledger::Healed;
pub use line_reader::LineReader;
pub use manifest::{FORMAT, Frozen, KindRecord, Manifest, SourceRecord};
pub use open::{Appended, Session};
pub use state::{Locked, Progress, State, Tally};
pub use streak::{Ending, Streak};
