//! `comail run`: an agent that prints without end fills neither the disk nor the memory.

use crate::harness::agents::Driven;
use crate::harness::scale;

/// The most bytes that a log may have, with its note.
const MOST_LOG: u64 = 16 * 1024 * 1024 + 100;

/// The most memory that a run may take for it, in bytes.
const MOST_MEMORY: u64 = 400 * 1024 * 1024;

#[test]
fn the_log_of_an_agent_is_bounded_and_the_run_goes_on() {
    let megabytes = scale::pick(50, 1024);
    let driven = Driven::new(2);
    // No line has an end, and the answer comes behind all of it.
    let script = format!(
        "[ $id = 1 ] && head -c {megabytes}M /dev/zero | tr '\\0' x; \
         echo; echo '{{\"answer\":\"right\"}}'; \
         grep VmHWM /proc/$(cut -d' ' -f4 /proc/$PPID/stat)/status > memory$id"
    );
    // What is estimated by what it printed is no matter here.
    let flags = ["--answer=stdout", "--max-tokens=1000M"];
    driven.drive(&flags, &script).ok();
    assert_eq!(driven.tally("pass"), 2);
    let run = driven.steps_of("began")[0]["run"].clone();
    let folder = driven
        .place
        .at(".comail/runs")
        .join(run.as_str().expect("a name"));
    let log = |start: u32| {
        let log = folder.join(format!("{start}.log"));
        std::fs::metadata(log).expect("a log").len()
    };
    assert!(log(1) < MOST_LOG, "{}", log(1));
    assert!(log(1) > 1024 * 1024 && log(2) < 1024);
    let memory = std::fs::read_to_string(driven.place.at("memory1")).expect("a number");
    let kilobytes = memory.split_whitespace().nth(1).expect("a number");
    let memory = kilobytes.parse::<u64>().expect("a number") * 1024;
    assert!(memory < MOST_MEMORY, "{memory}");
}
