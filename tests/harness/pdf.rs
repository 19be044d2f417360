//! Small PDF documents, made of their parts.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A document of pages that are 600 by 800 points; font `F1` is Helvetica.
#[derive(Debug, Clone, Default)]
pub struct PdfFile {
    pages: Vec<Written>,
    /// What is added to the trailer.
    trailer: String,
}

#[derive(Debug, Clone, Default)]
struct Written {
    content: Vec<u8>,
    packed: bool,
    /// Further resources, such as fonts.
    resources: String,
    /// Further entries of the page.
    entries: String,
    /// Objects that these name by `{0}`, `{1}` …, each whole.
    objects: Vec<Vec<u8>>,
}

/// Text at a place of the page, in Helvetica of 12 points.
pub fn text(x: u32, y: u32, text: &str) -> String {
    format!("BT /F1 12 Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n")
}

/// A stream object of these bytes.
pub fn stream(entries: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("<< {entries} /Length {} >>\nstream\n", bytes.len());
    [head.as_bytes(), bytes, b"\nendstream"].concat()
}

pub fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("packed");
    encoder.finish().expect("packed")
}

impl PdfFile {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a page whose content stream is this.
    pub fn page(mut self, content: &str) -> Self {
        self.pages.push(Written {
            content: content.into(),
            ..Written::default()
        });
        self
    }

    fn last(mut self, change: impl FnOnce(&mut Written)) -> Self {
        change(self.pages.last_mut().expect("a page"));
        self
    }

    /// Packs the content of the last page.
    pub fn packed(self) -> Self {
        self.last(|page| page.packed = true)
    }

    /// Adds to the resources of the last page; `{0}` names the first of its objects.
    pub fn resources(self, resources: &str) -> Self {
        self.last(|page| page.resources.push_str(resources))
    }

    /// Adds to the entries of the last page; `{0}` names the first of its objects.
    pub fn entries(self, entries: &str) -> Self {
        self.last(|page| page.entries.push_str(entries))
    }

    /// Adds an object to the last page.
    pub fn object(self, object: impl Into<Vec<u8>>) -> Self {
        self.last(|page| page.objects.push(object.into()))
    }

    pub fn trailer(mut self, entries: &str) -> Self {
        self.trailer.push_str(entries);
        self
    }

    /// The document as bytes, with its table of objects.
    pub fn bytes(&self) -> Vec<u8> {
        // Objects 1 and 2 are the catalogue and the list of pages.
        let mut objects: Vec<Vec<u8>> = vec![b"<< /Type /Catalog /Pages 2 0 R >>".to_vec()];
        objects.push(Vec::new());
        let mut kids = String::new();
        for page in &self.pages {
            let first = objects.len() + 3;
            let named = |text: &str| {
                let all = 0..page.objects.len();
                all.fold(text.to_owned(), |text, index| {
                    let place = format!("{{{index}}}");
                    text.replace(&place, &format!("{} 0 R", first + index))
                })
            };
            let at = objects.len() + 1;
            write!(kids, "{at} 0 R ").expect("a text");
            let object = format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R {} \
                 /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica \
                 /Encoding /WinAnsiEncoding >> {} >> {} >> >>",
                at + 1,
                named(&page.entries),
                named(
                    page.resources
                        .split_once('|')
                        .map_or("", |(fonts, _)| fonts)
                ),
                named(
                    page.resources
                        .split_once('|')
                        .map_or(&*page.resources, |(_, rest)| rest)
                ),
            );
            objects.push(object.into());
            objects.push(if page.packed {
                stream("/Filter /FlateDecode", &packed(&page.content))
            } else {
                stream("", &page.content)
            });
            objects.extend(
                page.objects
                    .iter()
                    .map(|object| match std::str::from_utf8(object) {
                        Ok(text) => named(text).into_bytes(),
                        Err(_) => object.clone(),
                    }),
            );
        }
        let count = self.pages.len();
        objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {count} >>").into();
        let mut out = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
        for (index, object) in objects.iter().enumerate() {
            writeln!(table, "{:010} 00000 n ", out.len()).expect("a text");
            out.extend(format!("{} 0 obj\n", index + 1).into_bytes());
            out.extend(object);
            out.extend(b"\nendobj\n");
        }
        let start = out.len();
        let trailer = &self.trailer;
        out.extend(table.into_bytes());
        let size = objects.len() + 1;
        let end = format!(
            "trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n"
        );
        out.extend(end.into_bytes());
        out
    }
}
