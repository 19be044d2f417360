//! What confines the commands that quest files name.

use super::{Check, Finding};
use crate::world::sandbox::{Confinement, Namespace, Network};

/// What confines a command now, and did when the session was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// What was in force while a command ran.
    pub now: Confinement,
    /// What was in force at the scan; none where the session's checks run no commands.
    pub at_scan: Option<Confinement>,
}

/// Runs a command and looks.
#[cfg(unix)]
#[must_use]
pub fn look(at_scan: Option<Confinement>) -> Observed {
    Observed {
        now: crate::judge::quest_file::confinement(&std::env::temp_dir()),
        at_scan,
    }
}

/// What is to be said of it.
#[must_use]
pub fn judge(seen: &Observed) -> Finding {
    let it = Check::Confinement;
    let now = &seen.now;
    let lacks = lacks(now);
    let missing = lacks
        .iter()
        .map(|(what, _)| *what)
        .collect::<Vec<_>>()
        .join(", and ");
    let mend = lacks.first().map_or("", |(_, mend)| mend);
    let less = seen.at_scan.as_ref();
    if less.is_some_and(|before| now.is_less(before, &Network::None)) {
        let found = format!(
            "commands are confined by less than at the scan, and their answers are left to a \
             person: {}",
            if missing.is_empty() {
                "not all is mounted read-only"
            } else {
                &missing
            }
        );
        let mend = if mend.is_empty() {
            "run comail where the session was made"
        } else {
            mend
        };
        return it.trouble(found, mend);
    }
    if lacks.is_empty() {
        let abi = now.landlock.unwrap_or_default();
        return it.ok(format!("Landlock {abi} and namespaces hold commands"));
    }
    it.note(missing, mend)
}

/// What does not hold commands back, and how that is mended.
fn lacks(now: &Confinement) -> Vec<(&'static str, &'static str)> {
    let namespaces = [Namespace::Pid, Namespace::Net, Namespace::Mount];
    let mut lacks = Vec::new();
    if !now.bounds_writes() {
        lacks.push((
            "commands may write wherever you may",
            "use Linux 5.13 or newer with Landlock among its security modules (lsm=landlock,…)",
        ));
    }
    if !namespaces.iter().all(|one| now.namespaces.contains(one)) {
        lacks.push((
            "commands have no namespaces of their own",
            "allow namespaces of users: sysctl kernel.unprivileged_userns_clone=1, or \
             kernel.apparmor_restrict_unprivileged_userns=0; in a container, seccomp",
        ));
    }
    lacks
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn of(landlock: Option<u32>, namespaces: &[Namespace]) -> Confinement {
        Confinement {
            landlock,
            namespaces: namespaces.iter().copied().collect(),
            read_only: false,
        }
    }

    #[test]
    fn less_than_at_the_scan_is_trouble() {
        let all = [Namespace::Pid, Namespace::Net, Namespace::Mount];
        let level = |now, at_scan| judge(&Observed { now, at_scan }).level;
        assert_eq!(level(of(Some(4), &all), None), Level::Ok);
        assert_eq!(level(of(None, &all), None), Level::Note);
        assert_eq!(level(of(Some(4), &[]), None), Level::Note);
        assert_eq!(level(Confinement::default(), None), Level::Note);
        let before = Some(of(Some(4), &all));
        assert_eq!(level(of(Some(4), &all), before.clone()), Level::Ok);
        assert_eq!(level(of(None, &all), before.clone()), Level::Trouble);
        assert_eq!(level(of(Some(4), &[]), before), Level::Trouble);
        let nothing = Some(Confinement::default());
        assert_eq!(level(Confinement::default(), nothing), Level::Note);
    }
}
