//! Lists of every format that `[input]` names, each scanned, and read again with more in it.

use std::fs;

use serde_json::Value;

use crate::harness::letters::Letters;

/// A quest file whose answers must repeat the keys, without a format of its list.
const THINGS: &str = include_str!("harness/quests/things.toml");

fn things(input: &str, prompt: &str) -> Letters {
    let file = THINGS.replace("[input]\n", &format!("[input]\n{input}\n"));
    let place = Letters::with(&file.replace("PROMPT", prompt));
    fs::remove_file(place.place.at("list.jsonl")).expect("a list");
    place
}

fn scan(things: &Letters, list: &[&str], more: &[&str]) -> Value {
    let args = ["scan"].iter().chain(list).chain(more);
    let (code, scanned) = things.json(args.copied());
    assert_eq!(code, 0, "{scanned}");
    scanned
}

/// Scans, passes the first quest, writes more, updates, and returns the second prompt.
fn grown(things: &Letters, list: &[&str], first: &str, more: impl Fn()) -> String {
    let scanned = scan(things, list, &["--quest=letters.toml"]);
    assert_eq!(scanned["quests"], 1, "{scanned}");
    let answer = format!("--answer={first}");
    things.run(["submit", "--thing", first, &answer]).ok();
    more();
    let updated = scan(things, list, &["--update"]);
    assert_eq!(
        (&updated["added"], &updated["gone"]),
        (&1.into(), &0.into()),
        "{updated}"
    );
    let (code, next) = things.json(["next"]);
    assert_eq!((code, &next["quest"]["id"]), (0, &2.into()), "{next}");
    things.run(["audit"]).ok();
    next["prompt"].as_str().expect("a prompt").to_owned()
}

#[test]
fn a_list_of_any_format_is_read_and_read_again() {
    let with_cell = "{{ key }} {{ input.n }}";
    // The keys of [input], the prompt, the list, a file of it before and after, the first key and
    // the second prompt.
    for (input, prompt, list, before, after, first, second) in [
        (
            "format = 'jsonl'\nkey = ['k']\nshow = ['n']",
            with_cell,
            "list.txt",
            ("list.txt", "{\"k\":\"a\",\"n\":1}\n"),
            ("list.txt", "{\"k\":\"a\",\"n\":1}\n{\"k\":\"b\",\"n\":2}\n"),
            "a",
            "b 2",
        ),
        (
            "format = 'csv'\nkey = ['k']\nanchor = ['n']",
            with_cell,
            "list.txt",
            ("list.txt", "k,n\na,1\n"),
            ("list.txt", "k,n\na,1\nb,2\n"),
            "a",
            "b 2",
        ),
        (
            "format = 'lines'",
            "{{ key }}",
            "list.csv",
            ("list.csv", "a,x\n"),
            ("list.csv", "a,x\nb,y\n"),
            "a,x",
            "b,y",
        ),
        (
            "format = 'dir'\nkey = ['path']\nglob = '**/*.py'",
            "{{ key }}",
            "src",
            ("src/a.py", ""),
            ("src/in/b.py", ""),
            "a.py",
            "in/b.py",
        ),
        (
            "",
            "{{ key }}",
            "src",
            ("src/a.py", ""),
            ("src/b.py", ""),
            "a.py",
            "b.py",
        ),
    ] {
        let things = things(input, prompt);
        fs::create_dir_all(things.place.at("src/in")).expect("a directory");
        if input.contains("glob") {
            things.place.write("src/a.txt", "");
        }
        things.place.write(before.0, before.1);
        let prompt = grown(&things, &[list], first, || {
            things.place.write(after.0, after.1);
        });
        assert_eq!(prompt, second, "{input}");
    }
}

#[test]
fn update_refuses_a_row_whose_prompt_cannot_be_rendered() {
    let things = things(
        "format = 'jsonl'\nkey = ['k']\nshow = ['n']",
        "{{ key }} {{ input.n | int }}",
    );
    things.place.write("list.txt", "{\"k\":\"a\",\"n\":1}\n");
    scan(&things, &["list.txt"], &["--quest=letters.toml"]);
    let list = |n: &str| format!("{{\"k\":\"a\",\"n\":1}}\n{{\"k\":\"b\",\"n\":{n}}}\n");
    things.place.write("list.txt", list("\"two\""));
    let refused = things.run(["scan", "list.txt", "--update"]);
    refused.says("row 2 (b): the prompt cannot be rendered");
    refused.exits(2);
    things.place.write("list.txt", list("2"));
    let updated = scan(&things, &["list.txt"], &["--update"]);
    assert_eq!(updated["added"], 1, "{updated}");
    things.run(["audit"]).ok();
}

#[test]
fn scan_asks_for_the_list_and_for_the_column_that_names_the_unit() {
    let things = things("key = ['k']", "{{ key }}");
    let run = things.run(["scan", "--quest=letters.toml"]);
    run.says("no list given");
    run.exits(2);
    let things = self::things("", "{{ key }}");
    things.place.write("list.csv", "k,n\na,1\n");
    let run = things.run(["scan", "list.csv", "--quest=letters.toml"]);
    run.says("which column names the thing?");
    run.exits(2);
}

#[test]
fn quests_wait_for_those_that_the_list_puts_before_them() {
    let things = things("key = ['k']\nafter = 'after'", "{{ key }}");
    let list = "{\"k\":\"a\"}\n{\"k\":\"b\",\"after\":\"a\"}\n{\"k\":\"c\",\"after\":\"a;b\"}\n";
    things.place.write("list.jsonl", list);
    scan(
        &things,
        &["list.jsonl"],
        &["--quest=letters.toml", "--max-tries=1"],
    );
    things.run(["submit", "--thing=b", "--answer=b"]).exits(7);
    things.run(["submit", "--thing=a", "--answer=a"]).ok();
    let (_, next) = things.json(["next"]);
    assert_eq!(next["quest"]["key"], "b");
    let (code, next) = things.json(["next", "--worker=w"]);
    assert_eq!((code, &next["quest"]["key"]), (0, &"b".into()), "{next}");
    let text = things.run(["next", "--worker=v"]).exits(4);
    assert!(text.contains("for quest 2 (b), which is TODO"), "{text}");
    things
        .run(["submit", "--worker=w", "--thing=b", "--answer=x"])
        .exits(6);
    let text = things.run(["next"]).exits(4);
    assert!(text.contains("blocked: 1 quest"), "{text}");
    assert!(things.run(["status"]).ok().contains("blocked 1"));
}

#[test]
fn a_list_with_circular_dependencies_is_refused() {
    let things = things("key = ['k']\nafter = 'after'", "{{ key }}");
    let list = "{\"k\":\"a\",\"after\":\"b\"}\n{\"k\":\"b\",\"after\":\"a\"}\n";
    things.place.write("list.jsonl", list);
    let run = things.scan();
    assert_ne!(run.code, 0, "{run:?}");
    assert!(!things.has_session());
}
