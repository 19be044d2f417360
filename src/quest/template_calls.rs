//! What a template calls: names, filters, tests and functions that there must be.
//!
//! The template engine looks for them while it renders, and only in the branches that it takes.

use minijinja::machinery::{Instruction, Instructions, get_compiled_template};
use minijinja::{ErrorKind, State, Template};

use super::file::unknown_name;

/// What is wrong with the first call of something that there is not, if there is one.
///
/// `variables` are the names that the template takes from outside of itself.
pub(super) fn unknown_call(template: &Template<'_, '_>, variables: &[String]) -> Option<String> {
    let state = template.new_state();
    let compiled = get_compiled_template(template);
    let mut parts = std::iter::once(&compiled.instructions).chain(compiled.blocks.values());
    let known = Known { state, variables };
    parts.find_map(|part| {
        let mut places = 0..u32::try_from(part.len()).unwrap_or(u32::MAX);
        places.find_map(|at| known.wrong(part, at))
    })
}

/// What is wrong with a name that there is not; of a column, how it comes to be there.
pub(super) fn unknown_variable(name: &str, known: &[&str]) -> String {
    let what = unknown_name("variable", name, known);
    if name == "input" || name.starts_with("input.") {
        return format!("{what}; a column of the list is named in `anchor` or `show` of [input]");
    }
    what
}

/// What may be called.
struct Known<'a> {
    state: State<'a, 'a>,
    variables: &'a [String],
}

impl Known<'_> {
    fn wrong(&self, part: &Instructions<'_>, at: u32) -> Option<String> {
        match part.get(at)? {
            Instruction::ApplyFilter(name, arguments, _) => self.no_filter(name).or_else(|| {
                let named = |place| text_argument(part, at, *arguments, place);
                match *name {
                    // These take the name of another.
                    "map" => self.no_filter(named(1)?),
                    "select" | "reject" => self.no_test(named(1)?),
                    "selectattr" | "rejectattr" => self.no_test(named(2)?),
                    _ => None,
                }
            }),
            Instruction::PerformTest(name, ..) => self.no_test(name),
            Instruction::CallFunction(name, _) => self.no_function(name),
            _ => None,
        }
    }

    fn no_filter(&self, name: &str) -> Option<String> {
        let name = joined(name);
        // One that there is complains of something else: that it has no argument.
        let tried = self.state.apply_filter(&name, &[]);
        let is_missing = tried.is_err_and(|error| error.kind() == ErrorKind::UnknownFilter);
        is_missing.then(|| format!("unknown filter `{name}`: minijinja has none of this name"))
    }

    fn no_test(&self, name: &str) -> Option<String> {
        let name = joined(name);
        let tried = self.state.perform_test(&name, &[]);
        let is_missing = tried.is_err_and(|error| error.kind() == ErrorKind::UnknownTest);
        is_missing.then(|| format!("unknown test `{name}`: minijinja has none of this name"))
    }

    /// A value from outside is a text, or a group of them.
    fn no_function(&self, name: &str) -> Option<String> {
        let within = |variable: &String| {
            let rest = variable.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_value = self.variables.iter().any(within);
        let mut functions = self.state.env().globals().map(|(name, _)| name);
        (is_value && !functions.any(|known| known == name))
            .then(|| format!("`{name}` is no function"))
    }
}

/// The name as it is looked up: white space in it does not count.
fn joined(name: &str) -> String {
    name.split_ascii_whitespace().collect()
}

/// The text that is the argument at `place` of the call at `at`, where all are written out.
fn text_argument<'s>(
    part: &'s Instructions<'_>,
    at: u32,
    arguments: Option<u16>,
    place: u16,
) -> Option<&'s str> {
    let count = arguments?;
    let first = at.checked_sub(u32::from(count.checked_sub(1)?))?;
    let constant = |at: u32| match part.get(at) {
        Some(Instruction::LoadConst(value)) => Some(value),
        _ => None,
    };
    (first..at).all(|at| constant(at).is_some()).then_some(())?;
    constant(first + u32::from(place.checked_sub(1)?))
        .filter(|_| place < count)?
        .as_str()
}
