//! Whether a script leaves the page at once: a reader never sees what it says.
//!
//! Only what runs whatever happens counts: a statement of the script itself, not of a function,
//! a block or a condition.

use std::sync::LazyLock;

use regex::Regex;

static LEAVES: LazyLock<Regex> = LazyLock::new(|| {
    let owner = r"(?:(?:window|document|self|top|parent|this)\s*\.\s*)*";
    let goes = r"(?:(?:\s*\.\s*href)?\s*=[^=]|\s*\.\s*(?:replace|assign)\s*\()";
    Regex::new(&format!(r"^{owner}location{goes}")).expect("the pattern is a constant")
});

static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?:\b(?:if|while|for|with)\s*\(\)|\belse|=>|&&|\|\||\?)\s*$";
    Regex::new(pattern).expect("the pattern is a constant")
});

pub(super) fn leaves(script: &str) -> bool {
    if !script.contains("location") {
        return false;
    }
    let mut before = String::new();
    for statement in top_level(script).split([';', '\n', '}']).map(str::trim) {
        if statement.is_empty() {
            continue;
        }
        if LEAVES.is_match(statement) && !CONDITION.is_match(&before) {
            return true;
        }
        statement.clone_into(&mut before);
    }
    false
}

/// The script without comments and without what is in brackets or quotation marks, of which the
/// marks stay.
fn top_level(script: &str) -> String {
    let mut kept = String::new();
    let mut depth = 0_usize;
    let mut quote = None;
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(open), _) if c == open || (c == '\n' && open != '`') => {
                quote = None;
                keep(&mut kept, depth, '"');
            }
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => {
                quote = Some(c);
                keep(&mut kept, depth, '"');
            }
            (None, '/') if chars.peek() == Some(&'/') => {
                chars.by_ref().find(|c| *c == '\n');
                keep(&mut kept, depth, '\n');
            }
            (None, '/') if chars.peek() == Some(&'*') => {
                let mut before = ' ';
                chars.by_ref().find(|c| {
                    let ends = before == '*' && *c == '/';
                    before = *c;
                    ends
                });
            }
            (None, '(' | '[' | '{') => {
                keep(&mut kept, depth, c);
                depth += 1;
            }
            (None, ')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                keep(&mut kept, depth, c);
            }
            (None, _) => keep(&mut kept, depth, c),
        }
    }
    kept
}

fn keep(kept: &mut String, depth: usize, c: char) {
    if depth == 0 {
        kept.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_the_script_itself_leave() {
        for script in [
            "location='/x'",
            "location = \"/x\";",
            "window.location.href='/x'",
            "top.location.replace('/x')",
            "var a = {b: 1}; document.location.assign(a)",
            "function f(){}\nlocation='/x'",
            "/* go */ location='/x' // there",
            "if (a) { b() }\nlocation='/x'",
            "'it\\'s'; location='/x'",
        ] {
            assert!(leaves(script), "{script}");
        }
    }

    #[test]
    fn what_may_not_run_does_not() {
        for script in [
            "if (a) location='/x'",
            "if (a)\n  location='/x'",
            "if (a) { location='/x' }",
            "if (a) { b() } else\nlocation='/x'",
            "function go(){ location='/x' }",
            "a.onclick = function(){ location.href='/x' }",
            "a && (location='/x')",
            "if (location == top.location) b()",
            "location == a",
            "var here = location.href",
            "location.hash='#x'",
            "mylocation='/x'",
            "// location='/x'",
            "s = \"\\\nlocation='/x'\"",
            "`\nlocation='/x'\n`",
        ] {
            assert!(!leaves(script), "{script}");
        }
    }

    #[test]
    fn hostile_scripts_end() {
        for piece in ["(", "'", "location=", "/*", "\\", "location\n"] {
            leaves(&piece.repeat(200_000));
        }
    }
}
