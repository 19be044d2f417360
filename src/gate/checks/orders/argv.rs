//! The program and its arguments, of which no submitted text becomes an option.

use crate::gate::Fact;
use crate::gate::checks::fields::shown;
use crate::gate::checks::kind::{Flaw, Source};
use crate::quest::template::{Names, Template, Values};

use super::limits::misfit;

/// Programs that hand what follows a `--` on to another one, which reads options in it.
const HAND_ON: &[&str] = &[
    "bun", "bunx", "cargo", "deno", "npm", "npx", "pnpm", "poetry", "uv", "uvx", "yarn",
];

/// Programs that read options after a `--` too, or hand what follows on to others that do.
const HEEDLESS: &[&str] = &["node", "perl", "py.test", "pytest", "python", "ruby"];

/// The program, pinned, and the templates of its arguments.
#[derive(Debug)]
pub struct Argv {
    program: String,
    arguments: Vec<Template>,
    /// How many `--` stand before what no program reads as an option, if any number does.
    dashes: Option<usize>,
}

impl Argv {
    /// The program and arguments that are the value of `key`.
    pub fn build(
        key: &'static str,
        argv: &[String],
        source: &Source<'_>,
        names: &Names,
    ) -> Result<Self, Flaw> {
        let parse = |text: &String| source.template_of(key, text, names);
        let Some((name, rest)) = argv.split_first() else {
            return Err(Flaw::new(key, "it is empty: name a program"));
        };
        let fixed = Template::parse(name, names).is_ok_and(|name| name.is_fixed());
        if name.trim().is_empty() || !fixed {
            let what = "the first element is the program's name, the same for every quest";
            return Err(Flaw::new(key, what));
        }
        let pinned = source.outside.program(name);
        let pinned = pinned.map_err(|missing| Flaw::new(key, missing.to_string()))?;
        let Some(program) = pinned.path.to_str() else {
            let what = format!("the path of `{name}` is not UTF-8");
            return Err(Flaw::new(key, what));
        };
        let base = program.rsplit('/').next().unwrap_or(program);
        let target = pinned.target.file_name().and_then(|name| name.to_str());
        Ok(Self {
            program: program.to_owned(),
            arguments: rest.iter().map(parse).collect::<Result<_, _>>()?,
            dashes: match base {
                base if is_heedless(base) || target.is_some_and(is_heedless) => None,
                base if HAND_ON.contains(&base) => Some(2),
                _ => Some(1),
            },
        })
    }

    /// The program's path and its arguments with their values.
    pub fn render(&self, values: &Values) -> Result<Vec<String>, Fact> {
        let mut argv = vec![self.program.clone()];
        let mut dashes = 0;
        for (place, template) in self.arguments.iter().enumerate() {
            let argument = self.argument(template, values, dashes);
            let argument = argument.map_err(|wrong| wrong.at(format!("argv[{}]", place + 1)))?;
            dashes += usize::from(template.source() == "--");
            argv.push(argument);
        }
        Ok(argv)
    }

    fn argument(
        &self,
        template: &Template,
        values: &Values,
        dashes: usize,
    ) -> Result<String, Fact> {
        let text = template.render(values);
        let text = text.map_err(|bad| Fact::wrong("an argument", bad.to_string()))?;
        if let Some(wrong) = misfit(&text) {
            return Err(wrong);
        }
        let behind = self.dashes.is_some_and(|enough| dashes >= enough);
        let own = template.source().starts_with('-') || behind;
        if text.starts_with('-') && !own {
            return Err(Fact::wrong("an argument that is no option", shown(&text)));
        }
        // Where a program takes more arguments from a file, a `--` does not keep it from that.
        if text.starts_with('@') && !template.source().starts_with('@') {
            let expected = "an argument that names no file of arguments";
            return Err(Fact::wrong(expected, shown(&text)));
        }
        Ok(text)
    }
}

/// Whether a program of this name heeds no `--`, whichever its version.
fn is_heedless(base: &str) -> bool {
    let plain = base.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    HEEDLESS.contains(&plain) || HEEDLESS.contains(&base)
}
