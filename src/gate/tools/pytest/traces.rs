//! The sections of pytest's output that tell of one failure each.

use std::collections::{BTreeMap, VecDeque};
use std::sync::LazyLock;

use regex::Regex;

use super::super::located::Located;
use super::super::text::{constant, lines};

/// How much of one section is kept, in bytes.
const MOST_BYTES: usize = 64 * 1024;

static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    constant(r"^_{2,} (?:ERROR (?:collecting|at setup of|at teardown of) )?(?<name>\S.*?) _{2,}$")
});

/// The traces by the name in their headings, first of a name first.
#[derive(Debug, Default)]
pub(super) struct Traces(BTreeMap<String, VecDeque<String>>);

impl Traces {
    pub(super) fn read(text: &str) -> Self {
        let mut traces = Self::default();
        let mut open: Option<(String, String)> = None;
        for line in lines(text) {
            let heading = HEADING.captures(line).map(|found| found["name"].to_owned());
            if heading.is_some() || is_rule(line) {
                traces.add(open.take());
                open = heading.map(|name| (name, String::new()));
            } else if let Some((_, trace)) = &mut open
                && trace.len() + line.len() < MOST_BYTES
            {
                trace.push_str(line);
                trace.push('\n');
            }
        }
        traces.add(open);
        traces
    }

    fn add(&mut self, section: Option<(String, String)>) {
        if let Some((name, trace)) = section {
            self.0.entry(name).or_default().push_back(trace);
        }
    }

    /// Takes the trace of a test, or of a file that could not be collected: one that names the
    /// file if there is one.
    pub(super) fn take(&mut self, file: &str, name: &str) -> Option<String> {
        let heading = if name.is_empty() { file } else { name };
        let traces = self.0.get_mut(heading)?;
        let names = |trace: &String| {
            Located::in_trace(trace).is_some_and(|found| found.place().starts_with(file))
        };
        let at = traces.iter().position(names).unwrap_or(0);
        traces.remove(at)
    }

    /// What nobody took.
    pub(super) fn rest(self) -> impl Iterator<Item = (String, String)> {
        let all = self.0.into_iter();
        all.flat_map(|(name, traces)| traces.into_iter().map(move |trace| (name.clone(), trace)))
    }
}

/// Whether the line is the heading of a part, such as `==== FAILURES ====`.
fn is_rule(line: &str) -> bool {
    line.starts_with("==") && line.ends_with("==")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_tests_of_one_name_apart_by_their_file() {
        let mut traces = Traces::read(
            "__ test_x __\nE   one\na.py:1: E\n__ test_x __\nE   two\nb.py:2: E\n== end ==\nb.py:9: E\n",
        );
        assert_eq!(
            traces.take("b.py", "test_x").as_deref(),
            Some("E   two\nb.py:2: E\n")
        );
        assert_eq!(
            traces.take("b.py", "test_x").as_deref(),
            Some("E   one\na.py:1: E\n")
        );
        assert_eq!(traces.take("b.py", "test_x"), None);
    }
}
