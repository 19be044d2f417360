//! Bodies that are replaced, in files that still parse.

use proptest::prelude::*;

use super::*;

const RAISE: &str = "raise NotImplementedError('x')";

fn whole(source: &str, language: Language, with: &str) -> Result<String, NoBody> {
    let lines = u32::try_from(source.lines().count()).unwrap_or(u32::MAX);
    replace_body(source, &(1..=lines), language, with)
}

fn python(source: &str) -> Result<String, NoBody> {
    whole(source, Language::Python, RAISE)
}

#[test]
fn python_keeps_decorators_and_the_signature() {
    let source = "import x\n\n@cache(\n    size=3,\n)\n# note: def\nasync def f(\n    a: dict[str, int] = {'k': 1},  # ):\n    b=lambda x: x,\n) -> \"x:\":  # yes\n    '''Doc:\n\nnot indented\n    '''\n    if a:\n        return (\n1)\n    return s[1:2]\n\n\ndef g():\n    pass\n";
    let new = replace_body(source, &(3..=18), Language::Python, RAISE).expect("a body");
    assert_eq!(
        new,
        "import x\n\n@cache(\n    size=3,\n)\n# note: def\nasync def f(\n    a: dict[str, int] = {'k': 1},  # ):\n    b=lambda x: x,\n) -> \"x:\":\n    raise NotImplementedError('x')\n\n\ndef g():\n    pass\n"
    );
}

#[test]
fn python_one_liners_and_lambdas() {
    assert_eq!(
        python("def f(): return 1"),
        Ok(format!("def f():\n    {RAISE}"))
    );
    assert_eq!(
        python("def f(a='\\':'): return a\n"),
        Ok(format!("def f(a='\\':'):\n    {RAISE}\n"))
    );
    assert_eq!(
        python("f = lambda a, b=1: a + b\n"),
        Ok(format!("def f(a, b=1):\n    {RAISE}\n"))
    );
    assert_eq!(
        python("  f: F = lambda: 0\n"),
        Ok(format!("  def f():\n      {RAISE}\n"))
    );
    let both = whole(
        "def f(): return 1\n",
        Language::Python,
        "x = 1\n\nreturn x\n",
    );
    assert_eq!(both.as_deref(), Ok("def f():\n    x = 1\n\n    return x\n"));
}

#[test]
fn python_indents_as_the_body_does() {
    let source = "class A:\r\n\tdef f(self):\r\n\t\treturn 1\r\n\r\n\tdef g(self): ...\r\n";
    let new = replace_body(source, &(2..=3), Language::Python, "return None");
    assert_eq!(
        new.as_deref(),
        Ok("class A:\r\n\tdef f(self):\r\n\t\treturn None\r\n\r\n\tdef g(self): ...\r\n")
    );
}

#[test]
fn python_refuses_what_is_no_whole_function() {
    let source = "def f():\n    a = 1\n    return a\ndef g():\n    return 2\n";
    let why = |lines| replace_body(source, &lines, Language::Python, RAISE).unwrap_err();
    assert_eq!(why(1..=2), NoBody::CutOff);
    assert_eq!(why(1..=1), NoBody::CutOff);
    assert_eq!(why(1..=5), NoBody::More);
    assert_eq!(why(2..=3), NoBody::NoFunction);
    assert_eq!(why(4..=6), NoBody::NoSuchLines);
    assert_eq!(why(0..=1), NoBody::NoSuchLines);
    assert_eq!(python("class A:\n    x = 1\n"), Err(NoBody::NoFunction));
    assert_eq!(python("def f(\n"), Err(NoBody::CutOff));
    assert_eq!(python("f = lambda a={1: 2}: a\n"), Err(NoBody::NoFunction));
    assert_eq!(python("f = lambda a: a; g = 1\n"), Err(NoBody::NoFunction));
    assert_eq!(
        whole("def f(): pass\n", Language::Python, " "),
        Err(NoBody::BadReplacement)
    );
}

#[test]
fn rust_bodies() {
    let rust = |source: &str| whole(source, Language::Rust, "panic!(\"x\")");
    let source = "/// Gives `{`.\n#[doc = \"{\"]\npub(crate) fn f<'a, const N: usize = { 1 + 1 }>(x: &'a [u8; { 3 }], c: char) -> impl Fn(u8) -> Vec<u8> + 'a\nwhere\n    [(); { N }]:,\n{\n    /* } /* } */ */\n    let s = r#\"}\"#; let t = '}'; let u = '\\''; let b = b'{';\n    // }\n    move |_| vec![]\n}\n";
    let new = rust(source).expect("a body");
    assert!(
        new.ends_with("    [(); { N }]:,\n{ panic!(\"x\") }\n"),
        "{new}"
    );
    assert!(
        new.starts_with("/// Gives `{`.\n#[doc = \"{\"]\npub(crate) fn f<'a,"),
        "{new}"
    );
    assert_eq!(
        rust("fn f() -> u8 { 1 }\n").as_deref(),
        Ok("fn f() -> u8 { panic!(\"x\") }\n")
    );
    assert_eq!(rust("fn f();\n"), Err(NoBody::NoFunction));
    assert_eq!(
        rust("impl A {\n    fn f() {}\n}\n"),
        Err(NoBody::NoFunction)
    );
    assert_eq!(rust("fn f() {}\nfn g() {}\n"), Err(NoBody::More));
    assert_eq!(rust("fn f() {\n    if x {\n"), Err(NoBody::CutOff));
    let noted = whole("fn f() {}\n", Language::Rust, "todo!() // {");
    assert_eq!(noted.as_deref(), Ok("fn f() {\ntodo!() // {\n}\n"));
    assert_eq!(
        whole("fn f() {}\n", Language::Rust, "} fn g() {"),
        Err(NoBody::BadReplacement)
    );
    assert_eq!(
        whole("fn f() {}\n", Language::Rust, "{"),
        Err(NoBody::BadReplacement)
    );
}

#[test]
fn comments_within_comments_cost_little() {
    let source = format!(
        "{}{}fn f() {{}}\n",
        "/*".repeat(1 << 18),
        "*/".repeat(1 << 18)
    );
    assert!(whole(&source, Language::Rust, "0").is_ok_and(|new| new.ends_with("fn f() { 0 }\n")));
}

#[test]
fn go_bodies() {
    let go = |source: &str| whole(source, Language::Go, "panic(0)");
    let source = "// F does {.\nfunc (s *S[T]) F(a func(int) struct{}, b map[string]interface{}) (x struct{ y int }, err error) {\n\ts := `}` + \"}\"\n\tif r == '}' {\n\t}\n\treturn\n}\n";
    let new = go(source).expect("a body");
    assert!(new.ends_with("err error) { panic(0) }\n"), "{new}");
    assert_eq!(
        go("func f() interface{ M() } {\n\treturn nil\n}\n").as_deref(),
        Ok("func f() interface{ M() } { panic(0) }\n")
    );
    assert_eq!(go("type T struct {\n}\n"), Err(NoBody::NoFunction));
    assert_eq!(go("func f()\n"), Err(NoBody::CutOff));
}

#[test]
fn javascript_bodies() {
    let js = |source: &str| whole(source, Language::Javascript, "throw 0");
    let cases = [
        (
            "export async function* f({ a = '{' }, [b] = []) { return `${`}`} }` + /[}/]}/.source; }\n",
            "export async function* f({ a = '{' }, [b] = []) { throw 0 }\n",
        ),
        (
            "const f = (a) => {\n  return a / 2; // }\n};\n",
            "const f = (a) => { throw 0 };\n",
        ),
        (
            "const f = a => a + [1, { b: 2 }].length;\n",
            "const f = a => { throw 0 };\n",
        ),
        (
            "const f = () => ({ a: 1 })\n",
            "const f = () => { throw 0 }\n",
        ),
        (
            "  get value() { return 1 },\n",
            "  get value() { throw 0 },\n",
        ),
        (
            "f(a: { b: number }): { c: number } | null {\n  return a;\n}\n",
            "f(a: { b: number }): { c: number } | null { throw 0 }\n",
        ),
        (
            "module.exports = function (x) { if (x) { y() } };\n",
            "module.exports = function (x) { throw 0 };\n",
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(js(source).as_deref(), Ok(expected), "{source}");
    }
    assert_eq!(js("if (x) {\n}\n"), Err(NoBody::NoFunction));
    assert_eq!(js("class A {\n}\n"), Err(NoBody::NoFunction));
    assert_eq!(js("function f() {}\nfunction g() {}\n"), Err(NoBody::More));
    assert_eq!(js("function f() {\n"), Err(NoBody::CutOff));
    assert_eq!(js("const x = 1;\n"), Err(NoBody::NoFunction));
    assert_eq!(
        js("const f = a => a\nconst g = b => b\n"),
        Err(NoBody::More)
    );
}

#[test]
fn lines_are_replaced_as_they_are() {
    let new = replace_body("a\nb\nc\n", &(2..=2), Language::Lines, "x\ny");
    assert_eq!(new.as_deref(), Ok("a\nx\ny\nc\n"));
    assert_eq!(
        replace_body("a\nb", &(2..=2), Language::Lines, "").as_deref(),
        Ok("a\n")
    );
    assert_eq!(
        replace_body("", &(1..=1), Language::Lines, ""),
        Err(NoBody::NoSuchLines)
    );
    let huge = replace_body("a\n", &(1..=u32::MAX), Language::Lines, "");
    assert_eq!(huge, Err(NoBody::NoSuchLines));
}

proptest! {
    #[test]
    fn never_panics_and_keeps_the_rest(
        text in ".{0,80}",
        pieces in "(def f|fn f|func f|function f|async |@x|lambda|=>|=|:|;|,|\\(|\\)|\\{|\\}|\\[|\\]|<|>|\"|'|`|\\$\\{|/|//|/\\*|\\*/|#|\\\\|\r\n|\n|    |r#\"|'''|가|x|return ){0,24}",
        first in 0_u32..4,
        last in 0_u32..6,
    ) {
        for language in [Language::Python, Language::Rust, Language::Javascript, Language::Go, Language::Lines] {
            for source in [&text, &pieces] {
                let lines = RangeInclusive::new(first, last);
                if let Ok(new) = replace_body(source, &lines, language, "x") {
                    let before: String = source.split_inclusive('\n').take(first as usize - 1).collect();
                    let after: String = source.split_inclusive('\n').skip(last as usize).collect();
                    prop_assert!(new.starts_with(&before) && new.ends_with(&after));
                }
            }
        }
    }
}
