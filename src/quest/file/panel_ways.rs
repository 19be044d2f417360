//! Whether a reviewer can be asked in the way that its table says, and by what the scan has pinned.

use super::reviewer::{ReviewerKind, ReviewerTable};
use crate::world::sandbox::endpoint;

/// Variables by which an interpreter or a loader runs something else than it was given.
const OWNERS: [&str; 18] = [
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
    "NODE_PATH",
    "BASH_ENV",
    "ENV",
    "IFS",
    "SHELLOPTS",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5DB",
    "PERLLIB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
];

const OWNING: [&str; 4] = ["LD_", "DYLD_", "BASH_FUNC_", "GCONV_"];

pub(super) fn asked(reviewer: &ReviewerTable) -> Option<(&'static str, String)> {
    let there = [
        ("argv", !reviewer.argv.is_empty(), ReviewerKind::Command),
        ("env", !reviewer.env.is_empty(), ReviewerKind::Command),
        ("pass", !reviewer.pass.is_empty(), ReviewerKind::Command),
        ("network", reviewer.network.is_some(), ReviewerKind::Command),
        ("base_url", reviewer.base_url.is_some(), ReviewerKind::Chat),
        ("key", reviewer.key.is_some(), ReviewerKind::Chat),
    ];
    let mut foreign = there
        .iter()
        .filter(|(_, is, of)| *is && *of != reviewer.kind);
    if let Some((key, ..)) = foreign.next() {
        let kind = match reviewer.kind {
            ReviewerKind::Command => "command",
            ReviewerKind::Chat => "chat",
        };
        return Some((
            key,
            format!("`{key}` says nothing to a reviewer of kind `{kind}`"),
        ));
    }
    if reviewer.sees.is_empty() {
        return Some(("sees", String::from("it is empty: say what it is shown")));
    }
    match reviewer.kind {
        ReviewerKind::Command if reviewer.argv.is_empty() => {
            Some(("kind", String::from("say `argv`: the program to ask")))
        }
        ReviewerKind::Command => variables(reviewer),
        ReviewerKind::Chat => {
            let wrong = endpoint(reviewer.base_url.as_deref().unwrap_or_default()).err()?;
            let what = format!("{wrong}: say `base_url`, such as `http://127.0.0.1:11434/v1`");
            Some(("base_url", what))
        }
    }
}

fn variables(reviewer: &ReviewerTable) -> Option<(&'static str, String)> {
    let set = reviewer.env.keys().map(|name| ("env", name));
    let passed = reviewer.pass.iter().map(|name| ("pass", name));
    let (key, name) = set.chain(passed).find(|(_, name)| owns_programs(name))?;
    Some((
        key,
        format!("`{name}` says what is run, or in its place: the program pinned at the scan is"),
    ))
}

fn owns_programs(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    OWNERS.contains(&name.as_str()) || OWNING.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_owns_the_program_is_told_from_who_tells_it_something() {
        for name in [
            "LD_PRELOAD",
            "DYLD_INSERT_LIBRARIES",
            "PATH",
            "Path",
            "ENV",
            "IFS",
        ] {
            assert!(owns_programs(name), "{name}");
        }
        for name in [
            "MODEL_KEY",
            "HOME",
            "LANG",
            "OLD_PATH",
            "ENVIRONMENT",
            "API_PATH",
        ] {
            assert!(!owns_programs(name), "{name}");
        }
    }
}
