//! Where a path leads: every symbolic link on the way followed, also one that leads nowhere yet.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// How many links are followed.
const MOST_LINKS: u32 = 40;

/// A path of which it cannot be said where it leads.
#[derive(Debug, thiserror::Error)]
pub enum Unresolved {
    /// It does not begin at the root.
    #[error("it is not absolute")]
    Relative,
    /// Links lead round in circles.
    #[error("it has too many symbolic links")]
    Links,
    /// The system does not tell.
    #[error("it cannot be looked at: {0}")]
    Io(#[from] io::Error),
}

/// One step of a path.
enum Step {
    Up,
    Into(OsString),
}

/// Where an absolute path leads; what does not exist yet is taken as it is written.
pub fn real_path(path: &Path) -> Result<PathBuf, Unresolved> {
    if !path.is_absolute() {
        return Err(Unresolved::Relative);
    }
    let mut steps = VecDeque::new();
    let mut current = PathBuf::new();
    begin(path, &mut current, &mut steps);
    let mut links = 0;
    while let Some(step) = steps.pop_front() {
        let Step::Into(name) = step else {
            current.pop();
            continue;
        };
        let next = current.join(name);
        match std::fs::symlink_metadata(&next) {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(Unresolved::Links);
                }
                begin(&std::fs::read_link(&next)?, &mut current, &mut steps);
            }
            Ok(_) => current = next,
            Err(error) if error.kind() == io::ErrorKind::NotFound => current = next,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(current)
}

/// Whether a file has further names, hard links, under which it is changed too.
#[must_use]
pub fn has_further_names(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::symlink_metadata(path);
        found.is_ok_and(|found| found.is_file() && found.nlink() > 1)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Puts the steps of `path` before all others.
fn begin(path: &Path, current: &mut PathBuf, steps: &mut VecDeque<Step>) {
    let mut place = 0;
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => current.push(component),
            Component::CurDir => {}
            Component::ParentDir => {
                steps.insert(place, Step::Up);
                place += 1;
            }
            Component::Normal(name) => {
                steps.insert(place, Step::Into(name.to_owned()));
                place += 1;
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_with_a_further_name_is_told() {
        let home = tempfile::tempdir().unwrap();
        let (one, two) = (home.path().join("one"), home.path().join("two"));
        fs::write(&one, "").unwrap();
        assert!(!has_further_names(&one) && !has_further_names(&two));
        fs::create_dir(home.path().join("in")).unwrap();
        assert!(!has_further_names(home.path()));
        fs::hard_link(&one, &two).unwrap();
        assert!(has_further_names(&one) && has_further_names(&two));
    }

    #[test]
    fn links_are_followed_wherever_they_stand() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir_all(home.join("a/b")).unwrap();
        symlink("a/b", home.join("in")).unwrap();
        symlink(home.join("in"), home.join("twice")).unwrap();
        symlink("a/nowhere", home.join("dangling")).unwrap();
        symlink("round", home.join("round")).unwrap();
        for (path, leads) in [
            ("a/b/c", "a/b/c"),
            ("in/c", "a/b/c"),
            ("in/../c", "a/c"),
            ("twice/./x/../c", "a/b/c"),
            ("dangling", "a/nowhere"),
            ("not/../c", "c"),
        ] {
            let real = real_path(&home.join(path)).unwrap();
            assert_eq!(real, home.join(leads), "{path}");
        }
        assert!(matches!(
            real_path(&home.join("round")),
            Err(Unresolved::Links)
        ));
        assert!(matches!(
            real_path(Path::new("a")),
            Err(Unresolved::Relative)
        ));
        fs::write(home.join("file"), "").unwrap();
        assert!(real_path(&home.join("file/x")).is_err());
    }
}
