//! The one integration binary: every file of tests is a module of it.

#[cfg(target_os = "linux")]
mod agent_process;
#[cfg(unix)]
mod agents;
#[cfg(target_os = "linux")]
mod agents_at_once;
#[cfg(target_os = "linux")]
mod amendment;
mod arrows;
mod attack_page;
#[cfg(target_os = "linux")]
mod attack_quest;
mod attack_session;
mod attack_source;
mod audit;
#[cfg(target_os = "linux")]
mod branch;
#[cfg(target_os = "linux")]
mod browser_gate;
mod carry;
mod chat_protocol;
mod cheese_session;
mod claims;
#[cfg(target_os = "linux")]
mod command;
mod command_pinned;
mod command_service;
mod completions;
mod configuration;
mod corpus;
mod dependencies;
mod doctor;
mod escalation;
mod export;
#[cfg(target_os = "linux")]
mod first_use;
#[cfg(unix)]
mod fleet;
mod forged_report;
mod forget;
mod gate_catalogue;
mod gate_email;
mod gate_identity;
mod gate_pdf;
mod gate_replay;
mod gate_settings;
mod gate_source;
mod gate_world;
mod harness;
mod help;
mod hook;
#[cfg(unix)]
mod host_turns;
mod list;
mod log;
#[cfg(target_os = "linux")]
mod long_work;
mod mcp;
mod narrow;
#[cfg(target_os = "linux")]
mod no_network;
mod page;
#[cfg(target_os = "linux")]
mod panel;
#[cfg(target_os = "linux")]
mod panel_chat;
#[cfg(target_os = "linux")]
mod picture;
mod played;
mod programs;
mod prove_email;
mod quarters;
#[cfg(target_os = "linux")]
mod quest_attack;
#[cfg(target_os = "linux")]
mod quest_file;
#[cfg(target_os = "linux")]
mod quest_frozen;
#[cfg(target_os = "linux")]
mod quest_shipped;
mod readme;
mod real_pages;
mod recheck;
mod recorded_world;
mod report;
#[cfg(target_os = "linux")]
mod report_tree;
mod review;
#[cfg(target_os = "linux")]
mod review_forged;
mod review_office;
mod review_sample;
mod run;
#[cfg(target_os = "linux")]
mod run_deaths;
#[cfg(target_os = "linux")]
mod run_judge;
mod scan;
mod schema;
#[cfg(target_os = "linux")]
mod screens;
#[cfg(target_os = "linux")]
mod script;
mod serve;
mod serve_bounds;
mod serve_http;
mod serve_tls;
#[cfg(target_os = "linux")]
mod serve_tree;
mod servers;
mod session_damage;
mod session_disk;
mod session_index;
mod session_input;
mod session_model;
mod session_pause;
mod sheets;
#[cfg(target_os = "linux")]
mod tree_ignored;
#[cfg(target_os = "linux")]
mod tree_model;
#[cfg(target_os = "linux")]
mod until;
mod worktrees;
mod world;

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
