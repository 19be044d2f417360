//! Bounds of what an Office Open XML workbook may make its reader hold.
//!
//! Sheets are streamed; shared strings and styles are held. A small file can unpack to
//! terabytes of either, and can claim any number of strings to be made room for.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use zip::ZipArchive;

use super::read_error::ReadError;

/// The most that a part which is held may unpack to.
const MAX_HELD_BYTES: u64 = 1 << 30;

/// Deflate makes no more of a byte (RFC 1951: 258 bytes for two bits).
const MAX_RATIO: u64 = 1032;

/// How much of the shared strings is searched for their count.
const HEAD_BYTES: u64 = 4096;

/// Checks the workbook in `file` before its reader holds anything of it.
pub(super) fn check_bounds(path: &Path, file: File) -> Result<(), ReadError> {
    let damaged = |error: &dyn std::error::Error| ReadError::damaged(path, error);
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(&error))?;
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).map_err(|error| damaged(&error))?;
        let name = String::from_utf8_lossy(part.name_raw()).to_ascii_lowercase();
        let strings = name.ends_with("sharedstrings.xml");
        let held = strings
            || ["styles.xml", "workbook.xml", ".rels", "theme1.xml"]
                .iter()
                .any(|end| name.ends_with(end));
        if !held {
            continue;
        }
        // No part unpacks to more than this, whatever it says of its size.
        let most = part.compressed_size().saturating_mul(MAX_RATIO);
        let mut start = Vec::new();
        (&mut part)
            .take(HEAD_BYTES)
            .read_to_end(&mut start)
            .map_err(|error| damaged(&error))?;
        if strings && claimed_strings(&start).is_some_and(|count| count > most) {
            return Err(ReadError::damaged(
                path,
                "it claims more shared strings than it can hold",
            ));
        }
        if most > MAX_HELD_BYTES {
            let rest = io::copy(&mut (&mut part).take(MAX_HELD_BYTES), &mut io::sink())
                .map_err(|error| damaged(&error))?;
            if rest == MAX_HELD_BYTES {
                return Err(ReadError::TooLarge {
                    path: path.to_path_buf(),
                    what: format!("{name} in it"),
                    limit: MAX_HELD_BYTES,
                });
            }
        }
    }
    Ok(())
}

/// The number of strings that the start of the shared strings claims.
fn claimed_strings(head: &[u8]) -> Option<u64> {
    let head = String::from_utf8_lossy(head);
    let (_, after) = head.split_once("uniqueCount=")?;
    let digits: String = after
        .chars()
        .skip(1)
        .take_while(char::is_ascii_digit)
        .collect();
    // More digits than a number holds are more strings than any file holds.
    Some(
        digits
            .parse()
            .unwrap_or(if digits.is_empty() { 0 } else { u64::MAX }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_claim() {
        let claim = |text: &str| claimed_strings(text.as_bytes());
        assert_eq!(claim("<sst count=\"9\" uniqueCount=\"12\">"), Some(12));
        assert_eq!(
            claim("<sst uniqueCount='99999999999999999999'>"),
            Some(u64::MAX)
        );
        assert_eq!(claim("<sst uniqueCount=\"\">"), Some(0));
        assert_eq!(claim("<sst>"), None);
    }
}
