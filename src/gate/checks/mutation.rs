//! `mutation`: the tests turn red when the quest's own code is changed, and stay green when it is
//! only written in another way.

#[cfg(test)]
mod tests;

use std::ops::{Range, RangeInclusive};

use regex::{Captures, Regex};
use schemars::JsonSchema;
use serde::Deserialize;

use super::command::{CommandConfig, from_command};
use super::command_plan::tail;
use super::context::Context;
use super::grammar::{Language, comments};
use super::kind::{Check, CheckConfig, Flaw, Found, Source, default_number};
use super::mutants::{Mutant, Neutral, mutants, neutral};
use super::own_lines::{OwnLines, Place};
use super::trial::Trial;
use crate::base::Digest;
use crate::base::text::truncate;
use crate::gate::common_rules::NEUTRAL_CHANGE;
use crate::gate::{Cost, Fact, Rule};

/// `kind = "mutation"`.
///
/// First the tests run over code that is only written in another way: with one more comment, an
/// empty line, wider spaces, and a local variable of another name. Where they fail, they look at the
/// code's text, which is FAIL by the rule `neutral-change`. Then they run over one mutant after the
/// other, until the result is known. A mutant over which they hang is noticed, if the command's
/// `timeout` allows ten times as long as without it and 5 s; else it counts neither way. At the end
/// they run over the code that is only written in another way once more: tests that fail because of
/// the time or the number of runs fail there too.
///
/// What is left to a cheat: code that runs in the process of the test runner can do all that the
/// runner does. It can read the tree while it runs, find the canary of a `command` or the stop of a
/// `coverage` check there, and report what comail expects. Tests that compare the code in a form in
/// which names, lines and spaces do not count, such as bytecode or a syntax tree, turn red over every
/// mutant. A result that is equal to everything passes every test. Only a check of what the code may
/// use stops them; the quest files unit-tests and rust-tests have one for tests. What runs elsewhere, and is asked as a service or by a `script`, cannot reach
/// the one that judges.
///
/// A mutant that does not build counts as noticed, unless the command's `facts` count tests.
/// Only `lines` changes code in Rust macros.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MutationConfig {
    /// The check of kind `command` that must fail over mutants.
    from: String,
    /// The file to change, as a template that uses only the list.
    file: String,
    /// The first line of the function, as such a template.
    first: String,
    /// Its last line.
    last: String,
    /// The most mutants of Python, Rust, JavaScript, TypeScript or Go: changes of arithmetic,
    /// comparisons, conditions, bounds, returned values, calls and arguments. Where there are more,
    /// the frozen file and the quest's key decide which are made. 0: none.
    #[serde(default = "default_number::<30>")]
    max_mutants: usize,
    /// How many of them the tests may miss, in percent, rounded up, but never all: some change
    /// nothing that a test can notice.
    #[serde(default = "default_number::<20>")]
    may_survive: usize,
    /// Changes of single lines of the function, for other languages or for what must be noticed in
    /// any case. Each is made in every matching line, one at a time, except in comments and
    /// docstrings of the languages that `max_mutants` names. The tests may miss none of them.
    #[serde(default)]
    lines: Vec<LineTable>,
    /// The exit codes that mean that tests failed. Default: every code that does not pass.
    #[serde(default)]
    red_exit: Vec<i32>,
}

/// A change of single lines.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LineTable {
    /// A pattern, such as `return .+`.
    find: String,
    /// The replacement, such as `return None`; `$1` is the first group of the pattern.
    put: String,
}

struct Mutation {
    name: String,
    from: String,
    lines: OwnLines,
    changes: Vec<(Regex, String)>,
    max_mutants: usize,
    may_survive: usize,
    command: CommandConfig,
    /// The exit codes that alone are red, where there are any.
    red_exit: Vec<i32>,
}

static OWN_RULES: [Rule; 1] = [NEUTRAL_CHANGE];

impl CheckConfig for MutationConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        let command = from_command(source, &self.from)?;
        let mut codes = self.red_exit.iter();
        if let Some(code) = codes.find(|code| command.exit.contains(code)) {
            let what = format!("the code {code} passes, by `exit` of `{}`", self.from);
            return Err(Flaw::new("red_exit", what));
        }
        if self.lines.is_empty() && self.max_mutants == 0 {
            let what = "expected at least one mutant, or a change in `lines`";
            return Err(Flaw::new("max_mutants", what));
        }
        if self.may_survive > 100 {
            return Err(Flaw::new("may_survive", "expected at most 100 percent"));
        }
        let changes = self.lines.into_iter().map(|table| {
            let find = source.pattern("lines", &table.find)?;
            Ok((find, table.put))
        });
        let mutation = Mutation {
            name: source.head.name.clone(),
            changes: changes.collect::<Result<_, _>>()?,
            lines: OwnLines::build(&self.file, &self.first, &self.last, source)?,
            command,
            max_mutants: self.max_mutants,
            may_survive: self.may_survive,
            red_exit: self.red_exit,
            from: self.from.clone(),
        };
        let run = move |context: &Context<'_>| mutation.run(context);
        let mut check = source.check_with(Cost::Heavy, &OWN_RULES, run);
        check.needs.push(self.from);
        Ok(check)
    }
}

impl Mutation {
    fn run(&self, context: &Context<'_>) -> Found {
        let run = context.run_of(&self.from);
        let run = run.ok_or_else(|| {
            let expected = format!("a run of `{}`", self.from);
            Fact::wrong(expected, "it was not run").unconfirmed()
        })?;
        let place = self.lines.of(context)?;
        let source = place.source(context)?;
        let trial = Trial {
            name: &self.name,
            command: &self.command,
            red_exit: &self.red_exit,
            context,
            run: &run,
            file: &place.file,
        };
        let language = Language::of(place.file.as_str());
        let key = context.case.quest.key.as_str();
        let seed = format!("{}\n{key}\n{source}", self.name);
        let seed = Digest::of(seed.as_bytes());
        let neutral = language
            .filter(|_| trial.is_red(&run.ran) == Ok(false))
            .and_then(|it| neutral(it, &source, &place.lines, &seed));
        let noticed = |round| neutral.as_ref().and_then(|it| notices(&trial, it, round));
        if let Some(fact) = noticed(0) {
            return Err(fact);
        }
        let own = self.own_changes(&place, &source)?;
        let drawn = language.map_or_else(Vec::new, |language| {
            mutants(language, &source, &place.lines, &seed, self.max_mutants)
        });
        if own.is_empty() && drawn.is_empty() {
            return Err(unclear(&place, "nothing in it can be replaced"));
        }
        let found: Vec<Fact> = own.iter().filter_map(|it| misses(&trial, it)).collect();
        if found.iter().any(|fact| fact.cause.is_wrong()) {
            return Ok(found);
        }
        let drawn = drawn.into_iter().map(Change::from);
        let drawn = self.sample(&trial, &drawn.collect::<Vec<_>>());
        let found: Vec<Fact> = found.into_iter().chain(drawn).collect();
        // Tests that fail because of the time, or of the number of runs, fail here too.
        if found.is_empty() {
            return Ok(noticed(1).into_iter().collect());
        }
        Ok(found)
    }

    /// The changes of `lines`, except those that leave the file as it is.
    fn own_changes(&self, place: &Place, source: &str) -> Result<Vec<Change>, Fact> {
        let comments = comments(place.file.as_str(), source);
        let changes = single_lines(&self.changes, source, &place.lines, &comments);
        if changes.len() > MAX_CHANGES {
            let actual = format!("{} replacements, of at most {MAX_CHANGES}", changes.len());
            return Err(unclear(place, &actual));
        }
        Ok(changes)
    }

    /// What is wrong after as many of the mutants as it takes to know.
    ///
    /// One whose end is not clear counts neither way, unless most are such.
    fn sample(&self, trial: &Trial<'_>, mutants: &[Change]) -> Vec<Fact> {
        let count = mutants.len();
        let allowed = (count * self.may_survive).div_ceil(100);
        let allowed = allowed.min(count.saturating_sub(1));
        let (mut red, mut missed, mut unclear) = (0, Vec::new(), Vec::new());
        for (at, mutant) in mutants.iter().enumerate() {
            let is_decided = missed.len() + (count - at) <= allowed;
            let is_unclear = unclear.len() * 2 > count;
            if is_decided || is_unclear || missed.len() > allowed.max(ENOUGH_MISSED) {
                break;
            }
            match misses(trial, mutant) {
                None => red += 1,
                Some(fact) if fact.cause.is_wrong() => missed.push(fact),
                Some(fact) => unclear.push(fact),
            }
        }
        if missed.len() > allowed {
            missed
        } else if red < unclear.len() {
            unclear
        } else {
            Vec::new()
        }
    }
}

fn unclear(place: &Place, actual: &str) -> Fact {
    let fact = Fact::wrong("code that can be replaced", actual);
    fact.at(place.shown()).unconfirmed()
}

/// The fact that the tests miss this change; none if they fail.
fn misses(trial: &Trial<'_>, change: &Change) -> Option<Fact> {
    let expected = format!(
        "tests that fail when its line {} is {}",
        change.line, change.what
    );
    let ran = trial.run_over(&change.text, 0);
    let fact = match trial.is_red(&ran) {
        Ok(true) => return None,
        _ if trial.hangs(&ran) => return None,
        Ok(false) => Fact::wrong(expected, "they pass"),
        Err(why) => Fact::wrong(expected, why).unconfirmed(),
    };
    Some(fact.at(trial.at(change.line)))
}

/// The fact that the tests fail although nothing has changed but how the code is written.
fn notices(trial: &Trial<'_>, neutral: &Neutral, round: u32) -> Option<Fact> {
    let expected = format!("tests that pass as before when {}", neutral.what);
    let ran = trial.run_over(&neutral.text, round);
    let fact = match trial.is_red(&ran) {
        Ok(false) => return None,
        Ok(true) => Fact::of(
            &NEUTRAL_CHANGE,
            expected,
            format!("they fail: {}", tail(&ran)),
        ),
        Err(why) => Fact::wrong(expected, why).unconfirmed(),
    };
    Some(fact.at(trial.at(neutral.line)))
}

/// The most changes of `lines` in one function: each is a run of the tests.
const MAX_CHANGES: usize = 50;

/// As many missed mutants are shown, where there are more than that, although fewer decide: an agent
/// has few tries.
const ENOUGH_MISSED: usize = 2;

/// The file with one change in it.
struct Change {
    line: u32,
    /// What the line is now.
    what: String,
    text: String,
}

impl From<Mutant> for Change {
    fn from(mutant: Mutant) -> Self {
        const LONGEST: usize = 200;
        let now = match truncate(&mutant.put, LONGEST) {
            empty if empty.is_empty() => String::from("left out"),
            put => format!("`{put}`"),
        };
        Self {
            line: mutant.line,
            what: format!("{now} ({})", <&str>::from(mutant.operator)),
            text: mutant.text,
        }
    }
}

/// The file with each change of each line that it fits, except those that change nothing and those
/// of a comment or a docstring, which no test can notice.
fn single_lines(
    changes: &[(Regex, String)],
    source: &str,
    lines: &RangeInclusive<u32>,
    comments: &[Range<usize>],
) -> Vec<Change> {
    let mut all = Vec::new();
    let mut start = 0;
    for (number, line) in (1..).zip(source.split_inclusive('\n')) {
        let end = start + line.len();
        let text = line.trim_end_matches(['\r', '\n']);
        let is_code = |found: &Captures<'_>| {
            let whole = found.get_match();
            // White space before a comment does not make it code.
            let first = start + whole.end() - whole.as_str().trim_start().len();
            !comments.iter().any(|it| it.contains(&first))
        };
        for (find, put) in changes.iter().filter(|_| lines.contains(&number)) {
            let Some(found) = find.captures_iter(text).find(is_code) else {
                continue;
            };
            let whole = found.get_match();
            let mut new = text[..whole.start()].to_owned();
            found.expand(put, &mut new);
            new.push_str(&text[whole.end()..]);
            if new != text {
                let rest = &source[start + text.len()..];
                all.push(Change {
                    line: number,
                    what: format!("`{}`", new.trim()),
                    text: format!("{}{new}{rest}", &source[..start]),
                });
            }
        }
        start = end;
    }
    all
}
