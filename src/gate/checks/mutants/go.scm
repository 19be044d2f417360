; Go: what is changed. The head of `mutants.rs` explains the names.
;
; What Go refuses to build shows nothing. So a value that is not used any more goes to `_`.

[(type_arguments) (array_type)] @leave

((binary_expression operator: _ @arithmetic)
  (#set! "+" "-") (#set! "-" "+") (#set! "*" "/") (#set! "/" "*") (#set! "%" "*") (#set! "<<" ">>")
  (#set! ">>" "<<") (#set! "&" "|") (#set! "|" "&") (#set! "^" "&") (#set! "&^" "&"))
((assignment_statement operator: _ @arithmetic)
  (#set! "+=" "-=") (#set! "-=" "+=") (#set! "*=" "/=") (#set! "/=" "*=") (#set! "%=" "*=")
  (#set! "&=" "|=") (#set! "|=" "&=") (#set! "<<=" ">>=") (#set! ">>=" "<<="))
((inc_statement "++" @arithmetic) (#set! "_" "--"))
((dec_statement "--" @arithmetic) (#set! "_" "++"))
((unary_expression operator: "-" @arithmetic) (#set! "_" ""))

((binary_expression operator: _ @comparison)
  (#set! "<" ">=") (#set! "<=" ">") (#set! ">" "<=") (#set! ">=" "<") (#set! "==" "!=")
  (#set! "!=" "=="))
((binary_expression operator: _ @boundary)
  (#set! "<" "<=") (#set! "<=" "<") (#set! ">" ">=") (#set! ">=" ">"))

((binary_expression operator: _ @boolean) (#set! "&&" "||") (#set! "||" "&&"))
((unary_expression operator: "!" @boolean) (#set! "_" ""))
([(true) (false)] @boolean (#set! "true" "false") (#set! "false" "true"))
((if_statement condition: [(identifier) (call_expression) (selector_expression)] @boolean)
  (#set! "_" "!@boolean"))

(_ result: (_) @type) @within
(func_literal) @within
(_ result: (parameter_list
  . (parameter_declaration type: (_) @first-type)
  . (parameter_declaration type: (_) @second-type) .)) @within
((return_statement (expression_list . (_) @value .)) @return-value
  (#not-any-of? @value "nil" "0" "true" "false" "\"\"")
  (#set! "_" "_ = []any{@value}; return *new(@type)"))
((return_statement (expression_list . (_) @value . (_) @second .)) @return-value
  (#not-any-of? @value "nil" "0" "true" "false" "\"\"")
  (#set! "_" "_ = []any{@value}; return *new(@first-type), @second"))
((return_statement (expression_list . (_) @first . (_) @value .)) @return-value
  (#not-any-of? @value "nil" "0" "true" "false" "\"\"")
  (#set! "_" "_ = []any{@value}; return @first, *new(@second-type)"))

((expression_statement (call_expression function: (identifier)
    arguments: (argument_list) @arguments)) @call-removed
  (#set! "_" "func(...any) {}@arguments"))
((expression_statement (call_expression function: (selector_expression) @function
    arguments: (argument_list) @arguments)) @call-removed
  (#set! "_" "_ = @function; func(...any) {}@arguments"))
([
  (expression_list (call_expression arguments: (argument_list . (_) @first)) @call-removed)
  (argument_list (call_expression arguments: (argument_list . (_) @first)) @call-removed)
] (#set! "_" "@first"))

((call_expression function: (identifier) @function
    arguments: (argument_list "," @argument-dropped . (_) @argument-dropped))
  (#eq? @function "append") (#set! "_" ""))
((argument_list [(int_literal) (float_literal)] @argument-dropped) (#set! "_" "0"))

((statement_list (_) @end) (#set! "_" " // @letters\n"))
((statement_list (short_var_declaration left: (expression_list (identifier) @local)) @declaration)
  @scope)
(keyed_element . (_) @fixed)

((statement_list (_) @reach .) (#set! "_" "panic(\"@head\" + \"@tail\"); @reach"))
