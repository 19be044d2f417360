//! One mistake each in the final part and the fixer of a quest file that is right.

use super::cases::Case;

/// What is wrong in `[final]`, `[fixer]` and `on_fail`.
pub const FINAL_CASES: &[Case] = &[
    (
        "[prompt]",
        "[final.negative]\nremove = [\"a\"]\n[prompt]",
        "final.negative]",
        &["would pass anything"],
    ),
    (
        "[prompt]",
        "[final]\nchek = 1\n[prompt]",
        "chek",
        &["unknown field `chek`", "did you mean `check`?"],
    ),
    (
        "[prompt]",
        "[[final.check]]\nname = \"whole\"\nkind = \"command\"\nargv = [\"grep\", \"{{ field.quote }}\"]\n[prompt]",
        "[\"grep\", \"{{ field",
        &["unknown variable `field.quote`", "no single quest"],
    ),
    (
        "[prompt]",
        "[[final.check]]\nname = \"whole\"\nkind = \"command\"\nargv = [\"grep\", \"{{ key }}\"]\n[prompt]",
        "[\"grep\", \"{{ key",
        &["unknown variable `key`", "no single quest"],
    ),
    (
        "[prompt]",
        "[[final.check]]\nname = \"whole\"\nkind = \"matches\"\nfield = \"quote\"\npattern = 'a'\n[prompt]",
        "\"quote\"\npattern = 'a'",
        &["unknown field `quote`", "no single quest"],
    ),
    (
        "[prompt]",
        "[[final.check]]\nname = \"whole\"\nkind = \"comand\"\n[prompt]",
        "\"comand\"",
        &["unknown check kind `comand`", "did you mean `command`?"],
    ),
    (
        "[prompt]",
        "[[final.check]]\nname = \"no-blank\"\nkind = \"command\"\nargv = [\"true\"]\n[prompt]",
        "\"no-blank\"\nkind = \"command\"",
        &["a check of the quests is `no-blank` already"],
    ),
    (
        "[prompt]",
        "[[final.check]]\nname = \"whole\"\nkind = \"command\"\nargv = [\"true\"]\non_fail = \"fix\"\n[prompt]",
        "\"fix\"",
        &["the fixer does not run for checks of [final]"],
    ),
    (
        "[prompt]",
        "[tree]\n[[final.check]]\nname = \"whole\"\nkind = \"command\"\nargv = [\"true\"]\n[final.negative]\nfiles = { \"../a\" = \"x\" }\n[prompt]",
        "\"../a\"",
        &["../a"],
    ),
    (
        "[prompt]",
        "[tree]\n[[final.check]]\nname = \"whole\"\nkind = \"command\"\nargv = [\"true\"]\n[final.negative]\nremove = [\"a\"]\nfires = [\"hole\"]\n[prompt]",
        "\"hole\"",
        &["unknown rule `hole`", "did you mean `whole`?"],
    ),
    (
        "[prompt]",
        "[[final.check]]\nname = \"whole\"\nkind = \"command\"\nargv = [\"true\"]\n[[final.control]]\nname = \"c\"\nverdict = \"FAIL\"\nwrites = \"w\"\n[prompt]",
        "\"w\"",
        &["the file has no [tree]"],
    ),
    (
        "timeout = \"10s\"",
        "timeout = \"10s\"\non_fail = \"fix\"",
        "\"fix\"",
        &["the file has no [fixer]"],
    ),
    (
        "timeout = \"10s\"",
        "timeout = \"10s\"\non_fail = \"mend\"",
        "\"mend\"",
        &["unknown variant `mend`", "`fix`"],
    ),
    (
        "[prompt]",
        "[fixer]\nargv = [\"true\"]\nmax_fixs = 2\n[prompt]",
        "max_fixs",
        &["unknown field `max_fixs`", "did you mean `max_fixes`?"],
    ),
    (
        "[prompt]",
        "[fixer]\nargv = [\"true\"]\n[prompt]",
        "[fixer]",
        &["no check uses it"],
    ),
];
