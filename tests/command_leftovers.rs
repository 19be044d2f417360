//! Nothing that a command starts outlives it, however it hides.

use comail::world::sandbox::End;

use crate::harness::bench::{ALL_MEANS, Bench, benches, mark, runs, shell};
use crate::harness::poll::until;

/// A script that leaves a sleeping grandchild in a session of its own, whose parent is gone.
fn hides(mark: &str, then: &str) -> String {
    format!(
        "(setsid sh -c 'sleep {mark} & echo >there' &) ; \
         while [ ! -e there ]; do sleep 0.01; done; {then}"
    )
}

#[test]
fn a_hidden_grandchild_ends_with_a_command_that_ends_well() {
    for means in ALL_MEANS {
        let (bench, mark) = (Bench::with_means(means), mark());
        let ran = bench.shell(&hides(&mark, "exit 0"));
        assert_eq!(ran.end, End::Exited(0), "{ran:?}");
        assert!(!runs(&mark), "{means:?}");
    }
}

#[test]
fn a_hidden_grandchild_ends_with_a_command_whose_time_is_over() {
    for means in ALL_MEANS {
        let (bench, mark) = (Bench::with_means(means), mark());
        let mut order = shell(&hides(&mark, "echo there; sleep 60"));
        order.timeout_ms = 1000;
        let ran = bench.run(&order);
        assert_eq!(ran.end, End::TimedOut);
        assert!(!runs(&mark), "{means:?}");
    }
}

#[test]
fn a_hundred_children_that_ignore_signals_end() {
    for means in ALL_MEANS {
        let (bench, mark) = (Bench::with_means(means), mark());
        let script = format!(
            "trap '' TERM HUP INT; i=0; \
             while [ $i -lt 100 ]; do sleep {mark} & i=$((i+1)); done; echo all; exit 7"
        );
        let ran = bench.shell(&script);
        assert_eq!(ran.end, End::Exited(7), "{ran:?}");
        assert_eq!(ran.stdout, b"all\n");
        assert!(!runs(&mark), "{means:?}");
    }
}

#[test]
fn a_child_that_goes_on_writing_is_not_waited_for() {
    for bench in benches() {
        let ran = bench.shell("(while :; do echo more; sleep 0.01; done) & exit 0");
        assert_eq!(ran.end, End::Exited(0));
    }
}

#[test]
fn a_command_cannot_end_its_supervisor() {
    let bench = Bench::new();
    let ran = bench.shell("kill -KILL $PPID; kill -KILL 1; kill -STOP $PPID; exit 3");
    assert_eq!(ran.end, End::Exited(3), "{ran:?}");
}

#[test]
fn a_command_that_ends_its_supervisor_has_not_exited() {
    // Nothing keeps it from doing so where the kernel offers nothing.
    let bench = Bench::with_means(ALL_MEANS[3]);
    let ran = bench.shell("kill -KILL $PPID; exit 0");
    assert!(
        !matches!(ran.end, End::Exited(_) | End::NotStarted(_)),
        "{ran:?}"
    );
}

#[test]
fn all_ends_when_whoever_asked_is_killed() {
    const NAME: &str = "command_leftovers::all_ends_when_whoever_asked_is_killed";
    if let Some((bench, mark)) = Bench::of_parent() {
        let ran = bench.shell(&format!("sleep {mark}"));
        panic!("nobody killed the one that asks: {ran:?}");
    }
    for means in ALL_MEANS {
        let (bench, mark) = (Bench::with_means(means), mark());
        let mut asker = bench.again(NAME, &mark).spawn().expect("this test");
        until("the command runs", || runs(&mark));
        asker.kill().expect("a signal");
        asker.wait().expect("an end");
        until("the command has ended", || !runs(&mark));
    }
}
