//! The folders of `src` use each other in one direction only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// What each folder may use, apart from `base` and itself.
const ALLOWED: [(&str, &[&str]); 15] = [
    ("base", &[]),
    ("quest", &[]),
    ("world", &["quest"]),
    ("session", &["quest"]),
    ("table", &["quest"]),
    ("gate", &["quest", "world"]),
    ("judge", &["quest", "world", "session", "gate"]),
    ("privacy", &["quest", "world", "session", "gate", "judge"]),
    (
        "review",
        &["quest", "world", "session", "gate", "judge", "table"],
    ),
    ("report", &["quest", "world", "session", "gate", "judge"]),
    ("hook", &["quest", "world", "session", "gate", "judge"]),
    (
        "run",
        &["quest", "world", "session", "gate", "judge", "report"],
    ),
    ("doctor", &["quest", "world", "session", "run"]),
    ("serve", &["quest", "world", "session"]),
    (
        "cli",
        &[
            "serve", "quest", "world", "session", "table", "gate", "judge", "privacy", "review",
            "report", "hook", "doctor", "run",
        ],
    ),
];

#[test]
fn folders_use_each_other_in_one_direction() {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let mut wrong = Vec::new();
    for (file, folder, used) in sources() {
        let Some(allowed) = allowed.get(folder.as_str()) else {
            wrong.push(format!("{}: {folder} is not on the map", file.display()));
            continue;
        };
        for target in used {
            if target != folder && target != "base" && !allowed.contains(&target.as_str()) {
                wrong.push(format!(
                    "{}: {folder} must not use {target}",
                    file.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_map_has_no_circle() {
    for (at, (folder, uses)) in ALLOWED.iter().enumerate() {
        for target in *uses {
            let below = ALLOWED.iter().position(|(name, _)| name == target);
            assert!(
                below.is_some_and(|below| below < at),
                "{folder} -> {target}"
            );
        }
    }
}

#[test]
fn paths_are_found_in_every_form() {
    let text = "use crate::gate::Fact;\nuse crate::quest::{Key, Quest};\nuse crate::{quest, session};\n\
                fn f() { crate::world::page::read(); super::super::table::open() }\n\
                // crate::cli::run\n\
                #[cfg(test)]\nmod tests {\n    use crate::report::Report;\n}\nuse crate::judge::Judge;\n";
    let found: Vec<_> = used_folders(text, 2).into_iter().collect();
    assert_eq!(found, ["gate", "judge", "quest", "table", "world", "{"]);
}

/// Each file of the folders, its folder, and the folders that it uses outside its tests.
fn sources() -> Vec<(PathBuf, String, BTreeSet<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(&root) {
        let path = entry.expect("an entry of src").into_path();
        let inner = path.strip_prefix(&root).expect("a path below src");
        let parts: Vec<_> = inner.iter().filter_map(|part| part.to_str()).collect();
        let skipped = ["tests", "tests.rs", "lib.rs", "main.rs", "build.rs"];
        let is_skipped = parts.iter().any(|part| skipped.contains(part));
        if path.extension().is_none_or(|it| it != "rs") || is_skipped {
            continue;
        }
        // `mod.rs` is the folder's own module; any other file is one level below its folder.
        let depth = parts.len() - usize::from(parts.last() == Some(&"mod.rs"));
        let text = fs::read_to_string(&path).expect("a source file");
        let folder = parts[0].trim_end_matches(".rs").to_owned();
        found.push((inner.to_owned(), folder, used_folders(&text, depth)));
    }
    assert!(found.len() > 100, "src was not read: {} files", found.len());
    found
}

/// The folders that a file's paths lead to; `depth` is the number of modules above and with it.
fn used_folders(text: &str, depth: usize) -> BTreeSet<String> {
    static LEFT_OUT: LazyLock<Regex> = LazyLock::new(|| {
        let (comment, tests) = (r"//[^\n]*", r"#\[cfg\(test\)\]\s*mod \w+ \{(?s:.*?)\n\}");
        Regex::new(&format!("{comment}|{tests}")).expect("a pattern")
    });
    let text = LEFT_OUT.replace_all(text, "");
    let root = format!(r"(?:crate::|\b(?:super::){{{depth}}})");
    // A group of folders is found as `{`, which the map does not allow.
    let single = Regex::new(&format!(r"{root}(\w+|\{{)")).expect("a pattern");
    let found = single.captures_iter(&text);
    found.map(|it| it[1].to_owned()).collect()
}
