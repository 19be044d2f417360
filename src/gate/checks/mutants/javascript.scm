; JavaScript, and TypeScript as well: what is changed. The head of `mutants.rs` explains the names.

(decorator) @leave
; What an error says: tests ask that it is thrown.
(throw_statement (new_expression arguments: (_) @leave))

((binary_expression operator: _ @arithmetic)
  (#set! "+" "-") (#set! "-" "+") (#set! "*" "/") (#set! "/" "*") (#set! "%" "*") (#set! "**" "*")
  (#set! "<<" ">>") (#set! ">>" "<<") (#set! ">>>" "<<") (#set! "&" "|") (#set! "|" "&")
  (#set! "^" "&"))
((augmented_assignment_expression operator: _ @arithmetic)
  (#set! "+=" "-=") (#set! "-=" "+=") (#set! "*=" "/=") (#set! "/=" "*=") (#set! "%=" "*=")
  (#set! "&=" "|=") (#set! "|=" "&=") (#set! "<<=" ">>=") (#set! ">>=" "<<="))
((update_expression operator: _ @arithmetic) (#set! "++" "--") (#set! "--" "++"))
((unary_expression operator: "-" @arithmetic) (#set! "_" ""))

((binary_expression operator: _ @comparison)
  (#set! "<" ">=") (#set! "<=" ">") (#set! ">" "<=") (#set! ">=" "<") (#set! "==" "!=")
  (#set! "!=" "==") (#set! "===" "!==") (#set! "!==" "==="))
((binary_expression operator: _ @boundary)
  (#set! "<" "<=") (#set! "<=" "<") (#set! ">" ">=") (#set! ">=" ">"))

((binary_expression operator: _ @boolean)
  (#set! "&&" "||") (#set! "||" "&&") (#set! "??" "&&"))
((unary_expression operator: "!" @boolean) (#set! "_" ""))
([(true) (false)] @boolean (#set! "true" "false") (#set! "false" "true"))
((if_statement condition: (parenthesized_expression
    [(identifier) (call_expression) (member_expression) (subscript_expression)] @boolean))
  (#set! "_" "!@boolean"))
((ternary_expression condition:
    [(identifier) (call_expression) (member_expression) (subscript_expression)] @boolean)
  (#set! "_" "!@boolean"))

([
  (return_statement (_) @return-value)
  (yield_expression (_) @return-value)
  (arrow_function body: (_) @return-value)
] (#set! "_" "undefined"))

((call_expression arguments: (arguments . (_) @first)) @call-removed
  (#not-match? @first "^\\.\\.\\.") (#set! "_" "@first"))
((call_expression function: (member_expression object: (_) @receiver)
    arguments: (arguments "(" . ")"))
  @call-removed (#set! "_" "@receiver"))
((throw_statement) @call-removed (#set! "_" ";"))

((arguments "(" . (_) @first . ")") @argument-dropped
  (#not-match? @first "^[\"'`]") (#set! "_" "()"))
((arguments (_) @argument-dropped . "," @argument-dropped)
  (#not-match? @argument-dropped "^[\"'`]") (#set! "_" ""))
((arguments "," @argument-dropped . (_) @argument-dropped . ")")
  (#not-match? @argument-dropped "^[\"'`]") (#set! "_" ""))

((statement_block (_) @end) (#set! "_" " // @letters\n"))
((statement_block (lexical_declaration (variable_declarator name: (identifier) @local))
  @declaration) @scope)
; A function is called as the variable in which it begins.
(variable_declarator name: (identifier) @fixed
  value: [(arrow_function) (class) (function_expression) (generator_function)])

((statement_block (_) @reach .) (#set! "_" "throw new Error(\"@head\" + \"@tail\"); @reach"))
((if_statement consequence: (_) @reach) (#not-match? @reach "^\\{")
  (#set! "_" "{ throw new Error(\"@head\" + \"@tail\"); @reach }"))
([(switch_case (_) (_) @reach .) (switch_default (_) @reach .)]
  (#set! "_" "throw new Error(\"@head\" + \"@tail\"); @reach"))
(try_statement body: (_) @caught)
