//! The panel: reviewing models that are asked about what the machine passes, and that can only
//! raise doubt.
//!
//! [`SessionGate`] is the machine's gate with the panel. Each reviewer is first asked about a
//! planted defect (`canary`): the votes of one that misses it do not count. `inputs` gathers what
//! reviewers are shown, `answer` reads what they say, and `tally` counts it.

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
pub use gate::{Panel, SessionGate, Uncalibrated};
pub use members::Members;
pub use round::PanelRound;
