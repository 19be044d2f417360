//! The one integration binary: every file of tests is a module of it.

mod agent_docs;
#[cfg(target_os = "linux")]
mod agent_process;
mod arrows;
mod attack_configuration;
mod attack_dump;
mod attack_owners;
mod attack_page;
#[cfg(target_os = "linux")]
mod attack_quest_code;
#[cfg(target_os = "linux")]
mod attack_quest_commands;
#[cfg(target_os = "linux")]
mod attack_quest_script;
#[cfg(target_os = "linux")]
mod attack_run;
mod attack_special;
mod attack_tools;
mod audit;
mod audit_forged;
mod carry;
mod chat_protocol;
mod cheese_session;
mod claims;
#[cfg(target_os = "linux")]
mod command_bounds;
#[cfg(target_os = "linux")]
mod command_ends;
#[cfg(target_os = "linux")]
mod command_passed;
mod command_pinned;
#[cfg(target_os = "linux")]
mod command_service;
mod completions;
mod completions_typed;
mod configuration;
mod demo;
mod dependencies;
mod doctor;
mod export;
mod forget;
mod gate_catalogue;
mod gate_domain;
mod gate_environment;
mod gate_fetch;
mod gate_format;
mod gate_identity;
mod gate_mail;
mod gate_page;
mod gate_replay;
mod gate_settings;
mod gate_source;
mod gate_world;
mod harness;
mod help_topics;
mod hints;
mod honest_homes;
mod hook;
#[cfg(target_os = "linux")]
mod index_forged;
mod insights;
mod log;
#[cfg(target_os = "linux")]
mod long_work;
mod page;
#[cfg(target_os = "linux")]
mod panel;
#[cfg(target_os = "linux")]
mod panel_chat;
#[cfg(target_os = "linux")]
mod picture;
mod played;
mod prove_email;
mod quarters;
#[cfg(target_os = "linux")]
mod quest_final;
#[cfg(target_os = "linux")]
mod quest_fix;
#[cfg(target_os = "linux")]
mod quest_flags;
#[cfg(target_os = "linux")]
mod quest_frozen;
#[cfg(target_os = "linux")]
mod quest_inputs;
#[cfg(target_os = "linux")]
mod quest_mistakes;
#[cfg(target_os = "linux")]
mod quest_our_failures;
#[cfg(target_os = "linux")]
mod quest_refusals;
#[cfg(target_os = "linux")]
mod quest_shipped;
#[cfg(target_os = "linux")]
mod quest_starter;
mod readme;
mod recheck;
mod report;
mod report_runs;
#[cfg(target_os = "linux")]
mod report_tree;
mod review;
mod review_forged;
mod review_office;
#[cfg(target_os = "linux")]
mod review_screen;
mod run_budgets;
mod run_circles;
#[cfg(target_os = "linux")]
mod run_deaths;
#[cfg(target_os = "linux")]
mod run_kills;
mod run_loop;
#[cfg(target_os = "linux")]
mod run_world;
mod scan;
mod schema;
mod servers;
mod session_damage;
mod session_disk;
mod session_escape;
mod session_exits;
mod session_flips;
mod session_index;
mod session_input;
mod session_kills;
mod session_model;
mod session_pause;
mod session_races;
mod sheets;
#[cfg(target_os = "linux")]
mod status_watch;
mod telling;
mod world_dns;
mod world_http;

/// A file that is not a module here would hold tests that never run.
#[test]
fn every_file_of_tests_is_listed() {
    use std::collections::BTreeSet;
    use std::path::Path;

    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let entries = std::fs::read_dir(tests).expect("the tests' directory");
    let files: BTreeSet<String> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter_map(|path| {
            let is_module = path.is_dir() && path.join("mod.rs").exists();
            let is_file = path.extension().is_some_and(|extension| extension == "rs");
            let name = path.file_stem()?.to_str()?.to_owned();
            ((is_module || is_file) && name != "runner").then_some(name)
        })
        .collect();
    let listed: BTreeSet<String> = include_str!("runner.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect();
    assert_eq!(listed, files);
}
