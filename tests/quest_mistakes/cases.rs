//! One mistake each in a quest file that is right.

/// A mistake: what of the right file is replaced, by what, where the complaint points in it, and
/// what it says.
pub type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const QUOTE: &str = r#""{{ field.quote }}"]"#;
const HONEST: &str = r#"submit = { quote = "pay 1200" }"#;
const BOTH: &str = "needs = [\"quote-in-letter\"]\nlevel = \"review\"";

/// All of them.
pub const CASES: &[Case] = &[
    (
        "about =",
        "abuot =",
        "abuot",
        &["unknown field `abuot`", "did you mean `about`?"],
    ),
    (
        "anchor =",
        "anchr =",
        "anchr",
        &["unknown field `anchr`", "did you mean `anchor`?"],
    ),
    (
        "[prompt]",
        "[tree]\nwirte = []\n[prompt]",
        "wirte",
        &["did you mean `write`?"],
    ),
    (
        "help =",
        "hlep =",
        "hlep",
        &["unknown field `hlep`", "did you mean `help`?"],
    ),
    (
        "timeout =",
        "tiemout =",
        "tiemout",
        &["expected one of", "did you mean `timeout`?"],
    ),
    (
        "fires =",
        "fire =",
        "fire ",
        &["unknown field `fire`", "did you mean `fires`?"],
    ),
    (
        "[prompt]",
        "[promt]",
        "promt",
        &["unknown field `promt`", "did you mean `prompt`?"],
    ),
    (
        "unit = \"letter\"",
        "unit = 7",
        "7",
        &["invalid type", "expected a string"],
    ),
    (
        "key = [\"letter\"]",
        "key = \"letters\"",
        "\"letters\"\nanchor",
        &["expected a sequence"],
    ),
    (
        "{ quote = \"pay 900\" }",
        "{ quote = 9 }",
        "9 }",
        &["invalid type", "a string"],
    ),
    (
        "unit = \"letter\"\n",
        "",
        "name = \"letters\"",
        &["missing field `unit`"],
    ),
    (
        "kind = \"matches\"\n",
        "",
        "[[check]]\nname = \"no-blank\"",
        &["missing field `kind`"],
    ),
    (
        "verdict = \"PASS\"\n",
        "",
        "[[control]]\nname = \"honest\"",
        &["missing field `verdict`"],
    ),
    (
        "verdict = \"PASS\"",
        "verdict = \"OK\"",
        "\"OK\"",
        &["unknown variant `OK`", "`REVIEW`"],
    ),
    (
        "kind = \"number\"",
        "kind = \"nubmer\"",
        "\"nubmer\"",
        &["did you mean `number`?"],
    ),
    (
        "kind = \"number\"",
        "kind = \"choice\"",
        "[[field]]\nname = \"total\"",
        &["`choices`"],
    ),
    (
        "kind = \"command\"",
        "kind = \"comand\"",
        "\"comand\"",
        &["did you mean `command`?"],
    ),
    (
        "name = \"total\"",
        "name = \"worker\"",
        "\"worker\"",
        &["is a flag of `comail submit`"],
    ),
    (
        "name = \"total\"",
        "name = \"letter\"",
        "\"letter\"\nkind",
        &["name the field otherwise"],
    ),
    (
        "name = \"total\"",
        "name = \"Total\"",
        "\"Total\"",
        &["cannot be a flag", "a-z"],
    ),
    (
        "name = \"total\"",
        "name = \"quote\"",
        "\"quote\"\nkind = \"number\"",
        &["two fields `quote`"],
    ),
    (
        "name = \"no-blank\"",
        "name = \"quote-in-letter\"",
        "\"quote-in-letter\"\nkind = \"m",
        &["two checks"],
    ),
    (
        "name = \"no-blank\"",
        "name = \"No blank\"",
        "\"No blank\"",
        &["expected kebab-case"],
    ),
    (
        "name = \"no-blank\"",
        "name = \"no-result\"",
        "\"no-result\"",
        &["of every gate already"],
    ),
    (
        "name = \"no-blank\"",
        "name = \"a-unconfirmed\"",
        "\"a-unconfirmed\"",
        &["where a check `a` cannot say"],
    ),
    (
        "name = \"made-up\"",
        "name = \"honest\"",
        "\"honest\"\nkey = \"letter-7\"\ninput = { text = \"please pay 1200 EUR\" }\nsubmit = { quote = \"pay 900",
        &["two controls `honest`"],
    ),
    (
        "{{ input.text }}\"\n\n[example]",
        "{{ input.txt }}\"\n\n[example]",
        "\"Read {{",
        &["unknown variable `input.txt`", "did you mean `input.text`?"],
    ),
    (
        QUOTE,
        "\"{{ field.qoute }}\"]",
        "[\"grep\"",
        &[
            "unknown variable `field.qoute`",
            "did you mean `field.quote`?",
        ],
    ),
    (
        "stdin = \"{{ input.text }}\"",
        "stdin = \"{{ input.text\"",
        "\"{{ input.text\"",
        &["unexpected end"],
    ),
    (
        "pattern = '\\S'",
        "pattern = '('",
        "'('",
        &["not a pattern"],
    ),
    (
        "kind = \"number\"",
        "kind = \"text\"\npattern = '['",
        "'['",
        &["not a pattern"],
    ),
    (
        "kind = \"number\"",
        "kind = \"number\"\nmin = 2\nmax = 1",
        "2\nmax",
        &["`min` is greater than `max`"],
    ),
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
];
