//! Templates of a quest file: text with `{{ key }}`, `{{ input.COLUMN }}` and `{{ field.NAME }}`.
//!
//! An unknown name is an error when the file is read, and a missing value when the text is rendered.
//! Values are never rendered as templates. The filters `shell`, `json` and `url` make a value one word
//! of a shell, one JSON value, or one part of a URL.

use std::borrow::Cow;
use std::collections::BTreeMap;

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::json;
use shlex::Quoter;

use super::file::unknown_name;
use super::{Quest, Submission};
use crate::base::text::is_blank;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(Vec<String>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    source: String,
    named: Vec<String>,
    plain: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadTemplate(String);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Values {
    pub key: String,
    pub id: String,
    pub input: BTreeMap<String, String>,
    pub field: BTreeMap<String, String>,
    pub service: BTreeMap<String, BTreeMap<String, String>>,
    /// Random letters for the name of a planted test.
    pub canary: String,
}

impl Names {
    pub fn of_prompt<'a>(columns: impl Iterator<Item = &'a str>) -> Self {
        let fixed = ["key", "id", "shown", "anchor"].map(str::to_owned);
        let columns = columns.map(|column| format!("input.{column}"));
        Self(fixed.into_iter().chain(columns).collect())
    }

    pub fn of_check<'a>(
        columns: impl Iterator<Item = &'a str>,
        fields: impl Iterator<Item = &'a str>,
        services: impl Iterator<Item = &'a str>,
    ) -> Self {
        let columns = columns.map(|column| format!("input.{column}"));
        let fields = fields.map(|field| format!("field.{field}"));
        let fixed = ["key", "id"].map(str::to_owned).into_iter();
        let own = fixed.chain(columns).chain(fields);
        Self(own.chain(Self::of_final(services).0).collect())
    }

    /// The names for a check over the whole result, which is about no single quest.
    pub fn of_final<'a>(services: impl Iterator<Item = &'a str>) -> Self {
        let of = |name| ["port", "url"].map(|what| format!("service.{name}.{what}"));
        Self(services.flat_map(of).collect())
    }

    pub fn of_service() -> Self {
        Self(vec![String::from("port")])
    }

    /// The same and one more.
    pub fn with(mut self, name: &str) -> Self {
        self.0.push(name.to_owned());
        self
    }

    fn example(&self) -> Value {
        self.example_with("", "1")
    }

    /// The value 1 for each name, but for this one.
    fn example_with(&self, other: &str, text: &str) -> Value {
        let mut root = json!({});
        for name in &self.0 {
            let place = name.split('.').fold(&mut root, |group, part| {
                // A column may be called `a`, and another one `a.b`.
                if !group.is_object() {
                    *group = json!({});
                }
                &mut group[part]
            });
            *place = if name == other { text } else { "1" }.into();
        }
        Value::from_serialize(root)
    }

    fn hold(&self, name: &str) -> bool {
        let within = |known: &String| {
            known
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        self.0.iter().any(|known| known == name || within(known))
    }
}

impl Template {
    pub fn parse(text: &str, names: &Names) -> Result<Self, BadTemplate> {
        let environment = environment();
        let parsed = environment
            .template_from_str(text)
            .map_err(|error| BadTemplate(plain(&error)))?;
        let mut variables: Vec<_> = parsed.undeclared_variables(true).into_iter().collect();
        variables.sort();
        let builtin = |name: &str| environment.globals().any(|(known, _)| known == name);
        let unknown = variables
            .iter()
            .find(|name| !names.hold(name) && !builtin(name));
        if let Some(name) = unknown {
            let known: Vec<&str> = names.0.iter().map(String::as_str).collect();
            return Err(BadTemplate(unknown_variable(name, &known)));
        }
        // The engine looks up filters and tests only while it renders, so rendering an example finds
        // typos.
        if let Err(error) = parsed.render(names.example())
            && is_unknown_call(&error)
        {
            return Err(BadTemplate(plain(&error)));
        }
        Ok(Self {
            source: text.to_owned(),
            named: variables
                .into_iter()
                .filter(|name| !builtin(name))
                .collect(),
            plain: false,
        })
    }

    /// The first name whose value can break out of a string of the JSON that this makes.
    pub fn breaks_json(&self, names: &Names) -> Option<&str> {
        let is_json = |name: &str, text| {
            let rendered = self.render(&names.example_with(name, text));
            let read = rendered.map(|text| serde_json::from_str::<serde_json::Value>(&text));
            matches!(read, Ok(Ok(value)) if value.is_object() || value.is_array())
        };
        // A word is JSON only inside a string, and a quote never is there.
        let breaks = |name: &&String| is_json(name, "a") && !is_json(name, "\"");
        self.named.iter().find(breaks).map(String::as_str)
    }

    pub fn fixed(text: &str) -> Self {
        Self {
            source: text.to_owned(),
            named: Vec::new(),
            plain: true,
        }
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names that it uses, such as `field.site`, or `field` if the field is chosen at rendering.
    pub fn names(&self) -> &[String] {
        &self.named
    }

    /// For each name that it uses, the part after `field`; `None` for other names.
    fn fields(&self) -> impl Iterator<Item = Option<&str>> {
        self.named
            .iter()
            .map(|name| match name.strip_prefix("field")? {
                "" => Some(""),
                rest => rest.strip_prefix('.'),
            })
    }

    pub fn reads_field(&self, field: &str) -> bool {
        self.fields().flatten().any(|rest| {
            // An empty rest means that the field is chosen at rendering.
            let first = rest.split('.').next();
            rest.is_empty() || first == Some(field)
        })
    }

    pub fn reads_fields(&self) -> bool {
        self.fields().any(|field| field.is_some())
    }

    pub fn reads_others(&self) -> bool {
        self.fields().any(|field| field.is_none())
    }

    pub fn is_fixed(&self) -> bool {
        self.plain || !(self.source.contains("{{") || self.source.contains("{%"))
    }

    pub fn render(&self, values: &impl Serialize) -> Result<String, BadTemplate> {
        if self.plain {
            return Ok(self.source.clone());
        }
        let rendered = environment().render_str(&self.source, values);
        rendered.map_err(|error| BadTemplate(plain(&error)))
    }
}

impl Values {
    pub fn of<'a>(
        quest: &Quest,
        submission: &Submission,
        fields: impl Iterator<Item = &'a str>,
        columns: impl Iterator<Item = &'a str>,
    ) -> Self {
        let text = |name: &str| {
            let text = submission.field(name).filter(|text| !is_blank(text));
            text.unwrap_or_default().to_owned()
        };
        let cell = |name: &str| quest.cell(name).unwrap_or_default().to_owned();
        Self {
            key: quest.key.to_string(),
            id: quest.id.to_string(),
            input: columns.map(|name| (name.to_owned(), cell(name))).collect(),
            field: fields.map(|name| (name.to_owned(), text(name))).collect(),
            service: BTreeMap::new(),
            canary: String::new(),
        }
    }
}

/// Strict, and without escaping unless a filter asks for it: results are arguments or patterns, never
/// HTML.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    environment.add_filter("shell", shell_word);
    environment.add_filter("json", json_value);
    environment.add_filter("url", url_part);
    environment
}

fn shell_word(text: &str) -> Result<String, Error> {
    let word = Quoter::new().quote(text).map(Cow::into_owned);
    word.map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

fn json_value(text: &str) -> Value {
    Value::from(json!(text).to_string())
}

/// All but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

fn url_part(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

fn plain(error: &minijinja::Error) -> String {
    error.to_string().replace('\n', " ")
}

/// Whether a filter, test, function or other template does not exist.
///
/// Other errors may be due to the example values, so they are reported only for real values.
fn is_unknown_call(error: &minijinja::Error) -> bool {
    let not_callable = error
        .detail()
        .is_some_and(|detail| detail.contains("not callable"));
    not_callable
        || matches!(
            error.kind(),
            ErrorKind::UnknownFilter
                | ErrorKind::UnknownTest
                | ErrorKind::UnknownFunction
                | ErrorKind::TemplateNotFound
        )
}

fn unknown_variable(name: &str, known: &[&str]) -> String {
    let what = unknown_name("variable", name, known);
    if name == "input" || name.starts_with("input.") {
        return format!("{what}; a column of the list is named in `anchor` or `show` of [input]");
    }
    what
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::quest::{FieldName, Key, QuestId};

    fn names() -> Names {
        Names::of_check(
            ["file", "first"].into_iter(),
            ["test"].into_iter(),
            ["api"].into_iter(),
        )
    }

    fn values() -> Values {
        let map = |pairs: &[(&str, &str)]| {
            let pairs = pairs
                .iter()
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
            pairs.collect::<BTreeMap<_, _>>()
        };
        Values {
            key: "{{ 7 * 7 }}".into(),
            id: "3".into(),
            input: map(&[("file", "a.py"), ("first", "")]),
            field: map(&[("test", "$(rm -rf /)\n--x <b>")]),
            service: [(
                "api".to_owned(),
                map(&[("port", "80"), ("url", "http://x")]),
            )]
            .into(),
            canary: String::new(),
        }
    }

    #[test]
    fn inserts_values_verbatim() {
        let of = |text| Template::parse(text, &names()).unwrap().render(&values());
        assert_eq!(of("{{ field.test }}").unwrap(), "$(rm -rf /)\n--x <b>");
        assert_eq!(of("{{ key }}-{{ id }}").unwrap(), "{{ 7 * 7 }}-3");
        assert_eq!(
            of("{{ input.file }}:{{ service.api.port }}").unwrap(),
            "a.py:80"
        );
        assert_eq!(of("{{ input['file'] | upper }}").unwrap(), "A.PY");
    }

    const HOSTILE: [&str; 7] = [
        "",
        "'; touch x; '",
        "$(id) `id` \\ \"quoted\" %41",
        "a\nb\t\u{7f}",
        "../../etc?x=1#y&z",
        "{{ key }} 가é",
        "-rf",
    ];

    fn rendered(text: &str, value: &str) -> Result<String, BadTemplate> {
        let mut values = values();
        values.field.insert("test".to_owned(), value.to_owned());
        Template::parse(text, &names()).unwrap().render(&values)
    }

    #[test]
    fn a_shell_reads_an_escaped_value_as_one_word() {
        for value in HOSTILE {
            let script = rendered("printf '<%s>' {{ field.test | shell }} end", value).unwrap();
            let run = std::process::Command::new("sh")
                .args(["-c", &script])
                .output();
            let printed = String::from_utf8(run.unwrap().stdout).unwrap();
            assert_eq!(printed, format!("<{value}><end>"), "{script}");
        }
        let nul = rendered("{{ field.test | shell }}", "a\0b");
        assert!(nul.unwrap_err().to_string().contains("nul"));
    }

    #[test]
    fn json_reads_an_escaped_value_as_one_string() {
        for value in HOSTILE {
            let text = rendered(r#"{"a": {{ field.test | json }}, "b": 1}"#, value).unwrap();
            let read: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(read, json!({"a": value, "b": 1}), "{text}");
        }
    }

    #[test]
    fn a_url_reads_an_escaped_value_as_one_part() {
        for value in HOSTILE {
            let text = "http://h/{{ field.test | url }}/end?q={{ field.test | url }}";
            let read = url::Url::parse(&rendered(text, value).unwrap()).unwrap();
            let query: Vec<_> = read.query_pairs().collect();
            assert_eq!(query, [("q".into(), value.into())]);
            let parts: Vec<_> = read.path_segments().unwrap().collect();
            let part = percent_encoding::percent_decode_str(parts[0]).decode_utf8();
            assert_eq!((part.unwrap().as_ref(), &parts[1..]), (value, &["end"][..]));
        }
    }

    #[test]
    fn finds_a_value_that_can_break_out_of_json() {
        for (text, name) in rows! {
            r#"{"a": "{{ field.test }}"}"# => Some("field.test");
            r#"[{{ id }}, "{{ input.file }}"]"# => Some("input.file");
            r#"{"a": {{ field.test | json }}}"# => None;
            // A number, which its field bounds, and texts that are no JSON.
            r#"{"a": {{ field.test }}}"# => None;
            "\"{{ field.test }}\"" => None;
            "{{ field.test }}" => None;
        } {
            let template = Template::parse(text, &names()).unwrap();
            assert_eq!(template.breaks_json(&names()), name, "{text}");
        }
    }

    #[test]
    fn an_invisible_value_is_empty() {
        let quest = Quest {
            rows: vec![1],
            ..Quest::new(QuestId::FIRST, Key::new("acme").unwrap())
        };
        for blank in [" ", "\u{200b}", "\u{3164}"] {
            let fields = [(FieldName::known("test"), blank.to_owned())];
            let submission = Submission::Fields(fields.into());
            let values = Values::of(&quest, &submission, ["test"].into_iter(), [].into_iter());
            assert_eq!(values.field["test"], "", "{blank:?}");
        }
    }

    #[test]
    fn rejects_an_unknown_name_before_rendering() {
        let wrong = |text| Template::parse(text, &names()).unwrap_err().to_string();
        let found = wrong("{{ input.fiel }}");
        assert!(found.contains("did you mean `input.file`?"), "{found}");
        assert!(wrong("{{ companyname }}").starts_with("unknown variable"));
        assert!(
            wrong("{{ key").contains("unexpected end"),
            "{}",
            wrong("{{ key")
        );
        for tag in [
            "{% include 'a' %}",
            "{%- extends 'a' %}",
            "{% from 'a' import b %}",
        ] {
            assert!(wrong(tag).contains("template not found"), "{tag}");
        }
        assert!(Template::parse("{% for i in range(3) %}{{ i }}{% endfor %}", &names()).is_ok());
    }

    #[test]
    fn rejects_an_unknown_filter_test_or_function_before_rendering() {
        let wrong = |text| Template::parse(text, &names()).map_err(|bad| bad.to_string());
        for (text, said) in rows! {
            "{{ key | uper }}" => "filter uper";
            "{% filter shout %}a{% endfilter %}" => "filter shout";
            "{% if key is evne %}{% endif %}" => "test evne";
            "{{ key is not shouted }}" => "test shouted";
            "{% for c in key if c is loud %}{{ c }}{% endfor %}" => "test loud";
            "{% macro m(a) %}{{ a | shout }}{% endmacro %}{{ m(key) }}" => "filter shout";
            "{% block b %}{{ key | shout }}{% endblock %}" => "filter shout";
            // The engine does not name a filter or test that another filter is given.
            "{{ key | list | map('shout') | join }}" => "unknown filter";
            "{{ key | list | select('loud') | join }}" => "unknown test";
            "{{ shout(key) }}" => "unknown variable `shout`";
            "{{ key(1) }}" => "not callable";
        } {
            let found = wrong(text).expect_err(text);
            assert!(found.contains(said), "{text}: {found}");
        }
        for text in [
            "{{ key | upper | default('| shout is loud') }}",
            "{# {{ key | shout }} #}{% raw %}{{ key | shout }}{% endraw %}",
            "{% if key is defined and id is not none %}{{ range(2) | length }}{% endif %}",
            "{{ key | list | map('upper') | select('string') | join }}",
            "{{ [field] | map(attribute='test') | join }}",
            "{% macro m(a) %}{{ a | trim }}{% endmacro %}{{ m(key) }}",
        ] {
            assert_eq!(wrong(text).err(), None, "{text}");
        }
    }

    #[test]
    fn reports_which_fields_it_reads() {
        let reads = |text, field| Template::parse(text, &names()).unwrap().reads_field(field);
        assert!(reads("{{ field.test }}", "test"));
        assert!(reads("{% if field['test'] %}x{% endif %}", "test"));
        assert!(reads(
            "{% for name in field %}{{ name }}{% endfor %}",
            "test"
        ));
        assert!(!reads("{{ input.file }} field.test", "test"));
        assert!(!reads("{{ field.test }}", "tes"));
    }

    #[test]
    fn a_text_without_placeholders_is_fixed() {
        let of = |text| Template::parse(text, &names()).unwrap().is_fixed();
        assert!(of("-q"));
        assert!(!of("{{ key }}"));
    }
}
