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

mod chain;
mod claim;
mod create;
mod decision;
mod error;
mod event;
mod evidence_store;
mod fold;
mod head;
mod index;
mod ledger;
mod lock;
mod manifest;
mod open;
mod projection;
mod quest_record;
mod reader;
mod redaction;
mod run_event;
mod state;
mod store;
mod sync;
mod totals;

pub use chain::{Line, LineError, Salt, Tip};
pub use claim::{BadWorker, Claim, Claimed, Lease, Released, Worker};
pub use create::{
    CarriedPass, DRAFT_PREFIX, NewSession, Stock, create, create_carrying, extend,
    nothing_to_stock, refuse_existing,
};
pub use decision::{BadKey, OperatorKey, Signature, SigningKey};
pub use decision::{Decided, Decision, DecisionPolicy, Dispute, Seal, SettledQuest, Settlement};
pub use error::{Damage, SessionError, that_makes};
pub use event::Asked;
pub use event::{Attempt, Mark, VerdictBasis};
pub use event::{Carried, Origin, Outcome, Resolution};
pub use event::{Dated, Event, EventType, Extended, Resumed, Started};
pub use evidence_store::EvidenceStore;
pub use index::{Prefix, ReadOnlyIndex, Sought};
pub use ledger::LedgerWatch;
pub use lock::{Checkup, IndexState, LockState, look_at_lock, look_over};
pub use manifest::FoldConfig;
pub use manifest::read_manifest;
pub use manifest::{FORMAT, Frozen, KindRecord, Manifest, SourceRecord};
pub use open::{Appended, Session};
pub use projection::Archive;
pub use projection::Projection;
pub use quest_record::{Blocked, Waiting};
pub use quest_record::{DependencyState, Last, QuestRecord, Resolved, Settled, Span};
pub use reader::LineReader;
pub use reader::{Entry, Log};
pub use redaction::Redactor;
pub use redaction::{Forgetting, Forgotten, RedactedCopy, RedactedLine, Suppressed};
pub use run_event::Reason;
pub use run_event::{
    Began, DrivenAttempt, DrivenQuest, RunId, RunLine, RunProcess, RunStep, Spent,
};
pub use state::{Ending, Streak};
pub use state::{Locked, Progress, State, Tally};
pub use sync::Repair;
pub use sync::{Unwatched, Watch};
pub use totals::Effective;
pub use totals::SettledTimes;
pub use totals::{Counts, EffectiveTally, Totals};
