//! A tree of elements, built within bounds.
//!
//! The standard's algorithm walks the stack of open elements for most tags and compares every
//! attribute of a tag with those before it, and reopens formatting elements, so a page can be
//! made to cost the square of its length. A body is therefore fed in small pieces, and what
//! has come of them is weighed after each.

use std::borrow::Cow;
use std::cell::{Cell, Ref};

use ego_tree::NodeId;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, QualName};
use scraper::{Html, HtmlTreeSink};

use super::Unreadable;
use super::text::boundary;

/// How deep elements may nest; browsers flatten what is deeper than 512.
pub(super) const MOST_DEEP: usize = 1024;

const MOST_NODES: usize = 1_000_000;

/// How deep all nodes of a page may lie together: most tags cost the parser their depth.
pub(super) const MOST_DEEP_IN_ALL: usize = 6_000_000;

/// How many words may stand where no token ends: attributes of one tag, or words of a comment.
const MOST_WORDS: usize = 16_384;

const PIECE_BYTES: usize = 1024;

pub(super) fn parse(text: &str) -> Result<Html, Unreadable> {
    let mut parser = html5ever::parse_document(Bounded::new(), html5ever::ParseOpts::default());
    let mut words = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(boundary(rest, PIECE_BYTES));
        rest = after;
        parser.process(StrTendril::from(piece));
        let sink = &parser.tokenizer.sink.sink;
        if sink.deepest.get() > MOST_DEEP {
            return Err(Unreadable::TooDeep(MOST_DEEP));
        }
        if sink.nodes.get() > MOST_NODES {
            return Err(Unreadable::TooMany(MOST_NODES));
        }
        if sink.depth_in_all.get() > MOST_DEEP_IN_ALL {
            return Err(Unreadable::TooDeepInAll(MOST_DEEP_IN_ALL));
        }
        words = if sink.stirred.replace(false) {
            0
        } else {
            words + words_in(piece)
        };
        if words > MOST_WORDS {
            return Err(Unreadable::TooMany(MOST_WORDS));
        }
    }
    Ok(parser.finish())
}

fn words_in(piece: &str) -> usize {
    piece
        .split(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '"' | '\''))
        .filter(|word| !word.is_empty())
        .count()
}

struct Bounded {
    sink: HtmlTreeSink,
    deepest: Cell<usize>,
    latest: Cell<usize>,
    depth_in_all: Cell<usize>,
    nodes: Cell<usize>,
    /// Whether a token has ended since this was last asked.
    stirred: Cell<bool>,
}

impl Bounded {
    fn new() -> Self {
        Self {
            sink: HtmlTreeSink::new(Html::new_document()),
            deepest: Cell::new(0),
            latest: Cell::new(0),
            depth_in_all: Cell::new(0),
            nodes: Cell::new(0),
            stirred: Cell::new(false),
        }
    }

    fn count(&self, node: NodeId) -> NodeId {
        self.nodes.set(self.nodes.get() + 1);
        self.stirred.set(true);
        node
    }

    fn place(&self, parent: NodeId, child: &NodeOrText<NodeId>) {
        self.stirred.set(true);
        if let NodeOrText::AppendNode(_) = child {
            let html = self.sink.0.borrow();
            let parent = html.tree.get(parent);
            let depth = parent.map_or(0, |parent| parent.ancestors().count()) + 1;
            self.deepest.set(self.deepest.get().max(depth));
            self.latest.set(depth);
            self.weigh(depth);
        }
    }

    fn weigh(&self, depth: usize) {
        self.depth_in_all.set(self.depth_in_all.get() + depth);
    }

    fn parent_of(&self, node: NodeId) -> Option<NodeId> {
        let html = self.sink.0.borrow();
        Some(html.tree.get(node)?.parent()?.id())
    }
}

impl TreeSink for Bounded {
    type Handle = NodeId;
    type Output = Html;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Html {
        self.sink.finish()
    }

    fn parse_error(&self, _: Cow<'static, str>) {
        // An end tag that closes nothing makes no node, and is looked for all the way up.
        self.weigh(self.latest.get());
    }

    fn get_document(&self) -> NodeId {
        self.sink.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Ref<'a, QualName> {
        self.sink.elem_name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        self.count(self.sink.create_element(name, attrs, flags))
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.count(self.sink.create_comment(text))
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> NodeId {
        self.count(self.sink.create_pi(target, data))
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.place(*parent, &child);
        self.sink.append(parent, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        previous: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        self.place(self.parent_of(*element).unwrap_or(*previous), &child);
        self.sink
            .append_based_on_parent_node(element, previous, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        self.stirred.set(true);
        self.sink.append_doctype_to_document(name, public, system);
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        let contents = self.sink.get_template_contents(target);
        self.place(*target, &NodeOrText::AppendNode(contents));
        contents
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        self.sink.same_node(x, y)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.sink.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &NodeId, new: NodeOrText<NodeId>) {
        if let Some(parent) = self.parent_of(*sibling) {
            self.place(parent, &new);
        }
        self.sink.append_before_sibling(sibling, new);
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attrs: Vec<Attribute>) {
        self.stirred.set(true);
        self.sink.add_attrs_if_missing(target, attrs);
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.sink.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        self.sink.reparent_children(node, new_parent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(before: &str, after: &str, count: usize) -> String {
        let pieces: Vec<_> = (0..count).map(|i| format!("{before}{i}{after}")).collect();
        pieces.concat()
    }

    #[test]
    fn deep_nesting_is_refused_and_what_people_nest_is_not() {
        for tag in "<div> <b> <template> <table><td> <svg> <ul><li>"
            .split_whitespace()
            .chain(["<font a=1>"])
        {
            let deep = tag.repeat(100_000);
            assert_eq!(
                parse(&deep).err(),
                Some(Unreadable::TooDeep(MOST_DEEP)),
                "{tag}"
            );
        }
        assert!(parse(&"<div>".repeat(500)).is_ok());
    }

    #[test]
    fn many_elements_far_down_are_refused_and_many_above_are_not() {
        let deep = "<div>".repeat(1000);
        for piece in ["<p></p>", "<li>", "</p>"] {
            let page = deep.clone() + &piece.repeat(500_000 / piece.len());
            let refused = Some(Unreadable::TooDeepInAll(MOST_DEEP_IN_ALL));
            assert_eq!(parse(&page).err(), refused, "{piece}");
        }
        let page = "<div>".repeat(1000) + &"<p></p>".repeat(1000);
        assert!(parse(&page).is_ok());
        let page = "<div>".repeat(20) + &"<p><b>x</b></p>".repeat(50_000);
        assert!(parse(&page).is_ok());
    }

    #[test]
    fn reopened_formatting_elements_are_bounded() {
        let open = numbered("<p><b id=x", ">", 500);
        let bomb = open + &"<p>x".repeat(200_000);
        assert!(matches!(
            parse(&bomb),
            Err(Unreadable::TooMany(_) | Unreadable::TooDeep(_) | Unreadable::TooDeepInAll(_))
        ));
    }

    #[test]
    fn attributes_are_bounded_and_long_values_are_not() {
        let many = numbered(" a", "", 200_000);
        assert_eq!(
            parse(&format!("<p{many}>")).err(),
            Some(Unreadable::TooMany(MOST_WORDS))
        );
        let long = format!("<img src=data:image/png;base64,{}>", "A".repeat(500_000));
        assert!(parse(&long).is_ok());
        let script = format!("<script>{}</script>", "var x = 1; ".repeat(50_000));
        assert!(parse(&script).is_ok());
    }

    #[test]
    fn nothing_at_all_is_a_page() {
        assert!(parse("").is_ok());
        assert!(parse(&" \n".repeat(100_000)).is_ok());
    }
}
