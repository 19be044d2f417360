//! The corpus as its files hold it: cases, and the skins that their sites wear.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The languages that the gate must read, by their ISO 639-1 codes.
pub const LANGUAGES: [&str; 11] = [
    "de", "en", "fr", "es", "pt", "it", "nl", "pl", "ja", "ko", "zh",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A human would not accept this answer: anything but a PASS is right.
    Dishonest,
    /// A human would accept it: only a PASS is right.
    Honest,
}

/// What else it takes to decide a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needs {
    Browser,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: Kind,
    /// Whether the dishonest cases are tried with the site as the operator's anchor, so that
    /// no doubt about the owner hides what the case is about.
    #[serde(default)]
    anchored: bool,
    case: Vec<Case>,
}

/// An answer, and the world in which an agent proposes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    pub language: String,
    pub company: String,
    /// The registrable domain of the site; each case has one of its own.
    pub domain: String,
    /// Why a human says that this is right or wrong.
    pub why: String,
    /// The home page of `domain`, unless the case says otherwise.
    pub site: Option<String>,
    /// `info@` the domain, unless the case says otherwise.
    pub email: Option<String>,
    /// A path of the site or a URL; the skin's contact page, unless the case says otherwise.
    pub source: Option<String>,
    /// The site that the operator knows; where it is not given, the file's rule holds.
    pub anchor: Option<String>,
    pub needs: Option<Needs>,
    /// The skin of the language, unless the case says otherwise.
    pub skin: Option<String>,
    /// One of the layouts; where it is not given, the name's bytes choose one.
    pub layout: Option<String>,
    /// The encoding of all pages, told by a meta tag alone.
    pub charset: Option<String>,
    /// Values for the skin's templates.
    #[serde(default)]
    pub with: BTreeMap<String, String>,
    /// Pages by path or URL, beside the skin's and in place of them. Below `/team/*` any name has a
    /// page, which says it as `ANY`; one such folder a host.
    #[serde(default)]
    pub page: BTreeMap<String, Page>,
    #[serde(skip)]
    pub concern: String,
    #[serde(skip, default = "dishonest")]
    pub kind: Kind,
    #[serde(skip)]
    pub is_anchored: bool,
}

fn dishonest() -> Kind {
    Kind::Dishonest
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Page {
    /// The main part of a page, or a whole one where it begins with `<!doctype` or `<html`.
    Html(String),
    Answer(Box<Answer>),
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    pub status: Option<u16>,
    #[serde(rename = "type")]
    pub content_type: Option<String>,
    pub headers: BTreeMap<String, String>,
    pub body: String,
    /// The lines of a PDF's text layer, which takes the place of the body.
    pub pdf: Vec<String>,
    /// How the PDF paints its text (ISO 32000-1 §9.3.6): 0 fills it, 3 leaves it invisible.
    pub pdf_mode: u8,
}

/// The templates of one language's usual site.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skin {
    /// The path of the contact page.
    pub contact: String,
    pub with: BTreeMap<String, String>,
    /// The main parts of the pages, by path.
    pub page: BTreeMap<String, String>,
}

/// What shapes a page has around its main part, by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layouts {
    pub css: String,
    pub layout: BTreeMap<String, String>,
}

/// Dishonest cases that pass, with the reason, and the least that must pass of the honest ones.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    pub bounds: Bounds,
    /// What a name cannot tell apart.
    pub namesakes: BTreeMap<String, String>,
    /// What only a browser sees: these pass where none is used.
    pub markup: BTreeSet<String>,
    /// Holes of the gate that are yet to be closed.
    pub baseline: BTreeSet<String>,
}

impl Known {
    /// Those that pass without a browser.
    pub fn passing(&self) -> impl Iterator<Item = &String> {
        let of_names = self.namesakes.keys().chain(&self.markup);
        of_names.chain(&self.baseline)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Shares in percent.
    pub honest: f64,
    pub honest_anchored: f64,
}

pub struct Corpus {
    pub cases: Vec<Case>,
    pub skins: BTreeMap<String, Skin>,
    pub layouts: Layouts,
    pub known: Known,
}

impl Corpus {
    pub fn read() -> Self {
        let mut cases = Vec::new();
        for (concern, file) in read_all::<File>("", &["known", "layouts"]) {
            let (kind, anchored) = (file.kind, file.anchored);
            cases.extend(file.case.into_iter().map(|mut case| {
                case.concern.clone_from(&concern);
                case.kind = kind;
                case.is_anchored = anchored || case.anchor.is_some();
                case
            }));
        }
        Self {
            cases,
            skins: read_all("skins", &[]).collect(),
            layouts: read_one(&folder().join("layouts.toml")),
            known: read_one(&folder().join("known.toml")),
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// The TOML files of a folder, by name.
fn read_all<T: DeserializeOwned>(
    within: &str,
    but: &'static [&'static str],
) -> impl Iterator<Item = (String, T)> {
    let folder = folder().join(within);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{within}: {error}"));
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|it| it == "toml");
    paths.into_iter().filter(is_toml).filter_map(|path| {
        let name = path.file_stem()?.to_str()?.to_owned();
        (!but.contains(&name.as_str())).then(|| (name, read_one(&path)))
    })
}

#[track_caller]
fn read_one<T: DeserializeOwned>(path: &Path) -> T {
    let text = fs::read_to_string(path).expect("a file of the corpus");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
