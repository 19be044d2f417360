//! A shell line as the plain commands that it runs.
//!
//! tree-sitter parses it. Only what a plain list of commands consists of is understood; for
//! everything else the line is marked as unclear, and a person is asked. Commands within the
//! unclear part are still collected, so that a deny rule holds for them.

use tree_sitter::{Node, Parser};

const MAX_LINE_BYTES: usize = 256 << 10;

/// How deep constructs may be nested. The walk is recursive, and a hook that overflows its stack
/// would let the call through.
const MAX_DEPTH: u32 = 100;

#[derive(Debug, Default)]
pub(super) struct CommandLine {
    pub commands: Vec<SimpleCommand>,
    /// The files to which output is redirected.
    pub writes: Vec<Word>,
    /// The files from which input is read.
    pub reads: Vec<Word>,
    /// Names of variables that the line sets.
    pub variables: Vec<String>,
    /// Why the line is not a plain list of commands, if it is not.
    pub unclear: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub words: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The word without its quotes; the source text if it is not literal.
    pub text: String,
    /// Whether the program gets exactly this text: nothing in it is expanded.
    pub is_literal: bool,
}

impl Word {
    fn expanded(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_literal: false,
        }
    }
}

impl SimpleCommand {
    pub(super) fn program(&self) -> &str {
        self.words.first().map_or("", |word| program(&word.text))
    }
}

pub(super) fn program(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl CommandLine {
    pub(super) fn parse(line: &str) -> Self {
        let mut parsed = Self::default();
        if line.len() > MAX_LINE_BYTES {
            parsed.mark("the line is too long");
            return parsed;
        }
        // tree-sitter takes a line break after a backslash and a carriage return for blanks; bash
        // joins the parts of a word around the first, and takes the second as a part of it.
        let control = |c: char| c.is_control() && c != '\n' && c != '\t';
        let mut before = line.match_indices("\\\n").map(|(at, _)| &line[..at]);
        if line.contains(control) || before.any(|text| !text.ends_with([' ', '\t'])) {
            parsed.mark("it has a control character or a line break within a word");
        }
        let mut parser = Parser::new();
        let language = parser.set_language(&tree_sitter_bash::LANGUAGE.into());
        let tree = language.ok().and_then(|()| parser.parse(line, None));
        let Some(tree) = tree else {
            parsed.mark("the line cannot be parsed");
            return parsed;
        };
        if tree.root_node().has_error() {
            parsed.mark("the line cannot be parsed");
        }
        let mut walk = Walk {
            source: line,
            parsed,
        };
        walk.node(tree.root_node(), 0);
        walk.parsed
    }

    fn mark(&mut self, why: &'static str) {
        self.unclear.get_or_insert(why);
    }
}

struct Walk<'a> {
    source: &'a str,
    parsed: CommandLine,
}

impl<'a> Walk<'a> {
    fn text(&self, node: Node<'_>) -> &'a str {
        &self.source[node.byte_range()]
    }

    fn node(&mut self, node: Node<'_>, depth: u32) {
        if depth > MAX_DEPTH {
            self.parsed.mark("it is nested too deep");
            return;
        }
        match node.kind() {
            "program"
            | "list"
            | "pipeline"
            | "negated_command"
            | "redirected_statement"
            | "subshell"
            | "compound_statement"
            | "heredoc_redirect" => {}
            "comment" | "heredoc_start" | "heredoc_end" | "file_descriptor" => return,
            "command" => return self.command(node, depth),
            "variable_assignment" => return self.assignment(node, depth),
            "declaration_command" => return self.declaration(node, depth),
            "file_redirect" => return self.redirect(node, depth),
            "heredoc_body" | "test_command" | "herestring_redirect" => {
                return self.substitutions(node, depth);
            }
            "command_substitution" | "process_substitution" => {
                self.parsed.mark("it substitutes the output of a command");
            }
            "function_definition" => self.parsed.mark("it defines a function"),
            "ERROR" => self.parsed.mark("the line cannot be parsed"),
            _ => self.parsed.mark("it is not a plain list of commands"),
        }
        self.children(node, depth);
    }

    fn children(&mut self, node: Node<'_>, depth: u32) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.node(child, depth + 1);
        }
    }

    fn command(&mut self, node: Node<'_>, depth: u32) {
        let mut words = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => self.assignment(child, depth + 1),
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    self.node(child, depth + 1);
                }
                "subshell" => self.node(child, depth + 1),
                _ => words.push(self.word(child, depth + 1)),
            }
        }
        if words.first().is_none_or(|name| !name.is_literal) {
            self.parsed.mark("the name of a command is not known");
        }
        self.parsed.commands.push(SimpleCommand { words });
    }

    fn assignment(&mut self, node: Node<'_>, depth: u32) {
        let name = node.child_by_field_name("name");
        let name = name.map_or("", |name| self.text(name));
        // `name[index]=value` sets `name`.
        let name = name.split('[').next().unwrap_or(name);
        self.parsed.variables.push(name.to_owned());
        self.substitutions(node, depth);
    }

    fn declaration(&mut self, node: Node<'_>, depth: u32) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => self.assignment(child, depth + 1),
                "variable_name" => self.parsed.variables.push(self.text(child).to_owned()),
                _ => {
                    let word = self.word(child, depth + 1);
                    if !word.is_literal {
                        self.parsed.mark("the name of a variable is not known");
                    }
                    let name = word.text.split('=').next().unwrap_or_default();
                    self.parsed.variables.push(name.to_owned());
                }
            }
        }
    }

    fn redirect(&mut self, node: Node<'_>, depth: u32) {
        let mut cursor = node.walk();
        let targets: Vec<Node<'_>> = node
            .children_by_field_name("destination", &mut cursor)
            .collect();
        // `>&-` closes a descriptor.
        if targets.is_empty() && self.text(node).ends_with("&-") {
            return;
        }
        // In `> a b` the parser takes `b` for a second file, but it is a word of the command.
        let [target] = targets[..] else {
            self.parsed.mark("a redirection is unclear");
            return self.children(node, depth);
        };
        let target = self.word(target, depth + 1);
        let mut cursor = node.walk();
        let operator = node
            .children(&mut cursor)
            .find(|child| !child.is_named())
            .map_or("", |child| self.text(child));
        match operator {
            ">&" | "<&" if target.text.chars().all(|c| c.is_ascii_digit() || c == '-') => {}
            "<" => self.parsed.reads.push(target),
            _ => self.parsed.writes.push(target),
        }
    }

    /// Marks the commands whose output is put into this part of the line.
    fn substitutions(&mut self, node: Node<'_>, depth: u32) {
        if depth > MAX_DEPTH {
            self.parsed.mark("it is nested too deep");
            return;
        }
        match node.kind() {
            "command_substitution" | "process_substitution" => return self.node(node, depth),
            // `${x:=y}` sets a variable, `${!x}` and `${x@P}` expand what it holds once more.
            "expansion" if self.text(node).contains(['=', '!', '@']) => {
                self.parsed
                    .mark("an expansion does more than insert a value");
            }
            _ => {}
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.substitutions(child, depth + 1);
        }
    }

    fn word(&mut self, node: Node<'_>, depth: u32) -> Word {
        let text = self.text(node);
        if depth > MAX_DEPTH {
            self.parsed.mark("it is nested too deep");
            return Word::expanded(text);
        }
        let literal = |text: String| Word {
            text,
            is_literal: true,
        };
        match node.kind() {
            "command_name" if node.child_count() == 1 => {
                return node
                    .child(0)
                    .map_or_else(|| Word::expanded(text), |name| self.word(name, depth + 1));
            }
            "word" if !is_pattern(text) => return literal(unescaped(text, |_| true)),
            "number" if node.child_count() == 0 => return literal(text.to_owned()),
            "raw_string" if text.len() > 1 => return literal(text[1..text.len() - 1].to_owned()),
            "string" if text.len() > 1 => {
                let mut cursor = node.walk();
                let mut parts = node.named_children(&mut cursor);
                if parts.all(|part| part.kind() == "string_content") {
                    let inner = &text[1..text.len() - 1];
                    return literal(unescaped(inner, |c| "$`\"\\\n".contains(c)));
                }
            }
            "concatenation" => return self.concatenation(node, depth),
            _ => {}
        }
        self.substitutions(node, depth);
        Word::expanded(text)
    }

    fn concatenation(&mut self, node: Node<'_>, depth: u32) -> Word {
        let mut whole = Word {
            text: String::new(),
            is_literal: true,
        };
        let mut end = node.start_byte();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let word = self.word(child, depth + 1);
            whole.is_literal &= word.is_literal && child.is_named() && child.start_byte() == end;
            whole.text.push_str(&word.text);
            end = child.end_byte();
        }
        if whole.is_literal && end == node.end_byte() {
            return whole;
        }
        Word::expanded(self.text(node))
    }
}

/// Whether the shell replaces an unquoted word: by file names, several words, or a directory.
fn is_pattern(text: &str) -> bool {
    let mut is_escaped = false;
    let special = |c: char| {
        let counts = !is_escaped && "*?[{}$`".contains(c);
        is_escaped = c == '\\' && !is_escaped;
        counts
    };
    text.starts_with('~') || text.chars().any(special)
}

/// The text without the backslashes that escape a character.
fn unescaped(text: &str, escapes: impl Fn(char) -> bool) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek().copied() {
            Some(next) if c == '\\' && escapes(next) => {
                chars.next();
                if next != '\n' {
                    plain.push(next);
                }
            }
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    /// The commands of a line, with `_` for a word that is not literal.
    fn commands(line: &str) -> Vec<Vec<String>> {
        let parsed = CommandLine::parse(line);
        let shown = |word: &Word| {
            if word.is_literal {
                word.text.clone()
            } else {
                "_".to_owned()
            }
        };
        let words = |command: &SimpleCommand| command.words.iter().map(shown).collect();
        parsed.commands.iter().map(words).collect()
    }

    #[test]
    fn plain_lists_are_split_into_their_words() {
        for (line, expected) in rows! {
            "git status; make" => &[&["git", "status"][..], &["make"]][..];
            "a&&b||c|d|&e&f" => &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"]];
            "a\nb # c; d\ne" => &[&["a"], &["b"], &["e"]];
            "! a; (b; c); { d; }" => &[&["a"], &["b"], &["c"], &["d"]];
            "a 'b c'\"d\\\"\\n\"e\\ f 7" => &[&["a", "b cd\"\\ne f", "7"]];
            "a \" b \" '' \\$x" => &[&["a", " b ", "", "$x"]];
            "\"a\" --b=c x:y" => &[&["a", "--b=c", "x:y"]];
            "a \\\n  --b" => &[&["a", "--b"]];
            "A=1 B=2 a" => &[&["a"]];
            "a > f 2>&1 < g" => &[&["a"]];
            "a <<'E'\n$(b)\nE\nc" => &[&["a"], &["c"]];
            "[ -f x ] && a" => &[&["a"]];
            "a $X \"$Y z\" ${Z:-1} *.rs {a,b} ~/x $'a\\n' $((1+2))"
                => &[&["a", "_", "_", "_", "_", "_", "_", "_", "_"]];
            "export A=b C; D=1" => &[];
            "" => &[];
        } {
            assert_eq!(CommandLine::parse(line).unclear, None, "{line}");
            assert_eq!(commands(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_not_a_plain_list_is_unclear_and_its_commands_are_found() {
        for (line, inner) in [
            ("$X y", "_ y"),
            ("a $(rm x)", "rm x"),
            ("a `rm x`", "rm x"),
            ("a <(rm x)", "rm x"),
            ("a \"b $(rm x)\"", "rm x"),
            ("a ${X:-$(rm x)}", "rm x"),
            ("a <<E\n$(rm x)\nE", "rm x"),
            ("a <<< \"$(rm x)\"", "rm x"),
            ("a > $(rm x)", "rm x"),
            ("X=$(rm x)", "rm x"),
            ("[[ -n $(rm x) ]]", "rm x"),
            ("export X=$(rm x)", "rm x"),
            ("if a; then rm x; fi", "rm x"),
            ("for f in *; do rm x; done", "rm x"),
            ("while a; do rm x; done", "rm x"),
            ("case a in b) rm x;; esac", "rm x"),
            ("f() { rm x; }", "rm x"),
            ("a\\\nb c", "a b c"),
            ("a\rb", "a b"),
            ("2>f a >c d", "a"),
            ("a <<E b\nE", "a"),
        ] {
            assert!(CommandLine::parse(line).unclear.is_some(), "{line}");
            let inner: Vec<_> = inner.split(' ').collect();
            let found = commands(line);
            assert!(found.iter().any(|it| *it == inner), "{line}: {found:?}");
        }
        let deep = format!("{}a{}", "(".repeat(500), ")".repeat(500));
        let long = "a ".repeat(MAX_LINE_BYTES);
        for line in [
            "a 'b",
            "a (",
            "a; ;",
            "a | ",
            "if a",
            "a ${!X}",
            "a ${X@P}",
            "a ${X:=b}",
            "unset X",
            "((x++))",
            &deep,
            &long,
        ] {
            assert!(CommandLine::parse(line).unclear.is_some(), "{line}");
        }
    }

    #[test]
    fn redirections_and_variables_are_collected() {
        let texts = |words: &[Word]| {
            let shown =
                |word: &Word| format!("{}{}", word.text, if word.is_literal { "" } else { "?" });
            words.iter().map(shown).collect::<Vec<_>>()
        };
        let parsed = CommandLine::parse(
            "A=1 a > b 2>&1 >>'c d' <e &>f 2>| g 3<>h >&2 2>&- >& i; > $X; export B=1 C",
        );
        assert_eq!(
            texts(&parsed.writes),
            ["b", "c d", "f", "g", "h", "i", "$X?"]
        );
        assert_eq!(texts(&parsed.reads), ["e"]);
        assert_eq!(parsed.variables, ["A", "B", "C"]);
    }
}
