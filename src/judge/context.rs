//! Judges the answers of a session, and runs the operator's fixer.

use std::collections::BTreeSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::base::Digest;
use crate::base::clock::Clock;
use crate::gate::checks::FileGate;
use crate::gate::{Case, Fact, Gate as _, Judgement, Level};
use crate::judge::accepted::stored_changes;
use crate::judge::branch::{Branch, Commits};
use crate::judge::error::JudgeError;
use crate::judge::forgotten::redacted;
use crate::judge::kind::{JudgeWorld, SessionKind, gate_settings};
use crate::judge::passes::{passes, sentence};
use crate::judge::quest_file::FixerPlan;
use crate::judge::recorded::NothingAccepted;
use crate::judge::submit::{Answer, AnswerFiles, Judged, recorded, submit};
use crate::judge::union::{self, Laid, Source};
use crate::quest::file::NegativeTable;
use crate::quest::{Fields, Key, Quest, QuestId, Submission, Verdict};
use crate::session::{Event, Fix, Fixed, Session, State};
use crate::world::World;
use crate::world::fetch::live::SharedWorld;
use crate::world::sandbox::{
    Alteration, CommandResult, CommandSpec, Edit, End, SandboxConfig, run_in_tree,
};
use crate::world::tree::TreePath;

/// Everything that judges a session: its quest kind, the network and the sandbox.
pub struct JudgeContext {
    pub kind: SessionKind,
    pub world: JudgeWorld,
}

#[derive(Debug)]
pub struct SubmitResult {
    pub judged: Judged,
    pub fixes: Vec<Fix>,
    pub origin: JudgementOrigin,
    /// Why the branch lacks what the answer adds to the accepted tree.
    pub not_on_branch: Option<JudgeError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgementOrigin {
    ThisCall,
    /// An earlier call with the same idempotency key.
    EarlierCall,
}

const MAX_SHOWN: usize = 500;

/// How often an answer is judged again because the accepted tree changed meanwhile.
const MAX_MOVES: u32 = 5;

impl JudgeContext {
    /// Loads what the session froze.
    pub fn of(session: &Session) -> Result<Self, JudgeError> {
        Self::sharing(&SharedWorld::default(), session)
    }

    /// The same with the network of other judgements.
    pub fn sharing(shared: &SharedWorld, session: &Session) -> Result<Self, JudgeError> {
        let kind = SessionKind::load(session.manifest())?;
        let world = JudgeWorld::sharing(shared, session, &kind)?;
        Ok(Self { kind, world })
    }

    /// Whether the quests are about files in a tree.
    pub fn has_tree(&self) -> bool {
        let config = self.world.sandbox_config();
        config.is_some_and(|config| config.root.is_some())
    }

    /// The digest of what an agent has written in the zones of the tree, or of its worktree; `None`
    /// without a tree.
    pub fn written(&self, worktree: Option<&Path>) -> Option<Digest> {
        self.world.tree_digest(worktree).ok().flatten()
    }

    /// Judges an answer and records the judgement. A repeated call with the same idempotency key returns
    /// the recorded judgement. If only rules of the kind's fixer fail, the fixer runs and the answer is
    /// judged again.
    ///
    /// Each judgement is an attempt: a FAIL uses a try, and a settled quest is not fixed. A fixer's run
    /// is no attempt, but the ledger records how it ended.
    pub fn submit(
        &self,
        session: &mut Session,
        answer: Answer<'_>,
        clock: &mut dyn Clock,
    ) -> Result<SubmitResult, JudgeError> {
        // Before the gate runs, `Submitted::machine` replaces it with the session's index.
        let nothing = NothingAccepted;
        let answer = Answer {
            files: match self.world.received() {
                Some(received) => AnswerFiles::Received(received),
                None => answer.files,
            },
            ..answer
        };
        let submit = |session: &mut Session, answer: Answer<'_>, clock: &mut dyn Clock| {
            let once = |session: &mut Session, clock: &mut dyn Clock| {
                let Some(laid) = self.laid(session, &answer)? else {
                    return self.world.lend(&nothing, |world| {
                        submit(session, answer, &self.kind, world, clock)
                    })?;
                };
                let answer = Answer {
                    files: AnswerFiles::Laid(&laid),
                    ..answer
                };
                self.world.lend_over(&laid.look, &nothing, |world| {
                    submit(session, answer, &self.kind, world, clock)
                })?
            };
            let mut judged = once(session, clock);
            for _ in 0..MAX_MOVES {
                if !matches!(judged, Err(JudgeError::TreeMoved)) {
                    break;
                }
                judged = once(session, clock);
            }
            judged
        };
        let recorded = |session: &Session| {
            let Some(key) = answer.key.get() else {
                return Ok(None);
            };
            let recorded = self.world.lend(&nothing, |world| {
                recorded(session, &answer, key, &self.kind, world.sandbox)
            })??;
            let repeated = |judged| SubmitResult {
                judged,
                fixes: Vec::new(),
                origin: JudgementOrigin::EarlierCall,
                not_on_branch: None,
            };
            Ok::<_, JudgeError>(recorded.map(repeated))
        };
        if let Some(repeated) = recorded(session)? {
            return Ok(repeated);
        }
        let before = session.totals().accepted;
        let mut judged = match submit(session, answer, clock) {
            // The same call may have been made twice concurrently.
            Err(JudgeError::Refused(refusal)) => {
                return recorded(session)?.ok_or_else(|| refusal.into());
            }
            judged => judged?,
        };
        let mut fixes = Vec::new();
        // A fixer repairs the working tree, which does not contain files that a client sent.
        let plan = self.kind.fixer.as_ref();
        let plan = plan.filter(|_| matches!(answer.files, AnswerFiles::WorkingTree));
        if let (Some(plan), Some(config)) = (plan, self.world.sandbox_config()) {
            while fixes.len() < plan.max_fixes as usize && is_fixable(&judged, plan) {
                let fix = self.fix(session, answer.quest, (plan, config), &judged.judgement)?;
                let changed = fix == Fix::Changed;
                fixes.push(fix.clone());
                // The first judgement is in the ledger, so it is reported even if this fails.
                let answer = Answer {
                    key: answer.key.again(),
                    ..answer
                };
                let again = record(session, (answer.quest, judged.attempt, fix), clock)
                    .and_then(|()| changed.then(|| submit(session, answer, clock)).transpose());
                match again {
                    Ok(Some(again)) => judged = again,
                    Ok(None) => break,
                    Err(error) => {
                        let why = format!("the submission could not be judged again: {error}");
                        fixes.push(Fix::Failed { why });
                        break;
                    }
                }
            }
        }
        let is_accepted = session.totals().accepted != before;
        let made = is_accepted.then(|| add_to_branch(session));
        let not_on_branch = made.and_then(Result::err);
        Ok(SubmitResult {
            judged,
            fixes,
            origin: JudgementOrigin::ThisCall,
            not_on_branch,
        })
    }

    /// The answer's files over the accepted tree; `None` without worktrees.
    fn laid(&self, session: &Session, answer: &Answer<'_>) -> Result<Option<Laid>, JudgeError> {
        let Some(config) = self
            .world
            .sandbox_config()
            .filter(|_| self.kind.has_worktrees())
        else {
            return Ok(None);
        };
        let source = match (answer.files, self.world.patch()) {
            _ if matches!(answer.submission, Submission::None(_)) => return Ok(None),
            (AnswerFiles::Worktree(worktree), _) => Source::Worktree(worktree),
            (_, Some(patch)) => Source::Patch(patch),
            (_, None) => return Err(JudgeError::NeedsWorktree),
        };
        union::lay(session, config, answer.quest, source).map(Some)
    }

    fn fix(
        &self,
        session: &Session,
        quest: QuestId,
        (plan, config): (&FixerPlan, &SandboxConfig),
        judgement: &Judgement,
    ) -> Result<Fix, JudgeError> {
        let Some(record) = session.quest_record(quest)? else {
            return Ok(Fix::ChangedNothing);
        };
        let quest = session.reader()?.quest(&record)?;
        let cells = self.kind.quest.columns.iter().map(|column| {
            let text = quest.cell(column).unwrap_or_default();
            (column.clone(), json!(text))
        });
        let input: serde_json::Map<_, _> = cells.collect();
        let quest = json!({"id": quest.id, "key": quest.key, "input": input});
        let order = CommandSpec {
            stdin: json!({"quest": quest, "facts": judgement.facts}).to_string(),
            ..plan.order.clone()
        };
        let before = match self.world.tree_digest(None) {
            Ok(before) => before,
            Err(error) => return Ok(failed(error.to_string())),
        };
        let failure = match run_in_tree(config, &order) {
            Ok(ran) => failure(&order, &ran),
            Err(why) => Some(why),
        };
        Ok(match (failure, self.world.tree_digest(None)) {
            (Some(why), _) => failed(why),
            (None, Err(error)) => failed(error.to_string()),
            (None, Ok(after)) if after == before => Fix::ChangedNothing,
            (None, Ok(_)) => Fix::Changed,
        })
    }
}

/// What is accepted counts, whatever becomes of the branch.
fn add_to_branch(session: &Session) -> Result<(), JudgeError> {
    let made = Branch::of(session).and_then(|branch| match branch {
        Some(branch) => branch.make(session, Commits::Missing),
        None => Ok(()),
    });
    made.inspect_err(|why| tracing::warn!(%why, "the branch is behind"))
}

fn failed(why: String) -> Fix {
    Fix::Failed { why }
}

/// Records how a run of the fixer ended, without forgotten addresses.
fn record(
    session: &mut Session,
    (quest, attempt, fix): (QuestId, u32, Fix),
    clock: &mut dyn Clock,
) -> Result<(), JudgeError> {
    session.append(clock, |session, _| {
        let fix = match fix {
            Fix::Failed { why } => {
                let masked = redacted(&session.forgetting(), &why);
                failed(masked.unwrap_or(why))
            }
            other => other,
        };
        let fixed = Fixed {
            quest,
            attempt,
            fix,
        };
        Ok((vec![Event::Fixed(fixed)], ()))
    })
}

/// Whether the quest is still open, and only rules of the fixer keep it from passing.
fn is_fixable(judged: &Judged, plan: &FixerPlan) -> bool {
    let open = judged.state == State::Todo && judged.judgement.verdict == Verdict::Fail;
    open && is_for_fixer(plan, &judged.judgement)
}

fn is_for_fixer(plan: &FixerPlan, judgement: &Judgement) -> bool {
    let mut facts = judgement.facts.iter();
    facts.all(|fact| fact.level == Level::Review || plan.rules.contains(fact.rule.as_str()))
}

/// Why the fixer's work is not used; `None` if it succeeded.
fn failure(order: &CommandSpec, ran: &CommandResult) -> Option<String> {
    let how = match &ran.end {
        End::Exited(0) => return None,
        End::Exited(code) => format!("it ended with {code}"),
        End::Signalled(signal) => format!("it was ended by signal {signal}"),
        End::TimedOut => format!("it was still running after {} ms", order.timeout_ms),
        End::TooMuchOutput => format!("it printed more than {} bytes", order.output_bytes),
        End::NotStarted(why) => format!("it cannot be started: {why}"),
        End::Withheld(why) => why.clone(),
    };
    let printed = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
    let skipped = printed.chars().count().saturating_sub(MAX_SHOWN);
    let tail: String = printed.chars().skip(skipped).collect();
    Some(match tail.as_str() {
        "" => how,
        tail => format!("{how}: {tail}"),
    })
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FinalResult {
    pub word: FinalWord,
    /// What it found, or why it did not run.
    pub details: Vec<String>,
    /// The quests that a failure suspects, in order.
    pub suspects: Vec<QuestId>,
}

/// What the checks over the whole result said, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FinalWord {
    /// There are none.
    #[default]
    None,
    /// They passed, with no negative control.
    Passed,
    /// They passed, and the negative control failed as it must.
    Proven,
    Refused,
    Unjudged,
}

impl FinalResult {
    pub fn unjudged(why: impl Into<String>) -> Self {
        Self {
            word: FinalWord::Unjudged,
            details: vec![why.into()],
            suspects: Vec::new(),
        }
    }

    fn of(word: FinalWord) -> Self {
        Self {
            word,
            details: Vec::new(),
            suspects: Vec::new(),
        }
    }
}

impl JudgeContext {
    pub fn has_final_gate(&self) -> bool {
        self.kind.has_final
    }

    /// Judges the whole result of a session with the current tree.
    ///
    /// With a negative control, the result is judged again with that deliberate defect, and must fail:
    /// a gate that passes a known defect proves nothing.
    pub fn final_gate(&self, session: &Session) -> Result<FinalResult, JudgeError> {
        let Some(definition) = &self.kind.definition else {
            return Ok(FinalResult::default());
        };
        let file = definition.file()?;
        let settings = gate_settings(session.manifest())?;
        let gate = FileGate::of_final(&file, &definition.gathered, settings);
        let gate = gate.map_err(|mistake| definition.faulty(mistake))?;
        let (Some(gate), Some(part)) = (gate, &file.final_part) else {
            return Ok(FinalResult::default());
        };
        let quest = quest_of_all(&self.kind.quest.name)?;
        let submission = Submission::Fields(Fields::new());
        let case = Case::new(&quest, &submission);
        let judged = |altered| {
            let nothing = NothingAccepted;
            let judge = |world: World<'_>| gate.judge(case, &world);
            self.world.lend_altered(&nothing, altered, judge)
        };
        let judgement = judged(Alteration::default())?;
        if judgement.verdict != Verdict::Pass {
            return Ok(FinalResult {
                word: FinalWord::Refused,
                details: judgement.facts.iter().map(sentence).collect(),
                suspects: suspects(session, &judgement.facts)?,
            });
        }
        let Some(negative) = &part.negative else {
            return Ok(FinalResult::of(FinalWord::Passed));
        };
        let judgement = judged(alteration(negative)?)?;
        let fires = negative.fires.as_deref();
        let fits = fires.is_none_or(|rules| fires_exactly(&judgement, rules));
        if judgement.verdict == Verdict::Fail && fits {
            return Ok(FinalResult::of(FinalWord::Proven));
        }
        let what = format!(
            "its negative control, which is wrong on purpose, did not fail as it should: it is {}",
            judgement.verdict
        );
        let facts = judgement.facts.iter().map(sentence);
        Ok(FinalResult {
            word: FinalWord::Refused,
            details: std::iter::once(what).chain(facts).collect(),
            suspects: Vec::new(),
        })
    }
}

/// The quests whose PASS saw or changed a file that one of these facts names.
fn suspects(session: &Session, facts: &[Fact]) -> Result<Vec<QuestId>, JudgeError> {
    let is_named = |file: &TreePath| facts.iter().any(|fact| names(fact, file));
    let saw = passes(session, &|evidence| evidence.files().any(is_named))?;
    let mut suspects = BTreeSet::from_iter(saw);
    for (_, change) in stored_changes(session) {
        let record = session.quest_record(change.quest)?;
        let passed = record.is_some_and(|it| it.progress.state == State::Pass);
        if passed && change.patch.paths().any(is_named) {
            suspects.insert(change.quest);
        }
    }
    Ok(suspects.into_iter().collect())
}

/// Whether a fact has the path of this file, as a path of its own.
fn names(fact: &Fact, file: &TreePath) -> bool {
    let texts = [
        fact.location.as_deref(),
        Some(&*fact.expected),
        Some(&*fact.actual),
    ];
    let is_of_path = |c: char| c.is_alphanumeric() || "_-/".contains(c);
    texts.into_iter().flatten().any(|text| {
        text.match_indices(file.as_str()).any(|(at, found)| {
            let before = text[..at].trim_end_matches("./");
            let after = &text[at + found.len()..];
            !before.ends_with(is_of_path) && !after.starts_with(is_of_path)
        })
    })
}

/// A placeholder, because the final gate is about all quests.
fn quest_of_all(kind: &str) -> Result<Quest, JudgeError> {
    let key = Key::new(kind).map_err(|_| JudgeError::UnknownKind(kind.to_owned()))?;
    Ok(Quest::new(QuestId::FIRST, key))
}

pub(super) fn alteration(negative: &NegativeTable) -> Result<Alteration, JudgeError> {
    let files = negative.files.iter().map(|(path, text)| Edit {
        path: path.clone(),
        text: text.clone(),
    });
    let removed = negative.remove.iter().map(|path| TreePath::parse(path));
    let removed = removed.collect::<Result<_, _>>();
    Ok(Alteration {
        files: files.collect(),
        removed: removed.map_err(|bad| JudgeError::Sandbox(bad.to_string()))?,
    })
}

/// Whether these rules fired, and no others.
pub(super) fn fires_exactly(judgement: &Judgement, rules: &[String]) -> bool {
    let fired: BTreeSet<&str> = judgement.facts.iter().map(|it| it.rule.as_str()).collect();
    let rules: BTreeSet<&str> = rules.iter().map(String::as_str).collect();
    rules == fired
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::base::rows;
    use crate::gate::{Fact, RuleId};
    use crate::world::sandbox::Confinement;

    #[test]
    fn a_fact_names_a_file_by_its_whole_path() {
        let file = TreePath::parse("src/a.rs").unwrap();
        for (text, expected) in rows! {
            "src/a.rs:3: no such name" => true;
            "at ./src/a.rs" => true;
            "error in `src/a.rs`" => true;
            "my/src/a.rs" => false;
            "src/a.rs/x" => false;
            "src/a.rsx" => false;
            "a.rs" => false;
        } {
            assert_eq!(names(&Fact::wrong("", text), &file), expected, "{text}");
        }
    }

    fn plan() -> FixerPlan {
        FixerPlan {
            order: CommandSpec {
                timeout_ms: 7,
                output_bytes: 9,
                ..CommandSpec::default()
            },
            max_fixes: 3,
            rules: ["tidy".to_owned()].into(),
        }
    }

    fn judged(facts: &[(&'static str, Level)]) -> Judgement {
        let facts = facts.iter().map(|(rule, level)| Fact {
            rule: RuleId::known(rule),
            level: *level,
            ..Fact::wrong("", "")
        });
        Judgement::from_facts(facts.collect(), Vec::new())
    }

    #[test]
    fn a_fixer_runs_only_for_rules_of_its_checks() {
        use Level::{Fail, Review};
        for (facts, expected) in [
            (&[("tidy", Fail)][..], true),
            (&[("tidy", Fail), ("links-unconfirmed", Review)], true),
            (&[("tidy", Fail), ("links", Fail)], false),
            (&[("no-result", Fail)], false),
        ] {
            assert_eq!(is_for_fixer(&plan(), &judged(facts)), expected, "{facts:?}");
        }
    }

    #[test]
    fn uses_a_fixers_work_only_after_exit_code_zero() {
        let of = |end, stderr: &str| {
            let ran = CommandResult {
                end,
                stdout: Vec::new(),
                stderr: stderr.into(),
                reports: BTreeMap::new(),
                confinement: Confinement::default(),
                millis: 0,
                left_out: Vec::new(),
            };
            failure(&plan().order, &ran)
        };
        assert_eq!(of(End::Exited(0), "warning"), None);
        assert_eq!(of(End::Exited(3), " no\n").unwrap(), "it ended with 3: no");
        let long = of(End::Exited(1), &"가".repeat(9_000)).unwrap();
        assert_eq!(long.chars().filter(|c| *c == '가').count(), MAX_SHOWN);
        for end in [
            End::Signalled(9),
            End::TimedOut,
            End::TooMuchOutput,
            End::NotStarted("no".to_owned()),
        ] {
            assert!(of(end.clone(), "").is_some(), "{end:?}");
        }
    }
}
