//! A PDF as its reader sees it: the characters that are painted, line by line, and the addressees
//! of its links.
//!
//! hayro interprets the document, with its fonts, layers and clips. What it paints is judged here:
//! a character counts if it is on the page, not clipped away, painted in a colour that stands out
//! from what is painted before it, and not covered by what is painted after. Where pictures,
//! patterns or masks make that unknown, the line is doubtful. A `ToUnicode` table may lie about
//! what a character looks like; nothing here reads shapes.
//!
//! A document can be made to cost any amount of work, so it is read on a thread of its own, which
//! is given up after a while, and with it ends any panic of the interpreter. What its streams
//! unpack to is added up first.

use std::io::{self, Read as _};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use flate2::read::ZlibDecoder;
use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::object::dict::keys::{A, ANNOTS, F, RECT, URI};
use hayro_interpret::hayro_syntax::object::{self, Array, Dict, Object};
use hayro_interpret::hayro_syntax::page::Page as PdfPage;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect, Shape as _};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps,
    InterpreterCache, InterpreterSettings, Paint, RectExt as _, SoftMask, TransformExt as _,
    interpret_page,
};
use url::Url;

use super::{Page, Unreadable, find_address, links};
use crate::base::text::normalise;
use crate::world::email_text::may_spell;

const MAX_PAGES: usize = 50;

/// What all streams may unpack to, in bytes.
const MAX_UNPACKED: u64 = 128 << 20;

const MAX_GLYPHS: usize = 400_000;

/// The most paths and pictures of a page that are compared with its characters.
const MAX_SHAPES: usize = 20_000;

/// One of this many characters may have no known meaning, no more.
const UNKNOWN_ONE_IN: usize = 10;

const LIMIT: Duration = Duration::from_secs(10);

const STACK_BYTES: usize = 64 << 20;

/// Reads a document's bytes.
pub(super) fn read(url: &Url, body: &[u8]) -> Result<Page, Unreadable> {
    let (send, receive) = mpsc::sync_channel(1);
    let body = body.to_vec();
    let reader = thread::Builder::new().stack_size(STACK_BYTES);
    let spawned = reader.spawn(move || drop(send.send(read_pages(&body))));
    if spawned.is_err() {
        return Err(Unreadable::Pdf("no thread could be started to read it"));
    }
    let read = receive.recv_timeout(LIMIT).map_err(|error| match error {
        RecvTimeoutError::Timeout => Unreadable::Pdf("reading it takes too long"),
        RecvTimeoutError::Disconnected => Unreadable::Pdf("the reader fails at it"),
    })?;
    Ok(read?.page(url))
}

/// What a document says.
#[derive(Debug, Default)]
struct Said {
    seen: Vec<String>,
    doubtful: Vec<String>,
    unseen: Vec<String>,
    linked: Vec<String>,
    linked_unseen: Vec<String>,
}

impl Said {
    fn page(self, url: &Url) -> Page {
        let spells = |line: &String| may_spell(line);
        let (visible, mut unclear) = find_address::broken(self.seen.into_iter());
        unclear.extend(self.doubtful.into_iter().filter(spells));
        let hidden = self.unseen.into_iter().filter(spells);
        Page {
            visible,
            unclear,
            linked: self.linked,
            hidden: hidden.chain(self.linked_unseen).collect(),
            ..Page::empty(url)
        }
    }
}

fn read_pages(body: &[u8]) -> Result<Said, Unreadable> {
    // A reader that is given no password opens some of these, but few people do.
    let is_encrypted = body.windows(8).any(|name| name == b"/Encrypt");
    if is_encrypted {
        return Err(Unreadable::Pdf("it is encrypted"));
    }
    let mut unpacked = flate_bytes(body)?;
    let pdf = Pdf::new(body.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            Unreadable::Pdf("it asks for a password")
        }
        LoadPdfError::Decryption(_) => Unreadable::Pdf("it is encrypted"),
        LoadPdfError::Invalid => Unreadable::Pdf("it is damaged"),
    })?;
    for object in pdf.objects() {
        unpacked = unpacked.saturating_add(most_unpacked(&object));
    }
    if unpacked > MAX_UNPACKED {
        return Err(Unreadable::Pdf(TOO_LARGE));
    }
    let pages = pdf.pages();
    if pages.len() > MAX_PAGES {
        return Err(Unreadable::Pdf("it has too many pages"));
    }
    let cache = InterpreterCache::new();
    let mut said = Said::default();
    let end = Instant::now() + LIMIT;
    let (mut known, mut unknown) = (0, 0);
    for page in pages.iter() {
        let canvas = painted(page, &pdf, &cache, end);
        known += canvas.glyphs.len() - canvas.unknown;
        unknown += canvas.unknown;
        canvas.read_into(page, &mut said);
    }
    if known == 0 {
        return Err(Unreadable::Pdf("it shows no text, only pictures"));
    }
    if unknown * UNKNOWN_ONE_IN > known {
        return Err(Unreadable::Pdf("it does not say what its characters mean"));
    }
    Ok(said)
}

const TOO_LARGE: &str = "it unpacks to too much";

/// What the zlib streams of a document unpack to, before anything of it is read: even the table of
/// its objects may be packed.
fn flate_bytes(body: &[u8]) -> Result<u64, Unreadable> {
    const KEYWORD: &[u8] = b"stream";
    let mut sum = 0;
    for at in 0..body.len() {
        if !body[at..].starts_with(KEYWORD) || body[..at].ends_with(b"end") {
            continue;
        }
        let data = body[at + KEYWORD.len()..].trim_ascii_start();
        let mut decoder = ZlibDecoder::new(data).take(MAX_UNPACKED);
        let mut count = Counter(0);
        // What is no zlib stream ends at once.
        let _ = io::copy(&mut decoder, &mut count);
        sum += count.0;
        if sum >= MAX_UNPACKED {
            return Err(Unreadable::Pdf(TOO_LARGE));
        }
    }
    Ok(sum)
}

struct Counter(u64);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The most that a stream may unpack to, if its bytes have not been counted yet.
fn most_unpacked(object: &Object<'_>) -> u64 {
    let Object::Stream(stream) = object else {
        return 0;
    };
    // The crate does not export the type of a filter, only its name.
    let filters: Vec<String> = stream
        .filters()
        .iter()
        .map(|one| format!("{one:?}"))
        .collect();
    if filters.is_empty() || filters == ["FlateDecode"] {
        return 0;
    }
    let length = stream.raw_data().len() as u64;
    // By their formats: a match of 258 bytes takes two bits, a code of 12 bits is a string of up
    // to 4096, two bytes are a run of 128. Pictures are not unpacked.
    let factors = filters.iter().map(|filter| match filter.as_str() {
        "FlateDecode" => 1032,
        "LzwDecode" => 2731,
        "RunLengthDecode" => 64,
        _ => 1,
    });
    factors.fold(length, u64::saturating_mul)
}

fn painted<'a>(
    page: &PdfPage<'a>,
    pdf: &'a Pdf,
    cache: &InterpreterCache<'a>,
    end: Instant,
) -> Canvas {
    let (width, height) = page.render_dimensions();
    let area = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let transform = page.initial_transform(true).to_kurbo();
    let settings = InterpreterSettings::default();
    let mut context = Context::new(transform, area, cache, pdf.xref(), settings);
    let mut canvas = Canvas::new(area, end);
    interpret_page(page, &mut context, &mut canvas);
    canvas
}

/// How a reader sees a character; the worst comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sight {
    Seen,
    Doubtful,
    Unseen,
}

/// A character that is painted.
#[derive(Debug, Clone)]
struct Painted {
    text: String,
    start: Point,
    end: Point,
    /// A point inside it.
    middle: Point,
    /// Its font's size on the page.
    size: f64,
    /// The direction of its line, in degrees.
    angle: i32,
    /// Red, green and blue; none for a pattern.
    colour: Option<[f32; 3]>,
    sight: Sight,
    /// How many shapes are painted before it.
    after: usize,
}

/// A path or a picture that is painted, with its colour if it has one.
struct Shape {
    area: Rect,
    path: Option<BezPath>,
    colour: Option<[f32; 3]>,
}

/// What a page paints, in order.
struct Canvas {
    area: Rect,
    end: Instant,
    glyphs: Vec<Painted>,
    unknown: usize,
    shapes: Vec<Shape>,
    clips: Vec<BezPath>,
    /// How the open groups are seen.
    groups: Vec<Sight>,
}

impl Canvas {
    fn new(area: Rect, end: Instant) -> Self {
        Self {
            area,
            end,
            glyphs: Vec::new(),
            unknown: 0,
            shapes: Vec::new(),
            clips: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Ends the reading of a document that costs too much: the interpreter has no other way out.
    fn check_budget(&self) {
        if self.glyphs.len() > MAX_GLYPHS || Instant::now() > self.end {
            std::panic::resume_unwind(Box::new("a PDF that costs too much"));
        }
    }

    fn paint(&mut self, shape: Shape) {
        self.check_budget();
        if self.shapes.len() <= MAX_SHAPES {
            self.shapes.push(shape);
        }
    }

    fn draw(&mut self, text: String, place: Affine, advance: f64, brush: &Brush) {
        /// Characters that are lower on the page, in its units, are specks.
        const LOWEST: f64 = 2.0;
        let at = |x: f64, y: f64| place * Point::new(x, y);
        let (start, end) = (at(0.0, 0.0), at(advance, 0.0));
        let (along, up) = (at(1000.0, 0.0) - start, at(0.0, 1000.0) - start);
        let middle = at(advance / 2.0, 300.0);
        let size = up.hypot();
        let mut sight = brush
            .sight
            .max(self.groups.iter().copied().max().unwrap_or(Sight::Seen));
        let inside =
            self.area.contains(middle) && self.clips.iter().all(|clip| clip.winding(middle) != 0);
        if !inside || size < LOWEST || along.hypot() < LOWEST {
            sight = Sight::Unseen;
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an angle has at most 360 degrees"
        )]
        let angle = along.atan2().to_degrees().round() as i32;
        self.glyphs.push(Painted {
            text,
            start,
            end,
            middle,
            size,
            angle,
            colour: brush.colour,
            sight,
            after: self.shapes.len(),
        });
    }

    /// Compares a character with what is painted before and after it.
    fn sight(&self, glyph: &Painted) -> Sight {
        /// The least contrast that a reader can make out (as WCAG 2.2 computes it).
        const LEAST: f32 = 1.5;
        if glyph.sight == Sight::Unseen {
            return Sight::Unseen;
        }
        if self.shapes.len() > MAX_SHAPES {
            return Sight::Doubtful;
        }
        let (before, after) = self.shapes.split_at(glyph.after);
        let holds = |shape: &&Shape| shape.holds(glyph.middle);
        let mut sight = glyph.sight;
        if let Some(cover) = after.iter().find(holds) {
            // A picture may be transparent there.
            let covered = cover.colour.map_or(Sight::Doubtful, |_| Sight::Unseen);
            sight = sight.max(covered);
        }
        let ground = before.iter().rev().find(holds);
        let ground = ground.map_or(Some([1.0; 3]), |shape| shape.colour);
        sight.max(match (glyph.colour, ground) {
            (Some(ink), Some(ground)) if contrast(ink, ground) < LEAST => Sight::Unseen,
            (Some(_), Some(_)) => Sight::Seen,
            _ => Sight::Doubtful,
        })
    }

    fn read_into(mut self, page: &PdfPage<'_>, said: &mut Said) {
        let sights: Vec<Sight> = self.glyphs.iter().map(|glyph| self.sight(glyph)).collect();
        for (glyph, sight) in self.glyphs.iter_mut().zip(sights) {
            glyph.sight = sight;
        }
        self.links(page, said);
        let lines = |worst: Sight| {
            let glyphs = self.glyphs.iter().filter(|glyph| glyph.sight <= worst);
            lines_of(glyphs.collect())
        };
        let doubtful = lines(Sight::Doubtful);
        // An address may go on in what is doubtful.
        let is_sure = |line: &String| !may_spell(line) || doubtful.contains(line);
        said.seen
            .extend(lines(Sight::Seen).into_iter().filter(is_sure));
        // No address goes on from page to page.
        said.seen.push(String::new());
        said.unseen.extend(lines(Sight::Unseen));
        said.doubtful.extend(doubtful);
    }

    /// The addressees of the page's links that a reader can see and click.
    fn links(&self, page: &PdfPage<'_>, said: &mut Said) {
        const UNSEEN_FLAGS: u32 = 0b10_0010;
        let transform = page.initial_transform(true).to_kurbo();
        let annotations = page.raw().get::<Array<'_>>(ANNOTS).unwrap_or_default();
        for link in annotations.iter::<Dict<'_>>() {
            let action = link.get::<Dict<'_>>(A).unwrap_or_default();
            let Some(target) = action.get::<object::String<'_>>(URI) else {
                continue;
            };
            let target = String::from_utf8_lossy(target.as_bytes()).into_owned();
            let Some(addressees) = links::addressees(&target) else {
                continue;
            };
            let area = link.get::<object::Rect>(RECT);
            let area = area.map(|area| transform.transform_rect_bbox(area.to_kurbo()));
            let hidden = link.get::<u32>(F).unwrap_or(0) & UNSEEN_FLAGS != 0;
            let mut glyphs = self.glyphs.iter();
            let shows = glyphs.any(|glyph| {
                glyph.sight == Sight::Seen && area.is_some_and(|area| area.contains(glyph.middle))
            });
            let place = if shows && !hidden {
                &mut said.linked
            } else {
                &mut said.linked_unseen
            };
            place.extend(addressees);
        }
    }
}

impl Shape {
    fn holds(&self, point: Point) -> bool {
        let path = self.path.as_ref();
        self.area.contains(point) && path.is_none_or(|path| path.winding(point) != 0)
    }
}

fn contrast(one: [f32; 3], two: [f32; 3]) -> f32 {
    let [one, two] = [one, two].map(|colour| {
        let [red, green, blue] = colour.map(|part| {
            if part <= 0.04045 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    });
    one.max(two) / one.min(two)
}

/// The lines that these characters make, as a reader puts them together: from left to right along
/// one base line, parted where the gap is wide.
fn lines_of(mut glyphs: Vec<&Painted>) -> Vec<String> {
    let place = |glyph: &Painted, point: Point| {
        let (sin, cos) = f64::from(glyph.angle).to_radians().sin_cos();
        (point.x * cos + point.y * sin, point.y * cos - point.x * sin)
    };
    // First by base line, then along it.
    glyphs.sort_by(|one, two| {
        let across = |glyph: &Painted| place(glyph, glyph.start).1;
        one.angle
            .cmp(&two.angle)
            .then(across(one).total_cmp(&across(two)))
    });
    let same_line = |one: &&Painted, two: &&Painted| {
        let gap = place(one, one.start).1 - place(two, two.start).1;
        one.angle == two.angle && gap.abs() < 0.3 * one.size.max(two.size)
    };
    let mut lines = Vec::new();
    let chunks: Vec<&[&Painted]> = glyphs.chunk_by(same_line).collect();
    for chunk in chunks {
        let mut chunk = chunk.to_vec();
        chunk.sort_by(|one, two| {
            let along = |glyph: &Painted| place(glyph, glyph.start).0;
            along(one).total_cmp(&along(two))
        });
        let mut line = String::new();
        let mut before: Option<&Painted> = None;
        for glyph in chunk {
            if let Some(before) = before {
                let along = place(glyph, glyph.start).0;
                let gap = (along - place(before, before.end).0) / glyph.size.max(before.size);
                let shift = (along - place(before, before.start).0) / glyph.size;
                if glyph.text == before.text && shift < 0.15 {
                    // Bold type is often one character painted twice.
                    continue;
                }
                if gap > 2.0 {
                    lines.push(std::mem::take(&mut line));
                } else if gap > 0.2 {
                    line.push(' ');
                }
            }
            line.push_str(&glyph.text);
            before = Some(glyph);
        }
        lines.push(line);
    }
    let lines = lines.into_iter().map(|line| normalise(&line));
    lines.filter(|line| !line.is_empty()).collect()
}

/// With what something is painted.
struct Brush {
    colour: Option<[f32; 3]>,
    sight: Sight,
}

impl Brush {
    fn of(props: &DrawProps<'_>) -> Self {
        let (colour, opacity) = match &props.paint {
            Paint::Color(colour) => {
                let [red, green, blue, opacity] = colour.to_rgba().components();
                (Some([red, green, blue]), opacity)
            }
            Paint::Pattern(_) => (None, 1.0),
        };
        let is_plain = props.soft_mask.is_none() && props.blend_mode == BlendMode::Normal;
        let sight = opaque(opacity);
        Self {
            colour,
            sight: if is_plain {
                sight
            } else {
                sight.max(Sight::Doubtful)
            },
        }
    }
}

fn opaque(opacity: f32) -> Sight {
    match opacity {
        0.5.. => Sight::Seen,
        0.1.. => Sight::Doubtful,
        _ => Sight::Unseen,
    }
}

impl<'a> Device<'a> for Canvas {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        let brush = Brush::of(&props);
        if matches!(mode, DrawMode::Stroke(_) | DrawMode::Invisible) || brush.sight == Sight::Unseen
        {
            return;
        }
        let path = props.transform * path.clone();
        let colour = brush
            .colour
            .filter(|_| brush.sight == Sight::Seen && self.clips.is_empty());
        self.paint(Shape {
            area: path.bounding_box(),
            path: Some(path),
            colour,
        });
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        self.check_budget();
        self.clips.push(clip.path.clone());
    }

    fn push_transparency_group(
        &mut self,
        opacity: f32,
        mask: Option<SoftMask<'a>>,
        blend_mode: BlendMode,
    ) {
        self.check_budget();
        let plain = mask.is_none() && blend_mode == BlendMode::Normal;
        let sight = opaque(opacity);
        self.groups.push(if plain {
            sight
        } else {
            sight.max(Sight::Doubtful)
        });
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        self.check_budget();
        let mut brush = Brush::of(&props);
        if matches!(mode, DrawMode::Invisible) {
            brush.sight = Sight::Unseen;
        }
        for glyph in run.glyphs() {
            let text = match glyph.as_unicode() {
                Some(BfString::Char(c)) => c.to_string(),
                Some(BfString::String(text)) => text,
                None => {
                    self.unknown += 1;
                    '\u{fffd}'.to_string()
                }
            };
            let advance = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width(),
                Glyph::Type3(drawn) => drawn.advance_width(),
            };
            let advance = f64::from(advance.unwrap_or(500.0));
            self.draw(text, props.transform * glyph.transform(), advance, &brush);
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        let unit = Rect::new(
            0.0,
            0.0,
            f64::from(image.width()),
            f64::from(image.height()),
        );
        self.paint(Shape {
            area: props.transform.transform_rect_bbox(unit),
            path: None,
            colour: None,
        });
    }

    fn pop_clip(&mut self) {
        self.clips.pop();
    }

    fn pop_transparency_group(&mut self) {
        self.groups.pop();
    }
}
