//! `move-out.toml`, played: five photos, which a person still has to look at.

use crate::harness::quest_play::copy;
use crate::played::Played;

const SPOTS: [&str; 5] = ["kitchen", "bathroom", "bedroom", "living", "balcony"];

fn submit(play: &Played, flat: &str, said: &str) {
    let paths = SPOTS.map(|spot| format!("photos/{flat}/{spot}.png"));
    let fields: Vec<_> = SPOTS
        .into_iter()
        .zip(paths.iter().map(String::as_str))
        .collect();
    play.expect(flat, &fields, said);
}

#[test]
fn five_new_photos_are_left_to_a_person_and_others_are_refused() {
    let play = Played::of("move-out");
    play.scan("flats.jsonl");
    assert!(play.next().contains("Photograph flat-12"));
    for (control, said) in [
        ("copied", "FAIL new-scenes time-and-place"),
        ("twice", "FAIL new-scenes"),
        ("unread", "FAIL new-scenes time-and-place"),
        ("right", "REVIEW open-ended"),
    ] {
        play.put_control(control);
        submit(&play, "flat-12", said);
    }
    // The photos of one flat are of another place than the next, and of another day.
    let place = &play.world.place;
    copy(
        &place.at("tree/photos/flat-12"),
        &place.at("tree/photos/flat-14"),
    );
    let said = "FAIL new-scenes-unconfirmed time-and-place";
    submit(&play, "flat-14", said);
    play.ends(0, 1, 2);
}
