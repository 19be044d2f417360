//! The user's configuration file, `comail config`, and which session a command line means.
//!
//! A key of the file is a setting or the long name of a flag. The value of a flag becomes its default,
//! so the command-line parser checks it. There are no project files, because agents can write in a
//! project and could relax the rules for themselves. For the same reason commands that agents run,
//! such as `next` and `submit`, read only the session directory from the user's file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context as _, Result};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use schemars::JsonSchema;
use serde::Serialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::context::{Context, SESSION_VARIABLE, nearest_session};
use super::exit::{Exit, UsageError};
use super::help;
use super::settings::gate::GateTable;
use super::settings::network::NetworkTable;
use super::settings::run::RunTable;
use super::settings::scan::ScanTable;
use super::settings::{
    EXAMPLE, Place, Setting, Settings, command_of, flag_of, keys, parts, unknown_key,
};
use crate::base::files;
use crate::base::text::Escaped;
use crate::session::DatabaseUrl;

/// Print what your configuration file sets
///
/// A command-line flag takes precedence over an environment variable, and a variable over the
/// user's configuration file. The file applies to scan, run, until (as `[run]`), status, export,
/// report, log and insights; every other command reads only `session` from it. It never changes what `scan` froze.
/// A key in its tables that has no flag can be set for one command: `scan --set network.rate=2`.
/// `[notify]` names the command that gets the events of runs; `comail notify --help` says more.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Print a commented configuration file with every key
    #[arg(long)]
    example: bool,
}

const MAX_BYTES: u64 = 64 * 1024;

/// The commands that the whole file applies to.
const READERS: [&str; 10] = [
    "scan", "run", "until", "status", "export", "report", "log", "insights", "notify", "config",
];

/// The commands that use no session, so the file does not matter to them.
const WITHOUT_SESSION: [&str; 6] = ["completions", "config", "demo", "man", "notify", "session"];

const SESSION: &str = "session";

const NOTIFY: &str = "notify.command";

fn id(flag: &str) -> String {
    flag.replace('-', "_")
}

/// The keys whose paths are relative to the file. Otherwise they would depend on the working directory,
/// where agents can write.
const PATHS: [&str; 5] = [
    SESSION,
    "network.ca-cert",
    "run.lessons-from",
    "run.readable",
    "run.writable",
];

/// Whether the command line or the environment takes precedence over a key.
fn is_overridden(key: &str, given: &ArgMatches) -> bool {
    let is_given = |id: &str| {
        let is_known = given.try_contains_id(id).is_ok();
        is_known && given.value_source(id) == Some(ValueSource::CommandLine)
    };
    let by_another = match key {
        SESSION => variable(SESSION_VARIABLE).is_some(),
        "color" => variable("NO_COLOR").is_some(),
        // A custom command line of an agent names its model itself.
        "run.agent" => is_given("words"),
        "run.model" => is_given("words") || is_given("agent"),
        "export.format" => is_given("out"),
        _ => false,
    };
    by_another || is_given(&id(parts(key).1))
}

/// An environment variable; an empty one counts as unset.
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

pub(super) const RUN_VARIABLE: &str = "COMAIL_RUN";

/// Whether a run started the agent. Then no person can be asked, and the run hands out the quests.
pub(super) fn in_a_run() -> bool {
    variable(RUN_VARIABLE).is_some()
}

pub(super) fn user_file() -> Option<PathBuf> {
    user_file_in(variable)
}

fn user_file_in(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // The XDG Base Directory Specification says to ignore relative paths.
    let config = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.filter(|path| path.is_absolute());
    let home = || variable("HOME").map(|home| Path::new(&home).join(".config"));
    Some(config.or_else(home)?.join("comail").join("config.toml"))
}

/// Why someone other than `user` could have written a file with this owner and mode.
fn untrusted(owner: u32, user: u32, mode: u32) -> Option<&'static str> {
    if owner != user && owner != 0 {
        Some("it belongs to another user")
    } else if mode & 0o002 != 0 {
        Some("anyone can write to it")
    } else {
        None
    }
}

// The user's file, whether it exists or not.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Configuration {
    path: PathBuf,
    /// A file is ignored if someone other than the user could have written it.
    #[schemars(extend("enum" = ["read", "absent", "ignored"]))]
    state: &'static str,
    /// What the file sets; the values are as flags and `--set` take them.
    settings: BTreeMap<String, Setting>,
    #[serde(skip)]
    ignored: Option<&'static str>,
}

impl Configuration {
    /// Reads the file; with `session_only`, no other key is looked at.
    fn read(session_only: bool) -> Result<Self> {
        let mut file = Self {
            path: user_file().unwrap_or_default(),
            state: "absent",
            ..Self::default()
        };
        // A dangling link counts as existing, so that the user learns of the mistake.
        if fs::symlink_metadata(&file.path).is_err() {
            return Ok(file);
        }
        let unreadable = || format!("cannot read {}", file.path.display());
        let open = match files::open(&file.path) {
            // A run does not let its agents read the file, and they do not need it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && in_a_run() => {
                return Ok(file);
            }
            open => open.with_context(unreadable)?,
        };
        let metadata = open.metadata().with_context(unreadable)?;
        let user = nix::unistd::geteuid().as_raw();
        file.ignored = untrusted(metadata.uid(), user, metadata.mode());
        if file.ignored.is_some() {
            file.state = "ignored";
            return Ok(file);
        }
        let bytes = files::whole(open, MAX_BYTES).with_context(unreadable)?;
        let text = String::from_utf8(bytes).with_context(unreadable)?;
        file.settings = settings(&file.path, &text, session_only)?;
        file.state = "read";
        Ok(file)
    }

    fn check(&self, parser: &Command) -> Result<(), UsageError> {
        for (key, setting) in &self.settings {
            check_flag(key, setting, parser)?;
        }
        let mut settings = Settings(self.settings.clone());
        settings.0.retain(|key, _| flag_of(parser, key).is_none());
        settings.table::<NetworkTable>()?;
        settings.table::<GateTable>()?;
        settings.table::<ScanTable>()?;
        settings.table::<RunTable>()?;
        Ok(())
    }
}

/// Checks the value of a flag as the parser does; the tables check their own keys.
fn check_flag(key: &str, setting: &Setting, parser: &Command) -> Result<(), UsageError> {
    let Some(flag) = flag_of(parser, key).and_then(Arg::get_long) else {
        return Ok(());
    };
    let command = match parts(key).0 {
        "" => "status",
        command => command,
    };
    let words = ["comail", command].map(str::to_owned).into_iter();
    let flags = setting
        .values
        .iter()
        .map(|value| format!("--{flag}={value}"));
    match parser.clone().try_get_matches_from(words.chain(flags)) {
        Err(error) if REFUSALS.contains(&error.kind()) => {
            Err(setting.refused(key, &first_line(&error)))
        }
        // Other errors are about arguments that this line lacks.
        _ => Ok(()),
    }
}

/// The kinds of errors that a single flag can cause; the last one if it is repeated.
const REFUSALS: [ErrorKind; 3] = [
    ErrorKind::InvalidValue,
    ErrorKind::ValueValidation,
    ErrorKind::ArgumentConflict,
];

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

fn settings(path: &Path, text: &str, session_only: bool) -> Result<BTreeMap<String, Setting>> {
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let document = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line(span.start));
        let message = format!("{}:{line}: {}", path.display(), error.message().trim());
        UsageError(message).hint("`comail config --example` prints a valid file")
    })?;
    let mut settings = BTreeMap::new();
    for (name, value) in document.into_inner() {
        if session_only && name.get_ref() != SESSION {
            continue;
        }
        let start = name.span().start;
        let name = name.into_inner().into_owned();
        let pairs = match value.into_inner() {
            DeValue::Table(table) if keys().any(|key| parts(&key).0 == name) => {
                let pairs = table.into_iter().map(|(key, value)| {
                    let whole = format!("{name}.{}", key.get_ref());
                    (whole, key.span().start, value.into_inner())
                });
                pairs.collect()
            }
            value => vec![(name, start, value)],
        };
        for (key, start, value) in pairs {
            let place = Place::File {
                path: path.to_owned(),
                line: line(start),
            };
            let mut setting = Setting {
                values: Vec::new(),
                place,
            };
            if !keys().any(|known| known == key) {
                let known: Vec<String> = keys().collect();
                return Err(unknown_key(&setting.spot(&key), &key, &known).into());
            }
            let of_file = |value| in_place(&key, path, value);
            let values = texts(value).map(|it| it.into_iter().enumerate().map(of_file).collect());
            let wrong = "expected a string, a number, true or false, or a list of them";
            setting.values = values.ok_or_else(|| setting.refused(&key, wrong))?;
            settings.insert(key, setting);
        }
    }
    Ok(settings)
}

/// The text of a value, or of each in a list.
fn texts(value: DeValue<'_>) -> Option<Vec<String>> {
    let values = match value {
        DeValue::Array(values) => values.into_iter().map(Spanned::into_inner).collect(),
        value => vec![value],
    };
    let texts = values.into_iter().map(|value| match value {
        DeValue::String(text) => Some(text.into_owned()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(is_true) => Some(is_true.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    });
    texts.collect()
}

/// The value of a key at `index`, with a path made relative to the file.
fn in_place(key: &str, file: &Path, (index, value): (usize, String)) -> String {
    let is_program = key == NOTIFY && index == 0 && value.contains('/');
    let is_address = key == SESSION && DatabaseUrl::of(Path::new(&value)).is_some();
    if is_address || !is_program && !PATHS.contains(&key) {
        return value;
    }
    let place = files::directory_of(file).join(value);
    place.to_string_lossy().into_owned()
}

/// The command of the user that gets the events of runs; empty if none is set.
pub(super) fn notify_command() -> Result<Vec<String>> {
    let mut file = Configuration::read(false)?;
    let command = file.settings.remove(NOTIFY);
    Ok(command.map(|it| it.values).unwrap_or_default())
}

/// A command line with the settings of the user's file.
#[derive(Default)]
pub(super) struct Applied {
    pub(super) matches: ArgMatches,
    /// The keys that are not flags.
    pub(super) settings: Settings,
    pub(super) notes: Vec<String>,
}

/// Parses `args` again, with the settings of the user's file as the defaults of flags that
/// `matches` does not have.
pub(super) fn apply(parser: &Command, args: &[OsString], matches: ArgMatches) -> Result<Applied> {
    let mut applied = Applied {
        matches,
        ..Applied::default()
    };
    let Some((name, given)) = applied.matches.subcommand() else {
        return Ok(applied);
    };
    let is_reader = READERS.contains(&name);
    let uses_session = !WITHOUT_SESSION.contains(&name);
    let is_example = name == "config" && given.get_flag("example");
    if is_example || !is_reader && !uses_session {
        return Ok(applied);
    }
    let file = Configuration::read(!is_reader)?;
    let place = file.path.display();
    if let Some(why) = file.ignored {
        applied.notes.push(format!("{place} is ignored: {why}"));
    }
    let mut with_defaults = parser.clone();
    for (key, setting) in &file.settings {
        let command = match command_of(key) {
            // `until` runs an agent with the same flags.
            "run" if name == "until" => name,
            command => command,
        };
        if !command.is_empty() && command != name {
            continue;
        }
        if flag_of(parser, key).is_none() {
            applied.settings.0.insert(key.clone(), setting.clone());
            continue;
        }
        check_flag(key, setting, parser)?;
        if is_overridden(key, given) {
            continue;
        }
        let values = &setting.values;
        if key == SESSION && uses_session {
            let dir = values.join(", ");
            applied
                .notes
                .push(format!("using session {dir}, set in {place}"));
        }
        with_defaults = help::at(with_defaults, command, |command| {
            command.mut_arg(id(parts(key).1), |arg| arg.default_values(values.clone()))
        });
    }
    applied.matches = with_defaults
        .try_get_matches_from(args)
        .map_err(|error| UsageError(format!("{place}: {}", first_line(&error))))?;
    Ok(applied)
}

/// The session directory that `args` name, before clap parses them.
pub(super) fn session_of_args(args: &[OsString]) -> PathBuf {
    let joined = |arg: &OsString| arg.to_str()?.strip_prefix("--session=").map(PathBuf::from);
    let mut separate = args.iter().zip(args.iter().skip(1));
    let separate = separate.find(|(arg, _)| *arg == "--session");
    separate
        .map(|(_, dir)| PathBuf::from(dir))
        .or_else(|| args.iter().find_map(joined))
        .or_else(|| variable(SESSION_VARIABLE).map(PathBuf::from))
        .or_else(|| {
            let file = Configuration::read(true).ok()?;
            Some(PathBuf::from(file.settings.get(SESSION)?.values.first()?))
        })
        .unwrap_or_else(nearest_session)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Example {
    text: &'static str,
}

pub(super) fn run(context: &mut Context, args: &ConfigArgs) -> Result<Exit> {
    if args.example {
        let example = Example { text: EXAMPLE };
        context.output.keep_lines();
        context.output.show(&example, |out, example| {
            out.line(example.text.trim_end());
        })?;
        return Ok(Exit::Done);
    }
    let file = Configuration::read(false)?;
    file.check(&context.parser)?;
    context.output.show(&file, |out, it| {
        let path = it.path.display().to_string();
        out.line(format!("{} ({})", Escaped(&path), it.state));
        for (key, setting) in &it.settings {
            let values = setting.values.join(", ");
            out.line(format!("{key} = {}", Escaped(&values)));
        }
        out.line("`comail config --example` explains every key.");
    })?;
    Ok(Exit::Done)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The keys that the example does not explain. The explanation of a flag must be the flag's help.
    pub(in crate::cli) fn undocumented_keys(parser: &Command) -> Vec<String> {
        let missing = keys().filter(|key| {
            let (_, flag) = parts(key);
            let Some(argument) = flag_of(parser, key) else {
                // Some words must be above it.
                let key = format!("\n# {flag} = ");
                let mut blocks = EXAMPLE.split("\n\n");
                return !blocks.any(|block| block.contains(&key));
            };
            let help = argument.get_help();
            let help = help.map(|help| help.to_string().replace('\n', " "));
            let comment = help.map(|help| format!("# {help}\n# {flag} = "));
            !comment.is_some_and(|comment| EXAMPLE.contains(&comment))
        });
        missing.collect()
    }

    #[test]
    fn a_session_is_relative_to_the_file() {
        let session = settings(Path::new("/p/config.toml"), "session = \"w\"\nx = 1", true);
        assert_eq!(session.unwrap()[SESSION].values, ["/p/w"]);
        let address = "postgres://db.test/work?session=x";
        let session = settings(
            Path::new("/p/config.toml"),
            &format!("session = {address:?}"),
            true,
        );
        assert_eq!(session.unwrap()[SESSION].values, [address]);
    }

    #[test]
    fn a_program_is_relative_to_the_file_and_a_bare_name_is_not() {
        let program = |word: &str| {
            let text = format!("[notify]\ncommand = [{word:?}, \"-u\"]");
            let read = settings(Path::new("/p/config.toml"), &text, false);
            read.unwrap().remove(NOTIFY).unwrap().values
        };
        assert_eq!(program("./tell"), ["/p/./tell", "-u"]);
        assert_eq!(program("/bin/tell"), ["/bin/tell", "-u"]);
        assert_eq!(program("tell"), ["tell", "-u"]);
    }

    #[test]
    fn the_file_is_where_configuration_files_are() {
        let path = |config: Option<&str>, home: Option<&str>| {
            let found = user_file_in(|name| match name {
                "XDG_CONFIG_HOME" => config.map(OsString::from),
                "HOME" => home.map(OsString::from),
                _ => None,
            });
            found.map(|path| path.display().to_string())
        };
        let usual = Some("/home/kim/.config/comail/config.toml".to_owned());
        assert_eq!(path(None, Some("/home/kim")), usual);
        assert_eq!(path(Some("relative"), Some("/home/kim")), usual);
        let named = Some("/x/comail/config.toml".to_owned());
        assert_eq!(path(Some("/x"), Some("/home/kim")), named);
        assert_eq!(path(None, None), None);
    }

    #[test]
    fn a_file_that_others_can_write_is_ignored() {
        assert_eq!(untrusted(1000, 1000, 0o644), None);
        assert_eq!(untrusted(0, 1000, 0o644), None);
        assert!(untrusted(1001, 1000, 0o644).is_some());
        assert!(untrusted(1000, 0, 0o644).is_some());
        assert!(untrusted(1000, 1000, 0o666).is_some());
    }
}
