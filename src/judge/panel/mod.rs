//! The panel: models that review what the machine passes, and that can only raise doubts.
//!
//! `round` has the gate of a session, whose last step is the panel, and counts votes. `reviewers`
//! gathers the inputs, asks the models, and parses their answers.

mod reviewers;
mod round;

pub use reviewers::Reviewers;
pub use round::{Calibration, PanelRound, SessionGate};
