//! How a command ends: exit codes, signals, its time, its output, its reports, and what never starts.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use comail::world::sandbox::{CommandSpec, End};

use crate::harness::bench::{Bench, benches, order, shell, stdout};

#[test]
fn the_end_of_a_command_is_its_exit_code_or_its_signal() {
    for bench in benches() {
        for (script, end) in [
            ("exit 0", End::Exited(0)),
            ("exit 1", End::Exited(1)),
            ("exit 255", End::Exited(255)),
            ("kill -SEGV $$", End::Signalled(11)),
            ("kill -KILL $$", End::Signalled(9)),
        ] {
            assert_eq!(bench.shell(script).end, end, "{script}");
        }
        let real_time = bench.shell("kill -40 $$").end;
        assert!(matches!(real_time, End::Signalled(_)), "{real_time:?}");
    }
}

#[test]
fn what_traps_or_ignores_the_signal_or_stops_itself_has_still_run_out_of_time() {
    for bench in benches() {
        let traps = "trap 'exit 0' TERM; echo on; while :; do sleep 0.01; done";
        let ignores = "trap '' TERM INT HUP; while :; do sleep 60; done";
        for (script, written) in [(traps, "on\n"), (ignores, ""), ("kill -STOP $$", "")] {
            let mut order = shell(script);
            order.timeout_ms = 300;
            let ran = bench.run(&order);
            assert_eq!(
                (&ran.end, &*stdout(&ran)),
                (&End::TimedOut, written),
                "{script}"
            );
        }
    }
}

#[test]
fn two_gigabytes_of_output_are_neither_kept_nor_waited_for() {
    for bench in benches() {
        let mut order = shell("head -c 2000000000 /dev/zero; echo done >finished");
        order.output_bytes = 100_000;
        let ran = bench.run(&order);
        assert_eq!(ran.end, End::TooMuchOutput);
        assert_eq!(ran.stdout.len(), 100_000);
        assert!(!bench.at("finished").exists());
    }
}

#[test]
fn the_two_streams_share_what_may_be_written() {
    let bench = Bench::new();
    let mut order = shell("printf aaaa; printf bbbb >&2");
    order.output_bytes = 8;
    let ran = bench.run(&order);
    assert_eq!(ran.end, End::Exited(0));
    assert_eq!(
        (ran.stdout, ran.stderr),
        (b"aaaa".to_vec(), b"bbbb".to_vec())
    );
    order.output_bytes = 7;
    let ran = bench.run(&order);
    assert_eq!(ran.end, End::TooMuchOutput);
    assert_eq!(ran.stdout.len() + ran.stderr.len(), 7);
}

#[test]
fn what_cannot_be_run_is_not_started() {
    for bench in benches() {
        fs::write(bench.at("text"), "no program").expect("a file");
        let text = bench.at("text");
        let text = text.to_str().expect("a path in UTF-8");
        for argv in [
            &[text][..],
            &["/no/such/program"],
            &["sh"],
            &["./text"],
            &[],
        ] {
            let ran = bench.run(&order(argv));
            assert!(matches!(ran.end, End::NotStarted(_)), "{argv:?}: {ran:?}");
            assert!(!ran.end.is_success());
        }
    }
}

#[test]
fn a_command_runs_in_its_directory_and_no_other() {
    let bench = Bench::new();
    fs::create_dir(bench.at("sub")).expect("a directory");
    symlink("/etc", bench.at("link")).expect("a link");
    let mut order = shell("echo here >mark; pwd -P");
    order.dir = "sub".to_owned();
    let seen = stdout(&bench.run(&order));
    assert!(seen.ends_with("/sub\n"), "{seen}");
    assert!(bench.at("sub/mark").exists());
    for dir in ["..", "/", "sub/../..", "link", "missing"] {
        dir.clone_into(&mut order.dir);
        let ran = bench.run(&order);
        assert!(matches!(ran.end, End::NotStarted(_)), "{dir}: {ran:?}");
    }
}

#[test]
fn the_environment_is_the_orders() {
    for bench in benches() {
        let mut order = order(&["/usr/bin/env"]);
        order.env = BTreeMap::from([
            ("A".to_owned(), "1\n2".to_owned()),
            ("TMPDIR".to_owned(), "/x".to_owned()),
        ]);
        // The test's own environment has more than that.
        assert!(std::env::vars_os().count() > 2);
        assert_eq!(stdout(&bench.run(&order)), "A=1\n2\nTMPDIR=/x\n");
        order.env.clear();
        let only = stdout(&bench.run(&order));
        assert!(only.starts_with("TMPDIR="), "{only}");
        assert_eq!(only.lines().count(), 1, "{only}");
    }
}

#[test]
fn standard_input_is_the_orders_or_nothing() {
    for bench in benches() {
        let long = "0123456789".repeat(100_000);
        let mut reading = order(&["/usr/bin/wc", "-c"]);
        assert_eq!(stdout(&bench.run(&reading)), "0\n");
        reading.stdin = long;
        assert_eq!(stdout(&bench.run(&reading)), "1000000\n");
        // Who does not read is not waited for.
        reading.argv = vec!["/bin/true".to_owned()];
        assert_eq!(bench.run(&reading).end, End::Exited(0));
    }
}

#[test]
fn nothing_else_is_open() {
    const NAME: &str = "command_ends::nothing_else_is_open";
    if let Some((bench, _)) = Bench::of_parent() {
        assert!(std::path::Path::new("/proc/self/fd/9").exists());
        let ran = bench.shell("for fd in /proc/self/fd/*; do echo ${fd##*/}; done");
        std::fs::write(bench.at("open"), ran.stdout).expect("a file");
        return;
    }
    for bench in benches() {
        // Whoever starts the program may have left files open for it.
        let mut again = std::process::Command::new("/bin/sh");
        again.args(["-c", "exec \"$@\" 9</dev/null", "sh"]);
        let this = bench.again(NAME, "");
        again.arg(this.get_program()).args(this.get_args());
        for (name, value) in this.get_envs() {
            again.env(name, value.expect("a value"));
        }
        let status = again.stdout(Stdio::null()).status().expect("this test");
        assert!(status.success());
        // The shell lists what it has; the listing itself opens one more.
        let open = fs::read_to_string(bench.at("open")).expect("a list");
        assert!(open.starts_with("0\n1\n2\n"), "{open}");
        let others = open.lines().filter(|fd| !["0", "1", "2"].contains(fd));
        assert!(others.count() <= 2, "{open}");
        assert!(!open.lines().any(|fd| fd == "9"), "{open}");
    }
}

fn reporting(script: &str, reports: &[&str]) -> CommandSpec {
    let mut order = shell(script);
    order.reports = reports.iter().copied().map(str::to_owned).collect();
    order
}

#[test]
fn a_report_is_what_the_command_wrote_and_nothing_that_was_there_before() {
    let bench = Bench::new();
    fs::write(bench.at("old"), "old").expect("a file");
    let script = "mkdir -p out; printf new >out/report; exit 1";
    let ran = bench.run(&reporting(script, &["out/report", "other", "old"]));
    assert_eq!(ran.end, End::Exited(1));
    assert_eq!(ran.reports["out/report"].as_deref(), Some(&b"new"[..]));
    assert_eq!((&ran.reports["other"], &ran.reports["old"]), (&None, &None));
}

#[test]
fn a_report_is_not_read_through_a_link() {
    let bench = Bench::new();
    let script = "ln -s /etc/passwd report; ln -s /etc dir; mkdir pipe; mkfifo pipe/report";
    let reports = ["report", "dir/passwd", "pipe/report", "pipe"];
    let ran = bench.run(&reporting(script, &reports));
    assert_eq!(ran.end, End::Exited(0));
    assert!(ran.reports.values().all(Option::is_none), "{ran:?}");
    assert_eq!(ran.reports.len(), 4);
}

#[test]
fn what_a_link_leads_to_is_not_removed() {
    let bench = Bench::new();
    fs::create_dir(bench.outside("dir")).expect("a directory");
    fs::write(bench.outside("dir/kept"), "kept").expect("a file");
    symlink(bench.outside("dir"), bench.at("dir")).expect("a link");
    let ran = bench.run(&reporting("exit 0", &["dir/kept"]));
    assert_eq!(ran.reports["dir/kept"], None);
    assert!(bench.outside("dir/kept").exists());
}

#[test]
fn a_report_outside_the_scratch_copy_is_refused() {
    let bench = Bench::new();
    fs::write(bench.outside("kept"), "kept").expect("a file");
    for report in ["../kept", "a/../../kept", "/etc/passwd", ""] {
        let ran = bench.run(&reporting("exit 0", &[report]));
        assert!(matches!(ran.end, End::NotStarted(_)), "{ran:?}");
        assert_eq!(ran.reports[report], None);
    }
    assert!(bench.outside("kept").exists());
}

#[test]
fn what_is_left_after_the_time_is_read_too() {
    let bench = Bench::new();
    let mut order = reporting("printf half >report; sleep 60", &["report"]);
    order.timeout_ms = 500;
    let ran = bench.run(&order);
    assert_eq!(ran.end, End::TimedOut);
    assert_eq!(ran.reports["report"].as_deref(), Some(&b"half"[..]));
}
