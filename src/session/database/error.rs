//! What can go wrong with the database of a session.

/// The version of the tables that this comail knows.
pub(super) const FORMAT: i32 = 1;

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
    #[error("HOME is not set: name a directory of this machine with `mirror=DIR` in the address")]
    NoMirror,
    #[error("there is no session {0:?} in this database")]
    Missing(String),
    #[error("the database already has a session {0:?}")]
    Exists(String),
    #[error(
        "comail's tables in this database are of format {0}, and this comail knows format {FORMAT}"
    )]
    Format(i32),
    #[error("cannot read the certificates of PGSSLROOTCERT: {0}")]
    Certificates(String),
    #[error("cannot {doing}; nothing was recorded, so run the command again")]
    Query {
        doing: &'static str,
        #[source]
        source: Box<postgres::Error>,
    },
    /// The connection was lost during the commit.
    #[error(
        "the connection was lost while the answer was recorded: run the command again, which shows \
         whether it was"
    )]
    Unknown(#[source] Box<postgres::Error>),
}

impl DatabaseError {
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
