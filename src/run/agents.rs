//! The agents of a run, and which of them works on a quest.

use std::iter;

use clap::ValueEnum;

use crate::base::text::plural;
use crate::quest::file::{AgentTable, Mistake, Placed, QuestFile, unknown_name};
use crate::run::agent::{
    AgentCommand, AgentEnd, BadCommandLine, CommandLine, Given, Preset, ProviderError,
    command_line, end_of,
};
use crate::world::sandbox::Grants;

const MAX_LAST_WORDS: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Answers {
    /// The agent calls `comail submit`
    Submit,
    /// The last JSON object that the agent prints is its submission
    Stdout,
    /// The agent's work is judged, for kinds without fields to submit; an agent that ends by itself
    /// is judged too, which may use a try
    World,
}

/// Whether agents are confined, and the means or the reason against it.
#[derive(Debug, Clone, Default)]
pub struct Confinement {
    pub grants: Option<Grants>,
    pub confined: bool,
    pub means: String,
}

/// An agent of a run, and how it works.
#[derive(Debug, Clone)]
pub struct PlannedAgent {
    pub command: AgentCommand,
    pub model: Option<String>,
    /// After how many FAILs of a quest it takes over.
    pub after: u32,
    pub answers: Answers,
    pub resume: bool,
    pub confinement: Confinement,
}

impl PlannedAgent {
    pub fn new(command: AgentCommand, model: Option<String>) -> Self {
        Self {
            command,
            model,
            after: 0,
            answers: Answers::Submit,
            resume: false,
            confinement: Confinement::default(),
        }
    }

    /// Its name, with its model.
    pub fn title(&self) -> String {
        let name = self.command.name();
        match &self.model {
            Some(model) => format!("{name} with {model}"),
            None => name,
        }
    }

    /// Its command line, with words in place of the prompt.
    pub fn example_line(&self) -> Result<CommandLine, BadCommandLine> {
        let given = Given {
            prompt: "PROMPT",
            prompt_file: Some("PROMPT_FILE".as_ref()),
            model: self.model.as_deref(),
            conversation: None,
        };
        command_line(&self.command, &given)
    }

    /// A note about the last of so many fruitless starts, and a hint for the person.
    pub(super) fn why_fruitless(
        &self,
        starts: u32,
        end: &AgentEnd,
        unjudged: Option<&str>,
    ) -> (String, String) {
        let starts = plural(starts, "start");
        let words: Vec<&str> = end.tail.split_whitespace().collect();
        let words = words.join(" ");
        let last = match end_of(&words, MAX_LAST_WORDS).trim_start() {
            "" => "printed nothing".to_owned(),
            words => format!("ended with: {words}"),
        };
        let name = self.command.name();
        // A custom agent may not need a login.
        let check = match &self.command {
            AgentCommand::Preset(..) => format!("check that {name} is logged in and"),
            AgentCommand::Custom(_) => format!("check the command line of {name}, and that it"),
        };
        let hint = match (end.provider, self.answers, self.command.missing_flags()) {
            (Some(ProviderError::NotLoggedIn), ..) => {
                format!("log in to {name}, or set its API key")
            }
            (_, Answers::Submit, Some(flags)) => {
                format!("check that {name} is logged in, and allow it to run comail: -- {flags}")
            }
            (_, Answers::Submit, None) => {
                format!("{check} may run `comail submit`, or use --answer stdout")
            }
            (_, Answers::Stdout, _) => match unjudged {
                Some(why) if end.answer.is_some() || end.bad_answer.is_some() => {
                    format!("check the JSON object that {name} prints: {why}")
                }
                _ => format!("{check} prints its answer as a JSON object at the end"),
            },
            (_, Answers::World, _) => match self.command.missing_edit_flags() {
                Some(flags) => format!("{check} may change files: -- {flags}"),
                None => format!("{check} may change files"),
            },
        };
        let text = format!("{starts} in a row brought no submission; the last one {last}");
        (text, hint)
    }
}

/// The agents of a run, in the order in which they take over from each other.
#[derive(Debug, Clone)]
pub struct Agents {
    pub first: PlannedAgent,
    pub then: Vec<PlannedAgent>,
}

impl Agents {
    pub fn one(agent: PlannedAgent) -> Self {
        Self {
            first: agent,
            then: Vec::new(),
        }
    }

    /// The agents that a quest file names, for quests with so many `tries`; `None` if it names none.
    pub fn of_file(file: &QuestFile<'_>, tries: u32) -> Result<Option<Self>, Mistake> {
        let mut agents = Vec::new();
        for Placed { table, raw } in &file.agents {
            let last = agents.last().map(|last: &PlannedAgent| last.after);
            let agent = planned(table, last, tries).map_err(|(key, what)| {
                let spot = raw.spot_of(key);
                Mistake::at(file.text(), &spot, what)
            })?;
            agents.push(agent);
        }
        let mut agents = agents.into_iter();
        Ok(agents.next().map(|first| Self {
            first,
            then: agents.collect(),
        }))
    }

    /// Whether all are confined, and what confines them, or why nothing does.
    pub fn confinement(&self) -> (bool, String) {
        let mut means = self.first.confinement.means.clone();
        for agent in &self.then {
            if agent.confinement.means != self.first.confinement.means {
                let (name, own) = (agent.command.name(), &agent.confinement.means);
                means = format!("{means}; {name}: {own}");
            }
        }
        (self.all().all(|agent| agent.confinement.confined), means)
    }

    pub fn all(&self) -> impl Iterator<Item = &PlannedAgent> {
        iter::once(&self.first).chain(&self.then)
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut PlannedAgent> {
        iter::once(&mut self.first).chain(&mut self.then)
    }
}

/// The agent for a quest with so many FAILs.
pub fn agent_for(fails: u32, agents: &Agents) -> &PlannedAgent {
    let then = agents.then.iter().rfind(|agent| agent.after <= fails);
    then.unwrap_or(&agents.first)
}

// The agent would read a leading dash as an option.
pub fn model(name: &str) -> Result<String, &'static str> {
    if name.starts_with('-') || name.trim().is_empty() {
        return Err("the name of a model cannot begin with a dash");
    }
    Ok(name.to_owned())
}

/// The agent of a quest file; `last` is the number of FAILs of the agent before it. A mistake comes
/// with its key.
fn planned(
    table: &AgentTable,
    last: Option<u32>,
    tries: u32,
) -> Result<PlannedAgent, (&'static str, String)> {
    let args = table.args.iter().map(Into::into).collect();
    let command = match &table.agent {
        Some(name) => {
            let preset = Preset::named(name).ok_or_else(|| {
                let known = Preset::ALL.map(|preset| preset.name);
                ("agent", unknown_name("agent", name, &known))
            })?;
            AgentCommand::Preset(preset, args)
        }
        None => AgentCommand::Custom(args),
    };
    let named = table.model.as_deref().map(model).transpose();
    let agent = PlannedAgent {
        after: takes_over(table.after, last, tries).map_err(|what| ("after", what))?,
        ..PlannedAgent::new(command, named.map_err(|what| ("model", what.to_owned()))?)
    };
    match agent.example_line() {
        Ok(_) => Ok(agent),
        Err(BadCommandLine::Empty) => {
            let what = "name an `agent`, or write its command line in `args`";
            Err(("args", what.to_owned()))
        }
        Err(wrong) => Err(("args", wrong.to_string())),
    }
}

fn takes_over(after: Option<u32>, last: Option<u32>, tries: u32) -> Result<u32, String> {
    match (after, last) {
        (None, None) => Ok(0),
        (Some(_), None) => Err("the first agent begins each quest: remove `after`".to_owned()),
        (None, Some(_)) => Err("say `after` how many FAILs of a quest it takes over".to_owned()),
        (Some(after), Some(last)) if after <= last => Err(format!("expected more than {last}")),
        (Some(after), Some(_)) if after >= tries => Err(format!(
            "expected fewer than {tries}, the tries of a quest: it would never take over"
        )),
        (Some(after), Some(_)) => Ok(after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    /// What a file with these agents says, for quests with four tries.
    fn read(agents: &str) -> Result<Option<Agents>, String> {
        let text = format!(
            "name = \"a\"\nunit = \"b\"\nprompt = {{ text = \"c\" }}\n[run]\nagents = {agents}\n"
        );
        let file = QuestFile::parse(&text).unwrap();
        Agents::of_file(&file, 4).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn the_last_agent_whose_fails_are_reached_works_on_a_quest() {
        let agents = read(
            "[{ agent = 'claude', model = 'm' }, { agent = 'codex', after = 2 }, \
             { args = ['./own'], after = 3 }]",
        );
        let agents = agents.unwrap().unwrap();
        for (fails, name) in rows! {
            0 => "claude";
            1 => "claude";
            2 => "codex";
            3 => "own";
            9 => "own";
        } {
            assert_eq!(agent_for(fails, &agents).command.name(), name, "{fails}");
        }
        assert_eq!(agents.first.model.as_deref(), Some("m"));
        assert!(read("[]").unwrap().is_none());
    }

    #[test]
    fn refuses_agents_that_cannot_take_over_or_start() {
        for (agents, said) in rows! {
            "[{ agent = 'claude', after = 1 }]" => "5:39: the first agent begins each quest";
            "[{ agent = 'claude' }, { agent = 'codex' }]" => "say `after` how many FAILs";
            "[{ agent = 'claude' }, { agent = 'codex', after = 0 }]" => "expected more than 0";
            "[{ agent = 'claude' }, { agent = 'codex', after = 2 }, { agent = 'qwen', after = 2 }]"
                => "expected more than 2";
            "[{ agent = 'claude' }, { agent = 'codex', after = 4 }]" => "expected fewer than 4, the tries";
            "[{ agent = 'claud' }]" => "did you mean `claude`?";
            "[{ model = 'm' }]" => "name an `agent`, or write its command line in `args`";
            "[{ agent = 'claude', model = '-m' }]" => "cannot begin with a dash";
            "[{ agent = 'amp', model = 'm' }]" => "amp has no option for the model";
            "[{ args = ['./own', '{model}'] }]" => "contains {model}";
        } {
            let found = read(agents).expect_err(agents);
            assert!(found.contains(said), "{agents}: {found}");
        }
    }
}
