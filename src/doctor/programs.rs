//! Whether the programs that a session's checks run are still what they were.

use super::{Check, Finding};
use crate::judge::audit;
use crate::judge::quest_file::Definition;

/// The programs, and what is wrong with some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The names of all.
    pub names: Vec<String>,
    /// What is told of each that changed.
    pub changed: Vec<String>,
}

/// Looks at the programs that a session froze; none where its checks run none.
#[must_use]
pub fn look(definition: &Definition) -> Option<Observed> {
    let names: Vec<String> = definition.gathered.programs.keys().cloned().collect();
    let changed = audit::programs(definition);
    (!names.is_empty()).then(|| Observed {
        names,
        changed: changed.into_iter().map(|finding| finding.what).collect(),
    })
}

/// What is to be said of them.
#[must_use]
pub fn judge(seen: &Observed) -> Vec<Finding> {
    let it = Check::Programs;
    if seen.changed.is_empty() {
        return vec![it.ok(format!("{} as at the scan", seen.names.join(", ")))];
    }
    let mend = "install the one that was there again, or make a new session by `scan --carry`";
    let changed = seen.changed.iter();
    changed.map(|what| it.trouble(what.clone(), mend)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn each_program_that_changed_is_trouble() {
        let seen = |changed: &[&str]| Observed {
            names: vec!["python3".into(), "git".into()],
            changed: changed.iter().map(|what| (*what).to_owned()).collect(),
        };
        let levels = |changed: &[&str]| -> Vec<Level> {
            let findings = judge(&seen(changed)).into_iter();
            findings.map(|finding| finding.level).collect()
        };
        assert_eq!(levels(&[]), [Level::Ok]);
        assert_eq!(levels(&["git is gone"]), [Level::Trouble]);
        assert_eq!(levels(&["a", "b"]).len(), 2);
    }
}
