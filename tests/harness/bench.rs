//! A scratch copy in which commands run, with the built program as launcher.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use comail::world::sandbox::{Base, CommandResult, CommandSpec, Files, Launcher, Means, run};
use tempfile::TempDir;

/// Every set of means of confinement that a kernel may offer.
pub const ALL_MEANS: [Means; 4] = [
    Means::ALL,
    Means {
        namespaces: true,
        landlock: false,
    },
    Means {
        namespaces: false,
        landlock: true,
    },
    Means {
        namespaces: false,
        landlock: false,
    },
];

/// Holds, where a test runs a second time as a process of its own, the place, the means and a mark.
const PARENT: &str = "COMAIL_TEST_BENCH";

/// A scratch copy, and what starts commands in it.
pub struct Bench {
    place: PathBuf,
    means: Means,
    pub launcher: Launcher,
    _owned: Option<TempDir>,
}

impl Bench {
    pub fn new() -> Self {
        Self::with_means(Means::ALL)
    }

    pub fn with_means(means: Means) -> Self {
        let owned = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(owned.path().join("scratch")).expect("a scratch copy");
        let bench = Self::in_place(owned.path().to_owned(), means);
        Self {
            _owned: Some(owned),
            ..bench
        }
    }

    fn in_place(place: PathBuf, means: Means) -> Self {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_comail"));
        Self {
            place,
            means,
            launcher: Launcher {
                means,
                ..Launcher::new(program)
            },
            _owned: None,
        }
    }

    /// This test again, as a process that can be killed and that sees [`Bench::of_parent`].
    pub fn again(&self, test: &str, mark: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        let means = ALL_MEANS.iter().position(|means| *means == self.means);
        let means = means.expect("one of all means");
        let told = format!("{means} {} {mark}", self.place.display());
        command
            .args(["--exact", test])
            .env(PARENT, told)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// The bench of the test that runs this one, with its mark, if there is one.
    pub fn of_parent() -> Option<(Self, String)> {
        let told = std::env::var(PARENT).ok()?;
        let mut words = told.split(' ');
        let means: usize = words.next()?.parse().ok()?;
        let place = PathBuf::from(words.next()?);
        let bench = Self::in_place(place, ALL_MEANS[means]);
        Some((bench, words.next()?.to_owned()))
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.scratch().join(name)
    }

    pub fn outside(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    pub fn scratch(&self) -> PathBuf {
        self.place.join("scratch")
    }

    pub fn run(&self, order: &CommandSpec) -> CommandResult {
        run(order, &Files::in_dir(&self.scratch()), &self.launcher)
    }

    /// Runs it over what is in a folder of the place, in an empty directory of its own.
    pub fn run_over(&self, order: &CommandSpec, base: &str) -> CommandResult {
        let [dir, work] = [(); 2].map(|()| tempfile::tempdir_in(&self.place).expect("a folder"));
        let files = Files {
            dir: dir.path().to_owned(),
            base: Some(Base {
                dir: self.outside(base),
                work: work.path().to_owned(),
            }),
        };
        run(order, &files, &self.launcher)
    }

    /// Runs a shell's script with nothing but a PATH.
    pub fn shell(&self, script: &str) -> CommandResult {
        self.run(&shell(script))
    }
}

pub fn benches() -> impl Iterator<Item = Bench> {
    ALL_MEANS.into_iter().map(Bench::with_means)
}

pub fn shell(script: &str) -> CommandSpec {
    order(&["/bin/sh", "-c", script])
}

pub fn order(argv: &[&str]) -> CommandSpec {
    let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    CommandSpec {
        name: "test".to_owned(),
        argv: argv.iter().copied().map(str::to_owned).collect(),
        env: BTreeMap::from([path]),
        timeout_ms: 60_000,
        output_bytes: 1 << 20,
        round: 1,
        ..CommandSpec::default()
    }
}

pub fn stdout(ran: &CommandResult) -> String {
    String::from_utf8(ran.stdout.clone()).expect("stdout is UTF-8")
}

/// Whether a process with this argument is running.
pub fn runs(mark: &str) -> bool {
    let entries = fs::read_dir("/proc").expect("a list of processes");
    entries.flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|word| word == mark.as_bytes())
    })
}

/// An argument that no other process has, and that `sleep` takes for a long time.
pub fn mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};

    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("7{:010}{count:05}", std::process::id())
}
