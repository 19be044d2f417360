//! What a field takes, as a JSON Schema.

use schemars::{Schema, json_schema};
use serde_json::json;

use super::{Bounds, FieldKind, Shape, shown};

impl Shape {
    /// The schema of its values, as JSON gives them.
    #[must_use]
    pub fn schema(&self) -> Schema {
        let mut schema = match self.kind {
            FieldKind::Text | FieldKind::Path | FieldKind::File => json_schema!({"type": "string"}),
            FieldKind::Email => json_schema!({"type": "string", "format": "email"}),
            FieldKind::Url => json_schema!({"type": "string", "format": "uri"}),
            FieldKind::Date => json_schema!({"type": "string", "format": "date"}),
            FieldKind::Integer => {
                json_schema!({"type": ["integer", "string"], "pattern": "^-?[0-9]+$"})
            }
            FieldKind::Number => {
                json_schema!({"type": ["number", "string"], "pattern": "^[-.0-9]+$"})
            }
            FieldKind::Bool => json_schema!({"enum": [true, false, "true", "false"]}),
            FieldKind::Choice => json_schema!({"enum": self.choices}),
            FieldKind::Json => json_schema!({}),
        };
        let Bounds { min, max } = self.bounds;
        let (least, most) = match self.kind {
            FieldKind::Integer | FieldKind::Number => ("minimum", "maximum"),
            _ => ("minLength", "maxLength"),
        };
        for (word, bound) in [(least, min), (most, max)] {
            if let Some(bound) = bound {
                schema.insert(word.to_owned(), json!(bound));
            }
        }
        if let Some(pattern) = &self.pattern {
            // JSON Schema knows another dialect of patterns, so it is told in words.
            let told = format!("Matches {}, as Rust's regex reads it.", shown(pattern));
            schema.insert("$comment".to_owned(), json!(told));
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(shape: &Shape, value: &serde_json::Value) -> bool {
        jsonschema::is_valid(shape.schema().as_value(), value)
    }

    #[test]
    fn a_schema_takes_what_a_submission_may_say() {
        let of = |kind, choices: &[&str]| {
            let choices: Vec<String> = choices.iter().map(|it| (*it).to_owned()).collect();
            Shape::new(kind, None, (Some(2), Some(3)), &choices).unwrap()
        };
        let number = of(FieldKind::Integer, &[]);
        assert!(takes(&number, &json!(2)) && takes(&number, &json!("2")));
        assert!(!takes(&number, &json!(4)) && !takes(&number, &json!("two")));
        let text = of(FieldKind::Text, &[]);
        assert!(takes(&text, &json!("한빛")) && !takes(&text, &json!("한빛식품")));
        assert!(!takes(&text, &json!(22)));
        let choice = of(FieldKind::Choice, &["yes", "no"]);
        assert!(takes(&choice, &json!("yes")) && !takes(&choice, &json!("maybe")));
        assert!(takes(&of(FieldKind::Json, &[]), &json!([{"a": 1}])));
    }
}
