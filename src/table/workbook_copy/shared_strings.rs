//! A few of a workbook's shared strings, by their indices (ECMA-376 part 1, 18.4.9).

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use quick_xml::events::Event;

use super::WorkbookError;
use super::tokens::Tokens;

/// The texts at `wanted`, as far as there are such. Reads no further than it must.
pub(super) fn shared_strings(
    mut tokens: Tokens<impl BufRead>,
    wanted: &BTreeSet<usize>,
) -> Result<BTreeMap<usize, String>, WorkbookError> {
    let mut found = BTreeMap::new();
    let mut depth = 0_u32;
    let mut next = 0;
    let mut in_text = false;
    let mut in_phonetic = false;
    while wanted.last().is_some_and(|last| *last >= next) {
        let token = tokens.next()?;
        match &token.event {
            Event::Start(start) => {
                depth += 1;
                let name = start.local_name();
                in_text = name.as_ref() == "t";
                in_phonetic |= name.as_ref() == "rPh";
            }
            Event::Empty(_) if depth == 1 => next += 1,
            Event::End(end) => {
                if depth == 2 {
                    next += 1;
                }
                depth = depth.saturating_sub(1);
                in_text = false;
                in_phonetic &= end.local_name().as_ref() != "rPh";
            }
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_)
                if in_text && !in_phonetic && wanted.contains(&next) =>
            {
                let text: &mut String = found.entry(next).or_default();
                text.push_str(&token.text());
            }
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_wanted_ones_alone() {
        let xml = "<x:sst><x:si><x:t>a</x:t></x:si><x:si/><x:si><x:r><x:t>b</x:t></x:r><x:r><x:t xml:space=\"preserve\"> &#99;</x:t></x:r><x:rPh><x:t>no</x:t></x:rPh></x:si><x:si><x:t>d</x:t></x:si><broken";
        let tokens = Tokens::new("strings", xml.as_bytes()).unwrap();
        let found = shared_strings(tokens, &BTreeSet::from([1, 2, 3])).unwrap();
        assert_eq!(
            found,
            BTreeMap::from([(2, "b c".to_owned()), (3, "d".to_owned())])
        );
    }

    #[test]
    fn an_index_beyond_the_end_is_not_found() {
        let tokens = Tokens::new("strings", b"<sst><si><t>a</t></si></sst>".as_slice()).unwrap();
        assert!(
            shared_strings(tokens, &BTreeSet::from([9]))
                .unwrap()
                .is_empty()
        );
    }
}
