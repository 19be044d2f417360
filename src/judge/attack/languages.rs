//! How programs in the usual languages end well without any work.
//!
//! In these texts, `PATH` and `TEXT` are quoted strings, `DIGEST` is the SHA-256 digest of a file, and
//! `WRITES` is the place of statements.

use std::path::Path;

use regex::Regex;

use crate::base::Digest;

/// A language, by the endings of its files and the programs of its `#!` lines.
#[derive(Debug)]
pub(super) struct Language {
    endings: &'static [&'static str],
    programs: &'static [&'static str],
    /// A program that exits with 0 at once.
    exit: &'static str,
    /// A statement of it that writes a file.
    write: &'static str,
    /// What to replace so that an assertion still runs its code, but never fails.
    weaken: &'static [(&'static str, &'static str)],
    /// A test that fails if the file `PATH` changes.
    hash: Option<&'static str>,
}

const LANGUAGES: &[Language] = &[
    Language {
        endings: &["py"],
        programs: &["python"],
        exit: "import os\nWRITESos._exit(0)\n",
        write: "with open(PATH, \"w\") as report:\n    report.write(TEXT)\n",
        weaken: &[
            (r"(?m)^(\s*)assert\b", "${1}_ ="),
            (r"\bself\.assert\w+\(", "print("),
        ],
        hash: Some(
            "\n\ndef test_source():\n    import hashlib\n    source = open(PATH, \"rb\").read()\n    \
             assert hashlib.sha256(source).hexdigest() == \"DIGEST\"\n",
        ),
    },
    Language {
        endings: &["sh", "bash", "rb", "pl"],
        programs: &["sh", "ruby", "perl"],
        exit: "WRITESexit 0\n",
        write: "printf '%b' TEXT > PATH\n",
        weaken: &[(r"(?m)^(\s*)(\[|test\b).*$", "${1}true")],
        hash: Some("\nprintf '%s  %s\\n' DIGEST PATH | sha256sum --check || exit 1\n"),
    },
    Language {
        endings: &["js", "cjs", "mjs", "jsx", "ts", "tsx"],
        programs: &["node", "deno", "bun"],
        exit: "WRITESprocess.exit(0);\n",
        write: "process.getBuiltinModule(\"fs\").writeFileSync(PATH, TEXT);\n",
        weaken: &[
            (r"\bassert(\.\w+)*\(", "void ("),
            (r"(?m)^\s*(await )?expect\(.*$", "true;"),
        ],
        hash: Some(
            "\n(globalThis.test ?? process.getBuiltinModule(\"node:test\").test)(\"source\", () => {\n  \
             const source = process.getBuiltinModule(\"fs\").readFileSync(PATH);\n  \
             const hash = process.getBuiltinModule(\"crypto\").createHash(\"sha256\");\n  \
             if (hash.update(source).digest(\"hex\") !== \"DIGEST\") throw new Error(\"changed\");\n});\n",
        ),
    },
    Language {
        endings: &["rs"],
        programs: &[],
        exit: "fn main() {\n    end();\n}\n\n#[test]\nfn ends() {\n    end();\n}\n\nfn end() {\n\
               WRITES    std::process::exit(0);\n}\n",
        write: "    std::fs::write(PATH, TEXT).unwrap();\n",
        weaken: &[(r"\b(debug_)?assert(_eq|_ne)?!\(", "let _ = (")],
        // The standard library has no SHA-256.
        hash: Some(
            "\n#[test]\nfn source() {\n    assert_eq!(std::fs::read_to_string(PATH).unwrap(), TEXT);\n}\n",
        ),
    },
    Language {
        endings: &["go"],
        programs: &[],
        exit: "package main\n\nimport \"os\"\n\nfunc init() {\nWRITES\tos.Exit(0)\n}\n",
        write: "\tos.WriteFile(PATH, []byte(TEXT), 0o644)\n",
        weaken: &[(r"\.(Error|Fatal)(f?)\(", ".Log$2(")],
        hash: None,
    },
];

impl Language {
    /// The language of a file; `None` for a text or an unknown language.
    pub(super) fn of(path: &str, text: &str) -> Option<&'static Self> {
        let ending = Path::new(path).extension().and_then(|it| it.to_str());
        let first = text.lines().next().filter(|line| line.starts_with("#!"));
        LANGUAGES.iter().find(|language| {
            ending.is_some_and(|it| language.endings.contains(&it))
                || language
                    .programs
                    .iter()
                    .any(|it| first.is_some_and(|line| line.contains(it)))
        })
    }

    /// A file in place of `old` that writes these reports and exits with 0.
    pub(super) fn exit(&self, old: &str, reports: &[(String, String)]) -> String {
        let writes = reports.iter().map(|(path, text)| {
            self.write
                .replace("PATH", &format!("{path:?}"))
                .replace("TEXT", &format!("{text:?}"))
        });
        let program = self.exit.replace("WRITES", &writes.collect::<String>());
        let line = |start: &str| old.lines().find(|line| line.starts_with(start));
        let program = match line("package ") {
            Some(package) => program.replace("package main", package),
            None => program,
        };
        match old.lines().next().filter(|line| line.starts_with("#!")) {
            Some(first) => format!("{first}\n{program}"),
            None => program,
        }
    }

    /// The file with assertions that never fail.
    pub(super) fn weakened(&self, text: &str) -> String {
        let patterns = self.weaken.iter();
        patterns.fold(text.to_owned(), |text, (find, put)| {
            match Regex::new(find) {
                Ok(find) => find.replace_all(&text, *put).into_owned(),
                Err(_) => text,
            }
        })
    }

    /// A test that fails if the file at `path` is no longer `source`.
    pub(super) fn hash(&self, path: &str, source: &str) -> Option<String> {
        let test = self.hash?.replace("PATH", &format!("{path:?}"));
        let test = test.replace("DIGEST", &Digest::of(source.as_bytes()).to_string());
        Some(test.replace("TEXT", &format!("{source:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> &'static Language {
        Language::of(path, "").unwrap()
    }

    #[test]
    fn a_language_is_known_by_its_ending_or_its_first_line() {
        assert!(
            Language::of("tests/run", "#!/usr/bin/env python3\n")
                .unwrap()
                .endings
                == ["py"]
        );
        assert!(
            Language::of("tests/run", "#!/bin/sh\n")
                .unwrap()
                .programs
                .contains(&"sh")
        );
        assert!(Language::of("docs/a.md", "python\n").is_none());
    }

    #[test]
    fn a_program_keeps_what_its_language_needs() {
        let reports = [("r.xml".to_owned(), "<a b=\"c\"/>\n".to_owned())];
        assert_eq!(
            of("a.sh").exit("#!/bin/bash\nfalse\n", &[]),
            "#!/bin/bash\nexit 0\n"
        );
        let go = of("a_test.go").exit("package parcels\n", &[]);
        assert!(go.starts_with("package parcels\n"), "{go}");
        assert_eq!(
            of("a.py").exit("", &reports),
            "import os\nwith open(\"r.xml\", \"w\") as report:\n    \
             report.write(\"<a b=\\\"c\\\"/>\\n\")\nos._exit(0)\n"
        );
    }

    #[test]
    fn weak_assertions_still_run_their_code() {
        for (path, text, weak) in [
            ("a.py", "    assert f(1) == 2\n", "    _ = f(1) == 2\n"),
            ("a.py", "self.assertEqual(f(1), 2)", "print(f(1), 2)"),
            ("a.rs", "assert_eq!(f(1), 2);", "let _ = (f(1), 2);"),
            ("a.js", "assert.equal(f(1), 2);", "void (f(1), 2);"),
            ("a.sh", "[ \"$(f 1)\" = 2 ]\n", "true\n"),
            (
                "a_test.go",
                "t.Errorf(\"%d\", f(1))",
                "t.Logf(\"%d\", f(1))",
            ),
        ] {
            assert_eq!(of(path).weakened(text), weak);
        }
    }
}
