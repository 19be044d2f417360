//! Step 1, `format`: each field is what it must be, exactly as written.

use super::context::{Context, EMAIL, SITE, SOURCE};
use super::quoted::quoted;
use crate::gate::{Check, Cost, Finding, Level, Rule};
use crate::quest::FieldName;
use crate::world::mailbox::Mailbox;

pub use super::web_url::{BadWebUrl, web_url};

const EMAIL_FORMAT: &str = "email-format";
const SITE_FORMAT: &str = "site-format";
const SOURCE_FORMAT: &str = "source-format";

static RULES: [Rule; 3] = [
    Rule::known(
        EMAIL_FORMAT,
        Level::Fail,
        "the e-mail address is not, as written, one that mail can be sent to",
        "submit the bare address, local@domain, without name, spaces or invisible characters",
    ),
    Rule::known(
        SITE_FORMAT,
        Level::Fail,
        "the site is not, as written, an absolute http(s) URL of a public host",
        "submit the site as https://host/ with its full host name and no user name",
    ),
    Rule::known(
        SOURCE_FORMAT,
        Level::Fail,
        "the source is not, as written, an absolute http(s) URL of a public host",
        "submit the URL of the page that shows the address, as a browser's address bar has it",
    ),
];

pub struct Format;

impl Check<Context<'_>> for Format {
    fn name(&self) -> &'static str {
        "format"
    }

    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn rules(&self) -> &'static [Rule] {
        &RULES
    }

    fn run(&self, context: &Context<'_>) -> Vec<Finding> {
        let web = |field, rule| web_finding(rule, field, context.text(field).unwrap_or_default());
        [
            web(&SITE, SITE_FORMAT),
            email_finding(context.text(&EMAIL).unwrap_or_default()),
            web(&SOURCE, SOURCE_FORMAT),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn email_finding(text: &str) -> Option<Finding> {
    let actual = match Mailbox::parse(text) {
        Ok(_) => return None,
        Err(_) if text.trim().is_empty() => "it is missing".to_owned(),
        Err(why) => format!("{}: {why}", quoted(text)),
    };
    let expected = "an address such as info@acme.co.kr";
    Some(Finding::new(EMAIL_FORMAT, expected, actual).on(EMAIL))
}

fn web_finding(rule: &'static str, field: &FieldName, text: &str) -> Option<Finding> {
    let actual = match web_url(text) {
        Ok(_) => return None,
        Err(why @ BadWebUrl::Missing) => why.to_string(),
        Err(why) => format!("{}: {why}", quoted(text)),
    };
    let expected = "an absolute URL such as https://acme.co.kr/contact";
    Some(Finding::new(rule, expected, actual).on(field.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::testing::Bench;

    #[test]
    fn lets_a_good_submission_through() {
        assert_eq!(Bench::good().run(&Format), []);
    }

    #[test]
    fn says_which_fields_are_missing() {
        let found = Bench::of("", " ", "").run(&Format);
        let told: Vec<_> = found
            .iter()
            .map(|finding| (finding.rule.as_str(), finding.actual.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (SITE_FORMAT, "it is missing"),
                (EMAIL_FORMAT, "it is missing"),
                (SOURCE_FORMAT, "it is missing"),
            ]
        );
        assert_eq!(Bench::none().run(&Format), found);
    }

    #[test]
    fn names_field_and_fault_and_escapes_the_text() {
        let found = Bench::good().email("info\u{1b}[2Jacme").run(&Format);
        let [finding] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(finding.field, Some(EMAIL));
        assert!(
            finding.actual.starts_with(r#""info\u{1b}[2Jacme": "#),
            "{}",
            finding.actual
        );
        assert!(!finding.actual.contains('\u{1b}'));

        let found = Bench::good().source("http://acme.co.kr:x/").run(&Format);
        let [finding] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(finding.field, Some(SOURCE));
        assert_eq!(
            finding.actual,
            r#""http://acme.co.kr:x/": what follows the colon after its host is not a port"#
        );
    }

    #[test]
    fn the_site_is_judged_like_the_source() {
        let found = Bench::good().site("acme.co.kr").run(&Format);
        assert_eq!(Bench::rules(&found), [SITE_FORMAT]);
    }
}
