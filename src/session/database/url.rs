//! The address of a session in a database: `postgres://HOST/DATABASE?session=NAME`.

use std::borrow::Cow;
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use nix::unistd::{User, geteuid};
use percent_encoding::percent_decode_str;
use postgres::Config;
use postgres::config::{Host, SslMode};
use serde::{Deserialize, Serialize};

use super::error::DatabaseError;
use crate::base::{Digest, files};

/// How long a dead connection or a database that does not answer is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

const PASSWORD: &str = "PGPASSWORD";

const PASSWORD_FILE: &str = "PGPASSFILE";

/// The variables that give access to a database.
pub const PASSWORD_VARIABLES: [&str; 2] = [PASSWORD, PASSWORD_FILE];

const MAX_PASSWORD_FILE: u64 = 1 << 20;

const MAX_SESSION: usize = 100;

/// Looks up a variable of the environment.
type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

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

// What is wrong with an address may be that it has a password in the wrong place. So no error quotes
// the address or the value of a parameter.
impl FromStr for DatabaseUrl {
    type Err = DatabaseError;

    fn from_str(text: &str) -> Result<Self, DatabaseError> {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err(refused("it contains a control character"));
        }
        let (scheme, rest) = text
            .split_once("://")
            .map(|(scheme, rest)| (scheme.to_ascii_lowercase(), rest))
            .filter(|(scheme, _)| is_scheme(scheme))
            .ok_or_else(|| refused("it does not begin with postgres://"))?;
        check_user(rest)?;
        if rest.contains('#') {
            return Err(refused("it contains a #, which is written %23"));
        }
        let (base, query) = rest.split_once('?').unwrap_or((rest, ""));
        let parameters = Parameters::of(query)?;
        let mut server = format!("{scheme}://{base}");
        if !parameters.rest.is_empty() {
            server = format!("{server}?{}", parameters.rest.join("&"));
        }
        let parsed: Result<Config, _> = server.parse();
        let config = parsed.map_err(|why| DatabaseError::Url(describe(&why)))?;
        if config.get_password().is_some() {
            return Err(DatabaseError::Password);
        }
        if config.get_hosts().is_empty() {
            return Err(refused(
                "it names no host: for a Unix socket, add its directory, such as host=/run/postgresql",
            ));
        }
        Ok(Self {
            text: format!("{scheme}://{rest}"),
            session: parameters
                .session
                .ok_or_else(|| refused("it names no session"))?,
            mirror: parameters.mirror,
            server,
        })
    }
}

fn refused(why: &str) -> DatabaseError {
    DatabaseError::Url(why.to_owned())
}

fn is_scheme(text: &str) -> bool {
    let names = ["postgres", "postgresql"];
    names.iter().any(|name| name.eq_ignore_ascii_case(text))
}

/// Whether a text is meant as an address, perhaps a wrong one. A directory is printed in messages, and
/// a wrong address may have a password.
fn is_address(text: &str) -> bool {
    // In quotes, or after other words.
    let lower = text.to_ascii_lowercase();
    if ["postgres://", "postgresql://"]
        .iter()
        .any(|it| lower.contains(it))
        || (text.contains('@') && text.contains("session="))
    {
        return true;
    }
    let Some((scheme, rest)) = text.trim_start().split_once(':') else {
        return false;
    };
    let may_be_scheme = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
    is_scheme(scheme.trim_end()) || rest.starts_with("//") && scheme.chars().all(may_be_scheme)
}

/// Refuses a password after the user, and each `@` that could end one. The client splits at the first
/// `@`, wherever that is.
fn check_user(rest: &str) -> Result<(), DatabaseError> {
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let user = rest[..end].rsplit_once('@').map(|(user, _)| user);
    if let Some(user) = user
        && decoded(user)?.contains(':')
    {
        return Err(DatabaseError::Password);
    }
    let user_and_at = user.map_or(0, |user| user.len() + 1);
    if user.is_some_and(|user| user.contains('@')) || rest[user_and_at..].contains('@') {
        return Err(refused(
            "it contains an @ that does not end the user: write it as %40, and put a password into \
             PGPASSWORD",
        ));
    }
    Ok(())
}

/// The parameters of an address.
#[derive(Default)]
struct Parameters<'a> {
    session: Option<String>,
    mirror: Option<PathBuf>,
    /// The others, as they were written: the client decodes `%20`, and takes `+` for itself.
    rest: Vec<&'a str>,
}

impl<'a> Parameters<'a> {
    fn of(query: &'a str) -> Result<Self, DatabaseError> {
        let mut found = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| refused("a parameter has no value"))?;
            match &*decoded(name)? {
                "password" => return Err(DatabaseError::Password),
                "session" if found.session.is_some() => {
                    return Err(refused("it names two sessions"));
                }
                "session" => found.session = Some(session_of(value)?),
                "mirror" if found.mirror.is_some() => {
                    return Err(refused("it names two mirrors"));
                }
                "mirror" => found.mirror = Some(mirror_of(value)?),
                // The demand for TLS and the password file go by the host alone.
                "hostaddr" => {
                    return Err(refused(
                        "it has the parameter hostaddr: give the IP address as HOST instead",
                    ));
                }
                "user" if decoded(value)?.contains(':') => return Err(DatabaseError::Password),
                "sslmode" if matches!(&*decoded(value)?, "verify-ca" | "verify-full") => {
                    return Err(refused(VERIFIES));
                }
                "sslrootcert" => return Err(refused(VERIFIES)),
                _ => found.rest.push(pair),
            }
        }
        Ok(found)
    }
}

const VERIFIES: &str = "comail always verifies the certificate when it uses TLS: leave sslmode and \
                        sslrootcert out, and name the certificate of your own authority in \
                        PGSSLROOTCERT";

fn decoded(text: &str) -> Result<Cow<'_, str>, DatabaseError> {
    percent_decode_str(text)
        .decode_utf8()
        .map_err(|_| refused("it is not UTF-8"))
}

fn session_of(value: &str) -> Result<String, DatabaseError> {
    let name = decoded(value)?;
    if name.is_empty() {
        return Err(refused("it names no session"));
    }
    if name.len() > MAX_SESSION {
        return Err(DatabaseError::Url(format!(
            "the name of the session is longer than {MAX_SESSION} bytes"
        )));
    }
    if name.chars().any(char::is_control) {
        return Err(refused(
            "the name of the session contains a control character",
        ));
    }
    Ok(name.into_owned())
}

/// The directory after `mirror=`. The address is also stored in files, where a relative path would
/// depend on the directory of each command.
fn mirror_of(value: &str) -> Result<PathBuf, DatabaseError> {
    let bytes: Vec<u8> = percent_decode_str(value).collect();
    if bytes.iter().any(u8::is_ascii_control) {
        return Err(refused(
            "the path after mirror= contains a control character",
        ));
    }
    let path = PathBuf::from(OsString::from_vec(bytes));
    if !path.is_absolute() {
        return Err(refused("mirror= needs an absolute path"));
    }
    Ok(path)
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
        is_address(&named.to_string_lossy()).then(|| match named.to_str() {
            Some(text) => text.parse(),
            None => Err(refused("it is not UTF-8")),
        })
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
        self.config_with(&|name| env::var_os(name), account)
    }

    fn config_with(
        &self,
        variables: Variables<'_>,
        account: impl FnOnce() -> Option<String>,
    ) -> Result<Config, DatabaseError> {
        let parsed: Result<Config, _> = self.server.parse();
        let mut config = parsed.map_err(|why| DatabaseError::Url(describe(&why)))?;
        // As for libpq, an empty variable is unset.
        let given = |name: &str| variables(name).filter(|value| !value.is_empty());
        if config.get_user().is_none_or(str::is_empty) {
            let text = |name| given(name).and_then(|value| value.into_string().ok());
            let user = text("PGUSER")
                .or_else(account)
                .or_else(|| text("USER"))
                .or_else(|| text("LOGNAME"));
            if let Some(user) = user {
                config.user(&user);
            }
        }
        let password = match given(PASSWORD) {
            Some(password) => Some(password.into_vec()),
            None => of_file(&config, &given)?.map(String::into_bytes),
        };
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

/// The name of the user of this process, whom libpq takes if nobody names one.
fn account() -> Option<String> {
    let user = User::from_uid(geteuid()).ok().flatten();
    user.map(|user| user.name)
}

/// The password of the first line of the password file that fits, as libpq looks it up. A file that
/// cannot be used is an error: without a password, the server would say nothing about the file.
fn of_file(config: &Config, given: Variables<'_>) -> Result<Option<String>, DatabaseError> {
    let path = match (given(PASSWORD_FILE), given("HOME")) {
        (Some(named), _) => PathBuf::from(named),
        (None, Some(home)) => {
            let default = Path::new(&home).join(".pgpass");
            if !default.exists() {
                return Ok(None);
            }
            default
        }
        (None, None) => return Ok(None),
    };
    let refused = |why: String| DatabaseError::PasswordFile {
        path: path.clone(),
        why,
    };
    let failed = |why: std::io::Error| refused(why.to_string());
    let file = files::open(&path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode();
    // systemd lets the user of a service read a credential through an access control list, which shows
    // in the mode as a right of the group. Nobody else gets into the directory.
    let is_credential = given("CREDENTIALS_DIRECTORY").is_some_and(|dir| path.starts_with(dir));
    let others = if is_credential { 0o037 } else { 0o077 };
    if mode & others != 0 {
        let why = "other users may open it; take their rights away with `chmod 600`";
        return Err(refused(why.to_owned()));
    }
    let bytes = files::whole(file, MAX_PASSWORD_FILE).map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8".to_owned()))?;
    Ok(password_in(&text, config))
}

fn password_in(text: &str, config: &Config) -> Option<String> {
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

    /// How to reach the server where only these variables are set.
    fn config(text: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
        let account = || Some("kim".to_owned());
        config_of(text, variables, account)
    }

    fn config_of(
        text: &str,
        variables: &[(&str, &str)],
        account: impl FnOnce() -> Option<String>,
    ) -> Result<Config, String> {
        let value = |name: &str| {
            let found = variables.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| OsString::from(value))
        };
        url(text)?
            .config_with(&value, account)
            .map_err(|why| why.to_string())
    }

    #[test]
    fn takes_its_own_parameters_and_leaves_the_others() {
        let text = "postgres://judge@db.test:5433/work?session=firms&sslmode=disable&mirror=/m";
        let read = url(text).unwrap();
        assert_eq!(read.to_string(), text);
        assert_eq!(read.session(), "firms");
        assert_eq!(read.mirror().unwrap(), Path::new("/m"));
        assert_eq!(
            read.server,
            "postgres://judge@db.test:5433/work?sslmode=disable"
        );
        let read = url("postgresql:///work?host=/run/postgresql&session=a%20b").unwrap();
        assert_eq!(read.session(), "a b");
    }

    #[test]
    fn a_connection_that_leaves_the_machine_uses_tls() {
        for (rest, mode) in [
            ("db.test/work?session=x&sslmode=disable", SslMode::Disable),
            ("/work?session=x&host=/run/postgresql", SslMode::Prefer),
            ("localhost/work?session=x", SslMode::Prefer),
            ("[::1]/work?session=x", SslMode::Prefer),
            ("db.test/work?session=x", SslMode::Require),
            ("localhost,db.test/work?session=x", SslMode::Require),
            ("localhost/work?session=x&host=db.test", SslMode::Require),
            ("db.test/work?session=x&sslmode=prefer", SslMode::Require),
        ] {
            let config = config(&format!("postgres://{rest}"), &[]).unwrap();
            assert_eq!(config.get_ssl_mode(), mode, "{rest}");
        }
        for name in ["hostaddr", "host%61ddr"] {
            let text = format!("postgres://localhost/work?session=x&{name}=203.0.113.7");
            let why = url(&text).unwrap_err();
            assert!(why.contains("give the IP address as HOST"), "{why}");
        }
    }

    #[test]
    fn says_how_certificates_are_verified() {
        for parameter in [
            "sslmode=verify-full",
            "sslmode=verify-c%61",
            "sslrootcert=/etc/ca.pem",
        ] {
            let text = format!("postgres://db.test/work?session=x&{parameter}");
            let why = url(&text).unwrap_err();
            assert!(why.contains("PGSSLROOTCERT"), "{why}");
        }
    }

    #[test]
    fn parameters_are_percent_encoded_and_nothing_else() {
        let read = url(
            "postgres:///work?options=-c%20geqo=off+1&&session=a+b%26c&host=/a%20b&mirror=/m+%20m&",
        );
        let read = read.unwrap();
        assert_eq!(read.session(), "a+b&c");
        assert_eq!(read.mirror().unwrap(), Path::new("/m+ m"));
        assert_eq!(
            read.server,
            "postgres:///work?options=-c%20geqo=off+1&host=/a%20b"
        );
        let config = read.config_with(&|_| None, || None).unwrap();
        assert_eq!(config.get_options(), Some("-c geqo=off+1"));
        assert_eq!(config.get_hosts(), [Host::Unix("/a b".into())]);
    }

    #[test]
    fn refuses_a_password_and_does_not_repeat_it() {
        for text in [
            "postgres://judge:secret@db.test/work?session=x",
            "postgres://judge@db.test/work?session=x&password=secret",
            "postgres://judge@db.test/work?session=x&p%61ssword=secret",
            "postgres://judge%3Asecret@db.test/work?session=x",
            "postgres:///work?user=judge:secret&session=x",
            "POSTGRES://judge:secret@db.test/work?session=x",
            " \n postgres://judge:secret@db.test/work?session=x",
            "postgres://judge:se@secret@db.test/work?session=x",
            "postgres://judge:se#secret@db.test/work?session=x",
            "postgres://judge:12/secret@db.test/work?session=x",
            "postgres://judge:12?secret@db.test/work?session=x",
        ] {
            let why = DatabaseUrl::of(Path::new(text)).unwrap().unwrap_err();
            let why = why.to_string();
            assert!(
                why.contains("PGPASSWORD") && !why.contains("secret"),
                "{why}"
            );
        }
        for text in [
            "postgres:judge:secret@db.test",
            "postgres:/judge:secret@db.test/work?session=x",
            "postgres ://judge:secret@db.test/work?session=x",
            "\"postgres://judge:secret@db.test/work?session=x\"",
            "COMAIL_SESSION=postgres://judge:secret@db.test/work?session=x",
            "judge:secret@db.test/work?session=x",
            "postgre://judge:secret@db.test/work?session=x",
            "postgres://judge\0:secret@db.test/work?session=x",
        ] {
            let why = DatabaseUrl::of(Path::new(text)).unwrap().unwrap_err();
            let why = why.to_string();
            assert!(!why.contains("secret"), "{why}");
        }
        let bytes = OsString::from_vec(b"postgres://judge:\xff@db.test/work?session=x".to_vec());
        assert!(DatabaseUrl::of(Path::new(&bytes)).is_some_and(|it| it.is_err()));
    }

    #[test]
    fn refuses_what_is_missing_doubled_or_wrong() {
        let long = format!("session={}", "é".repeat(51));
        for (query, part) in [
            ("", "no session"),
            ("session=", "no session"),
            ("session", "no value"),
            ("session=x&port=none", "port"),
            ("session=x&colour=red", "colour"),
            ("session=x&session=x", "two sessions"),
            ("session=x&mirror=/m&mirror=/n", "two mirrors"),
            ("session=x&mirror=", "absolute path"),
            ("session=x&mirror=m", "absolute path"),
            ("session=x&mirror=%2Fm%00", "control character"),
            ("session=x#part", "%23"),
            ("session=a%0Ab", "control character"),
            ("session=a%00b", "control character"),
            ("session=%FF", "UTF-8"),
            ("session=a@b", "%40"),
            (&long, "100 bytes"),
        ] {
            let why = url(&format!("postgres://db.test/work?{query}")).unwrap_err();
            assert!(why.contains(part), "{query}: {why}");
        }
        let most = format!(
            "postgres://db.test/work?session={}",
            "x".repeat(MAX_SESSION)
        );
        assert!(url(&most).is_ok());
        let nowhere = url("postgres:///work?session=x").unwrap_err();
        assert!(nowhere.contains("names no host"), "{nowhere}");
    }

    #[test]
    fn a_directory_is_no_address() {
        for text in [".comail", "/srv/postgres", "postgres", "a:b", "./a://b"] {
            assert!(DatabaseUrl::of(Path::new(text)).is_none(), "{text}");
        }
        for text in [
            "postgres://h/d?session=x",
            "PostgreSQL://h/d?session=x",
            " postgres://h/d?session=x\n",
        ] {
            let read = DatabaseUrl::of(Path::new(text)).unwrap().unwrap();
            assert_eq!(
                read.to_string(),
                text.trim().replace("PostgreSQL", "postgresql")
            );
        }
        assert!(DatabaseUrl::of(Path::new("postgresql://h/d")).is_some_and(|it| it.is_err()));
    }

    #[test]
    fn the_user_is_named_by_the_address_the_environment_or_the_account() {
        let variables = [("PGUSER", "lee"), ("USER", "root")];
        let user = |text, variables| {
            config(text, variables)
                .unwrap()
                .get_user()
                .map(str::to_owned)
        };
        let named = "postgres://judge@db.test/work?session=x";
        let nameless = "postgres://db.test/work?session=x";
        assert_eq!(user(named, &variables).as_deref(), Some("judge"));
        assert_eq!(user(nameless, &variables).as_deref(), Some("lee"));
        assert_eq!(user(nameless, &[("PGUSER", "")]).as_deref(), Some("kim"));
        let config = config_of(nameless, &[("LOGNAME", "jo")], || None).unwrap();
        assert_eq!(config.get_user(), Some("jo"));
    }

    #[test]
    fn a_password_file_that_cannot_be_used_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().to_str().unwrap();
        let file = place.path().join(".pgpass");
        let password = |variables: &[(&str, &str)]| {
            let config = config("postgres://db.test/work?session=x", variables)?;
            let password = config.get_password().map(<[u8]>::to_vec);
            Ok::<_, String>(password.map(|it| String::from_utf8(it).unwrap()))
        };
        let is = |password: &str| Ok(Some(password.to_owned()));
        let default = [("HOME", home), ("PGPASSWORD", ""), ("PGPASSFILE", "")];
        let named = [("PGPASSFILE", file.to_str().unwrap())];
        assert_eq!(password(&default), Ok(None));
        let why = password(&named).unwrap_err();
        assert!(why.contains("No such file"), "{why}");

        std::fs::write(&file, "db.test:5432:work:kim:secret\n").unwrap();
        let set_mode = |mode| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&file, mode).unwrap();
        };
        set_mode(0o640);
        for variables in [&default[..], &named] {
            let why = password(variables).unwrap_err();
            assert!(
                why.contains("chmod 600") && !why.contains("secret"),
                "{why}"
            );
        }
        assert_eq!(password(&[named[0], ("PGPASSWORD", "other")]), is("other"));
        // As systemd gives credentials to a service.
        set_mode(0o440);
        let credential = [named[0], ("CREDENTIALS_DIRECTORY", home)];
        assert_eq!(password(&credential), is("secret"));
        set_mode(0o444);
        assert!(password(&credential).is_err());
        set_mode(0o600);
        assert_eq!(password(&default), is("secret"));
        assert_eq!(password(&named), is("secret"));
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
