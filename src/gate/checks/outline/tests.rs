//! Structures of texts, as they stay and as they stray.

use crate::gate::checks::bench::Bench;

const CHECK: &str = "kind = \"outline\"\nof = \"{{ input.cell }}\"\nfield = \"value\"\n";
const SOURCE: &str = "# Install\n\nRun `make` in {dir}, or see [this](https://a.org/x).\n\n\
    - one\n  - two\n\n## Use\n\n1. Say `go` to %s and %d.\n\n```sh\nmake go\n```\n";
const TARGET: &str = "# Einbau\n\nIn {dir} `make` starten, [hier](https://a.org/x) steht mehr.\n\n\
    * eins\n    * zwei\n\nNutzung\n-------\n\n1) `go` sagen: %s, %d.\n\n~~~sh\nmake go\n~~~\n";

fn bench(more: &str, target: &str) -> Bench {
    let bench = Bench::of(&format!("{CHECK}{more}"));
    bench.cell(SOURCE).submit("value", target)
}

fn fact(from: &str, to: &str) -> (String, String, String) {
    assert!(TARGET.contains(from), "{from}");
    let fact = bench("", &TARGET.replacen(from, to, 1)).only_fact();
    (
        fact.location.unwrap_or_default(),
        fact.expected,
        fact.actual,
    )
}

#[test]
fn one_structure_is_written_in_many_ways() {
    assert_eq!(bench("", TARGET).facts(), []);
}

#[test]
fn each_part_is_missed_where_it_should_be() {
    for (from, to, at, said) in [
        (
            "# Einbau",
            "## Einbau",
            "1",
            "a heading of level 1, as at source:1",
        ),
        (
            "# Einbau\n",
            "\n",
            "8",
            "a heading of level 1, as at source:1",
        ),
        (
            "    * zwei\n",
            "",
            "source:6",
            "an item of a list at depth 2",
        ),
        (
            "* eins\n    * zwei",
            "* eins\n* zwei",
            "6",
            "at depth 2, as at source:6",
        ),
        ("1) ", "- ", "11", "a numbered item of a list at depth 1"),
        ("~~~sh", "~~~", "13", "a block of code in `sh`"),
        ("make go\n~", "mache go\n~", "13", "that says the same"),
        ("`make`", "make", "source:3", "the code `make`"),
        (
            "`make`",
            "`make` `make`",
            "3",
            "as often as the source has it",
        ),
        ("{dir}", "dir", "source:3", "the placeholder {dir}"),
        (
            "[hier](https://a.org/x)",
            "hier",
            "source:3",
            "a link to https://a.org/x",
        ),
        (
            "%s, %d",
            "%d, %s",
            "11",
            "the placeholder %s, as at source:10",
        ),
    ] {
        let (location, expected, _) = fact(from, to);
        assert_eq!(
            (location.as_str(), expected.contains(said)),
            (at, true),
            "{to}: {expected}"
        );
    }
}

#[test]
fn what_moves_to_another_section_is_lost_there() {
    let moved = TARGET.replacen(" `make`", "", 1) + "`make`";
    let facts = bench("", &moved).facts();
    assert_eq!(facts.len(), 2, "{facts:?}");
    let merged = TARGET.replacen("-------\n", "", 1);
    let facts = bench("", &merged).facts();
    let places: Vec<_> = facts.iter().map(|it| it.location.as_deref()).collect();
    assert_eq!(places, [Some("source:8")], "{facts:?}");
}

#[test]
fn parts_are_chosen() {
    let bare = TARGET.replace('`', "").replace("{dir}", "dir");
    assert_eq!(
        bench("parts = [\"headings\", \"items\"]", &bare).facts(),
        []
    );
    let said = TARGET.replace("make go", "mache los");
    assert_eq!(bench("code_may_change = true", &said).facts(), []);
    assert!(bench("parts = []", "").mistake().contains("nothing"));
    assert!(
        bench("parts = [\"tables\"]", "")
            .mistake()
            .contains("headings")
    );
}
