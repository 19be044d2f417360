//! The ratchet and its record: what was handed out, judged and locked.
//!
//! A session is a directory, readable by its owner alone, format 1:
//!
//! | file | what |
//! |---|---|
//! | `session.json` | the [`Manifest`]: what `scan` froze, written once |
//! | `source.*` | a copy of the list as scanned; `source-2.*`, … after `scan --update` |
//! | `ledger.jsonl` | one [`Event`] a line, hash-chained, append-only but for what a person had forgotten: the only truth |
//! | `index.sqlite` | what the ledger adds up to, for asking; disposable, made anew from the ledger |
//! | `evidence/` | what pages said, compressed, named by content hash |
//! | `hosts/` | when each host was last asked; disposable |
//! | `hooks/` | how often an agent's stop was refused; disposable |
//! | `lock` | advisory lock, held for appends alone |
//!
//! The session knows no gate and no network: settings of both, judgements and evidence pass
//! through it as JSON that it does not read.

mod archive;
mod asked;
mod attempt;
mod board;
mod chain;
mod checkup;
mod claim;
mod create;
mod effective;
mod error;
mod event;
mod evidence_store;
mod fold;
mod forgotten;
mod freshen;
mod head;
mod index;
mod ledger;
mod ledger_draft;
mod line_reader;
mod lock;
mod log;
mod manifest;
mod mended;
mod open;
mod operator_key;
mod progress;
mod read_manifest;
mod reason;
mod redact;
mod resolution;
mod run_line;
mod settled_times;
mod settlement;
mod standing;
mod state;
mod store;
mod store_of_dir;
mod streak;
mod terms;
mod tide;
mod told;
mod totals;
mod waiting;

pub use archive::Archive;
pub use asked::Asked;
pub use attempt::{Attempt, Grounds, Mark};
pub use board::Board;
pub use chain::{Line, LineError, Salt, Tip};
pub use checkup::{Checkup, IndexState, LockState, look_at_lock, look_over};
pub use claim::{BadWorker, Claim, Claimed, Lease, Released, Worker};
pub use create::{
    Brought, DRAFT_PREFIX, NewSession, Stock, create, create_carrying, extend, nothing_to_stock,
    refuse_existing,
};
pub use effective::Effective;
pub use error::{Damage, SessionError, that_makes};
pub use event::{Dated, Event, EventType, Extended, Resumed, Started};
pub use evidence_store::EvidenceStore;
pub use forgotten::{Forgetting, Forgotten, RedactedCopy, RedactedLine, Suppressed};
pub use index::{Glance, Prefix, Sought};
pub use line_reader::LineReader;
pub use log::{Entry, Log};
pub use manifest::{FORMAT, Frozen, KindRecord, Manifest, SourceRecord};
pub use mended::Mended;
pub use open::{Appended, Session};
pub use operator_key::{BadKey, OperatorKey, Signature, SigningKey};
pub use progress::{Unwatched, Watch};
pub use read_manifest::read_manifest;
pub use reason::Reason;
pub use redact::Blotter;
pub use resolution::{Carried, Origin, Outcome, Resolution};
pub use run_line::{Began, DrivenAttempt, DrivenQuest, RunId, RunLine, RunProcess, RunStep, Spent};
pub use settled_times::SettledTimes;
pub use settlement::{Court, Decided, Decision, Dispute, Seal, SettledQuest, Settlement};
pub use standing::{Last, Resolved, Settled, Span, Standing, Way};
pub use state::{Locked, Progress, State, Tally};
pub use store::Store;
pub use streak::{Ending, Streak};
pub use terms::Terms;
pub use tide::Tide;
pub use totals::{Counts, EffectiveTally, Totals};
pub use waiting::{Blocked, Waiting};
