//! What a command may write, see and reach, and that nothing that it starts outlives it.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};

use comail::world::sandbox::{CommandSpec, End, Means, Namespace, Network, free_port};

use crate::harness::bench::{ALL_MEANS, Bench, benches, mark, order, runs, shell, stdout};
use crate::harness::poll::until;

const LANDLOCK_ALONE: Means = ALL_MEANS[2];

#[test]
fn nothing_outside_the_scratch_copy_is_written() {
    for means in [Means::ALL, LANDLOCK_ALONE] {
        let bench = Bench::with_means(means);
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

    let bench = Bench::new();
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
    const NAME: &str = "command_bounds::all_ends_when_whoever_asked_is_killed";
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
