//! Whether letters are on the screen: their pixels change when the letters are taken away.

use serde::Deserialize;

/// The least contrast of a letter and what is behind it (WCAG 2.2, relative luminance).
const MIN_CONTRAST: f64 = 1.5;

/// How far the same pixel may differ from itself.
const NOISE: u8 = 8;

/// A part of the window: left, top, width, height.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct LetterBox(f64, f64, f64, f64);

pub(super) struct Picture {
    width: usize,
    height: usize,
    /// Red, green and blue of each pixel.
    pixels: Vec<[u8; 3]>,
}

impl Picture {
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, png::DecodingError> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let mut buffer = vec![0; reader.output_buffer_size().unwrap_or_default()];
        let info = reader.next_frame(&mut buffer)?;
        let samples = info.color_type.samples();
        let pixels = buffer[..info.buffer_size()].chunks_exact(samples);
        let pixels = pixels.map(|pixel| match pixel {
            [r, g, b, ..] => [*r, *g, *b],
            [gray, ..] => [*gray; 3],
            [] => [0; 3],
        });
        Ok(Self {
            width: info.width as usize,
            height: info.height as usize,
            pixels: pixels.collect(),
        })
    }

    fn at(&self, x: usize, y: usize) -> Option<[u8; 3]> {
        (x < self.width && y < self.height)
            .then(|| self.pixels.get(y * self.width + x).copied())
            .flatten()
    }
}

/// Whether the letters in `boxes` are seen in the picture `with` them. In the one `without`, they
/// are transparent; `again` is like the first: what moves by itself is no letter.
pub(super) fn is_painted(
    boxes: &[LetterBox],
    with: &Picture,
    without: &Picture,
    again: &Picture,
) -> bool {
    let is_seen = |one: &LetterBox| {
        let mut places = one.places();
        places.any(|(x, y)| {
            let (Some(letter), Some(behind), Some(same)) =
                (with.at(x, y), without.at(x, y), again.at(x, y))
            else {
                return false;
            };
            let calm = letter
                .iter()
                .zip(same)
                .all(|(one, two)| one.abs_diff(two) <= NOISE);
            calm && contrast(letter, behind) >= MIN_CONTRAST
        })
    };
    !boxes.is_empty() && boxes.iter().all(is_seen)
}

impl LetterBox {
    /// The same box of a frame whose content begins at this place of the window.
    pub(super) fn moved(self, (x, y): (f64, f64)) -> Self {
        let Self(left, top, width, height) = self;
        Self(left + x, top + y, width, height)
    }

    fn places(self) -> impl Iterator<Item = (usize, usize)> {
        const MOST: f64 = 10_000.0;
        let Self(left, top, width, height) = self;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the values are cut to what fits"
        )]
        let whole = |value: f64| value.clamp(0.0, MOST) as usize;
        let columns = whole(left.floor())..whole((left + width.min(200.0)).ceil());
        let rows = whole(top.floor())..whole((top + height.min(400.0)).ceil());
        rows.flat_map(move |y| columns.clone().map(move |x| (x, y)))
    }
}

fn contrast(one: [u8; 3], two: [u8; 3]) -> f64 {
    let (one, two) = (luminance(one), luminance(two));
    (one.max(two) + 0.05) / (one.min(two) + 0.05)
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
            pixels: vec![color; 16],
        }
    }

    #[test]
    fn a_letter_is_seen_by_its_contrast_alone() {
        let all = [LetterBox(0.0, 0.0, 4.0, 4.0)];
        for (letter, behind, seen) in rows! {
            [0, 0, 0], [255, 255, 255] => true;
            [255, 255, 255], [255, 255, 255] => false;
            [255, 255, 255], [240, 240, 240] => false;
            [150, 150, 150], [255, 255, 255] => true;
            [0, 0, 200], [0, 0, 0] => true;
        } {
            let (with, without) = (plain(letter), plain(behind));
            assert_eq!(is_painted(&all, &with, &without, &with), seen, "{letter:?}");
        }
    }

    #[test]
    fn what_moves_by_itself_is_no_letter() {
        let all = [LetterBox(0.0, 0.0, 4.0, 4.0)];
        let (black, white) = (plain([0; 3]), plain([255; 3]));
        assert!(!is_painted(&all, &black, &white, &white));
        assert!(!is_painted(&[], &black, &white, &black));
        let outside = [LetterBox(9.0, 9.0, 4.0, 4.0)];
        assert!(!is_painted(&outside, &black, &white, &black));
    }
}
