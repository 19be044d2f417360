//! The ratchet and its record: what was handed out, judged and locked.
//!
//! A session is a directory, readable only by its owner, format 1:
//!
//! | file | what |
//! |---|---|
//! | `session.json` | the [`Manifest`]: what `scan` froze, written once |
//! | `source.*` | a copy of the list as scanned; `source-2.*`, … after `scan --update` |
//! | `ledger.jsonl` | one [`Event`] a line, hash-chained, append-only except for forgotten addresses; the source of truth |
//! | `index.sqlite` | the folded ledger, for queries; disposable, rebuilt from the ledger |
//! | `evidence/` | what pages said, compressed, named by content hash |
//! | `hosts/` | when each host was last asked; disposable |
//! | `hooks/` | how often an agent's stop was refused; disposable |
//! | `lock` | advisory lock, held only for appends |
//! | `database.json` | in a mirror: the session in a database that the directory follows |
//!
//! A session does not know the gate or the network. It stores their settings, judgements and evidence
//! as JSON that it does not interpret.

mod amendment;
mod chain;
mod checkup;
mod claim;
mod copy;
mod create;
mod database;
mod decision;
mod error;
mod event;
mod evidence_store;
mod fold;
mod index;
mod ledger;
mod lock;
mod manifest;
mod mirror;
mod open;
mod projection;
mod quest_record;
mod redact;
mod redaction;
mod reopening;
mod run_event;
mod sample;
mod state;
mod totals;

pub use amendment::{AddedAnchor, Amended};
pub use chain::{Line, LineError, Salt, Tip};
pub use checkup::{Checkup, IndexState, look_over};
pub use claim::{BadWorker, Claim, Claimed, Lease, Released, Worker};
pub use copy::{Copied, copy};
pub use create::{
    CarriedPass, DRAFT_PREFIX, Extension, NewSession, Stock, create, create_carrying, extend,
    nothing_to_stock, refuse_existing,
};
pub use database::{DatabaseError, DatabaseUrl, PASSWORD_VARIABLES};
pub use decision::{
    BadKey, Decided, Decision, DecisionPolicy, Dispute, OperatorKey, Seal, SettledQuest,
    Settlement, Signature, SigningKey,
};
pub use error::{Damage, IndexError, SessionError, that_makes};
pub use event::{
    Accepted, Asked, Attempt, BadIdempotencyKey, Carried, Dated, Event, EventType, Extended, Fix,
    Fixed, IdempotencyKey, Mark, Origin, Outcome, Resolution, Resumed, SourceRecord, Started,
};
pub use evidence_store::EvidenceStore;
pub use ledger::{Entry, Ledger, LedgerWatch, LineReader, Unwatched, Watch, catch_up};
pub use lock::{LockState, look_at_lock};
pub use manifest::{FORMAT, FoldConfig, Frozen, KindRecord, Manifest, WorldKind, read_manifest};
pub use mirror::{Mirror, locate, locate_new};
pub use open::{Repair, Session};
pub use projection::Projection;
pub use quest_record::{
    Blocked, DependencyState, Effective, Last, QuestRecord, Reopening, Resolved, Settled, Span,
    Waiting,
};
pub use redact::Redactor;
pub use redaction::{Forgetting, Forgotten, RedactedCopy, RedactedLine, Suppressed};
pub use reopening::{Regressed, Reopened};
pub use run_event::{
    AgentStart, Began, DrivenAttempt, DrivenQuest, LaterAgent, Reason, RunId, RunLine, RunProcess,
    RunStep, Spent,
};
pub use sample::{Check, Sample, Sampled, Seed, draw};
pub use state::{Ending, Locked, Progress, State, Tally, VerdictBasis};
pub use totals::{Counts, EffectiveTally, NotProven, SettledTimes, Totals};
