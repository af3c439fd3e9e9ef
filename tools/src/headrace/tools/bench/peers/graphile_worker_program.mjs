// graphile-worker with the preset that its own page on performance gives; without its local queue where latency counts.
import { Logger, makeWorkerUtils, run, runMigrations } from "graphile-worker";

import { main } from "./protocol.mjs";

const silent = new Logger(() => () => {});
const utilsPreset = (url) => ({ worker: { connectionString: url, logger: silent } });
const quickPreset = { concurrentJobs: 24, maxPoolSize: 25 };
const batchPreset = { ...quickPreset, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

const program = (url) => {
  let utils;
  return {
    prepare: async () => runMigrations({ preset: utilsPreset(url) }),
    open: async () => {
      utils = await makeWorkerUtils({ preset: utilsPreset(url) });
    },
    close: async () => utils.release(),
    enqueueBulk: async (number) =>
      utils.addJobs(Array.from({ length: number }, () => ({ identifier: "bench", payload: {} }))),
    enqueue: async () => utils.addJob("bench", {}),
    work: async (note, stopped, isQuick) => {
      const worker = { ...utilsPreset(url).worker, ...(isQuick ? quickPreset : batchPreset) };
      const runner = await run({ preset: { worker }, taskList: { bench: async () => note() }, noHandleSignals: true });
      await stopped;
      await runner.stop();
    },
  };
};

await main(program);
