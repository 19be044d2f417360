//! Digits of any script, as those of ASCII.

/// The zeros of the decimal digits that texts are written with beside those of ASCII.
const ZEROS: [char; 12] = ['٠', '۰', '०', '০', '੦', '૦', '௦', '౦', '೦', '๐', '໐', '༠'];

/// The line with its digits and decimal marks as ASCII has them.
pub(super) fn plain_digits(line: &str) -> String {
    line.chars().map(plain).collect()
}

fn plain(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    match c {
        '٫' => '.',
        '٬' => ',',
        '’' => '\'',
        '−' => '-',
        '٪' => '%',
        _ => {
            let value = ZEROS.iter().find_map(|zero| {
                let value = u32::from(c).checked_sub(u32::from(*zero))?;
                (value < 10).then_some(value)
            });
            value
                .and_then(|value| char::from_digit(value, 10))
                .unwrap_or(c)
        }
    }
}
