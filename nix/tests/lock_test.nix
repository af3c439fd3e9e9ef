# size: a table of cases
# Tests of lock.nix and lock-files.nix. A throw cannot be read by an evaluation, so a refusal is expected as the word "refused".
let
  lock = import ../lock.nix;

  shared = {
    name = "nix/uv.lock";
    text = ''
      version = 1
      requires-python = ">=3.12"

      [manifest]
      members = ["library"]

      [[package]]
      name = "leaf"
      version = "1.0"
      source = { registry = "pypi" }
      sdist = { url = "ab/leaf-1.0.tar.gz", hash = "sha256:10", size = 1 }
      wheels = [{ url = "cd/leaf-1.0-py3-none-any.whl", hash = "sha256:11", size = 2 }]

      [[package]]
      name = "leaf"
      version = "2.0"
      source = { registry = "pypi" }

      [[package]]
      name = "library"
      version = "0.1.0"
      source = { editable = "library" }
    '';
  };
  part = folder: name: {
    name = "workers/${folder}/lock.toml";
    text = ''
      [[package]]
      name = "${name}"
      version = "0.1.0"
      source = { editable = "workers/${folder}" }
    '';
  };
  joined = lock.join {
    inherit shared;
    parts.mail = part "mail" "a-mail-sorter";
    parts.bird = part "bird" "zebra";
  };
  leaf = builtins.elemAt (lock.hydrate "mirror://pypi/../" joined).package 1;
  with' = text: lock.join {
    shared = shared // {
      text = shared.text + text;
    };
    parts = { };
  };
in
{
  testPackagesAreInTheOrderOfUvWhenJoined = {
    expr = map (package: package.name + package.version) joined.package;
    expected = [
      "a-mail-sorter0.1.0"
      "leaf1.0"
      "leaf2.0"
      "library0.1.0"
      "zebra0.1.0"
    ];
  };
  testEveryMemberIsListedWhenJoined = {
    expr = joined.manifest.members;
    expected = [
      "a-mail-sorter"
      "library"
      "zebra"
    ];
  };
  testTheRestIsKeptWhenJoined = {
    expr = { inherit (joined) version requires-python; };
    expected = {
      version = 1;
      requires-python = ">=3.12";
    };
  };
  testOnlyThePlaceIsAddedWhenHydrated = {
    expr = leaf;
    expected = {
      name = "leaf";
      version = "1.0";
      source.registry = "pypi";
      sdist = {
        url = "mirror://pypi/../ab/leaf-1.0.tar.gz";
        hash = "sha256:10";
        size = 1;
      };
      wheels = [
        {
          url = "mirror://pypi/../cd/leaf-1.0-py3-none-any.whl";
          hash = "sha256:11";
          size = 2;
        }
      ];
    };
  };
  testAMemberStaysAsItIsWhenHydrated = {
    expr = builtins.elemAt (lock.hydrate "mirror://pypi/../" joined).package 3;
    expected = builtins.elemAt joined.package 3;
  };
  testALockWithAHostIsRefusedWhenJoined = {
    expr = with' "\n[[package]]\nname = \"x\"\nsource = { git = \"https://forge.example/x\" }\n";
    expected = "refused";
  };
  testAPartWithAHostIsRefusedWhenJoined = {
    expr = lock.join {
      inherit shared;
      parts.mail = {
        name = "workers/mail/lock.toml";
        text = (part "mail" "mail").text + "note = \"https://forge.example\"\n";
      };
    };
    expected = "refused";
  };
  testAnotherRegistryIsRefusedWhenHydrated = {
    expr = lock.hydrate "mirror://pypi/../" (
      with' "\n[[package]]\nname = \"x\"\nversion = \"1\"\nsource = { registry = \"elsewhere\" }\n"
    );
    expected = "refused";
  };
  testAPartOfAnotherFolderIsRefusedWhenJoined = {
    expr = lock.join {
      inherit shared;
      parts.mail = part "bird" "bird";
    };
    expected = "refused";
  };
  testTwoPackagesInAPartAreRefusedWhenJoined = {
    expr = lock.join {
      inherit shared;
      parts.mail = {
        name = "workers/mail/lock.toml";
        text = (part "mail" "mail").text + (part "mail" "post").text;
      };
    };
    expected = "refused";
  };
  testThisTreeIsLockedWhenRead = {
    expr = builtins.elem "headrace-maintenance" (import ../lock-files.nix ../..).manifest.members;
    expected = true;
  };
}
