//! The languages whose source files are parsed, and what their grammars say of a file.

use std::ops::Range;
use std::sync::OnceLock;

use tree_sitter::{Node, Parser, Query, Tree};

/// A language with a grammar. Each has a query, which names what can be changed in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(strum::EnumIter))]
pub enum Language {
    Go,
    JavaScript,
    Python,
    Rust,
    Tsx,
    TypeScript,
}

const JAVASCRIPT: &str = include_str!("mutants/javascript.scm");

/// TypeScript's grammar has every node of JavaScript's.
const TYPESCRIPT: &str = concat!(
    include_str!("mutants/javascript.scm"),
    include_str!("mutants/typescript.scm")
);

impl Language {
    /// The language of a file, by its extension; none that has no grammar here.
    pub fn of(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        match extension {
            "go" => Some(Self::Go),
            "cjs" | "js" | "jsx" | "mjs" => Some(Self::JavaScript),
            "py" | "pyi" => Some(Self::Python),
            "rs" => Some(Self::Rust),
            "tsx" => Some(Self::Tsx),
            "cts" | "mts" | "ts" => Some(Self::TypeScript),
            _ => None,
        }
    }

    fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        }
    }

    fn query_text(self) -> &'static str {
        match self {
            Self::Go => include_str!("mutants/go.scm"),
            Self::JavaScript => JAVASCRIPT,
            Self::Python => include_str!("mutants/python.scm"),
            Self::Rust => include_str!("mutants/rust.scm"),
            Self::Tsx | Self::TypeScript => TYPESCRIPT,
        }
    }

    /// What can be changed. A query takes longer to compile than a file to parse.
    pub fn query(self) -> Option<&'static Query> {
        static QUERIES: [OnceLock<Option<Query>>; 6] = [const { OnceLock::new() }; 6];
        let compile = || Query::new(&self.grammar(), self.query_text()).ok();
        QUERIES[self as usize].get_or_init(compile).as_ref()
    }

    pub fn parse(self, source: &str) -> Option<Tree> {
        let mut parser = Parser::new();
        parser.set_language(&self.grammar()).ok()?;
        parser.parse(source, None)
    }
}

/// How many places the grammar cannot make sense of.
pub fn errors(tree: &Tree) -> usize {
    if !tree.root_node().has_error() {
        return 0;
    }
    let mut count = 0;
    walk(tree, |node| {
        count += usize::from(node.is_error() || node.is_missing());
        true
    });
    count
}

/// Where the comments and docstrings are; nothing for a language that is not parsed.
pub fn comments(path: &str, source: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let tree = Language::of(path).and_then(|language| language.parse(source));
    let Some(tree) = tree else {
        return found;
    };
    walk(&tree, |node| {
        let is_found = is_comment(&node) || is_docstring(&node);
        if is_found {
            found.push(node.byte_range());
        }
        !is_found
    });
    found
}

/// Visits the nodes of a tree, and those below a node where `enter` says so.
pub fn walk(tree: &Tree, mut enter: impl FnMut(Node<'_>) -> bool) {
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        if enter(node) {
            open.extend((0..node.child_count()).filter_map(|at| node.child(at)));
        }
    }
}

/// Grammars call "extra" what may be between any two tokens. Some recover from an error so as well.
fn is_comment(node: &Node<'_>) -> bool {
    node.is_extra() && node.is_named() && !node.is_error()
}

/// Whether it is a string that is a statement by itself, and runs nothing.
fn is_docstring(node: &Node<'_>) -> bool {
    let only = node
        .named_child(0)
        .filter(|_| node.named_child_count() == 1);
    let runs = |text: Node<'_>| text.to_sexp().contains("(interpolation");
    let is_text = |text: &Node<'_>| matches!(text.kind(), "string" | "concatenated_string");
    node.kind() == "expression_statement" && only.filter(is_text).is_some_and(|it| !runs(it))
}
