//! The panel: reviewing models that are asked about what the machine passes, and that can only
//! raise doubt.
//!
//! `round` holds the gate of a session, whose last step is the panel. `inputs` gathers what
//! reviewers are shown, `reviewers` asks them, `answer` reads what they say, and `tally` counts it.

mod answer;
mod calibration;
pub mod frozen;
mod inputs;
mod reviewers;
mod round;

pub use calibration::Calibration;
pub use reviewers::Reviewers;
pub use round::{PanelRound, SessionGate};
