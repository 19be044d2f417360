//! One mistake each in the checks and controls of a quest file that is right.

use super::cases::Case;

const HONEST: &str = r#"submit = { quote = "pay 1200" }"#;
const BOTH: &str = "needs = [\"quote-in-letter\"]\nlevel = \"review\"";

/// What is wrong, beside the first cases.
pub const MORE_CASES: &[Case] = &[
    (
        "field = \"quote\"",
        "field = \"qoute\"",
        "\"qoute\"",
        &["unknown field `qoute`", "did you mean `quote`?"],
    ),
    (
        "[prompt]",
        "[tree]\nwrite = [\"a/[\"]\n[prompt]",
        "[\"a/[\"]",
        &["not a glob"],
    ),
    (
        "[prompt]",
        "[tree]\nignore = [\"../x\"]\n[prompt]",
        "[\"../x\"]",
        &["not a glob"],
    ),
    (
        "anchor =",
        "glob = \"{\"\nanchor =",
        "\"{\"",
        &["not a glob"],
    ),
    (
        BOTH,
        "needs = [\"qoute-in-letter\"]",
        "\"qoute-in-letter\"]",
        &["is none of this gate's", "did you mean `quote-in-letter`?"],
    ),
    (
        BOTH,
        "needs = [\"no-blank\"]",
        "\"no-blank\"]",
        &["needs it in turn"],
    ),
    (
        "timeout = \"10s\"",
        "needs = [\"no-blank\"]",
        "\"no-blank\"]",
        &["needs it in turn"],
    ),
    (
        "level = \"review\"",
        "level = \"warn\"",
        "\"warn\"",
        &["unknown variant `warn`", "`review`"],
    ),
    (
        "timeout = \"10s\"",
        "timeout = \"soon\"",
        "\"soon\"",
        &["expected a length of time"],
    ),
    (
        "timeout = \"10s\"",
        "timeout = \"25h\"",
        "\"25h\"",
        &["from 1ms to 24h"],
    ),
    (
        HONEST,
        "submit = { qoute = \"pay 1200\" }",
        "qoute",
        &["unknown field `qoute`", "did you mean `quote`?"],
    ),
    (
        "fires = [\"quote-in-letter\"]",
        "fires = [\"quote-in-leter\"]",
        "\"quote-in-leter\"",
        &[
            "unknown rule `quote-in-leter`",
            "did you mean `quote-in-letter`?",
        ],
    ),
    (
        "input = { text =",
        "input = { txt =",
        "txt =",
        &["unknown column of [input] `txt`", "did you mean `text`?"],
    ),
    (
        "fires =",
        "taken = { toatl = \"1\" }\nfires =",
        "toatl",
        &["did you mean `total`?"],
    ),
    (
        "fires =",
        "tree = \"x\"\nfires =",
        "\"x\"",
        &["the file has no [tree]"],
    ),
    ("key = \"letter-7\"", "key = \" \"", "\" \"", &["blank"]),
    (
        "unit = \"letter\"",
        "unit = \"session\"",
        "\"session\"",
        &["is a flag of `comail submit`"],
    ),
    (
        "unit = \"letter\"",
        "unit = \"The Letter\"",
        "\"The Letter\"",
        &["expected kebab-case"],
    ),
    (
        "name = \"letters\"",
        "name = \"Letters\"",
        "\"Letters\"",
        &["expected kebab-case"],
    ),
    (
        "quote = \"that",
        "qoute = \"that",
        "qoute",
        &["unknown field `qoute`", "did you mean `quote`?"],
    ),
    (
        "about = \"Read the total.\"",
        "about = \"Read",
        "\n\n[input]",
        &["invalid basic string"],
    ),
    (
        "[\"grep\"",
        "[\"grep-of-nobody\"",
        "[\"grep-of-nobody\"",
        &["no program \"grep-of-nobody\""],
    ),
    (
        "[\"grep\", \"-qF\", \"--\", \"{{ field.quote }}\"]",
        "[]",
        "[]",
        &["it is empty: name a program"],
    ),
    (
        "[prompt]",
        "[[service]]\nname = \"api\"\n[prompt]",
        "[[service]]",
        &["missing field `argv`"],
    ),
    (
        "[prompt]",
        "[[service]]\nname = \"api\"\nargv = []\n[prompt]",
        "[]",
        &["name a program"],
    ),
    (
        "[prompt]",
        "[[service]]\nname = \"api\"\nargv = [\"sleep\"]\nready = { line = \"(\" }\n[prompt]",
        "{ line",
        &["not a pattern"],
    ),
    (
        "[[check]]\nname = \"no-blank\"",
        "[check]\nname = \"no-blank\"",
        "check]\nname = \"no-blank\"",
        &["duplicate key"],
    ),
    (
        "kind = \"matches\"\nfield = \"quote\"\npattern = '\\S'",
        "kind = \"script\"\ninterpreter = [\"sh\"]\nscript = \"gone.sh\"",
        "\"gone.sh\"",
        &["cannot read", "gone.sh"],
    ),
    (
        "{{ field.quote }}",
        "{{ field.quote | shout }}",
        "[\"grep\", \"-qF\", \"--\", \"{{ field.quote | shout",
        &["filter shout is unknown"],
    ),
    (
        "stdin = \"{{ input.text }}\"",
        "stdin = \"{% if input.text is loud %}a{% endif %}\"",
        "\"{% if input.text is loud",
        &["test loud is unknown"],
    ),
    (
        "Read {{ key }}",
        "Read {{ key | uper }}",
        "\"Read {{ key | uper",
        &["filter uper is unknown"],
    ),
    (
        "Read {{ key }}",
        "Read {{ shout(key) }}",
        "\"Read {{ shout",
        &["unknown variable `shout`"],
    ),
];
