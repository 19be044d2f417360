//! Links the debug program at a fixed address.

fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|it| it == value);
    // The tests start the debug program some thousand times, and as a position-independent
    // executable it would spend half of each start on 220,000 relocations. A release stays
    // position-independent.
    if is("PROFILE", "debug")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo::rustc-link-arg-bin=comail=-no-pie");
    }
}
