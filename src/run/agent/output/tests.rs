use proptest::prelude::*;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

const BAD: Option<Exit> = Some(Exit::Exited(1));
const GOOD: Option<Exit> = Some(Exit::Exited(0));

fn guessed(tokens: u64) -> Spent {
    Spent {
        tokens,
        cost: None,
        told: false,
    }
}

fn end(how: Option<Exit>, stdout: &str, stderr: &str) -> AgentEnd {
    end_of_stream(Stream::Plain, how, stdout, stderr)
}

fn end_of_stream(stream: Stream, how: Option<Exit>, stdout: &str, stderr: &str) -> AgentEnd {
    let place = tempfile::tempdir().unwrap();
    let log = CappedLog::create(&place.path().join("log"), 1_000).unwrap();
    let mut output = Output::new(stream, log, 100, None);
    output.take(Pipe::Out, stdout.as_bytes());
    output.take(Pipe::Err, stderr.as_bytes());
    let end = output.end(how);
    assert_eq!(output.end(how), end);
    end
}

#[test]
fn unreported_usage_is_estimated_and_marked_as_such() {
    let spent = end(GOOD, &"x".repeat(200), &"y".repeat(100)).spent;
    assert_eq!(spent, guessed(100));
    let spent = end(GOOD, "{\"usage\": {\"output_tokens\": 3}}", "").spent;
    assert_eq!(spent, guessed(3));
}

#[test]
fn finds_the_answer_in_a_document_about_the_whole_work() {
    let gemini = json!({"response": "So: {\"a\": 1}.", "stats": {"models": {
        "pro": {"tokens": {"prompt": 50, "candidates": 7, "total": 60, "cached": 10, "thoughts": 3}},
        "flash": {"tokens": {"prompt": 5, "candidates": 1}}}}});
    let end_of_it = end(GOOD, &serde_json::to_string_pretty(&gemini).unwrap(), "");
    assert_eq!(end_of_it.answer, Some(json!({"a": 1})));
    assert_eq!(end_of_it.spent, guessed(66));

    let claude = json!({"type": "result", "is_error": false, "result": "{\"a\": 1}",
        "session_id": "c-1", "total_cost_usd": 0.5, "usage": {"input_tokens": 2, "output_tokens": 1}});
    for text in [
        claude.to_string(),
        serde_json::to_string_pretty(&claude).unwrap(),
    ] {
        let end = end(GOOD, &text, "");
        assert_eq!(end.answer, Some(json!({"a": 1})));
        assert_eq!(
            end.spent,
            Spent {
                tokens: 3,
                cost: Some(500_000_000),
                told: false
            }
        );
    }
}

#[test]
fn an_error_document_has_no_answer_and_gives_the_tail() {
    let claude = json!({"type": "result", "is_error": true, "result": "API Error: {\"a\": 1}"});
    assert_eq!(end(BAD, &claude.to_string(), "").answer, None);
    let error = json!({"type": "error", "message": "API Error: {\"a\": 1}"});
    let end = end(BAD, &error.to_string(), "wrong");
    assert_eq!((end.answer, &*end.tail), (None, "API Error: {\"a\": 1}"));
}

#[test]
fn usage_in_plain_output_is_at_least_the_length_of_the_output() {
    let begins = r#"{"type": "system", "subtype": "init", "session_id": "s"}"#;
    let ends = r#"{"type": "result", "usage": {"input_tokens": 1, "output_tokens": 1}}"#;
    let much = "y".repeat(80_000);
    let spent = end(GOOD, &format!("{begins}\n{much}\n{ends}\n"), "").spent;
    assert!(spent.tokens >= 20_000 && !spent.told, "{spent:?}");
}

#[test]
fn rejects_an_answer_with_a_repeated_name() {
    let end = end(GOOD, "{\"a\": 0}\n{\"a\": 1, \"a\": 2}", "");
    assert_eq!(end.answer, None);
    assert!(end.bad_answer.unwrap().contains("twice"));
}

#[test]
fn the_tail_is_the_last_text_or_else_the_errors() {
    assert_eq!(end(GOOD, "said\n", "wrong\n").tail, "said");
    assert_eq!(end(BAD, "\n", "wrong\n").tail, "wrong");
    assert_eq!(end(GOOD, &"é".repeat(50_000), "").tail.len(), TAIL_BYTES);
}

#[test]
fn the_tail_has_no_terminal_codes() {
    let said = "\x1b]0;title\x07\x1b[1;31mlooked\x1b[0m at \x1b[2Khalf\u{8}; näher\n";
    assert_eq!(end(GOOD, said, "").tail, "looked at half; näher");
    assert_eq!(end(BAD, "", said).tail, "looked at half; näher");
    assert_eq!(
        end(GOOD, "[0m and 1;31m stay\n", "").tail,
        "[0m and 1;31m stay"
    );
}

#[test]
fn reads_provider_errors_outside_of_events() {
    let (login, busy) = (Some(ProviderError::NotLoggedIn), Some(ProviderError::Busy));
    let retries = "GEMINI_API_KEY is used\nAttempt 1 failed with status 429.\n  at async retry";
    let answers = r#"{"type":"message","role":"assistant","content":"I look."}"#;
    let aider = |error: &str| format!("Aider v0.86.2\n\nlitellm.{error}: {error}: Exception\n");
    for (stream, how, out, err, expected) in [
        (Stream::Text, GOOD, aider("AuthenticationError"), "", login),
        (Stream::Text, GOOD, aider("RateLimitError"), "", busy),
        (Stream::Text, GOOD, aider("InternalServerError"), "", None),
        // Answers and other programs may contain the words of an error.
        (
            Stream::Text,
            GOOD,
            r#"It is {"status": 401}"#.to_owned(),
            "",
            None,
        ),
        (Stream::Plain, BAD, aider("RateLimitError"), "", None),
        // Gemini CLI retries without an event, and ends with 0 when it is stopped.
        (Stream::Events, GOOD, String::new(), retries, busy),
        (
            Stream::Events,
            GOOD,
            String::new(),
            "Ripgrep is not available",
            None,
        ),
        (Stream::Events, GOOD, answers.to_owned(), retries, None),
        (Stream::Plain, BAD, String::new(), retries, None),
    ] {
        let provider = end_of_stream(stream, how, &out, err).provider;
        assert_eq!(provider, expected, "{out:?} {err:?}");
    }
}

fn of(pieces: &[&[u8]]) -> Vec<usize> {
    let (mut lines, mut lengths) = (Lines::default(), Vec::new());
    for piece in pieces {
        lines.take(piece, |line| lengths.push(line.len()));
    }
    lines.end(|line| lengths.push(line.len()));
    lengths
}

#[test]
fn joins_lines_from_pieces_and_batches_plain_ones() {
    for (pieces, lengths) in [
        (&[&b"a\nbc"[..], b"d\n\n", b"ef"][..], &[1, 3, 2][..]),
        (&[b"\n\n"], &[]),
        (&[b"a\nb\nc\nd", b"e\n"], &[1, 3, 2]),
        (&[b"{\nb\nc\n"], &[1, 1, 1]),
        (&[b"{", b"b\nc\nd\n"], &[2, 3]),
        (&[b"a\nb: c\nd\n"], &[1, 4, 1]),
    ] {
        assert_eq!(of(pieces), lengths, "{pieces:?}");
    }
}

#[test]
fn skips_a_line_that_is_too_long() {
    let half = vec![b'x'; MAX_LINE_BYTES / 2 + 1];
    assert_eq!(of(&[b"a\n", &half, &half, b"b\nc"]), [1, 1]);
    assert_eq!(of(&[&half[1..], &half[1..], b"\nc"]), [MAX_LINE_BYTES, 1]);
    let mut lines = Lines::default();
    for _ in 0..8 {
        lines.take(&half, |_| unreachable!());
    }
    assert!(lines.line.capacity() <= 2 * MAX_LINE_BYTES);
}

fn written(most: u64, chunks: &[&str]) -> String {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("1.log");
    let mut log = CappedLog::create(&path, most).unwrap();
    for chunk in chunks {
        log.write(chunk.as_bytes());
    }
    fs::read_to_string(path).unwrap()
}

#[test]
fn the_log_keeps_what_fits_and_marks_the_cut() {
    assert_eq!(written(6, &["abc", "def", ""]), "abcdef");
    let cut = "abcd\n[cut by comail: the log holds 4 bytes]\n";
    assert_eq!(written(4, &["abc", "def", "ghi"]), cut);
    assert_eq!(written(4, &["abcd", "e"]), cut);
}

#[test]
fn the_log_is_private_and_always_a_new_file() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("1.log");
    CappedLog::create(&path, 1).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    CappedLog::create(&path, 9).unwrap().write(b"other");
    assert_eq!(fs::read(&path).unwrap(), b"");
    let other = place.path().join("1.2.log");
    assert_eq!(fs::read(other).unwrap(), b"other");
}

fn found(text: &str) -> Value {
    match last_object(text) {
        Some(Ok(value)) => value,
        other => panic!("{other:?} in {text}"),
    }
}

#[test]
fn finds_the_last_object_whatever_surrounds_it() {
    let one = json!({"a": 1});
    for text in [
        r#"{"a": 1}"#,
        "Here you are:\n```json\n{\"a\": 1}\n```\nAnything else?",
        r#"first {"a": 0}, no: {"a": 1}"#,
        r#"{"a":0}{"a":1}"#,
        r#"{ {"a": 1} }"#,
        r#"fn main() { let x = {"a": 1}; }"#,
        r#"{"no": json, either} but {"a": 1} is"#,
        r#"{"a" 2} {"a": 1} } ]"#,
        "{\"a\": \"no\nline\"} {\"a\": 1}",
        r#"{"a": 1} and then {"a": 2, "b": [{"c": 3}"#,
        r#"{"a": 1} {"a": "cut \"#,
        r#"{"a": 1} {"a": tru"#,
        r#"{"a": 1} {"#,
        r#"{"a": 1} {"a": {"b": 2}, 'c': 3}"#,
    ] {
        assert_eq!(found(text), one, "{text}");
    }
}

#[test]
fn finds_nothing_without_an_object() {
    for text in [
        "",
        "{",
        "}",
        "[1]",
        "{1: 2}",
        "{'a': 1}",
        "{\"a\": 1",
        "{\"a\"}",
        "{,}",
    ] {
        assert_eq!(last_object(text), None, "{text}");
    }
    assert_eq!(found("{}"), json!({}));
}

#[test]
fn rejects_an_object_that_two_readers_could_read_differently() {
    let twice = r#"{"a": 0} {"a": 1, "a": 2}"#;
    assert!(matches!(last_object(twice), Some(Err(why)) if why.contains("twice")));
    assert!(matches!(last_object(r#"{"a": 1e999}"#), Some(Err(_))));
    let deep = format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200));
    assert!(matches!(last_object(&deep), Some(Err(_))));
}

#[test]
fn a_million_braces_take_no_longer_than_a_million_letters() {
    let many = 300_000;
    for text in [
        "{".repeat(many),
        "{\"a\":".repeat(many),
        format!("{}!", "{\"a\":".repeat(many)),
        "{\"a\":[{},".repeat(many),
        "{\"".repeat(many),
    ] {
        assert_eq!(last_object(&format!("{text} ")), None);
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner),
        ]
    })
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::btree_map(".*", value, 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

proptest! {
    #[test]
    fn an_object_in_prose_is_found(
        before in "[^{}]*",
        answer in object(value()),
        after in "[^{}]*",
        pretty in any::<bool>(),
    ) {
        let text = if pretty {
            serde_json::to_string_pretty(&answer).unwrap()
        } else {
            answer.to_string()
        };
        prop_assert_eq!(last_object(&format!("{before}{text}{after}")), Some(Ok(answer)));
    }

    #[test]
    fn one_that_breaks_off_is_never_found(answer in object(value()), share in 0.0..1.0) {
        let text = answer.to_string();
        #[expect(
            clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss,
            reason = "a share of a short length"
        )]
        let mut cut = (text.len() as f64 * share) as usize;
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        prop_assert_eq!(last_object(&text[..cut]), None);
    }

    #[test]
    fn nothing_makes_it_panic(text in r#"([{}\[\]",:\\a1 \n]|\PC)*"#) {
        let _ = last_object(&text);
    }
}
