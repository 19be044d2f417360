//! Which format a command prints its complaints in.

use serde::{Deserialize, Serialize};

use super::complaint::{Complaints, Unread};
use super::lines::Pattern;
use super::{cargo_json, go_test, junit, lines, sarif};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adapter {
    /// `JUnit`'s XML, which most test runners write.
    #[serde(rename = "junit")]
    JunitXml,
    Sarif,
    /// Lines such as `file:line:column: message`.
    Lines,
    /// The JSON lines of `cargo --message-format=json`.
    #[serde(rename = "cargo")]
    CargoJson,
    /// The JSON lines of `go test -json`.
    #[serde(rename = "go-test")]
    GoTestJson,
    Regex(Pattern),
}

impl Adapter {
    pub fn read(&self, bytes: &[u8]) -> Result<Complaints, Unread> {
        match self {
            Self::JunitXml => junit::read(bytes),
            Self::Sarif => sarif::read(bytes),
            Self::Lines => Ok(lines::read(bytes)),
            Self::CargoJson => cargo_json::read(bytes),
            Self::GoTestJson => go_test::read(bytes),
            Self::Regex(pattern) => Ok(pattern.read(bytes)),
        }
    }

    /// Whether its format tells how many tests there were.
    #[must_use]
    pub fn counts_tests(&self) -> bool {
        match self {
            Self::JunitXml | Self::GoTestJson => true,
            Self::Sarif | Self::Lines | Self::CargoJson | Self::Regex(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_by_its_name() {
        let names = r#"["junit","sarif","lines","cargo","go-test",{"regex":"(?<message>.+)"}]"#;
        let adapters: Vec<Adapter> = serde_json::from_str(names).expect("adapters");
        assert_eq!(adapters.len(), 6);
        assert_eq!(serde_json::to_string(&adapters).expect("JSON"), names);
        let counting = adapters.iter().filter(|adapter| adapter.counts_tests());
        assert_eq!(counting.count(), 2);
        let bad = serde_json::from_str::<Adapter>(r#"{"regex":"("}"#).unwrap_err();
        assert!(bad.to_string().contains("no regular expression"), "{bad}");
    }
}
