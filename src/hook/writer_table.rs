//! The programs that write files which they are given, and their options.

use super::fetchers::FETCHERS;
use super::options::{Alike, alone, joined, valued};

/// What an option has to do with the files that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// Nothing.
    Nothing,
    /// Its value is written.
    File,
    /// Its value is the directory that is written to.
    Folder,
    /// Nothing is written but what other options name.
    Shows,
    /// The operands are given further names, and changed with them.
    Links,
    /// The last operand is replaced as a whole.
    Whole,
    /// The operands are written in place.
    InPlace,
    /// Its value is a script.
    Script,
    /// Each operand is fetched to a file of its name.
    Fetches,
    /// What is written, or run, stands elsewhere.
    Elsewhere,
    /// The files are named after what is found.
    Named,
}

use Means::{Elsewhere, File, Folder, InPlace, Links, Nothing, Script, Shows, Whole};

/// What a program does with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// It changes each.
    All,
    /// It changes the first, or what a patch names.
    Patched,
    /// It changes the second.
    Second,
    /// It changes the last.
    Last,
    /// It gives the others the last as a further name.
    Linked,
    /// It changes each, the last perhaps as a directory.
    Move,
    /// It changes each but a script, where it works in place.
    Edited,
    /// It changes that behind `of=`.
    Of,
    /// It writes files that begin as the second says.
    Pieces,
    /// It fetches each to a file of its name.
    Fetched,
    /// It changes those of options alone.
    Options,
}

/// A program that writes.
#[derive(Debug)]
pub(super) struct Writer {
    /// Its names.
    pub names: &'static [&'static str],
    /// What it does with its operands.
    pub operands: Operands,
    /// Its options.
    pub options: &'static [Alike<Means>],
}

/// A program of these names.
pub(super) const fn writer(
    names: &'static [&'static str],
    operands: Operands,
    options: &'static [Alike<Means>],
) -> Writer {
    Writer {
        names,
        operands,
        options,
    }
}

const FOLDER: Alike<Means> = valued(Folder, "t", "target-directory");
const WHOLE: Alike<Means> = alone(Whole, "T", "no-target-directory");
const ASKED: Alike<Means> = alone(Shows, "", "help version");

const WRITERS: &[Writer] = &[
    writer(
        &["sed"],
        Operands::Edited,
        &[
            alone(
                Nothing,
                "nrsuzEb",
                "quiet silent debug posix regexp-extended separate unbuffered null-data \
                 follow-symlinks sandbox zero-terminated binary",
            ),
            joined(InPlace, "i", "in-place"),
            valued(Nothing, "l", "line-length"),
            valued(Script, "e", "expression"),
            valued(Elsewhere, "f", "file"),
            ASKED,
        ],
    ),
    writer(
        &["tee"],
        Operands::All,
        &[
            alone(Nothing, "aip", "append ignore-interrupts"),
            joined(Nothing, "", "output-error"),
            ASKED,
        ],
    ),
    writer(
        &["cp"],
        Operands::Last,
        &[
            alone(
                Nothing,
                "abcdfHiLnNPpRrsuvxXZ",
                "archive attributes-only copy-contents force interactive dereference no-clobber \
                 no-dereference parents recursive remove-destination strip-trailing-slashes \
                 symbolic-link verbose one-file-system debug keep-directory-symlink",
            ),
            joined(Nothing, "", "backup preserve reflink update context"),
            valued(Nothing, "S", "suffix no-preserve sparse"),
            alone(Links, "l", "link"),
            FOLDER,
            WHOLE,
            ASKED,
        ],
    ),
    writer(
        &["mv"],
        Operands::Move,
        &[
            alone(
                Nothing,
                "bfhinuvxZ",
                "force interactive no-clobber no-copy strip-trailing-slashes verbose context \
                 exchange debug",
            ),
            joined(Nothing, "", "backup update"),
            valued(Nothing, "S", "suffix"),
            FOLDER,
            WHOLE,
            ASKED,
        ],
    ),
    writer(
        &["ln"],
        Operands::Linked,
        &[
            alone(
                Nothing,
                "bdfFhiLnPrvw",
                "directory force interactive logical no-dereference physical relative verbose",
            ),
            alone(Shows, "s", "symbolic"),
            joined(Nothing, "", "backup"),
            valued(Nothing, "S", "suffix"),
            FOLDER,
            WHOLE,
            ASKED,
        ],
    ),
    writer(&["link"], Operands::Linked, &[ASKED]),
    writer(
        &["install"],
        Operands::Last,
        &[
            alone(
                Nothing,
                "bcCdDpsvZ",
                "compare directory preserve-timestamps strip verbose preserve-context debug",
            ),
            joined(Nothing, "", "backup context"),
            valued(Nothing, "mogS", "mode owner group suffix"),
            valued(Elsewhere, "", "strip-program"),
            FOLDER,
            WHOLE,
            ASKED,
        ],
    ),
    writer(
        &["rm"],
        Operands::All,
        &[
            alone(
                Nothing,
                "dfiIPrRvWx",
                "force one-file-system no-preserve-root recursive dir verbose",
            ),
            joined(Nothing, "", "interactive preserve-root"),
            ASKED,
        ],
    ),
    writer(&["unlink"], Operands::All, &[ASKED]),
    writer(
        &["shred"],
        Operands::All,
        &[
            alone(Nothing, "fuvxz", "force verbose exact zero"),
            joined(Nothing, "", "remove"),
            valued(Nothing, "ns", "iterations size random-source"),
            ASKED,
        ],
    ),
    writer(
        &["truncate"],
        Operands::All,
        &[
            alone(Nothing, "co", "no-create io-blocks"),
            valued(Nothing, "sr", "size reference"),
            ASKED,
        ],
    ),
    writer(
        &["touch"],
        Operands::All,
        &[
            alone(Nothing, "acfhm", "no-create no-dereference"),
            valued(Nothing, "Adtr", "date reference time"),
            ASKED,
        ],
    ),
    writer(
        &["patch"],
        Operands::Patched,
        &[
            alone(
                Nothing,
                "bcefElnNRstTuZ",
                "forward reverse force batch silent quiet verbose",
            ),
            alone(Shows, "v", "dry-run help version"),
            valued(Nothing, "BdDFgipVxYz", "strip directory input fuzz"),
            valued(File, "or", "output reject-file"),
        ],
    ),
    writer(&["dd"], Operands::Of, &[ASKED]),
    writer(
        &["sort"],
        Operands::Options,
        &[
            alone(
                Nothing,
                "bcCdfghiMmnRrsuVz",
                "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort \
                 ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort reverse \
                 version-sort merge stable unique zero-terminated debug",
            ),
            joined(Nothing, "", "check"),
            valued(
                Nothing,
                "kStT",
                "key field-separator buffer-size temporary-directory parallel batch-size \
                 random-source files0-from sort",
            ),
            valued(File, "o", "output"),
            valued(Elsewhere, "", "compress-program"),
            ASKED,
        ],
    ),
    writer(
        &["uniq"],
        Operands::Second,
        &[
            alone(
                Nothing,
                "cdDiuz0123456789",
                "count repeated ignore-case unique zero-terminated",
            ),
            joined(Nothing, "", "all-repeated group"),
            valued(Nothing, "fsw", "skip-fields skip-chars check-chars"),
            ASKED,
        ],
    ),
    writer(
        &["split"],
        Operands::Pieces,
        &[
            alone(
                Nothing,
                "deux0123456789",
                "elide-empty-files unbuffered verbose",
            ),
            joined(Nothing, "", "numeric-suffixes hex-suffixes"),
            valued(
                Nothing,
                "abClnt",
                "suffix-length bytes line-bytes lines number separator additional-suffix",
            ),
            valued(Elsewhere, "", "filter"),
            ASKED,
        ],
    ),
    writer(
        &["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz"],
        Operands::All,
        &[
            alone(
                Nothing,
                "defhkLnNqrsvVz0123456789",
                "ascii decompress uncompress compress force keep no-name name quiet recursive \
                 rsyncable synchronous fast best extreme small verbose",
            ),
            alone(Shows, "clt", "stdout to-stdout test list help version"),
            valued(Nothing, "ST", "suffix threads"),
        ],
    ),
];

/// A program by its own name, where GNU's has a `g` before it.
pub(super) fn own_name(name: &str) -> &str {
    match name.strip_prefix('g') {
        Some(bare) if by_name(name).is_none() && by_name(bare).is_some() => bare,
        _ => name,
    }
}

/// The program of this name, if it writes.
pub(super) fn by_name(name: &str) -> Option<&'static Writer> {
    let mut all = WRITERS.iter().chain(FETCHERS);
    all.find(|writer| writer.names.contains(&name))
}
