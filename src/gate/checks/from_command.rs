//! The command that another check looks at.

use super::command::CommandSpec;
use super::kind::CheckHead;
use super::kind::{Flaw, Source};
use crate::quest::file::unknown_name;

/// The table of the command that the key `from` names.
pub fn from_command(source: &Source<'_>, from: &str) -> Result<CommandSpec, Flaw> {
    let checks = source.file.checks.iter();
    let commands: Vec<_> = checks
        .filter(|raw| raw.text_of("kind") == Some("command"))
        .filter_map(|raw| Some((raw.text_of("name")?, raw)))
        .collect();
    let Some((_, raw)) = commands.iter().find(|(name, _)| *name == from) else {
        let known: Vec<_> = commands.iter().map(|(name, _)| *name).collect();
        return Err(Flaw::new("from", unknown_name("command", from, &known)));
    };
    let (_, own) = raw.part(CheckHead::KEYS);
    let spec: Result<CommandSpec, _> = own.read(source.file.text());
    let spec =
        spec.map_err(|mistake| Flaw::new("from", format!("`{from}` cannot be read: {mistake}")))?;
    for text in spec.texts() {
        source.told_by_template(text);
    }
    Ok(spec)
}
