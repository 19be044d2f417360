//! Shell lines taken apart, and those that cannot be.

use proptest::prelude::*;

use super::reader::Unread;
use super::{Sight, read};

/// The commands of a line, their words joined by `|`; what is hidden is shown as `?`.
fn commands(line: &str) -> Vec<String> {
    let script = read(line).unwrap();
    let parts = script.parts.iter().map(|part| {
        let words = part.words.iter().map(|word| match word.sight {
            Sight::Hidden => format!("?{}", word.text),
            Sight::Plain | Sight::Pattern => word.text.clone(),
        });
        words.collect::<Vec<_>>().join("|")
    });
    parts.collect()
}

#[test]
fn lines_are_split_where_a_shell_splits_them() {
    let cases: &[(&str, &[&str])] = &[
        ("a b; c", &["a|b", "c"]),
        ("a && b || c & d", &["a", "b", "c", "d"]),
        ("a | b |& c\nd", &["a", "b", "c", "d"]),
        ("a 'b; c' \"d && e\" f\\;g", &["a|b; c|d && e|f;g"]),
        ("g\"i\"t pu\\sh", &["git|push"]),
        ("a \\\n b", &["a|b"]),
        ("a # b; c\nd", &["a", "d"]),
        ("a#b", &["a#b"]),
        ("(a; b)", &["a", "b"]),
        ("a $(b c) d", &["b|c", "a|?|d"]),
        ("a \"x$(b \"c d\")y\"", &["b|c d", "a|?xy"]),
        ("a `b \\`c\\``", &["c", "b|?", "a|?"]),
        ("a '$(b)' \\$c", &["a|$(b)|$c"]),
        ("a ${b:-$(c)}", &["c", "a|?"]),
        ("a <(b) >(c)", &["b", "c", "a|?|?"]),
        ("a $'b\\'c'", &["a|?"]),
        ("a {b,c} {} {d", &["a|?{b,c}|{}|{d"]),
        ("a *.py", &["a|*.py"]),
        ("a ~/b ~c", &["a|~/b|?~c"]),
        ("X=1 a", &["X=1|a"]),
        ("a 2>&1 >b 3<c", &["a"]),
        ("cat <<E\nrm x; y\nE\nb", &["cat", "b"]),
        ("cat <<E | d\nrm x\nE", &["cat", "d"]),
        ("cat <<'E'\n$(b)\nE", &["cat"]),
        ("cat <<E\n$(b)\nE", &["cat", "b"]),
        ("cat <<-E\n\tx\n\tE\nb", &["cat", "b"]),
        ("", &[]),
    ];
    for (line, expected) in cases {
        assert_eq!(commands(line), *expected, "{line:?}");
    }
}

#[test]
fn redirections_are_told_from_words() {
    let script = read("a >b 2>>c &>d >|e <f <<<g >&2 2>&- >&h").unwrap();
    let part = &script.parts[0];
    let texts = |words: &[super::Word]| -> Vec<String> {
        words.iter().map(|word| word.text.clone()).collect()
    };
    assert_eq!(texts(&part.words), ["a"]);
    assert_eq!(texts(&part.writes), ["b", "c", "d", "e", "h"]);
    assert_eq!(texts(&part.reads), ["f"]);
    assert_eq!(texts(&part.fed), ["g"]);
}

#[test]
fn what_has_no_end_is_not_read() {
    for line in [
        "a 'b",
        "a \"b",
        "a $(b",
        "a `b",
        "a ${b",
        "cat <<E\nb",
        "cat <<E",
    ] {
        assert_eq!(read(line), Err(Unread::Unended), "{line:?}");
    }
    assert_eq!(read("a\0b"), Err(Unread::Control));
    assert_eq!(read("a $(case x in a) b;; esac)"), Err(Unread::CaseInside));
    assert_eq!(read(&"$(".repeat(1000)), Err(Unread::Deep));
    assert_eq!(read(&"`".repeat(1001)), Err(Unread::Unended));
    assert_eq!(read(&"a".repeat(200_000)), Err(Unread::Long));
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(line in r#"[a-c'"\\$`(){}<>|&;#~*\n =-]{0,40}"#) {
        let _ = read(&line);
    }

    #[test]
    fn what_is_quoted_stays_one_word(text in r#"[a-c "\\$`(){}<>|&;#~*\n=]{1,20}"#) {
        let script = read(&format!("x '{text}' y")).unwrap();
        prop_assert_eq!(script.parts.len(), 1);
        let words = &script.parts[0].words;
        prop_assert_eq!(words.len(), 3);
        prop_assert_eq!(&words[1].text, &text);
        prop_assert!(words[1].is_plain());
    }

    #[test]
    fn it_splits_into_the_words_that_shlex_finds(line in r#"([a-c]|"[a-c ;]*"|'[a-c ;]*'| |\\[;"' ]){0,30}"#) {
        let script = read(&line).unwrap();
        let ours: Vec<_> = script.parts.iter().flat_map(|part| &part.words).map(|word| word.text.clone()).collect();
        prop_assert_eq!(Some(ours), shlex::split(&line));
    }
}
