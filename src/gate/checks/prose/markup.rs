//! A text in Markdown, taken apart. A plain text is one whose every line is prose.

use std::collections::BTreeSet;

use super::block::{Block, Lists, heading, underline};
use super::fence::Fence;
use super::inline::{Inline, taken_apart};
use super::unseen::Unseen;

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
    /// What of `visible` a page is sure to show: no tags, no titles, and nothing that is hidden.
    pub(in crate::gate::checks) shown: String,
    /// What of `prose` a page is sure to show.
    pub(in crate::gate::checks) shown_prose: String,
    /// The tags with a style.
    styled: BTreeSet<String>,
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
    unseen: Unseen,
}

impl Markup {
    /// Takes a text apart.
    pub(in crate::gate::checks) fn of(text: &str) -> Self {
        Self::read_with(text, Unseen::default())
    }

    /// Takes a text apart in which a style may hide something, but where this one has it too.
    pub(in crate::gate::checks) fn anew(text: &str, original: &Self) -> Self {
        Self::read_with(text, Unseen::knowing(&original.styled))
    }

    fn read_with(text: &str, unseen: Unseen) -> Self {
        let mut markup = Self::default();
        let mut open = Open {
            unseen,
            ..Open::default()
        };
        let last_end = text.rfind("-->");
        let mut at = 0;
        for (line, whole) in (1..).zip(text.split_inclusive('\n')) {
            let said = whole.trim_end_matches(['\n', '\r']);
            let last_end = last_end.and_then(|last| last.checked_sub(at));
            markup.read(&mut open, line, said, last_end);
            at += whole.len();
            open.unseen.end_line(said.trim().is_empty());
            markup.visible.push('\n');
            markup.prose.push('\n');
            markup.shown.push('\n');
            markup.shown_prose.push('\n');
        }
        if let Some((fence, line, text)) = open.fence.take() {
            markup.code(&open, fence, line, text);
        }
        markup.styled = open.unseen.styled;
        markup
    }

    /// Lets everything stand in one section.
    pub(in crate::gate::checks) fn forget_sections(&mut self) {
        let blocks = self.blocks.iter_mut().map(|it| &mut it.section);
        let inlines = self.inlines.iter_mut().map(|it| &mut it.section);
        blocks.chain(inlines).for_each(|section| *section = 0);
    }

    fn read(&mut self, open: &mut Open, line: usize, said: &str, last_end: Option<usize>) {
        if let Some((fence, begun, mut text)) = open.fence.take() {
            if fence.ended_by(said) {
                self.code(open, fence, begun, text);
            } else {
                text.push_str(said);
                text.push('\n');
                self.visible.push_str(said);
                if !open.unseen.hides() {
                    self.shown.push_str(said);
                }
                open.fence = Some((fence, begun, text));
            }
            return;
        }
        let (said, last_end) = match (open.comment, said.find("-->")) {
            (true, None) => return,
            (true, Some(at)) => {
                let after = at + "-->".len();
                let last_end = last_end.and_then(|last| last.checked_sub(after));
                (&said[after..], last_end)
            }
            (false, _) => (said, last_end),
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
        let taken = taken_apart(said, last_end, &mut open.unseen);
        open.comment = taken.is_open;
        self.visible.push_str(&taken.visible);
        self.prose.push_str(&taken.prose);
        self.shown.push_str(&taken.shown);
        self.shown_prose.push_str(&taken.shown_prose);
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

    #[test]
    fn what_may_be_hidden_is_not_sure_to_be_shown() {
        let text = "a<span hidden>1\n\n2</span>b `<span hidden>` c [d](e \"3\") f\n<i\ntitle=4>g\n";
        let markup = Markup::of(text);
        assert_eq!(markup.shown, "a\n\nb `<span hidden>` c [d](e) f\n\ng\n");
        assert!(markup.visible.contains("\"3\""), "{}", markup.visible);
    }

    #[test]
    fn comments_without_an_end_are_looked_for_once() {
        // Looked for from each on, this is hours of work.
        let text = "<!--".repeat(200_000);
        assert_eq!(Markup::of(&text).visible.len(), text.len() + 1);
    }
}
