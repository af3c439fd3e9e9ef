# size: a table of cases
# Tests of workers.nix.
let
  workers = import ../workers.nix;

  project = {
    project = {
      name = "mail-sorter";
      scripts.sort-mail = "mail.main:main";
    };
    tool.headrace.worker = {
      kind = "SORT_MAIL";
      metrics_port = 9300;
    };
  };
  onPort = port: project // { tool.headrace.worker.metrics_port = port; };
  parsed = workers.parse "mail" project;
in
{
  testAWorkerRoleIsReadWhenItDeclaresItself = {
    expr = parsed;
    expected = {
      folder = "mail";
      distribution = "mail-sorter";
      program = "sort-mail";
      image = "headrace-mail";
      worker = {
        kind = "SORT_MAIL";
        metrics_port = 9300;
      };
    };
  };
  testAProgramIsNoRoleWhenItDeclaresNone = {
    expr = (workers.parse "console" (removeAttrs project [ "tool" ])).worker;
    expected = null;
  };
  testALibraryIsLeftOutWhenItHasNoProgram = {
    expr = workers.parse "kit" { project.name = "kit"; };
    expected = null;
  };
  testTwoProgramsAreRefusedWhenParsed = {
    expr = workers.parse "mail" (
      project
      // {
        project = project.project // {
          scripts.second = "mail.main:second";
          scripts.sort-mail = "mail.main:main";
        };
      }
    );
    expected = "refused";
  };
  testARoleWithoutAProgramIsRefusedWhenParsed = {
    expr = workers.parse "mail" (project // { project.name = "mail-sorter"; });
    expected = "refused";
  };
  testAPortIsRefusedWhenItIsPrivileged = {
    expr = workers.parse "mail" (onPort 1023);
    expected = "refused";
  };
  testAPortIsRefusedWhenItIsTooHigh = {
    expr = workers.parse "mail" (onPort 65536);
    expected = "refused";
  };
  testAPortIsRefusedWhenItIsNoNumber = {
    expr = workers.parse "mail" (onPort "9300");
    expected = "refused";
  };
  testThePortsAtTheEdgesAreTakenWhenParsed = {
    expr = map (port: (workers.parse "mail" (onPort port)).worker.metrics_port) [
      1024
      65535
    ];
    expected = [
      1024
      65535
    ];
  };
  testOnlyRolesAreLeftWhenAskedForRoles = {
    expr = builtins.attrNames (
      workers.roles {
        mail = parsed;
        console = parsed // {
          worker = null;
        };
      }
    );
    expected = [ "mail" ];
  };
  testTwoRolesOnOnePortAreRefused = {
    expr = workers.refuseSharedPorts {
      mail = parsed;
      post = parsed // {
        folder = "post";
      };
    };
    expected = "refused";
  };
  testThisTreesProgramsAreFoundWhenRead = {
    expr = map (folder: (workers.read ../..) ? ${folder}) [
      "maintenance"
      "console"
      "kit"
    ];
    expected = [
      true
      true
      false
    ];
  };
}
