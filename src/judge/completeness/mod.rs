//! Whether a session may be called complete, and what stands against it.
//!
//! [`survey()`] looks: at the ledger, at the claims, at the working tree, and at every PASS, which is
//! judged again from its evidence. [`decide()`] is a function of what was seen; nobody's word and no
//! cache is believed.

mod claims;
mod decide;
mod final_said;
mod min_pass;
mod shortfall;
mod survey;

pub use claims::{is_live, orphaned, start_of};
pub use decide::{decide, of_damage};
pub use final_said::{FinalSaid, FinalWord, has_final, has_negative};
pub use min_pass::{BadPercent, MinPass};
pub use shortfall::{Completeness, Shortfall, ShortfallKind};
pub use survey::{Asked, FileThenAndNow, Survey, TreeSeen, survey};
