use super::*;
use crate::base::rows;

fn words(line: &CommandLine) -> Vec<&str> {
    line.argv
        .iter()
        .map(|word| word.to_str().unwrap())
        .collect()
}

fn custom(words: &[&str]) -> AgentCommand {
    AgentCommand::Custom(words.iter().map(OsString::from).collect())
}

fn preset(name: &str, own: &[&str]) -> AgentCommand {
    let own = own.iter().map(OsString::from).collect();
    AgentCommand::Preset(Preset::named(name).unwrap(), own)
}

const GIVEN: Given<'static> = Given {
    prompt: "say {model}",
    prompt_file: None,
    model: None,
    conversation: None,
};

#[test]
fn a_prompt_without_a_place_goes_to_standard_input() {
    let line = command_line(&custom(&["./agent", "{x}", "{"]), &GIVEN).unwrap();
    assert_eq!(words(&line), ["./agent", "{x}", "{"]);
    assert_eq!(line.stdin.as_deref(), Some("say {model}"));
}

#[test]
fn filled_in_text_is_not_searched_for_placeholders() {
    let agent = custom(&["a", "--say={prompt}!", "{model}"]);
    let given = Given {
        model: Some("{prompt}"),
        ..GIVEN
    };
    let line = command_line(&agent, &given).unwrap();
    assert_eq!(words(&line), ["a", "--say=say {model}!", "{prompt}"]);
    assert_eq!(line.stdin, None);
}

#[test]
fn the_prompt_file_is_filled_in_if_there_is_one() {
    let agent = custom(&["a", "@{prompt_file}"]);
    assert!(agent.needs_file());
    assert_eq!(
        command_line(&agent, &GIVEN),
        Err(BadCommandLine::Missing("prompt_file"))
    );
    let given = Given {
        prompt_file: Some(Path::new("/p")),
        ..GIVEN
    };
    let line = command_line(&agent, &given).unwrap();
    assert_eq!(words(&line), ["a", "@/p"]);
    assert_eq!(line.stdin, None);
    assert!(!custom(&["a", "{prompt}"]).needs_file());
}

#[test]
fn a_preset_puts_each_option_in_its_place() {
    let given = Given {
        model: Some("opus"),
        ..GIVEN
    };
    let agent = preset("claude", &["--max-turns", "{prompt}"]);
    let line = command_line(&agent, &given).unwrap();
    assert_eq!(
        words(&line).join(" "),
        "claude -p --output-format stream-json --verbose --model opus --max-turns {prompt}"
    );
    assert_eq!(line.stdin.as_deref(), Some("say {model}"));

    let given = Given {
        conversation: Some("c7"),
        ..GIVEN
    };
    let line = command_line(&preset("codex", &["--full-auto"]), &given).unwrap();
    assert_eq!(
        words(&line).join(" "),
        "codex exec --json --skip-git-repo-check --full-auto resume c7 -"
    );
    let line = command_line(&preset("cursor", &[]), &GIVEN).unwrap();
    assert_eq!(words(&line).last(), Some(&"say {model}"));
    assert_eq!(line.stdin, None);
}

#[test]
fn refuses_what_an_agent_does_not_support() {
    let resumed = Given {
        conversation: Some("c"),
        ..GIVEN
    };
    let model = Given {
        model: Some("m"),
        ..GIVEN
    };
    for (agent, given, refused) in rows! {
        custom(&[]), GIVEN => BadCommandLine::Empty;
        preset("aider", &[]), resumed => BadCommandLine::NoResume("aider");
        preset("amp", &[]), model => BadCommandLine::NoModel("amp");
        custom(&["a", "{model}"]), GIVEN => BadCommandLine::Missing("model");
    } {
        assert_eq!(command_line(&agent, &given), Err(refused));
    }
    assert!(preset("claude", &[]).can_resume());
    assert!(!preset("aider", &[]).can_resume() && !custom(&["claude"]).can_resume());
}

#[test]
fn a_fresh_start_omits_words_about_a_conversation() {
    let own = custom(&["a", "--resume={conversation}", "b"]);
    assert!(own.can_resume());
    let line = command_line(&own, &GIVEN).unwrap();
    assert_eq!(words(&line), ["a", "b"]);
    let resumed = Given {
        conversation: Some("c7"),
        ..GIVEN
    };
    let line = command_line(&own, &resumed).unwrap();
    assert_eq!(words(&line), ["a", "--resume=c7", "b"]);
}

#[test]
fn a_prompt_too_long_for_an_argument_is_refused_and_standard_input_named() {
    let long = "x".repeat(MAX_ARGUMENT + 1);
    let given = Given {
        prompt: &long,
        ..GIVEN
    };
    let wrong = command_line(&custom(&["a", "{prompt}"]), &given).unwrap_err();
    assert!(wrong.to_string().contains("standard input"), "{wrong}");
    assert!(command_line(&custom(&["a"]), &given).is_ok());
    let given = Given {
        prompt: &long[1..],
        ..GIVEN
    };
    assert!(command_line(&custom(&["a", "{prompt}"]), &given).is_ok());
    let given = Given {
        prompt: "a\0b",
        ..GIVEN
    };
    assert_eq!(
        command_line(&custom(&["a", "{prompt}"]), &given),
        Err(BadCommandLine::Nul)
    );
}

#[test]
fn a_custom_agent_has_the_name_of_its_program() {
    assert_eq!(custom(&["/usr/bin/my-agent", "x"]).name(), "my-agent");
    assert_eq!(preset("cursor-agent", &[]).name(), "cursor");
    assert_eq!(custom(&["sh"]).stream(), Stream::Plain);
}

#[test]
fn finds_a_preset_by_either_name() {
    for preset in Preset::ALL {
        assert_eq!(Preset::named(preset.name), Some(preset));
        assert_eq!(Preset::named(preset.program()), Some(preset));
    }
    assert_eq!(Preset::named("cursor-agent").unwrap().name, "cursor");
    assert_eq!(Preset::named("sh"), None);
}

#[test]
fn a_flag_that_the_operator_gave_is_not_missing() {
    let flags = Some("--allowedTools 'Bash(comail:*),WebSearch,WebFetch'");
    assert_eq!(preset("claude", &[]).missing_flags(), flags);
    let other = preset("claude", &["--max-turns", "9"]);
    assert_eq!(other.missing_flags(), flags);
    let given = preset("claude", &["--allowedTools", "Bash(comail:*)"]);
    assert_eq!(given.missing_flags(), None);
    assert_eq!(custom(&["claude"]).missing_flags(), None);
    let edits = preset("claude", &["--allowedTools", "Bash(comail:*)"]);
    let flags = Some("--permission-mode acceptEdits");
    assert_eq!(edits.missing_edit_flags(), flags);
    let given = preset("claude", &["--permission-mode", "plan"]);
    assert_eq!(given.missing_edit_flags(), None);
    for preset in Preset::ALL {
        let runs_nothing = preset.shell == AgentShell::Absent;
        assert!(preset.grant.is_none() || !runs_nothing, "{}", preset.name);
        let flags = preset.grant.unwrap_or_default();
        assert!(!preset.command.contains(flags) || flags.is_empty());
    }
}

#[test]
fn each_preset_has_a_place_for_all_options() {
    for preset in Preset::ALL {
        let has = |word| preset.command.split(' ').any(|other| other == word);
        assert!(has("{args}"), "{}", preset.name);
        assert_eq!(has("{resume}"), preset.resume.is_some(), "{}", preset.name);
    }
}
