//! What can go wrong with the database of a session.

use std::io::ErrorKind;
use std::path::PathBuf;

use crate::session::chain::LineError;

/// The version of the tables that this comail knows.
pub(super) const FORMAT: i32 = 3;

#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error(
        "the address of the session is wrong: {0}; write \
         postgres://USER@HOST/DATABASE?session=NAME"
    )]
    Url(String),
    #[error(
        "the address of the session contains a password, which others can see in the list of \
         processes: put it into PGPASSWORD, or into the file that PGPASSFILE names"
    )]
    Password,
    #[error("cannot use the password file {path}: {why}")]
    PasswordFile { path: PathBuf, why: String },
    #[error("HOME is not set: name a directory of this machine with `mirror=DIR` in the address")]
    NoMirror,
    #[error("there is no session {0:?} in this database")]
    Missing(String),
    #[error("the database already has a session {0:?}")]
    Exists(String),
    #[error(
        "comail's tables in this database are of format {0}, and this comail knows format {FORMAT}: \
         use the comail that made them, whose `session copy` brings each session to a directory"
    )]
    Format(i32),
    #[error(
        "the ledger in the database is damaged: line {line}: {why}; restore the database from a backup"
    )]
    Damaged { line: u64, why: LineError },
    #[error("cannot read the certificates of PGSSLROOTCERT: {0}")]
    Certificates(String),
    #[error("cannot {doing}; {}", advice(.source))]
    Query {
        doing: &'static str,
        #[source]
        source: Box<postgres::Error>,
    },
    /// The connection was lost during the commit.
    #[error(
        "the connection was lost during the commit, so nobody knows yet whether it was recorded: run \
         the command again, with the same --idempotency-key if it had one"
    )]
    Unknown(#[source] Box<postgres::Error>),
}

/// The classes of errors that pass (PostgreSQL's manual, appendix A): of connections, rolled back
/// transactions, resources, locks, and interventions of an operator.
const PASSING: [&str; 5] = ["08", "40", "53", "55", "57"];

/// A transaction that was idle for too long.
const IDLE: &str = "25P03";

fn passes(error: &postgres::Error) -> bool {
    match error.code() {
        Some(code) => {
            code.code() == IDLE || PASSING.iter().any(|class| code.code().starts_with(class))
        }
        None => {
            error.is_closed() || io_kind(error).is_some_and(|kind| kind != ErrorKind::InvalidData)
        }
    }
}

/// How the connection failed. rustls reports a certificate that it does not trust as `InvalidData`.
fn io_kind(error: &postgres::Error) -> Option<ErrorKind> {
    use std::error::Error as _;

    let cause: &std::io::Error = error.source()?.downcast_ref()?;
    Some(cause.kind())
}

/// What a person or an agent does about an error.
fn advice(error: &postgres::Error) -> &'static str {
    if passes(error) {
        return "nothing was recorded, so run the command again";
    }
    if io_kind(error) == Some(ErrorKind::InvalidData) {
        return "the server's certificate was refused: name that of its authority in PGSSLROOTCERT or, \
                on this machine, add sslmode=disable to the address";
    }
    match error.code().map(postgres::error::SqlState::code) {
        Some("28000" | "28P01") => {
            "check the user in the address, and the password in PGPASSWORD or PGPASSFILE"
        }
        Some("3D000") => "make the database with createdb, or correct its name in the address",
        Some("42501") => {
            "the login lacks a right: grant it comail_owner, comail_judge or comail_reader, as `comail \
             help fleet` says"
        }
        Some(_) => "nothing was recorded",
        None => "check the address, and the password in PGPASSWORD or PGPASSFILE",
    }
}

impl DatabaseError {
    /// Whether the same command may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Query { source, .. } => passes(source),
            Self::Unknown(_) => true,
            _ => false,
        }
    }

    pub(super) fn of(doing: &'static str) -> impl FnOnce(postgres::Error) -> Self {
        move |source| Self::Query {
            doing,
            source: Box::new(source),
        }
    }

    pub(super) fn is_lost_connection(&self) -> bool {
        match self {
            // The server ends connections with this code when it stops.
            Self::Query { source, .. } => {
                source.is_closed()
                    || source
                        .as_db_error()
                        .is_none_or(|it| it.code().code() == "57P01")
            }
            _ => false,
        }
    }
}
