//! What shows that an agent goes round in circles, and what shows that it is alive.
//!
//! Four detectors look at the last calls of one agent process. A warning is a fact for the next
//! prompt; a stop is a reason. None of them reads a clock: an agent that takes long is not
//! stopped for it.

pub mod canonical;

mod alarm;
mod call;
mod detectors;
mod health;
mod own;
mod seen;
mod settings;
mod shell;
mod window;

pub use alarm::{Alarm, Detector, Level};
pub use call::Call;
pub use detectors::{Detectors, Observed};
pub use health::{Health, Pulse, Vitals};
pub use own::Own;
pub use settings::{BadDetector, Settings};
