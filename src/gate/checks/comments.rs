//! The comments and docstrings of a source file, which tree-sitter finds.

use std::ops::Range;

use tree_sitter::{Language, Node, Parser};

/// Where the comments and docstrings are; nothing for a language that is not parsed.
pub fn comments(path: &str, source: &str) -> Vec<Range<usize>> {
    let mut parser = Parser::new();
    let tree = language(path)
        .filter(|language| parser.set_language(language).is_ok())
        .and_then(|_| parser.parse(source, None));
    let mut found = Vec::new();
    let mut open: Vec<Node<'_>> = tree.iter().map(tree_sitter::Tree::root_node).collect();
    while let Some(node) = open.pop() {
        if is_comment(&node) || is_docstring(&node) {
            found.push(node.byte_range());
        } else {
            open.extend((0..node.child_count()).filter_map(|at| node.child(at)));
        }
    }
    found
}

fn language(path: &str) -> Option<Language> {
    let (_, extension) = path.rsplit_once('.')?;
    match extension {
        "py" | "pyi" => Some(tree_sitter_python::LANGUAGE.into()),
        "rs" => Some(tree_sitter_rust::LANGUAGE.into()),
        _ => None,
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
