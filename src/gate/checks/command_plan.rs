//! What the checks that run commands have in common: from the keys of a table to a command, and
//! from its result to facts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::field_usage::{PREFIX, as_variable, field_variable, read_by_variable};
use super::fields::shown;
use super::kind::{Flaw, Source};
use super::outside::Outside;
use crate::base::text::{named, truncate, truncate_start};
use crate::gate::Fact;
use crate::quest::template::{Names, Template, Values};
use crate::quest::{ByteSize, Span};
use crate::world::sandbox::{CommandResult, CommandSpec, End, Network, Started};

/// What a command may reach, as a quest file spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkName {
    /// Nothing.
    None,
    /// The services that it names.
    Loopback,
    /// Everything.
    Any,
}

/// The keys that say how a command is run, whatever it is.
#[derive(Debug, Clone)]
pub struct RunKeys {
    pub env: BTreeMap<String, String>,
    /// Variables of `scan`'s own environment.
    pub pass_env: Vec<String>,
    pub timeout: Span,
    pub output_cap: ByteSize,
    pub network: Option<NetworkName>,
    pub services: Vec<String>,
}

/// How long a command may take where its table does not say.
pub const fn a_minute() -> Span {
    Span::from_millis(60_000)
}

/// How much it may print where its table does not say.
pub const fn ten_mebibytes() -> ByteSize {
    ByteSize::mebibytes(10)
}

/// All of a command but what the submission and the services put into it.
pub struct CommandPlan {
    pub check: String,
    program: String,
    arguments: Vec<Template>,
    /// The variables that are the same for every submission.
    fixed: BTreeMap<String, String>,
    env: BTreeMap<String, Template>,
    network: NetworkName,
    keys: RunKeys,
}

impl CommandPlan {
    /// The plan for the program and arguments that are the value of `key`.
    pub fn build(
        key: &'static str,
        argv: &[String],
        keys: RunKeys,
        source: &Source<'_>,
    ) -> Result<Self, Flaw> {
        let names = names(&keys.services, source)?;
        for text in argv.iter().chain(keys.env.values()) {
            source.given(read_by_variable(text, &source.file.fields));
        }
        let Some((program, rest)) = argv.split_first() else {
            return Err(Flaw::new(key, "it is empty: name a program"));
        };
        let arguments = rest
            .iter()
            .map(|text| source.template_of(key, text, &names));
        let env = keys.env.iter().map(|(name, text)| {
            check_name("env", name)?;
            Ok((name.clone(), source.template_of("env", text, &names)?))
        });
        no_variable_twice(source)?;
        Ok(Self {
            check: source.head.name.clone(),
            program: program_path(key, program, source, &names)?,
            arguments: arguments.collect::<Result<_, _>>()?,
            fixed: fixed_variables(&keys.pass_env, source)?,
            env: env.collect::<Result<_, _>>()?,
            network: network(&keys)?,
            keys,
        })
    }

    /// The values of this judgement, with what is known of the services once they are up.
    pub fn values(&self, context: &Context<'_>) -> Result<Values, Fact> {
        let mut values = context.values.clone();
        for name in &self.keys.services {
            let port = match context.world.sandbox.service(name, context.place) {
                Started::Listening { port } => port,
                Started::Failed(why) => {
                    let expected = format!("the service {name} is up");
                    return Err(Fact::wrong(expected, why).unconfirmed());
                }
            };
            let url = format!("http://127.0.0.1:{port}");
            let known = [("port", port.to_string()), ("url", url)];
            let known = known.map(|(what, text)| (what.to_owned(), text));
            values.service.insert(name.clone(), known.into());
        }
        Ok(values)
    }

    pub fn order(&self, context: &Context<'_>, values: &Values) -> Result<CommandSpec, Fact> {
        let mut argv = vec![self.program.clone()];
        for (place, template) in self.arguments.iter().enumerate() {
            let argument = argument(template, values);
            argv.push(argument.map_err(|wrong| wrong.at(format!("argv[{}]", place + 1)))?);
        }
        let env = self.environment(context, values)?;
        let texts = argv.iter().chain(env.keys()).chain(env.values());
        let sum: usize = texts.map(String::len).sum();
        if sum > MAX_IN_ALL {
            let expected = format!("arguments and variables of at most {MAX_IN_ALL} bytes in all");
            return Err(Fact::wrong(expected, format!("{sum} bytes")));
        }
        let port = |known: &BTreeMap<String, String>| known.get("port")?.parse().ok();
        Ok(CommandSpec {
            name: self.check.clone(),
            argv,
            env,
            timeout_ms: self.keys.timeout.millis().into(),
            output_bytes: self.keys.output_cap.bytes(),
            network: match self.network {
                NetworkName::None => Network::None,
                NetworkName::Any => Network::Any,
                NetworkName::Loopback => Network::Loopback {
                    ports: values.service.values().filter_map(port).collect(),
                },
            },
            place: context.place,
            ..CommandSpec::default()
        })
    }

    fn environment(
        &self,
        context: &Context<'_>,
        values: &Values,
    ) -> Result<BTreeMap<String, String>, Fact> {
        let mut all = self.fixed.clone();
        for (name, template) in &self.env {
            let text = given(template, values, "a variable");
            let text = text.map_err(|wrong| wrong.at(format!("env.{name}")))?;
            all.insert(name.clone(), text);
        }
        for field in &context.kind.fields {
            if let Some(text) = context.field(&field.name) {
                fits_a_program(text).map_err(|wrong| wrong.on(&field.name))?;
                all.insert(field_variable(&field.name), text.to_owned());
            }
        }
        let cells = context.kind.columns.iter().map(|column| {
            let text = values.input.get(column).cloned().unwrap_or_default();
            (column_variable(column), text)
        });
        let quest = [("KEY", &values.key), ("ID", &values.id)];
        let quest = quest.map(|(name, text)| (format!("{PREFIX}{name}"), text.clone()));
        for (variable, text) in cells.chain(quest) {
            fits_a_program(&text).map_err(|wrong| wrong.at(&*variable))?;
            all.insert(variable, text);
        }
        Ok(all)
    }

    /// That the command came to an end by itself.
    pub fn ended(&self, ran: &CommandResult) -> Result<(), Fact> {
        Err(match &ran.end {
            End::Exited(_) => return Ok(()),
            End::Signalled(signal) => {
                let actual = format!("it was killed by signal {signal}: {}", tail(ran));
                Fact::wrong("it exits by itself", actual)
            }
            End::TimedOut => {
                let span = self.keys.timeout;
                let actual = format!(
                    "it was still running after {span}, and was stopped with everything that it had started"
                );
                Fact::wrong(format!("it ends within {span}"), actual)
            }
            End::TooMuchOutput => {
                let expected = format!("it prints at most {} bytes", self.keys.output_cap.bytes());
                Fact::wrong(expected, "it printed more, and was stopped")
            }
            End::Withheld(why) => Fact::wrong("its output", why.clone()).unconfirmed(),
            End::NotStarted(why) => Fact::wrong("it can be started", why.clone()).unconfirmed(),
        })
    }
}

/// What the texts of a command may name: of the services those alone that are started for it.
pub fn names(services: &[String], source: &Source<'_>) -> Result<Names, Flaw> {
    for name in services {
        source.service("services", name)?;
    }
    let services = services.iter().map(String::as_str);
    Ok(source.file.names_with(services))
}

fn program_path(
    key: &'static str,
    name: &str,
    source: &Source<'_>,
    names: &Names,
) -> Result<String, Flaw> {
    let fixed = Template::parse(name, names).is_ok_and(|name| name.is_fixed());
    if name.trim().is_empty() || !fixed {
        let what = "the first element is the program's name, the same for every quest";
        return Err(Flaw::new(key, what));
    }
    let pinned = source.outside.program(name);
    let pinned = pinned.map_err(|missing| Flaw::new(key, missing.to_string()))?;
    let path = pinned.path.to_str().map(str::to_owned);
    path.ok_or_else(|| Flaw::new(key, format!("the path of `{name}` is not UTF-8")))
}

fn network(keys: &RunKeys) -> Result<NetworkName, Flaw> {
    let what = match (keys.network, keys.services.is_empty()) {
        (None, true) => return Ok(NetworkName::None),
        (None, false) => return Ok(NetworkName::Loopback),
        (Some(NetworkName::Loopback), true) => {
            "it may reach only the services that `services` names, but none is named"
        }
        (Some(NetworkName::None), false) => "services are reached over the network: say `loopback`",
        (Some(network), _) => return Ok(network),
    };
    Err(Flaw::new("network", what))
}

fn fixed_variables(
    pass_env: &[String],
    source: &Source<'_>,
) -> Result<BTreeMap<String, String>, Flaw> {
    let mut fixed = nobodys(source.outside);
    for name in pass_env {
        check_name("pass_env", name)?;
        let value = source.outside.variable(name);
        let value = value.map_err(|missing| Flaw::new("pass_env", missing.to_string()))?;
        fixed.insert(name.clone(), value);
    }
    Ok(fixed)
}

fn column_variable(column: &str) -> String {
    format!("{PREFIX}INPUT_{}", as_variable(column))
}

/// That no two fields or columns would be one variable.
fn no_variable_twice(source: &Source<'_>) -> Result<(), Flaw> {
    let fields = source.file.fields.iter().map(|field| field.name.as_str());
    let fields = fields.map(|name| (format!("{PREFIX}FIELD_{}", as_variable(name)), name));
    let columns = source.file.input.columns();
    let columns = columns.map(|name| (column_variable(name), name));
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for (variable, name) in fields.chain(columns) {
        if let Some(other) = known.get(&variable).filter(|other| **other != name) {
            let what = format!("`{other}` and `{name}` would both be the variable {variable}");
            return Err(Flaw::new("argv", what));
        }
        known.insert(variable, name);
    }
    Ok(())
}

/// The argument, which no program takes for more than the quest file means by it.
///
/// Not even after a `--`: some programs read options there as well, and others hand what follows
/// on to a program that does.
fn argument(template: &Template, values: &Values) -> Result<String, Fact> {
    let text = given(template, values, "an argument")?;
    let is_made = |sign| text.starts_with(sign) && !template.source().starts_with(sign);
    if is_made('-') {
        return Err(Fact::wrong(
            "an argument that is not an option",
            shown(&text),
        ));
    }
    if is_made('@') {
        let expected = "an argument that does not name a file of arguments";
        return Err(Fact::wrong(expected, shown(&text)));
    }
    Ok(text)
}

/// The text of `template`, which a program can be given.
fn given(template: &Template, values: &Values, what: &str) -> Result<String, Fact> {
    let text = template.render(values);
    let text = text.map_err(|bad| Fact::wrong(what, bad.to_string()))?;
    fits_a_program(&text)?;
    Ok(text)
}

/// What a program finds where the quest file says nothing else.
pub fn nobodys(outside: &dyn Outside) -> BTreeMap<String, String> {
    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let mut known: BTreeMap<_, _> = NOBODYS.map(own).into();
    if let Ok(path) = outside.variable("PATH") {
        known.insert(String::from("PATH"), absolute(&path));
    }
    known
}

const NOBODYS: [(&str, &str); 2] = [("HOME", "/nonexistent"), ("PYTHONNOUSERSITE", "1")];

/// The directories of a search path that do not depend on where a program starts.
fn absolute(path: &str) -> String {
    let kept: Vec<_> = path.split(':').filter(|dir| dir.starts_with('/')).collect();
    kept.join(":")
}

fn check_name(key: &'static str, name: &str) -> Result<(), Flaw> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(Flaw::new(key, format!("{name:?} cannot name a variable")));
    }
    if name.starts_with(PREFIX) {
        let what = format!("`{name}`: variables that begin with {PREFIX} are set by comail");
        return Err(Flaw::new(key, what));
    }
    Ok(())
}

/// The bytes that one argument or variable may have: systems take no more than 128 KiB.
const MAX_TEXT: usize = 100_000;

const MAX_IN_ALL: usize = 500_000;

fn fits_a_program(text: &str) -> Result<(), Fact> {
    if text.contains('\0') {
        let expected = "a text without NUL, which no program can receive";
        return Err(Fact::wrong(expected, "a text with NUL"));
    }
    if text.len() > MAX_TEXT {
        let expected = format!("at most {MAX_TEXT} bytes, since a program is given it");
        return Err(Fact::wrong(expected, format!("{} bytes", text.len())));
    }
    Ok(())
}

/// The most characters of each output that a fact shows.
const MAX_SHOWN: usize = 2_000;

/// How many of the files are named that the tree lacks.
const MAX_NAMED: usize = 3;

/// The part that counts of both outputs, the error stream's after the other's, and what the tree
/// lacks.
pub fn tail(ran: &CommandResult) -> String {
    let ends = [&ran.stdout, &ran.stderr].map(|bytes| excerpt(&String::from_utf8_lossy(bytes)));
    let said = match ends.each_ref().map(String::as_str) {
        ["", ""] => String::from("it printed nothing"),
        [one, ""] | ["", one] => one.to_owned(),
        [out, err] => format!("{out}\n{err}"),
    };
    match named(&ran.left_out, MAX_NAMED) {
        None => said,
        Some(left_out) => format!("{said}\n(not part of the tree: {left_out})"),
    }
}

/// Whether the command printed or reported this text.
pub fn says(ran: &CommandResult, text: &str) -> bool {
    let outputs = [&ran.stdout, &ran.stderr].into_iter();
    let mut outputs = outputs.chain(ran.reports.values().flatten());
    outputs.any(|bytes| String::from_utf8_lossy(bytes).contains(text))
}

/// The end of a long output, or its part from the first error on: `cargo` and `rustc` print warnings
/// after it.
fn excerpt(text: &str) -> String {
    let text = text.trim();
    let mut lines = text.match_indices("error").map(|(at, _)| at);
    let error = lines.find(|at| {
        let follows = text[at + "error".len()..].starts_with([':', '[']);
        follows && (*at == 0 || text[..*at].ends_with('\n'))
    });
    match error.filter(|_| text.chars().count() > MAX_SHOWN) {
        Some(at) => truncate(&text[at..], MAX_SHOWN).into_owned(),
        None => truncate_start(text, MAX_SHOWN).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::sandbox::{Confinement, End};
    use std::collections::BTreeMap;

    #[test]
    fn names_become_variables() {
        assert_eq!(as_variable("test_file"), "TEST_FILE");
        assert_eq!(as_variable("first-line"), "FIRST_LINE");
        assert_eq!(as_variable("Zeile = 1\n"), "ZEILE___1_");
        assert_eq!(as_variable("주소"), "주소");
    }

    #[test]
    fn a_search_path_keeps_what_is_absolute() {
        assert_eq!(absolute("/usr/bin:.::bin:/bin"), "/usr/bin:/bin");
        assert_eq!(absolute("."), "");
    }

    fn of(stdout: &[u8], stderr: &[u8]) -> String {
        tail(&CommandResult {
            end: End::Exited(1),
            stdout: stdout.to_vec(),
            stderr: stderr.to_vec(),
            reports: BTreeMap::new(),
            confinement: Confinement::default(),
            millis: 0,
            left_out: Vec::new(),
        })
    }

    #[test]
    fn an_error_is_shown_rather_than_the_warnings_after_it() {
        let warnings = "warning: unused import: `std::fmt`\n --> src/lib.rs:1:5\n".repeat(100);
        let ends = "error: could not compile `acme` (lib) due to 1 previous error\n";
        let error = "error[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:7:5\n";
        let cargo = format!("{warnings}{error}{warnings}{ends}");
        let shown = of(b"", cargo.as_bytes());
        assert!(shown.starts_with(error), "{shown}");
        assert_eq!(shown.chars().count(), 2_001);
        // Other words with an error in them are none of cargo's.
        let other = format!("no errors: 0\nan error: x\n{warnings}");
        assert!(of(b"", other.as_bytes()).ends_with("src/lib.rs:1:5"));
        let short = format!("warning: a\n{error}");
        assert_eq!(of(b"", short.as_bytes()), short.trim());
    }

    #[test]
    fn says_what_the_tree_lacks() {
        let left_out = ["a", "b", "c", "d"].map(|name| format!("{name} is a socket"));
        let ran = CommandResult {
            left_out: left_out.into(),
            ..crate::gate::checks::tests::ran(End::Exited(1), "no")
        };
        assert_eq!(
            tail(&ran),
            "no\n(not part of the tree: a is a socket, b is a socket, c is a socket and 1 more)"
        );
    }

    #[test]
    fn shows_the_end_of_both() {
        assert_eq!(of(b"", b" \n"), "it printed nothing");
        assert_eq!(of(b"out\n", b""), "out");
        assert_eq!(of(b"", b"err\n"), "err");
        assert_eq!(of(b"out\n", b"err\n"), "out\nerr");
        assert_eq!(of(b"a\xffb", b""), "a\u{fffd}b");
        let long = "가".repeat(5_000);
        let shown = of(long.as_bytes(), b"");
        assert_eq!(shown.chars().count(), 2_001);
        assert!(shown.starts_with('…'));
        let both = of("a".repeat(5_000).as_bytes(), "b".repeat(5_000).as_bytes());
        assert_eq!(
            both,
            format!("…{}\n…{}", "a".repeat(2_000), "b".repeat(2_000))
        );
    }
}
