//! Go's cover profiles: `file:line.column,line.column statements count`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::super::text::{constant, lines};
use super::super::unread::Unread;
use super::lcov::count;
use super::{Coverage, Lines};

const FORMAT: &str = "Go cover profile";

/// How many lines all blocks together may have.
const MOST_LINES: u64 = 5_000_000;

static BLOCK: LazyLock<Regex> =
    LazyLock::new(|| constant(r"^(.+):([0-9]+)\.([0-9]+),([0-9]+)\.([0-9]+) ([0-9]+) ([0-9]+)$"));

/// From where to where a block of statements reaches: line and column.
type Block = ((u32, u32), (u32, u32));

pub(super) fn read(text: &str) -> Result<Coverage, Unread> {
    let mut files: BTreeMap<&str, BTreeMap<Block, u64>> = BTreeMap::new();
    let mut found = false;
    let mut total = 0;
    for (index, line) in lines(text)
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let damaged = |why| Unread::damaged(FORMAT, &format!("line {}: {why}", index + 1));
        // Profiles of several packages are put one after the other.
        if line.starts_with("mode: ") {
            found = true;
            continue;
        }
        if !found {
            return Err(Unread::Nothing { format: FORMAT });
        }
        let (path, block, hits) = block(line).ok_or_else(|| damaged("no block of statements"))?;
        let Some(hits) = hits else {
            continue;
        };
        let sum = files
            .entry(path)
            .or_default()
            .entry(block)
            .or_insert_with(|| {
                total += u64::from(block.1.0 - block.0.0) + 1;
                0
            });
        *sum = sum.saturating_add(hits);
        if total > MOST_LINES {
            return Err(damaged("its blocks have too many lines"));
        }
    }
    if !found {
        return Err(Unread::Nothing { format: FORMAT });
    }
    let files = files
        .into_iter()
        .map(|(path, blocks)| (path.to_owned(), by_line(&blocks)));
    Ok(Coverage {
        files: files.collect(),
    })
}

/// The path, the block and how often it ran; no count for a block without statements.
fn block(line: &str) -> Option<(&str, Block, Option<u64>)> {
    let parts = BLOCK.captures(line)?;
    let number = |index: usize| parts.get(index)?.as_str().parse::<u32>().ok();
    let block = ((number(2)?, number(3)?), (number(4)?, number(5)?));
    let ordered = block.0 <= block.1;
    let hits = (number(6)? > 0).then_some(count(&parts[7])?);
    ordered.then_some((parts.get(1)?.as_str(), block, hits))
}

/// A line ran if any block on it did, but for a block that lies on that line alone: whoever runs
/// `if broken { return }` has not run the return.
fn by_line(blocks: &BTreeMap<Block, u64>) -> Lines {
    let mut lines = Lines::default();
    for (&((first, _), (last, _)), &hits) in blocks {
        for line in first..=last {
            lines.at_least(line, hits);
        }
    }
    let alone = blocks
        .iter()
        .filter(|(block, hits)| block.0.0 == block.1.0 && **hits == 0);
    for (block, _) in alone {
        lines.missed(block.0.0);
    }
    lines
}
