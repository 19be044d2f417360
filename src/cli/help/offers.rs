//! What can stand behind `comail help`, for who types it.

use super::checks;
use super::index::Named;
use super::topic::TOPICS;

/// What can follow `before`, each with what it is about: all that there is help for or, behind a
/// command, that one's own commands.
pub(in crate::cli) fn offers(parser: &clap::Command, before: &[&str]) -> Vec<(String, String)> {
    let mut before = before.iter();
    let Some(command) = before.try_fold(parser, |command, word| command.find_subcommand(word))
    else {
        return Vec::new();
    };
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
    let mut names: Vec<Named> = shown
        .map(|it| {
            let about = it.get_about().map(ToString::to_string);
            Named::new(it.get_name(), &about.unwrap_or_default())
        })
        .collect();
    if std::ptr::eq(command, parser) {
        names.extend(TOPICS.iter().map(|it| Named::new(it.name, it.about)));
        let kinds = checks::names().filter_map(checks::page);
        names.extend(kinds.map(|it| Named::new(it.name(), &it.about)));
    }
    names.into_iter().map(Named::into_parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;
    use crate::quest::email;

    #[test]
    fn commands_topics_and_kinds_of_checks_are_offered() {
        let parser = command::parser(&email::kind());
        let names = |before: &[&str]| -> Vec<String> {
            offers(&parser, before).into_iter().map(|it| it.0).collect()
        };
        for wanted in ["submit", "help", "email-gate", "contains"] {
            assert!(names(&[]).iter().any(|it| it == wanted), "{wanted}");
        }
        assert!(names(&["review"]).contains(&"accept".to_owned()));
        assert_eq!(names(&["status"]), [""; 0]);
        assert_eq!(names(&["email-gate"]), [""; 0]);
    }
}
