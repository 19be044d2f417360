//! The budgets of `comail run`.

use clap::Args;

use crate::run::limits::{
    Diminishing, Limits, Money, OfQuest, OfRun, Percent, Period, Times, Tokens,
};

/// How much a run may use up.
#[derive(Debug, Args)]
#[command(next_help_heading = "Budgets; at the end of one the agent gets a last call on top")]
pub struct BudgetArgs {
    /// The most starts of the agent for one quest [default: 30]
    #[arg(long, value_name = "N")]
    max_attempts: Option<Times>,

    /// The most starts of the agent in all
    #[arg(long, value_name = "N")]
    max_attempts_total: Option<Times>,

    /// The most quests that are taken up
    #[arg(long, value_name = "N")]
    max_quests: Option<Times>,

    /// The longest that the run takes
    #[arg(long, value_name = "TIME")]
    wall_clock: Option<Period>,

    /// The longest that the agent works for one quest, in all its starts [default: 10m]
    #[arg(long, value_name = "TIME")]
    quest_timeout: Option<Period>,

    /// The most tokens for one quest; what the agent does not tell is estimated [default: 100000]
    #[arg(long, value_name = "N")]
    max_tokens: Option<Tokens>,

    /// The most tokens in all
    #[arg(long, value_name = "N")]
    max_tokens_total: Option<Tokens>,

    /// The most US dollars in all; what the agent does not tell is estimated from its tokens
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<Money>,

    /// The most US dollars for one quest
    #[arg(long, value_name = "DOLLARS")]
    max_quest_cost: Option<Money>,

    /// What a million tokens are taken to cost where the agent tells no price [default: 15.00]
    #[arg(long, value_name = "DOLLARS")]
    token_price: Option<Money>,

    /// The share of a quest's tokens after which going on is not worth it [default: 90%]
    #[arg(long, value_name = "SHARE")]
    diminishing_share: Option<Percent>,

    /// How many turns in a row may bring little [default: 3]
    #[arg(long, value_name = "N")]
    diminishing_turns: Option<Times>,

    /// A turn with fewer new tokens brings little [default: 500]
    #[arg(long, value_name = "N")]
    diminishing_tokens: Option<Tokens>,
}

impl BudgetArgs {
    /// The limits that these are.
    pub(super) fn limits(&self) -> Limits {
        let usual = Limits::default();
        let (quest, soft) = (usual.quest, usual.diminishing);
        Limits {
            quest: OfQuest {
                starts: self.max_attempts.unwrap_or(quest.starts),
                tokens: self.max_tokens.unwrap_or(quest.tokens),
                time: self.quest_timeout.unwrap_or(quest.time),
                cost: self.max_quest_cost.or(quest.cost),
            },
            run: OfRun {
                starts: self.max_attempts_total,
                quests: self.max_quests,
                tokens: self.max_tokens_total,
                time: self.wall_clock,
                cost: self.max_cost,
            },
            diminishing: Diminishing {
                share: self.diminishing_share.unwrap_or(soft.share),
                turns: self.diminishing_turns.unwrap_or(soft.turns),
                new_tokens: self.diminishing_tokens.unwrap_or(soft.new_tokens),
            },
            price: self.token_price.unwrap_or(usual.price),
        }
    }
}
