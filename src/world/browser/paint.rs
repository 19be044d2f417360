//! Whether letters are on the screen: their pixels change when the letters are taken away.

mod beside;

use std::ops::Range;

use serde::Deserialize;

/// The least contrast of a letter and what is behind it (WCAG 2.2, relative luminance).
const MIN_CONTRAST: f64 = 1.5;

/// How far the same pixel may differ from itself.
const NOISE: u8 = 8;

/// How much of an address a line goes through that strikes it out.
const STRUCK_PERCENT: usize = 85;

/// How wide and high the window is.
pub(super) const WINDOW: (f64, f64) = (1280.0, 900.0);

/// A part of the window: left, top, width, height.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct LetterBox(f64, f64, f64, f64);

pub(super) struct Picture {
    width: usize,
    height: usize,
    /// How many bytes a pixel has: red, green and blue, or one of grey, with or without alpha.
    samples: usize,
    bytes: Vec<u8>,
}

impl Picture {
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, png::DecodingError> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let mut buffer = vec![0; reader.output_buffer_size().unwrap_or_default()];
        let info = reader.next_frame(&mut buffer)?;
        buffer.truncate(info.buffer_size());
        Ok(Self {
            width: info.width as usize,
            height: info.height as usize,
            samples: info.color_type.samples(),
            bytes: buffer,
        })
    }

    fn at(&self, x: usize, y: usize) -> Option<[u8; 3]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let start = (y * self.width + x) * self.samples;
        match self.bytes.get(start..start + self.samples)? {
            [red, green, blue, ..] => Some([*red, *green, *blue]),
            [grey, ..] => Some([*grey; 3]),
            [] => None,
        }
    }
}

/// The same place of the screen with some letters, without them, and with them again: what moves by
/// itself is no letter.
pub(super) struct Shots {
    pub(super) with: Picture,
    pub(super) without: Picture,
    pub(super) again: Option<Picture>,
}

impl Shots {
    /// In which of these boxes letters are seen.
    pub(super) fn seen(&self, boxes: &[LetterBox]) -> Vec<bool> {
        let is_seen = |one: &LetterBox| one.places().any(|place| self.is_letter(place));
        boxes.iter().map(is_seen).collect()
    }

    fn is_letter(&self, (x, y): (usize, usize)) -> bool {
        let (Some(letter), Some(behind)) = (self.with.at(x, y), self.without.at(x, y)) else {
            return false;
        };
        let calm = |again: &Picture| {
            let same = again.at(x, y).unwrap_or(behind);
            let mut values = letter.iter().zip(same);
            values.all(|(one, two)| one.abs_diff(two) <= NOISE)
        };
        letter != behind
            && contrast(letter, behind) >= MIN_CONTRAST
            && self.again.as_ref().is_none_or(calm)
    }

    /// Whether a line is drawn through the letters in these boxes: almost every column has
    /// something between top and baseline that stands out from what is above and below.
    pub(super) fn is_struck(&self, boxes: &[LetterBox]) -> bool {
        let columns = boxes.iter().flat_map(|one| one.columns());
        let (mut all, mut crossed) = (0_usize, 0_usize);
        for column in columns {
            all += 1;
            crossed += usize::from(self.is_crossed(&column));
        }
        crossed * 100 > all * STRUCK_PERCENT
    }

    fn is_crossed(&self, column: &[(usize, usize)]) -> bool {
        let at = |index: usize| {
            let (x, y) = *column.get(index)?;
            self.without.at(x, y)
        };
        let height = column.len();
        let (Some(above), Some(below)) = (at(height / 10), at(height - height.div_ceil(10))) else {
            return false;
        };
        let mut between = (height / 5..height * 7 / 10).filter_map(at);
        between.any(|pixel| {
            [above, below]
                .iter()
                .all(|end| contrast(pixel, *end) >= MIN_CONTRAST)
        })
    }
}

impl LetterBox {
    /// The same box of a frame whose content begins at this place of the window.
    pub(super) fn moved(self, (x, y): (f64, f64)) -> Self {
        let Self(left, top, width, height) = self;
        Self(left + x, top + y, width, height)
    }

    pub(super) fn is_in_window(&self) -> bool {
        let Self(left, top, width, height) = *self;
        let fits = |from: f64, length: f64, most: f64| from >= 0.0 && from + length <= most;
        fits(left, width, WINDOW.0) && fits(top, height, WINDOW.1)
    }

    fn places(self) -> impl Iterator<Item = (usize, usize)> {
        let (columns, rows) = self.ranges();
        rows.flat_map(move |y| columns.clone().map(move |x| (x, y)))
    }

    /// Its columns, each from top to bottom.
    fn columns(self) -> impl Iterator<Item = Vec<(usize, usize)>> {
        let (columns, rows) = self.ranges();
        columns.map(move |x| rows.clone().map(|y| (x, y)).collect())
    }

    fn ranges(self) -> (Range<usize>, Range<usize>) {
        let Self(left, top, width, height) = self;
        let columns = Self::whole(left.floor())..Self::whole((left + width.min(200.0)).ceil());
        let rows = Self::whole(top.floor())..Self::whole((top + height.min(400.0)).ceil());
        (columns, rows)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the values are cut to what fits"
    )]
    fn whole(value: f64) -> usize {
        const MOST: f64 = 10_000.0;
        value.clamp(0.0, MOST) as usize
    }
}

fn contrast(one: [u8; 3], two: [u8; 3]) -> f64 {
    let (one, two) = (shade(one), shade(two));
    one.max(two) / one.min(two)
}

/// What the contrast of two pixels is the ratio of.
fn shade(pixel: [u8; 3]) -> f64 {
    luminance(pixel) + 0.05
}

fn luminance(pixel: [u8; 3]) -> f64 {
    let linear = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    let [r, g, b] = pixel.map(linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    fn plain(color: [u8; 3]) -> Picture {
        Picture {
            width: 4,
            height: 4,
            samples: 3,
            bytes: [color; 16].concat(),
        }
    }

    fn shots(with: [u8; 3], without: [u8; 3], again: Option<[u8; 3]>) -> Shots {
        Shots {
            with: plain(with),
            without: plain(without),
            again: again.map(plain),
        }
    }

    const ALL: [LetterBox; 1] = [LetterBox(0.0, 0.0, 4.0, 4.0)];

    #[test]
    fn a_letter_is_seen_by_its_contrast_alone() {
        for (letter, behind, seen) in rows! {
            [0, 0, 0], [255, 255, 255] => true;
            [255, 255, 255], [255, 255, 255] => false;
            [255, 255, 255], [240, 240, 240] => false;
            [150, 150, 150], [255, 255, 255] => true;
            [0, 0, 200], [0, 0, 0] => true;
        } {
            let shots = shots(letter, behind, Some(letter));
            assert_eq!(shots.seen(&ALL), [seen], "{letter:?}");
        }
    }

    #[test]
    fn what_moves_by_itself_is_no_letter() {
        let (black, white) = ([0; 3], [255; 3]);
        assert_eq!(shots(black, white, None).seen(&ALL), [true]);
        assert_eq!(shots(black, white, Some(white)).seen(&ALL), [false]);
        let outside = [LetterBox(9.0, 9.0, 4.0, 4.0)];
        assert_eq!(shots(black, white, Some(black)).seen(&outside), [false]);
    }

    #[test]
    fn a_line_through_letters_strikes_them_out() {
        let boxes = [
            LetterBox(0.0, 0.0, 5.0, 20.0),
            LetterBox(5.0, 0.0, 5.0, 20.0),
        ];
        let is_struck = |is_dark: &dyn Fn(usize, usize) -> bool| {
            let places = (0..20).flat_map(|y| (0..10).map(move |x| (x, y)));
            let pixels = places.map(|(x, y)| if is_dark(x, y) { [0; 3] } else { [255; 3] });
            let without = Picture {
                width: 10,
                height: 20,
                samples: 3,
                bytes: pixels.flatten().collect(),
            };
            let shots = Shots {
                without,
                ..shots([0; 3], [0; 3], None)
            };
            shots.is_struck(&boxes)
        };
        assert!(is_struck(&|_, y| y == 10));
        assert!(is_struck(&|x, y| y == 8 + x / 3));
        // A line under them, a marker's, one beside them, a ground, and nothing.
        assert!(!is_struck(&|_, y| y == 16));
        assert!(!is_struck(&|_, y| y >= 10));
        assert!(!is_struck(&|x, y| y == 10 && x < 5));
        assert!(!is_struck(&|_, _| true));
        assert!(!is_struck(&|_, _| false));
    }
}
