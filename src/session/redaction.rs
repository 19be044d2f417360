//! `forgotten`: an address was removed from the session.
//!
//! ```text
//! {"address":{"salt":"…","digest":"…"},"lines":[{"line":4,"digest":"…"}],
//!  "evidence":["…"],"copies":[{"copy":"source.csv","was":"…","is":"…"}],
//!  "by":"kim","note":"they asked","seal":{…}}
//! ```
//!
//! The event contains only a salted digest of the address, which shows whether a text contains the
//! address. A redacted line is valid only with the digest that the last valid event names.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decision::{Seal, decided};
use super::state::IllegalEvent;
use crate::base::Digest;

/// The body of `forgotten`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Forgotten {
    /// The address.
    pub address: Suppressed,
    /// The lines whose bodies were removed, in order.
    pub lines: Vec<RedactedLine>,
    /// The bodies that were removed from `evidence/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Digest>,
    /// The copies of lists that were rewritten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<RedactedCopy>,
    /// Who decided.
    pub by: String,
    /// Why.
    pub note: String,
    /// The operator's seal, where the session froze a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

/// An address that must not come back, by its salted digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suppressed {
    /// What is digested before the address.
    pub salt: Digest,
    /// The digest of both.
    pub digest: Digest,
}

impl Suppressed {
    pub fn new(salt: Digest, address: &str) -> Self {
        let digest = Digest::of_parts([salt.as_bytes().as_slice(), address.as_bytes()]);
        Self { salt, digest }
    }

    pub fn is(&self, address: &str) -> bool {
        Self::new(self.salt, address) == *self
    }
}

/// A line whose body was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedactedLine {
    /// Its number, from 0.
    pub line: u64,
    /// The digest of its salt and of the body that it has now.
    pub digest: Digest,
}

/// A copy of a list that was rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedactedCopy {
    /// Its name in the session directory.
    pub copy: String,
    /// The digest that it had.
    pub was: Digest,
    /// The digest that it has now.
    pub is: Digest,
}

decided!(Forgotten = "forgotten");

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forgetting {
    lines: BTreeMap<u64, Redaction>,
    suppressed: Vec<Suppressed>,
    evidence: BTreeSet<Digest>,
    copies: BTreeMap<Digest, Digest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Redaction {
    digest: Digest,
    /// Whether the last decision that names the line names this digest.
    backed: bool,
}

impl Forgetting {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn suppressed(&self) -> &[Suppressed] {
        &self.suppressed
    }

    /// Adds addresses that were forgotten before the ledger began.
    pub fn and_earlier(mut self, earlier: &[Suppressed]) -> Self {
        self.suppressed.extend(earlier);
        self
    }

    pub fn has_line(&self, line: u64) -> bool {
        self.lines.contains_key(&line)
    }

    /// Whether a valid event redacted this line, from 0, to this digest of salt and body.
    pub(super) fn backs(&self, line: u64, digest: Digest) -> bool {
        let redact = self.lines.get(&line);
        redact.is_some_and(|redact| redact.backed && redact.digest == digest)
    }

    pub fn has_body(&self, digest: Digest) -> bool {
        self.evidence.contains(&digest)
    }

    pub fn empties(&self, evidence: &str) -> bool {
        let mut removed = self.evidence.iter();
        removed.any(|body| evidence.contains(&body.to_string()))
    }

    pub fn bodies(&self) -> impl Iterator<Item = Digest> {
        self.evidence.iter().copied()
    }

    pub fn copy_of(&self, digest: Digest) -> Digest {
        let mut digest = digest;
        // Decisions could form a circle.
        for _ in 0..=self.copies.len() {
            match self.copies.get(&digest) {
                Some(next) => digest = *next,
                None => break,
            }
        }
        digest
    }

    pub(super) fn unbacked(&self) -> Option<u64> {
        let mut lines = self.lines.iter();
        lines.find_map(|(line, redact)| (!redact.backed).then_some(*line))
    }

    /// Records a redacted line that no event has justified yet.
    pub(super) fn redact(&mut self, line: u64, digest: Digest) {
        let backed = false;
        self.lines.insert(line, Redaction { digest, backed });
    }

    pub(super) fn take(&mut self, forgotten: &Forgotten) -> Result<(), IllegalEvent> {
        if !forgotten
            .lines
            .is_sorted_by(|one, next| one.line < next.line)
        {
            return Err("a decision to forget names lines, in order");
        }
        for named in &forgotten.lines {
            let Some(redact) = self.lines.get_mut(&named.line) else {
                return Err("a line that was to be forgotten still has its body");
            };
            redact.backed = redact.digest == named.digest;
        }
        self.suppressed.push(forgotten.address);
        self.evidence.extend(&forgotten.evidence);
        let copies = forgotten.copies.iter();
        self.copies.extend(copies.map(|copy| (copy.was, copy.is)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forgotten(lines: &[(u64, &str)]) -> Forgotten {
        let line = |(line, body): &(u64, &str)| RedactedLine {
            line: *line,
            digest: Digest::of(body.as_bytes()),
        };
        Forgotten {
            address: Suppressed::new(Digest::of(b"salt"), "a@b.com"),
            lines: lines.iter().map(line).collect(),
            evidence: Vec::new(),
            copies: Vec::new(),
            by: "kim".to_owned(),
            note: String::new(),
            seal: None,
        }
    }

    #[test]
    fn recognises_an_address_by_its_digest() {
        let suppressed = Suppressed::new(Digest::of(b"salt"), "a@b.com");
        assert!(suppressed.is("a@b.com") && !suppressed.is("a@b.org"));
        assert!(!serde_json::to_string(&suppressed).unwrap().contains('@'));
    }

    #[test]
    fn the_last_decision_justifies_a_redacted_line() {
        let mut forgetting = Forgetting::default();
        forgetting.redact(4, Digest::of(b"two"));
        assert_eq!(forgetting.unbacked(), Some(4));
        forgetting.take(&forgotten(&[(4, "one")])).unwrap();
        assert_eq!(forgetting.unbacked(), Some(4));
        forgetting.take(&forgotten(&[(4, "two")])).unwrap();
        assert_eq!(forgetting.unbacked(), None);
        forgetting.take(&forgotten(&[(4, "three")])).unwrap();
        assert_eq!(forgetting.unbacked(), Some(4), "an older state is put back");
    }

    #[test]
    fn rejects_a_forgotten_line_that_still_has_its_body() {
        let mut forgetting = Forgetting::default();
        assert!(forgetting.take(&forgotten(&[(4, "one")])).is_err());
    }

    #[test]
    fn follows_a_copy_through_its_rewrites() {
        let [one, two, three] = ["1", "2", "3"].map(|text| Digest::of(text.as_bytes()));
        let mut forgetting = Forgetting::default();
        forgetting.copies.extend([(one, two), (two, three)]);
        assert_eq!(forgetting.copy_of(one), three);
        assert_eq!(forgetting.copy_of(three), three);
        forgetting.copies.insert(three, one);
        assert!([one, two, three].contains(&forgetting.copy_of(one)));
    }
}
