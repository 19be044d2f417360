//! `git`, which can run what its settings say, and sweep away what it does not know.

use std::path::PathBuf;

use super::command::{Judge, touched};
use super::git_files::stash_sweeps;
use super::ground::Reach;
use super::leading::{is_told, without_options};
use super::ruling::Ruled;
use super::shell::Word;

/// The beginnings of settings that run nothing.
const SAFE: &[&str] = &[
    "user.",
    "color.",
    "advice.",
    "init.defaultbranch",
    "core.quotepath",
    "core.autocrlf",
    "commit.gpgsign",
    "safe.",
    "pull.",
    "push.default",
    "gc.",
];

/// What `git config` is asked by who changes nothing.
const ASKS: &[&str] = &[
    "--get",
    "--get-all",
    "--get-regexp",
    "--list",
    "-l",
    "list",
    "get",
];

impl Judge<'_> {
    /// What becomes of a call of `git`.
    pub(super) fn git(&self, argv: &[Word]) -> Ruled {
        if let Some(why) = runs(argv) {
            return self.unreadable(why);
        }
        let words = without_options(argv);
        let Some(subcommand) = words.get(1).map(|word| word.text.as_str()) else {
            return Ruled::nothing();
        };
        if !is_told(argv) {
            return self.unreadable("an option of `git` is not known");
        }
        let rest = &words[2..];
        let own = &argv[1..argv.len() - rest.len() - 1];
        let elsewhere = own.iter().any(|word| {
            let names = ["-C", "--work-tree", "--git-dir"];
            names.iter().any(|name| word.text.starts_with(name))
        });
        let files = self.git_files(subcommand, rest, elsewhere);
        let has = |names: &[&str]| rest.iter().any(|word| names.contains(&&*word.text));
        let cluster = |letter: char| {
            let mut words = rest.iter().map(|word| word.text.as_str());
            words.any(|text| {
                text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
            })
        };
        let sweeps = match subcommand {
            "clean" => true,
            "stash" => stash_sweeps(rest),
            _ => false,
        };
        let around = |place: &PathBuf| {
            let real = (self.ground.leads)(place);
            real.is_ok_and(|real| self.ground.reach(&real) != Reach::Nothing)
        };
        if sweeps && self.places.iter().any(around) {
            return touched("git");
        }
        let changes = match subcommand {
            "rm" => cluster('r'),
            "reset" => has(&["--hard", "--merge", "--keep"]),
            "checkout" | "restore" => {
                let whole = |word: &Word| {
                    !word.text.starts_with('-') && self.reaches(word) != Reach::Nothing
                };
                cluster('f') || has(&["--force"]) || rest.iter().any(whole)
            }
            "apply" | "am" => self.ground.zone.is_some(),
            _ => sweeps,
        };
        if changes {
            return files.stricter(self.unreadable("which files `git` changes is not known"));
        }
        files
    }
}

/// Why a call of `git` may run what its words and settings say.
fn runs(argv: &[Word]) -> Option<&'static str> {
    let safe = |text: &str| {
        let text = text.to_lowercase();
        SAFE.iter().any(|begin| text.starts_with(begin))
    };
    let own = argv.len() - without_options(argv).len().saturating_sub(1);
    let own = &argv[1..own.max(1)];
    let set = own
        .windows(2)
        .any(|pair| pair[0].is("-c") && !safe(&pair[1].text));
    let leads = own.iter().any(|word| {
        let text = word.text.as_str();
        text.starts_with("--config-env") || text.starts_with("--exec-path=")
    });
    if set || leads {
        return Some("settings of `git` run what they say");
    }
    let words = without_options(argv);
    let rest = words.get(2..).unwrap_or_default();
    let mut texts = rest.iter().map(|word| word.text.as_str());
    let hit = match words.get(1)?.text.as_str() {
        "config" => {
            let asks = rest.iter().any(|word| ASKS.contains(&&*word.text));
            let mut keys = rest.iter().filter(|word| !word.text.starts_with('-'));
            !asks && !keys.any(|word| safe(&word.text))
        }
        "bisect" => texts.any(|text| text == "run"),
        "submodule" => texts.any(|text| text == "foreach"),
        "rebase" => texts.any(|text| text.starts_with("--exec") || text.starts_with("-x")),
        "filter-branch" | "difftool" | "mergetool" | "hook" | "daemon" | "send-email" => true,
        "grep" => texts.any(|text| text.starts_with("-O") || text.starts_with("--open-files")),
        "fetch" | "pull" | "clone" | "push" | "ls-remote" => texts.any(|text| {
            text.starts_with("ext::")
                || text.starts_with("--upload-pack")
                || text.starts_with("--receive-pack")
        }),
        _ => false,
    };
    hit.then_some("`git` runs what it is given")
}
