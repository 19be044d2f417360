//! What earlier quests teach for the next one: facts of the ledger, few and short.
//!
//! Nobody's opinion and no model's summary is in it: the last submission that passed, and the
//! rules that cost most tries with what flipped them. All of it is data from outside, so it is
//! quoted, on one line each, and bounded.

mod choice;
mod earlier;
mod flip;
mod learned;
mod quote;

pub use choice::{Bound, Lesson, Lessons};
pub use earlier::{Earlier, inherited};
pub use flip::{Change, Flip};
pub use learned::{Accepted, Learned, RuleCost};
