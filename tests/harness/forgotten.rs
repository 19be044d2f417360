//! Sessions that must forget an address, and a search for what is left of it.

use std::fs;
use std::path::Path;

use comail::world::email_text::mentions;
use comail::world::evidence::unpack;
use walkdir::WalkDir;

use super::{EmailNet, Run};

pub const ADDRESS: &str = "info@acme.co.kr";

/// A list whose cells hold the address as well.
const LIST: &str = "company,note\n\
    Acme Foods,ask Info@Acme.co.kr first\n\
    Bolt Toys,\n\
    info@acme.co.kr,a key\n\
    Delta Works,sales.info@acme.co.kr is another\n";

/// A session with the operator's key that holds the address everywhere: in the list, a key, a
/// FAIL, a PASS, a REVIEW, pages and a dispute.
pub fn known() -> EmailNet {
    let world = EmailNet::unscanned();
    world.company("bolt.co.kr", "Bolt Toys");
    world.place.write("key", [7; 32]);
    world.place.write("companies.csv", LIST);
    let flags = ["--col=company", "--show=note", "--operator-key=key"];
    let flags = world.flags_with(&flags);
    let scan = ["scan", "companies.csv"].map(str::to_owned);
    world.place.run(scan.iter().chain(&flags)).ok();
    let elsewhere = world.right("bolt.co.kr").email("INFO@acme.co.kr");
    assert_eq!(world.submit(2, &elsewhere).0, 5);
    world.expect(1, &world.acme(), "PASS", &[]);
    world.expect(2, &world.right("bolt.co.kr"), "PASS", &[]);
    let (code, answer) = world.submit(4, &world.acme());
    assert_eq!(
        (code, &answer["verdict"]),
        (0, &"REVIEW".into()),
        "{answer}"
    );
    let note = "--note=info@acme.co.kr bounced";
    let dispute = ["dispute", "1", "--operator-key=key", "--by=kim", note];
    world.place.run(dispute).ok();
    // What was blotted out is not judged again.
    world.spoils();
    world
}

/// Has the session forget the address.
pub fn forget(world: &EmailNet) -> Run {
    let note = "--note=info@acme.co.kr asked for it";
    let forget = ["forget", ADDRESS, note, "--operator-key=key", "--by=kim"];
    world.place.run(forget)
}

/// The files under `dir` that contain the address; compressed files are unpacked.
pub fn left_in(dir: &Path) -> Vec<String> {
    let files = WalkDir::new(dir)
        .into_iter()
        .map(|file| file.expect("a file"));
    let files = files.filter(|file| file.file_type().is_file());
    let spelled = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let other = text.replace("sales.info@acme.co.kr", "");
        other.to_lowercase().contains(ADDRESS)
            || !mentions(&text, &|address| address == ADDRESS).is_empty()
    };
    let held = files.filter(|file| {
        let bytes = fs::read(file.path()).expect("a file");
        let unpacked = unpack(&bytes, 1 << 30).unwrap_or_default();
        spelled(&bytes) || spelled(&unpacked)
    });
    held.map(|file| file.path().display().to_string()).collect()
}
