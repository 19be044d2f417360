//! Files that a command is to leave behind.

use std::fs;
use std::os::unix::fs::symlink;

use comail::world::sandbox::{CommandSpec, End};

use crate::harness::bench::{Bench, shell};

fn reporting(script: &str, reports: &[&str]) -> CommandSpec {
    let mut order = shell(script);
    order.reports = reports.iter().copied().map(str::to_owned).collect();
    order
}

#[test]
fn a_report_is_what_the_command_wrote() {
    let bench = Bench::new();
    let script = "mkdir -p out; printf new >out/report; exit 1";
    let ran = bench.run(&reporting(script, &["out/report", "other"]));
    assert_eq!(ran.end, End::Exited(1));
    assert_eq!(ran.reports["out/report"].as_deref(), Some(&b"new"[..]));
    assert_eq!(ran.reports["other"], None);
}

#[test]
fn a_report_that_was_there_before_is_none() {
    let bench = Bench::new();
    fs::write(bench.at("report"), "old").expect("a file");
    let ran = bench.run(&reporting("exit 0", &["report"]));
    assert_eq!(ran.end, End::Exited(0));
    assert_eq!(ran.reports["report"], None);
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
    for report in ["../kept", "/etc/passwd", ""] {
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
