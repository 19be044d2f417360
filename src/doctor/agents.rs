//! Which of the agents that `run` knows can be started.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::{Check, Finding};
use crate::run::agent::Preset;

/// An agent and where its program was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// What the preset is called.
    pub name: &'static str,
    /// Where its program lies, if it does.
    pub path: Option<PathBuf>,
}

/// Looks for every agent in the directories of `path_var`, by `is_program`.
#[must_use]
pub fn look(path_var: Option<&OsStr>, is_program: &dyn Fn(&PathBuf) -> bool) -> Vec<Observed> {
    let dirs: Vec<_> = path_var
        .map(std::env::split_paths)
        .into_iter()
        .flatten()
        .collect();
    let presets = Preset::ALL.into_iter();
    let found = presets.map(|preset| {
        let mut paths = dirs.iter().map(|dir| dir.join(preset.fresh[0]));
        Observed {
            name: preset.name,
            path: paths.find(is_program),
        }
    });
    found.collect()
}

/// What is to be said of the agents.
#[must_use]
pub fn judge(seen: &[Observed]) -> Finding {
    let found = seen.iter().filter_map(|agent| {
        let path = agent.path.as_ref()?;
        Some(format!("{} ({})", agent.name, path.display()))
    });
    let found: Vec<String> = found.collect();
    if found.is_empty() {
        let names: Vec<_> = seen.iter().map(|agent| agent.name).collect();
        let found = format!("none is in PATH: {}", names.join(", "));
        let mend = "install one for `comail run --agent`, or give your own after `comail run --`";
        return Check::Agents.note(found, mend);
    }
    Check::Agents.ok(found.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn agents_are_found_by_the_program_that_they_start() {
        let path = OsStr::new("/a:/b");
        let there = ["/b/codex", "/a/cursor-agent", "/b/cursor-agent"];
        let is_there = |path: &PathBuf| there.iter().any(|known| path.as_os_str() == *known);
        let seen = look(Some(path), &is_there);
        assert_eq!(seen.len(), Preset::ALL.len());
        let finding = judge(&seen);
        assert_eq!(finding.level, Level::Ok);
        assert_eq!(finding.found, "codex (/b/codex), cursor (/a/cursor-agent)");
        assert_eq!(judge(&look(Some(path), &|_| false)).level, Level::Note);
        assert_eq!(judge(&look(None, &|_| true)).level, Level::Note);
    }
}
