//! Choices of columns, and what they show.

use super::*;

const FIELDS: [FieldName; 3] = [
    FieldName::known("email"),
    FieldName::known("site"),
    FieldName::known("source"),
];

fn headings(text: &str) -> Result<Vec<String>, ColumnsError> {
    Columns::parse(text, &FIELDS).map(|columns| columns.headings())
}

#[test]
fn the_usual_order() {
    let expected = "email,status,site,source,rule,facts,tries,judged at";
    assert_eq!(
        Columns::usual(&FIELDS, false).headings().join(","),
        expected
    );
    assert_eq!(headings(expected).unwrap().join(","), expected);
    let settled = format!("{expected},settled by,note");
    assert_eq!(Columns::usual(&FIELDS, true).headings().join(","), settled);
    assert_eq!(headings(&settled).unwrap().join(","), settled);
}

#[test]
fn chooses_orders_and_renames() {
    assert_eq!(
        headings("status, email = E-Mail ,Judged-At").unwrap(),
        ["status", "E-Mail", "judged at"]
    );
    assert_eq!(headings("site=a=b").unwrap(), ["a=b"]);
}

#[test]
fn a_wrong_choice_is_refused_with_a_reason() {
    for (text, expected) in [
        (
            "source=status",
            "\"status\" is the name of another column than \"source\"",
        ),
        (
            "email=x,rule=Judged-At",
            "is the name of another column than \"rule\"",
        ),
        (
            "status=email,site",
            "is the name of another column than \"status\"",
        ),
        ("emial", "did you mean \"email\"?"),
        (
            "xyz",
            "\"xyz\"; there are: email, status, site, source, rule, facts, tries, judged at, settled by, note",
        ),
        ("", "a column name is missing"),
        ("email,,site", "a column name is missing"),
        ("email=", "the heading for \"email\" is missing"),
        ("email,EMAIL=x", "the column \"email\" is chosen twice"),
    ] {
        let refused = headings(text).unwrap_err().to_string();
        assert!(refused.contains(expected), "{text}: {refused}");
    }
    let own = headings("status=Status,email=the email").unwrap();
    assert_eq!(own[0], "Status");
}

#[test]
fn shows_an_outcome() {
    let fields = Fields::from([(FieldName::known("email"), "info@acme.com".to_owned())]);
    let columns = Columns::parse("email,site,tries,judged at,note,settled-by", &FIELDS).unwrap();
    let outcome = Outcome {
        fields: Some(&fields),
        status: "PASS",
        rule: "",
        facts: "",
        tries: 2,
        judged_at: Some("2026-01-02T03:04:05.678Z".parse().unwrap()),
        settled_by: "kim",
        note: "called them",
    };
    let text = |text: &str| Cell::Text(text.into());
    assert_eq!(
        columns.cells(&outcome),
        [
            text("info@acme.com"),
            text(""),
            Cell::Number(2),
            text("2026-01-02T03:04:05Z"),
            text("called them"),
            text("kim")
        ]
    );
}

#[test]
fn taken_headings_are_set_apart() {
    let taken = ["Email ".to_owned(), "site".into(), "site (comail)".into()];
    let wanted = [
        "email".to_owned(),
        "site".into(),
        "status".into(),
        "status".into(),
    ];
    assert_eq!(
        free_headings(&taken, &wanted),
        [
            "email (comail)",
            "site (comail 2)",
            "status",
            "status (comail)"
        ]
    );
}

fn layout(only_results: bool) -> Layout {
    Layout {
        header_row: Some(2),
        width: 2,
        headings: vec!["email".into()],
        only_results,
    }
}

const SOURCE: [(u32, &[&str]); 5] = [
    (1, &["A list"]),
    (2, &["company", "EMAIL"]),
    (3, &["Acme", "x"]),
    (5, &["Beta"]),
    (6, &[]),
];

fn joined(
    only_results: bool,
    source: &[(u32, &[&str])],
    rows: &[u32],
) -> Result<Vec<(u32, Cell)>, ExportError> {
    let layout = layout(only_results);
    let results = rows.iter().map(|&row| {
        Ok(ResultRow {
            row,
            cells: vec![Cell::Text(format!("r{row}"))],
        })
    });
    let mut join = Join::new(&layout, results);
    let mut joined = Vec::new();
    for (row, cells) in source {
        let cells = cells.iter().map(ToString::to_string).collect();
        if let Some(mut row) = join.row(*row, cells)? {
            assert_eq!((row.source.len(), row.results.len()), (2, 1));
            joined.push((row.row, row.results.remove(0)));
        }
    }
    join.finish()?;
    Ok(joined)
}

#[test]
fn puts_results_beside_their_rows() {
    let text = |text: &str| Cell::Text(text.into());
    assert_eq!(
        joined(false, &SOURCE, &[3, 5]).unwrap(),
        [
            (1, text("")),
            (2, text("email (comail)")),
            (3, text("r3")),
            (5, text("r5")),
            (6, text("")),
        ]
    );
}

#[test]
fn keeps_the_header_when_only_results_are_wanted() {
    let rows = joined(true, &SOURCE, &[5]).unwrap().into_iter();
    assert_eq!(rows.map(|(row, _)| row).collect::<Vec<_>>(), [2, 5]);
}

#[test]
fn what_does_not_fit_the_list_is_refused() {
    let wide: &[(u32, &[&str])] = &[(1, &["", "", ""])];
    let twice: &[(u32, &[&str])] = &[(1, &[""]), (1, &[""])];
    for (source, results, expected) in [
        (
            &SOURCE[..],
            &[3, 4][..],
            "row 4 has results, but is not in the list",
        ),
        (
            &SOURCE,
            &[3, 7],
            "row 7 has results, but is not in the list",
        ),
        (wide, &[], "row 1 of the list has more than its 2 columns"),
        (twice, &[], "row 1 is out of order"),
    ] {
        let refused = joined(false, source, results).unwrap_err().to_string();
        assert!(refused.starts_with(expected), "{refused}");
    }
}
