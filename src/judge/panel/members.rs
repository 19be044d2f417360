//! The reviewers of a panel, ready to be asked.

use std::collections::BTreeMap;

use crate::gate::checks::nobodys;
use crate::gate::checks::outside::Outside;
use crate::quest::Sight;
use crate::quest::file::{
    AnswerForm, Mistake, Panel, PanelTable, PlantTable, QuestionTable, RawTable, ReviewerKind,
    ReviewerNetwork, ReviewerTable,
};
use crate::world::sandbox::{ChatOrder, Network, Order};

use super::prompt::SYSTEM;

/// A panel whose reviewers can be asked.
#[derive(Debug, Clone)]
pub struct Members {
    pub(super) head: PanelTable,
    pub(super) questions: Vec<QuestionTable>,
    pub(super) plants: Vec<PlantTable>,
    pub(super) all: Vec<Member>,
}

#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) model: String,
    pub(super) form: AnswerForm,
    pub(super) sees: Vec<Sight>,
    pub(super) way: Way,
}

impl Member {
    /// Whether it sees anything that the agent has not written itself.
    pub(super) fn differs(&self) -> bool {
        self.sees.iter().any(Sight::differs)
    }
}

/// How a reviewer is asked; its prompt is still to come.
#[derive(Debug, Clone)]
pub(super) enum Way {
    Command(Box<Order>, u32),
    Chat(Box<ChatOrder>),
}

impl Members {
    pub fn new(panel: &Panel<'_>, outside: &dyn Outside) -> Result<Self, Mistake> {
        let members = panel.placed_reviewers().map(|(table, raw)| {
            let wrong =
                |(key, what): (&str, String)| Mistake::at(panel.text(), &raw.spot_of(key), what);
            let sees = sights(table, raw, panel)?;
            let way = match table.kind {
                ReviewerKind::Command => command(table, outside),
                ReviewerKind::Chat => Ok(chat(table)),
            };
            Ok(Member {
                name: table.name.clone(),
                model: table.model.clone(),
                form: table.answers,
                sees,
                way: way.map_err(wrong)?,
            })
        });
        Ok(Self {
            head: panel.head,
            questions: panel.questions.clone(),
            plants: panel.plants.clone(),
            all: members.collect::<Result<_, _>>()?,
        })
    }
}

fn sights(
    table: &ReviewerTable,
    raw: &RawTable<'_>,
    panel: &Panel<'_>,
) -> Result<Vec<Sight>, Mistake> {
    let sights = table.sees.iter().map(|name| {
        let wrong = |what: String| {
            let spot = raw.spot_of_text("sees", name);
            Mistake::at(panel.text(), &spot, what)
        };
        name.parse().map_err(|bad| wrong(format!("{bad}")))
    });
    sights.collect()
}

fn command(table: &ReviewerTable, outside: &dyn Outside) -> Result<Way, (&'static str, String)> {
    let Some((name, arguments)) = table.argv.split_first() else {
        return Err(("argv", String::from("it is empty: name a program")));
    };
    let pinned = outside.program(name);
    let pinned = pinned.map_err(|missing| ("argv", missing.to_string()))?;
    let Some(program) = pinned.path.to_str() else {
        return Err(("argv", format!("the path of `{name}` is not UTF-8")));
    };
    let mut env: BTreeMap<_, _> = nobodys().collect();
    if let Ok(path) = outside.variable("PATH") {
        let kept: Vec<_> = path.split(':').filter(|dir| dir.starts_with('/')).collect();
        env.insert(String::from("PATH"), kept.join(":"));
    }
    env.extend(table.env.clone());
    env.retain(|name, _| !table.pass.contains(name));
    let bad = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
    if let Some(name) = table.pass.iter().find(bad) {
        return Err(("pass", format!("{name:?} cannot name a variable")));
    }
    if let Some(name) = table.env.keys().find(bad) {
        return Err(("env", format!("{name:?} cannot name a variable")));
    }
    let order = Order {
        name: Order::name_of_reviewer(&table.name),
        argv: std::iter::once(program.to_owned())
            .chain(arguments.iter().cloned())
            .collect(),
        env,
        pass: table.pass.clone(),
        dir: String::new(),
        stdin: String::new(),
        timeout_ms: table.timeout.millis().into(),
        output_bytes: table.output.bytes(),
        writable: Vec::new(),
        network: match table.network.unwrap_or_default() {
            ReviewerNetwork::None => Network::None,
            ReviewerNetwork::Full => Network::Any,
        },
        reports: Vec::new(),
        edits: Vec::new(),
        round: 0,
    };
    Ok(Way::Command(Box::new(order), table.retries))
}

fn chat(table: &ReviewerTable) -> Way {
    Way::Chat(Box::new(ChatOrder {
        base_url: table.base_url.clone().unwrap_or_default(),
        model: table.model.clone(),
        key: table.key.clone(),
        system: SYSTEM.to_owned(),
        prompt: String::new(),
        timeout_ms: table.timeout.millis().into(),
        retries: table.retries,
        most_bytes: table.output.bytes(),
    }))
}
