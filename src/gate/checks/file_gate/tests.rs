//! The gate that a quest file makes, by its catalogue and by what it refuses.

use super::*;
use crate::base::rows;
use crate::gate::checks::outside::Gathered;

impl FileGate {
    pub(crate) fn silenced(&self, name: &str) -> Self {
        let mut gate = self.clone();
        gate.cascade.silence(name);
        gate
    }
}

const HEAD: &str = r#"
name = "suppliers"
unit = "supplier"
[input]
anchor = ["website"]
[prompt]
text = "{{ key }}"
[[field]]
name = "homepage"
kind = "text"
unchecked = true
[[field]]
name = "mail"
kind = "text"
unchecked = true
[[field]]
name = "page"
kind = "text"
unchecked = true
"#;

const SOURCE: &str = r#"
[[check]]
name = "shown"
kind = "email-source"
site = "homepage"
email = "mail"
source = "page"
"#;

const FORMAT: &str = r#"
[[check]]
name = "written"
kind = "email-format"
site = "homepage"
email = "mail"
source = "page"
"#;

fn gate(checks: &str) -> Result<FileGate, String> {
    let text = format!("{HEAD}{checks}");
    let file = QuestFile::parse(&text).unwrap();
    let gate = FileGate::new(&file, &Gathered::default(), GateSettings::default());
    gate.map_err(|mistake| mistake.what)
}

fn names(gate: &FileGate) -> Vec<&str> {
    gate.cascade.names()
}

#[test]
fn an_email_step_has_its_own_rules_and_a_name_of_the_files() {
    let gate = gate(&format!("{FORMAT}{SOURCE}")).unwrap();
    assert_eq!(names(&gate), ["written", "shown"]);
    assert_eq!(gate.fact_checks(), ["shown"]);
    let rules = gate.rules();
    let has = |id: &str| rules.iter().any(|rule| rule.id.as_str() == id);
    assert!(has("email-not-on-source") && has("source-echo"));
    assert!(!has("shown") && !has("shown-unconfirmed"));
}

#[test]
fn the_fields_that_the_format_step_looks_at_are_not_looked_at_twice() {
    assert_eq!(
        names(&gate(&format!("{SOURCE}{FORMAT}")).unwrap()),
        ["written", "shown"]
    );
    let more = "[[field]]\nname = \"phone\"\nkind = \"text\"\nunchecked = true\n";
    let with_more = gate(&format!("{SOURCE}{FORMAT}{more}")).unwrap();
    assert_eq!(names(&with_more), ["fields", "written", "shown"]);
}

#[test]
fn a_step_names_what_there_is_and_has_neither_level_nor_words_of_the_files() {
    let domain = "kind = \"email-domain\"\nsite = \"homepage\"\nemail = \"mail\"\n";
    let mail = "kind = \"email-mail\"\n";
    for (check, said) in rows! {
        mail.to_owned() => "`email`";
        format!("{mail}email = \"mail\"\n") => "";
        format!("{mail}email = \"mail\"\nsite = \"homepage\"\n") => "unknown key `site`";
        format!("{domain}anchor = \"websit\"\n") => "did you mean `website`?";
        format!("{domain}anchor = \"website\"\n") => "";
        format!("{domain}level = \"review\"\n") => "rules of its own";
        format!("{domain}means = \"x\"\n") => "rules of its own";
        format!("{domain}remedy = \"x\"\n") => "rules of its own";
    } {
        let wrong = gate(&format!("{FORMAT}{SOURCE}[[check]]\nname = \"x\"\n{check}"));
        let wrong = wrong.err().unwrap_or_default();
        assert_eq!(wrong.is_empty(), said.is_empty(), "{check}: {wrong}");
        assert!(wrong.contains(said), "{check}: {wrong}");
    }
}

#[test]
fn no_two_checks_have_one_rule_but_a_step_may_stand_twice() {
    let twice = SOURCE.replace("shown", "shown-too");
    let gate_of_two = gate(&format!("{FORMAT}{SOURCE}{twice}")).unwrap();
    assert_eq!(
        gate_of_two.rules().len(),
        gate(&format!("{FORMAT}{SOURCE}")).unwrap().rules().len()
    );
    let clash = "[[check]]\nname = \"source-echo\"\nkind = \"matches\"\nfield = \"mail\"\npattern = \"x\"\n";
    let wrong = gate(&format!("{FORMAT}{SOURCE}{clash}")).err().unwrap();
    assert!(wrong.contains("the rule `source-echo`"), "{wrong}");
}

#[test]
fn a_step_that_nothing_tells_of_unread_fields_is_refused() {
    let wrong = |checks: &str| gate(checks).err().unwrap_or_default();
    assert!(
        wrong(SOURCE).contains("`email-format`"),
        "{}",
        wrong(SOURCE)
    );
    let elsewhere = FORMAT
        .replace("site = \"homepage\"", "site = \"page\"")
        .replace("source = \"page\"", "source = \"homepage\"");
    assert_eq!(wrong(&format!("{elsewhere}{SOURCE}")), "");
    let crossed = FORMAT
        .replace("email = \"mail\"", "email = \"homepage\"")
        .replace("site = \"homepage\"", "site = \"mail\"");
    let mail = "[[check]]\nname = \"m\"\nkind = \"email-mail\"\nemail = \"mail\"\n";
    let found = wrong(&format!("{crossed}{mail}"));
    assert!(
        found.contains("`mail` contains no e-mail address"),
        "{found}"
    );
    let keys = "site = \"homepage\"\nemail = \"mail\"\n";
    let identity = &format!("{keys}source = \"page\"\n");
    for (kind, keys) in [
        ("identity", identity.as_str()),
        ("domain", keys),
        ("freemail", keys),
        ("placeholder", keys),
    ] {
        let check = format!("[[check]]\nname = \"x\"\nkind = \"email-{kind}\"\n{keys}");
        let found = wrong(&check);
        assert!(found.contains("`email-format`"), "{kind}: {found}");
    }
}

#[test]
fn a_required_field_of_the_kind_email_is_looked_at_as_it_is() {
    let mail = "[[check]]\nname = \"m\"\nkind = \"email-mail\"\nemail = \"to\"\n";
    let to = |more: &str| format!("[[field]]\nname = \"to\"\nkind = \"email\"\n{more}{mail}");
    let wrong = |more: &str| gate(&to(more)).err().unwrap_or_default();
    assert!(wrong("").contains("only at the form"), "{}", wrong(""));
    assert!(wrong("required = false\n").contains("`email-format`"));
}

#[test]
fn a_fact_that_is_avoided_by_leaving_a_field_out_is_none() {
    let optional = "[[field]]\nname = \"quote\"\nkind = \"text\"\nrequired = false\n";
    let required = "[[field]]\nname = \"quote\"\nkind = \"text\"\n";
    for check in [
        "kind = \"contains\"\nfield = \"quote\"\nurl = \"https://acme.com\"\n",
        "kind = \"contains\"\ntext = \"x\"\nurl = \"{{ field.quote }}\"\n",
    ] {
        let check = format!("[[check]]\nname = \"shown\"\n{check}");
        let wrong = gate(&format!("{optional}{check}")).err().unwrap();
        assert!(
            wrong.contains("`shown`") && wrong.contains("`quote`"),
            "{wrong}"
        );
        assert_eq!(gate(&format!("{required}{check}")).err(), None, "{check}");
        let with_another = gate(&format!(
            "{optional}{check}{FORMAT}{}",
            SOURCE.replace("shown", "other")
        ));
        assert_eq!(with_another.unwrap().fact_checks(), ["other"]);
    }
}
