//! Opens a page in a browser: the one that `BROWSER` names, else the platform's.

use std::fmt::Write as _;
use std::io;
use std::process::{Command, Stdio};
use std::thread;

use url::Url;

/// Names the programs that open pages, as `name arguments`, separated by `:`; `%s` is the page.
const VARIABLE: &str = "BROWSER";

#[cfg(target_os = "macos")]
const PLATFORM: &[&str] = &["open"];
#[cfg(windows)]
const PLATFORM: &[&str] = &["rundll32.exe", "url.dll,FileProtocolHandler"];
#[cfg(not(any(target_os = "macos", windows)))]
const PLATFORM: &[&str] = &["xdg-open"];

/// Starts the first program that starts, and does not wait for it.
pub(super) fn open_browser(page: &Url) -> io::Result<()> {
    let named = std::env::var(VARIABLE).unwrap_or_default();
    let mut ended = Err(io::ErrorKind::NotFound.into());
    for words in programs(&named, page) {
        ended = start(&words);
        if ended.is_ok() {
            break;
        }
    }
    ended
}

/// The command lines that open `page`, as `named` has them, then the platform's.
///
/// No shell reads them; but one that `named` has may read the page's address.
fn programs(named: &str, page: &Url) -> Vec<Vec<String>> {
    let web = matches!(page.scheme(), "http" | "https");
    let platform = PLATFORM.iter().map(|word| (*word).to_owned()).collect();
    let named = named.split(':').filter_map(shlex::split);
    let all = named
        .chain([platform])
        .filter(|words| web && !words.is_empty());
    all.map(|words| with_page(words, &inert(page))).collect()
}

/// The address of `page` without a character by which a shell does more than pass it on; what
/// is escaped leads to the same page.
fn inert(page: &Url) -> String {
    let mut inert = String::with_capacity(page.as_str().len());
    for c in page.as_str().chars() {
        if c.is_ascii_alphanumeric() || "-._~:/?#[]@!*+,=%".contains(c) {
            inert.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string does not fail.
                let _ = write!(inert, "%{byte:02X}");
            }
        }
    }
    inert
}

fn with_page(mut words: Vec<String>, page: &str) -> Vec<String> {
    if words.iter().any(|word| word.contains("%s")) {
        let put = words.iter().map(|word| word.replace("%s", page));
        return put.collect();
    }
    words.push(page.to_owned());
    words
}

fn start(words: &[String]) -> io::Result<()> {
    let Some((program, args)) = words.split_first() else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // What is typed at the terminal later, such as Ctrl-C, is not for the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    thread::spawn(move || child.wait());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(named: &str, page: &str) -> Vec<String> {
        let programs = programs(named, &Url::parse(page).unwrap());
        programs.iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn what_is_named_goes_before_the_platforms_own() {
        let lines = lines(
            "fox --new:'my lynx' -u=%s::'broken",
            "https://a.example/$(x)?%s",
        );
        assert_eq!(lines[0], "fox --new https://a.example/%24%28x%29?%s");
        assert_eq!(lines[1], "my lynx -u=https://a.example/%24%28x%29?%s");
        assert_eq!(lines.len(), 3, "{lines:?}");
    }

    #[test]
    fn nothing_but_a_web_page_is_opened() {
        for page in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
        ] {
            assert_eq!(lines("fox", page), Vec::<String>::new());
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_told_of() {
        let words = ["/nowhere/fox".to_owned()];
        assert_eq!(start(&words).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
