//! The `console` blocks of a Markdown text.

/// A command line and what is shown below it.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// What stands behind `$ `, and behind `> ` in the lines that go on.
    pub script: String,
    /// The lines below it.
    pub shown: String,
}

/// Every command of every `console` block, in order.
pub fn commands(markdown: &str) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let mut inside = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(script) = line.strip_prefix("$ ") {
            found.push(Command {
                script: script.to_owned(),
                shown: String::new(),
            });
            continue;
        }
        let command = found.last_mut().expect("a block begins with a command");
        match line.strip_prefix("> ") {
            Some(more) if command.shown.is_empty() => {
                command.script.push('\n');
                command.script.push_str(more);
            }
            _ => {
                command.shown.push_str(line);
                command.shown.push('\n');
            }
        }
    }
    found
}

#[test]
fn reads_commands_and_what_they_show() {
    let text =
        "```console\n$ a \\\n>   b\nout\n> quoted\n$ c\n```\n$ not this\n```sh\n$ nor\n```\n";
    let command = |script: &str, shown: &str| Command {
        script: script.to_owned(),
        shown: shown.to_owned(),
    };
    assert_eq!(
        commands(text),
        [command("a \\\n  b", "out\n> quoted\n"), command("c", "")]
    );
}
