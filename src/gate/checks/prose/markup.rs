//! A text in Markdown, taken apart. A plain text is one whose every line is prose.

use super::block::{Block, Lists, heading, underline};
use super::fence::Fence;
use super::inline::{Inline, taken_apart};

/// A text, taken apart.
#[derive(Debug, Default)]
pub(in crate::gate::checks) struct Markup {
    /// The blocks, in their order.
    pub(in crate::gate::checks) blocks: Vec<Placed<Block>>,
    /// What stands in lines, in its order.
    pub(in crate::gate::checks) inlines: Vec<Placed<Inline>>,
    /// What a reader sees, line by line: all but comments and the definitions of links.
    pub(in crate::gate::checks) visible: String,
    /// The prose alone, line by line, with a mark where anything else stood.
    pub(in crate::gate::checks) prose: String,
}

/// Something, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate::checks) struct Placed<T> {
    /// The line, from 1.
    pub(in crate::gate::checks) line: usize,
    /// How many headings stand above it.
    pub(in crate::gate::checks) section: usize,
    pub(in crate::gate::checks) it: T,
}

/// What the lines so far have left open.
#[derive(Debug, Default)]
struct Open {
    fence: Option<(Fence, usize, String)>,
    comment: bool,
    lists: Lists,
    /// Whether the line before was prose by itself, of which an underline makes a heading.
    text: bool,
    section: usize,
}

impl Markup {
    /// Takes a text apart.
    pub(in crate::gate::checks) fn of(text: &str) -> Self {
        let mut markup = Self::default();
        let mut open = Open::default();
        let mut at = 0;
        for (line, whole) in (1..).zip(text.split_inclusive('\n')) {
            let said = whole.trim_end_matches(['\n', '\r']);
            markup.read(&mut open, line, said, &text[at..]);
            at += whole.len();
            markup.visible.push('\n');
            markup.prose.push('\n');
        }
        if let Some((fence, line, text)) = open.fence.take() {
            markup.code(&open, fence, line, text);
        }
        markup
    }

    /// Lets everything stand in one section.
    pub(in crate::gate::checks) fn forget_sections(&mut self) {
        let blocks = self.blocks.iter_mut().map(|it| &mut it.section);
        let inlines = self.inlines.iter_mut().map(|it| &mut it.section);
        blocks.chain(inlines).for_each(|section| *section = 0);
    }

    fn read(&mut self, open: &mut Open, line: usize, said: &str, rest: &str) {
        if let Some((fence, begun, mut text)) = open.fence.take() {
            if fence.ended_by(said) {
                self.code(open, fence, begun, text);
            } else {
                text.push_str(said);
                text.push('\n');
                self.visible.push_str(said);
                open.fence = Some((fence, begun, text));
            }
            return;
        }
        let (said, rest) = match (open.comment, said.find("-->")) {
            (true, None) => return,
            (true, Some(at)) => (&said[at + "-->".len()..], &rest[at + "-->".len()..]),
            (false, _) => (said, rest),
        };
        open.comment = false;
        if let Some(fence) = Fence::begun_by(said) {
            open.fence = Some((fence, line, String::new()));
            open.text = false;
            return;
        }
        let bare = unquoted(said);
        let underlined = underline(bare).filter(|_| open.text);
        let (block, line_of_block) = match underlined {
            Some(block) => (Some(block), line - 1),
            None => (heading(bare).or_else(|| open.lists.item(bare)), line),
        };
        open.text = block.is_none() && !bare.trim().is_empty();
        if let Some(block) = block {
            open.section += usize::from(matches!(block, Block::Heading(_)));
            let inlines = self.inlines.iter_mut().rev();
            let of_title = inlines.take_while(|it| it.line == line_of_block);
            of_title.for_each(|it| it.section = open.section);
            self.blocks.push(open.placed(line_of_block, block));
        }
        let taken = taken_apart(said, rest);
        open.comment = taken.is_open;
        self.visible.push_str(&taken.visible);
        self.prose.push_str(&taken.prose);
        let inlines = taken.inlines.into_iter();
        self.inlines.extend(inlines.map(|it| open.placed(line, it)));
    }

    fn code(&mut self, open: &Open, fence: Fence, line: usize, text: String) {
        let language = fence.language;
        self.blocks
            .push(open.placed(line, Block::Code { language, text }));
    }
}

impl Open {
    fn placed<T>(&self, line: usize, it: T) -> Placed<T> {
        let section = self.section;
        Placed { line, section, it }
    }
}

/// The line without the marks of a quotation.
fn unquoted(line: &str) -> &str {
    let mut bare = line;
    while let Some(rest) = bare.trim_start().strip_prefix('>') {
        bare = rest.strip_prefix(' ').unwrap_or(rest);
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::super::InlineKind;
    use super::*;

    #[test]
    fn blocks_are_told_from_prose() {
        let text = "# One\ntext\n\n- a\n  1. b\n- c\n\nTwo\n---\n```sh\n# no heading\n`x`\n```\n***\n\
            > ## Three ##\n#hash\n";
        let markup = Markup::of(text);
        let blocks: Vec<_> = markup.blocks.iter().map(|it| (it.line, &it.it)).collect();
        let item = |numbered, depth| Block::Item { numbered, depth };
        let code = Block::Code {
            language: "sh".to_owned(),
            text: "# no heading\n`x`\n".to_owned(),
        };
        let expected = [
            (1, &Block::Heading(1)),
            (4, &item(false, 0)),
            (5, &item(true, 1)),
            (6, &item(false, 0)),
            (8, &Block::Heading(2)),
            (10, &code),
            (15, &Block::Heading(2)),
        ];
        assert_eq!(blocks, expected);
        assert_eq!(markup.blocks[5].section, 2);
        assert!(markup.inlines.is_empty(), "{:?}", markup.inlines);
    }

    #[test]
    fn what_is_no_prose_is_taken_out_of_it() {
        let text = "Hi {name}, run ``a ` b`` for %d%% of $HOME; see [this](https://a.org/x) or \
            https://b.org/y. Costs 5%d \\{no\\} {{ x }} `open\n[r]: /to \"hidden\"\n";
        let markup = Markup::of(text);
        let inlines: Vec<_> = markup
            .inlines
            .iter()
            .map(|it| (it.it.kind, it.it.text.as_str()))
            .collect();
        let expected = [
            (InlineKind::Placeholder, "{name}"),
            (InlineKind::Code, "a ` b"),
            (InlineKind::Placeholder, "%d"),
            (InlineKind::Placeholder, "$HOME"),
            (InlineKind::Link, "https://a.org/x"),
            (InlineKind::Link, "https://b.org/y"),
            (InlineKind::Placeholder, "{{ x }}"),
            (InlineKind::Link, "/to"),
        ];
        assert_eq!(inlines, expected);
        assert!(markup.prose.contains("`open"), "{}", markup.prose);
        assert!(!markup.visible.contains("hidden"), "{}", markup.visible);
    }

    #[test]
    fn a_comment_hides_what_it_holds_and_nothing_else() {
        let markup = Markup::of("a <!-- 1 --> b `<!--` c\n<!-- 2\n3 --> d\n<!-- e\n```\n-- f\n");
        assert_eq!(
            markup.visible.trim_end(),
            "a  b `<!--` c\n\n d\n<!-- e\n\n-- f"
        );
    }
}
