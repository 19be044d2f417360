//! Choices of columns, and what they show.

use super::*;
use crate::base::rows;

const FIELDS: [FieldName; 3] = [
    FieldName::known("email"),
    FieldName::known("site"),
    FieldName::known("source"),
];

fn headings(text: &str) -> Result<Vec<String>, ColumnsError> {
    Columns::parse(text, &FIELDS).map(|columns| columns.headings())
}

/// Texts that commas separate.
fn texts(text: &str) -> Vec<String> {
    text.split(',').map(str::to_owned).collect()
}

#[test]
fn chooses_orders_and_renames_columns() {
    let usual = "email,status,email to review,site,source,rule,facts,tries,judged at";
    assert_eq!(Columns::usual(&FIELDS, false).headings(), texts(usual));
    let settled = format!("{usual},settled by,note");
    assert_eq!(Columns::usual(&FIELDS, true).headings(), texts(&settled));
    for (text, expected) in rows! {
        usual => usual;
        &settled => &settled;
        "status, email = E-Mail ,Judged-At" => "status,E-Mail,judged at";
        "site=a=b" => "a=b";
        "email-to-review,email" => "email to review,email";
        "status=Status,email=the email" => "Status,the email";
    } {
        assert_eq!(headings(text).unwrap(), texts(expected), "{text}");
    }
}

#[test]
fn wrong_columns_are_refused_with_a_reason() {
    let known = "email, status, email to review, site, source, rule, facts, tries, judged at, settled by, note";
    let unknown = format!("\"xyz\"; there are: {known}");
    for (text, expected) in rows! {
        "source=status" => "\"status\" is the name of another column than \"source\"";
        "email=x,rule=Judged-At" => "the name of another column than \"rule\"";
        "status=email,site" => "the name of another column than \"status\"";
        "emial" => "did you mean \"email\"?";
        "xyz" => &unknown;
        "" => "a column name is missing";
        "email,,site" => "a column name is missing";
        "email=" => "the heading for \"email\" is missing";
        "email,EMAIL=x" => "the column \"email\" is chosen twice";
    } {
        let refused = headings(text).unwrap_err().to_string();
        assert!(refused.contains(expected), "{text}: {refused}");
    }
}

#[test]
fn an_outcome_fills_the_chosen_columns() {
    let fields = Fields::from([(FieldName::known("email"), "info@acme.com".to_owned())]);
    let columns = Columns::parse("email,site,tries,judged at,note,settled-by", &FIELDS).unwrap();
    let outcome = Outcome {
        fields: Some(fields),
        holds: true,
        tries: 2,
        judged_at: Some("2026-01-02T03:04:05.678Z".parse().unwrap()),
        settled_by: vec!["kim".to_owned()],
        notes: vec!["called them".to_owned()],
        ..Outcome::default()
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
fn an_unproven_answer_is_never_in_the_column_of_the_proven() {
    let site = (FieldName::known("site"), "https://acme.com".to_owned());
    let email = (FieldName::known("email"), "info@acme.com".to_owned());
    let fields = Fields::from([email, site]);
    let columns = Columns::parse("email,email-to-review,site", &FIELDS).unwrap();
    for (holds, expected) in rows! {
        true => ["info@acme.com", "", "https://acme.com"];
        false => ["", "info@acme.com", "https://acme.com"];
    } {
        let outcome = Outcome {
            fields: Some(fields.clone()),
            holds,
            ..Outcome::default()
        };
        let expected = expected.map(|text| Cell::Text(text.to_owned()));
        assert_eq!(columns.cells(&outcome), expected);
    }
}

#[test]
fn taken_headings_get_a_suffix() {
    let taken = texts("Email ,site,site (comail)");
    let free = free_headings(&taken, &texts("email,site,status,status"));
    let expected = "email (comail),site (comail 2),status,status (comail)";
    assert_eq!(free, texts(expected));
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
fn results_are_put_next_to_their_rows() {
    let text = |(row, text): (u32, &str)| (row, Cell::Text(text.into()));
    let expected = [
        (1, ""),
        (2, "email (comail)"),
        (3, "r3"),
        (5, "r5"),
        (6, ""),
    ];
    assert_eq!(joined(false, &SOURCE, &[3, 5]).unwrap(), expected.map(text));
    // The heading row stays when only results are wanted.
    let rows = joined(true, &SOURCE, &[5]).unwrap().into_iter();
    assert_eq!(rows.map(|(row, _)| row).collect::<Vec<_>>(), [2, 5]);
}

#[test]
fn results_that_do_not_fit_the_list_are_refused() {
    let wide: &[(u32, &[&str])] = &[(1, &["", "", ""])];
    let twice: &[(u32, &[&str])] = &[(1, &[""]), (1, &[""])];
    let missing = "has results, but is not in the list";
    for (source, results, expected) in rows! {
        &SOURCE[..], &[3, 4][..] => format!("row 4 {missing}");
        &SOURCE, &[3, 7] => format!("row 7 {missing}");
        wide, &[] => "row 1 of the list has more than its 2 columns".into();
        twice, &[] => "row 1 is out of order".into();
    } {
        let refused = joined(false, source, results).unwrap_err().to_string();
        assert!(refused.starts_with(&expected), "{refused}");
    }
}
