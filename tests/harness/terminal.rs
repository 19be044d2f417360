//! A terminal that a program makes itself, as anybody can.

use std::process::Command;

use super::{Place, Run};

/// Runs the program with these arguments at a terminal at which `typed` is typed.
pub fn at_terminal(place: &Place, args: &[&str], typed: &str) -> Run {
    let program = std::iter::once(env!("CARGO_BIN_EXE_comail"));
    let line: Vec<String> = program
        .chain(args.iter().copied())
        .map(|arg| format!("'{arg}'"))
        .collect();
    let script = "printf '%s\\n' \"$TYPED\" | \
                  script --quiet --return --command \"$LINE\" /dev/null";
    let mut shell = Command::new("sh");
    let shell = shell
        .args(["-c", script])
        .env("LINE", line.join(" "))
        .env("TYPED", typed)
        .current_dir(place.path());
    Run::of(shell)
}
