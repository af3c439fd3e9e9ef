// pg-boss with batches of 500 that follow each other while they come back full, woken by NOTIFY.
import { PgBoss } from "pg-boss";

import { main } from "./protocol.mjs";

const QUEUE = "bench";

const program = (url) => {
  const options = { connectionString: url, max: 10, schedule: false, useListenNotify: true };
  let boss;
  const start = async (supervise) => {
    boss = new PgBoss({ ...options, supervise });
    boss.on("error", (error) => console.error(error));
    await boss.start();
  };
  return {
    prepare: async () => {
      await start(false);
      await boss.createQueue(QUEUE, { notify: true });
      await boss.stop();
    },
    open: async () => start(false),
    close: async () => boss.stop(),
    enqueueBulk: async (number) => boss.insert(QUEUE, Array.from({ length: number }, () => ({ data: {} }))),
    enqueue: async () => boss.send(QUEUE, {}),
    work: async (note, stopped) => {
      await start(true);
      const polling = { pollingIntervalSeconds: 0.5, burstWhenBatchFull: true, batchSize: 500, localConcurrency: 2 };
      await boss.work(QUEUE, polling, async (jobs) => jobs.forEach(note));
      await stopped;
      await boss.stop({ graceful: true });
    },
  };
};

await main(program);
