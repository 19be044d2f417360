//! `comail run`: an agent whose hooks hold it to its quest is let go at the last call alone.

use crate::harness::agents::Driven;

/// Wants to stop, and keeps what the hook says to that.
const ASKS: &str = "case \"$prompt\" in *'last call'*) at=last;; *) at=usual;; esac; \
     echo '{\"hook_event_name\":\"Stop\",\"stop_hook_active\":false}' | comail hook stop > $at; \
     echo \"${COMAIL_LAST_CALL-none}\" > $at.variable";

#[test]
fn at_the_last_call_the_agent_may_stop_and_before_it_may_not() {
    let driven = Driven::new(1);
    let mut command = driven.command(&["--max-attempts=1"], ASKS);
    // As where an agent at its own last call starts a run.
    command.env("COMAIL_LAST_CALL", "1");
    driven.run_ends_for("attempts", &mut command);
    let said = |name: &str| std::fs::read_to_string(driven.place.at(name)).expect("an answer");
    let usual = said("usual");
    assert!(usual.contains("\"decision\":\"block\""), "{usual}");
    let last = said("last");
    assert!(last.contains("a budget has ended"), "{last}");
    assert!(!last.contains("decision"), "{last}");
    assert_eq!(said("usual.variable"), "none\n");
    assert_eq!(said("last.variable"), "1\n");
}
