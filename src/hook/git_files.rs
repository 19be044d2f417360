//! The files that `git` changes because it is told to.

use super::command::Judge;
use super::options::{Alike, Takes, Told, alone, joined, shortens, told, valued};
use super::ruling::Ruled;
use super::shell::Word;

/// What an option of `git` says about the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Means {
    Nothing,
    /// Files that it does not follow go too.
    Sweeps,
    /// The files themselves stay as they are.
    Index,
    /// The files themselves change though what is recorded does too.
    Files,
    /// A branch is made.
    Makes,
    /// Which files stands elsewhere.
    Elsewhere,
}

use Means::{Elsewhere, Files, Index, Makes, Nothing, Sweeps};

const LISTED: Alike<Means> = Alike {
    letters: "",
    long: "pathspec-from-file",
    takes: Takes::Value,
    means: Elsewhere,
};

const STASH: &[Alike<Means>] = &[
    alone(
        Nothing,
        "pSkq",
        "patch staged keep-index no-keep-index quiet no-include-untracked no-all pathspec-file-nul",
    ),
    alone(Sweeps, "ua", "include-untracked all"),
    valued(Nothing, "m", "message pathspec-from-file"),
];

const MOVE: &[Alike<Means>] = &[alone(Nothing, "fknv", "force dry-run verbose sparse")];

const REMOVE: &[Alike<Means>] = &[
    alone(Nothing, "fqr", "force quiet ignore-unmatch sparse"),
    alone(Index, "n", "cached dry-run"),
    LISTED,
];

const RESTORE: &[Alike<Means>] = &[
    alone(
        Nothing,
        "mpq",
        "merge patch quiet ours theirs progress no-progress ignore-unmerged overlay no-overlay \
         ignore-skip-worktree-bits recurse-submodules no-recurse-submodules",
    ),
    valued(Nothing, "sU", "source conflict unified inter-hunk-context"),
    alone(Index, "S", "staged"),
    alone(Files, "W", "worktree"),
    LISTED,
];

const CHECKOUT: &[Alike<Means>] = &[
    alone(
        Nothing,
        "dflmpq",
        "detach force merge patch quiet ours theirs progress no-progress guess no-guess no-track \
         overlay no-overlay ignore-other-worktrees overwrite-ignore no-overwrite-ignore \
         discard-changes ignore-skip-worktree-bits recurse-submodules no-recurse-submodules",
    ),
    joined(Nothing, "t", "track"),
    valued(Nothing, "U", "conflict unified inter-hunk-context"),
    valued(Makes, "bBcC", "orphan create force-create"),
    LISTED,
];

/// Whether `git stash` with these words takes along what `git` does not follow.
pub(super) fn stash_sweeps(rest: &[Word]) -> bool {
    let words = match rest.split_first() {
        Some((first, words)) if first.is("push") || first.is("save") => words,
        Some((first, _)) if first.is_plain() && !first.text.starts_with('-') => return false,
        _ => rest,
    };
    let told = told(STASH, words);
    told.is_guess || told.has(Sweeps)
}

impl Judge<'_> {
    /// Files that a subcommand of `git` writes, where `is_elsewhere` says that it goes by another
    /// directory than the one it runs in.
    pub(super) fn git_files(&self, subcommand: &str, rest: &[Word], is_elsewhere: bool) -> Ruled {
        let unknown = || self.unreadable("which files `git` changes is not known");
        let written = match subcommand {
            "mv" => Some(given(MOVE, rest)),
            "rm" => Some(given(REMOVE, rest)),
            "restore" => Some(given(RESTORE, rest)),
            "checkout" => Some(checked_out(rest)),
            "switch" => Some(switched(rest)),
            _ => None,
        };
        let (files, is_known) = written.unwrap_or((Vec::new(), true));
        let mut ruled = Ruled::nothing();
        let magic = files.iter().any(|word| word.text.starts_with(':'));
        if magic || (!is_known && self.ground.zone.is_some()) {
            ruled = unknown();
        }
        let files = files.into_iter().filter(|word| !word.text.starts_with(':'));
        let files: Vec<_> = files.chain(outputs(subcommand, rest)).collect();
        if is_elsewhere && !files.is_empty() {
            return ruled.stricter(unknown());
        }
        let files = files.iter();
        files.fold(ruled, |ruled, word| ruled.stricter(self.writes(word)))
    }
}

/// The files that are given, and whether these are all.
fn given(known: &[Alike<Means>], rest: &[Word]) -> (Vec<Word>, bool) {
    let told = told(known, rest);
    let is_known = !told.is_guess && !told.has(Elsewhere);
    if told.has(Index) && !told.has(Files) && is_known {
        return (Vec::new(), true);
    }
    (told.operands, is_known)
}

/// What `git checkout` brings back: what stands alone may be a branch as well as a file.
fn checked_out(rest: &[Word]) -> (Vec<Word>, bool) {
    let told: Told<Means> = told(CHECKOUT, rest);
    let makes = told.has(Makes) && told.operands.is_empty();
    let is_known = !told.is_guess && !told.has(Elsewhere);
    match told.before {
        Some(before) if before <= 1 && told.operands.len() > before => {
            (told.operands[before..].to_vec(), is_known)
        }
        _ => {
            let files = told.operands.into_iter().skip(1).collect();
            (files, is_known && (makes || rest.is_empty()))
        }
    }
}

fn switched(rest: &[Word]) -> (Vec<Word>, bool) {
    let told = told(CHECKOUT, rest);
    let is_known = !told.is_guess && told.has(Makes) && told.operands.is_empty();
    (Vec::new(), is_known)
}

/// The files that a subcommand prints to.
fn outputs(subcommand: &str, rest: &[Word]) -> Vec<Word> {
    let mut found = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        let archive = subcommand == "archive" && text.starts_with("-o");
        if text == "--" {
            break;
        }
        let folder = shortens(text, "--output-directory") && subcommand == "format-patch";
        let value = if shortens(text, "--output") && text.len() > 3 || folder {
            text.split_once('=').map(|(_, value)| value)
        } else if archive {
            Some(&text[2..]).filter(|value| !value.is_empty())
        } else {
            continue;
        };
        let next = || words.next().cloned();
        let joined = value.map(|value| Word {
            text: value.to_owned(),
            sight: word.sight,
        });
        found.extend(joined.or_else(next));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        line.split_whitespace().map(Word::plain).collect()
    }

    #[test]
    fn a_stash_that_takes_all_is_told_from_one_that_does_not() {
        for line in [
            "-qu",
            "-u",
            "push -qu",
            "save --include-u",
            "--al",
            "push -a x",
            "-ku -m x",
            "--unknown",
        ] {
            assert!(stash_sweeps(&words(line)), "{line}");
        }
        for line in [
            "",
            "pop",
            "push -q",
            "push -m update",
            "-mua",
            "show -u",
            "list",
            "-- -u",
        ] {
            assert!(!stash_sweeps(&words(line)), "{line}");
        }
    }

    #[test]
    fn what_is_checked_out_is_a_file_behind_the_dashes() {
        let files = |line: &str| {
            let (files, is_known) = checked_out(&words(line));
            let files: Vec<_> = files.into_iter().map(|word| word.text).collect();
            (files.join(" "), is_known)
        };
        assert_eq!(files("HEAD -- a b"), ("a b".into(), true));
        assert_eq!(files("-- a"), ("a".into(), true));
        assert_eq!(files("-b topic"), (String::new(), true));
        assert_eq!(files("HEAD a"), ("a".into(), false));
        assert_eq!(files("main"), (String::new(), false));
    }
}
