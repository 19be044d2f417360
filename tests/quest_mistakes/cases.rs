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

/// All of them.
pub const CASES: &[Case] = &[
    (
        "unchecked = true\n",
        "",
        "\"total\"",
        &["no check uses the field `total`", "`unchecked = true`"],
    ),
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
];
