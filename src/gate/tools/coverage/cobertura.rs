//! Cobertura's XML: classes that name their file, and lines within them.

use quick_xml::events::BytesStart;

use super::super::unread::Unread;
use super::super::xml::{Piece, Walk, attribute};
use super::lcov::count;
use super::{Coverage, Lines};

const FORMAT: &str = "Cobertura report";

pub(super) fn read(text: &str) -> Result<Coverage, Unread> {
    let mut walk = Walk::new(text, FORMAT);
    let mut coverage = Coverage::default();
    let mut class: Option<(String, Lines)> = None;
    let mut rooted = false;
    while let Some(piece) = walk.next()? {
        match piece {
            Piece::Start(start) if !rooted => {
                if start.name().as_ref() != "coverage" {
                    return Err(Unread::Nothing { format: FORMAT });
                }
                rooted = true;
            }
            Piece::Start(start) => match start.name().as_ref() {
                "class" => {
                    let path = attribute(&start, "filename");
                    let path = path.ok_or_else(|| walk.damaged("a class names no file"))?;
                    class = Some((path, Lines::default()));
                }
                "line" => {
                    let Some((_, lines)) = &mut class else {
                        continue;
                    };
                    let (line, hits) = hit(&start)
                        .ok_or_else(|| walk.damaged("a line without number and hits"))?;
                    // Its methods and the class itself tell of the same line.
                    lines.at_least(line, hits);
                }
                _ => {}
            },
            Piece::End(name) if name == "class" => {
                if let Some((path, lines)) = class.take() {
                    coverage.of(&path).merge(&lines);
                }
            }
            Piece::End(_) | Piece::Text(_) => {}
        }
    }
    Ok(coverage)
}

fn hit(start: &BytesStart<'_>) -> Option<(u32, u64)> {
    let line = attribute(start, "number")?.trim().parse().ok()?;
    Some((line, count(attribute(start, "hits")?.trim())?))
}
