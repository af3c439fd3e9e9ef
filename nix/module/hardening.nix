# What a unit that runs a Python program of ours may not do, with the reason where one is not plain.
{
  CapabilityBoundingSet = "";
  DevicePolicy = "closed";
  KeyringMode = "private";
  LockPersonality = true;
  NoNewPrivileges = true;
  PrivateDevices = true;
  PrivateTmp = true;
  PrivateUsers = true;
  # The metrics of the process read /proc/self and /proc/stat: ProcSubset=pid would hide the second.
  ProtectProc = "invisible";
  ProtectClock = true;
  ProtectControlGroups = true;
  ProtectHome = true;
  ProtectHostname = true;
  ProtectKernelLogs = true;
  ProtectKernelModules = true;
  ProtectKernelTunables = true;
  ProtectSystem = "strict";
  RemoveIPC = true;
  # PostgreSQL and Redis by TCP or socket, webhooks by TCP, the journal by socket.
  RestrictAddressFamilies = [ "AF_INET" "AF_INET6" "AF_UNIX" ];
  RestrictNamespaces = true;
  RestrictRealtime = true;
  RestrictSUIDSGID = true;
  SystemCallArchitectures = "native";
  SystemCallErrorNumber = "EPERM";
  SystemCallFilter = [ "@system-service" "~@privileged" "~@resources" ];
  UMask = "0077";
}
