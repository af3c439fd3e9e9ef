// What every peer's program in Node can do; see protocol.py, which says the same for those in Python.
import { createInterface } from "node:readline";

const BULK = 5000;

const tell = (count, nanoseconds) => process.stdout.write(`${count} ${nanoseconds}\n`);

// Nanoseconds since 1970; the clock of the system, finer than Date has it.
const now = () => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;

// Returns what a handler calls for each item: it writes a mark after every so many.
export const marker = (every) => {
  let count = 0;
  return () => {
    count += 1;
    if (count % every === 0) tell(count, now());
  };
};

const commands = {
  prepare: async (program) => program.prepare(),
  bulk: async (program, number) => {
    await program.open();
    const began = process.hrtime.bigint();
    for (let first = 0; first < number; first += BULK) await program.enqueueBulk(Math.min(BULK, number - first));
    tell(number, process.hrtime.bigint() - began);
    await program.close();
  },
  single: async (program, number) => {
    await program.open();
    await program.enqueue();
    const began = process.hrtime.bigint();
    for (let done = 0; done < number; done += 1) await program.enqueue();
    tell(number, process.hrtime.bigint() - began);
    await program.close();
  },
  serve: async (program) => {
    await program.open();
    let count = 0;
    for await (const _ of createInterface({ input: process.stdin })) {
      await program.enqueue();
      count += 1;
      tell(count, now());
    }
    await program.close();
  },
  work: async (program, number) => {
    const stopped = new Promise((resolve) => process.once("SIGTERM", resolve));
    await program.work(marker(number), stopped, number === 1);
  },
};

// Does what the command line says, then ends the process.
export const main = async (makeProgram) => {
  const [command, url, number] = process.argv.slice(2);
  await commands[command](makeProgram(url), Number(number ?? 0));
  process.exit(0);
};
