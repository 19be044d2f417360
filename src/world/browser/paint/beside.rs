//! Whether a reader sees something joined to an address that nobody has read.
//!
//! Letters can be painted in ways that no document tells of: by a closed shadow tree, a list marker,
//! a counter, a picture. The screen is asked for all of them alike, once the letters that were read
//! are taken away: what is still painted close to an address was not read.

use std::ops::Range;

use super::{LetterBox, MIN_CONTRAST, Picture, shade};

/// How far from an address ink counts as joined to it, in heights of a letter's box, which is about
/// 1.15 em high: a space is wider.
const GAP: f64 = 0.2;

/// Letters begin below the upper sixth of their box, and none but a bar goes on into the lower ninth.
const ABOVE: usize = 6;
const BELOW: usize = 9;

/// The darkest and the brightest of some pixels.
#[derive(Debug, Clone, Copy)]
struct Shades {
    dark: f64,
    bright: f64,
}

impl Shades {
    fn of(pixels: impl IntoIterator<Item = f64>) -> Option<Self> {
        let one = |shade| Self {
            dark: shade,
            bright: shade,
        };
        pixels.into_iter().map(one).reduce(Self::with)
    }

    fn with(self, other: Self) -> Self {
        Self {
            dark: self.dark.min(other.dark),
            bright: self.bright.max(other.bright),
        }
    }

    /// Whether nobody can tell these pixels from each other.
    fn are_one(self) -> bool {
        self.bright < self.dark * MIN_CONTRAST
    }

    /// Whether a pixel is between an edge and all of this ground, as at the rim of a round corner.
    fn blends(self, edge: Self, pixel: f64) -> bool {
        let (dark, bright) = (edge.dark.min(self.bright), edge.bright.max(self.dark));
        pixel > dark / MIN_CONTRAST && pixel < bright * MIN_CONTRAST
    }
}

impl Picture {
    /// Whether there is ink before, between or behind the characters of one line of an address. The
    /// characters themselves are not in the picture.
    pub(in crate::world::browser) fn has_ink_beside(&self, line: &[LetterBox]) -> bool {
        let (Some(first), Some(last)) = (line.first(), line.last()) else {
            return false;
        };
        let ground = first.0..last.right();
        let before = (first, first.0 - GAP * first.3..first.0);
        let behind = (last, last.right()..last.right() + GAP * last.3);
        let pairs = line.iter().zip(line.iter().skip(1));
        let between = pairs.map(|(one, next)| (one, one.right()..next.0));
        let mut strips = between.chain([before, behind]);
        strips.any(|(letter, strip)| self.has_ink(*letter, &strip, &ground))
    }

    /// Whether there is ink in a strip at the height of a letter. A border, the edge of a box and
    /// their corners are no ink: they are higher than letters. Nor is a line that runs on under the
    /// whole address.
    fn has_ink(&self, letter: LetterBox, strip: &Range<f64>, ground: &Range<f64>) -> bool {
        let LetterBox(_, top, _, height) = letter;
        let rows = whole_within(&(top..top + height));
        let shade_at = |x, y| self.at(x, y).map(shade);
        let ground = |y| Shades::of(whole_within(ground).filter_map(|x| shade_at(x, y)));
        let ground: Option<Vec<_>> = rows.clone().map(ground).collect();
        // Where an address has no ground in the window, nothing can be told.
        let Some(ground) = ground else { return true };
        whole_within(strip).any(|x| {
            let column = rows.clone().filter_map(|y| shade_at(x, y));
            is_ink(&column.collect::<Vec<_>>(), &ground)
        })
    }
}

impl LetterBox {
    fn right(&self) -> f64 {
        self.0 + self.2
    }
}

/// The pixels that nothing outside shares.
fn whole_within(range: &Range<f64>) -> Range<usize> {
    LetterBox::whole(range.start.ceil())..LetterBox::whole(range.end)
}

/// Whether a column of pixels, from top to bottom, is part of a letter, beside this ground.
fn is_ink(column: &[f64], ground: &[Shades]) -> bool {
    let rows = column.len();
    let above = rows.div_ceil(ABOVE);
    let middle = column.iter().take(rows - rows / BELOW).skip(above);
    let is_as = |fits: &dyn Fn(f64, Shades) -> bool| {
        let mut rows = column.iter().zip(ground).skip(above);
        rows.all(|(pixel, ground)| fits(*pixel, *ground))
    };
    let is_edge = Shades::of(middle.copied())
        .filter(|middle| middle.are_one())
        .is_some_and(|middle| is_as(&|pixel, ground| ground.blends(middle, pixel)));
    let runs_on = is_as(&|pixel, ground| {
        let pixel = Shades {
            dark: pixel,
            bright: pixel,
        };
        ground.with(pixel).are_one()
    });
    rows > above && !is_edge && !runs_on
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    const WHITE: u8 = 255;

    /// Four letters from 12 to 28, between 5 and 25, with a ground that is painted as `dark` says.
    fn has_ink(dark: &dyn Fn(usize, usize) -> bool) -> bool {
        let letters = [12.0, 16.0, 20.0, 24.0].map(|x| LetterBox(x, 5.0, 4.0, 20.0));
        painted(&|x, y| if dark(x, y) { 0 } else { WHITE }).has_ink_beside(&letters)
    }

    fn painted(grey: &dyn Fn(usize, usize) -> u8) -> Picture {
        let places = (0..30).flat_map(|y| (0..40).map(move |x| (x, y)));
        Picture {
            width: 40,
            height: 30,
            samples: 1,
            bytes: places.map(|(x, y)| grey(x, y)).collect(),
        }
    }

    type Dark = fn(usize, usize) -> bool;

    #[test]
    fn what_is_painted_close_to_an_address_is_ink() {
        for (name, dark) in rows! {
            "a long stem" => (|x, y| x == 10 && (7..21).contains(&y)) as Dark;
            "a stem before" => |x, y| x == 10 && (8..20).contains(&y);
            "a stem with a descender" => |x, y| x == 10 && (12..22).contains(&y);
            "a dot behind" => |x, y| (29..31).contains(&x) && (19..21).contains(&y);
            "a hyphen" => |x, y| x < 11 && y == 15;
            "an underscore" => |x, y| x < 12 && y == 24;
            "an underscore below the first letters" => |x, y| x < 20 && y == 24;
            "a bright letter on a dark ground" => |x, y| x < 12 && !(x == 10 && (8..20).contains(&y));
            "a hyphen from a border" => |x, y| x == 8 || ((8..12).contains(&x) && y == 15);
            "a letter beside a line that runs on" => |x, y| y == 24 || (x == 9 && (8..20).contains(&y));
        } {
            assert!(has_ink(&dark), "{name}");
        }
    }

    #[test]
    fn a_box_a_border_and_a_gap_are_none() {
        for (name, dark) in rows! {
            "nothing" => (|_, _| false) as Dark;
            "a dark ground" => |_, _| true;
            "a border" => |x, _| x == 10 || x == 29;
            "a border as high as the letters" => |x, y| x == 10 && (5..25).contains(&y);
            "a ground that begins at the padding" => |x, _| x < 10;
            "a ground of letters' height" => |x, y| (10..30).contains(&x) && (5..25).contains(&y);
            "a border above" => |x, y| x > 28 && y == 7;
            "a round corner" => |x, y| x == 30 && (8..30).contains(&y);
            "a round corner below" => |x, y| x == 30 && y < 23;
            "a line below" => |_, y| y == 24;
            "a table's lines" => |x, y| x == 10 || x == 30 || y == 5 || y == 24;
            "a marker's lower half" => |_, y| y >= 15;
            "a letter as far as a space" => |x, y| !(8..=31).contains(&x) && (8..20).contains(&y);
            "letters of other lines" => |x, y| x == 10 && !(5..=24).contains(&y);
            "ink under the address" => |x, y| (14..26).contains(&x) && (8..20).contains(&y);
        } {
            assert!(!has_ink(&dark), "{name}");
        }
    }

    #[test]
    fn only_what_a_reader_can_see_is_ink() {
        let letter = [LetterBox(12.0, 5.0, 4.0, 20.0)];
        let stem = |grey: u8| {
            let is_stem = |x, y: usize| x == 10 && (8..20).contains(&y);
            painted(&|x, y| if is_stem(x, y) { grey } else { WHITE }).has_ink_beside(&letter)
        };
        assert!(stem(0) && stem(150));
        assert!(!stem(240));
        let slope = painted(&|_, y| WHITE - 8 * u8::try_from(y).unwrap());
        assert!(!slope.has_ink_beside(&letter));
    }

    #[test]
    fn ink_between_letters_stands_where_they_leave_a_gap() {
        let picture = painted(&|x, y| {
            if x == 18 && (8..20).contains(&y) {
                0
            } else {
                WHITE
            }
        });
        let letters = |gap: f64| [12.0, 16.0 + gap].map(|x| LetterBox(x, 5.0, 4.0, 20.0));
        assert!(picture.has_ink_beside(&letters(4.0)));
        // It is a letter's own.
        assert!(!picture.has_ink_beside(&letters(0.0)));
    }

    #[test]
    fn rows_that_a_letter_shares_are_not_its_own() {
        let letter = [LetterBox(12.0, 5.5, 4.0, 20.0)];
        let line = |row| painted(&|x, y| if x < 12 && y == row { 0 } else { WHITE });
        assert!(line(24).has_ink_beside(&letter));
        assert!(!line(25).has_ink_beside(&letter));
    }

    #[test]
    fn of_an_address_outside_the_window_nothing_is_known() {
        let letters = |x| [LetterBox(x, 5.0, 4.0, 20.0)];
        let picture = painted(&|_, _| WHITE);
        assert!(picture.has_ink_beside(&letters(60.0)));
        assert!(!picture.has_ink_beside(&letters(0.0)));
        assert!(!picture.has_ink_beside(&[]));
    }
}
