//! Functions of Python: a signature up to its colon, and a body that is indented below it.

use std::sync::LazyLock;

use regex::Regex;

use super::super::text::constant;
use super::NoBody;
use super::scan;

static LAMBDA: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"^(?<indent>[ \t]*)(?<name>\w+)\s*(?::[^=\n]*)?=\s*lambda\b[ \t]*(?<parameters>[^:\n]*):",
    )
});

/// A line of code, which can be several lines of text.
#[derive(Debug, Clone, Copy)]
struct Logical<'a> {
    start: usize,
    end: usize,
    indent: &'a str,
    /// After the first colon outside of brackets.
    colon: Option<usize>,
}

/// `function` with another body; `after` is what follows it in the file.
pub(super) fn replaced(
    function: &str,
    after: &str,
    with: &str,
    line_end: &str,
) -> Result<String, NoBody> {
    if with.trim().is_empty() {
        return Err(NoBody::BadReplacement);
    }
    let mut lines = logical_lines(function)?.into_iter();
    let head = lines
        .by_ref()
        .find(|line| !text(function, line).starts_with('@'));
    let head = head.ok_or(NoBody::NoFunction)?;
    let body: Vec<Logical<'_>> = lines.collect();
    let defines = is_def(text(function, &head));
    if !defines && !LAMBDA.is_match(text(function, &head)) {
        return Err(NoBody::NoFunction);
    }
    if body.iter().any(|line| !is_deeper(line.indent, head.indent)) {
        return Err(NoBody::More);
    }
    let inner = format!("{}    ", head.indent);
    let inner = body.first().map_or(inner.as_str(), |line| line.indent);
    let signature = if defines {
        let colon = head.colon.ok_or(NoBody::NoFunction)?;
        let inline = rest_of(function, colon, &head);
        let one_liner = !inline.is_empty() && !inline.starts_with('#');
        if one_liner != body.is_empty() {
            return Err(if one_liner {
                NoBody::More
            } else {
                NoBody::CutOff
            });
        }
        function.get(..colon).unwrap_or_default().to_owned()
    } else if body.is_empty() {
        lambda(function, &head).ok_or(NoBody::NoFunction)?
    } else {
        return Err(NoBody::NoFunction);
    };
    if goes_on(after, head.indent) && !body.is_empty() {
        return Err(NoBody::CutOff);
    }
    let mut new = signature;
    for line in with.trim_end().lines() {
        new.push_str(line_end);
        if !line.trim().is_empty() {
            new.push_str(inner);
            new.push_str(line);
        }
    }
    Ok(new)
}

fn text<'a>(function: &'a str, line: &Logical<'_>) -> &'a str {
    let whole = function.get(line.start..line.end).unwrap_or_default();
    whole.trim_start()
}

fn rest_of<'a>(function: &'a str, colon: usize, line: &Logical<'_>) -> &'a str {
    function.get(colon..line.end).unwrap_or_default().trim()
}

fn is_def(line: &str) -> bool {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("def") => true,
        Some("async") => words.next() == Some("def"),
        _ => false,
    }
}

fn is_deeper(indent: &str, outer: &str) -> bool {
    indent.len() > outer.len() && indent.starts_with(outer)
}

/// What a name that a lambda is given becomes: a signature of its own.
fn lambda(function: &str, head: &Logical<'_>) -> Option<String> {
    let line = function.get(head.start..head.end)?;
    let found = LAMBDA.captures(line)?;
    let before = function.get(..head.start)?;
    let parameters = found["parameters"].trim();
    // A colon within a default's brackets is not the lambda's, and other code may follow it.
    if parameters.contains(['(', '[', '{', '"', '\'', '#']) || line.contains(';') {
        return None;
    }
    Some(format!(
        "{before}{}def {}({parameters}):",
        &found["indent"], &found["name"]
    ))
}

/// Whether the code that follows still belongs to a body below `indent`.
fn goes_on(after: &str, indent: &str) -> bool {
    let code = after.lines().find(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    code.is_some_and(|line| {
        let own = line.len() - line.trim_start().len();
        own > indent.len()
    })
}

/// The lines of code: brackets, strings and backslashes join several lines of text.
fn logical_lines(source: &str) -> Result<Vec<Logical<'_>>, NoBody> {
    let mut lines = Vec::new();
    let mut at = 0;
    while at < source.len() {
        let rest = source.get(at..).unwrap_or_default();
        let code = rest.trim_start_matches([' ', '\t', '\u{c}']);
        let begin = at + (rest.len() - code.len());
        if code.starts_with(['#', '\n', '\r']) || code.is_empty() {
            at = scan::line(source, begin) + 1;
            continue;
        }
        let (end, colon) = line_of_code(source, begin)?;
        let indent = source.get(at..begin).unwrap_or_default();
        lines.push(Logical {
            start: at,
            end,
            indent,
            colon,
        });
        at = end + 1;
    }
    Ok(lines)
}

/// Where the line of code that begins at `at` ends, and where its first colon does.
fn line_of_code(source: &str, mut at: usize) -> Result<(usize, Option<usize>), NoBody> {
    let mut depth = 0_u32;
    let mut colon = None;
    while let Some(letter) = source.get(at..).and_then(|rest| rest.chars().next()) {
        match letter {
            '\n' if depth == 0 => break,
            '#' => {
                at = scan::line(source, at);
                continue;
            }
            '"' | '\'' => {
                at = string(source, at, letter).ok_or(NoBody::CutOff)?;
                continue;
            }
            '\\' => {
                let skipped = source.get(at + 1..).and_then(|rest| rest.chars().next());
                at += skipped.map_or(0, char::len_utf8);
                // A carriage return goes with the line feed after it.
                at +=
                    usize::from(skipped == Some('\r') && source.get(at + 1..at + 2) == Some("\n"));
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1).ok_or(NoBody::NoFunction)?,
            ':' if depth == 0 && colon.is_none() => colon = Some(at + 1),
            _ => {}
        }
        at += letter.len_utf8();
    }
    if depth > 0 {
        return Err(NoBody::CutOff);
    }
    Ok((at.min(source.len()), colon))
}

/// Where the string ends that begins at `at`. A backslash hides a quote in raw strings too.
fn string(source: &str, at: usize, quote: char) -> Option<usize> {
    let triple = quote.to_string().repeat(3);
    if source.get(at..)?.starts_with(&triple) {
        scan::quoted(source, at, &triple, false)
    } else {
        scan::quoted(source, at, &quote.to_string(), true)
    }
}
