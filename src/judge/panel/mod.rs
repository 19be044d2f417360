//! The panel: reviewing models that are asked about what the machine passes, and that can only
//! raise doubt.
//!
//! `round` holds the gate of a session, whose last step is the panel, and counts what reviewers say.
//! `reviewers` gathers what they are shown, asks them, and reads what they answer.

mod reviewers;
mod round;

pub use reviewers::Reviewers;
pub use round::{Calibration, PanelRound, SessionGate};
