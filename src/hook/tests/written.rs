//! Lines that write files, each kind with honest ones as its control.

use super::super::Act;
use super::Ruling;
use super::slips::{ZONE, asked, assert_in, forbidden, free, ruled_in};

#[test]
fn the_targets_of_a_patch_are_not_known() {
    let lines = ["patch -p1 < in/x.patch", "patch -p1 -i in/x.patch"];
    assert_in("/w", &lines, ZONE, |it| it == Ruling::Prompt);
    assert_in("/w", &lines, None, asked);
    let lines = ["patch -po known", "patch -p1 -o known in/a"];
    assert_in("/w", &lines, ZONE, |it| it >= Ruling::Prompt);
    assert_in("/w", &["patch --dry-run -p1 -i known"], ZONE, free);
}

#[test]
fn long_options_are_known_when_they_are_cut_short() {
    let lines = [
        "cp -r --no-tar x/fake .",
        "cp -r --no-t x/fake .",
        "tar --remove-f -cf /tmp/x.tar .",
        "tar --rem -cf /tmp/x.tar .",
    ];
    assert_in("/w", &lines, None, forbidden);
    assert_in("/w", &["cp -r --no-clob x/fake ."], None, free);
}

#[test]
fn targets_are_found_in_clusters_and_behind_short_names() {
    assert_in(
        "/w",
        &[
            "cp -vt tests in/x.py",
            "cp -Rt tests in/x.py",
            "cp -at tests in/x.py",
            "cp -vttests in/x.py",
            "cp --target=tests in/x.py",
            "cp --t tests in/x.py",
            "ln -sft tests in/x.py",
            "mv -vt tests in/x.py",
            "install -Dm644 -vt tests in/x.py",
            "curl -sSLo tests/test_a.py http://x",
            "curl -sSLotests/test_a.py http://x",
            "curl --output tests/test_a.py http://x",
            "wget -qO tests/test_a.py http://x",
            "wget --output-d tests/test_a.py http://x",
            "sed --in-plac s/a/b/ tests/test_a.py",
            "sed -Ei s/a/b/ tests/test_a.py",
            "truncate --si 0 tests/test_a.py",
        ],
        ZONE,
        forbidden,
    );
    assert_in(
        "/w",
        &[
            "cp --unknown tests in/x.py",
            "cp -?t tests in/x.py",
            "curl --unheard-of tests/a http://x",
            "curl --outp tests/test_a.py http://x",
            "sed --unknown s/a/b/ in/a",
        ],
        ZONE,
        asked,
    );
    assert_in(
        "/w",
        &[
            "cp -vt in known",
            "cp -av in/a in/b",
            "cp --recursive --verbose known in/b",
            "mv -f in/a in/b",
            "ln -sf ../known in/link",
            "install -Dm644 known in/a",
            "curl -sSLo in/a http://x",
            "curl -fsSL -H 'A: b' -X POST -d @known http://x",
            "curl -s -o /dev/null -w '%{http_code}' http://x",
            "wget -qO- http://x",
            "wget -q -O in/a http://x",
            "sed -Ei.bak s/a/b/ in/a",
            "sed -i '' s/a/b/ in/a",
            "sed -n -e 1,20p -e '/we/p' known",
            "rm -rf in/a in/b",
            "touch -a in/a",
            "tee -a in/a",
        ],
        ZONE,
        free,
    );
}

#[test]
fn a_hard_link_opens_no_file_outside() {
    let lines = [
        "ln tests/test_a.py in/hard.py",
        "ln -f tests/test_a.py in/",
        "cp -l tests/test_a.py in/hard.py",
        "cp -al tests in/hard",
        "cp --link tests/test_a.py in/hard.py",
        "link tests/test_a.py in/hard.py",
    ];
    assert_in("/w", &lines, ZONE, forbidden);
    assert_in("/w", &["ln in/a in/b", "ln -s ../known in/b"], ZONE, free);
    let edit = |path: &str| ruled_in("/w", Act::Edit(vec![path.to_owned()]), ZONE);
    assert_eq!(edit("in/shared"), Ruling::Prompt);
    assert_eq!(edit("in/single"), Ruling::Allow);
    assert_in(
        "/w",
        &["sed -i s/a/b/ in/shared", "ls > in/shared"],
        ZONE,
        asked,
    );
}

#[test]
fn whatever_writes_is_held_to_the_zone() {
    assert_in(
        "/w",
        &[
            "sort -o tests/a in/a",
            "sort -uo tests/a in/a",
            "sort --outp=tests/a in/a",
            "uniq in/a tests/a",
            "find . -fprint tests/a",
            "find in -fprintf tests/a %p",
            "git diff --output=tests/a",
            "git log --outpu tests/a",
            "git checkout HEAD~1 -- tests/a",
            "git checkout -- tests/a",
            "git mv tests/a in/a",
            "git mv in/a tests/a",
            "git rm tests/a",
            "git restore tests/a",
            "git archive -o tests/a HEAD",
            "cd tests && curl -O http://x/a",
            "curl -sSO http://x/a",
            "wget http://x/a.py",
            "gzip tests/a",
            "gunzip tests/a.gz",
            "split in/a tests/a",
            "split in/a",
            "gsed -i s/a/b/ tests/a",
            "gcp in/a tests/a",
        ],
        ZONE,
        forbidden,
    );
    assert_in(
        "/w",
        &[
            "sed -n 'w tests/a' in/a",
            "sed 's/a/b/w tests/a' in/a",
            "sed -n -e p -e '1w tests/a' in/a",
            "sed '1e touch x' in/a",
            "sed -f in/script in/a",
            "git restore :/",
            "git checkout tests/a",
            "git -C sub mv in/a in/b",
            "git switch main",
            "git restore --pathspec-from-file=x",
            "sort --compress-program=in/x in/a",
            "split --filter='cat > $FILE' in/a in/b",
            "curl -w '%output{tests/a}' http://x",
            "curl -K in/config",
            "setarch x86_64 sed -i s/a/b/ tests/a",
            "chrt -b 0 sed -i s/a/b/ tests/a",
            "systemd-run --user rm tests/a",
        ],
        ZONE,
        asked,
    );
    assert_in(
        "/w",
        &[
            "taskset 1 rm tests/a",
            "taskset -c 0,1 rm tests/a",
            "unbuffer rm tests/a",
            "ionice -c 3 rm tests/a",
            "ionice --class 3 rm tests/a",
        ],
        ZONE,
        forbidden,
    );
    assert_in(
        "/w",
        &[
            "sort -u in/a",
            "sort -t, -k2,2n known",
            "sort -uo in/a known",
            "uniq -c known",
            "find . -name x -print",
            "git diff --stat HEAD~1",
            "git checkout -b topic",
            "git checkout HEAD -- in/a",
            "git switch -c topic",
            "git mv in/a in/b",
            "git rm in/a",
            "git rm --cached known",
            "git restore in/a",
            "git restore --staged known",
            "git log --oneline -5",
            "gzip -c known",
            "gzip in/a",
            "split -l 100 in/a in/b",
            "taskset 1 make",
            "ionice -c3 make",
        ],
        ZONE,
        free,
    );
}

#[test]
fn the_defaults_of_a_project_are_no_agents_to_write() {
    let lines = [
        "echo 'session = \"x\"' > comail.toml",
        "printf x >> sub/comail.toml",
        "printf x | tee -a comail.toml",
        "rm -f comail.toml",
        "rm *.toml",
        "mv in/a comail.toml",
        "mv comail.toml in/a",
        "cp in/a comail.toml",
        "ln -s in/a comail.toml",
        "sed -i d comail.toml",
        "truncate -s0 comail.toml",
        "curl -so comail.toml http://x",
        "wget -qO COMAIL.toml http://x",
        "sort -o comail.toml in/a",
        "comail config --example > comail.toml",
        "comail export --format csv comail.toml",
    ];
    assert_in("/w", &lines, None, forbidden);
    let edit = |path: &str| ruled_in("/w", Act::Edit(vec![path.to_owned()]), None);
    assert_eq!(edit("comail.toml"), Ruling::Forbid);
    assert_eq!(edit("a/comail.toml"), Ruling::Forbid);
    let honest = [
        "echo x > xcomail.toml",
        "echo x > Cargo.toml",
        "rm -rf build/* target",
        "rm *.log",
        "mv src lib",
    ];
    assert_in("/w", &honest, None, free);
    assert_eq!(edit("comail.toml.md"), Ruling::Leave);
}
