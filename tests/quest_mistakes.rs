//! Mistakes in quest files: told by file, line and column, with what was expected.

use crate::harness::letters::{LETTERS, Letters};

/// A mistake: what of the right file is replaced, by what, where the complaint points in it, and
/// what it says.
type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const QUOTE: &str = r#""{{ field.quote }}"]"#;
const HONEST: &str = r#"submit = { quote = "pay 1200" }"#;
const BOTH: &str = "needs = [\"quote-in-letter\"]\nlevel = \"review\"";

const CASES: &[Case] = &[
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

/// Where `at` begins in `text`, as line and column.
fn place_of(text: &str, at: &str) -> (usize, usize) {
    let start = text.find(at).unwrap_or_else(|| panic!("{at:?} in {text}"));
    let before = &text[..start];
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

#[test]
fn each_mistake_is_told_with_its_place() {
    let letters = Letters::with(LETTERS);
    let mut wrong = Vec::new();
    for (from, to, at, words) in CASES {
        assert!(LETTERS.contains(from), "{from}");
        let text = LETTERS.replacen(from, to, 1);
        letters.place.write("letters.toml", &text);
        let run = letters.run(["quest", "check", "letters.toml"]);
        let (line, column) = place_of(&text, at);
        let start = format!("comail: error: letters.toml:{line}:{column}: ");
        let once = run.stderr.matches("letters.toml").count() == 1;
        let told = words.iter().all(|word| run.stderr.contains(word));
        if run.code != 2 || !run.stderr.starts_with(&start) || !told || !once {
            wrong.push(format!(
                "{to}\n  {start}{words:?}\n  {}: {}",
                run.code, run.stderr
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn scan_tells_the_same_and_makes_no_session() {
    let letters = Letters::with(&LETTERS.replace("timeout", "tiemout"));
    let checked = letters.run(["quest", "check", "letters.toml"]);
    let scanned = letters.run(["scan", "list.jsonl", "--quest", "letters.toml"]);
    assert_eq!((scanned.code, &scanned.stderr), (2, &checked.stderr));
    assert!(!letters.has_session());
}

#[test]
fn a_column_that_the_list_has_not_is_told_with_those_that_it_has() {
    let other = LETTERS.replace("\"text\"]", "\"body\"]");
    let other = other
        .replace("input.text", "input.body")
        .replace("{ text", "{ body");
    let letters = Letters::with(&other);
    let run = letters.run(["scan", "list.jsonl", "--quest", "letters.toml"]);
    assert_ne!(run.code, 0);
    assert!(
        run.stderr.contains("body") && run.stderr.contains("`text`"),
        "{run:?}"
    );
    assert!(!letters.has_session());
}

#[test]
fn a_quest_file_that_is_not_there_or_is_no_text_is_an_error() {
    let letters = Letters::with(LETTERS);
    for bytes in [None, Some(&b"\xff\xfe"[..])] {
        if let Some(bytes) = bytes {
            letters.place.write("other.toml", bytes);
        }
        let run = letters.run(["quest", "check", "other.toml"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(
            run.stderr.contains("cannot read the quest file other.toml"),
            "{run:?}"
        );
    }
}
