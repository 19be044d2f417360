//! Step 1, `format`: each field is what it must be, exactly as written.

use super::step::{Context, EMAIL, SITE, SOURCE, Step, quoted};
use super::web_url::{BadWebUrl, web_url};
use crate::gate::checks::kind::Verifies;
use crate::gate::{Cost, Fact};
use crate::quest::FieldName;
use crate::world::mailbox::Mailbox;

pub static STEP: Step = Step {
    name: "email-format",
    cost: Cost::Local,
    verifies: Verifies::Form,
    keys: &["site", "email", "source"],
    run,
};

fn run(context: &Context<'_>) -> Vec<Fact> {
    let text = |field| context.text(field).unwrap_or_default();
    let found = [
        web_finding("site-format", &SITE, text(&SITE)),
        email_finding(text(&EMAIL)),
        web_finding("source-format", &SOURCE, text(&SOURCE)),
    ];
    found.into_iter().flatten().collect()
}

fn email_finding(text: &str) -> Option<Fact> {
    let actual = match Mailbox::parse(text) {
        Ok(_) => return None,
        Err(_) if text.trim().is_empty() => "it is missing".to_owned(),
        Err(why) => format!("{}: {why}", quoted(text)),
    };
    let expected = "an address such as info@acme.co.kr";
    Some(Fact::new("email-format", expected, actual).on(EMAIL))
}

fn web_finding(rule: &'static str, field: &FieldName, text: &str) -> Option<Fact> {
    let actual = match web_url(text) {
        Ok(_) => return None,
        Err(why @ BadWebUrl::Missing) => why.to_string(),
        Err(why) => format!("{}: {why}", quoted(text)),
    };
    let expected = "an absolute URL such as https://acme.co.kr/contact";
    Some(Fact::new(rule, expected, actual).on(field.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::tests::EmailCase;

    #[test]
    fn lets_a_good_submission_through() {
        assert_eq!(EmailCase::good().run(&STEP), []);
    }

    #[test]
    fn says_which_fields_are_missing() {
        let found = EmailCase::of("", " ", "").run(&STEP);
        let told: Vec<_> = found
            .iter()
            .map(|finding| (finding.rule.as_str(), &*finding.actual))
            .collect();
        assert_eq!(
            told,
            [
                ("site-format", "it is missing"),
                ("email-format", "it is missing"),
                ("source-format", "it is missing"),
            ]
        );
        assert_eq!(EmailCase::none().run(&STEP), found);
    }

    #[test]
    fn names_field_and_fault_and_escapes_the_text() {
        let found = EmailCase::good().email("info\u{1b}[2Jacme").run(&STEP);
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

        let found = EmailCase::good().source("http://acme.co.kr:x/").run(&STEP);
        let [finding] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(finding.field, Some(SOURCE));
        assert_eq!(
            &*finding.actual,
            r#""http://acme.co.kr:x/": what follows the colon after its host is not a port"#
        );
    }

    #[test]
    fn the_site_is_judged_like_the_source() {
        let found = EmailCase::good().site("acme.co.kr").run(&STEP);
        assert_eq!(crate::gate::email::tests::rules(&found), ["site-format"]);
    }
}
