//! Where a command may write, and what it may not see.

use std::fs;

use comail::world::sandbox::{End, Means, Namespace};

use crate::harness::bench::{Bench, mark, shell, stdout};

const LANDLOCK_ALONE: Means = Means {
    namespaces: false,
    landlock: true,
};

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
        assert!(ran.confinement.bounds_writes());
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
    bench.launcher = bench.launcher.clone().hiding(hidden);
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
