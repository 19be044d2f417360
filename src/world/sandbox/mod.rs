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

mod chat;
mod order;
mod pinned;
mod workshop;

#[cfg(unix)]
mod call;
#[cfg(unix)]
mod confined;
#[cfg(unix)]
mod live;
#[cfg(unix)]
mod platform;
#[cfg(unix)]
mod reports;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod secrets;
#[cfg(unix)]
mod service;
#[cfg(unix)]
mod wire;

pub use chat::{BadBaseUrl, ChatOrder, Chatted, Cost, Said, Usage, endpoint};
pub use order::{Confinement, Edit, End, Means, Namespace, Network, Order, Ran};
pub use pinned::{Change, NotFound, Pinned};
pub use workshop::{Call, CallAnswer, Called, Changed, FileSeen, NoWorkshop, Started, Workshop};
#[cfg(unix)]
pub use {
    confined::confined,
    live::{Alteration, Bench, Contents, LiveWorkshop, Readiness, ServicePlan, run_in_tree},
    run::{Launcher, run},
    service::{Output, Ready, Service, ServiceFailed, free_port, is_taken},
};

#[cfg(test)]
pub use workshop::MockWorkshop;
