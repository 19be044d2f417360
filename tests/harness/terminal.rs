//! A terminal that a program makes itself, as an agent can.

use std::process::Command;

use super::{Place, Run};

/// Runs the program with these arguments at a terminal at which `typed` is typed.
pub fn at_terminal(place: &Place, args: &[&str], typed: &str) -> Run {
    let program = std::iter::once(env!("CARGO_BIN_EXE_comail"));
    let line: Vec<String> = program
        .chain(args.iter().copied())
        .map(|arg| format!("'{arg}'"))
        .collect();
    // At the end of its input `script` waits for seconds: this pipe has none.
    let script = "pipe=$(mktemp -u) && mkfifo \"$pipe\" && exec 3<>\"$pipe\" && rm \"$pipe\" && \
                  printf '%s\\n' \"$TYPED\" >&3 && exec timeout --foreground 60 \
                  script --quiet --return --command \"$LINE\" /dev/null <&3 3<&-";
    let mut shell = Command::new("sh");
    let shell = shell
        .args(["-c", script])
        .env("LINE", line.join(" "))
        .env("TYPED", typed)
        .current_dir(place.path());
    Run::of(shell)
}
