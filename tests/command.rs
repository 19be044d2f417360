//! Commands of quest files: what they may write, see and reach, how they end, and which variables
//! they are given.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use comail::world::sandbox::{
    CommandResult, CommandSpec, End, Launcher, LiveSandbox, Means, Namespace, Network, Pinned,
    Sandbox, SandboxConfig, free_port,
};

use crate::harness::bench::{ALL_MEANS, Bench, benches, mark, order, runs, shell, stdout};
use crate::harness::poll::until;

const LANDLOCK_ALONE: Means = ALL_MEANS[2];

#[test]
fn nothing_outside_the_scratch_copy_is_written() {
    for means in [Means::ALL, LANDLOCK_ALONE] {
        let mut bench = Bench::with_means(means);
        bench.launcher.readable = vec![bench.outside("")];
        let kept = bench.outside("kept");
        fs::write(&kept, "as it was").expect("a file");
        let script = format!(
            "out={}
            echo inside >inside
            echo new >$out/new && echo wrote a file
            mkdir $out/dir && echo made a directory
            echo changed >$out/kept && echo changed a file
            rm -f $out/kept && echo removed a file
            mv inside $out/moved && echo moved a file
            ln $out/kept linked && echo linked a file
            ln -s $out out; echo new >out/new && echo wrote by a link
            ln -s $out/kept there; echo changed >there && echo changed by a link
            mknod device b 7 0 && echo made a device
            echo temporary >$TMPDIR/file && cat $TMPDIR/file
            true",
            bench.outside("").display()
        );
        let ran = bench.shell(&script);
        assert_eq!(ran.end, End::Exited(0));
        assert_eq!(stdout(&ran), "temporary\n", "{means:?}");
        assert!(ran.confinement.landlock.is_some(), "{means:?}");
        assert_eq!(fs::read_to_string(&kept).expect("a file"), "as it was");
        assert_eq!(
            fs::read_to_string(bench.at("inside")).expect("a file"),
            "inside\n"
        );
        assert!(!bench.outside("new").exists());
    }
}

#[test]
fn a_limit_that_we_were_started_with_is_no_commands() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    let (_, hard) = getrlimit(Resource::RLIMIT_CPU).expect("a limit");
    setrlimit(Resource::RLIMIT_CPU, 3_599.min(hard), hard).expect("less");
    let ran = Bench::new().shell("ulimit -S -t; ulimit -H -t");
    let printed = stdout(&ran);
    let (soft, hard) = printed.split_once('\n').expect("two lines");
    assert_eq!(soft, hard.trim_end());
}

#[test]
fn what_is_known_of_other_files_stays_too() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    let mut bench = Bench::new();
    bench.launcher.readable = vec![bench.outside("")];
    let kept = bench.outside("kept");
    fs::write(&kept, "as it was").expect("a file");
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o600)).expect("its owner");
    let before = fs::metadata(&kept).expect("a file");
    let path = kept.display();
    let script = format!(
        "chmod 4777 {path} && echo its mode
        touch -d 1970-01-02 {path} && echo its time
        mount -o remount,rw,bind / && echo mounted
        touch own && chmod 700 own && touch -d 1970-01-02 own && echo own
        true"
    );
    let ran = bench.shell(&script);
    assert!(ran.confinement.read_only, "{ran:?}");
    assert_eq!(stdout(&ran), "own\n");
    let after = fs::metadata(&kept).expect("a file");
    assert_eq!(
        (after.mode(), after.mtime()),
        (before.mode(), before.mtime())
    );
}

#[test]
fn what_the_order_names_may_be_written() {
    let bench = Bench::new();
    fs::create_dir(bench.outside("cache")).expect("a directory");
    let cache = bench.outside("cache");
    let mut order = shell(&format!("echo new >{}/new", cache.display()));
    assert_ne!(bench.run(&order).end, End::Exited(0));
    order.writable = vec![
        cache.to_str().expect("UTF-8").to_owned(),
        "/no/such".to_owned(),
    ];
    assert_eq!(bench.run(&order).end, End::Exited(0));
    assert_eq!(
        fs::read_to_string(cache.join("new")).expect("a file"),
        "new\n"
    );
    order.writable = vec!["cache".to_owned()];
    assert!(matches!(bench.run(&order).end, End::NotStarted(_)));
}

#[test]
fn temporary_files_are_not_in_the_tree_and_do_not_stay() {
    let bench = Bench::new();
    let ran = bench.shell("echo x >$TMPDIR/x; ls -A; echo $TMPDIR");
    let printed = stdout(&ran);
    assert_eq!(printed.lines().count(), 1, "{printed}");
    assert!(!fs::exists(printed.trim_end()).expect("a parent"));
}

#[test]
fn a_file_does_not_fill_the_disk() {
    let bench = Bench::new();
    // Nothing is written on the way there.
    let ran = bench.shell("dd if=/dev/zero of=big bs=1 count=1 seek=2000000000");
    assert!(!ran.end.is_success(), "{ran:?}");
    let length = fs::metadata(bench.at("big")).map_or(0, |meta| meta.len());
    assert!(length <= 1 << 30, "{length}");
}

#[test]
fn other_processes_are_neither_seen_nor_signalled() {
    let mark = mark();
    let mut other = std::process::Command::new("sleep")
        .arg(&mark)
        .spawn()
        .expect("a process");
    let (all, alone) = (Bench::new(), Bench::with_means(LANDLOCK_ALONE));
    let signals = format!("kill -KILL {} 2>/dev/null || echo refused", other.id());
    let ran = all.shell(&signals);
    assert_eq!(stdout(&ran), "refused\n");
    assert!(ran.confinement.namespaces.contains(&Namespace::Pid));
    let ran = alone.shell(&signals);
    if ran.confinement.landlock.is_some_and(|abi| abi >= 6) {
        assert_eq!(stdout(&ran), "refused\n");
        let still = other.try_wait().expect("a process");
        assert!(still.is_none(), "{still:?}");
    }
    other.kill().expect("a signal");
    other.wait().expect("an end");
}

#[test]
fn hidden_directories_look_empty() {
    let mut bench = Bench::new();
    fs::create_dir(bench.outside("hidden")).expect("a directory");
    fs::write(bench.outside("hidden/secret"), "secret").expect("a file");
    let hidden = [bench.outside("hidden"), bench.outside("")];
    bench.launcher.hidden = hidden.to_vec();
    let ran = bench.shell("echo here >here; cat here; cat ../hidden/secret; ls -A ../hidden");
    assert_eq!(stdout(&ran), "here\n");
    assert!(ran.confinement.namespaces.contains(&Namespace::Mount));
    assert_eq!(
        fs::read_to_string(bench.outside("hidden/secret")).expect("a file"),
        "secret"
    );
}

/// Writes each of these files outside the scratch copy, with its name as its content.
fn write_all(bench: &Bench, names: &[&str]) {
    for name in names {
        let path = bench.outside(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, format!("{name}\n")).expect("a file");
    }
}

#[test]
fn a_command_reads_its_programs_and_nothing_else_of_the_user() {
    const KEPT: [&str; 5] = [
        "home/.ssh/id",
        "home/notes",
        "home/.cargo/credentials.toml",
        "other/start/spool/call",
        "config/key",
    ];
    const GRANTED: [&str; 4] = [
        "home/.cargo/config.toml",
        "home/venv/bin/python",
        "given/data",
        "tools/lib/module",
    ];
    let all = [&KEPT[..], &GRANTED].concat();
    let read = |means| {
        let mut bench = Bench::with_means(means);
        write_all(&bench, &all);
        fs::create_dir(bench.outside("tools/bin")).expect("a folder");
        bench.launcher.home = Some(bench.outside("home"));
        bench.launcher.hidden = vec![bench.outside("config")];
        bench.launcher.readable = vec![bench.outside("given"), bench.outside("config/key")];
        let files = all.iter().map(|name| bench.outside(name));
        let files: Vec<_> = files.map(|path| path.display().to_string()).collect();
        let mut order = shell(&format!("cat {} 2> /dev/null; true", files.join(" ")));
        let bins = [bench.outside("tools/bin"), bench.outside("home/venv/bin")];
        let path = format!("{}:{}:/usr/bin:/bin", bins[0].display(), bins[1].display());
        order.env.insert("PATH".to_owned(), path);
        let ran = bench.run(&order);
        assert_eq!(ran.end, End::Exited(0), "{ran:?}");
        stdout(&ran)
    };
    let granted = GRANTED.map(|name| format!("{name}\n")).concat();
    for means in &ALL_MEANS[..3] {
        assert_eq!(read(*means), granted, "{means:?}");
    }
    // Where the kernel has neither, nothing keeps the files of the user.
    let all = all.iter().map(|name| format!("{name}\n"));
    assert_eq!(read(ALL_MEANS[3]), all.collect::<String>());
}

#[test]
fn no_program_is_found_where_an_agent_may_write() {
    use std::os::unix::fs::PermissionsExt as _;

    let found = |untrusted: &[&str]| {
        let mut bench = Bench::new();
        for dir in ["tree", "tools"] {
            fs::create_dir_all(bench.outside(dir).join("bin")).expect("a folder");
            let program = bench.outside(dir).join("bin/checkit");
            fs::write(&program, format!("#!/bin/sh\necho {dir}\n")).expect("a program");
            fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("its owner");
        }
        bench.launcher.untrusted = untrusted.iter().map(|name| bench.outside(name)).collect();
        let mut order = shell("checkit");
        let dirs = ["tree/bin", "tools/bin"].map(|name| bench.outside(name));
        let path = format!("{}:{}:/bin", dirs[0].display(), dirs[1].display());
        order.env.insert("PATH".to_owned(), path);
        stdout(&bench.run(&order))
    };
    assert_eq!(found(&[]), "tree\n");
    assert_eq!(found(&["tree"]), "tools\n");
}

#[test]
fn what_is_mounted_stays_in_the_command() {
    let before = fs::read_to_string("/proc/self/mounts").expect("mounts");
    let bench = Bench::new();
    let ran = bench.shell("echo x >/dev/shm/comail-test; cat /dev/shm/comail-test");
    assert_eq!(stdout(&ran), "x\n");
    assert!(!fs::exists("/dev/shm/comail-test").expect("shared memory"));
    let after = fs::read_to_string("/proc/self/mounts").expect("mounts");
    assert_eq!(before, after);
}

#[test]
fn what_was_in_force_is_told() {
    let told = |means| Bench::with_means(means).shell("true").confinement;
    let none = told(Means {
        namespaces: false,
        landlock: false,
    });
    assert_eq!(none, comail::world::sandbox::Confinement::default());
    assert_eq!(serde_json::to_string(&none).expect("JSON"), "{}");
    let some = told(LANDLOCK_ALONE);
    assert!(
        some.landlock.is_some() && some.namespaces.is_empty(),
        "{some:?}"
    );
    let all = told(Means::ALL);
    assert!(all.namespaces.contains(&Namespace::Net), "{all:?}");
}

#[test]
fn a_command_sees_itself_as_whoever_asked() {
    use std::os::unix::fs::MetadataExt as _;

    let bench = Bench::new();
    let own = fs::metadata(bench.scratch()).expect("a directory");
    let ran =
        bench.shell("id -u; id -g; echo $$; cut -d' ' -f1 /proc/self/stat >stat; ls /proc/$$/fd");
    let printed = stdout(&ran);
    let ids = format!("{}\n{}\n", own.uid(), own.gid());
    assert!(printed.starts_with(&ids), "{printed}");
    // It finds itself by its own number, as the list of processes is its own.
    assert_eq!(ran.end, End::Exited(0), "{ran:?}");
    assert!(ran.stderr.is_empty(), "{ran:?}");
    let made = fs::metadata(bench.at("stat")).expect("a file");
    assert_eq!((made.uid(), made.gid()), (own.uid(), own.gid()));
}

/// With others, root could open any file by its handle, mount, or set the clock.
#[test]
fn a_command_of_root_has_only_the_capabilities_for_its_own_files() {
    // Numbers of capabilities(7): CAP_DAC_OVERRIDE, CAP_KILL, CAP_SETGID and CAP_SETUID.
    let kept = [1, 5, 6, 7].iter().fold(0_u64, |set, at| set | 1 << at);
    for means in [Means::ALL, LANDLOCK_ALONE] {
        let ran = Bench::with_means(means)
            .shell("sed -n 's/^Cap\\(Inh\\|Prm\\|Eff\\|Bnd\\|Amb\\):\t//p' /proc/self/status");
        let printed = stdout(&ran);
        let sets = printed
            .lines()
            .map(|set| u64::from_str_radix(set, 16).expect("a set"));
        let sets: Vec<u64> = sets.collect();
        assert_eq!(sets.len(), 5, "{printed}");
        // The bounding set of another user does not matter, and cannot be changed.
        let held = if nix::unistd::getuid().is_root() {
            &sets[..]
        } else {
            &sets[..3]
        };
        assert!(held.iter().all(|set| set & !kept == 0), "{printed}");
    }
}

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    (listener, port)
}

fn connects(port: u16, network: Network) -> CommandSpec {
    let script = format!("import socket; socket.create_connection(('127.0.0.1', {port}), 5)");
    let mut order = order(&["/usr/bin/python3", "-c", &script]);
    order.network = network;
    order
}

#[test]
fn without_a_network_nothing_is_reached_and_with_any_everything() {
    let (_listener, port) = listener();
    for means in &ALL_MEANS[..3] {
        let bench = Bench::with_means(*means);
        let ran = bench.run(&connects(port, Network::None));
        assert_eq!(ran.end, End::Exited(1), "{means:?}: {ran:?}");
        // Landlock knows TCP since version 4.
        let by_landlock = ran.confinement.landlock.is_some_and(|abi| abi >= 4);
        assert!(by_landlock || ran.confinement.namespaces.contains(&Namespace::Net));
        let ran = bench.run(&connects(port, Network::Any));
        assert_eq!(ran.end, End::Exited(0), "{means:?}: {ran:?}");
    }
}

#[test]
fn the_port_that_is_named_is_reached_and_no_other() {
    let (_listener, port) = listener();
    let (_other, other) = listener();
    let only = |port| Network::Loopback { ports: vec![port] };
    for means in [Means::ALL, LANDLOCK_ALONE] {
        let bench = Bench::with_means(means);
        let reached = bench.run(&connects(port, only(port)));
        assert_eq!(reached.end, End::Exited(0), "{means:?}: {reached:?}");
        let refused = bench.run(&connects(other, only(port)));
        assert_eq!(refused.end, End::Exited(1), "{means:?}: {refused:?}");
        let told = String::from_utf8_lossy(&refused.stderr);
        assert!(told.contains("PermissionError"), "{told}");
    }
}

#[test]
fn a_port_that_is_not_named_cannot_be_taken() {
    let (mine, other) = (free_port().expect("a port"), free_port().expect("a port"));
    let bench = Bench::new();
    for (port, end) in [(mine, End::Exited(0)), (other, End::Exited(1))] {
        let script = format!("import socket; socket.create_server(('127.0.0.1', {port}))");
        let mut order = order(&["/usr/bin/python3", "-c", &script]);
        order.network = Network::Loopback { ports: vec![mine] };
        assert_eq!(bench.run(&order).end, end);
    }
}

/// A script that leaves a sleeping grandchild in a session of its own, whose parent is gone.
fn hides(mark: &str, then: &str) -> String {
    format!(
        "(setsid sh -c 'sleep {mark} & echo >there' &) ; \
         while [ ! -e there ]; do sleep 0.01; done; {then}"
    )
}

#[test]
fn a_hidden_grandchild_ends_with_its_command_however_that_ends() {
    for means in ALL_MEANS {
        let bench = Bench::with_means(means);
        for (then, timeout_ms, end) in [
            ("exit 0", 60_000, End::Exited(0)),
            ("sleep 60", 1_000, End::TimedOut),
        ] {
            let mark = mark();
            let mut order = shell(&format!("rm -f there; {}", hides(&mark, then)));
            order.timeout_ms = timeout_ms;
            let ran = bench.run(&order);
            assert_eq!(ran.end, end, "{means:?}: {ran:?}");
            assert!(!runs(&mark), "{means:?}");
        }
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
    const NAME: &str = "command::all_ends_when_whoever_asked_is_killed";
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
    const NAME: &str = "command::nothing_else_is_open";
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
fn a_command_sees_its_base_and_changes_nothing_of_it() {
    for bench in benches() {
        fs::create_dir_all(bench.outside("base/dir/empty")).expect("a directory");
        for name in ["base/dir/kept", "base/gone", "base/old", "base/dir/report"] {
            fs::write(bench.outside(name), name).expect("a file");
        }
        symlink("dir/kept", bench.outside("base/link")).expect("a link");
        let script = "cat ../link; printf new >kept; rm ../gone; ls ..; chmod 700 empty; \
                      test ! -e report && printf new >report";
        for _ in 0..2 {
            let mut order = reporting(script, &["old", "dir/report", "dir/moved"]);
            order.dir = "dir".to_owned();
            let ran = bench.run_over(&order, "base");
            assert_eq!(ran.end, End::Exited(0), "{ran:?}");
            assert_eq!(stdout(&ran), "base/dir/keptdir\nlink\n");
            // The earlier report was removed, and not moved.
            assert_eq!(ran.reports["dir/report"].as_deref(), Some(&b"new"[..]));
            assert_eq!(
                (&ran.reports["old"], &ran.reports["dir/moved"]),
                (&None, &None)
            );
            assert!(!ran.confinement.overlay || bench.launcher.means.namespaces);
        }
        for name in ["base/dir/kept", "base/gone", "base/old", "base/dir/report"] {
            assert_eq!(fs::read_to_string(bench.outside(name)).expect(name), name);
        }
    }
}

#[test]
fn a_command_cannot_reach_its_base_by_another_path() {
    let bench = Bench::new();
    fs::create_dir(bench.outside("base")).expect("a directory");
    fs::write(bench.outside("base/file"), "kept").expect("a file");
    let script = format!(
        "cat file; printf new >{}",
        bench.outside("base/file").display()
    );
    let ran = bench.run_over(&shell(&script), "base");
    assert_eq!(stdout(&ran), "kept");
    assert_ne!(ran.end, End::Exited(0), "{ran:?}");
    let file = fs::read_to_string(bench.outside("base/file"));
    assert_eq!(file.expect("a file"), "kept");
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

/// A variable of every test's environment that is long enough to be looked for.
const PASSED: &str = "CARGO_PKG_DESCRIPTION";

/// What comes of an order, and what kept it from being carried out.
fn run(order: &CommandSpec) -> (CommandResult, Option<String>) {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let shell = Pinned::find("/bin/sh", "".as_ref(), Path::new("/")).expect("a shell");
    let launcher = Launcher::new(env!("CARGO_BIN_EXE_comail").into());
    let config = SandboxConfig {
        programs: vec![shell],
        ..SandboxConfig::without_tree(scratch.path().to_owned(), launcher)
    };
    let sandbox = LiveSandbox::new(&config);
    let ran = sandbox.run(order);
    (ran, sandbox.failure())
}

fn passing(script: &str, names: &[&str]) -> CommandSpec {
    CommandSpec {
        pass: names.iter().map(|name| (*name).to_owned()).collect(),
        reports: vec!["report".to_owned()],
        ..shell(script)
    }
}

#[test]
fn a_command_has_the_value_and_what_it_leaves_has_the_name() {
    let script = format!(
        r#"echo "${{#{PASSED}}}"; echo "no such key: ${PASSED}" >&2
        echo "${PASSED}" > report"#
    );
    let (ran, failure) = run(&passing(&script, &[PASSED]));
    assert_eq!((&ran.end, failure), (&End::Exited(0), None));
    let length = std::env::var(PASSED).expect("cargo sets it").len();
    assert_eq!(stdout(&ran), format!("{length}\n"));
    assert_eq!(ran.stderr, format!("no such key: [{PASSED}]\n").as_bytes());
    let report = format!("[{PASSED}]\n").into_bytes();
    assert_eq!(ran.reports["report"], Some(report));
    let (without, _) = run(&passing(&script, &[]));
    assert_eq!(stdout(&without), "0\n");
}

#[test]
fn an_answer_in_which_the_value_stands_is_none_and_not_our_failure() {
    let script = format!("echo \"${PASSED}\"; echo \"${PASSED}\" >&2; echo report > report");
    let (ran, failure) = run(&passing(&script, &[PASSED]));
    assert_eq!(failure, None);
    let value = std::env::var(PASSED).expect("cargo sets it");
    let End::Withheld(why) = &ran.end else {
        panic!("{ran:?}");
    };
    assert!(why.contains(PASSED) && !why.contains(&value), "{why}");
    assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    assert_eq!(ran.reports["report"], None);
}

#[test]
fn what_is_not_set_keeps_the_command_from_running() {
    let (ran, failure) = run(&passing("echo ran", &["COMAIL_TEST_NOT_SET"]));
    assert!(matches!(ran.end, End::NotStarted(_)), "{ran:?}");
    assert!(failure.is_some_and(|why| why.contains("COMAIL_TEST_NOT_SET")));
}

#[test]
fn an_order_is_kept_with_the_names_alone() {
    let json = serde_json::to_string(&passing("true", &[PASSED])).expect("JSON");
    assert!(json.contains(&format!(r#""pass":["{PASSED}"]"#)), "{json}");
    let without = serde_json::to_string(&passing("true", &[])).expect("JSON");
    assert!(!without.contains("pass"), "{without}");
}
