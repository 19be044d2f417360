//! Each operator in each language, what is left alone, and what changes nothing.

use proptest::prelude::*;
use strum::IntoEnumIterator as _;

use super::*;

const ALL: usize = 10_000;

fn seed() -> Digest {
    Digest::of(b"seed")
}

fn all_lines(source: &str) -> RangeInclusive<u32> {
    1..=u32::try_from(source.lines().count()).unwrap().max(1)
}

/// Every mutant of the file, as `arithmetic: a - b`, in order.
fn made(language: Language, source: &str) -> Vec<String> {
    let mut made = mutants(language, source, &all_lines(source), &seed(), ALL);
    made.sort_by(|one, other| (one.line, &one.text).cmp(&(other.line, &other.text)));
    let shown = made.into_iter().map(|it| {
        let name: &str = it.operator.into();
        format!("{name}: {}", it.put)
    });
    let mut shown: Vec<_> = shown.collect();
    shown.sort();
    shown
}

#[test]
fn a_file_s_extension_says_its_language() {
    for (path, language) in [
        ("src/a.py", Some(Language::Python)),
        ("a.rs", Some(Language::Rust)),
        ("a.mjs", Some(Language::JavaScript)),
        ("a.ts", Some(Language::TypeScript)),
        ("a.tsx", Some(Language::Tsx)),
        ("a.go", Some(Language::Go)),
        ("a.lua", None),
        ("py", None),
    ] {
        assert_eq!(Language::of(path), language, "{path}");
    }
}

#[test]
fn every_capture_of_every_query_is_known() {
    let names = [
        "leave",
        "within",
        "end",
        "local",
        "declaration",
        "scope",
        "fixed",
        "reach",
        "caught",
    ];
    for language in Language::iter() {
        let query = language.query().unwrap();
        for operator in Operator::iter() {
            let name: &str = operator.into();
            assert!(
                query.capture_names().contains(&name),
                "{language:?}: {name}"
            );
        }
        for pattern in 0..query.pattern_count() {
            let settings = query.property_settings(pattern);
            assert!(settings.iter().all(|it| it.value.is_some()), "{language:?}");
        }
        let of_templates = [
            "first",
            "receiver",
            "function",
            "arguments",
            "value",
            "second",
        ];
        let types = ["type", "first-type", "second-type"];
        let known = |name: &&&str| {
            name.parse::<Operator>().is_ok()
                || [&names[..], &of_templates, &types].concat().contains(*name)
        };
        let mut captures = query.capture_names().iter();
        assert_eq!(captures.find(|name| !known(name)), None, "{language:?}");
    }
}

/// One statement for each operator, and all that becomes of it. Nothing else is made.
#[test]
fn each_operator_of_python_fires() {
    for (statement, expected) in [
        ("x = a - b", &["arithmetic: x = a + b"][..]),
        ("x //= b", &["arithmetic: x *= b"]),
        ("x = -a", &["arithmetic: x = a"]),
        ("x = a == b", &["comparison: x = a != b"]),
        ("x = a not in b", &["comparison: x = a in b"]),
        (
            "x = a < b",
            &["boundary: x = a <= b", "comparison: x = a >= b"],
        ),
        ("x = a and b", &["boolean: x = a or b"]),
        ("x = True", &["boolean: x = False"]),
        ("x = not a", &["boolean: x =  a"]),
        ("if a: pass", &["boolean: if not a: pass"]),
        ("x = a if b else c", &["boolean: x = a if not b else c"]),
        ("return a", &["return-value: return None"]),
        ("x = lambda: a", &["return-value: x = lambda: None"]),
        ("x = a.strip()", &["call-removed: x = a"]),
        ("raise a", &["call-removed: pass"]),
        (
            "raise E(a - b)",
            &["call-removed: pass", "call-removed: raise a - b"],
        ),
        (
            "x = f(a)",
            &["argument-dropped: x = f()", "call-removed: x = a"],
        ),
        (
            "f(a, *b)",
            &[
                "argument-dropped: f( *b)",
                "argument-dropped: f(a)",
                "call-removed: a",
            ],
        ),
        ("f(k=a)", &["argument-dropped: f()"]),
        ("f('a')", &["call-removed: 'a'"]),
    ] {
        let source = format!("def f(a, b):\n    {statement}\n");
        assert_eq!(made(Language::Python, &source), expected, "{statement}");
    }
}

#[test]
fn each_operator_of_rust_fires() {
    for (statement, expected) in [
        ("let x = a - b;", &["arithmetic: let x = a + b;"][..]),
        ("x *= b;", &["arithmetic: x /= b;"]),
        ("let x = -a;", &["arithmetic: let x = a;"]),
        ("let x = a == b;", &["comparison: let x = a != b;"]),
        (
            "let x = a >= b;",
            &["boundary: let x = a > b;", "comparison: let x = a < b;"],
        ),
        ("let x = a && b;", &["boolean: let x = a || b;"]),
        ("let x = true;", &["boolean: let x = false;"]),
        ("let x = !a;", &["boolean: let x = a;"]),
        ("if a.b {}", &["boolean: if !a.b {}"]),
        ("return a;", &["return-value: return Default::default();"]),
        ("a", &["return-value: Default::default()"]),
        (
            "let x = |y| y;",
            &["return-value: let x = |y| Default::default();"],
        ),
        (
            "match a { 0 => None, _ => b };",
            &["return-value: match a { 0 => None, _ => Default::default() };"],
        ),
        ("a.push();", &["call-removed: ();"]),
        ("a()?;", &["call-removed: ();"]),
        ("assert!(a - b);", &["call-removed: ();"]),
        (
            "let x = f(a, \"a\");",
            &["argument-dropped: let x = f(Default::default(), \"a\");"],
        ),
        ("let x = f(&a, |a| {}, 0);", &[]),
        (
            "return Err(1);",
            &["argument-dropped: return Err(Default::default());"],
        ),
        ("return None;", &[]),
    ] {
        let source = format!("fn f(a: u8) {{\n    {statement}\n}}\n");
        assert_eq!(made(Language::Rust, &source), expected, "{statement}");
    }
}

#[test]
fn each_operator_of_javascript_and_typescript_fires() {
    use Language::{JavaScript, Tsx, TypeScript};
    for (statement, expected) in [
        ("x = a - b;", &["arithmetic: x = a + b;"][..]),
        ("x += b;", &["arithmetic: x -= b;"]),
        ("x++;", &["arithmetic: x--;"]),
        ("x = -a;", &["arithmetic: x = a;"]),
        ("x = a === b;", &["comparison: x = a !== b;"]),
        (
            "x = a > b;",
            &["boundary: x = a >= b;", "comparison: x = a <= b;"],
        ),
        ("x = a || b;", &["boolean: x = a && b;"]),
        ("x = a ?? b;", &["boolean: x = a && b;"]),
        ("x = false;", &["boolean: x = true;"]),
        ("x = !a;", &["boolean: x = a;"]),
        ("if (a.b) {}", &["boolean: if (!a.b) {}"]),
        ("x = a ? b : c;", &["boolean: x = !a ? b : c;"]),
        ("return a;", &["return-value: return undefined;"]),
        ("x = () => a;", &["return-value: x = () => undefined;"]),
        ("x = a.trim();", &["call-removed: x = a;"]),
        ("throw a;", &["call-removed: ;"]),
        ("throw new E(a - b);", &["call-removed: ;"]),
        (
            "x = f(a);",
            &["argument-dropped: x = f();", "call-removed: x = a;"],
        ),
        (
            "f('a', b);",
            &["argument-dropped: f('a');", "call-removed: 'a';"],
        ),
        ("throw new Error(`a - b`);", &["call-removed: ;"]),
    ] {
        let source = format!("function f(a, b) {{\n    {statement}\n}}\n");
        for language in [JavaScript, TypeScript, Tsx] {
            assert_eq!(
                made(language, &source),
                expected,
                "{language:?}: {statement}"
            );
        }
    }
}

#[test]
fn each_operator_of_go_fires() {
    for (statement, expected) in [
        ("x = a - b", &["arithmetic: x = a + b"][..]),
        ("x += b", &["arithmetic: x -= b"]),
        ("x++", &["arithmetic: x--"]),
        ("x = -a", &["arithmetic: x = a"]),
        ("x = a == b", &["comparison: x = a != b"]),
        (
            "x = a <= b",
            &["boundary: x = a < b", "comparison: x = a > b"],
        ),
        ("x = a && b", &["boolean: x = a || b"]),
        ("x = true", &["boolean: x = false"]),
        ("x = !a", &["boolean: x = a"]),
        ("if a.b {}", &["boolean: if !a.b {}"]),
        (
            "return a, nil",
            &["return-value: _ = []any{a}; return *new(int), nil"],
        ),
        (
            "return 0, a",
            &["return-value: _ = []any{a}; return 0, *new(error)"],
        ),
        (
            "func() string { return a }",
            &["return-value: func() string { _ = []any{a}; return *new(string) }"],
        ),
        ("func() { return a }", &[]),
        ("clear(a)", &["call-removed: func(...any) {}(a)"]),
        ("a.Do(b)", &["call-removed: _ = a.Do; func(...any) {}(b)"]),
        ("x = f(a)", &["call-removed: x = a"]),
        (
            "x = append(a, b)",
            &["argument-dropped: x = append(a)", "call-removed: x = a"],
        ),
        ("x = y{f(b, 2)}", &["argument-dropped: x = y{f(b, 0)}"]),
        // It cannot be written for both values at once.
        ("return f()", &[]),
    ] {
        let source = format!("package a\nfunc f(a, b int) (int, error) {{\n    {statement}\n}}\n");
        assert_eq!(made(Language::Go, &source), expected, "{statement}");
    }
}

#[test]
fn comments_texts_and_types_are_left_alone() {
    let python = r#"@cached(1 - 2, True)
def f(a: int | True, b: "x - y" = "a - b") -> int | str:
    """a - b

    >>> f(not a) == True
    """
    x: int | None = a  # a - b
    f"a - b"
"#;
    let rust = r#"/// a - b
#[cfg(all(a, not(b)))]
fn f<T: A + B>(a: [u8; 1 + 2], b: Foo<{ 3 + 4 }>) {
    // a - b
    let x: [u8; 1 - 2] = a; /* a - b */
    let y = "a - b";
}
"#;
    let typescript = r#"// a - b
type A = true | "a - b";
interface B { a: true }
function f(a: true, b?: "x - y"): true | typeof a {
    /* a - b */
    const x: true = a as true;
    const y = "a - b" + 0 as unknown as [false];
}
"#;
    let go = r#"// Package a: a - b
package a
func f(a [1 + 2]int) {
    // a - b
    x = "a - b" /* a - b */
}
"#;
    let javascript = "/** a - b */\nfunction f(a) {\n  // a - b\n  x = 'a - b'; // a\n}\n";
    for (language, source) in [
        (Language::Python, python),
        (Language::Rust, rust),
        (Language::Go, go),
        (Language::JavaScript, javascript),
    ] {
        assert_eq!(made(language, source), [""; 0], "{language:?}");
    }
    let expected = [r#"arithmetic: const y = "a - b" - 0 as unknown as [false];"#];
    assert_eq!(made(Language::TypeScript, typescript), expected);
    // A comment between arguments is none of them, and what a text runs is code.
    let commented = "f(\n    a,  # a - b\n    'b',\n)\nf'{a - b}'\n";
    let expected = [
        "argument-dropped: # a - b",
        "arithmetic: f'{a + b}'",
        "call-removed: a",
    ];
    assert_eq!(made(Language::Python, commented), expected);
}

const LOOP: &str = "def f(a):\n    if a < 1:\n        return a - 1\n    return a * 2 + 3 - 4 % a\n";

#[test]
fn only_the_lines_that_are_named_are_changed() {
    let of = |lines| {
        let made = mutants(Language::Python, LOOP, &lines, &seed(), ALL);
        let mut lines: Vec<_> = made.iter().map(|it| it.line).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(of(3..=3), [3, 3]);
    assert_eq!(of(2..=3), [2, 2, 3, 3]);
    assert_eq!(of(1..=1), [0; 0]);
    assert_eq!(of(9..=12), [0; 0]);
    // A call that ends elsewhere is changed only where all of it may be.
    let long = "x = f(\n    a - b,\n)\n";
    let made = mutants(Language::Python, long, &(2..=2), &seed(), ALL);
    let mut made: Vec<_> = made.iter().map(|it| &*it.put).collect();
    made.sort_unstable();
    assert_eq!(made, ["", "a + b,"]);
}

#[test]
fn the_seed_decides_which_are_made_and_in_which_order() {
    let of = |seed: &[u8], bound| {
        mutants(
            Language::Python,
            LOOP,
            &all_lines(LOOP),
            &Digest::of(seed),
            bound,
        )
    };
    let all = of(b"one", ALL);
    assert_eq!(all.len(), 9);
    assert_eq!(of(b"one", ALL), all);
    assert_eq!(of(b"one", 4), all[..4]);
    assert_eq!(of(b"one", 0), []);
    let other = of(b"two", ALL);
    assert_ne!(other, all);
    assert!(other.iter().all(|mutant| all.contains(mutant)));
}

#[test]
fn what_cannot_be_parsed_before_can_still_be_changed() {
    let source = "def f(a):\n    return a - 1\n\ndef g(:\n";
    let made = mutants(Language::Python, source, &(2..=2), &seed(), ALL);
    assert_eq!(made.len(), 2);
}

fn neutral_text(language: Language, source: &str) -> Option<String> {
    neutral(language, source, &all_lines(source), &seed()).map(|it| it.text)
}

#[test]
fn a_neutral_change_has_a_comment_an_empty_line_and_another_name() {
    let python = "def f(a):\n    n = a + 1\n    return g(n=n.n) - n\n";
    // `n` names an argument and an attribute too.
    let expected = "def  f(a):\n    n  =  a  +  1  # 19b25856\n\n    return  g(n=n.n)  -  n\n";
    assert_eq!(neutral_text(Language::Python, python).unwrap(), expected);
    let python = python.replace("n=n.n", "n");
    let found = neutral(Language::Python, &python, &(1..=3), &seed()).unwrap();
    let expected = "def  f(a):\n    n_19b25856  =  a  +  1  # 19b25856\n\n    return  g(n_19b25856)  -  n_19b25856\n";
    assert_eq!((&*found.text, found.line), (expected, 2));
    let what = "its spaces are wider, a comment and an empty line follow its line 2, and its variable \
        `n` is called `n_19b25856`";
    assert_eq!(found.what, what);
    for (language, source, expected) in [
        (
            Language::Rust,
            "fn f() -> u8 {\n    let n = 1;\n    n + n\n}\n",
            "fn  f()  ->  u8  {\n    let  n_19b25856  =  1; // 19b25856\n\n    n_19b25856  +  n_19b25856\n}\n",
        ),
        (
            Language::JavaScript,
            "function f(a) {\n  const n = a;\n  return `${n}`;\n}\n",
            "function  f(a)  {\n  const  n_19b25856  =  a; // 19b25856\n\n  return  `${n_19b25856}`;\n}\n",
        ),
        (
            Language::Tsx,
            "function f(a) {\n  let n: A = a\n  return <b c={n} />\n}\n",
            "function  f(a)  {\n  let  n_19b25856:  A  =  a // 19b25856\n\n  return  <b c={n_19b25856} />\n}\n",
        ),
        (
            Language::Go,
            "package a\nfunc f() int {\n\tn := 1\n\treturn n\n}\n",
            "package  a\nfunc  f()  int  {\n\tn_19b25856  :=  1 // 19b25856\n\n\treturn  n_19b25856\n}\n",
        ),
    ] {
        assert_eq!(neutral_text(language, source).unwrap(), expected);
    }
}

#[test]
fn the_seed_decides_what_a_neutral_change_adds() {
    let source = "def f(a):\n    n = a\n    return n\n";
    let of = |seed: &[u8]| neutral(Language::Python, source, &(1..=3), &Digest::of(seed)).unwrap();
    let [one, other] = [of(b"one"), of(b"other")];
    assert_eq!(one, of(b"one"));
    let added = |it: &Neutral| {
        let line = it.text.lines().nth(1).unwrap().split_whitespace();
        let words: Vec<_> = line.map(str::to_owned).collect();
        (words[0].clone(), words[4].clone())
    };
    let [(name, comment), (other_name, other_comment)] = [added(&one), added(&other)];
    assert!(name.starts_with("n_") && name != other_name, "{name}");
    assert_ne!(comment, other_comment);
}

/// Bodies of a function in which `n` may be more than a variable of its own.
#[test]
fn a_name_that_may_mean_something_else_is_kept() {
    for (language, bodies) in [
        (
            Language::Python,
            &[
                "global n\n    n = 1",
                "print(n)\n    n = 1",
                "n = n + 1",
                "n = 1\n    return a.n",
                "n = 1\n    return f(n=1)",
                "n = 1\n    return '{n}'.format(**locals())",
                "n = 1\n    return eval(a)",
                "n = 1\n    import n",
                "n = 1  # not n\n    return a",
                "n = 1\n    class B:\n        n = 2",
                "n = 1\n    return lambda n: n",
                "n = 1\n    return f'{n=}'",
                "_n = 1",
            ][..],
        ),
        (
            Language::Rust,
            &[
                "let n = n(1);",
                "g(n); let n = 1;",
                "let n = 1; println!(\"{n}\");",
                "let n = 1; A { n }",
                "let n = 1; A { n: 1 }",
                "let n = 1; a.n",
                "let n = 1; assert!(n < 2);",
            ],
        ),
        (
            Language::JavaScript,
            &[
                "const n = 1; return {n};",
                "const n = 1; return a.n;",
                "g(n); const n = 1;",
                "var n = 1;",
                "const n = (a) => a; return n;",
                "const n = class {}; return n;",
            ],
        ),
        (
            Language::Go,
            &[
                "n := n",
                "g(n)\n n := 1",
                "n := 1\n return A{n: 1}",
                "n := a.n",
            ],
        ),
    ] {
        for body in bodies {
            let source = match language {
                Language::Python => format!("def f(a):\n    {body}\n"),
                Language::Rust => format!("fn f() {{\n    {body}\n}}\n"),
                Language::Go => format!("package a\nfunc f() {{\n    {body}\n}}\n"),
                _ => format!("function f(a) {{\n    {body}\n}}\n"),
            };
            let found = neutral(language, &source, &all_lines(&source), &seed()).unwrap();
            assert!(!found.what.contains("is called"), "{}", found.text);
            assert_eq!(found.text.lines().count(), source.lines().count() + 1);
        }
    }
}

#[test]
fn a_comment_follows_only_the_last_statement_of_a_line() {
    let python = "def f(a):\n    x = '''\n    '''; y = a\n    return x\n";
    let expected = "def  f(a):\n    x_19b25856  =  '''\n    ''';  y  =  a  # 19b25856\n\n    return  x_19b25856\n";
    assert_eq!(neutral_text(Language::Python, python).unwrap(), expected);
    assert_eq!(neutral_text(Language::Python, "x=1\n"), None);
}

#[test]
fn wider_spaces_are_in_no_text_and_in_no_macro() {
    for (language, source, expected) in [
        (
            Language::Python,
            "x = f'a b {c + d}' if a not in b else 'a b'\n",
            "x  =  f'a b {c + d}'  if  a  not  in  b  else  'a b'\n",
        ),
        (
            Language::Rust,
            "fn f() { assert!(a == b); x = ' '; }\n",
            "fn  f()  {  assert!(a == b);  x  =  ' ';  }\n",
        ),
        (
            Language::JavaScript,
            "x = `a b ${c + d}` + / a b/.y\n",
            "x  =  `a b ${c + d}`  +  / a b/.y\n",
        ),
    ] {
        assert_eq!(neutral_text(language, source).as_deref(), Some(expected));
    }
}

/// The files that stop, each without what stays the same before and after.
fn stopped(language: Language, source: &str) -> Vec<String> {
    let stops = stops(language, source, &all_lines(source), "abcd");
    let texts = stops.into_iter().map(|stop| {
        assert!(!stop.text.contains("abcd"), "{}", stop.text);
        let lines = stop.text.lines().nth(stop.line as usize - 1);
        lines.unwrap_or_default().trim().to_owned()
    });
    texts.collect()
}

#[test]
fn the_program_stops_at_the_end_of_each_block() {
    let python = "def f(a):\n    'text'\n    if a:\n        b()\n        return 1\n    try:\n        c()\n    \
        except:\n        d()\n    return 2\n\ndef g():\n    'text'\n";
    let raise = "raise BaseException(\"ab\" + \"cd\")";
    assert_eq!(stopped(Language::Python, python), [raise; 3]);
    let rust = "fn f(a: u8) -> u8 {\n    if a > 1 {\n        return 1;\n    }\n    match a {\n        0 => g(),\n        \
        _ => {\n            1\n        }\n    }\n}\n";
    let panic = "panic!(concat!(\"ab\", \"cd\"));";
    let expected = ["return 1;", "1", "match a {"].map(|it| format!("{panic} {it}"));
    let mut found = stopped(Language::Rust, rust);
    found.retain(|it| it.starts_with("panic!"));
    found.sort();
    let mut sorted = expected.to_vec();
    sorted.sort();
    assert_eq!(found, sorted);
    assert!(stopped(Language::Rust, rust).contains(&format!("0 => {{ {panic} g() }},")));
    let js = "function f(a) {\n  if (a) return 1;\n  try { b(); } catch { c(); }\n  switch (a) {\n    case 2:\n      \
        d();\n      break;\n  }\n}\n";
    let throws = "throw new Error(\"ab\" + \"cd\");";
    let found = stopped(Language::JavaScript, js);
    for expected in [
        format!("if (a) {{ {throws} return 1; }}"),
        format!("try {{ b(); }} catch {{ {throws} c(); }}"),
        format!("{throws} break;"),
        format!("{throws} switch (a) {{"),
    ] {
        assert!(found.contains(&expected), "{expected}: {found:#?}");
    }
    assert_eq!(found.len(), 4, "{found:#?}");
    assert_eq!(stopped(Language::TypeScript, js), found);
    let go = "package a\nfunc f() int {\n\tif a {\n\t\tb()\n\t}\n\treturn 1\n}\n";
    let panic = "panic(\"ab\" + \"cd\");";
    let mut found = stopped(Language::Go, go);
    found.sort();
    assert_eq!(found, [format!("{panic} b()"), format!("{panic} return 1")]);
}

/// Statements of each language, which can follow each other in any order.
fn statements(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => &[
            "n = a - b * -c // 2",
            "if a < b and not c:\n        return f(a, *b, k=True)",
            "for x in a:\n        n += x.strip()",
            "text = f'{a + b}' if a in b else None  # a - b",
            "raise ValueError('a - b', a)",
            "s = '''\n  a - b\n'''; t = [x for x in a if x >= 1]",
            "yield lambda v: v.size() != 2",
            "def g(가: int | None = -1) -> bool:\n        return 가 is not None",
        ],
        Language::Rust => &[
            "let n = a - b * -c;",
            "if a < b && !c { return f(a, \"a - b\"); }",
            "for x in a { n += x; }",
            "let t = match a { 0 => Some(-1), _ if a >= b => None, _ => x.y()? };",
            "println!(\"{}\", a - b);",
            "let 가 = |x: u8| x + 1; // a - b",
            "a.push(b);",
        ],
        Language::Go => &[
            "n := a - b*-c",
            "if a < b && !c { return f(a, \"a - b\"), nil }",
            "for i := 0; i < len(a); i++ { n += a[i] }",
            "fmt.Println(\"a - b\", n)",
            "a = append(a, b, 3)",
            "가 := func(x int) int { return x + 1 } // a - b",
        ],
        _ => &[
            "const n = a - b * -c;",
            "if (a < b && !c) { return f(a, ...b); }",
            "for (let i = 0; i < 3; i++) { m += i }",
            "let 가 = (x) => x ?? g(x.trim(), 'a - b')",
            "throw new Error(`${a + b} - c`, { cause: a });",
            "d = a ? true : { n };",
        ],
    }
}

fn function(language: Language, statements: &[&str]) -> String {
    let body = statements.join("\n    ");
    match language {
        Language::Python => format!("def f(a, b, c):\n    {body}\n    return a\n"),
        Language::Rust => format!("fn f(a: u8) -> u8 {{\n    {body}\n    a\n}}\n"),
        Language::Go => format!("package a\n\nfunc f(a int) (int, error) {{\n    {body}\n}}\n"),
        _ => format!("function f(a, b) {{\n    {body}\n}}\n"),
    }
}

fn any_function() -> impl Strategy<Value = (Language, String)> {
    let languages: Vec<_> = Language::iter().collect();
    prop::sample::select(languages).prop_flat_map(|language| {
        let statement = prop::sample::select(statements(language));
        let body = prop::collection::vec(statement, 1..8);
        body.prop_map(move |body| (language, function(language, &body)))
    })
}

proptest! {
    #[test]
    fn every_change_can_be_parsed_and_differs((language, source) in any_function()) {
        let is_sound = |text: &str| errors(&language.parse(text).unwrap()) == 0;
        prop_assert!(is_sound(&source), "{}", source);
        let lines = all_lines(&source);
        let made = mutants(language, &source, &lines, &seed(), ALL);
        prop_assert!(!made.is_empty());
        for mutant in made {
            prop_assert!(mutant.text != source && is_sound(&mutant.text), "{}", mutant.text);
            prop_assert!(lines.contains(&mutant.line));
        }
        let neutral = neutral(language, &source, &lines, &seed());
        if let Some(Neutral { text, .. }) = neutral {
            prop_assert!(text != source && is_sound(&text), "{}", text);
        }
    }

    #[test]
    fn any_text_can_be_looked_at(
        source in "[a-z0-9가(){}:;,.'\"#/\\-+<=>\n ]{0,80}",
        language in prop::sample::select(Language::iter().collect::<Vec<_>>()),
        first in 1u32..5,
        more in 0u32..9,
    ) {
        let lines = first..=first + more;
        for mutant in mutants(language, &source, &lines, &seed(), 20) {
            prop_assert!(mutant.text != source);
        }
        neutral(language, &source, &lines, &seed());
        stops(language, &source, &lines, "abcd");
    }
}
