# Every bill of materials, held to the published schema.
{ pkgs, development, ... }@project:
pkgs.runCommand "headrace-check-sbom" { bills = import ../sbom.nix project; } ''
  ${development}/bin/python - $bills/*.cdx.json <<'PYTHON'
  import sys
  from pathlib import Path

  from cyclonedx.schema import SchemaVersion
  from cyclonedx.validation.json import JsonStrictValidator

  for name in sys.argv[1:]:
      problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(Path(name).read_text(encoding="ascii"))
      if problem is not None:
          sys.exit(f"{name}: {problem!r}")
  PYTHON
  touch $out
''
