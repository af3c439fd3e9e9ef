# Runs every suite in this folder and gives one line for each test that failed; the empty list when all passed.
# With a bare evaluator: nix-instantiate --eval --strict nix/tests
let
  inherit (builtins)
    attrNames
    concatMap
    filter
    match
    readDir
    toJSON
    ;
  files = filter (name: match ".*_test\\.nix" name != null) (attrNames (readDir ./.));

  outcome =
    file: suite: name:
    let
      test = suite.${name};
      # A throw that no test expects ends the run with its own words.
      tried = builtins.tryEval (builtins.deepSeq test.expr test.expr);
      refusal = if tried.success then tried.value else "refused";
      found = if test.expected == "refused" then refusal else test.expr;
    in
    if found == test.expected then
      [ ]
    else
      [ "${file}: ${name}: expected ${toJSON test.expected}, found ${toJSON found}" ];
in
concatMap (
  file:
  let
    suite = import (./. + "/${file}");
  in
  concatMap (outcome file suite) (attrNames suite)
) files
