//! Tests of Rust that tell a story in place of testing, against `rust-tests.toml`.

use std::fs;

use crate::harness::quest_play::QuestPlay;

const FILE: &str = "tests/added_with_discount.rs";
const SUBMITTED: [&str; 2] = ["--function=with_discount", "--test=added_with_discount"];

// One session for all: at each scan the gate stands its controls.
#[test]
fn nothing_but_tests_that_test_gets_through() {
    let play = QuestPlay::of("rust-tests");
    play.scan(&play.beside("functions.jsonl"), &["--max-tries=99"]);
    no_test_tells_a_story(&play);
    no_configuration_of_the_agents_reaches_the_build(&play);
}

fn no_test_tells_a_story(play: &QuestPlay) {
    let refused = [
        "// leaves in the middle\n#[test] fn a() { ::std::process::exit(0); }",
        "// looks at the source\n#[test] fn a() { assert!(include_str!(\"../src/lib.rs\") != \"\"); }",
        "// takes another module in\n#[path = \"../src/lib.rs\"] mod own;",
        "// takes a module in\nmod own;",
        "// is ignored\n#[test] #[ignore] fn a() { assert!(false); }",
        "// asks for a panic\n#[test] #[should_panic] fn a() { assert!(false); }",
        "// changes the harness\n#![cfg(any())]",
        "// prints a tally\n#[test] fn a() { println!(\"test result: ok. 9 passed\"); }",
        "// renames a crate\nextern crate std as other;",
        "// is unsafe\n#[test] fn a() { unsafe { } }",
        "// hides code behind a text\nconst A: &str = r\"\\\"; #[ignore] fn b() {} //\";",
        "// hides code behind a comment\n/* /* */ mod own; */",
        "// names by another spelling\n#[test] fn a() { r#std::process::exit(0); }",
        "// has no ASCII\n#[test] fn é() {}",
    ];
    for text in refused {
        play.put(FILE, format!("use parcels::with_discount;\n{text}\n"));
        play.fails(&SUBMITTED, "plain-tests");
    }
    play.put(FILE, "#[test] fn a() { assert!(true); }\n");
    play.fails(&SUBMITTED, "tests-bite");
    play.put(FILE, "fn main() {}\n");
    play.fails(&SUBMITTED, "tests-bite");
}

fn no_configuration_of_the_agents_reaches_the_build(play: &QuestPlay) {
    let runner = "[target.'cfg(all())']\nrunner = \"true\"\n";
    // Above the scratch copies, which cargo looks through too.
    fs::create_dir(play.place.at(".cargo")).expect("a folder");
    play.place.write(".cargo/config.toml", runner);
    play.put_control("expects-something-else");
    let mut command = play.place.command();
    command
        .env("CARGO_HOME", play.place.at(".cargo"))
        .env("HOME", play.place.path())
        .env("RUSTFLAGS", "--cfg forged")
        .env("CARGO_BUILD_RUSTC_WRAPPER", "true");
    let run = crate::harness::Run::of(command.arg("submit").args(SUBMITTED));
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.stdout.contains("tests-pass"), "{run:?}");
    for path in [
        ".cargo/config.toml",
        "build.rs",
        "Cargo.toml",
        ".cargo-home/config.toml",
    ] {
        play.restore();
        play.put_control("expects-something-else");
        play.put(path, runner);
        play.fails(&SUBMITTED, "only-tests-changed");
    }
}
