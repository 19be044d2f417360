; Python: what is changed. The head of `mutants.rs` explains the names.

[(type) (decorator)] @leave
; What an error says: tests ask that it is raised.
(raise_statement (call arguments: (_) @leave))

((binary_operator operator: _ @arithmetic)
  (#set! "+" "-") (#set! "-" "+") (#set! "*" "/") (#set! "/" "*") (#set! "//" "*") (#set! "%" "*")
  (#set! "**" "*") (#set! "<<" ">>") (#set! ">>" "<<") (#set! "&" "|") (#set! "|" "&") (#set! "^" "&"))
((augmented_assignment operator: _ @arithmetic)
  (#set! "+=" "-=") (#set! "-=" "+=") (#set! "*=" "/=") (#set! "/=" "*=") (#set! "//=" "*=")
  (#set! "%=" "*=") (#set! "&=" "|=") (#set! "|=" "&=") (#set! "<<=" ">>=") (#set! ">>=" "<<="))
((unary_operator operator: "-" @arithmetic) (#set! "_" ""))

((comparison_operator operators: _ @comparison)
  (#set! "<" ">=") (#set! "<=" ">") (#set! ">" "<=") (#set! ">=" "<") (#set! "==" "!=")
  (#set! "!=" "==") (#set! "in" "not in") (#set! "not in" "in") (#set! "is" "is not")
  (#set! "is not" "is"))
((comparison_operator operators: _ @boundary)
  (#set! "<" "<=") (#set! "<=" "<") (#set! ">" ">=") (#set! ">=" ">"))

((boolean_operator operator: _ @boolean) (#set! "and" "or") (#set! "or" "and"))
((not_operator "not" @boolean) (#set! "_" ""))
([(true) (false)] @boolean (#set! "True" "False") (#set! "False" "True"))
((if_statement condition: [(identifier) (call) (attribute) (subscript)] @boolean)
  (#set! "_" "not @boolean"))
((conditional_expression (_) "if" . [(identifier) (call) (attribute) (subscript)] @boolean)
  (#set! "_" "not @boolean"))

((return_statement (_) @return-value) (#set! "_" "None"))
((yield (_) @return-value) (#set! "_" "None"))
((lambda body: (_) @return-value) (#set! "_" "None"))

((call arguments: (argument_list . (_) @first)) @call-removed
  (#not-match? @first "^\\*|^\\w+\\s*=[^=]") (#set! "_" "@first"))
((call function: (attribute object: (_) @receiver) arguments: (argument_list "(" . ")"))
  @call-removed (#set! "_" "@receiver"))
((raise_statement) @call-removed (#set! "_" "pass"))

((call arguments: (argument_list "(" . (_) @first . ")") @argument-dropped)
  (#not-match? @first "^[a-zA-Z]*[\"']") (#set! "_" "()"))
((call arguments: (argument_list (_) @argument-dropped . "," @argument-dropped))
  (#not-match? @argument-dropped "^[a-zA-Z]*[\"']") (#set! "_" ""))
((call arguments: (argument_list "," @argument-dropped . (_) @argument-dropped . ")"))
  (#not-match? @argument-dropped "^[a-zA-Z]*[\"']") (#set! "_" ""))

((block (_) @end) (#set! "_" "  # @letters\n"))
((function_definition
  body: (block (expression_statement (assignment left: (identifier) @local) @declaration))) @scope
  (#not-match? @scope "\\b(locals|vars|dir|eval|exec)\\b"))
[(attribute attribute: (_) @fixed) (keyword_argument name: (_) @fixed)]
; f"{n=}" shows the name.
(interpolation "=") @fixed
[(import_statement) (import_from_statement) (class_definition) (case_pattern) (parameters)
  (lambda_parameters) (global_statement) (nonlocal_statement)] @fixed

((block (_) @reach .) (#not-match? @reach "^[a-zA-Z]*[\"']")
  (#set! "_" "raise BaseException(\"@head\" + \"@tail\")"))
(try_statement body: (_) @caught (except_clause . (block)))
