//! LCOV's trace files: `SF:` names a file, `DA:` a line and how often it ran.

use super::super::text::lines;
use super::super::unread::Unread;
use super::Coverage;

const FORMAT: &str = "LCOV report";

pub(super) fn read(text: &str) -> Result<Coverage, Unread> {
    let mut coverage = Coverage::default();
    let mut file: Option<&str> = None;
    for (index, line) in lines(text).enumerate() {
        let damaged = |why| Unread::damaged(FORMAT, &format!("line {}: {why}", index + 1));
        let line = line.trim();
        if let Some(path) = line.strip_prefix("SF:") {
            if file.replace(path).is_some() {
                return Err(damaged("a record begins within another"));
            }
            coverage.of(path);
        } else if let Some(data) = line.strip_prefix("DA:") {
            let path = file.ok_or_else(|| damaged("a line outside of any file"))?;
            let (line, hits) = hit(data).ok_or_else(|| damaged("no line and count"))?;
            coverage.of(path).add(line, hits);
        } else if line == "end_of_record" {
            file = None;
        }
    }
    if file.is_some() {
        return Err(Unread::damaged(FORMAT, "it is cut off within a record"));
    }
    if coverage.files.is_empty() {
        return Err(Unread::Nothing { format: FORMAT });
    }
    Ok(coverage)
}

/// A line and how often it ran; below zero, as broken counters report, is never.
fn hit(data: &str) -> Option<(u32, u64)> {
    let mut parts = data.split(',');
    let line = parts.next()?.trim().parse().ok()?;
    Some((line, count(parts.next()?.trim())?))
}

/// A count of any size, the largest that there is standing for all that are larger.
pub(super) fn count(text: &str) -> Option<u64> {
    let (digits, negative) = match text.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(if negative {
        0
    } else {
        digits.parse().unwrap_or(u64::MAX)
    })
}
