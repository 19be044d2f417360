//! Scripts of `sed`, as far as they write files and run commands.

/// A script that cannot be followed.
struct Lost;

/// Whether a script only changes the text that goes through it: it is read to its end, and holds
/// no `w` and no `e`.
pub(super) fn only_edits(script: &str) -> bool {
    // Whether a delimiter in brackets ends a pattern differs from one `sed` to another; a reading
    // that fails is not what runs.
    let readings = [true, false].map(|brackets| Reader::new(script, brackets).only_edits());
    !readings.iter().any(|it| matches!(it, Ok(false))) && readings.iter().any(Result::is_ok)
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    brackets: bool,
}

impl<'a> Reader<'a> {
    fn new(script: &'a str, brackets: bool) -> Self {
        Self {
            rest: script.chars().peekable(),
            brackets,
        }
    }

    fn only_edits(mut self) -> Result<bool, Lost> {
        while let Some(c) = self.rest.next() {
            match c {
                'w' | 'W' | 'e' => return Ok(false),
                '/' => self.until('/')?,
                '\\' => {
                    let delimiter = self.rest.next().ok_or(Lost)?;
                    self.until(delimiter)?;
                }
                's' => {
                    if !self.substitutes()? {
                        return Ok(false);
                    }
                }
                'y' => {
                    let delimiter = self.rest.next().ok_or(Lost)?;
                    self.until(delimiter)?;
                    self.until(delimiter)?;
                }
                'a' | 'i' | 'c' => self.text(),
                '#' | 'r' | 'R' => self.line("\n"),
                'b' | 't' | 'T' | ':' | 'v' => self.line("\n;"),
                _ if c.is_ascii_digit() || " \t\n;,+~$!{}IM=dDgGhHlnNpPqQxzF".contains(c) => {}
                _ => return Err(Lost),
            }
        }
        Ok(true)
    }

    /// Reads up to a delimiter.
    fn until(&mut self, delimiter: char) -> Result<(), Lost> {
        while let Some(c) = self.rest.next() {
            match c {
                _ if c == delimiter => return Ok(()),
                '\\' => {
                    self.rest.next();
                }
                '[' if self.brackets => self.bracket()?,
                _ => {}
            }
        }
        Err(Lost)
    }

    /// Reads up to the end of brackets that were just opened.
    fn bracket(&mut self) -> Result<(), Lost> {
        self.rest.next_if_eq(&'^');
        self.rest.next_if_eq(&']');
        while let Some(c) = self.rest.next() {
            let class = self.rest.peek().copied().filter(|it| ":.=".contains(*it));
            match (c, class) {
                (']', _) => return Ok(()),
                ('[', Some(kind)) => {
                    self.rest.next();
                    let mut before = ' ';
                    for c in self.rest.by_ref() {
                        if before == kind && c == ']' {
                            break;
                        }
                        before = c;
                    }
                }
                _ => {}
            }
        }
        Err(Lost)
    }

    /// Reads the rest of an `s`; whether it writes and runs nothing.
    fn substitutes(&mut self) -> Result<bool, Lost> {
        let delimiter = self.rest.next().ok_or(Lost)?;
        self.until(delimiter)?;
        // What is put in its place knows no brackets.
        let brackets = std::mem::replace(&mut self.brackets, false);
        self.until(delimiter)?;
        self.brackets = brackets;
        let flag = |c: &char| c.is_ascii_alphanumeric();
        while let Some(c) = self.rest.next_if(flag) {
            if matches!(c, 'w' | 'e') {
                return Ok(false);
            }
        }
        match self.rest.peek() {
            Some(c) if !" \t\n;}#".contains(*c) => Err(Lost),
            _ => Ok(true),
        }
    }

    /// Reads the text of `a`, `i` or `c`, which goes on behind a backslash.
    fn text(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '\n' => return,
                '\\' => {
                    self.rest.next();
                }
                _ => {}
            }
        }
    }

    fn line(&mut self, ends: &str) {
        while self.rest.next_if(|c| !ends.contains(*c)).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_writes_or_runs_is_told_from_one_that_edits() {
        for script in [
            "s/a/b/",
            "s/we/ew/g",
            "/hello/p",
            "1,20p",
            "$!N;P;D",
            "s|w|e|I;/^e/d",
            "s/[^/]*$//",
            "s/[^/]*$//\n/we/d",
            "s/[[:alpha:]w]\\/e/x/2gp",
            "\\,we,{s/a/b/;p}",
            "/x/a we are here",
            "/x/i\\\nwe\\\nwe\np",
            ":a;N;$!ba;s/\\n/ /g",
            "y/we/ew/",
            "# w x\np",
            "10q",
            "/a/,/b/{/c/!d}",
            "s/\\bw\\b/e/",
        ] {
            assert!(only_edits(script), "{script}");
        }
        for script in [
            "w out",
            "1w out",
            "/x/w out",
            "p;w out",
            "s/a/b/w out",
            "s/a/b/gw out",
            "s/a/b/e",
            "1e date",
            "$W out",
            "/a/{w out\n}",
            "y/a/b/;w out",
            "a x\nw out",
            "s/[/b/w out",
            "s/[/]/w out/",
            "\\,a,w out",
            "s/a/b",
            "§",
        ] {
            assert!(!only_edits(script), "{script}");
        }
    }
}
