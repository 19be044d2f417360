//! Choices of columns, and what stands in them.

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
fn no_column_goes_by_the_name_of_another() {
    for text in [
        "source=status",
        "email=x,rule=Judged-At",
        "status=email,site",
    ] {
        let refused = headings(text).unwrap_err();
        assert!(
            matches!(refused, ColumnsError::Mislabelled { .. }),
            "{text}"
        );
    }
    assert_eq!(
        headings("status=Status,email=the email").unwrap()[0],
        "Status"
    );
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let message = headings("emial").unwrap_err().to_string();
    assert!(message.contains("did you mean \"email\"?"), "{message}");
    let known = "email, status, site, source, rule, facts, tries, judged at, settled by, note";
    assert!(
        message.ends_with(&format!("there are: {known}")),
        "{message}"
    );
    let message = headings("xyz").unwrap_err().to_string();
    assert!(!message.contains("did you mean"), "{message}");
}

#[test]
fn refuses_blanks_and_repeats() {
    assert_eq!(headings(""), Err(ColumnsError::NoName));
    assert_eq!(headings("email,,site"), Err(ColumnsError::NoName));
    assert_eq!(
        headings("email="),
        Err(ColumnsError::NoHeading("email".into()))
    );
    assert_eq!(
        headings("email,EMAIL=x"),
        Err(ColumnsError::Twice("email".into()))
    );
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

fn layout(keep: Keep) -> Layout {
    Layout {
        header_row: Some(2),
        width: 2,
        headings: vec!["email".into()],
        keep,
    }
}

fn source() -> Vec<Result<SourceRow, RowError>> {
    let rows: [(u32, &[&str]); 5] = [
        (1, &["A list"]),
        (2, &["company", "EMAIL"]),
        (3, &["Acme", "x"]),
        (5, &["Beta"]),
        (6, &[]),
    ];
    rows.iter()
        .map(|(row, cells)| {
            Ok(SourceRow {
                row: *row,
                cells: cells.iter().map(ToString::to_string).collect(),
            })
        })
        .collect()
}

fn results(rows: &[u32]) -> Vec<Result<ResultRow, RowError>> {
    rows.iter()
        .map(|&row| {
            Ok(ResultRow {
                row,
                cells: vec![Cell::Text(format!("r{row}"))],
            })
        })
        .collect()
}

fn joined(keep: Keep, rows: &[u32]) -> Vec<Result<(u32, String), ExportError>> {
    let layout = layout(keep);
    join(&layout, source().into_iter(), results(rows).into_iter())
        .map(|row| {
            row.map(|row| {
                assert_eq!((row.source.len(), row.results.len()), (2, 1));
                (row.row, format!("{:?}", row.results[0]))
            })
        })
        .collect()
}

#[test]
fn puts_results_beside_their_rows() {
    let rows: Result<Vec<_>, _> = joined(Keep::All, &[3, 5]).into_iter().collect();
    let text = |text: &str| format!("{:?}", Cell::Text(text.into()));
    assert_eq!(
        rows.unwrap(),
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
    let rows: Result<Vec<_>, _> = joined(Keep::WithResults, &[5]).into_iter().collect();
    let numbers: Vec<u32> = rows.unwrap().into_iter().map(|(row, _)| row).collect();
    assert_eq!(numbers, [2, 5]);
}

#[test]
fn results_without_a_row_end_it() {
    for missing in [4, 7] {
        let last = joined(Keep::All, &[3, missing]).pop().unwrap();
        assert!(matches!(last, Err(ExportError::NoSuchRow(row)) if row == missing));
    }
}

#[test]
fn wide_or_unordered_rows_end_it() {
    let layout = layout(Keep::All);
    let row = |row, width| {
        Ok(SourceRow {
            row,
            cells: vec![String::new(); width],
        })
    };
    let none = || std::iter::empty::<Result<ResultRow, RowError>>();
    let wide: Vec<_> = join(&layout, [row(1, 3), row(2, 1)].into_iter(), none()).collect();
    assert!(matches!(
        wide[..],
        [Err(ExportError::Width { found: 3, .. })]
    ));
    let twice: Vec<_> = join(&layout, [row(1, 1), row(1, 1)].into_iter(), none()).collect();
    assert!(matches!(twice[..], [Ok(_), Err(ExportError::Order(1))]));
}
