//! A PostgreSQL server of the tests' own, on a Unix socket in a temporary directory.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;

use super::Place;

/// Where distributions install the server's programs, besides the PATH.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The server refuses to run as root.
const NOBODY: u32 = 65_534;

pub struct Cluster {
    dir: TempDir,
}

static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());

impl Cluster {
    /// The cluster of all tests that run now, which ends with the last of them.
    pub fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let cluster = Arc::new(Self::start());
            *shared = Arc::downgrade(&cluster);
            cluster
        })
    }

    pub fn start() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        if is_root() {
            chown(dir.path(), Some(NOBODY), None).expect("root may give a directory away");
        }
        let cluster = Self { dir };
        let data = cluster.data();
        let data = data.to_str().expect("a path in UTF-8");
        run(program("initdb").args(["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8"]));
        cluster.serve();
        cluster
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn control(&self, words: &[&str]) {
        run(program("pg_ctl")
            .arg("-D")
            .arg(self.data())
            .arg("-w")
            .args(words));
    }

    pub fn serve(&self) {
        let log = self.dir.path().join("log");
        let options = format!(
            "-k {} -c listen_addresses= -c max_connections=300 -c fsync=off",
            self.dir.path().display()
        );
        let log = log.to_str().expect("a path in UTF-8");
        self.control(&["-l", log, "-o", &options, "start"]);
    }

    /// Ends the server at once, as a crash would.
    pub fn stop(&self) {
        self.control(&["-m", "immediate", "stop"]);
    }

    /// The address of a session, for a login.
    pub fn address_for(&self, user: &str, session: &str) -> String {
        let host = self.dir.path().display();
        format!("postgres:///postgres?host={host}&user={user}&session={session}")
    }

    pub fn address(&self, session: &str) -> String {
        self.address_for("postgres", session)
    }

    pub fn client(&self) -> postgres::Client {
        let host = self.dir.path().to_str().expect("a path in UTF-8");
        let mut config = postgres::Config::new();
        config.host(host).user("postgres").dbname("postgres");
        config.connect(postgres::NoTls).expect("the server is up")
    }

    /// Makes the default session of a place one of this cluster.
    pub fn hold_session_of(&self, place: &Path) {
        let name = place.file_name().expect("a name").to_string_lossy();
        self.link(place, &name);
    }

    /// Makes the default session of a place this session of the cluster.
    pub fn link(&self, place: &Path, session: &str) {
        let dir = place.join(".comail");
        std::fs::create_dir(&dir).expect("a directory");
        let link = json!({"url": self.address(session), "id": null, "redactions": 0});
        let written = std::fs::write(dir.join("database.json"), link.to_string());
        written.expect("a file in a temporary directory");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let mut stop = program("pg_ctl");
        stop.arg("-D")
            .arg(self.data())
            .args(["-m", "immediate", "stop"]);
        // It may be stopped already.
        let _ = stop.output();
    }
}

/// Whether all sessions of the tests are in a database: `COMAIL_TEST_STORE=postgres`.
pub fn holds_all_sessions() -> bool {
    match std::env::var("COMAIL_TEST_STORE").as_deref() {
        Err(_) | Ok("directory") => false,
        Ok("postgres") => true,
        Ok(other) => panic!("COMAIL_TEST_STORE={other}: expected directory or postgres"),
    }
}

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// A program of the server, which runs as another user if this one is root.
fn program(name: &str) -> Command {
    let mut command = Command::new(found(name));
    command.current_dir("/").stdin(Stdio::null());
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn found(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path)
        .chain(versions.map(|version| version.path().join("bin")))
        .map(|dir| dir.join(name))
        .collect();
    places.retain(|path| path.is_file());
    assert!(
        !places.is_empty(),
        "this test needs PostgreSQL: {name} is neither on the PATH nor below {DEBIAN}; `.ci/tools` \
         installs it"
    );
    places.swap_remove(0)
}

#[track_caller]
fn run(command: &mut Command) {
    // The server that `pg_ctl` starts keeps its output open, so nothing waits for the end of it.
    let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let ended = ended.expect("it starts");
    assert!(ended.success(), "{command:?}: {ended}");
}

/// The time of the database, for one session whose test says what time it is.
pub struct Clock {
    client: Mutex<postgres::Client>,
    session: String,
    /// Whose database it is.
    _cluster: Arc<Cluster>,
}

/// The function that locks a session, with the time from a table.
const HOLD_AT_A_TIME: &str = "
    CREATE TABLE IF NOT EXISTS public.clock (session text PRIMARY KEY, at bigint NOT NULL);
    GRANT SELECT ON public.clock TO comail_owner;
    CREATE OR REPLACE FUNCTION comail.hold(wanted text)
    RETURNS TABLE
        (id bigint, lines bigint, head bytea, redactions bigint, at bigint, version integer)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = comail, pg_temp AS $$
    BEGIN
        RETURN QUERY SELECT s.id, s.lines, s.head, s.redactions, coalesce(
            (SELECT c.at FROM public.clock c WHERE c.session = wanted),
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        ), (SELECT f.version FROM comail.format f)
        FROM comail.session s WHERE s.name = wanted FOR NO KEY UPDATE;
    END $$";

impl Clock {
    pub fn of(cluster: &Arc<Cluster>, session: &str) -> Self {
        Self {
            client: Mutex::new(cluster.client()),
            session: session.to_owned(),
            _cluster: Arc::clone(cluster),
        }
    }

    pub fn set(&self, at: Timestamp) {
        let mut client = self.client.lock().expect("no test panicked");
        // One after the other: many tests begin at once.
        let mut work = client.transaction().expect("the server is up");
        let lock = "SELECT pg_advisory_xact_lock(1), to_regclass('public.clock') IS NULL";
        let is_new: bool = work.query_one(lock, &[]).expect("a lock").get(1);
        if is_new {
            work.batch_execute(HOLD_AT_A_TIME).expect("a function");
        }
        let set = "INSERT INTO public.clock VALUES ($1, $2)
            ON CONFLICT (session) DO UPDATE SET at = excluded.at";
        let values: [&(dyn postgres::types::ToSql + Sync); 2] =
            [&self.session, &at.as_millisecond()];
        work.execute(set, &values).expect("a time");
        work.commit().expect("the server is up");
    }
}

/// A machine: a place with a home directory, and so with mirrors, of its own.
pub struct Machine {
    pub place: Place,
    address: String,
}

impl Machine {
    pub fn of(cluster: &Cluster, session: &str) -> Self {
        Self::at(cluster.address(session))
    }

    pub fn at(address: String) -> Self {
        Self {
            place: Place::on_disk(),
            address,
        }
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command();
        command
            .env("HOME", self.place.path())
            .env("COMAIL_SESSION", &self.address);
        command.args(args);
        command
    }

    pub fn run(&self, args: &[&str]) -> super::Run {
        super::Run::of(&mut self.command(args))
    }

    pub fn json(&self, args: &[&str]) -> (i32, serde_json::Value) {
        super::Run::of(self.command(args).arg("--json")).json()
    }

    /// The directory that follows the session here.
    pub fn mirror(&self) -> PathBuf {
        let mirrors = self.place.at(".cache/comail/sessions");
        let mut mirrors = std::fs::read_dir(mirrors).expect("mirrors");
        mirrors
            .next()
            .expect("one mirror")
            .expect("an entry")
            .path()
    }

    pub fn ledger(&self) -> String {
        std::fs::read_to_string(self.mirror().join("ledger.jsonl")).expect("a ledger")
    }
}
