; Rust: what is changed. The head of `mutants.rs` explains the names.
;
; What does not build shows nothing. So a value becomes `Default::default()`, which most types have.

[(attribute_item) (array_type) (type_arguments) (macro_definition)] @leave

((binary_expression operator: _ @arithmetic)
  (#set! "+" "-") (#set! "-" "+") (#set! "*" "/") (#set! "/" "*") (#set! "%" "*") (#set! "<<" ">>")
  (#set! ">>" "<<") (#set! "&" "|") (#set! "|" "&") (#set! "^" "&"))
((compound_assignment_expr operator: _ @arithmetic)
  (#set! "+=" "-=") (#set! "-=" "+=") (#set! "*=" "/=") (#set! "/=" "*=") (#set! "%=" "*=")
  (#set! "&=" "|=") (#set! "|=" "&=") (#set! "^=" "&=") (#set! "<<=" ">>=") (#set! ">>=" "<<="))
((unary_expression "-" @arithmetic) (#set! "_" ""))

((binary_expression operator: _ @comparison)
  (#set! "<" ">=") (#set! "<=" ">") (#set! ">" "<=") (#set! ">=" "<") (#set! "==" "!=")
  (#set! "!=" "=="))
((binary_expression operator: _ @boundary)
  (#set! "<" "<=") (#set! "<=" "<") (#set! ">" ">=") (#set! ">=" ">"))

((binary_expression operator: _ @boolean) (#set! "&&" "||") (#set! "||" "&&"))
((unary_expression "!" @boolean) (#set! "_" ""))
((boolean_literal) @boolean (#set! "true" "false") (#set! "false" "true"))
((if_expression condition: [(identifier) (call_expression) (field_expression)] @boolean)
  (#set! "_" "!@boolean"))

([
  (return_expression (_) @return-value)
  (match_arm value: (_) @return-value)
  (closure_expression body: (_) @return-value)
  (block (_expression) @return-value .)
]
  (#not-match? @return-value "^(None|0|true|false|\\(\\)|\\{\\}|\"\"|(Ok|Err)\\(.*)$") (#set! "_" "Default::default()"))

((expression_statement [(call_expression) (try_expression) (macro_invocation)] @call-removed)
  (#set! "_" "()"))

((call_expression arguments: (arguments (_) @argument-dropped))
  (#not-match? @argument-dropped "^([a-z]*#*\"|&|[|]|move\\b)|^(None|0|false)$") (#set! "_" "Default::default()"))

((block (_) @end) (#set! "_" " // @letters\n"))
((block (let_declaration pattern: [(identifier) @local (mut_pattern (identifier) @local)])
  @declaration) @scope)
(shorthand_field_initializer) @fixed
; A macro may show its arguments, as assert! does.
(macro_invocation (token_tree) @fixed)

((block (_) @reach .) (#set! "_" "panic!(concat!(\"@head\", \"@tail\")); @reach"))
((match_arm value: (_) @reach) (#not-match? @reach "^\\{")
  (#set! "_" "{ panic!(concat!(\"@head\", \"@tail\")); @reach }"))
