//! Every document, in the order in which they are listed: a line for each form of a command.
//!
//! The place is the command as it is typed, with the flags that make it print this form.

use super::document::Document;
use super::{Listed, Written};
use crate::cli::agent_block::AgentBlock;
#[cfg(unix)]
use crate::cli::run;
use crate::cli::{
    audit_report, claims, completions, config, demo, dispute, doctor, export, forget, help, hook,
    man, next, quest, recheck, release, resume, review, rules, scan_summary, submit,
};
use crate::hook::{Ruled, StopReply};
use crate::judge::panel::Calibration;
use crate::judge::prove::Proof;
use crate::report::run::Report;
use crate::report::{Insights, Status};
use crate::review::{Item, Queue};
use crate::session::{Line, Manifest};

/// Every document that has a schema.
pub const DOCUMENTS: &[Document] = &[
    Document::printed::<scan_summary::Scanned>("scan", "scan"),
    #[cfg(unix)]
    Document::lines::<run::RunTells<'static>>("run", "run"),
    #[cfg(unix)]
    Document::printed::<run::DryRun>("run-dry", "run --dry-run"),
    Document::printed::<next::Answer>("next", "next"),
    Document::printed::<submit::Answer>("submit", "submit"),
    Document::submission("submission", "submit --in"),
    Document::printed::<Status>("status", "status"),
    Document::lines::<Status>("status-watch", "status --watch"),
    Document::printed::<export::Exported>("export", "export"),
    Document::printed::<audit_report::Report>("audit", "audit"),
    Document::printed::<recheck::Report>("recheck", "recheck"),
    Document::printed::<Report>("report", "report"),
    Document::printed::<rules::Catalogue>("rules", "rules"),
    Document::printed::<quest::Checked>("quest-check", "quest check"),
    Document::printed::<quest::Written>("quest-new", "quest new"),
    Document::quest_file("quest", "scan --quest"),
    Document::printed::<Proof>("prove", "prove"),
    Document::printed::<Calibration>("prove-reviewers", "prove --reviewers"),
    Document::printed::<resume::Answer>("resume", "resume"),
    Document::printed::<Queue>("review", "review"),
    Document::printed::<Item>("review-show", "review show"),
    Document::printed::<review::settle::Answer<'static>>("review-accept", "review accept"),
    Document::printed::<review::settle::Answer<'static>>("review-reject", "review reject"),
    Document::printed::<review::settle::Answer<'static>>("review-reopen", "review reopen"),
    Document::printed::<review::export::Exported>("review-export", "review --export"),
    Document::printed::<review::import::Answer<'static>>("review-import", "review --import"),
    Document::printed::<dispute::Answer>("dispute", "dispute"),
    Document::printed::<forget::Answer>("forget", "forget"),
    Document::printed::<claims::Listed>("claims", "claims"),
    Document::printed::<release::Answer>("release", "release"),
    Document::lines::<Line<'static>>("log", "log"),
    Document::printed::<Insights>("insights", "insights"),
    Document::printed::<StopReply>("hook-stop", "hook stop"),
    Document::printed::<Ruled>("hook-tool", "hook tool"),
    Document::printed::<hook::install::Installed>("hook-install", "hook install"),
    Document::printed::<config::Configuration>("config", "config"),
    Document::printed::<config::Example>("config-example", "config --example"),
    Document::printed::<doctor::Told>("doctor", "doctor"),
    Document::printed::<demo::Played>("demo", "demo"),
    Document::printed::<AgentBlock>("prompt", "prompt"),
    Document::printed::<help::Told>("help", "help"),
    Document::printed::<completions::Script>("completions", "completions"),
    Document::printed::<man::Told>("man", "man"),
    Document::printed::<Listed>("schema", "schema"),
    Document::printed::<Written>("schema-out", "schema --out"),
    Document::kept::<Manifest>("session", "session.json"),
];
