//! Finding a file among the spellings of a report: absolute, relative to some folder, or by the
//! name of a module.

/// Why a report's lines of a file cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoFile {
    /// The report has no such file.
    #[error("the report does not name the file{}", suggested(.nearest))]
    Missing {
        /// The files that are nearest to it.
        nearest: Vec<String>,
    },
    /// Several files of the report can be meant.
    #[error("the file can be each of these of the report: {}", .candidates.join(", "))]
    Ambiguous {
        /// The first of them.
        candidates: Vec<String>,
    },
}

/// How many files an error names.
const MOST_NAMED: usize = 3;

/// How alike a path must be to be suggested, by Jaro and Winkler.
const LEAST_LIKENESS: f64 = 0.7;

impl NoFile {
    pub(super) fn unknown() -> Self {
        let nearest = Vec::new();
        Self::Missing { nearest }
    }
}

fn suggested(paths: &[String]) -> String {
    if paths.is_empty() {
        return String::new();
    }
    format!("; nearest to it: {}", paths.join(", "))
}

/// The one of `known` that `path` means.
pub(super) fn meant<'a>(
    path: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Result<&'a str, NoFile> {
    if let Some(same) = known.clone().find(|one| *one == path) {
        return Ok(same);
    }
    let wanted = components(path);
    let fits = |one: &&str| {
        let one = components(one);
        !wanted.is_empty() && !one.is_empty() && (wanted.ends_with(&one) || one.ends_with(&wanted))
    };
    let mut fitting = known.clone().filter(fits);
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => Ok(only),
        (Some(one), Some(two)) => {
            let candidates = [one, two].into_iter().chain(fitting).take(MOST_NAMED);
            let candidates = candidates.map(str::to_owned).collect();
            Err(NoFile::Ambiguous { candidates })
        }
        (None, _) => Err(NoFile::Missing {
            nearest: alike(path, known),
        }),
    }
}

/// The components of a path, either slash parting them and `.` left out.
fn components(path: &str) -> Vec<&str> {
    let parts = path.split(['/', '\\']);
    parts
        .filter(|part| !part.is_empty() && *part != ".")
        .collect()
}

fn alike<'a>(path: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let likeness = |one: &'a str| (strsim::jaro_winkler(path, one), one);
    let mut found: Vec<_> = known
        .map(likeness)
        .filter(|(likeness, _)| *likeness > LEAST_LIKENESS)
        .collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found
        .into_iter()
        .take(MOST_NAMED)
        .map(|(_, one)| one.to_owned())
        .collect()
}
