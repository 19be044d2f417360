//! The e-mail gate itself: the one that the built-in quest file makes.

use super::context::EmailSettings;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::quest::email;

thread_local! {
    /// Made once a thread: a gate's checks stay on the thread that made them.
    static GATE: FileGate = built_in();
}

fn built_in() -> FileGate {
    let gate = FileGate::new(
        email::file(),
        &Gathered::default(),
        EmailSettings::default(),
    );
    gate.unwrap_or_else(|mistake| unreachable!("the built-in quest file: {mistake}"))
}

/// The e-mail gate under the operator's settings.
pub fn email_gate(settings: EmailSettings) -> FileGate {
    GATE.with(|gate| gate.under(settings))
}
