//! Sessions in PostgreSQL: the same lines, evidence and files as in a directory.
//!
//! The lines of a session form one chain, so appends take turns: a transaction locks the row of the
//! session, its owner decides from what is recorded then, and the commit is the acknowledgement.

mod error;
mod url;

use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::ToSql;
use postgres::{Client, Row};
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

pub use self::error::DatabaseError;
use self::error::FORMAT;
pub use self::url::{DatabaseUrl, PASSWORD_VARIABLES};
use super::chain::Tip;
use crate::base::Digest;
use crate::base::files;

const SCHEMA: &str = include_str!("database/schema.sql");

/// The settings of each connection. A commit is an acknowledgement, so it must be on disk. A judge that
/// is stopped in the middle of an append loses its turn, long before the others give up.
const SETTINGS: &str = "SET synchronous_commit = on; SET lock_timeout = '60s'; \
                        SET idle_in_transaction_session_timeout = '10s'";

/// The same where turns at hosts are taken: what a crash of the server forgets is over by then.
const SETTINGS_OF_TURNS: &str = "SET synchronous_commit = off; SET lock_timeout = '60s'";

/// Redacting reads the whole ledger during the transaction.
const NO_IDLE_TIMEOUT: &str = "SET LOCAL idle_in_transaction_session_timeout = 0";

/// How many connections a process keeps for later. A server has many calls at once, and a new connection
/// costs the database a process; by default, it allows a hundred.
const MAX_IDLE: usize = 24;

/// How many connections a process has for turns at hosts. Turns at one host use the same.
const TURN_TAKERS: usize = 8;

/// How many lines are sent to the database at once when a session is copied to it.
const BATCH: usize = 1024;

const MAX_CERTIFICATES: u64 = 1 << 20;

/// The row of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) id: i64,
    /// The number of lines, and the hash of the last one.
    pub(super) tip: Tip,
    pub(super) redactions: i64,
    /// The time of the database, in milliseconds.
    pub(super) at: Timestamp,
}

impl Head {
    fn of(row: &Row) -> Result<Self, DatabaseError> {
        let version = row.get(5);
        if version != FORMAT {
            return Err(DatabaseError::Format(version));
        }
        let head: &[u8] = row.get(2);
        Ok(Self {
            id: row.get(0),
            tip: Tip {
                length: number(row.get(1)),
                // A value of another length than a hash matches no line.
                head: digest_of(head).unwrap_or_else(|| Digest::of(head)),
            },
            redactions: row.get(3),
            at: Timestamp::from_millisecond(row.get(4)).unwrap_or_default(),
        })
    }
}

fn digest_of(bytes: &[u8]) -> Option<Digest> {
    hex::encode(bytes).parse().ok()
}

fn number(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}

fn place(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// For how long the owner of a held head may be busy with other things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    Usual,
    WholeLedger,
}

/// A session in a database.
pub(super) struct Database {
    url: DatabaseUrl,
    server: Arc<Server>,
}

/// The connections to a server, which the sessions of this process share.
#[derive(Default)]
struct Server {
    /// Connections that are free.
    idle: Mutex<Vec<Client>>,
    /// Those that take turns at hosts, each at its hosts. They are open as long as the process lives,
    /// which tells the database that the owner of a turn still asks.
    turns: [Mutex<Option<Client>>; TURN_TAKERS],
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// A connection, which is kept for later when it is dropped.
struct Lease {
    database: Arc<Database>,
    client: Option<Client>,
    /// Whether it was used before, so that the server may have closed it since.
    is_used: bool,
    in_transaction: bool,
}

impl Lease {
    fn begin(&mut self) -> Result<(), postgres::Error> {
        self.batch_execute("BEGIN")?;
        self.in_transaction = true;
        Ok(())
    }

    /// Commits. Until this returns, nobody else sees what was done.
    fn commit(&mut self) -> Result<(), DatabaseError> {
        let began = Instant::now();
        let committed = self.batch_execute("COMMIT");
        log_time(began);
        self.in_transaction = false;
        committed.map_err(|why| DatabaseError::Unknown(Box::new(why)))
    }

    /// Closes the connection, and those that were kept as long.
    fn give_up(mut self) {
        drop(self.client.take());
        lock(&self.database.server.idle).clear();
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.in_transaction
            && let Some(client) = &mut self.client
            && client.batch_execute("ROLLBACK").is_err()
        {
            return;
        }
        let mut idle = lock(&self.database.server.idle);
        if idle.len() < MAX_IDLE {
            idle.extend(self.client.take().filter(|client| !client.is_closed()));
        }
    }
}

impl Deref for Lease {
    type Target = Client;

    #[expect(
        clippy::expect_used,
        reason = "the client is taken only when the lease is dropped"
    )]
    fn deref(&self) -> &Client {
        self.client.as_ref().expect("a leased client")
    }
}

impl DerefMut for Lease {
    #[expect(
        clippy::expect_used,
        reason = "the client is taken only when the lease is dropped"
    )]
    fn deref_mut(&mut self) -> &mut Client {
        self.client.as_mut().expect("a leased client")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn log_time(began: Instant) {
    let database_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(database_ms, "asked the database");
}

impl Database {
    pub(super) fn at(url: &DatabaseUrl) -> Arc<Self> {
        static SERVERS: OnceLock<Mutex<HashMap<String, Arc<Server>>>> = OnceLock::new();
        let mut servers = lock(SERVERS.get_or_init(Mutex::default));
        let server = servers.entry(url.server().to_owned()).or_default();
        Arc::new(Self {
            url: url.clone(),
            server: Arc::clone(server),
        })
    }

    fn lease(self: &Arc<Self>) -> Result<Lease, DatabaseError> {
        let idle = lock(&self.server.idle).pop();
        let is_used = idle.is_some();
        let client = match idle {
            Some(client) => client,
            None => self.connect(SETTINGS)?,
        };
        Ok(Lease {
            database: Arc::clone(self),
            client: Some(client),
            is_used,
            in_transaction: false,
        })
    }

    fn connect(&self, settings: &str) -> Result<Client, DatabaseError> {
        let failed = DatabaseError::of("reach the database");
        let mut client = self.url.config()?.connect(tls()?).map_err(failed)?;
        client
            .batch_execute(settings)
            .map_err(DatabaseError::of("set up the connection"))?;
        Ok(client)
    }

    /// Asks with a kept connection and, if the server has closed that one since, with a new one.
    fn ask<T>(
        self: &Arc<Self>,
        doing: &'static str,
        mut ask: impl FnMut(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, DatabaseError> {
        loop {
            let mut lease = self.lease()?;
            let began = Instant::now();
            let answer = ask(&mut lease).map_err(DatabaseError::of(doing));
            log_time(began);
            match answer {
                Err(why) if lease.is_used && why.is_lost_connection() => lease.give_up(),
                answer => return answer,
            }
        }
    }

    /// Asks with the connection that takes turns at this host.
    fn ask_for_turn<T>(
        &self,
        host: &str,
        doing: &'static str,
        mut ask: impl FnMut(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, DatabaseError> {
        let taker = usize::from(Digest::of(host.as_bytes()).as_bytes()[0]) % TURN_TAKERS;
        let mut kept = lock(&self.server.turns[taker]);
        loop {
            let is_used = kept.is_some();
            let mut client = match kept.take() {
                Some(client) => client,
                None => self.connect(SETTINGS_OF_TURNS)?,
            };
            let began = Instant::now();
            let answer = ask(&mut client).map_err(DatabaseError::of(doing));
            log_time(began);
            match answer {
                Err(why) if why.is_lost_connection() && is_used => {}
                answer => {
                    *kept = Some(client).filter(|client| !client.is_closed());
                    return answer;
                }
            }
        }
    }

    /// Makes comail's tables, functions and roles, unless they are there.
    pub(super) fn set_up(self: &Arc<Self>) -> Result<(), DatabaseError> {
        let doing = "make comail's tables (this needs a login that may create schemas and roles)";
        let version = self.ask(doing, |client| {
            let mut work = client.transaction()?;
            // Two may set up the same database at once.
            work.execute("SELECT pg_advisory_xact_lock(hashtext('comail'))", &[])?;
            let there = work.query_one("SELECT to_regclass('comail.format') IS NOT NULL", &[])?;
            if !there.get::<_, bool>(0) {
                work.batch_execute(SCHEMA)?;
            }
            let version = work
                .query_one("SELECT version FROM comail.format", &[])?
                .get(0);
            work.commit()?;
            Ok(version)
        })?;
        match version {
            FORMAT => Ok(()),
            other => Err(DatabaseError::Format(other)),
        }
    }

    pub(super) fn head(self: &Arc<Self>) -> Result<Head, DatabaseError> {
        let row = self.ask("read the session", |client| {
            client.query_opt(
                "SELECT id, lines, head, redactions, \
                 (extract(epoch FROM clock_timestamp()) * 1000)::bigint, version \
                 FROM comail.session, comail.format WHERE name = $1",
                &[&self.url.session()],
            )
        });
        let row = row.map_err(|why| self.missing_tables(why))?;
        Head::of(&row.ok_or_else(|| self.missing())?)
    }

    fn missing(&self) -> DatabaseError {
        DatabaseError::Missing(self.url.session().to_owned())
    }

    /// Without comail's tables there is no session either.
    fn missing_tables(&self, why: DatabaseError) -> DatabaseError {
        match &why {
            DatabaseError::Query { source, .. }
                if source
                    .code()
                    .is_some_and(|it| ["42P01", "3F000"].contains(&it.code())) =>
            {
                self.missing()
            }
            _ => why,
        }
    }

    /// Locks the head of the session until the returned value is dropped, or until the owner was idle
    /// for too long.
    pub(super) fn hold(self: &Arc<Self>, patience: Patience) -> Result<HeldHead, DatabaseError> {
        loop {
            let mut lease = self.lease()?;
            let sql = "SELECT id, lines, head, redactions, at, version FROM comail.hold($1)";
            let row = lease
                .begin()
                .and_then(|()| match patience {
                    Patience::Usual => Ok(()),
                    Patience::WholeLedger => lease.batch_execute(NO_IDLE_TIMEOUT),
                })
                .and_then(|()| lease.query_opt(sql, &[&self.url.session()]))
                .map_err(DatabaseError::of("lock the session"));
            match row {
                Ok(row) => {
                    let head = Head::of(&row.ok_or_else(|| self.missing())?)?;
                    return Ok(HeldHead { lease, head });
                }
                Err(why) if lease.is_used && why.is_lost_connection() => lease.give_up(),
                Err(why) => return Err(why),
            }
        }
    }

    /// Passes the lines from `first` on to `take`, in order.
    pub(super) fn lines<E: From<DatabaseError>>(
        self: &Arc<Self>,
        head: Head,
        first: u64,
        take: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = || DatabaseError::of("read the ledger");
        let mut lease = self.lease()?;
        let sql = "SELECT line FROM comail.ledger WHERE session = $1 AND seq >= $2 AND seq < $3 \
                   ORDER BY seq";
        let values: [&(dyn ToSql + Sync); 3] = [&head.id, &place(first), &place(head.tip.length)];
        let mut rows = lease.query_raw(sql, values).map_err(failed())?;
        while let Some(row) = rows.next().map_err(failed())? {
            take(row.get(0))?;
        }
        Ok(())
    }

    pub(super) fn body(
        self: &Arc<Self>,
        id: i64,
        digest: Digest,
    ) -> Result<Option<Vec<u8>>, DatabaseError> {
        let row = self.ask("read evidence", |client| {
            client.query_opt(
                "SELECT body FROM comail.evidence WHERE session = $1 AND digest = $2",
                &[&id, &digest.as_bytes().as_slice()],
            )
        })?;
        Ok(row.map(|row| row.get(0)))
    }

    pub(super) fn has_body(
        self: &Arc<Self>,
        id: i64,
        digest: Digest,
    ) -> Result<bool, DatabaseError> {
        let row = self.ask("read evidence", |client| {
            client.query_opt(
                "SELECT 1 FROM comail.evidence WHERE session = $1 AND digest = $2",
                &[&id, &digest.as_bytes().as_slice()],
            )
        })?;
        Ok(row.is_some())
    }

    pub(super) fn keep_body(
        self: &Arc<Self>,
        id: i64,
        digest: Digest,
        body: &[u8],
    ) -> Result<(), DatabaseError> {
        self.ask("record evidence", |client| {
            client.execute(KEEP, &[&id, &digest.as_bytes().as_slice(), &body])
        })?;
        Ok(())
    }

    /// The digests of all bodies of a session.
    pub(super) fn bodies(self: &Arc<Self>, id: i64) -> Result<Vec<Digest>, DatabaseError> {
        let rows = self.ask("read evidence", |client| {
            client.query(
                "SELECT digest FROM comail.evidence WHERE session = $1",
                &[&id],
            )
        })?;
        let digests = rows.iter().filter_map(|row| digest_of(row.get(0)));
        Ok(digests.collect())
    }

    pub(super) fn file_names(self: &Arc<Self>, id: i64) -> Result<Vec<String>, DatabaseError> {
        let rows = self.ask("read the files of the session", |client| {
            client.query("SELECT name FROM comail.file WHERE session = $1", &[&id])
        })?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    pub(super) fn file(
        self: &Arc<Self>,
        id: i64,
        name: &str,
    ) -> Result<Option<Vec<u8>>, DatabaseError> {
        let row = self.ask("read a file of the session", |client| {
            client.query_opt(
                "SELECT body FROM comail.file WHERE session = $1 AND name = $2",
                &[&id, &name],
            )
        })?;
        Ok(row.map(|row| row.get(0)))
    }

    pub(super) fn add_file(
        self: &Arc<Self>,
        id: i64,
        name: &str,
        body: &[u8],
    ) -> Result<(), DatabaseError> {
        self.ask("record a file of the session", |client| {
            client.execute(ADD_FILE, &[&id, &name, &body])
        })?;
        Ok(())
    }

    /// Whether there was such a file.
    pub(super) fn remove_file(
        self: &Arc<Self>,
        id: i64,
        name: &str,
    ) -> Result<bool, DatabaseError> {
        let removed = self.ask("remove a file of the session", |client| {
            client.execute(
                "DELETE FROM comail.file WHERE session = $1 AND name = $2",
                &[&id, &name],
            )
        })?;
        Ok(removed > 0)
    }

    /// Asks for a turn at a host: how long to wait at least before the next try, zero for a turn, and
    /// when the host was asked last, in seconds since 1970.
    pub(super) fn turn(
        self: &Arc<Self>,
        id: i64,
        host: &str,
        (gap, keep): (Duration, Duration),
    ) -> Result<(Duration, f64), DatabaseError> {
        let row = self.ask_for_turn(host, "take a turn at a host", |client| {
            client.query_one(
                "SELECT wait, begun FROM comail.turn($1, $2, $3, $4)",
                &[&id, &host, &gap.as_secs_f64(), &keep.as_secs_f64()],
            )
        })?;
        let wait: f64 = row.get(0);
        Ok((
            Duration::try_from_secs_f64(wait).unwrap_or_default(),
            row.get(1),
        ))
    }

    pub(super) fn end_turn(self: &Arc<Self>, id: i64, host: &str) -> Result<(), DatabaseError> {
        self.ask_for_turn(host, "end a turn at a host", |client| {
            client.execute("SELECT comail.end_turn($1, $2)", &[&id, &host])
        })?;
        Ok(())
    }

    /// Begins a new session; nobody sees it before [`NewRow::commit`].
    pub(super) fn create(self: &Arc<Self>) -> Result<NewRow, DatabaseError> {
        self.set_up()?;
        let mut lease = self.lease()?;
        let failed = || DatabaseError::of("make the session");
        lease.begin().map_err(failed())?;
        let sql =
            "INSERT INTO comail.session (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id";
        let row = lease.query_opt(sql, &[&self.url.session()]);
        let row = row.map_err(failed())?;
        let exists = || DatabaseError::Exists(self.url.session().to_owned());
        Ok(NewRow {
            id: row.ok_or_else(exists)?.get(0),
            lease,
            tip: Tip::start(),
            waiting: (Vec::new(), Tip::start()),
        })
    }
}

const ADD_FILE: &str = "INSERT INTO comail.file (session, name, body) VALUES ($1, $2, $3)";

const APPEND: &str = "SELECT comail.append($1, $2, $3, $4, $5)";

const KEEP: &str = "INSERT INTO comail.evidence (session, digest, body) VALUES ($1, $2, $3) \
                    ON CONFLICT DO NOTHING";

/// TLS with the certificates of `PGSSLROOTCERT`, or else with those of Mozilla's list.
fn tls() -> Result<MakeRustlsConnect, DatabaseError> {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;

    let failed = |why: String| DatabaseError::Certificates(why);
    let mut roots = RootCertStore::empty();
    if let Some(path) = std::env::var_os("PGSSLROOTCERT") {
        let pem = files::read(path.as_ref(), MAX_CERTIFICATES);
        let pem = pem.map_err(|why| failed(why.to_string()))?;
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let certificate = certificate.map_err(|why| failed(why.to_string()))?;
            roots
                .add(certificate)
                .map_err(|why| failed(why.to_string()))?;
        }
    } else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|why| failed(why.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// The locked head of a session. Dropping it ends the transaction without an effect.
pub(super) struct HeldHead {
    lease: Lease,
    head: Head,
}

impl fmt::Debug for HeldHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldHead")
            .field("head", &self.head)
            .finish_non_exhaustive()
    }
}

impl HeldHead {
    pub(super) fn head(&self) -> Head {
        self.head
    }

    /// Appends lines and commits. They are recorded once this returns.
    pub(super) fn append(mut self, lines: &[&str], last: Tip) -> Result<(), DatabaseError> {
        append(&mut self.lease, (self.head.id, self.head.tip), lines, last)
            .map_err(DatabaseError::of("append to the ledger"))?;
        self.lease.commit()
    }

    pub(super) fn redact(mut self, redacted: &Redacted) -> Result<(), DatabaseError> {
        let Head { id, tip, .. } = self.head;
        let places: Vec<i64> = redacted.lines.iter().map(|(seq, _)| place(*seq)).collect();
        let texts: Vec<&str> = redacted.lines.iter().map(|(_, it)| it.as_str()).collect();
        let gone: Vec<&[u8]> = redacted.gone.iter().map(|it| &it.as_bytes()[..]).collect();
        let names: Vec<&str> = redacted.files.iter().map(|(it, _)| it.as_str()).collect();
        let bodies: Vec<&[u8]> = redacted.files.iter().map(|(_, it)| it.as_slice()).collect();
        let (line, last) = &redacted.event;
        let values: [&(dyn ToSql + Sync); 10] = [
            &id,
            &place(tip.length),
            &places,
            &texts,
            &gone,
            &names,
            &bodies,
            &tip.head.as_bytes().as_slice(),
            line,
            &last.head.as_bytes().as_slice(),
        ];
        let sql = "SELECT comail.redact($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let executed = self.lease.execute(sql, &values);
        executed.map_err(DatabaseError::of(
            "redact the ledger (only comail_owner may)",
        ))?;
        self.lease.commit()
    }
}

/// What a redaction changes, all at once.
#[derive(Debug)]
pub(super) struct Redacted {
    pub(super) lines: Vec<(u64, String)>,
    /// The evidence that is removed.
    pub(super) gone: Vec<Digest>,
    /// Copies of lists.
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// The line that says so.
    pub(super) event: (String, Tip),
}

fn append(
    client: &mut Client,
    (id, tip): (i64, Tip),
    lines: &[impl ToSql + Sync],
    last: Tip,
) -> Result<(), postgres::Error> {
    let (prev, last) = (tip.head, last.head);
    let values: [&(dyn ToSql + Sync); 5] = [
        &id,
        &place(tip.length),
        &prev.as_bytes().as_slice(),
        &lines,
        &last.as_bytes().as_slice(),
    ];
    client.execute(APPEND, &values).map(drop)
}

/// A session that is being copied to a database. Dropping it leaves nothing there.
pub(super) struct NewRow {
    lease: Lease,
    id: i64,
    tip: Tip,
    /// Lines to be sent, and the tip that they lead to.
    waiting: (Vec<String>, Tip),
}

impl NewRow {
    pub(super) fn line(&mut self, line: String, tip: Tip) -> Result<(), DatabaseError> {
        self.waiting.0.push(line);
        self.waiting.1 = tip;
        if self.waiting.0.len() >= BATCH {
            self.send()?;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), DatabaseError> {
        let (lines, last) = (std::mem::take(&mut self.waiting.0), self.waiting.1);
        append(&mut self.lease, (self.id, self.tip), &lines, last)
            .map_err(DatabaseError::of("write the ledger"))?;
        self.tip = last;
        Ok(())
    }

    pub(super) fn body(&mut self, digest: Digest, body: &[u8]) -> Result<(), DatabaseError> {
        let kept = self
            .lease
            .execute(KEEP, &[&self.id, &digest.as_bytes().as_slice(), &body]);
        kept.map(drop).map_err(DatabaseError::of("write evidence"))
    }

    pub(super) fn file(&mut self, name: &str, body: &[u8]) -> Result<(), DatabaseError> {
        let put = self.lease.execute(ADD_FILE, &[&self.id, &name, &body]);
        put.map(drop)
            .map_err(DatabaseError::of("write a file of the session"))
    }

    pub(super) fn commit(mut self) -> Result<i64, DatabaseError> {
        self.send()?;
        self.lease.commit()?;
        Ok(self.id)
    }
}
