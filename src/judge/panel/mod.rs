//! The panel: reviewers who are asked about what passes, and who may only raise doubt.
//!
//! [`ReviewedGate`] is a gate around another. What a reviewer is shown is put together in
//! `inputs` and `prompt`; what it answers is read by `answer`, held against what it saw by
//! `quotation`, and weighed with the others' by `weigh`. Each reviewer is first asked about a
//! defect that is known (`plant`); who does not find it is not heard. How well they do with defects
//! that are known is told by [`Calibration`].

mod answer;
mod calibration;
mod canary;
pub mod frozen;
mod gate;
mod inputs;
mod members;
mod recorder;
mod round;
mod tally;

pub use calibration::{Calibration, Labelled, Said, Score, Scored, Share, Tried};
pub use gate::{Heard, ReviewedGate, Untried};
pub use members::Members;
