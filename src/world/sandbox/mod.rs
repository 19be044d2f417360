//! The live, confined execution of commands, one [`Order`] at a time.
//!
//! [`run()`] starts this program again as a [`Launcher`] says, with a hidden first argument; that
//! child ([`confined`]) puts itself into namespaces, restricts a thread of its own by Landlock,
//! starts the ordered program from it, and tells how it ended. A [`Service`] is the same with
//! nobody waiting for its end. [`Pinned`] is a program that must stay what it was.
//!
//! What holds wherever it runs: the environment, the standard input, the time, the amount of
//! output, and that nothing that was started is left behind. What holds only where the kernel
//! offers the means is said by each run's [`Confinement`]. Every file that the user may read can be
//! read, and a socket in the file system can be connected to unless Landlock knows of those.

mod ask;
mod chat;
mod confinement;
mod order;
mod pinned;
mod ran;

#[cfg(unix)]
mod bench;
#[cfg(unix)]
mod call;
#[cfg(unix)]
mod confined;
#[cfg(unix)]
mod in_tree;
#[cfg(unix)]
mod launch;
#[cfg(unix)]
mod listener;
#[cfg(unix)]
mod live;
#[cfg(unix)]
mod platform;
#[cfg(unix)]
mod prepare;
#[cfg(unix)]
mod ready;
#[cfg(unix)]
mod reports;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod secrets;
#[cfg(unix)]
mod service;
#[cfg(unix)]
mod supervise;
#[cfg(unix)]
mod told;
#[cfg(unix)]
mod wire;

pub use ask::{Call, CallAnswer, Called, Changed, FileSeen, NoWorkshop, Started, Workshop};
pub use chat::{BadBaseUrl, ChatOrder, Chatted, Cost, Said, Usage, endpoint};
pub use confinement::{Confinement, Means, Namespace};
pub use order::{Edit, Network, Order};
pub use pinned::{Change, NotFound, Pinned};
pub use ran::{End, Ran};
#[cfg(unix)]
pub use {
    bench::{Bench, Contents, Readiness, ServicePlan},
    confined::confined,
    in_tree::run_in_tree,
    launch::Launcher,
    live::{Alteration, LiveWorkshop},
    ready::Ready,
    run::run,
    service::{Output, Service, ServiceFailed, free_port, is_taken},
};

#[cfg(test)]
pub use ask::MockWorkshop;
