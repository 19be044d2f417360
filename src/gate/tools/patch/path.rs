//! Which paths a patch may name.

/// `path`, if it stays within the folder that a patch is applied in and out of git's own.
pub(super) fn checked(path: &str) -> Result<&str, String> {
    let refused = |why: &str| Err(format!("{path:?} {why}"));
    if path.is_empty() || path.ends_with('/') {
        return refused("names no file");
    }
    if path.starts_with('/') || path.contains(':') {
        return refused("is not relative");
    }
    if path.contains('\\') || path.chars().any(char::is_control) {
        return refused("holds a backslash or a control character");
    }
    for part in path.split('/') {
        if matches!(part, "" | "." | "..") {
            return refused("is not plain");
        }
        if is_git(part) {
            return refused("is git's own");
        }
    }
    Ok(path)
}

/// Whether a file system that ignores case, or trailing dots and spaces, takes it for `.git`.
fn is_git(part: &str) -> bool {
    let part = part.trim_end_matches(['.', ' ']);
    part.eq_ignore_ascii_case(".git") || part.eq_ignore_ascii_case("git~1")
}
