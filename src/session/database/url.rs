//! The address of a session in a database: `postgres://HOST/DATABASE?session=NAME`.

use std::env;
use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use postgres::Config;
use postgres::config::{Host, SslMode};
use serde::{Deserialize, Serialize};
use url::Url;

use super::error::DatabaseError;
use crate::base::{Digest, files};

/// How long a dead connection or a database that does not answer is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

const PASSWORD: &str = "PGPASSWORD";

const PASSWORD_FILE: &str = "PGPASSFILE";

/// The variables that give access to a database.
pub const PASSWORD_VARIABLES: [&str; 2] = [PASSWORD, PASSWORD_FILE];

const MAX_PASSWORD_FILE: u64 = 1 << 20;

/// The address of a session, without a password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct DatabaseUrl {
    text: String,
    session: String,
    mirror: Option<PathBuf>,
    /// What is left for the client, which knows neither `session` nor `mirror`.
    server: String,
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<DatabaseUrl> for String {
    fn from(url: DatabaseUrl) -> Self {
        url.text
    }
}

impl TryFrom<String> for DatabaseUrl {
    type Error = DatabaseError;

    fn try_from(text: String) -> Result<Self, DatabaseError> {
        text.parse()
    }
}

impl FromStr for DatabaseUrl {
    type Err = DatabaseError;

    fn from_str(text: &str) -> Result<Self, DatabaseError> {
        let refused = |why: String| DatabaseError::Url(why);
        let mut url = Url::parse(text).map_err(|why| refused(why.to_string()))?;
        let has_password =
            url.password().is_some() || url.query_pairs().any(|(name, _)| name == "password");
        if has_password {
            return Err(DatabaseError::Password);
        }
        let (mut session, mut mirror, mut rest) = (None, None, Vec::new());
        for (name, value) in url.query_pairs() {
            match &*name {
                "session" => session = Some(value.into_owned()),
                "mirror" => mirror = Some(PathBuf::from(&*value)),
                _ => rest.push((name.into_owned(), value.into_owned())),
            }
        }
        let session = session
            .filter(|name| !name.is_empty())
            .ok_or_else(|| refused("it names no session".to_owned()))?;
        url.set_query(None);
        if !rest.is_empty() {
            url.query_pairs_mut().extend_pairs(rest);
        }
        let server = url.to_string();
        let parsed: Result<Config, _> = server.parse();
        parsed.map_err(|why| refused(describe(&why)))?;
        Ok(Self {
            text: text.to_owned(),
            session,
            mirror,
            server,
        })
    }
}

/// An error with its cause, which alone says what is wrong.
fn describe(error: &postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

impl DatabaseUrl {
    /// The address that `--session` names, unless it names a directory.
    pub fn of(named: &Path) -> Option<Result<Self, DatabaseError>> {
        let text = named.to_str()?;
        ["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
            .then(|| text.parse())
    }

    pub fn session(&self) -> &str {
        &self.session
    }

    /// The address without what this program alone understands.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// The directory that follows the session on this machine.
    pub(in crate::session) fn mirror(&self) -> Result<PathBuf, DatabaseError> {
        if let Some(named) = &self.mirror {
            return Ok(named.clone());
        }
        // The XDG Base Directory Specification says to ignore relative paths.
        let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.filter(|path| path.is_absolute());
        let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
        let cache = cache.or_else(home).ok_or(DatabaseError::NoMirror)?;
        let name = format!("{:.16}", Digest::of(self.text.as_bytes()).to_string());
        Ok(cache.join("comail").join("sessions").join(name))
    }

    /// How to reach the server, with the password of the environment or of the password file.
    pub(super) fn config(&self) -> Result<Config, DatabaseError> {
        let parsed: Result<Config, _> = self.server.parse();
        let mut config = parsed.map_err(|why| DatabaseError::Url(describe(&why)))?;
        if config.get_user().is_none()
            && let Ok(user) = env::var("PGUSER")
        {
            config.user(&user);
        }
        let password = env::var(PASSWORD).ok().or_else(|| of_file(&config));
        if let Some(password) = password {
            config.password(password);
        }
        // libpq's default would send everything in the clear if the server offers no TLS.
        let is_near = config.get_hosts().iter().all(is_near);
        if !is_near && config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(SslMode::Require);
        }
        config
            .application_name("comail")
            .connect_timeout(PATIENCE)
            .tcp_user_timeout(PATIENCE)
            .keepalives_idle(PATIENCE);
        Ok(config)
    }
}

/// Whether a connection to `host` does not leave this machine.
fn is_near(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            let address: Option<std::net::IpAddr> = name.parse().ok();
            name == "localhost" || address.is_some_and(|it| it.is_loopback())
        }
    }
}

/// The password of the first line of the password file that fits, as libpq looks it up. A file that
/// others may read is ignored.
fn of_file(config: &Config) -> Option<String> {
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".pgpass"));
    let path = env::var_os(PASSWORD_FILE)
        .map(PathBuf::from)
        .or_else(home)?;
    let mode = files::metadata(&path).ok()?.permissions().mode();
    if mode & 0o077 != 0 {
        return None;
    }
    let bytes = files::read(&path, MAX_PASSWORD_FILE).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.as_str(),
        _ => "localhost",
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let user = config.get_user().unwrap_or_default();
    let wanted = [
        host,
        &port.to_string(),
        config.get_dbname().unwrap_or(user),
        user,
    ];
    text.lines().find_map(|line| password_for(line, &wanted))
}

/// The password in a line `host:port:database:user:password`, where `*` stands for anything and a
/// backslash for the next character.
fn password_for(line: &str, wanted: &[&str; 4]) -> Option<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            // The password itself may have colons.
            ':' if fields.len() <= wanted.len() => fields.push(String::new()),
            '\\' => fields.last_mut()?.extend(letters.next()),
            other => fields.last_mut()?.push(other),
        }
    }
    let password = fields.pop()?;
    let fits = fields.len() == wanted.len()
        && fields
            .iter()
            .zip(wanted)
            .all(|(field, wanted)| field == "*" || field == wanted);
    fits.then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Result<DatabaseUrl, String> {
        text.parse().map_err(|why: DatabaseError| why.to_string())
    }

    #[test]
    fn takes_its_own_parameters_and_leaves_the_others() {
        let read = url("postgres://judge@db.test:5433/work?session=firms&sslmode=disable&mirror=m");
        let read = read.unwrap();
        assert_eq!(read.session(), "firms");
        assert_eq!(read.mirror().unwrap(), Path::new("m"));
        assert_eq!(
            read.server,
            "postgres://judge@db.test:5433/work?sslmode=disable"
        );
        assert_eq!(read.config().unwrap().get_ssl_mode(), SslMode::Disable);
        let read = url("postgresql:///work?host=/run/postgresql&session=a%20b").unwrap();
        assert_eq!(read.session(), "a b");
        assert_eq!(read.config().unwrap().get_ssl_mode(), SslMode::Prefer);
        let far = url("postgres://db.test/work?session=x").unwrap();
        assert_eq!(far.config().unwrap().get_ssl_mode(), SslMode::Require);
    }

    #[test]
    fn refuses_a_password_and_a_missing_session() {
        for text in [
            "postgres://judge:secret@db.test/work?session=x",
            "postgres://judge@db.test/work?session=x&password=secret",
        ] {
            let why = url(text).unwrap_err();
            assert!(
                why.contains("PGPASSWORD") && !why.contains("secret"),
                "{why}"
            );
        }
        for text in [
            "postgres://db.test/work",
            "postgres://db.test/work?session=",
            "postgres://db.test/work?session=x&port=none",
        ] {
            assert!(url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_directory_is_no_address() {
        assert!(DatabaseUrl::of(Path::new(".comail")).is_none());
        assert!(
            DatabaseUrl::of(Path::new("postgres://h/d?session=x")).is_some_and(|it| it.is_ok())
        );
        assert!(DatabaseUrl::of(Path::new("postgresql://h/d")).is_some_and(|it| it.is_err()));
    }

    #[test]
    fn reads_a_line_of_the_password_file() {
        let wanted = ["db.test", "5432", "work", "judge"];
        for (line, password) in [
            ("db.test:5432:work:judge:secret", Some("secret")),
            (r"*:*:*:judge:a:b\\c\:", Some(r"a:b\c:")),
            ("other:5432:work:judge:secret", None),
            ("db.test:5432:work:secret", None),
            ("# comment", None),
        ] {
            assert_eq!(password_for(line, &wanted).as_deref(), password, "{line}");
        }
    }
}
