; TypeScript: what is left alone besides that of JavaScript.

[
  (type_annotation) (type_arguments) (type_parameters) (type_alias_declaration)
  (interface_declaration) (literal_type) (type_query) (ambient_declaration)
] @leave
